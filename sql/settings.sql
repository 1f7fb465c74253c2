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
SELECT name, vartype, unit, enumvals, min_val, boot_val, context FROM pg_settings
  WHERE name IN ('csv_gpu_fdw.engine', 'csv_gpu_fdw.device', 'csv_gpu_fdw.gpu_memory_limit') ORDER BY name;
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
-- values that a setting cannot have
SET csv_gpu_fdw.engine = 'gpu';
\set VERBOSITY sqlstate
SET csv_gpu_fdw.gpu_memory_limit = -1;
\set VERBOSITY default
-- no GPU, no rows; every column is there
SELECT count(*) FILTER (WHERE usable IS NULL OR device IS NULL OR name IS NULL) AS incomplete FROM csv_gpu_devices();
SELECT * FROM csv_gpu_devices() WHERE false;

\i :teardown
