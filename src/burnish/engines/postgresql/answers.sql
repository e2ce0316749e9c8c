CREATE TABLE t (a int PRIMARY KEY, b text, c numeric);
INSERT INTO t SELECT i, 'row ' || i, i / 7.0 FROM generate_series(1, 5000) i;
CREATE INDEX t_b ON t (b);
SELECT count(*) || ' ' || sum(a) || ' ' || round(sum(c), 3) AS x FROM t;
-- 5000 12502500 1786071.429
SELECT md5(string_agg(b, ',' ORDER BY b DESC)) AS x FROM t WHERE a % 3 = 0;
-- 89dd50a5b72d03a43a9644f49328b35b
UPDATE t SET b = upper(b) WHERE a BETWEEN 100 AND 199;
DELETE FROM t WHERE a > 4000;
SELECT count(*) || ' ' || min(b) || ' ' || max(b) AS x FROM t;
-- 4000 ROW 100 row 999
SELECT a AS x FROM t WHERE b = 'ROW 150';
-- 150
SELECT sum(l.a * r.a) AS x FROM t l JOIN t r ON r.a = l.a + 1 WHERE l.a < 1000;
-- 333333000
SELECT sum(n) AS x FROM (SELECT count(*) * (a % 10) AS n FROM t GROUP BY a % 10 HAVING a % 10 > 4) g;
-- 14000
WITH RECURSIVE f(a, b) AS (SELECT 0::numeric, 1::numeric UNION ALL SELECT b, a + b FROM f WHERE b < 1e30) SELECT max(a) AS x FROM f;
-- 898923707008479989274290850145
SELECT to_char(timestamp '2024-02-29 12:00' + interval '1 year', 'YYYY-MM-DD HH24:MI') AS x;
-- 2025-02-28 12:00
SELECT round(exp(1)::numeric, 12) || regexp_replace('a1b22c333', '[0-9]+', '#', 'g') AS x;
-- 2.718281828459a#b#c#
SELECT last_value(a) OVER (ORDER BY a DESC) AS x FROM t ORDER BY a LIMIT 1;
-- 1
-- again
SELECT count(*) || ' ' || sum(a) || ' ' || count(DISTINCT b) AS x FROM t;
-- 4000 8002000 4000
SELECT relname AS x FROM pg_class WHERE oid = 't_b'::regclass;
-- t_b
