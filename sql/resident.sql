--
-- Columns that are kept, for all sessions.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a int, b text, c date, n numeric(10,2), line int OPTIONS (virtual 'line'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,x,2024-01-01,1.50\n2,y\n3,"z, ""zz""", 2024-01-03,2\n4,x,never,3.25\nfive,x,2024-01-05,1\n6,,,\n');
-- a file of the last second is not kept
CALL settle();
SELECT name, vartype, boot_val, context FROM pg_settings WHERE name = 'csv_gpu_fdw.resident_memory';
SHOW csv_gpu_fdw.resident_memory;
SELECT explain('SELECT a, b FROM t');
\set memory 10MB
\i :set_memory
SELECT explain('SELECT a, b FROM t');
-- read, and not read
SELECT a, b FROM t;
SELECT a, b FROM t;
SELECT explain('SELECT a, b FROM t');
SELECT explain('SELECT a, b FROM t', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
-- fewer columns; what an input function refuses is only asked of those
SELECT explain('SELECT b FROM t');
SELECT b FROM t;
-- a bad value makes the record bad for those who want it, and for no others
ALTER FOREIGN TABLE t ALTER b OPTIONS (ADD max_chars '4');
SELECT csv_gpu_forget() > 0 AS forgot;
SELECT a, b FROM t;
SELECT a, b FROM t;
SELECT explain('SELECT a, b FROM t');
SELECT explain('SELECT a FROM t');
SELECT a FROM t;
SELECT explain('SELECT a FROM t');
ALTER FOREIGN TABLE t ALTER b OPTIONS (DROP max_chars);
-- values that their input functions make, places, aggregates
SELECT * FROM t;
SELECT * FROM t;
SELECT b, count(*), sum(n), max(c) FROM t WHERE a < 6 GROUP BY b ORDER BY b;
SELECT b, count(*), sum(n), max(c) FROM t WHERE a < 6 GROUP BY b ORDER BY b;
SELECT explain('SELECT b, count(*), sum(n), max(c) FROM t WHERE a < 6 GROUP BY b');
-- the reject limit holds, and 'stop' stops
ALTER FOREIGN TABLE t OPTIONS (ADD reject_limit '1', ADD log_verbosity 'silent');
SELECT a, b FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP reject_limit, ADD on_error 'stop');
SELECT a, b FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP on_error);
SELECT explain('SELECT a, b FROM t');
-- all skipped records of the file are told whatever is held
SELECT record, column_name, error, raw FROM csv_gpu_errors('t');
-- the list, and letting go
SELECT filename, source, columns, rows, bytes > 0 AS has_bytes, location ~ '^host' AS is_on_host, last_used <= clock_timestamp() AS was_used
  FROM csv_gpu_resident() ORDER BY columns;
SELECT csv_gpu_forget();
SELECT * FROM csv_gpu_resident();
SELECT explain('SELECT a, b FROM t');
-- names in the header; columns of one header that are wanted in another order
CREATE FOREIGN TABLE h (two text OPTIONS (header_name 'second'), one int OPTIONS (header_name 'first'))
  SERVER csv OPTIONS (filename 'regress_csv/h*.csv', header 'true');
