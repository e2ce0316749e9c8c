-- What MySQL is asked to see whether it works on a processor: one statement a line, since an init file is read so.
-- Each kind of code that is chosen at run time is passed: checksums of pages, log and rows, TLS library, copying.
create database burnish;
use burnish;
create table numbers (id int primary key, word varchar(64) character set utf8mb4, amount decimal(20,4), at datetime, key (word)) engine=innodb;
create table notes (id int primary key, body text) engine=myisam checksum=1;
set session cte_max_recursion_depth = 5000;
start transaction;
insert into numbers with recursive s (seq) as (select 1 union all select seq + 1 from s where seq < 4000) select seq, concat('word ', seq * 7919 % 4096), seq / 8, '2026-01-01' + interval seq hour from s;
commit;
insert into notes select id, repeat(word, 20) from numbers where id % 5 = 0;
update numbers set amount = amount + 1 where id % 3 = 0;
delete from numbers where id > 3900;
flush tables;
select 'rows', count(*), sum(amount), max(at) from numbers into outfile '{out}/rows';
select 'index', id, word from numbers where word = 'word 2185' into outfile '{out}/index';
select 'join', count(*), sum(length(body)) from notes join numbers using (id) into outfile '{out}/join';
select 'groups', count(*) from (select word, count(*) n from numbers group by word having n > 0) g into outfile '{out}/groups';
select 'functions', crc32('burnish'), sha2('burnish', 256), hex(aes_encrypt('burnish', 'key')), round(exp(sqrt(2)) + sin(1), 9) into outfile '{out}/functions';
