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
	OUT identity text,
	OUT notices text)
RETURNS record
AS 'MODULE_PATHNAME', 'csv_gpu_load_file_2'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000000;

COMMENT ON FUNCTION csv_gpu_load_file(regclass, regclass, text, text, text[], regclass, boolean, text, text, text[], text, jsonb, text, boolean)
IS 'loads one of the files of a foreign table, as csv_gpu_load() does all of them; without a name all, as jobs do';

SELECT csv_gpu_succeed('@extschema@.csv_gpu_load_file(regclass,regclass,text,text)'::pg_catalog.regprocedure,
	'@extschema@.csv_gpu_load_file(regclass,regclass,text,text,text[],regclass,boolean,text,text,text[],text,jsonb,text,boolean)'::pg_catalog.regprocedure);

-- A relation as regclass has it, but a name of none is a WARNING, and the number 0.  So a dump
-- that lacks one table loses what is stored about that table, and not all rows.
CREATE TYPE csv_gpu_relation;

CREATE FUNCTION csv_gpu_relation_in(cstring, oid, integer)
RETURNS csv_gpu_relation
AS 'MODULE_PATHNAME'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION csv_gpu_relation_in(cstring, oid, integer)
IS 'internal: input of the type csv_gpu_relation';

CREATE FUNCTION csv_gpu_relation_out(csv_gpu_relation)
RETURNS cstring
AS 'regclassout'
LANGUAGE internal STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION csv_gpu_relation_out(csv_gpu_relation)
IS 'internal: output of the type csv_gpu_relation';

CREATE TYPE csv_gpu_relation (INPUT = csv_gpu_relation_in, OUTPUT = csv_gpu_relation_out, LIKE = pg_catalog.oid);

COMMENT ON TYPE csv_gpu_relation
IS 'as regclass; 0 if a restored name is that of no relation';
CREATE CAST (csv_gpu_relation AS pg_catalog.regclass) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (csv_gpu_relation AS pg_catalog.oid) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (pg_catalog.regclass AS csv_gpu_relation) WITHOUT FUNCTION AS ASSIGNMENT;

-- The policy would be in the way.
DROP POLICY readable ON csv_gpu_position;
ALTER TABLE csv_gpu_position ALTER COLUMN source TYPE csv_gpu_relation, ALTER COLUMN target TYPE csv_gpu_relation;
CREATE POLICY readable ON csv_gpu_position FOR SELECT
	USING (pg_catalog.pg_has_role((SELECT relowner FROM pg_catalog.pg_class
			WHERE oid OPERATOR(pg_catalog.=) target), 'USAGE') OR
		(pg_catalog.has_table_privilege(source, 'SELECT') AND pg_catalog.has_table_privilege(target, 'SELECT') AND
			pg_catalog.pg_has_role((SELECT datdba FROM pg_catalog.pg_database
				WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()), 'USAGE')));
ALTER TABLE csv_gpu_job ALTER COLUMN source TYPE csv_gpu_relation, ALTER COLUMN target TYPE csv_gpu_relation;

ALTER TABLE csv_gpu_job ADD COLUMN keep_runs integer CHECK (keep_runs > 0), ADD COLUMN last_success timestamptz;
GRANT UPDATE (keep_runs, last_success) ON csv_gpu_job TO PUBLIC;

-- What members of pg_monitor may not see of a job.
CREATE TABLE csv_gpu_job_option (
	owner regrole DEFAULT pg_catalog.quote_ident(current_user)::pg_catalog.regrole,
	job text,
	options jsonb,				-- arguments of csv_gpu_load(); rejects with its schema
	on_failure text,
	PRIMARY KEY (owner, job)
);

COMMENT ON TABLE csv_gpu_job_option
IS 'options and on_failure of importer jobs';
ALTER TABLE csv_gpu_job_option ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON csv_gpu_job_option
	USING (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole);
GRANT SELECT, INSERT, UPDATE (options, on_failure) ON csv_gpu_job_option TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('csv_gpu_job_option',
	'WHERE owner IN (SELECT oid FROM pg_catalog.pg_roles)');

ALTER TABLE csv_gpu_job_run ALTER COLUMN duration DROP NOT NULL, ADD COLUMN notices text, ADD COLUMN pid integer,
	ADD COLUMN state text GENERATED ALWAYS AS (
		CASE WHEN error IS NOT NULL THEN CASE WHEN duration IS NULL THEN 'died' ELSE 'failed' END
			WHEN duration IS NULL THEN 'running' WHEN files_waiting IS NOT NULL THEN 'waiting' ELSE 'succeeded' END) STORED;
CREATE INDEX csv_gpu_job_run_running ON csv_gpu_job_run (owner, job)
	WHERE state OPERATOR(pg_catalog.=) 'running';
GRANT INSERT (notices, pid) ON csv_gpu_job_run TO PUBLIC;
ALTER TABLE csv_gpu_job_deletion ADD COLUMN run bigint;
GRANT INSERT (run) ON csv_gpu_job_deletion TO PUBLIC;

-- Runs with the rights of the tables' owner, who is current_user here.  So the row
-- says whose rows to delete.  Nobody else may use this function in a trigger: on
-- their own table, the row could name any owner.
CREATE OR REPLACE FUNCTION csv_gpu_delete()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF new.what = 'job' THEN
		DELETE FROM @extschema@.csv_gpu_job j
			WHERE j.owner = new.owner AND j.job = new.job;
		DELETE FROM @extschema@.csv_gpu_job_option o
			WHERE o.owner = new.owner AND o.job = new.job;
	END IF;
	IF new.what IN ('job', 'files') THEN
		DELETE FROM @extschema@.csv_gpu_job_file f
			WHERE f.owner = new.owner AND f.job = new.job
				AND (new.filename IS NULL OR f.filename = new.filename);
	ELSIF new.what IN ('run', 'runs') THEN
		DELETE FROM @extschema@.csv_gpu_job_run r
			WHERE r.owner = new.owner AND r.job = new.job
				AND (new.before IS NULL OR r.started < new.before)
				AND CASE WHEN new.what = 'run' THEN r.run = new.run ELSE new.run IS NULL OR r.run <= new.run END;
	END IF;
	RETURN NULL;
