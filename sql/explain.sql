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
SELECT regexp_replace(line, ' rows=.*', '') AS line FROM explain('SELECT a FROM t', 'ANALYZE, COSTS OFF, TIMING ON, SUMMARY OFF') line;
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
    WHERE key ~ '^(CSV|Engine|Columns|Records|Skipped|Chunks|Read|Copy|Parse)';
END $$;
SELECT * FROM properties('SELECT a FROM t');
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
