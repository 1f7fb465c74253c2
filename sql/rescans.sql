--
-- Scans that are repeated for other values of their parameters: the first two
-- read the file, the others have their rows from memory.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- what EXPLAIN ANALYZE says of repeated scans; how much they take differs
CREATE FUNCTION rescans(query text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT regexp_replace(line, 'Usage: \d+', 'Usage: ...')
    FROM explain(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
    WHERE line ~ '(Records|Removed by Engine|Rescan)';
$$;

CREATE FOREIGN TABLE t (a int, b text, n numeric(10,2)) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,one,1.50\n2,two,2\n,none,3\n1,uno,-1.5\n2,two,\n3,tre,0\n1,"een",1.5\n');
CREATE TABLE o (i int, x bigint, s text, m numeric);
INSERT INTO o VALUES (1, 1, 'one', 1.5), (2, NULL, 'two', 1.500), (3, 2, NULL, 0.00), (4, 9, 'tre', -1.5), (5, 1, 'one', NULL);
ANALYZE o;

-- aggregates in the engine
SELECT i, (SELECT count(*) FROM t WHERE a = x OFFSET 0), (SELECT sum(n) FROM t WHERE a = x AND n > 0 OFFSET 0) FROM o ORDER BY i;
SELECT rescans('SELECT (SELECT sum(n) FROM t WHERE a = x OFFSET 0) FROM o');
SELECT i, q.* FROM o, LATERAL (SELECT b, count(*), max(n) FROM t WHERE a = x GROUP BY b) q ORDER BY i, b;
-- rows
SELECT i, (SELECT string_agg(b, ' ') FROM t WHERE a = x) FROM o ORDER BY i;
SELECT i, q.b FROM o, LATERAL (SELECT b FROM t WHERE a = x AND b <> s OFFSET 0) q ORDER BY i;
SELECT rescans('SELECT i, q.b FROM o, LATERAL (SELECT b FROM t WHERE a = x AND b <> s OFFSET 0) q');
SELECT i, (SELECT b FROM t WHERE a = x ORDER BY n LIMIT 1) FROM o ORDER BY i;
-- values that are equal, whatever they look like, and by more than one column
SELECT i, (SELECT count(*) FROM t WHERE n = m OFFSET 0), (SELECT count(*) FROM t WHERE s = b OFFSET 0), (SELECT count(*) FROM t WHERE a = x AND b = s OFFSET 0) FROM o ORDER BY i;
-- clauses that are the executor's
SELECT i, (SELECT count(*) FROM t WHERE a = x AND length(b) > x OFFSET 0) FROM o ORDER BY i;
SELECT rescans('SELECT (SELECT count(*) FROM t WHERE a = x AND length(b) > x OFFSET 0) FROM o');
SET csv_gpu_fdw.enable_pushdown = off;
SELECT i, (SELECT sum(n) FROM t WHERE a = x AND n > 0 OFFSET 0) FROM o ORDER BY i;
SELECT rescans('SELECT (SELECT sum(n) FROM t WHERE a = x AND n > 0 OFFSET 0) FROM o');
RESET csv_gpu_fdw.enable_pushdown;
-- not where each row has to be seen
SELECT rescans('SELECT (SELECT count(*) FROM t WHERE a > x) FROM o');
-- nor where one must not be looked at before another clause has let it
CREATE FUNCTION shown(text) RETURNS bool LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 <> ''uno''; END';
CREATE TABLE parts (a int, b text, n numeric(10,2)) PARTITION BY LIST (a);
CREATE FOREIGN TABLE part PARTITION OF parts DEFAULT SERVER csv OPTIONS (filename 'regress_csv/t.csv');
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON parts USING (shown(b));
CREATE ROLE regress_csv_reader;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_reader;
GRANT SELECT ON parts, o TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT i, (SELECT count(*) FROM parts WHERE a = x OFFSET 0), (SELECT count(*) FROM parts WHERE n = m OFFSET 0) FROM o ORDER BY i;
SELECT count(*) FROM rescans('SELECT (SELECT count(*) FROM parts WHERE a = x OFFSET 0) FROM o') line WHERE line ~ 'Rescans';
SELECT count(*) FROM rescans('SELECT (SELECT count(*) FROM parts WHERE n = m OFFSET 0) FROM o') line WHERE line ~ 'Rescans';
RESET ROLE;
DROP OWNED BY regress_csv_reader;
DROP ROLE regress_csv_reader;

-- joins
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT explain('SELECT i, b FROM o LEFT JOIN t ON a = x');
SELECT i, b FROM o LEFT JOIN t ON a = x ORDER BY i, b;
SELECT rescans('SELECT i, b FROM o LEFT JOIN t ON a = x');
SELECT i FROM o WHERE EXISTS (SELECT FROM t WHERE a = x AND n < m) ORDER BY i;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;

-- skipped records are told of once, and none before a scan has passed it
CALL write_query('t.csv', $$SELECT string_agg(i || CASE WHEN i % 4 = 0 THEN ',bad,1,2' ELSE ',b' || i || ',1' END || E'\n', '' ORDER BY i) FROM generate_series(1, 9) i$$);
SELECT i, (SELECT b FROM t WHERE a = i) FROM o ORDER BY i;
SELECT i, (SELECT b FROM t WHERE a = i LIMIT 1) FROM generate_series(1, 3) i;
SELECT i, (SELECT b FROM t WHERE a = i LIMIT 1) FROM (VALUES (3), (2), (3), (2), (5), (2), (1), (3)) v(i);
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'stop');
SELECT i, (SELECT b FROM t WHERE a = i LIMIT 1) FROM (VALUES (3), (2), (3), (2), (3), (2), (1), (3)) v(i);
SELECT i, (SELECT b FROM t WHERE a = i LIMIT 1) FROM (VALUES (3), (2), (3), (2), (5), (2), (1), (3)) v(i);
ALTER FOREIGN TABLE t OPTIONS (DROP on_error, ADD reject_limit '1');
SELECT i, (SELECT b FROM t WHERE a = i LIMIT 1) FROM (VALUES (3), (7), (3), (7), (2)) v(i);
ALTER FOREIGN TABLE t OPTIONS (DROP reject_limit);

-- scans that end early do so until they have read as much as the whole file
CALL write_query('t.csv', $$SELECT string_agg(i || ',b' || i || E',1\n', '' ORDER BY i) FROM generate_series(1, 100000) i$$);
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '4kB');
SELECT count(*) FROM rescans('SELECT (SELECT b FROM t WHERE a = i LIMIT 1) FROM generate_series(1, 3) i') line WHERE line ~ 'Rescans';
SELECT count(*) FROM rescans('SELECT (SELECT b FROM t WHERE a = i LIMIT 1) FROM generate_series(1, 2000) i') line WHERE line ~ 'Rescans';

