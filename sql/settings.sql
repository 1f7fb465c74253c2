--
-- Settings: which engine, and what it may take.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,x\n2,y\n');
-- the first word of the line "Engine:"
CREATE FUNCTION engine_of(query text, OUT engine text) LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    engine := coalesce(substring(line FROM '^ *Engine: (cpu|cuda) \(.+\)$'), engine);
  END LOOP;
END $$;
SELECT name, extra_desc FROM pg_settings
  WHERE name IN ('csv_gpu_fdw.copy', 'csv_gpu_fdw.copy_past_hooks', 'csv_gpu_fdw.enable_pushdown') ORDER BY name;
-- settings that configurations may still have
SELECT name, setting, short_desc, extra_desc FROM pg_settings
  WHERE name IN ('csv_gpu_fdw.io_threads', 'csv_gpu_fdw.load_method') ORDER BY name;
SELECT name, vartype, unit, enumvals, min_val, boot_val, context FROM pg_settings
  WHERE name IN ('csv_gpu_fdw.engine', 'csv_gpu_fdw.device', 'csv_gpu_fdw.gpu_memory_limit', 'csv_gpu_fdw.cpu_threads', 'csv_gpu_fdw.copy_past_hooks') ORDER BY name;
-- the setting stands over the option of the table, and that over the server's
SET csv_gpu_fdw.engine = 'cpu';
SELECT engine_of('SELECT * FROM t');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD engine 'cuda');
SELECT engine_of('SELECT * FROM t');
SELECT * FROM t;
SET csv_gpu_fdw.engine = 'auto';
SELECT engine_of('SELECT * FROM t');
ALTER FOREIGN TABLE t OPTIONS (SET engine 'cpu');
SELECT engine_of('SELECT * FROM t');
SELECT * FROM t;
ALTER SERVER csv OPTIONS (ADD engine 'cuda');
SELECT engine_of('SELECT * FROM t');
ALTER FOREIGN TABLE t OPTIONS (DROP engine);
SELECT engine_of('SELECT * FROM t');
ALTER SERVER csv OPTIONS (SET engine 'cpu');
SELECT engine_of('SELECT * FROM t');
SELECT * FROM t;
SET csv_gpu_fdw.engine = 'cuda';
SELECT engine_of('SELECT * FROM t');
-- 'auto' on a file this small: not worth a GPU
SET csv_gpu_fdw.engine = 'auto';
ALTER SERVER csv OPTIONS (SET engine 'auto');
SELECT engine_of('SELECT * FROM t');
SELECT * FROM t;
-- 'cuda' reads where there is a usable GPU, and is an ERROR where there is none
CREATE FUNCTION try_cuda() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  has_gpu bool := EXISTS (SELECT FROM csv_gpu_devices() d WHERE d.usable);
  n int;
BEGIN
  SET LOCAL csv_gpu_fdw.engine = 'cuda';
  BEGIN
    SELECT count(*) INTO n FROM t;
  EXCEPTION WHEN external_routine_exception OR feature_not_supported THEN
    RETURN CASE WHEN has_gpu OR SQLERRM !~ '^no usable GPU for engine "cuda": .' THEN SQLSTATE || ': ' || SQLERRM ELSE 'as expected' END;
  END;
  RETURN CASE WHEN has_gpu AND n = 2 THEN 'as expected' ELSE n || ' rows' END;
END $$;
SELECT try_cuda();
-- the session lives
SELECT count(*) FROM t;
-- any number of threads gives the same
SET csv_gpu_fdw.engine = 'cpu';
CREATE FOREIGN TABLE long (n int, t text, d date, x numeric(10,2))
  SERVER csv OPTIONS (filename 'regress_csv/long.csv', notice_limit '2');
SELECT string_agg(CASE WHEN n % 20000 = 1234 THEN E'5,"stray" quote,,\nbad\n' ELSE format(E'%s,"text, %s%s",2000-01-01,%s\n',
  n, n, CASE WHEN n % 7 = 0 THEN E'\n' END, n / 100.0) END, '' ORDER BY n) AS content FROM generate_series(1, 100000) n \gset
CALL write_file('long.csv', :'content');
CREATE TEMP TABLE one_thread AS SELECT * FROM long;
SET csv_gpu_fdw.cpu_threads = 3;
SELECT count(*), sum(n), sum(length(t)), sum(x) FROM long;
SELECT count(*) FROM long;
(SELECT * FROM long EXCEPT SELECT * FROM one_thread) UNION ALL (SELECT * FROM one_thread EXCEPT SELECT * FROM long);
-- an error and an early end in mid-scan
SELECT count(1 / (n - 70000)) FROM long;
SELECT n FROM long LIMIT 2;
RESET csv_gpu_fdw.cpu_threads;
SET csv_gpu_fdw.engine = 'auto';
-- values that a setting cannot have
SET csv_gpu_fdw.cpu_threads = 65;
SET csv_gpu_fdw.engine = 'gpu';
\set VERBOSITY sqlstate
SET csv_gpu_fdw.gpu_memory_limit = -1;
\set VERBOSITY default
-- no GPU, no rows; every column is there
SELECT count(*) FILTER (WHERE usable IS NULL OR device IS NULL OR name IS NULL) AS incomplete FROM csv_gpu_devices();
SELECT * FROM csv_gpu_devices() WHERE false;

\i :teardown
