--
-- The library with objects of another release's script: an ERROR says how to update.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- a value of a type
CREATE FUNCTION value_of(type regtype) RETURNS text LANGUAGE sql AS
$$ SELECT format('%L::%s', CASE WHEN type = 'regclass'::regtype THEN 'pg_class' WHEN type = 'bool'::regtype THEN 'true'
	WHEN type::text LIKE '%[]' THEN '{}' WHEN type = 'text'::regtype THEN 'x' ELSE '1' END, type) $$;

-- declares a C function of the library in its own way, calls it, and returns its ERROR
CREATE FUNCTION call_as(symbol text, arguments regtype[], result text, is_strict boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE format('CREATE FUNCTION other(%s) RETURNS %s LANGUAGE C %s AS ''$libdir/csv_gpu_fdw'', %L',
		array_to_string(arguments, ', '), result, CASE WHEN is_strict THEN 'STRICT' ELSE '' END, symbol);
	EXECUTE format('SELECT other(%s) IS NULL', (SELECT string_agg(value_of(a), ', ') FROM unnest(arguments) a));
	RAISE EXCEPTION 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' ', SQLSTATE, SQLERRM, hint);
END $$;

-- a table's columns as a result
CREATE FUNCTION columns_of(types regtype[]) RETURNS text LANGUAGE sql AS
$$ SELECT format('TABLE (%s)', string_agg(format('c%s %s', number, type), ', '))
	FROM unnest(types) WITH ORDINALITY u(type, number) $$;

CREATE VIEW declared AS
	SELECT p.prosrc AS symbol, p.proisstrict AS is_strict, p.proretset AS is_set, ARRAY(SELECT unnest(p.proargtypes)::regtype) AS arguments,
			CASE WHEN p.proallargtypes IS NULL THEN p.prorettype::regtype::text END AS scalar,
			p.proallargtypes[p.pronargs + 1:]::regtype[] AS columns
		FROM pg_proc p WHERE p.probin = '$libdir/csv_gpu_fdw' AND p.proname <> 'other';

-- every symbol, with other arguments and other results
CREATE VIEW changed AS
	WITH d AS (SELECT *, coalesce(scalar, columns_of(columns)) AS result FROM declared)
	SELECT symbol, 'a further argument' AS change, arguments || 'bigint'::regtype AS arguments, result, is_strict FROM d
	UNION ALL SELECT symbol, 'no arguments', '{}', result, is_strict FROM d WHERE arguments <> '{}'
	UNION ALL SELECT symbol, 'without the last argument', arguments[:cardinality(arguments) - 1], result, is_strict
		FROM d WHERE cardinality(arguments) > 1
	UNION ALL SELECT symbol, 'another type of the last argument', arguments[:cardinality(arguments) - 1] || 'float8'::regtype, result, is_strict
		FROM d WHERE arguments <> '{}'
	UNION ALL SELECT symbol, 'a number', arguments, 'float8', is_strict FROM d
	UNION ALL SELECT symbol, 'a further column', arguments, columns_of(columns || 'text'::regtype), is_strict FROM d WHERE scalar IS NULL
	UNION ALL SELECT symbol, 'without the last column', arguments, columns_of(columns[:cardinality(columns) - 1]), is_strict FROM d WHERE scalar IS NULL
	UNION ALL SELECT symbol, 'another type of a column', arguments, columns_of('date'::regtype || columns[2:]), is_strict FROM d WHERE scalar IS NULL
	UNION ALL SELECT symbol, 'a set or not', arguments, CASE WHEN is_set THEN 'record' ELSE 'SETOF ' || coalesce(scalar, 'record') END, is_strict FROM d
	UNION ALL SELECT symbol, 'strict or not', arguments, result, NOT is_strict FROM d;

SELECT symbol, count(*) FROM changed GROUP BY symbol ORDER BY symbol COLLATE "C";
SELECT call_as(symbol, arguments, result, is_strict) AS error, count(*) FROM changed GROUP BY 1;

-- types in the right order, of arguments in the wrong places
CREATE FUNCTION other(OUT regclass, IN text, OUT text, OUT boolean, OUT boolean) RETURNS SETOF record LANGUAGE C STRICT AS '$libdir/csv_gpu_fdw', 'csv_gpu_files';
SELECT * FROM other('x');
DROP FUNCTION other;

-- the table of positions
CREATE FOREIGN TABLE source (a int) SERVER csv OPTIONS (filename 'regress_csv/t*.csv');
CREATE TABLE target (a int);
CALL write_file('t.csv', E'1\n');
BEGIN;
ALTER TABLE csv_gpu_position DROP COLUMN alone_until;
SELECT * FROM csv_gpu_load('source', 'target', mode => 'new_records');
ROLLBACK;
BEGIN;
ALTER TABLE csv_gpu_position ALTER COLUMN crc TYPE text;
SELECT * FROM csv_gpu_positions();
ROLLBACK;
BEGIN;
ALTER TABLE csv_gpu_position RENAME TO another;
SELECT csv_gpu_forget_positions('source', 'target');
ROLLBACK;
SELECT records_loaded FROM csv_gpu_load('source', 'target', mode => 'new_records');

-- the version that the library tells PostgreSQL, from 18 on
CREATE FUNCTION library_version() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('server_version_num')::int < 180000 THEN
		RETURN 'not told';
	END IF;
	RETURN (SELECT version FROM pg_get_loaded_modules() WHERE module_name = 'csv_gpu_fdw');
END $$;
SELECT library_version() IN (extversion, 'not told') AS is_told FROM pg_extension WHERE extname = 'csv_gpu_fdw';

\i :teardown
