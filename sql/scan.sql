--
-- Scans: LIMIT, rescans, cursors, joins, prepared statements, ANALYZE, chunks.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a int, b text, n numeric) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT string_agg(i || CASE i WHEN 4 THEN ',four' WHEN 8 THEN ',eight,x' ELSE ',b' || i || ',' || i * 1.5 END || E'\n', '' ORDER BY i) FROM generate_series(1, 10) i$$);

-- LIMIT: nothing is said of records that the scan did not pass
SELECT a FROM t LIMIT 0;
SELECT a FROM t LIMIT 3;
SELECT a FROM t LIMIT 4;
SELECT a FROM t LIMIT 2 OFFSET 5;
SELECT EXISTS (SELECT FROM t WHERE a = 2), EXISTS (SELECT FROM t WHERE a = 5);

-- rescans: the inner side of a nested loop is read often and told of once
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
CREATE TABLE outer_ (x int);
INSERT INTO outer_ VALUES (1), (5), (9), (4), (10);
ANALYZE outer_;
SELECT explain('SELECT * FROM outer_ LEFT JOIN LATERAL (SELECT b FROM t WHERE a = x) s ON true');
SELECT * FROM outer_ LEFT JOIN LATERAL (SELECT b FROM t WHERE a = x) s ON true;
SELECT x, (SELECT b FROM t WHERE a = x) FROM outer_;
SELECT x, (SELECT string_agg(b, ' ') FROM t WHERE a < x) FROM outer_;
-- a rescan that goes further than those before it tells of what is new
SELECT x, s.a FROM (VALUES (2), (6), (3), (9)) o(x), LATERAL (SELECT a FROM t WHERE t.a >= x LIMIT 1) s;
-- with summaries, and a limit on what is skipped
ALTER FOREIGN TABLE t OPTIONS (ADD notice_limit '1');
SELECT x, s.b FROM outer_, LATERAL (SELECT b FROM t WHERE a = x) s;
ALTER FOREIGN TABLE t OPTIONS (SET notice_limit '0', ADD reject_limit '2');
SELECT x, s.b FROM outer_, LATERAL (SELECT b FROM t WHERE a = x) s;
ALTER FOREIGN TABLE t OPTIONS (SET reject_limit '20%');
SELECT x, s.b FROM outer_, LATERAL (SELECT b FROM t WHERE a = x) s;
ALTER FOREIGN TABLE t OPTIONS (DROP notice_limit, DROP reject_limit);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
-- a file and itself: two scans, each with its own NOTICEs
SELECT count(*) FROM t x JOIN t y USING (a) WHERE x.b = y.b;
-- beside parallel workers, values can be refused whatever their type
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE TYPE letter AS ENUM ('b1', 'b2');
CREATE FOREIGN TABLE evens (a even, b text, n numeric) SERVER csv OPTIONS (filename 'regress_csv/t.csv', notice_limit '1');
CREATE FOREIGN TABLE letters (a int, b letter) SERVER csv OPTIONS (filename 'regress_csv/t.csv', notice_limit '1', columns '3');
CREATE TABLE numbers AS SELECT i FROM generate_series(1, 10000) i;
ANALYZE numbers;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(a) FROM evens JOIN numbers ON i = a;
SELECT count(*), sum(a) FROM letters JOIN numbers ON i = a WHERE b IS NOT NULL;
-- before 17 not so where the workers' part is planned first: an ERROR says why
SET client_min_messages = error;
DO $$
DECLARE
  hint text;
BEGIN
  PERFORM count(a) FROM evens WHERE a < (SELECT avg(i) FROM numbers);
EXCEPTION WHEN check_violation THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  IF current_setting('server_version_num')::int >= 170000 OR hint NOT LIKE 'Before PostgreSQL 17, %' THEN
    RAISE;
  END IF;
END $$;
RESET client_min_messages;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- of several files
CREATE FOREIGN TABLE p (a int) SERVER csv OPTIONS (filename 'regress_csv/p*.csv');
CALL write_file('p1.csv', E'1\nx\n2\n');
CALL write_file('p2.csv', E'y\n3\n');
SELECT x, (SELECT count(*) FROM p WHERE a <= x) FROM generate_series(1, 3) x;

