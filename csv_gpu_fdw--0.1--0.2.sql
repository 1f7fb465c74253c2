-- complain if the script is sourced in psql rather than by ALTER EXTENSION
\echo Use "ALTER EXTENSION csv_gpu_fdw UPDATE TO '0.2'" to load this file. \quit

-- Until 0.2 began, every state of the script said 0.1.  Only the last of them can be updated.
-- Operators have their schema: users may have made better fitting ones in the extension's.
DO $$
BEGIN
	IF NOT EXISTS (
			SELECT FROM pg_catalog.pg_attribute a
				WHERE a.attrelid OPERATOR(pg_catalog.=) '@extschema@.csv_gpu_position'::pg_catalog.regclass
					AND a.attname OPERATOR(pg_catalog.=) 'lacks_break') OR
		'dfb5396fdabe433a148c4bf0cf48c91f' OPERATOR(pg_catalog.<>) (
			SELECT pg_catalog.md5(pg_catalog.string_agg(
					p.proname OPERATOR(pg_catalog.||)
						coalesce(p.proallargtypes, p.proargtypes::oid[])::pg_catalog.regtype[]::pg_catalog.text, ' '
					ORDER BY p.proname))
				FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
				WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
					AND d.deptype OPERATOR(pg_catalog.=) 'e' AND d.refobjid OPERATOR(pg_catalog.=) (
						SELECT e.oid FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'csv_gpu_fdw')) THEN
		RAISE object_not_in_prerequisite_state USING
			MESSAGE = 'the objects of csv_gpu_fdw in this database are older than version 0.1',
			DETAIL = 'A script that also said 0.1 has made them before that version was complete.',
			HINT = 'Drop the extension, and create it again.';
	END IF;
END $$;

ALTER TABLE csv_gpu_position ADD COLUMN modified bigint NOT NULL DEFAULT 0;

CREATE FUNCTION csv_gpu_set_positions(
	source regclass,
	target regclass)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION csv_gpu_set_positions(regclass, regclass)
IS 'has csv_gpu_load() count all complete records that are in the files as loaded; returns the number of files';

-- Functions that have other arguments than before.  A new function has the owner, the
-- comment and the rights of the old one, and pg_dump writes what users have changed in them.
-- Casts leave no choice among functions: users may have made better fitting ones.
CREATE FUNCTION csv_gpu_succeed(old regprocedure, new regprocedure)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	before pg_proc;
	granted record;
BEGIN
	SELECT p.* INTO before FROM pg_proc p WHERE p.oid = old;
	IF before.proacl IS NOT NULL THEN
		EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC, CURRENT_USER', new);
		FOR granted IN SELECT * FROM aclexplode(before.proacl) LOOP
			EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s%s', new,
				CASE WHEN granted.grantee = 0 THEN 'PUBLIC' ELSE granted.grantee::regrole::text END,
				CASE WHEN granted.is_grantable THEN ' WITH GRANT OPTION' END);
		END LOOP;
	END IF;
	EXECUTE format('COMMENT ON FUNCTION %s IS %L', new, obj_description(old, 'pg_proc'));
	EXECUTE format('ALTER FUNCTION %s OWNER TO %s', new, before.proowner::regrole);
	DELETE FROM pg_init_privs i WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = new;
	UPDATE pg_init_privs i SET objoid = new WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = old;
	EXECUTE format('DROP FUNCTION %s', old);
END $$;

CREATE FUNCTION csv_gpu_load(
	source regclass,
	target regclass,
	columns text[] DEFAULT NULL,
	rejects regclass DEFAULT NULL,
	freeze boolean DEFAULT false,
	mode text DEFAULT 'all',
	on_rewrite text DEFAULT 'error',
	duplicates text DEFAULT NULL,
	key text[] DEFAULT NULL,
	filter text DEFAULT NULL,
	expressions jsonb DEFAULT NULL,
	new_columns text DEFAULT 'ignore',
	OUT records_loaded bigint,
	OUT records_skipped bigint,
	OUT bytes_read bigint,
	OUT elapsed interval)
RETURNS record
AS 'MODULE_PATHNAME', 'csv_gpu_load_2'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000;

COMMENT ON FUNCTION csv_gpu_load(regclass, regclass, text[], regclass, boolean, text, text, text, text[], text, jsonb, text)
IS 'loads the records of a foreign table into a table';

