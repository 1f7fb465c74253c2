--
-- EXPLAIN: the same properties in every format.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a int, b text, c date, line int OPTIONS (virtual 'line')) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,x,2024-01-01\n2,y\n3,z,2024-01-03\n4,x,never\n');
-- text
SELECT explain('SELECT * FROM t');
SELECT explain('SELECT a FROM t');
SELECT explain('SELECT 1 FROM t');
SELECT explain('SELECT b FROM t WHERE a > 1');
SELECT explain('SELECT line FROM t');
SELECT explain('SELECT t FROM t');
SELECT explain('SELECT a FROM t WHERE c IS NOT NULL ORDER BY b');
-- the size of the file, with costs; of a pattern, of all of its files
SELECT regexp_replace(explain('SELECT a FROM t', 'COSTS ON'), '(\d|\.)+ rows=\d+ width=\d+', '...');
CALL write_file('t2.csv', E'5,x,2024-01-01\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/t*.csv');
SELECT line FROM explain('SELECT a FROM t', 'COSTS ON') line WHERE line ~ 'CSV File';
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/missing.csv');
SELECT line FROM explain('SELECT a FROM t', 'COSTS ON') line WHERE line ~ 'CSV File';
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/t.csv');
-- of a program, its command
ALTER FOREIGN TABLE t OPTIONS (DROP filename, ADD program 'cat regress_csv/t.csv');
SELECT explain('SELECT a FROM t');
ALTER FOREIGN TABLE t OPTIONS (DROP program, ADD filename 'regress_csv/t.csv');
-- ANALYZE
SELECT explain('SELECT * FROM t', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT explain('SELECT a FROM t', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
-- what the scan passed
SELECT line FROM explain('SELECT a FROM t LIMIT 1', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Records';
SELECT line FROM explain('SELECT a FROM t LIMIT 2', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Records';
-- with the time spent
SELECT regexp_replace(line, ' rows=.*', '') AS line FROM explain('SELECT a FROM t', 'ANALYZE, COSTS OFF, TIMING ON, SUMMARY OFF') line WHERE line !~ 'Copy';
-- a record is counted once, whatever the rescans
SET enable_material = off;
SET enable_memoize = off;
SELECT line FROM explain('SELECT (SELECT count(*) FROM t WHERE a <= x) FROM generate_series(1, 3) x', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Records';
RESET enable_material;
RESET enable_memoize;
-- the other formats: the properties of the scan's node
CREATE FUNCTION properties(query text) RETURNS TABLE (name text, value text) LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, SUMMARY OFF) ' || query INTO plan;
  RETURN QUERY SELECT key, CASE WHEN key ~ '(Engine|Time|Chunks)' THEN '...' ELSE j.value END
    FROM json_each_text(plan -> 0 -> 'Plan') j
    WHERE key ~ '^(CSV|Engine|Columns|Records|Skipped|Chunks|Read|Parse)';
END $$;
SELECT * FROM properties('SELECT a FROM t');
-- times of copies, where there was a device
CREATE FUNCTION is_told(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, SUMMARY OFF) ' || query INTO plan;
  plan := plan -> 0 -> 'Plan';
  RETURN (plan ->> 'Engine' LIKE 'cuda%') = (plan ? 'Copy To Device Time') AND (plan ->> 'Engine' LIKE 'cuda%') = (plan ? 'Copy Back Time');
END $$;
SELECT is_told('SELECT a FROM t');
SELECT explain('SELECT a FROM t', 'FORMAT YAML, COSTS OFF');
SELECT line FROM explain('SELECT a FROM t', 'FORMAT XML, COSTS OFF') line WHERE line ~ '(CSV|Engine|Columns)';
SELECT line FROM explain('SELECT a FROM t', 'FORMAT YAML, ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ '(CSV|Engine|Columns|Records|Chunks|Time)';
-- VERBOSE
SELECT explain('SELECT b FROM t WHERE a = 1', 'VERBOSE, COSTS OFF');
-- aggregates in the engine name their table
ALTER FOREIGN TABLE t DROP COLUMN line;
SELECT explain('SELECT count(*) FROM t');
SELECT explain('SELECT b, count(*) FROM t AS "A x" WHERE a > 1 GROUP BY b', 'VERBOSE, COSTS OFF');
SELECT explain('SELECT * FROM (SELECT sum(a) FROM t) x, (SELECT max(a) FROM t WHERE b = ''x'') y');
SELECT explain('SELECT count(*) FROM t', 'FORMAT YAML, COSTS OFF');
SELECT line FROM explain('SELECT count(*) FROM t', 'FORMAT JSON, COSTS OFF') line WHERE line ~ 'Relations';
SELECT line FROM explain('SELECT count(*) FROM t', 'FORMAT XML, COSTS OFF') line WHERE line ~ 'Relations';
-- what stays in the executor, and why
CREATE FOREIGN TABLE left_there (a int, b text, d date, n numeric(10,2), i interval, m text COLLATE "C", file text OPTIONS (virtual 'filename'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FUNCTION left_of(query text, options text DEFAULT 'COSTS OFF') RETURNS text LANGUAGE sql
  RETURN (SELECT string_agg(regexp_replace(line, '.*Not in Engine: ', ''), E'\n') FROM explain(query, options) line WHERE line ~ 'Not in Engine');
SELECT left_of('SELECT a FROM left_there WHERE a > 1 AND initcap(b) = ''X'' AND n ^ 2 > 5');
SELECT left_of('SELECT a FROM left_there WHERE a > random()');
SELECT left_of('SELECT a FROM left_there x WHERE b LIKE ''_a'' AND a = 1 AND a # 3 = 1 AND a & 7 = 1 AND a | 7 = 7 AND ~ a = 7 AND d + 1 > ''2020-01-01''');
SELECT left_of('SELECT a FROM left_there WHERE i > ''1 day'' AND a = 1');
SELECT left_of('SELECT a FROM left_there WHERE left_there IS NOT NULL AND tableoid > 1');
SELECT left_of('SELECT a, string_agg(b, '','') FROM left_there GROUP BY a');
SELECT left_of('SELECT sum(DISTINCT a), max(b COLLATE ucs_basic) FROM left_there HAVING count(initcap(b)) > 0');
SELECT left_of('SELECT initcap(b), count(*) FROM left_there WHERE initcap(b) > ''A'' GROUP BY 1');
SELECT left_of('SELECT a, count(*) FROM left_there GROUP BY ROLLUP (a)');
SELECT left_of('SELECT random() < 2, count(*) FROM left_there GROUP BY 1');
SELECT left_of('SELECT a FROM left_there WHERE a > 1 ORDER BY initcap(b) LIMIT 3');
SELECT left_of('SELECT 10.0 / a FROM left_there ORDER BY b COLLATE "C" LIMIT 3');
SELECT left_of('SELECT a, i FROM left_there ORDER BY a LIMIT 3');
SELECT left_of('SELECT count(*), max(a) FROM left_there WHERE a = 1 OR EXISTS (SELECT FROM generate_series(1, 3) g WHERE g = a OFFSET 0)') ~ 'SubPlan.*: subquery, count' AS says;
SELECT left_of('SELECT s.x FROM generate_series(1, 2) g LEFT JOIN (SELECT a, coalesce(b, ''x'') x FROM left_there WHERE initcap(b) > ''A'') s ON s.a = g');
SELECT left_of('SELECT a, sum(a) FROM left_there WHERE a > 1 AND b = m GROUP BY a ORDER BY a LIMIT 2') IS NULL AS all_pushed;
SET csv_gpu_fdw.enable_pushdown = off;
SELECT left_of('SELECT count(*) FROM left_there WHERE a = 1');
RESET csv_gpu_fdw.enable_pushdown;
SELECT explain('SELECT a FROM left_there WHERE initcap(b) = ''X''', 'FORMAT YAML, COSTS OFF');
-- parts of a table are named themselves
CREATE TABLE parts (a int, b text) PARTITION BY LIST (b);
CREATE FOREIGN TABLE part_x PARTITION OF parts FOR VALUES IN ('x') SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE part_y PARTITION OF parts FOR VALUES IN ('y') SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SET enable_partitionwise_aggregate = on;
SET csv_gpu_fdw.sampled_statistics = off;
SELECT line FROM explain('SELECT b, count(*) FROM parts GROUP BY b') line WHERE line ~ '(Foreign|Relations)';
SELECT line FROM explain('SELECT count(*) FROM parts', 'VERBOSE, COSTS OFF') line WHERE line ~ '(Foreign|Relations)';
RESET csv_gpu_fdw.sampled_statistics;
RESET enable_partitionwise_aggregate;

\i :teardown
