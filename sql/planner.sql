--
-- What the planner chooses, and how many rows it expects.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- nodes with the rows that are expected of them, and what the engine has
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    CONTINUE WHEN line !~ '(cost=|Engine (Filter|Group|Limit)|Resident)';
    line := regexp_replace(line, '\(cost=\S+ (rows=\d+) width=\d+\)', '(\1)');
    -- PostgreSQL 17 turns these around
    RETURN NEXT regexp_replace(line, '\(t\.a = ((few\.)?a|i\.i)\)', '(\1 = t.a)');
  END LOOP;
END $$;
CREATE FOREIGN TABLE t (a int, k int, x numeric(10,2), b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE u (a int, k int, x numeric(10,2), b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT string_agg(format(E'%s,%s,%s,%s\n', i, i % 5, i % 100 / 8.0, md5(i::text)), '') FROM generate_series(1, 20000) i$$);
CREATE TABLE few AS SELECT i * 1000 AS a FROM generate_series(1, 8) i;
ANALYZE t;
ANALYZE few;

-- statistics
SELECT plan('SELECT * FROM t');
SELECT plan('SELECT a FROM t WHERE k = 1');
SELECT plan('SELECT a FROM t WHERE k = 1 AND a <= 1000');
SELECT plan('SELECT a FROM t WHERE length(b) > 3 AND a <= 1000');
SELECT plan('SELECT a FROM t ORDER BY x, a LIMIT 10');
SELECT plan('SELECT a FROM t LIMIT 10');

-- groups in the engine, also where they leave the memory that there is; but not then, if each
-- counts distinct values
SET csv_gpu_fdw.engine = cpu;
SELECT plan('SELECT k, sum(x) FROM t GROUP BY k');
SELECT plan('SELECT k, sum(x) FROM t WHERE a <= 100 GROUP BY k HAVING sum(x) > 3');
SELECT plan('SELECT a, sum(x) FROM t GROUP BY a');
SET work_mem = '64kB';
SELECT plan('SELECT k, sum(x) FROM t GROUP BY k');
SELECT plan('SELECT a, sum(x) FROM t GROUP BY a');
SELECT plan('SELECT k, count(DISTINCT x) FROM t GROUP BY k');
SELECT plan('SELECT a, count(DISTINCT x) FROM t GROUP BY a');
SELECT plan('SELECT a, count(DISTINCT x) FROM t WHERE a <= 100 GROUP BY a');
-- values of few groups, or of one, may be many
SELECT plan('SELECT count(DISTINCT x) FROM t');
SELECT plan('SELECT k, count(DISTINCT a) FROM t GROUP BY k');
SELECT plan('SELECT k, count(DISTINCT a) FROM t WHERE a <= 100 GROUP BY k');
SELECT plan('SELECT k, min(DISTINCT a) FROM t GROUP BY k');
SET work_mem = '1MB';
SELECT plan('SELECT k, count(DISTINCT a) FROM t GROUP BY k');
SELECT plan('SELECT k, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY k');
RESET work_mem;
RESET csv_gpu_fdw.engine;

-- the table is scanned once, even if little is joined, and also if its columns are resident
SET work_mem = '32MB';
SELECT plan('SELECT t.x FROM few, t WHERE t.a = few.a');
SELECT plan('SELECT t.x FROM (SELECT 7000 AS a OFFSET 0) one, t WHERE t.a = one.a');
CALL settle();
\set memory 20MB
\i :set_memory
SELECT count(a), count(x) FROM t;
SELECT plan('SELECT t.x FROM few, t WHERE t.a = few.a');
SELECT t.a, t.x FROM few, t WHERE t.a = few.a;
SELECT plan('SELECT t.x FROM generate_series(1, 2000) i, t WHERE t.a = i');
-- what is resident is counted
SELECT count(a), sum(x) FROM u;
SELECT plan('SELECT a FROM u WHERE x > 1');
SELECT plan('SELECT a, sum(x) FROM u GROUP BY a');
SELECT csv_gpu_forget() > 0 AS forgot;
SELECT plan('SELECT t.x FROM few, t WHERE t.a = few.a');
\set memory off
\i :set_memory
RESET work_mem;

-- scans that are repeated for each row of a join: from some on they cost little,
-- if their rows can be kept
CREATE FUNCTION cost(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
-- a correlated subquery is repeated, so that one scan costs little; other subqueries are not
SELECT cost('SELECT (SELECT sum(x) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 100) i') < 10 * cost('SELECT sum(x) FROM t WHERE a = 1') AS aggregates;
SELECT cost('SELECT (SELECT x FROM t WHERE a = i LIMIT 1) FROM generate_series(1, 100) i') < 10 * cost('SELECT x FROM t WHERE a = 1') AS rows;
SELECT cost('SELECT (SELECT x FROM t WHERE a > i LIMIT 1) FROM generate_series(1, 100) i') > 10 * cost('SELECT x FROM t WHERE a > 1 LIMIT 1') AS without_equality;
SELECT cost('SELECT (SELECT sum(x) FROM t WHERE a = (SELECT 1 OFFSET 0) OFFSET 0)') > 0.9 * cost('SELECT sum(x) FROM t WHERE a = 1') AS once;
-- as often as the outer table has rows, and so are scans that it joins
CREATE TEMP TABLE outer_rows AS SELECT i, i AS j FROM generate_series(1, 200000) i;
ANALYZE outer_rows;
SELECT cost('SELECT (SELECT sum(x) FROM t WHERE a = i OFFSET 0) FROM outer_rows') < 0.7 * cost('SELECT (SELECT sum(x) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 200000) i') AS less;
SET work_mem = '32MB';
SELECT cost('SELECT (SELECT sum(t2.x) FROM t, t t2 WHERE t.a = i AND t2.a = t.k) FROM generate_series(1, 100) i') < 10 * cost('SELECT (SELECT sum(x) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 100) i') AS joined;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET work_mem = '32MB';
SELECT plan('SELECT t.x FROM generate_series(1, 1000) i, t WHERE t.a = i');
RESET enable_hashjoin;
-- a few rows of a large table: a hash join reads the file no more often
SELECT plan('SELECT t.x FROM generate_series(1, 20) i, outer_rows, t WHERE outer_rows.j = i.i AND t.a = outer_rows.i');

-- where a hash join is possible, each outer row costs as much as reading all rows; no cost is added
-- if it decides which files are read, or if no rows are kept
RESET work_mem;
SELECT plan('SELECT t.x FROM (SELECT 7000 AS a OFFSET 0) one, t WHERE t.a = one.a');
SET enable_hashjoin = off;
SELECT plan('SELECT t.x FROM generate_series(1, 2) i, t WHERE t.a = i');
SELECT plan('SELECT t.x FROM generate_series(1, 1000) i, t WHERE t.a = i AND t.k = 3 AND t.a < 8000');
-- rows that pass clauses with values of an outer query are not all rows that are kept
SELECT * FROM plan('SELECT (SELECT sum(t.x) FROM generate_series(1, 2) j, t WHERE t.a = j AND t.k = i) FROM generate_series(1, 3) i') plan WHERE plan !~ 'Engine';
SELECT plan('SELECT t.x FROM (SELECT 9000 AS a OFFSET 0) i, t WHERE t.a BETWEEN i.a AND i.a + 5');
CREATE FOREIGN TABLE files (a int, k int, x numeric(10,2), b text, f text OPTIONS (virtual 'filename'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT plan('SELECT x FROM (SELECT ''a'' AS f OFFSET 0) i, files WHERE files.f = i.f');

-- one row is expected of a join by several columns, but no loop over all of them is planned, except
-- if there is no other way
RESET enable_hashjoin;
SELECT plan('SELECT count(*) FROM few, t, u WHERE t.a = u.a AND t.b = u.b AND t.x = u.x AND t.k = few.a');
SELECT plan('SELECT count(*) FROM few, t, u WHERE t.a = u.a AND t.b = u.b AND t.x = u.x AND t.k < few.a');

-- a loop keeps the rows of a file, even if one outer row is expected
RESET enable_material;
SELECT plan('SELECT count(*) FROM (SELECT 32 AS n OFFSET 0) one, t WHERE length(t.b) = one.n + t.k');
SELECT plan('SELECT count(*) FROM (SELECT 32 AS n OFFSET 0) one, (SELECT b FROM t UNION ALL SELECT b FROM u) j WHERE length(j.b) + one.n = 64');

-- processes that share a table have no more groups of its values than it has rows
CALL write_query('keys.csv', $$SELECT string_agg(format(E'%s\n', i), '') FROM generate_series(1, 1000) i$$);
CALL write_query('many.csv', $$SELECT string_agg(format(E'%s,%s\n', i % 1000, i), '') FROM generate_series(1, 100000) i$$);
CREATE FOREIGN TABLE keys (k int) SERVER csv OPTIONS (filename 'regress_csv/keys.csv');
CREATE FOREIGN TABLE many (k int, x int) SERVER csv OPTIONS (filename 'regress_csv/many.csv');
ANALYZE keys, many;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 10;
SET max_parallel_workers_per_gather = 4;
-- 19 would group before it joins
DO $$BEGIN PERFORM set_config(name, 'off', false) FROM pg_settings WHERE name = 'enable_eager_aggregate'; END$$;
-- from 16 on, processes may share the other table of an outer join
SELECT bool_or(line ~ 'Gather  .rows=1000\)|Hash Right Join') AS few
  FROM plan('SELECT keys.k, count(x) FROM keys LEFT JOIN many ON keys.k = many.k GROUP BY keys.k HAVING count(x) > 1') line;
SELECT plan('SELECT many.k, count(x) FROM keys RIGHT JOIN many ON keys.k = many.k GROUP BY many.k');
SELECT plan('SELECT keys.k, x, count(*) FROM keys LEFT JOIN many ON keys.k = many.k GROUP BY keys.k, x');
SELECT count(*), min(n), max(n), sum(s) FROM (SELECT keys.k, count(x) AS n, sum(x) AS s FROM keys LEFT JOIN many ON keys.k = many.k GROUP BY keys.k) groups;

-- what ANALYZE has not seen is sampled: are about as many rows expected as there are?
CREATE FUNCTION far(query text, OUT text) LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  expected float;
  n float;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  expected := plan->0->'Plan'->>'Plan Rows';
  EXECUTE format('SELECT greatest(count(*), 1) FROM (%s) q', query) INTO n;
  $2 := CASE WHEN greatest(expected / n, n / expected) < 1.3 THEN 'near' ELSE format('%s for %s', expected, n) END;
END $$;
CREATE FUNCTION is_sampled(query text) RETURNS bool LANGUAGE sql AS $$
  SELECT bool_or(line ~ '^ +Statistics: sampled$') FROM explain(query, 'COSTS ON') line;
$$;
CREATE FOREIGN TABLE s (a int, k int, parent int, x numeric(10,2), b text, d date, e text) SERVER csv OPTIONS (filename 'regress_csv/s.csv');
CALL write_query('s.csv', $$SELECT string_agg(format(E'%s,%s,%s,%s,%s,%s,%s\n', i, CASE WHEN i % 3 > 0 THEN i % 5 END, i / 4, i % 100 / 8.0, md5(i::text), '2024-01-01'::date + i / 500, repeat('x', 1000 * (i % 1000 = 0)::int)), '') FROM generate_series(1, 50000) i$$);
SELECT is_sampled('SELECT * FROM s'), is_sampled('SELECT count(*) FROM s'), is_sampled('SELECT 1 FROM s, u WHERE s.a = u.a'), is_sampled('SELECT * FROM t');
SELECT query, far(query) FROM (VALUES ('SELECT * FROM s'), ('SELECT * FROM s WHERE k IS NULL'), ('SELECT * FROM s WHERE k = 3'),
  ('SELECT * FROM s WHERE a < 12000'), ('SELECT * FROM s WHERE d >= ''2024-02-01'''), ('SELECT * FROM s WHERE b > ''c'''),
  ('SELECT * FROM s WHERE x = 3'), ('SELECT DISTINCT a FROM s'), ('SELECT DISTINCT k FROM s WHERE k > 0'), ('SELECT DISTINCT parent FROM s'), ('SELECT DISTINCT d FROM s'),
  ('SELECT DISTINCT b FROM s'), ('SELECT DISTINCT x FROM s'), ('SELECT 1 FROM s, u WHERE s.a = u.a'), ('SELECT 1 FROM s p, s c WHERE c.parent = p.a')) v(query);
SET csv_gpu_fdw.sampled_statistics = off;
SELECT is_sampled('SELECT * FROM s');
RESET csv_gpu_fdw.sampled_statistics;
-- ANALYZE's own, up to the next change of the file
ANALYZE s;
SELECT is_sampled('SELECT * FROM s WHERE a < 12000'), far('SELECT * FROM s WHERE a < 12000');
CALL write_query('s.csv', $$SELECT string_agg(format(E'%s,1,,,,,\n', i + 5000), '') FROM generate_series(1, 60000) i$$);
SELECT is_sampled('SELECT * FROM s WHERE a < 12000'), far('SELECT * FROM s WHERE a < 12000'), far('SELECT * FROM s WHERE k = 1');
-- another file of the same size; the same that grows
CALL write_query('s.csv', $$SELECT string_agg(format(E'%s,2,,,,,\n', i + 5000), '') FROM generate_series(1, 60000) i$$);
SELECT far('SELECT * FROM s WHERE k = 1'), far('SELECT * FROM s WHERE k = 2');
COPY (SELECT format('%s,3,,,,,', i + 5000) FROM generate_series(1, 10000) i) TO PROGRAM 'cat >> regress_csv/s.csv';
SELECT far('SELECT * FROM s'), far('SELECT * FROM s WHERE k = 2'), far('SELECT * FROM s WHERE k = 3');
-- a sample says nothing, and calls no functions that are not built in
SET client_min_messages = notice;
CREATE FUNCTION shout(value int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'value %', value; RETURN true; END$$;
CREATE DOMAIN loud AS int CHECK (shout(value));
CREATE FOREIGN TABLE odd (a int, d loud, b text) SERVER csv OPTIONS (filename 'regress_csv/odd.csv', on_error 'stop');
CALL write_file('odd.csv', E'1,2,x\n3,4,y\n,5\n"6,7\nx,8,z\n9,10,z\n');
SELECT plan('SELECT * FROM odd WHERE a > 1 AND d > 1 AND b = ''z''');
CALL write_file('odd.csv', '\x1f8b0800'::bytea);
SELECT plan('SELECT * FROM odd WHERE a > 1');
CALL write_file('odd.csv', '');
SELECT plan('SELECT * FROM odd WHERE a > 1');
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/odd.csv';
SELECT plan('SELECT * FROM odd WHERE a > 1');
SET client_min_messages = warning;

\i :teardown