-- what does not fit into memory goes to a temporary file
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CALL write_query('t.csv', $$SELECT string_agg(i || ',b' || i || E',1\n', '' ORDER BY i) FROM generate_series(1, 2000) i$$);
SELECT sum((SELECT count(*) FROM t WHERE a = i OFFSET 0)), sum((SELECT sum(n) FROM t WHERE b = 'b' || i OFFSET 0)) FROM generate_series(1, 50) i;
SELECT rescans('SELECT (SELECT count(*) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 50) i');
SELECT rescans('SELECT (SELECT count(*) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 4) i');
SET temp_file_limit = 100000;
SELECT sum((SELECT count(*) FROM t WHERE a = i OFFSET 0)) FROM generate_series(1, 50) i;
SELECT count(*) FROM rescans('SELECT (SELECT count(*) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 50) i') line WHERE line ~ 'Rescans';
RESET temp_file_limit;
RESET work_mem;
RESET hash_mem_multiplier;

-- the other formats
SELECT regexp_replace(line, 'Usage": \d+', 'Usage": ...') AS line FROM explain('SELECT (SELECT count(*) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 50) i', 'ANALYZE, FORMAT JSON') line WHERE line ~ 'Rescan';

-- prepared statements, cursors
PREPARE q(int) AS SELECT i, (SELECT b FROM t WHERE a = i + $1 AND a > $1) FROM generate_series(1, 4) i;
EXECUTE q(0);
EXECUTE q(1997);
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT i, (SELECT b FROM t WHERE a = i) FROM generate_series(1, 6) i;
FETCH 3 FROM c;
SAVEPOINT s;
FETCH 1 FROM c;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH 1 FROM c;
COMMIT;
FETCH BACKWARD 2 FROM c;
CLOSE c;

-- columns that are kept are read as quickly, for some time
CALL settle();
\set memory 100MB
\i :set_memory
SELECT sum((SELECT count(*) FROM t WHERE a = i OFFSET 0)) FROM generate_series(1, 100) i;
SELECT rescans('SELECT (SELECT count(*) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 20) i');
SELECT rescans('SELECT (SELECT count(*) FROM t WHERE a = i OFFSET 0) FROM generate_series(1, 100) i');
\set memory off
\i :set_memory

-- an equality of a collation and a type whose hash does not know it: no lookup, no groups
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE names (n name);
INSERT INTO names VALUES ('ABC'), ('abd'), ('x'), ('X'), ('abc');
CALL write_file('names.csv', E'abc,1\nABD,2\nx,3\n');
CREATE FOREIGN TABLE by_text (a text COLLATE loose, v int) SERVER csv OPTIONS (filename 'regress_csv/names.csv');
CREATE FOREIGN TABLE by_name (a name COLLATE loose, v int) SERVER csv OPTIONS (filename 'regress_csv/names.csv');
SELECT n, (SELECT v FROM by_text WHERE a = n COLLATE loose) FROM names;
SELECT n, (SELECT v FROM by_name WHERE a = n COLLATE loose) FROM names;
SELECT n, (SELECT max(v) FROM by_text WHERE a = n COLLATE loose) FROM names;
SELECT n, (SELECT max(v) FROM by_name WHERE a = n COLLATE loose) FROM names;
SELECT n, (SELECT v FROM by_text WHERE a = n::text COLLATE loose) FROM names;
DROP TABLE names;

\i :teardown
