-- Statements with known answers, for the gate. A check is one line: a SELECT whose first column is the check's
-- name, and after "-- =" the rest of the row. The answers follow from SQL itself (small arithmetic, counted by
-- hand); tests/engines/test_sqlite.py holds them against another build of SQLite too. Only what every feature
-- set has.

PRAGMA foreign_keys = ON;
CREATE TABLE n(i INTEGER PRIMARY KEY, half REAL, word TEXT, bytes BLOB, maybe INT);
WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<1000)
  INSERT INTO n SELECT x, x/2.0, printf('w%04d', 1001-x), CAST(printf('%05d', x*7%1000) AS BLOB), CASE WHEN x%3 THEN x END FROM c;
CREATE INDEX n_word ON n(word);
CREATE INDEX n_pair ON n(maybe, half DESC);
CREATE INDEX n_some ON n(bytes) WHERE i > 900;

SELECT 'count', count(*), sum(i), min(i), max(i), total(half) FROM n; -- = 1000|500500|1|1000|250250.0
SELECT 'less', count(*) FROM n WHERE i < 10; -- = 9
SELECT 'less or equal', count(*) FROM n WHERE i <= 10; -- = 10
SELECT 'greater', count(*) FROM n WHERE i > 990; -- = 10
SELECT 'greater or equal', count(*) FROM n WHERE i >= 990; -- = 11
SELECT 'equal', i FROM n WHERE i = 500; -- = 500
SELECT 'not equal', count(*) FROM n WHERE i <> 500; -- = 999
SELECT 'between', group_concat(i) FROM n WHERE i BETWEEN 3 AND 7; -- = 3,4,5,6,7
SELECT 'reals', count(*) FROM n WHERE half < 5; -- = 9
SELECT 'reals, equal', i FROM n WHERE half = 250; -- = 500
SELECT 'integer and real', count(*) FROM n WHERE i > 499.5 AND i < 500.5; -- = 1
SELECT 'large integer and real', 9007199254740993 > 9007199254740992.0, 9007199254740993 = 9007199254740992.0; -- = 1|0
SELECT 'text index', i FROM n WHERE word = 'w0001'; -- = 1000
SELECT 'text range', count(*), min(word), max(word) FROM n WHERE word >= 'w0100' AND word < 'w0200'; -- = 100|w0100|w0199
SELECT 'text range, scanned', count(*) FROM n WHERE +word > 'w0100' AND +word <= 'w0200'; -- = 100
SELECT 'blob range', count(*) FROM n WHERE bytes < x'3030313030'; -- = 100
SELECT 'partial index', count(*) FROM n WHERE i > 900 AND bytes > x'3030353030'; -- = 71
SELECT 'nulls', count(*), count(maybe), sum(maybe IS NULL) FROM n; -- = 1000|667|333
SELECT 'nulls compare', NULL = NULL, NULL IS NULL, NULL <> 1, 1 IS NOT NULL; -- = |1||1
SELECT 'index of two columns', group_concat(i) FROM n WHERE maybe IN (1, 2, 4, 6) AND half <= 2; -- = 1,2,4
SELECT 'index backwards', group_concat(i) FROM (SELECT i FROM n ORDER BY word LIMIT 3); -- = 1000,999,998
SELECT 'limit and offset', group_concat(i) FROM (SELECT i FROM n ORDER BY i DESC LIMIT 3 OFFSET 2); -- = 998,997,996
SELECT 'sorter', group_concat(r) FROM (SELECT i*7%11 AS r FROM n WHERE i < 12 ORDER BY r DESC); -- = 10,9,8,7,6,5,4,3,2,1,0
SELECT 'sorter of many', count(*) FROM (SELECT w, lag(w) OVER () AS before FROM (SELECT i*7919%1009 AS w FROM n ORDER BY 1)) WHERE before > w; -- = 0
SELECT 'types in order', group_concat(typeof(x)) FROM (SELECT x FROM (SELECT x'00' AS x UNION ALL SELECT 'a' UNION ALL SELECT 2.5 UNION ALL SELECT 1 UNION ALL SELECT NULL) ORDER BY x); -- = null,integer,real,text,blob
SELECT 'group', group_concat(k || ':' || c) FROM (SELECT i%4 AS k, count(*) AS c FROM n GROUP BY 1 HAVING k > 0 ORDER BY 1); -- = 1:250,2:250,3:250
SELECT 'distinct', count(DISTINCT i%7), count(DISTINCT maybe) FROM n; -- = 7|667
SELECT 'join', count(*), sum(a.i) FROM n AS a JOIN n AS b ON b.i = a.i * 2 WHERE b.i <= 20; -- = 10|55
SELECT 'join by index', group_concat(b.i) FROM n AS a JOIN n AS b ON b.maybe = a.i + 1 WHERE a.i < 8; -- = 2,4,5,7,8
SELECT 'left join', count(*), count(b.i) FROM n AS a LEFT JOIN n AS b ON b.maybe = a.i AND b.i < 100; -- = 1000|66
SELECT 'automatic index', count(*) FROM (SELECT i%50 AS k FROM n WHERE i<101) AS a JOIN (SELECT i+10 AS k FROM n WHERE i<21) AS b USING (k); -- = 40
SELECT 'exists', count(*) FROM n AS a WHERE EXISTS (SELECT 1 FROM n AS b WHERE b.i = a.i * 100); -- = 10
SELECT 'not in', count(*) FROM n WHERE i NOT IN (SELECT i FROM n WHERE i > 3); -- = 3
SELECT 'scalar subquery', (SELECT max(i) FROM n WHERE half < 3), (SELECT i FROM n WHERE i > 1000); -- = 5|
SELECT 'row values', count(*) FROM n WHERE (i, half) > (998, 499.0) AND (i, half) < (1000, 500.0); -- = 1
SELECT 'union', group_concat(x) FROM (SELECT 3 AS x UNION SELECT 1 UNION SELECT 3 UNION SELECT 2); -- = 1,2,3
SELECT 'except and intersect', group_concat(i) FROM (SELECT i FROM n WHERE i < 10 EXCEPT SELECT i FROM n WHERE i > 6 INTERSECT SELECT 2); -- = 2
SELECT 'case', group_concat(CASE WHEN i < 3 THEN 'a' WHEN i < 5 THEN 'b' ELSE 'c' END, '') FROM n WHERE i < 7; -- = aabbcc
SELECT 'and or not', sum(i > 5 AND i < 8), sum(i < 3 OR i > 998), sum(NOT i), NULL AND 0, NULL OR 1 FROM n; -- = 2|4|0|0|1
SELECT 'like', count(*) FROM n WHERE word LIKE 'W01_0'; -- = 10
SELECT 'glob', count(*) FROM n WHERE word GLOB 'w00[0-4]?'; -- = 49
SELECT 'arithmetic', 7/2, -7/2, 7%3, -7%3, 7/2.0, 1<<10, 1023>>3, 12&10, 12|3, ~5; -- = 3|-3|1|-1|3.5|1024|127|8|15|-6
SELECT 'overflow', 9223372036854775807 + 1 > 9223372036854775807, typeof(9223372036854775807 + 1), typeof(-9223372036854775807 - 1); -- = 1|real|integer
SELECT 'division by nothing', 1/0, 1.0/0, 1%0; -- = ||
SELECT 'casts', CAST('12abc' AS INT), CAST(3.99 AS INT), CAST(-3.99 AS INT), '10' + 5, CAST(x'414243' AS TEXT); -- = 12|3|-3|15|ABC
SELECT 'strings', substr('burnish', 2, 3), substr('burnish', -3), instr('burnish', 'nis'), upper('aé'), length('aé'), replace('aXbX', 'X', '-'), trim('  a '); -- = urn|ish|4|Aé|2|a-b-|a
SELECT 'formats', printf('%05d|%.3f|%x|%s|%q', 42, 2.0/3, 255, 'a', 'it''s'), hex(x'00ff'), quote('it''s'); -- = 00042|0.667|ff|a|it''s|00FF|'it''s'
SELECT 'rounding', round(2.5), round(-2.567, 2), 0.1 + 0.2 > 0.3, abs(-9), max(3, 1, 2), min('b', 'a'), 1e15 + 0.5; -- = 3.0|-2.57|1|9|3|a|1.0e+15
SELECT 'dates', date('2024-02-28', '+1 day'), date('2023-02-28', '+1 day'), julianday('2000-01-01 12:00'), strftime('%j', '2024-12-31'); -- = 2024-02-29|2023-03-01|2451545.0|366
SELECT 'collation', group_concat(x, '') FROM (SELECT x FROM (SELECT 'b' AS x UNION ALL SELECT 'A' UNION ALL SELECT 'a' UNION ALL SELECT 'C') ORDER BY x COLLATE NOCASE, x); -- = AabC
SELECT 'window', group_concat(s) FROM (SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM n WHERE i < 6); -- = 1,3,5,7,9
SELECT 'ranks', group_concat(r) FROM (SELECT rank() OVER (ORDER BY i/3) AS r FROM n WHERE i BETWEEN 3 AND 9 ORDER BY i); -- = 1,1,1,4,4,4,7
WITH RECURSIVE f(k, v) AS (VALUES(1, 1) UNION ALL SELECT k+1, v*(k+1) FROM f WHERE k < 20) SELECT 'recursion', max(v) FROM f; -- = 2432902008176640000
WITH RECURSIVE t(x) AS (VALUES('27') UNION SELECT CASE x%2 WHEN 0 THEN x/2 ELSE 3*x+1 END FROM t WHERE x <> 1) SELECT 'collatz', count(*), max(x+0) FROM t; -- = 112|9232
SELECT 'json', json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), json_array_length('[1,2,3]'), (SELECT sum(value) FROM json_each('[4,5,6]')); -- = 3|3|15

CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE child(id INTEGER PRIMARY KEY, of INT REFERENCES parent ON DELETE CASCADE, amount INT CHECK(amount < 100));
CREATE TABLE seen(what TEXT);
CREATE TRIGGER t AFTER UPDATE OF amount ON child WHEN new.amount > old.amount BEGIN INSERT INTO seen VALUES(old.amount || '->' || new.amount); END;
INSERT INTO parent VALUES(1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO child SELECT i, 1 + i%3, i FROM n WHERE i < 31;
UPDATE child SET amount = amount + 10 WHERE id <= 3;
UPDATE child SET amount = amount - 1 WHERE id > 28;
SELECT 'trigger', group_concat(what) FROM seen; -- = 1->11,2->12,3->13
INSERT OR IGNORE INTO child VALUES(31, 1, 99), (32, 1, 100), (33, 2, 101);
SELECT 'check constraint', count(*), max(amount) FROM child; -- = 31|99
DELETE FROM parent WHERE id = 2;
SELECT 'cascade', count(*), sum(of = 2) FROM child; -- = 21|0
INSERT INTO parent VALUES(4, 'a') ON CONFLICT(name) DO UPDATE SET name = 'upserted';
SELECT 'upsert', group_concat(id || name) FROM parent; -- = 1upserted,3c
BEGIN;
DELETE FROM n WHERE i > 10;
SAVEPOINT s;
DELETE FROM n;
ROLLBACK TO s;
SELECT 'savepoint', count(*) FROM n; -- = 10
ROLLBACK;
SELECT 'rollback', count(*), sum(i) FROM n; -- = 1000|500500
DELETE FROM n WHERE i % 2 = 0;
UPDATE n SET i = i + 5000, word = word || 'x' WHERE i > 900;
SELECT 'changed', count(*), sum(i), max(word) FROM n; -- = 500|500000|w1000
SELECT 'found after change', i FROM n WHERE word = 'w0100x'; -- = 5901
CREATE TABLE keyed(a TEXT, b INT, c, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
INSERT INTO keyed SELECT word, i%10, i FROM n;
SELECT 'without rowid', count(*), sum(c) FROM keyed WHERE b = 3 AND a > 'w05'; -- = 50|12400
CREATE TABLE long(k INTEGER PRIMARY KEY, v TEXT);
INSERT INTO long SELECT i, replace(printf('%.*c', 9000 + i, '-'), '-', char(65 + i%26)) FROM n WHERE i < 60;
SELECT 'overflow pages', count(*), sum(length(v)), substr(max(v), 9000, 2) FROM long; -- = 30|270900|ZZ
ANALYZE;
SELECT 'analyzed', i FROM n WHERE maybe = 7 AND half > 3; -- = 7
VACUUM;
SELECT 'integrity', group_concat(integrity_check) FROM pragma_integrity_check; -- = ok
SELECT 'foreign keys', count(*) FROM pragma_foreign_key_check; -- = 0