-- cursors
BEGIN;
DECLARE c CURSOR FOR SELECT a, b FROM t;
FETCH 3 FROM c;
FETCH 1 FROM c;
MOVE 2 IN c;
FETCH 2 FROM c;
FETCH ALL FROM c;
FETCH ALL FROM c;
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT a FROM t;
FETCH LAST FROM c;
FETCH FIRST FROM c;
FETCH BACKWARD ALL FROM c;
CLOSE c;
DECLARE c CURSOR WITH HOLD FOR SELECT a FROM t WHERE a > 8;
COMMIT;
FETCH ALL FROM c;
CLOSE c;

-- subtransactions, around scans and within
CREATE DOMAIN small AS int CHECK (VALUE < 8);
CREATE FOREIGN TABLE d (a small, b text, n numeric) SERVER csv OPTIONS (filename 'regress_csv/t.csv', log_verbosity 'silent');
BEGIN;
DECLARE c CURSOR FOR SELECT a, b FROM d;
FETCH 1 FROM c;
SAVEPOINT one;
FETCH 2 FROM c;
SELECT 1 / 0;
ROLLBACK TO one;
FETCH 1 FROM c;
SAVEPOINT two;
SELECT count(a), sum(a) FROM d;
RELEASE two;
CLOSE c;
DECLARE c CURSOR FOR SELECT a, b FROM d;
FETCH 3 FROM c;
FETCH ALL FROM c;
COMMIT;
DO $$
DECLARE
  r record;
  n int := 0;
BEGIN
  FOR r IN SELECT a FROM d LOOP
    BEGIN
      IF r.a % 2 = 0 THEN
        RAISE EXCEPTION 'even';
      END IF;
      n := n + r.a;
    EXCEPTION WHEN raise_exception THEN
      NULL;
    END;
  END LOOP;
  RAISE NOTICE 'sum of odd ones: %', n;
END $$;
-- an ERROR in mid-scan leaves nothing behind
SELECT 1 / (a - 3) FROM t;
SELECT sum(a) FROM d;

-- prepared statements see the options as they are
PREPARE p1 (int) AS SELECT a, b FROM t WHERE a <= $1;
EXECUTE p1(2);
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
EXECUTE p1(2);
ALTER FOREIGN TABLE t OPTIONS (DROP header);
EXECUTE p1(2);
CALL write_file('t.csv', E'1,one,1\n2,two,2\n');
EXECUTE p1(2);
DEALLOCATE p1;

-- other commands
CREATE TABLE copy_of AS SELECT * FROM t;
INSERT INTO copy_of SELECT * FROM t;
SELECT count(*), sum(n) FROM copy_of;
UPDATE copy_of c SET n = t.n * 10 FROM t WHERE t.a = c.a;
SELECT * FROM copy_of ORDER BY a, b, n;
COPY (SELECT * FROM t ORDER BY a) TO STDOUT (FORMAT csv);
SELECT a FROM t UNION ALL SELECT a FROM copy_of ORDER BY 1;
SELECT * FROM t FOR UPDATE;
SELECT * FROM t TABLESAMPLE bernoulli(50);
WITH w AS MATERIALIZED (SELECT * FROM t) SELECT count(*) FROM w x, w y;
CREATE INDEX ON t (a);
TRUNCATE t;

-- ANALYZE
CALL write_query('t.csv', $$SELECT string_agg(i || ',' || i % 5 || ',' || CASE WHEN i % 100 = 0 THEN 'x' ELSE '1' END || E'\n', '' ORDER BY i) FROM generate_series(1, 5000) i$$);
ALTER FOREIGN TABLE t OPTIONS (ADD log_verbosity 'silent');
ANALYZE t;
SELECT reltuples, relpages FROM pg_class WHERE oid = 't'::regclass;
SELECT attname, null_frac, n_distinct FROM pg_stats WHERE tablename = 't' AND schemaname = 'csv_test' ORDER BY attname;
SELECT count(*) FROM t;
-- the sample is in the order of the file, also where not all rows are in it
CALL write_query('o.csv', $$SELECT string_agg(i || ',' || -i || E'\n', '' ORDER BY i) FROM generate_series(1, 60000) i$$);
CREATE FOREIGN TABLE o (up int, down int) SERVER csv OPTIONS (filename 'regress_csv/o.csv');
ANALYZE o;
SELECT attname, correlation FROM pg_stats WHERE tablename = 'o' AND schemaname = 'csv_test' ORDER BY attname;
DROP FOREIGN TABLE o;
CALL write_file('p1.csv', '');
CALL write_file('p2.csv', '');
ANALYZE p;
SELECT reltuples, relpages FROM pg_class WHERE oid = 'p'::regclass;
ALTER FOREIGN TABLE p OPTIONS (SET filename 'regress_csv/missing.csv');
ANALYZE p;