END $$;

-- Has pg_cron run a job from now on; not any more if the schedule is NULL.  Returns the number
-- of pg_cron's job, or NULL.
CREATE FUNCTION csv_gpu_cron(job text, schedule text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	name CONSTANT text := 'csv_gpu_fdw: ' || job;
	command CONSTANT text := format('CALL %s.csv_gpu_run(%L::pg_catalog.text)', '@extschema@', job);
	lost text;
	elsewhere text;			-- the database of pg_cron, where that is not this one
BEGIN
	IF EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'pg_cron') THEN
		IF schedule IS NULL THEN
			PERFORM cron.unschedule(c.jobid) FROM cron.job c
				WHERE c.jobname = name AND c.username = current_user;
			RETURN NULL;
		END IF;
		-- only superusers see the jobs of others
		lost := (SELECT string_agg(DISTINCT quote_ident(c.username), ', ') FROM cron.job c
			WHERE c.username NOT IN (SELECT r.rolname FROM pg_roles r));
		IF lost IS NOT NULL THEN
			RAISE WARNING USING
				MESSAGE = format('pg_cron has jobs of roles that do not exist: %s', lost),
				DETAIL = 'After the next restart of the server, pg_cron may run no job at all.',
				HINT = 'Run: SELECT cron.unschedule(jobid) FROM cron.job WHERE username NOT IN (SELECT rolname FROM pg_roles);';
		END IF;
		RETURN cron.schedule(name, schedule, command);
	END IF;
	BEGIN
		elsewhere := 'database ' || quote_ident(nullif(current_setting('cron.database_name', true), current_database()));
	EXCEPTION WHEN insufficient_privilege THEN
		-- only superusers may see the setting of pg_cron, which is loaded then
		elsewhere := 'the database that cron.database_name names';
	END;
	IF elsewhere IS NULL AND schedule IS NOT NULL THEN
		RAISE feature_not_supported
			USING MESSAGE = 'csv_gpu_schedule() needs the extension pg_cron, which is not in this database',
				HINT = format('Install it (on Debian, postgresql-%s-cron), add pg_cron to shared_preload_libraries, set cron.database_name to "%s", restart the server, and run CREATE EXTENSION pg_cron. How pg_cron reaches the server is to be set, too: see docs/jobs.md.',
					current_setting('server_version_num')::integer / 10000, current_database());
	ELSIF schedule IS NOT NULL THEN
		RAISE WARNING USING
			MESSAGE = format('job "%s" is not scheduled yet, because pg_cron is in another database', job),
			DETAIL = 'There, it replaces a job of the same name that this role has in another database.',
			HINT = format('In %s, a superuser must run: SELECT cron.schedule_in_database(%L, %L, %L, %L, %L);',
				elsewhere, name, schedule, command, current_database(), current_user);
	ELSIF elsewhere IS NOT NULL THEN
		RAISE NOTICE USING
			MESSAGE = format('pg_cron is in another database, and may still run job "%s"', job),
			HINT = format('In %s, run: SELECT cron.unschedule(jobid) FROM cron.job WHERE jobname = %L AND username = %L AND database = %L;',
				elsewhere, name, current_user, current_database());
	END IF;
	RETURN NULL;
END $$;

COMMENT ON FUNCTION csv_gpu_cron(text, text)
IS 'internal: begins or ends a job of pg_cron';

CREATE FUNCTION csv_gpu_check_sql(sql text)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION csv_gpu_check_sql(text)
IS 'internal: ERROR if the syntax of SQL is wrong';