CALL write_file('h1.csv', E'first,second\n1,a\n2,b\n');
CALL write_file('h2.csv', E'second,first\nc,3\nd,4\n');
CALL settle();
SELECT * FROM h;
SELECT * FROM h;
SELECT two FROM h WHERE one > 2;
SELECT explain('SELECT * FROM h');
CALL write_file('h2.csv', E'first,second\n5,e\n');
SELECT explain('SELECT * FROM h');
SELECT * FROM h;
SELECT filename, columns, rows FROM csv_gpu_resident() WHERE filename ~ 'h1';
-- a NaN is no scaled integer
CREATE FOREIGN TABLE z (f float8, n numeric(8,2)) SERVER csv OPTIONS (filename 'regress_csv/z.csv');
CALL write_file('z.csv', E'0,NaN\n-0,1\n');
CALL settle();
SELECT f, n FROM z;
SELECT explain('SELECT count(f) FROM z WHERE n > 0');
SELECT count(f) FROM z WHERE n > 0;
SELECT explain('SELECT f, n FROM z');
SELECT count(f) FROM z WHERE n > 0;
SELECT f, n FROM z;
-- what is remembered of groups is each file's own
CREATE FOREIGN TABLE g (k text, n int) SERVER csv OPTIONS (filename 'regress_csv/g?.csv');
CREATE FOREIGN TABLE g2 (k text, n int) SERVER csv OPTIONS (filename 'regress_csv/g2.csv');
CALL write_file('g1.csv', E'x,1\nx,2\ny,3\n');
CALL write_file('g2.csv', E'z,10\ny,20\nz,30\n');
CALL settle();
SELECT k, count(*), sum(n) FROM g GROUP BY k ORDER BY k;
SELECT k, count(*), sum(n) FROM g GROUP BY k ORDER BY k;
SELECT k, count(*), sum(n) FROM g GROUP BY k ORDER BY k;
SELECT k, count(*), sum(n) FROM g WHERE n > 2 GROUP BY k ORDER BY k;
SELECT filename, groupings FROM csv_gpu_resident() WHERE filename ~ 'g[12]' ORDER BY filename;
SELECT k, sum(n) FROM g2 GROUP BY k ORDER BY k;
SELECT k, sum(n) FROM g2 GROUP BY k ORDER BY k;
-- without a GPU, 'cuda' reads nothing; what is kept need not be read
SET csv_gpu_fdw.engine = cuda;
SET csv_gpu_fdw.device = 63;
CREATE FUNCTION engine_of(query text, options text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json' || options || ') ' || query INTO plan;
  RETURN substring(plan #>> '{0,Plan,Engine}' FROM '^(cpu|cuda [(]no usable GPU[)])');
END $$;
SELECT engine_of('SELECT k, n FROM g'), engine_of('SELECT k, sum(n) FROM g GROUP BY k'), engine_of('SELECT f FROM z'),
  engine_of('SELECT k, sum(n) FROM g GROUP BY k', ', ANALYZE');
SELECT k, sum(n) FROM g GROUP BY k ORDER BY k;
SELECT n FROM g WHERE k = 'y';
SET csv_gpu_fdw.resident = off;
SELECT engine_of('SELECT k, sum(n) FROM g GROUP BY k');
\set VERBOSITY sqlstate
SELECT k, sum(n) FROM g GROUP BY k ORDER BY k;
\set VERBOSITY default
RESET csv_gpu_fdw.resident;
RESET csv_gpu_fdw.device;
RESET csv_gpu_fdw.engine;
-- a file that is read after one that is kept: what stands for NULL is still known
CALL write_file('null1.csv', E'a,1\nb,-999\n');
CALL write_file('null2.csv', E'c,-999\nNA,4\n');
CALL settle();
CREATE FOREIGN TABLE nulls (a text, b int OPTIONS (null_values '{-999}')) SERVER csv
	OPTIONS (filename 'regress_csv/null?.csv', null_values '{NA}');
SELECT sum(b), count(a) FROM nulls;
CALL write_file('null2.csv', E'c,-999\nNA,4\nNA,5\n');
CALL write_file('null3.csv', E'NA,-999\nd,6\n');
SELECT sum(b), count(a) FROM nulls;
SELECT * FROM nulls;
CALL settle();
SELECT sum(b), count(a) FROM nulls;
SELECT * FROM nulls;
-- processes share what is kept
CREATE FOREIGN TABLE shared (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/shared.csv', chunk_size '1kB', notice_limit '1');
CALL write_query('shared.csv', $$SELECT string_agg(format(E'%s,text %s\n', CASE WHEN i % 700 = 0 THEN 'x' ELSE i::text END, i), '') FROM generate_series(1, 3000) i$$);
CALL settle();
SELECT count(*), sum(a), max(md5(b)) FROM shared;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT explain('SELECT max(md5(b)), sum(a) FROM shared');
SELECT count(*), sum(a), max(md5(b)) FROM shared;
SELECT ltrim(line) AS line FROM explain('SELECT max(md5(b)) FROM shared WHERE a % 2 = 0', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Record|Resident';
-- the columns of others are read and kept by one process
SELECT csv_gpu_forget() > 0 AS forgot;
SELECT explain('SELECT max(md5(b)), sum(a) FROM shared');
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
-- less memory, none, and no such amount
\set memory off
\i :set_memory
SELECT count(*) FROM csv_gpu_resident();
ALTER SYSTEM SET csv_gpu_fdw.resident_memory = 'much';
ALTER SYSTEM SET csv_gpu_fdw.resident_memory = '-1';
ALTER SYSTEM SET csv_gpu_fdw.resident_memory = '10 parsecs';
\set memory 100MB
\i :set_memory
SHOW csv_gpu_fdw.resident_memory;
\set memory off
\i :set_memory

\i :teardown