--
-- chunks: of any size, the same result
--
CREATE FOREIGN TABLE c (a int, b text OPTIONS (max_chars '6'), n numeric, record int OPTIONS (virtual 'record'),
                        line int OPTIONS (virtual 'line'), byte_offset int OPTIONS (virtual 'byte_offset'))
  SERVER csv OPTIONS (filename 'regress_csv/c.csv', header 'true', log_verbosity 'silent', max_record_size '100', chunk_size '1');
CALL write_query('c.csv', $$SELECT E'\uFEFFa,b,n\r\n' || string_agg(i || CASE i % 17
  WHEN 1 THEN E',"x\ny",1\n' WHEN 2 THEN E',"""",\r\n' WHEN 3 THEN E',long one,1\n' WHEN 4 THEN E',x"y,2.5\n' WHEN 5 THEN E',"a,b","3"\n'
  WHEN 6 THEN E'\n\n' WHEN 7 THEN E',ä€😀,NaN\n' WHEN 8 THEN E',"z"z,1\n' WHEN 9 THEN E',,\r\n' WHEN 10 THEN E',x,none\n'
  WHEN 11 THEN ',' || repeat('w', 120) || E',1\n' WHEN 12 THEN E',"open,1\n' ELSE E',b,7\n' END, '' ORDER BY i) FROM generate_series(1, 120) i$$);
CREATE TABLE good AS SELECT * FROM c;
CREATE TABLE bad AS SELECT * FROM csv_gpu_errors('c');
SELECT count(*), sum(a), sum(record), sum(line), sum(byte_offset) FROM good;
SELECT error, count(*) FROM bad GROUP BY error ORDER BY error;
DO $$
DECLARE
  size text;
  n int;
BEGIN
  FOREACH size IN ARRAY ARRAY['2', '3', '5', '7', '8', '13', '16', '31', '32', '33', '63', '64', '65', '99', '100', '101', '127', '128', '255', '512', '1000', '1024', '4kB', '64kB', '1MB'] LOOP
    EXECUTE format('ALTER FOREIGN TABLE c OPTIONS (SET chunk_size %L)', size);
    SELECT count(*) INTO n FROM
      ((SELECT * FROM c EXCEPT ALL SELECT * FROM good) UNION ALL (SELECT * FROM good EXCEPT ALL SELECT * FROM c)) s;
    IF n > 0 THEN
      RAISE WARNING 'chunk_size %: % rows differ', size, n;
    END IF;
    SELECT count(*) INTO n FROM
      ((SELECT * FROM csv_gpu_errors('c') EXCEPT ALL SELECT * FROM bad) UNION ALL (SELECT * FROM bad EXCEPT ALL SELECT * FROM csv_gpu_errors('c'))) s;
    IF n > 0 THEN
      RAISE WARNING 'chunk_size %: % errors differ', size, n;
    END IF;
  END LOOP;
END $$;
-- NOTICEs and early ends, too
ALTER FOREIGN TABLE c OPTIONS (SET chunk_size '1', DROP log_verbosity, ADD notice_limit '3');
SELECT a FROM c LIMIT 5;
SELECT count(*) FROM c;
ALTER FOREIGN TABLE c OPTIONS (SET chunk_size '1MB');
SELECT a FROM c LIMIT 5;
SELECT count(*) FROM c;
-- on the server as the default for its tables
ALTER FOREIGN TABLE c OPTIONS (DROP chunk_size);
ALTER SERVER csv OPTIONS (ADD chunk_size '50');
SELECT count(*) FROM c;
ALTER SERVER csv OPTIONS (DROP chunk_size);
-- a longer file, where a chunk holds many records and the CPU's fast paths run
CALL write_query('t.csv', $$SELECT string_agg(i || ',"' || repeat('x', i % 60) || '",' || i % 1000 || '.' || i % 10 || E'\n', '' ORDER BY i) FROM generate_series(1, 50000) i$$);
SELECT count(*), sum(a::bigint), sum(length(b)), sum(n) FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '4kB');
SELECT count(*), sum(a::bigint), sum(length(b)), sum(n) FROM t;
SELECT count(*), sum(i::bigint), sum(i % 60), sum((i % 1000 || '.' || i % 10)::numeric) FROM generate_series(1, 50000) i;

\i :teardown