CREATE FUNCTION csv_gpu_schedule_as(
	job text,
	schedule text,
	source regclass,
	target regclass,
	mode text,
	description text,
	options jsonb,
	keep_runs integer,
	on_failure text,
	path text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	nfields integer;
	fields text;
	unknown text;
	given record;
	load_mode CONSTANT text := CASE mode WHEN 'new_records' THEN mode ELSE 'all' END;
BEGIN
	IF job IS NULL OR schedule IS NULL OR source IS NULL OR target IS NULL OR mode IS NULL THEN
		RAISE null_value_not_allowed
			USING MESSAGE = 'job, schedule, source, target and mode of csv_gpu_schedule() must not be null';
	END IF;
	IF mode NOT IN ('append', 'replace', 'new_files', 'new_records') THEN
		RAISE invalid_parameter_value
			USING MESSAGE = format('mode "%s" not recognized', mode),
				HINT = 'Valid values are: "append", "replace", "new_files", "new_records".';
	END IF;
	-- pg_cron cuts longer names
	IF octet_length(job) NOT BETWEEN 1 AND 50 THEN
		RAISE name_too_long
			USING MESSAGE = format('job name "%s" is %s', job,
				CASE job WHEN '' THEN 'empty' ELSE 'longer than 50 bytes' END);
	END IF;
	nfields := cardinality(regexp_split_to_array(btrim(schedule, E' \t\n'), '\s+'));
	IF nfields > 5 THEN
		fields := @extschema@.csv_gpu_cron_fields(schedule);
		RAISE invalid_parameter_value
			USING MESSAGE = format('schedule "%s" has %s fields', schedule, nfields),
				DETAIL = 'A schedule has five fields: minute, hour, day of the month, month, day of the week. There are no seconds.',
				HINT = CASE WHEN fields IS NOT NULL THEN format('With five fields it is "%s".', fields)
					ELSE 'Leave out the field of seconds, and write "*" for "?".' END;
	END IF;

	-- pg_cron refuses these, too, but does not say what it takes
	IF nfields < 5 AND schedule !~ '^\s*@' AND schedule !~* '^\s*[0-9]+\s+seconds?\s*$' THEN
		RAISE invalid_parameter_value
			USING MESSAGE = format('invalid schedule "%s"', schedule),
				HINT = 'Write five fields, such as "0 * * * *", or a word of pg_cron''s, such as "@hourly".';
	END IF;
	PERFORM @extschema@.csv_gpu_check_sql(on_failure);
	IF keep_runs < 1 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'keep_runs must be at least 1';
	END IF;
	IF jsonb_typeof(options) <> 'object' THEN
		RAISE invalid_parameter_value USING MESSAGE = 'options must be a JSON object';
	END IF;
	unknown := (SELECT min(k) FROM jsonb_object_keys(options) k WHERE k NOT IN ('columns', 'rejects',
		'freeze', 'on_rewrite', 'duplicates', 'key', 'filter', 'expressions', 'new_columns'));
	IF unknown IS NOT NULL THEN
		RAISE invalid_parameter_value
			USING MESSAGE = format('option "%s" not recognized', unknown),
				HINT = 'Valid options are csv_gpu_load()''s arguments "columns", "rejects", "freeze", "on_rewrite", "duplicates", "key", "filter", "expressions" and "new_columns".';
	END IF;

	-- what would fail in every run, or load files twice, is told here
	IF mode IN ('new_files', 'new_records') THEN
		PERFORM @extschema@.csv_gpu_files(source);
		PERFORM @extschema@.csv_gpu_check_logged(target);
		-- of equal options, the first counts: the table's
		IF 1 < (
			SELECT o.option_value::integer
				FROM pg_foreign_table t JOIN pg_foreign_server s ON s.oid = t.ftserver,
					pg_options_to_table(t.ftoptions || s.srvoptions) WITH ORDINALITY o
				WHERE t.ftrelid = source AND o.option_name = 'shares' ORDER BY o.ordinality LIMIT 1) THEN
			RAISE WARNING USING
				MESSAGE = format('foreign table %s has a share of the files, which changes when files are renamed', source),
				HINT = 'Do not rename files, and do not change the option "shares": otherwise another server may load a file again.';
		END IF;
	END IF;
	IF mode = 'replace' AND NOT has_table_privilege(target, 'TRUNCATE') THEN
		RAISE insufficient_privilege
			USING MESSAGE = format('permission denied for table %s', target),
				HINT = 'The mode "replace" needs TRUNCATE on it.';
	END IF;

	-- names in options are the caller's
	PERFORM set_config('search_path', path, true);
	SELECT * INTO STRICT given FROM pg_catalog.jsonb_to_record(coalesce(options, '{}')) o(columns pg_catalog.text[],
		rejects pg_catalog.regclass, "freeze" pg_catalog.bool, on_rewrite pg_catalog.text, duplicates pg_catalog.text,
		key pg_catalog.text[], filter pg_catalog.text, expressions pg_catalog.jsonb, new_columns pg_catalog.text);
	PERFORM @extschema@.csv_gpu_load_file(source, target, NULL::pg_catalog.text, load_mode, given.columns,
		given.rejects, given.freeze, given.on_rewrite, given.duplicates, given.key, given.filter,
		given.expressions, given.new_columns, true);
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF given.freeze AND mode <> 'replace' THEN
		RAISE invalid_parameter_value
			USING MESSAGE = 'option "freeze" can be used only with mode "replace"',
				DETAIL = 'In other modes, the table was not truncated in the same transaction.';
	END IF;
	IF EXISTS (SELECT FROM pg_class c
		WHERE c.oid IN (source, target, given.rejects) AND c.relpersistence = 't') THEN
		RAISE feature_not_supported
			USING MESSAGE = 'a job cannot use temporary tables',
				DETAIL = 'Its runs are other sessions.';
	END IF;
	IF given.rejects IS NOT NULL THEN
		options := options || jsonb_build_object('rejects', given.rejects::text);
	END IF;

	INSERT INTO @extschema@.csv_gpu_job AS j (job, description, schedule, source, target, mode, keep_runs)
		VALUES (job, description, schedule, source, target, mode, keep_runs)
		ON CONFLICT ON CONSTRAINT csv_gpu_job_pkey DO UPDATE
			SET description = excluded.description, schedule = excluded.schedule, source = excluded.source,
				target = excluded.target, mode = excluded.mode, keep_runs = excluded.keep_runs;
	INSERT INTO @extschema@.csv_gpu_job_option (job, options, on_failure) VALUES (job, options, on_failure)
		ON CONFLICT ON CONSTRAINT csv_gpu_job_option_pkey DO UPDATE
			SET options = excluded.options, on_failure = excluded.on_failure;
	RETURN @extschema@.csv_gpu_cron(job, schedule);
END $$;

COMMENT ON FUNCTION csv_gpu_schedule_as(text, text, regclass, regclass, text, text, jsonb, integer, text, text)
IS 'internal: csv_gpu_schedule(), with the caller''s search path';

-- Not strict: most arguments may be NULL.
CREATE FUNCTION csv_gpu_schedule(
	job text,
	schedule text,
	source regclass,
	target regclass,
	mode text DEFAULT 'append',
	description text DEFAULT NULL,
	options jsonb DEFAULT NULL,
	keep_runs integer DEFAULT 1000,
	on_failure text DEFAULT NULL)
RETURNS bigint
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
AS $$ SELECT @extschema@.csv_gpu_schedule_as($1, $2, $3, $4, $5, $6, $7, $8, $9, pg_catalog.current_setting('search_path')) $$;

SELECT csv_gpu_succeed('@extschema@.csv_gpu_schedule(text,text,regclass,regclass,text,text)'::pg_catalog.regprocedure,
	'@extschema@.csv_gpu_schedule(text,text,regclass,regclass,text,text,jsonb,integer,text)'::pg_catalog.regprocedure);

-- The schedule of a job of the user's own.
CREATE FUNCTION csv_gpu_find_job(job text)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	schedule text;
BEGIN
	SELECT j.schedule INTO schedule FROM @extschema@.csv_gpu_job j
		WHERE j.owner = me AND j.job = csv_gpu_find_job.job;
	IF NOT FOUND THEN
		RAISE undefined_object
			USING MESSAGE = format('job "%s" does not exist', job),
				HINT = 'A job is known only to the role that has scheduled it.';
	END IF;
	RETURN schedule;
END $$;

COMMENT ON FUNCTION csv_gpu_find_job(text)
IS 'internal: the schedule of an importer job; ERROR if there is none';

CREATE OR REPLACE FUNCTION csv_gpu_unschedule(job text)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM @extschema@.csv_gpu_find_job(job);
	INSERT INTO @extschema@.csv_gpu_job_deletion (what, job)
		VALUES ('job', csv_gpu_unschedule.job);
	PERFORM @extschema@.csv_gpu_cron(job, NULL::text);
END $$;

CREATE FUNCTION csv_gpu_pause(job text)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM @extschema@.csv_gpu_find_job(job), @extschema@.csv_gpu_cron(job, NULL::text);
END $$;

COMMENT ON FUNCTION csv_gpu_pause(text)
IS 'has pg_cron run an importer job no more, until csv_gpu_resume()';

CREATE FUNCTION csv_gpu_resume(job text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN @extschema@.csv_gpu_cron(job, @extschema@.csv_gpu_find_job(job));
END $$;

COMMENT ON FUNCTION csv_gpu_resume(text)
IS 'has pg_cron run an importer job by its schedule again; returns what csv_gpu_schedule() does';

-- Stores a run that has failed, or (without a duration) has died, and runs the job's on_failure.
CREATE FUNCTION csv_gpu_fail_run(
	job text,
	filename text,
	started timestamptz,
	duration interval,
	error text,
	path text)
RETURNS void
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	command CONSTANT text := (
		SELECT o.on_failure FROM @extschema@.csv_gpu_job_option o WHERE o.owner = me AND o.job = job);
	run bigint;
BEGIN
	RAISE WARNING 'job "%" failed: %', job, error;
	INSERT INTO @extschema@.csv_gpu_job_run AS r (job, filename, started, duration, error, pid)
		VALUES (job, filename, started, duration, error, pg_backend_pid()) RETURNING r.run INTO run;
	IF command IS NULL THEN
		RETURN;
	END IF;
	BEGIN
		PERFORM set_config('search_path', path, true);
		EXECUTE command;
		SET CONSTRAINTS ALL IMMEDIATE;
		PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		RAISE WARNING 'on_failure of job "%" failed: %', job, SQLERRM;
		INSERT INTO @extschema@.csv_gpu_job_deletion (what, job, run) VALUES ('run', job, run);
		INSERT INTO @extschema@.csv_gpu_job_run (job, filename, started, duration, error, pid)
			VALUES (job, filename, started, duration, concat(error, E'\non_failure: ', SQLERRM), pg_backend_pid());
	END;
END $$;

COMMENT ON FUNCTION csv_gpu_fail_run(text, text, timestamptz, interval, text, text)
IS 'internal: stores an importer job''s run that has failed';

-- The row of a load while it runs.  Nobody may change rows: that of its end replaces it.
CREATE FUNCTION csv_gpu_begin_load(job text, filename text)
RETURNS bigint
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$ INSERT INTO @extschema@.csv_gpu_job_run (job, filename, started, pid)
	VALUES ($1, $2, clock_timestamp(), pg_backend_pid()) RETURNING run $$;

COMMENT ON FUNCTION csv_gpu_begin_load(text, text)
IS 'internal: the row of an importer job''s load while it runs';

-- One load of a job: of one file as it was listed, or of the whole source.  If it
-- fails, it is undone, and the error is recorded.  Triggers and defaults of the
-- target see the caller's search path, as with the caller's own INSERT.  running: NULL, or the
-- row of the load.  Returns true if the run is to end.
CREATE FUNCTION csv_gpu_run_load(job text, running bigint, filename text, identity text, path text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	started CONSTANT timestamptz := clock_timestamp();
	this @extschema@.csv_gpu_job;
	options jsonb;
	given record;
	loaded record;
	load_mode text;
	truncation text;
	error text;
	detail text;
	hint text;
	place text;
	canceled boolean;
	run bigint;
BEGIN
	INSERT INTO @extschema@.csv_gpu_job_deletion (what, job, run) VALUES ('run', job, running);
	BEGIN
		-- one load of a job at a time
		SELECT j.* INTO this FROM @extschema@.csv_gpu_job j WHERE j.owner = me AND j.job = job FOR UPDATE;

		-- the job was unscheduled, or another run was faster
		IF this IS NULL OR EXISTS (
			SELECT FROM @extschema@.csv_gpu_job_file l
				WHERE l.owner = me AND l.job = job AND l.identity = identity) THEN
			RETURN this IS NULL;
		END IF;
		options := (SELECT o.options FROM @extschema@.csv_gpu_job_option o WHERE o.owner = me AND o.job = job);
		SELECT * INTO STRICT given FROM jsonb_to_record(coalesce(options, '{}')) o(columns text[],
			rejects regclass, "freeze" boolean, on_rewrite text, duplicates text, key text[], filter text,
			expressions jsonb, new_columns text);
		load_mode := CASE this.mode WHEN 'new_records' THEN 'new_records' ELSE 'all' END;
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
			FROM @extschema@.csv_gpu_load_file(this.source::pg_catalog.regclass, this.target::pg_catalog.regclass,
				filename, load_mode, given.columns, given.rejects, given.freeze, given.on_rewrite,
				given.duplicates, given.key, given.filter, given.expressions, given.new_columns, false) l;

		-- deferred, they would fail when nothing can be recorded any more
		SET CONSTRAINTS ALL IMMEDIATE;
		PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

		-- another state of the file: it may still be written to, or be loaded already
		IF loaded.identity IS DISTINCT FROM identity THEN
			RAISE object_not_in_prerequisite_state
				USING MESSAGE = format('file "%s" changed after the run began', filename);
		END IF;
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
			place = PG_EXCEPTION_CONTEXT;
		canceled := SQLSTATE = '57014';
		-- of the context, only which record it was
		error := concat(error, E'\nDETAIL:  ' || nullif(detail, ''), E'\nHINT:  ' || nullif(hint, ''),
			E'\nCONTEXT:  ' || CASE WHEN NOT canceled THEN
				substring(place, 'csv_gpu_load into [^\n]*, record [^\n]*') END);
	END;
	IF error IS NOT NULL THEN
		PERFORM @extschema@.csv_gpu_fail_run(job, filename, started, clock_timestamp() - started, error, path);
		RETURN canceled;
	END IF;
	UPDATE @extschema@.csv_gpu_job j SET last_success = clock_timestamp() WHERE j.owner = me AND j.job = job;

	-- a load that has found nothing leaves no row, unless it tells something new
	IF this.mode IN ('append', 'new_records') AND loaded.records_loaded = 0 AND loaded.records_skipped = 0
		AND (loaded.notices IS NULL OR loaded.notices = (
			SELECT r.notices FROM @extschema@.csv_gpu_job_run r WHERE r.owner = me AND r.job = job
				ORDER BY r.run DESC LIMIT 1)) THEN
		RETURN false;
	END IF;
	INSERT INTO @extschema@.csv_gpu_job_run AS r
		(job, filename, started, duration, records_loaded, records_skipped, bytes_read, notices, pid)
		VALUES (job, filename, started, clock_timestamp() - started, loaded.records_loaded,
			loaded.records_skipped, loaded.bytes_read, loaded.notices, pg_backend_pid())
		RETURNING r.run INTO run;
	IF identity IS NOT NULL THEN
		INSERT INTO @extschema@.csv_gpu_job_file (job, identity, filename, run)
			VALUES (job, identity, filename, run);
	END IF;
	RETURN false;
END $$;

SELECT csv_gpu_succeed('@extschema@.csv_gpu_run_load(@extschema@.csv_gpu_job,text,text,text)'::pg_catalog.regprocedure,
	'@extschema@.csv_gpu_run_load(text,bigint,text,text,text)'::pg_catalog.regprocedure);

-- Finds runs that have died, and what is to be loaded: files, of which one without a name stands
-- for all.  The job stays locked.
CREATE FUNCTION csv_gpu_begin_run(
	job text,
	path text,
	OUT files text[],
	OUT identities text[],
	OUT waiting bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	started CONSTANT timestamptz := clock_timestamp();
	this @extschema@.csv_gpu_job;
	died record;
	dropped text;
	error text;
	hint text;
BEGIN
	PERFORM @extschema@.csv_gpu_find_job(job);
	SELECT j.* INTO this FROM @extschema@.csv_gpu_job j WHERE j.owner = me AND j.job = job FOR UPDATE;
	FOR died IN SELECT r.* FROM @extschema@.csv_gpu_job_run r
		WHERE r.owner = me AND r.job = job AND r.state = 'running'
			AND (r.pid = pg_backend_pid() OR NOT @extschema@.csv_gpu_is_running(r.pid, r.started)) LOOP
		INSERT INTO @extschema@.csv_gpu_job_deletion (what, job, run) VALUES ('run', job, died.run);
		PERFORM @extschema@.csv_gpu_fail_run(job, died.filename, died.started, NULL::interval,
			'the process of this run has ended, or was cancelled, before the run was complete'::text, path);
	END LOOP;
	files := ARRAY[NULL];
	identities := ARRAY[NULL];
	waiting := 0;
	BEGIN
		dropped := CASE WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = this.source) THEN 'source'
			WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = this.target) THEN 'target' END;
		IF dropped IS NOT NULL THEN
			RAISE undefined_table
				USING MESSAGE = format('the %s table has been dropped since the job was scheduled', dropped);
		END IF;
		IF this.mode = 'new_files' THEN
			PERFORM @extschema@.csv_gpu_check_logged(this.target::regclass);
			-- a file that the server cannot look at (settled is NULL) is to fail, by itself
			SELECT coalesce(array_agg(f.filename ORDER BY f.filename COLLATE "C") FILTER (WHERE f.settled IS NOT FALSE), '{}'),
					array_agg(f.identity ORDER BY f.filename COLLATE "C") FILTER (WHERE f.settled IS NOT FALSE),
					count(*) FILTER (WHERE NOT f.settled)
				INTO files, identities, waiting
				FROM (
					-- a file with several names counts once, by the first of them
					SELECT DISTINCT ON (coalesce(g.identity, g.filename)) g.*
						FROM @extschema@.csv_gpu_files(this.source::regclass) g
						ORDER BY coalesce(g.identity, g.filename), g.filename COLLATE "C") f
				WHERE NOT EXISTS (
					SELECT FROM @extschema@.csv_gpu_job_file l
						WHERE l.owner = me AND l.job = job AND l.identity = f.identity);
		ELSIF this.mode <> 'new_records' AND EXISTS (
			SELECT FROM pg_foreign_table t, pg_options_to_table(t.ftoptions) o
				WHERE t.ftrelid = this.source AND o.option_name = 'filename') THEN
			-- the files are loaded together, so all wait for one
			SELECT count(*) FILTER (WHERE NOT g.whole) INTO waiting
				FROM @extschema@.csv_gpu_files(this.source::regclass) g;
			IF waiting > 0 THEN
				files := '{}';
			END IF;
		END IF;
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
		error := concat(SQLERRM, E'\nHINT:  ' || nullif(hint, ''));
		files := '{}';
		waiting := 0;
		PERFORM @extschema@.csv_gpu_fail_run(job, NULL::text, started, clock_timestamp() - started, error, path);
		RETURN;
	END;
	-- nothing is new
	IF files = '{}' AND waiting = 0 THEN
		UPDATE @extschema@.csv_gpu_job j SET last_success = clock_timestamp() WHERE j.owner = me AND j.job = job;
	END IF;
END $$;

COMMENT ON FUNCTION csv_gpu_begin_run(text, text)
IS 'internal: what a run of an importer job is to load';

-- Ends a run: adds a row about files that wait, and deletes old rows.
CREATE FUNCTION csv_gpu_end_run(job text, waiting bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	keep_runs CONSTANT integer := (
		SELECT j.keep_runs FROM @extschema@.csv_gpu_job j WHERE j.owner = me AND j.job = job);
BEGIN
	-- "not yet" must not look like "nothing to load"
	IF waiting > 0 THEN
		INSERT INTO @extschema@.csv_gpu_job_run (job, started, duration, files_waiting, pid)
			VALUES (job, now(), clock_timestamp() - now(), waiting, pg_backend_pid());
	END IF;
	IF keep_runs IS NOT NULL THEN
		INSERT INTO @extschema@.csv_gpu_job_deletion (what, job, run)
			SELECT 'runs', job, r.run FROM @extschema@.csv_gpu_job_run r WHERE r.owner = me AND r.job = job
				ORDER BY r.run DESC OFFSET keep_runs LIMIT 1;
	END IF;
END $$;

COMMENT ON FUNCTION csv_gpu_end_run(text, bigint)
IS 'internal: ends a run of an importer job';

CREATE OR REPLACE FUNCTION csv_gpu_run_all(job text, path text)
RETURNS SETOF csv_gpu_job_run
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	before CONSTANT bigint := coalesce((
		SELECT max(r.run) FROM @extschema@.csv_gpu_job_run r WHERE r.owner = me AND r.job = csv_gpu_run_all.job), 0);
	work CONSTANT record := @extschema@.csv_gpu_begin_run(job, path);
BEGIN
	FOR i IN 1 .. cardinality(work.files) LOOP
		EXIT WHEN @extschema@.csv_gpu_run_load(job, NULL::bigint, work.files[i], work.identities[i], path);
	END LOOP;
	PERFORM @extschema@.csv_gpu_end_run(job, work.waiting);
	RETURN QUERY SELECT r.* FROM @extschema@.csv_gpu_job_run r
		WHERE r.owner = me AND r.job = csv_gpu_run_all.job AND r.run > before AND r.pid = pg_backend_pid() ORDER BY r.run;
END $$;

-- What pg_cron calls.  Each load is a transaction of its own, as is the row about it.  A procedure
-- that commits may not set its search path, so even types and operators have their schema.
CREATE PROCEDURE csv_gpu_run(job pg_catalog.text)
LANGUAGE plpgsql
AS $$
DECLARE
	path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
	work pg_catalog.record;
	running pg_catalog.int8;
	ended pg_catalog.bool;
BEGIN
	work := @extschema@.csv_gpu_begin_run(job, path);
	COMMIT;
	FOR i IN 1 .. pg_catalog.cardinality(work.files) LOOP
		running := @extschema@.csv_gpu_begin_load(job, work.files[i]);
		COMMIT;
		ended := @extschema@.csv_gpu_run_load(job, running, work.files[i], work.identities[i], path);
		COMMIT;
		EXIT WHEN ended;
	END LOOP;
	PERFORM @extschema@.csv_gpu_end_run(job, work.waiting);
END $$;

COMMENT ON PROCEDURE csv_gpu_run(text)
IS 'runs an importer job now, as pg_cron does by its schedule: not within a transaction';

-- Numbers of a field of cron; NULL if it has none.  names: of the numbers from low on.
CREATE FUNCTION csv_gpu_cron_numbers(field text, low integer, high integer, names text[])
RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT array_agg(DISTINCT number)
		FROM regexp_split_to_table(lower($1), ',') item,
			regexp_match(item, '^(?:\*|(\w+)(?:-(\w+))?)(?:/(\d{1,4}))?$') part,
			LATERAL (
				SELECT array_agg(coalesce($2 - 1 + array_position($4, p), substring(p FROM '^\d{1,2}$')::integer) ORDER BY i)
					FROM unnest(part[:2]) WITH ORDINALITY u(p, i)) bound(numbers),
			generate_series(CASE WHEN part[1] IS NULL THEN $2 ELSE numbers[1] END,
				CASE WHEN part[1] IS NULL THEN $3 ELSE least(CASE WHEN part[2] IS NULL THEN numbers[1] ELSE numbers[2] END, $3) END,
				nullif(coalesce(part[3]::integer, 1), 0)) number
		WHERE part IS NOT NULL
$$;

COMMENT ON FUNCTION csv_gpu_cron_numbers(text, integer, integer, text[])
IS 'internal: the numbers that a field of a schedule stands for';

-- The first minute after a time that fits a schedule; NULL if it cannot be known: of "@reboot", and
-- where the user may not see the settings of pg_cron.
CREATE FUNCTION csv_gpu_next_run(schedule text, after timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	zone text;
	fits_both boolean;
	fields CONSTANT text[] := regexp_split_to_array(btrim(CASE btrim(schedule)
		WHEN '@yearly' THEN '0 0 1 1 *' WHEN '@annually' THEN '0 0 1 1 *' WHEN '@monthly' THEN '0 0 1 * *'
		WHEN '@weekly' THEN '0 0 * * 0' WHEN '@daily' THEN '0 0 * * *' WHEN '@midnight' THEN '0 0 * * *'
		WHEN '@hourly' THEN '0 * * * *' ELSE schedule END, E' \t\n'), '\s+');
	minutes CONSTANT integer[] := @extschema@.csv_gpu_cron_numbers(fields[1], 0, 59, '{}'::text[]);
	hours CONSTANT integer[] := @extschema@.csv_gpu_cron_numbers(fields[2], 0, 23, '{}'::text[]);
	days CONSTANT integer[] := @extschema@.csv_gpu_cron_numbers(fields[3], 1, 31, '{}'::text[]);
	months CONSTANT integer[] := @extschema@.csv_gpu_cron_numbers(fields[4], 1, 12,
		'{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'::text[]);
	weekdays CONSTANT integer[] := @extschema@.csv_gpu_cron_numbers(fields[5], 0, 7, '{sun,mon,tue,wed,thu,fri,sat,sun}'::text[]);
BEGIN
	IF NOT isfinite(after) THEN
		RETURN NULL;
	END IF;
	zone := coalesce(nullif(current_setting('cron.timezone', true), ''), 'GMT');
	-- a day must fit both its fields, unless both say something
	fits_both := fields[3] LIKE '*%' OR fields[5] LIKE '*%'
		OR coalesce(current_setting('cron.match_dom_and_dow', true), 'off') = 'on';
	RETURN (
		SELECT min(t) FROM (
			SELECT day FROM generate_series(date_trunc('day', after AT TIME ZONE zone),
						date_trunc('day', after AT TIME ZONE zone) + interval '9 years', '1 day') day,
					LATERAL (
						SELECT extract(day FROM day) = ANY (days) AS day_fits,
							extract(dow FROM day) = ANY (weekdays) OR extract(isodow FROM day) = ANY (weekdays) AS weekday_fits) f
				WHERE extract(month FROM day) = ANY (months)
					AND CASE WHEN fits_both THEN day_fits AND weekday_fits ELSE day_fits OR weekday_fits END
				ORDER BY day LIMIT 2) next, unnest(hours) hour, unnest(minutes) minute,
			LATERAL (SELECT (day + make_interval(hours => hour, mins => minute)) AT TIME ZONE zone) l(t)
		WHERE t > after);
EXCEPTION WHEN insufficient_privilege THEN
	RETURN NULL;
END $$;

COMMENT ON FUNCTION csv_gpu_next_run(text, timestamptz)
IS 'internal: when pg_cron will run what has this schedule';

-- Is a process with that number running what it began at that time?  Users see more of their own processes.
CREATE FUNCTION csv_gpu_is_running(pid integer, started timestamptz)
RETURNS boolean
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$ SELECT EXISTS (SELECT FROM pg_stat_activity a
	WHERE a.pid = $1 AND a.backend_start <= $2 IS NOT FALSE AND a.state LIKE 'idle%' IS NOT TRUE) $$;

COMMENT ON FUNCTION csv_gpu_is_running(integer, timestamptz)
IS 'internal: is the process of a run still there?';

CREATE FUNCTION csv_gpu_jobs(
	OUT job text,
	OUT active boolean,
	OUT running boolean,
	OUT last_success timestamptz,
	OUT last_error text,
	OUT next_run timestamptz,
	OUT records_loaded bigint,
	OUT bytes_read bigint)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	me CONSTANT regrole := quote_ident(current_user);
	scheduled jsonb;		-- jobs of pg_cron that this user sees: are they active?
	sees_all boolean;
	most CONSTANT bigint := 9223372036854775807;	-- users may add any rows, and must not stop this for others
BEGIN
	IF EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'pg_cron') AND has_schema_privilege('cron', 'USAGE') THEN
		scheduled := (SELECT coalesce(jsonb_object_agg(format('%I %s', c.username, c.jobname), c.active), '{}') FROM cron.job c
			WHERE c.jobname LIKE 'csv\_gpu\_fdw: %' AND c.database = current_database());
		sees_all := NOT row_security_active('cron.job');
	END IF;
	FOR job, active, running, last_success, last_error, next_run, records_loaded, bytes_read IN
		SELECT j.job, coalesce((scheduled ->> format('%s csv_gpu_fdw: %s', j.owner, j.job))::boolean,
				CASE WHEN scheduled IS NOT NULL AND (j.owner = me OR sees_all) THEN false END),
				coalesce(r.running, false), coalesce(j.last_success, r.last_success),
				(SELECT e.error FROM @extschema@.csv_gpu_job_run e
					WHERE e.owner = j.owner AND e.job = j.job AND e.error IS NOT NULL ORDER BY e.run DESC LIMIT 1),
				CASE WHEN length(j.schedule) < 1000 THEN @extschema@.csv_gpu_next_run(j.schedule, now()) END, r.records_loaded, r.bytes_read
			FROM @extschema@.csv_gpu_job j CROSS JOIN LATERAL (
				SELECT bool_or(r.state = 'running' AND @extschema@.csv_gpu_is_running(r.pid, r.started)) AS running,
						max(r.started + r.duration) FILTER (WHERE r.state = 'succeeded' AND r.started <= now()
							AND r.duration BETWEEN '0' AND '1 year') AS last_success,
						least(coalesce(sum(r.records_loaded) FILTER (WHERE r.started > now() - interval '1 day'), 0), most) AS records_loaded,
						least(coalesce(sum(r.bytes_read) FILTER (WHERE r.started > now() - interval '1 day'), 0), most) AS bytes_read
					FROM @extschema@.csv_gpu_job_run r WHERE r.owner = j.owner AND r.job = j.job) r
			ORDER BY j.job, j.owner::text
	LOOP
		next_run := CASE WHEN active THEN next_run END;
		RETURN NEXT;
	END LOOP;
END $$;

COMMENT ON FUNCTION csv_gpu_jobs()
IS 'the state of importer jobs: see the view of that name';

CREATE VIEW csv_gpu_jobs AS
	SELECT * FROM csv_gpu_jobs();

COMMENT ON VIEW csv_gpu_jobs
IS 'the state of the user''s importer jobs, of all for members of pg_monitor; numbers of the last day';

GRANT SELECT ON csv_gpu_jobs TO PUBLIC;

-- What DROP EXTENSION loses cannot be found out again.  At its end, no trigger of ours is left.
CREATE FUNCTION csv_gpu_warn_of_drop()
RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	nfiles CONSTANT bigint := (SELECT count(*) FROM @extschema@.csv_gpu_position)
		+ (SELECT count(*) FROM @extschema@.csv_gpu_job_file);
BEGIN
	IF nfiles > 0 AND current_query() ~* '\mcsv_gpu_fdw\M' THEN
		RAISE WARNING USING
			MESSAGE = format('DROP EXTENSION forgets what was loaded of %s files', nfiles),
			DETAIL = 'A later load loads it again.',
			HINT = format('To save it, roll back, and run pg_dump --data-only --table=%L first.', '@extschema@.csv_gpu_*');
	END IF;
END $$;

COMMENT ON FUNCTION csv_gpu_warn_of_drop()
IS 'internal: the event trigger of that name';
REVOKE EXECUTE ON FUNCTION csv_gpu_warn_of_drop() FROM PUBLIC;
CREATE EVENT TRIGGER csv_gpu_warn_of_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION')
	EXECUTE FUNCTION csv_gpu_warn_of_drop();

-- Not strict, like the next two: without a server, one is chosen.
CREATE FUNCTION csv_gpu_sniff(
	filename text,
	server text DEFAULT NULL,
	OUT column_number integer,
	OUT column_name text,
	OUT header_name text,
	OUT type text,
	OUT nulls bigint,
	OUT max_chars integer,
	OUT byte_width integer,
	OUT delimiter text,
	OUT quote text,
	OUT escape text,
	OUT record_boundary text,
	OUT header_rows integer,
	OUT decimal_separator text,
	OUT encoding text,
	OUT records bigint,
	OUT skipped bigint,
	OUT null_values text,
	OUT date_format text,
	OUT timestamp_format text,
	OUT thousands_separator text,
	OUT comment text,
	OUT footer_rows integer,
	OUT "trim" boolean,
	OUT format text,
	OUT virtual text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'csv_gpu_sniff_2'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000 ROWS 20;

COMMENT ON FUNCTION csv_gpu_sniff(text, text)
IS 'what IMPORT FOREIGN SCHEMA would make of a file: a row for each of its fields, and for each key in its path';

SELECT csv_gpu_succeed('@extschema@.csv_gpu_sniff(text)'::pg_catalog.regprocedure,
	'@extschema@.csv_gpu_sniff(text,text)'::pg_catalog.regprocedure);

CREATE FUNCTION csv_gpu_peek(
	filename text,
	rows integer DEFAULT 10,
	server text DEFAULT NULL,
	OUT record bigint,
	OUT fields json)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000 ROWS 10;

COMMENT ON FUNCTION csv_gpu_peek(text, integer, text)
IS 'the first records of a file, under the names that its columns would have';

CREATE FUNCTION csv_gpu_open(
	filename text,
	name text DEFAULT NULL,
	server text DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000;

COMMENT ON FUNCTION csv_gpu_open(text, text, text)
IS 'makes a temporary foreign table of a file, and returns its name';

-- The validator does not see a table's server.
CREATE FUNCTION csv_gpu_check_rights()
RETURNS event_trigger
AS 'MODULE_PATHNAME'
LANGUAGE C;

COMMENT ON FUNCTION csv_gpu_check_rights()
IS 'internal: the event trigger of that name';
REVOKE EXECUTE ON FUNCTION csv_gpu_check_rights() FROM PUBLIC;
CREATE EVENT TRIGGER csv_gpu_check_rights ON ddl_command_end
	WHEN TAG IN ('CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'ALTER TABLE', 'IMPORT FOREIGN SCHEMA', 'ALTER SERVER')
	EXECUTE FUNCTION csv_gpu_check_rights();

DROP FUNCTION csv_gpu_succeed(regprocedure, regprocedure);