SELECT csv_gpu_succeed('@extschema@.csv_gpu_load(regclass,regclass,text[],regclass,boolean,text,text)'::pg_catalog.regprocedure,
	'@extschema@.csv_gpu_load(regclass,regclass,text[],regclass,boolean,text,text,text,text[],text,jsonb,text)'::pg_catalog.regprocedure);

CREATE FUNCTION csv_gpu_load_file(
	source regclass,
	target regclass,
	filename text,
	mode text DEFAULT 'all',
	columns text[] DEFAULT NULL,
	rejects regclass DEFAULT NULL,
	freeze boolean DEFAULT false,
	on_rewrite text DEFAULT 'error',
	duplicates text DEFAULT NULL,
	key text[] DEFAULT NULL,
	filter text DEFAULT NULL,
	expressions jsonb DEFAULT NULL,
	new_columns text DEFAULT 'ignore',
	only_check boolean DEFAULT false,
	OUT records_loaded bigint,
	OUT records_skipped bigint,
	OUT bytes_read bigint,
	OUT identity text)
RETURNS record
AS 'MODULE_PATHNAME', 'csv_gpu_load_file_2'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000000;

COMMENT ON FUNCTION csv_gpu_load_file(regclass, regclass, text, text, text[], regclass, boolean, text, text, text[], text, jsonb, text, boolean)
IS 'loads one of the files of a foreign table, as csv_gpu_load() does all of them; without a name all, as jobs do';

SELECT csv_gpu_succeed('@extschema@.csv_gpu_load_file(regclass,regclass,text,text)'::pg_catalog.regprocedure,
	'@extschema@.csv_gpu_load_file(regclass,regclass,text,text,text[],regclass,boolean,text,text,text[],text,jsonb,text,boolean)'::pg_catalog.regprocedure);

CREATE OR REPLACE FUNCTION csv_gpu_run_load(
	this csv_gpu_job,
	filename text,
	identity text,
	path text,
	OUT result csv_gpu_job_run,
	OUT canceled boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	started timestamptz := clock_timestamp();
	loaded record;
	error text;
	detail text;
	hint text;
	truncation text;
	mode CONSTANT text := CASE WHEN this.mode = 'new_records' THEN 'new_records' ELSE 'all' END;
BEGIN
	canceled := false;
	BEGIN
		IF this.mode = 'replace' THEN
			-- the table's name with its schema, whatever the search path
			truncation := (
				SELECT format('TRUNCATE %s %I.%I', CASE WHEN c.relkind <> 'p' THEN 'ONLY' END,
						n.nspname, c.relname)
					FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
					WHERE c.oid = this.target);
		END IF;
		PERFORM set_config('search_path', path, true);
		IF truncation IS NOT NULL THEN
			EXECUTE truncation;
		END IF;
		SELECT l.* INTO STRICT loaded
			FROM @extschema@.csv_gpu_load_file(this.source, this.target, filename, mode,
				NULL::text[], NULL::regclass, false, NULL::text, NULL::text, NULL::text[], NULL::text, NULL::jsonb, NULL::text, false) l;

		-- deferred, they would fail when nothing can be recorded any more
		SET CONSTRAINTS ALL IMMEDIATE;
		PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

		-- another state of the file: it may still be written to, or be loaded already
		IF loaded.identity IS DISTINCT FROM identity THEN
			RAISE object_not_in_prerequisite_state
				USING MESSAGE = format('file "%s" changed after the run began', filename);
		END IF;
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		error := concat(error, E'\nDETAIL:  ' || nullif(detail, ''), E'\nHINT:  ' || nullif(hint, ''));
		canceled := SQLSTATE = '57014';
		RAISE WARNING 'job "%" failed: %', this.job, error;
	END;
	IF error IS NULL THEN
		INSERT INTO @extschema@.csv_gpu_job_run AS r
			(job, filename, started, duration, records_loaded, records_skipped, bytes_read)
			VALUES (this.job, filename, started,
				clock_timestamp() - started,
				loaded.records_loaded, loaded.records_skipped, loaded.bytes_read)
			RETURNING r.* INTO result;
	ELSE
		INSERT INTO @extschema@.csv_gpu_job_run AS r (job, filename, started, duration, error)
			VALUES (this.job, filename, started,
				clock_timestamp() - started, error)
			RETURNING r.* INTO result;
	END IF;
	IF identity IS NOT NULL AND error IS NULL THEN
		INSERT INTO @extschema@.csv_gpu_job_file (job, identity, filename, run)
			VALUES (this.job, identity, filename, result.run);
	END IF;
END $$;

DROP FUNCTION csv_gpu_succeed(regprocedure, regprocedure);
