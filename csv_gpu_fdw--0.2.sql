-- complain if the script is sourced in psql rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION csv_gpu_fdw" to load this file. \quit

CREATE FUNCTION csv_gpu_fdw_handler()
RETURNS fdw_handler
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

COMMENT ON FUNCTION csv_gpu_fdw_handler()
IS 'handler of the foreign data wrapper csv_gpu_fdw';

CREATE FUNCTION csv_gpu_fdw_validator(text[], oid)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;

COMMENT ON FUNCTION csv_gpu_fdw_validator(text[], oid)
IS 'checks the options of csv_gpu_fdw servers, tables and columns';

CREATE FOREIGN DATA WRAPPER csv_gpu_fdw
HANDLER csv_gpu_fdw_handler
VALIDATOR csv_gpu_fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER csv_gpu_fdw
IS 'CSV files, read on the GPU or the CPU';

CREATE FUNCTION csv_gpu_devices(
	OUT device integer,
	OUT name text,
	OUT compute_capability text,
	OUT memory_total bigint,
	OUT memory_free bigint,
	OUT usable boolean,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 4;

COMMENT ON FUNCTION csv_gpu_devices()
IS 'the GPUs this server sees; no rows without a GPU or a driver';

-- Not strict: max_records is NULL by default.  Not for parallel queries: it
-- calls input functions of any type, inside subtransactions.
CREATE FUNCTION csv_gpu_errors(
	source regclass,
	max_records bigint DEFAULT NULL,
	OUT filename text,
	OUT record bigint,
	OUT line bigint,
	OUT byte_offset bigint,
	OUT column_number integer,
	OUT column_name text,
	OUT error text,
	OUT message text,
	OUT raw text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000 ROWS 100;

COMMENT ON FUNCTION csv_gpu_errors(regclass, bigint)
IS 'a row for each record of the foreign table that a query would skip';

CREATE FUNCTION csv_gpu_resident(
	OUT filename text,
	OUT source regclass,
	OUT columns text[],
	OUT rows bigint,
	OUT bytes bigint,
	OUT location text,
	OUT last_used timestamptz,
	OUT groupings text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 10;

COMMENT ON FUNCTION csv_gpu_resident()
IS 'the columns of files that are kept converted, for all sessions';

CREATE FUNCTION csv_gpu_forget()
RETURNS integer
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION csv_gpu_forget()
IS 'drops the columns that are kept of the user''s own tables, or all for superusers; returns how many sets';

CREATE FUNCTION csv_gpu_stat(
	OUT device integer,
	OUT name text,
	OUT pid integer,
	OUT since timestamptz,
	OUT scans_running integer,
	OUT scans_done bigint,
	OUT bytes_read bigint,
	OUT chunks bigint,
	OUT rows bigint,
	OUT resident_hits bigint,
	OUT resident_misses bigint,
	OUT fallbacks jsonb,
	OUT memory_held bigint,
	OUT memory_limit bigint,
	OUT failures bigint,
	OUT records_skipped bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 4;

COMMENT ON FUNCTION csv_gpu_stat()
IS 'what was done for all sessions: see the view of that name';

CREATE VIEW csv_gpu_stat AS
	SELECT * FROM csv_gpu_stat();

COMMENT ON VIEW csv_gpu_stat
IS 'what was done for all sessions, by device, and on the host';

GRANT SELECT ON csv_gpu_stat TO PUBLIC;

-- Not strict: most arguments may be NULL.
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

-- How far files were loaded by csv_gpu_load(..., mode => 'new_records').  Users may only
-- read: the functions check their rights, and then work as the owner of this table.
-- A file is known by its first bytes (first_hash, last_hash, crc), up to bytes_read;
-- the other columns about it only save reading it.
CREATE TABLE csv_gpu_position (
	source csv_gpu_relation NOT NULL,
	target csv_gpu_relation NOT NULL,
	filename text NOT NULL,
	bytes_read bigint NOT NULL,
	records_read bigint NOT NULL,
	lines_read bigint NOT NULL,
	place bigint NOT NULL,		-- of decompressed and converted bytes
	alone_until bigint NOT NULL,
	skip_line boolean NOT NULL,
	lacks_break boolean NOT NULL DEFAULT false,	-- the file ended there, within a line
	inode bigint NOT NULL,
	size bigint NOT NULL,
	changed bigint NOT NULL,
	born bigint NOT NULL,
	first_hash bytea NOT NULL,
	last_hash bytea NOT NULL,
	crc bigint NOT NULL,
	loaded_at timestamptz NOT NULL,
	modified bigint NOT NULL DEFAULT 0	-- 0: not known
);

-- A dump has the positions of a target's rows.  Only users who may read the source may
-- see the names and hashes of its files.
ALTER TABLE csv_gpu_position ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON csv_gpu_position FOR SELECT
	USING (pg_catalog.pg_has_role((SELECT relowner FROM pg_catalog.pg_class
			WHERE oid OPERATOR(pg_catalog.=) target), 'USAGE') OR
		(pg_catalog.has_table_privilege(source, 'SELECT') AND pg_catalog.has_table_privilege(target, 'SELECT') AND
			pg_catalog.pg_has_role((SELECT datdba FROM pg_catalog.pg_database
				WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()), 'USAGE')));
GRANT SELECT ON csv_gpu_position TO PUBLIC;
CREATE INDEX csv_gpu_position_tables ON csv_gpu_position (source, target);

COMMENT ON TABLE csv_gpu_position
IS 'internal: see the view csv_gpu_positions';

SELECT pg_catalog.pg_extension_config_dump('csv_gpu_position',
	'WHERE source IN (SELECT oid FROM pg_catalog.pg_class)
		AND target IN (SELECT oid FROM pg_catalog.pg_class)');

-- The numbers of dropped tables may become those of others.
CREATE FUNCTION csv_gpu_drop_positions()
RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	DELETE FROM @extschema@.csv_gpu_position p
		USING pg_event_trigger_dropped_objects() d
		WHERE d.classid = 'pg_class'::regclass AND d.objsubid = 0
			AND d.objid IN (p.source, p.target);
END $$;

COMMENT ON FUNCTION csv_gpu_drop_positions()
IS 'internal: the event trigger of that name';
REVOKE EXECUTE ON FUNCTION csv_gpu_drop_positions() FROM PUBLIC;
CREATE EVENT TRIGGER csv_gpu_drop_positions ON sql_drop
	EXECUTE FUNCTION csv_gpu_drop_positions();

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

CREATE FUNCTION csv_gpu_positions(
	OUT source regclass,
	OUT target regclass,
	OUT filename text,
	OUT bytes_read bigint,
	OUT bytes_behind bigint,
	OUT records_read bigint,
	OUT loaded_at timestamptz,
	OUT state text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
ROWS 10;

COMMENT ON FUNCTION csv_gpu_positions()
IS 'how far files were loaded: see the view of that name';

CREATE VIEW csv_gpu_positions AS
	SELECT * FROM csv_gpu_positions();

COMMENT ON VIEW csv_gpu_positions
IS 'how far files were loaded by csv_gpu_load(..., mode => ''new_records''), into the user''s own tables';

GRANT SELECT ON csv_gpu_positions TO PUBLIC;

-- Not strict: without a name, all files.
CREATE FUNCTION csv_gpu_forget_positions(
	source regclass,
	target regclass,
	filename text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION csv_gpu_forget_positions(regclass, regclass, text)
IS 'has csv_gpu_load() load files again from their beginnings, all of them or those of a name; returns how many';

CREATE FUNCTION csv_gpu_set_positions(
	source regclass,
	target regclass)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION csv_gpu_set_positions(regclass, regclass)
IS 'has csv_gpu_load() count all complete records that are in the files as loaded; returns the number of files';

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

-- For all users, because it asks for the rights of pg_write_server_files itself.
CREATE FUNCTION csv_gpu_leftovers(
	directory text,
	remove boolean DEFAULT false,
	OUT filename text,
	OUT bytes bigint,
	OUT state text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
ROWS 10;

COMMENT ON FUNCTION csv_gpu_leftovers(text, boolean)
IS 'files in a directory that ended transactions have left under temporary names, and, with remove, settles them';

-- For all users, likewise.
CREATE FUNCTION csv_gpu_take_over(target regclass)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION csv_gpu_take_over(regclass)
IS 'to the end of the transaction, TRUNCATE of a writable foreign table also deletes files that a copy of this server may have written';

-- Not strict: most arguments may be NULL.
CREATE FUNCTION csv_gpu_unload(
	query text,
	path text,
	format text DEFAULT 'csv',
	delimiter text DEFAULT NULL,
	quote text DEFAULT NULL,
	escape text DEFAULT NULL,
	null_string text DEFAULT NULL,
	header boolean DEFAULT true,
	encoding text DEFAULT NULL,
	compression text DEFAULT NULL,
	partition_by text[] DEFAULT NULL,
	max_file_size text DEFAULT NULL,
	ordered boolean DEFAULT false,
	overwrite boolean DEFAULT false,
	force_quote text[] DEFAULT NULL,
	bom boolean DEFAULT false,
	record_boundary text DEFAULT 'lf',
	OUT filename text,
	OUT records bigint,
	OUT bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000 ROWS 10;

COMMENT ON FUNCTION csv_gpu_unload(text, text, text, text, text, text, text, boolean, text, text, text[], text, boolean, boolean, text[], boolean, text)
IS 'writes the rows of a query to files; a row for each file';

CREATE FUNCTION csv_gpu_files(
	source regclass,
	OUT filename text,
	OUT identity text,
	OUT settled boolean,
	OUT whole boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 10;

COMMENT ON FUNCTION csv_gpu_files(regclass)
IS 'the files of a foreign table, and what each is remembered by once it is loaded';

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

-- Importer jobs.  Users see and change their own jobs only.  Every function that
-- they may call runs with the rights of its caller, and so does what pg_cron
-- runs.  All names have their schema, so that the search path does not matter.
-- Calls of our own functions give all arguments, in exactly their types, so that
-- PostgreSQL cannot choose another function of that name in our schema.
--
-- The owner of a job is stored as a role, so it stays the same when the role is
-- renamed.  A dump has the role's name.

CREATE TABLE csv_gpu_job (
	owner regrole DEFAULT pg_catalog.quote_ident(current_user)::pg_catalog.regrole,
	job text,
	description text,
	schedule text NOT NULL,
	source csv_gpu_relation NOT NULL,
	target csv_gpu_relation NOT NULL,
	mode text NOT NULL CHECK (mode IN ('append', 'replace', 'new_files', 'new_records')),
	created timestamptz NOT NULL DEFAULT now(),
	keep_runs integer CHECK (keep_runs > 0),	-- NULL: all
	last_success timestamptz,
	PRIMARY KEY (owner, job)
);

-- What members of pg_monitor may not see of a job.
CREATE TABLE csv_gpu_job_option (
	owner regrole DEFAULT pg_catalog.quote_ident(current_user)::pg_catalog.regrole,
	job text,
	options jsonb,				-- arguments of csv_gpu_load(); rejects with its schema
	on_failure text,
	PRIMARY KEY (owner, job)
);

CREATE TABLE csv_gpu_job_run (
	run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	owner regrole NOT NULL DEFAULT pg_catalog.quote_ident(current_user)::pg_catalog.regrole,
	job text NOT NULL,
	filename text,
	started timestamptz NOT NULL,
	duration interval,
	records_loaded bigint,
	records_skipped bigint,
	bytes_read bigint,
	error text,
	files_waiting bigint,
	notices text,				-- what csv_gpu_load() told of its choices
	pid integer,				-- of the process that runs it, or stored it
	state text GENERATED ALWAYS AS (
		CASE WHEN error IS NOT NULL THEN CASE WHEN duration IS NULL THEN 'died' ELSE 'failed' END
			WHEN duration IS NULL THEN 'running' WHEN files_waiting IS NOT NULL THEN 'waiting' ELSE 'succeeded' END) STORED
);

CREATE INDEX csv_gpu_job_run_job ON csv_gpu_job_run (owner, job, run);
CREATE INDEX csv_gpu_job_run_running ON csv_gpu_job_run (owner, job)
	WHERE state OPERATOR(pg_catalog.=) 'running';

CREATE TABLE csv_gpu_job_file (
	owner regrole DEFAULT pg_catalog.quote_ident(current_user)::pg_catalog.regrole,
	job text,
	identity text,
	filename text NOT NULL,
	run bigint NOT NULL,
	PRIMARY KEY (owner, job, identity)
);

-- Owners ask for deletions by inserting a row here.  A trigger carries it out, and
-- the row is not stored.  The privilege to DELETE, or to UPDATE all columns, would
-- include that to LOCK the tables against everyone else.
CREATE TABLE csv_gpu_job_deletion (
	owner regrole DEFAULT pg_catalog.quote_ident(current_user)::pg_catalog.regrole,
	what text,					-- job, run, runs or files
	job text,
	before timestamptz,
	filename text,
	run bigint					-- of 'run' only this, of 'runs' up to this
);

COMMENT ON TABLE csv_gpu_job_deletion
IS 'takes what csv_gpu_unschedule(), csv_gpu_forget_runs() and csv_gpu_forget_files() delete; always empty';
COMMENT ON TABLE csv_gpu_job
IS 'importer jobs, made by csv_gpu_schedule()';
COMMENT ON TABLE csv_gpu_job_option
IS 'options and on_failure of importer jobs';
COMMENT ON TABLE csv_gpu_job_run
IS 'a row for each run of an importer job; error is NULL if it succeeded, files_waiting is NULL unless files had to wait';
COMMENT ON TABLE csv_gpu_job_file
IS 'the files that jobs of the mode new_files have loaded';

ALTER TABLE csv_gpu_job ENABLE ROW LEVEL SECURITY;
ALTER TABLE csv_gpu_job_option ENABLE ROW LEVEL SECURITY;
ALTER TABLE csv_gpu_job_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE csv_gpu_job_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE csv_gpu_job_deletion ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON csv_gpu_job
	USING (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole);
CREATE POLICY own ON csv_gpu_job_option
	USING (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole);
CREATE POLICY own ON csv_gpu_job_run
	USING (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole);
CREATE POLICY monitor ON csv_gpu_job FOR SELECT
	USING (pg_catalog.pg_has_role('pg_monitor', 'USAGE'));
CREATE POLICY monitor ON csv_gpu_job_run FOR SELECT
	USING (pg_catalog.pg_has_role('pg_monitor', 'USAGE'));
CREATE POLICY own ON csv_gpu_job_file
	USING (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole);
CREATE POLICY own ON csv_gpu_job_deletion
	USING (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole);
GRANT SELECT, INSERT, UPDATE (description, schedule, source, target, mode, keep_runs, last_success) ON csv_gpu_job TO PUBLIC;
GRANT SELECT, INSERT, UPDATE (options, on_failure) ON csv_gpu_job_option TO PUBLIC;
-- not for all columns: nobody may choose "run", and so take numbers that others' runs need
GRANT SELECT,
	INSERT (job, filename, started, duration, records_loaded, records_skipped, bytes_read, error,
		files_waiting, notices, pid)
	ON csv_gpu_job_run TO PUBLIC;
GRANT SELECT ON SEQUENCE csv_gpu_job_run_run_seq TO PUBLIC;
GRANT SELECT, INSERT ON csv_gpu_job_file TO PUBLIC;
-- The owner is not to be chosen: rows are deleted before a policy sees the row.
GRANT INSERT (what, job, before, filename, run) ON csv_gpu_job_deletion TO PUBLIC;

-- Runs with the rights of the tables' owner, who is current_user here.  So the row
-- says whose rows to delete.  Nobody else may use this function in a trigger: on
-- their own table, the row could name any owner.
CREATE FUNCTION csv_gpu_delete()
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

COMMENT ON FUNCTION csv_gpu_delete()
IS 'internal: the trigger of csv_gpu_job_deletion';
REVOKE EXECUTE ON FUNCTION csv_gpu_delete() FROM PUBLIC;
CREATE TRIGGER csv_gpu_delete BEFORE INSERT ON csv_gpu_job_deletion
	FOR EACH ROW EXECUTE FUNCTION csv_gpu_delete();

-- Rows that refer to something dropped are not dumped: all that is left of it is
-- its number, which may be that of something else where the dump is restored.
SELECT pg_catalog.pg_extension_config_dump('csv_gpu_job',
	'WHERE owner IN (SELECT oid FROM pg_catalog.pg_roles)
		AND source IN (SELECT oid FROM pg_catalog.pg_class)
		AND target IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('csv_gpu_job_run',
	'WHERE owner IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('csv_gpu_job_run_run_seq', '');
SELECT pg_catalog.pg_extension_config_dump('csv_gpu_job_file',
	'WHERE owner IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('csv_gpu_job_option',
	'WHERE owner IN (SELECT oid FROM pg_catalog.pg_roles)');

-- The five fields of cron for Quartz's six or seven (seconds first, a year
-- last, days of the week from 1); NULL where they cannot say the same.
CREATE FUNCTION csv_gpu_cron_fields(quartz text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	fields text[] := regexp_split_to_array(btrim(quartz, E' \t\n'), '\s+');
	weekdays text := fields[6];
BEGIN
	-- every so many seconds, some years only, last or nearest days
	IF cardinality(fields) NOT IN (6, 7) OR fields[1] !~ '^[0-9]+$' OR fields[7] <> '*'
		OR fields[4] ~ '[LW]' OR weekdays ~ '[L#]' THEN
		RETURN NULL;
	END IF;
	IF weekdays ~ '[0-9]' THEN
		IF weekdays !~ '^[1-7]([-,][1-7])*$' THEN
			RETURN NULL;
		END IF;
		weekdays := translate(weekdays, '1234567', '0123456');
	END IF;

	-- minutes and hours start from 0, days and months from 1
	fields := regexp_replace(fields[2], '^0/', '*/') || ARRAY[regexp_replace(fields[3], '^0/', '*/'),
		regexp_replace(fields[4], '^1/', '*/'), regexp_replace(fields[5], '^1/', '*/'), weekdays];
	IF EXISTS (SELECT FROM unnest(fields) f WHERE f ~ '^[0-9]+/') THEN
		RETURN NULL;
	END IF;
	RETURN replace(array_to_string(fields, ' '), '?', '*');
END $$;

COMMENT ON FUNCTION csv_gpu_cron_fields(text)
IS 'internal: the five fields of cron for an expression of Quartz, or NULL';

-- A crash, or the end of a session, would take rows that a job will not load again.
CREATE FUNCTION csv_gpu_check_logged(target regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	place record;
BEGIN
	SELECT c.oid::regclass AS name, CASE c.relpersistence WHEN 't' THEN 'temporary' ELSE 'unlogged' END AS kind
		INTO place FROM pg_class c
		WHERE (c.oid = target OR c.oid IN (SELECT p.relid FROM pg_partition_tree(target) p))
			AND (c.relpersistence = 't' OR c.relpersistence = 'u' AND c.relkind <> 'p')
		LIMIT 1;
	IF FOUND THEN
		RAISE feature_not_supported USING
			MESSAGE = format('a job that loads only new files or records cannot load into %s table %s', place.kind, place.name),
			DETAIL = 'The list of what was loaded would outlive its rows.',
			HINT = 'Load into a logged table. If a crash emptied the table before ALTER TABLE ... SET LOGGED, call csv_gpu_forget_files() or csv_gpu_forget_positions().';
	END IF;
END $$;

COMMENT ON FUNCTION csv_gpu_check_logged(regclass)
IS 'internal: ERROR if a table, or a partition of it, is unlogged or temporary';

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

COMMENT ON FUNCTION csv_gpu_schedule(text, text, regclass, regclass, text, text, jsonb, integer, text)
IS 'has pg_cron load a foreign table into a table; returns the number of pg_cron''s job, or NULL where pg_cron is in another database';

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

CREATE FUNCTION csv_gpu_unschedule(job text)
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

COMMENT ON FUNCTION csv_gpu_unschedule(text)
IS 'ends an importer job; its runs stay on record';

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

-- Not strict: without a time, all runs; without a name, all files.
CREATE FUNCTION csv_gpu_forget_runs(job text, before timestamptz DEFAULT NULL)
RETURNS void
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$ INSERT INTO @extschema@.csv_gpu_job_deletion (what, job, before) VALUES ('runs', $1, $2) $$;

COMMENT ON FUNCTION csv_gpu_forget_runs(text, timestamptz)
IS 'deletes the records of an importer job''s runs, or of those that started before a time';

CREATE FUNCTION csv_gpu_forget_files(job text, filename text DEFAULT NULL)
RETURNS void
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$ INSERT INTO @extschema@.csv_gpu_job_deletion (what, job, filename) VALUES ('files', $1, $2) $$;

COMMENT ON FUNCTION csv_gpu_forget_files(text, text)
IS 'has an importer job load files again that it has loaded, all of them or those of a name';

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

COMMENT ON FUNCTION csv_gpu_run_load(text, bigint, text, text, text)
IS 'internal: one load of an importer job';

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

CREATE FUNCTION csv_gpu_run_all(job text, path text)
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

COMMENT ON FUNCTION csv_gpu_run_all(text, text)
IS 'internal: all loads of a run of an importer job';

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

-- All loads in one transaction.  Returns the rows that it adds to csv_gpu_job_run.
CREATE FUNCTION csv_gpu_run_job(job text)
RETURNS SETOF csv_gpu_job_run
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
AS $$ SELECT * FROM @extschema@.csv_gpu_run_all($1, pg_catalog.current_setting('search_path')) $$;

COMMENT ON FUNCTION csv_gpu_run_job(text)
IS 'runs an importer job now, as pg_cron does by its schedule';

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

-- Many servers.  What distributes a table runs with the rights of its caller, and
-- returns the statements that it has run.  A name of a new table is an array of
-- its schema and its name, the last two elements.

-- The column of a table of ours by which servers are told apart: virtual 'share',
-- or the first that is virtual 'path:KEY'.  NULL: none.
CREATE FUNCTION csv_gpu_server_column(source regclass, of_path boolean)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT EXISTS (
		SELECT FROM pg_foreign_table t, pg_foreign_server s, pg_foreign_data_wrapper w, pg_proc p
			WHERE t.ftrelid = source AND s.oid = t.ftserver AND w.oid = s.srvfdw
				AND p.oid = w.fdwhandler AND p.proname = 'csv_gpu_fdw_handler') THEN
		RAISE wrong_object_type
			USING MESSAGE = format('%s is not a foreign table of csv_gpu_fdw', source);
	END IF;
	RETURN (
		SELECT a.attname FROM pg_attribute a, pg_options_to_table(a.attfdwoptions) o
			WHERE a.attrelid = source AND NOT a.attisdropped AND o.option_name = 'virtual'
				AND CASE WHEN of_path THEN o.option_value ILIKE 'path:%' ELSE o.option_value ILIKE 'share' END
			ORDER BY a.attnum LIMIT 1);
END $$;

COMMENT ON FUNCTION csv_gpu_server_column(regclass, boolean)
IS 'internal: the column of a foreign table by which servers are told apart';

-- The settings of this session that a table of ours lacks as options, and columns of
-- types whose values may depend on them.  Elements and the like count as their whole.
CREATE FUNCTION csv_gpu_session_forms(source regclass)
RETURNS TABLE (option_name text, option_value text, column_names text)
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE given AS (
		SELECT o.option_name, o.option_value
			FROM pg_foreign_table t, pg_options_to_table(t.ftoptions) o
			WHERE t.ftrelid = source),
	parts(attnum, attname, options, type, is_column) AS (
		SELECT a.attnum, a.attname, a.attfdwoptions, a.atttypid, true
			FROM pg_attribute a
			WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		UNION
		SELECT p.attnum, p.attname, p.options, part.type, false
			FROM parts p JOIN pg_type t ON t.oid = p.type, LATERAL (
				SELECT unnest(ARRAY[t.typbasetype, CASE WHEN t.typcategory = 'A' THEN t.typelem END])
				UNION ALL SELECT r.rngsubtype FROM pg_range r WHERE p.type IN (r.rngtypid, r.rngmultitypid)
				UNION ALL SELECT a.atttypid FROM pg_attribute a
					WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) part(type)
			WHERE part.type <> 0),
	-- only columns of these very types have patterns
	forms(attnum, attname, type, pattern) AS (
		SELECT p.attnum, p.attname, p.type, CASE WHEN p.is_column THEN coalesce(
				(SELECT o.option_value FROM pg_options_to_table(p.options) o WHERE o.option_name = of.name),
				(SELECT g.option_value FROM given g WHERE g.option_name = of.name)) END
			FROM parts p, LATERAL (
				SELECT CASE p.type WHEN 'date'::regtype THEN 'date_format' ELSE 'timestamp_format' END) of(name)),
	dependent(option_name, option_value, attnum, attname) AS (
		SELECT 'timezone', current_setting('TimeZone'), f.attnum, f.attname FROM forms f
			WHERE CASE WHEN f.type = 'timetz'::regtype THEN true
				WHEN f.type = 'timestamptz'::regtype THEN coalesce(f.pattern !~* 'tzh|epoch', true)
				WHEN f.type = 'timestamp'::regtype THEN f.pattern ~* 'tzh' END
		UNION
		SELECT 'date_order', split_part(current_setting('DateStyle'), ', ', 2), f.attnum, f.attname FROM forms f
			WHERE f.type IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) AND f.pattern IS NULL)
	SELECT d.option_name, d.option_value, string_agg(format('"%s"', d.attname), ', ' ORDER BY d.attnum)
		FROM dependent d WHERE d.option_name NOT IN (SELECT g.option_name FROM given g)
		GROUP BY 1, 2 ORDER BY 1 DESC
$$;

COMMENT ON FUNCTION csv_gpu_session_forms(regclass)
IS 'internal: options for the settings of the session on which columns of a foreign table depend';

CREATE FUNCTION csv_gpu_distribute_as(
	source regclass,
	target text[],
	servers text[],
	partition_values text[])
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	schema text := target[cardinality(target) - 1];
	name text := target[cardinality(target)];
	nservers integer := cardinality(servers);
	key name;
	other text;
	statements text[];
	statement text;
	form record;
BEGIN
	IF source IS NULL OR cardinality(target) < 2 OR servers IS NULL THEN
		RAISE null_value_not_allowed
			USING MESSAGE = 'source, target and servers of csv_gpu_distribute() must not be null';
	END IF;
	IF schema IS NULL THEN
		RAISE invalid_schema_name USING MESSAGE = 'no schema has been selected to create in';
	END IF;
	IF nservers = 0 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'there are no servers';
	END IF;
	SELECT s.server INTO other FROM unnest(servers) s(server) GROUP BY 1 HAVING count(*) > 1 LIMIT 1;
	IF FOUND THEN
		RAISE invalid_parameter_value USING MESSAGE = format('server "%s" is named twice', other);
	END IF;
	IF nservers <> cardinality(partition_values) THEN
		RAISE invalid_parameter_value
			USING MESSAGE = format('there are %s servers, but %s partition values', nservers,
				cardinality(partition_values));
	END IF;
	IF octet_length(name || '_' || nservers - 1) > 63 THEN
		RAISE name_too_long
			USING MESSAGE = format('the name "%s" leaves no room for the numbers of partitions', name);
	END IF;
	key := @extschema@.csv_gpu_server_column(source, partition_values IS NOT NULL);
	IF key IS NULL THEN
		RAISE undefined_column USING
			MESSAGE = format('foreign table %s has no column virtual ''%s''', source,
				CASE WHEN partition_values IS NULL THEN 'share' ELSE 'path:KEY' END),
			HINT = CASE WHEN partition_values IS NULL
				THEN 'Add a column with the option virtual ''share'', or name partition_values for a column virtual ''path:KEY''.'
				WHEN @extschema@.csv_gpu_server_column(source, false) IS NOT NULL THEN 'Leave out partition_values.'
				ELSE 'Add a column with the option virtual ''share'', and leave out partition_values, or add a column virtual ''path:KEY''.' END;
	END IF;
	SELECT s.server INTO other FROM unnest(servers) s(server)
		WHERE NOT EXISTS (
			SELECT FROM pg_foreign_server f, pg_foreign_data_wrapper w, pg_proc p
				WHERE f.srvname = s.server AND w.oid = f.srvfdw AND p.oid = w.fdwhandler
					AND p.proname = 'postgres_fdw_handler');
	IF FOUND AND NOT EXISTS (SELECT FROM pg_foreign_server f WHERE f.srvname = other) THEN
		RAISE undefined_object USING MESSAGE = format('server "%s" does not exist', other);
	ELSIF FOUND THEN
		RAISE wrong_object_type USING MESSAGE = format('"%s" is not a server of postgres_fdw', other);
	END IF;

	statements := array_prepend(
		format('CREATE TABLE %I.%I (LIKE %s) PARTITION BY LIST (%I)', schema, name, source, key),
		(SELECT array_agg(format('CREATE FOREIGN TABLE %I.%I PARTITION OF %I.%I FOR VALUES IN (%L) SERVER %I OPTIONS (schema_name %L, table_name %L, fetch_size ''10000'', async_capable ''true'')',
					schema, name || '_' || s.number - 1, schema, name,
					CASE WHEN partition_values IS NULL THEN (s.number - 1)::text ELSE s.value END,
					s.server, n.nspname, c.relname) ORDER BY s.number)
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
				unnest(servers, partition_values) WITH ORDINALITY s(server, value, number)
			WHERE c.oid = source));
	FOREACH statement IN ARRAY statements LOOP
		EXECUTE statement;
		RETURN NEXT statement;
	END LOOP;

	-- postgres_fdw sets the time zone GMT on servers, where the order of dates may be another
	FOR form IN SELECT f.* FROM @extschema@.csv_gpu_session_forms(source) f LOOP
		RAISE WARNING USING
			MESSAGE = format('columns of foreign table %s depend on the %s of each server', source,
				CASE form.option_name WHEN 'timezone' THEN 'time zone' ELSE 'date order' END),
			DETAIL = 'Columns: ' || form.column_names || '.',
			HINT = format('On each server, and here, run ALTER FOREIGN TABLE %s OPTIONS (ADD %s %L), or with another value.',
				source, form.option_name, form.option_value);
	END LOOP;
END $$;

COMMENT ON FUNCTION csv_gpu_distribute_as(regclass, text[], text[], text[])
IS 'internal: csv_gpu_distribute(), with the new table''s schema';

-- Not strict: partition_values may be NULL.
CREATE FUNCTION csv_gpu_distribute(
	source regclass,
	target text,
	servers text[],
	partition_values text[] DEFAULT NULL)
RETURNS SETOF text
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
AS $$ SELECT * FROM @extschema@.csv_gpu_distribute_as($1,
	pg_catalog.array_prepend(pg_catalog.current_schema()::pg_catalog.text, pg_catalog.parse_ident($2)), $3, $4) $$;

COMMENT ON FUNCTION csv_gpu_distribute(regclass, text, text[], text[])
IS 'makes a table of foreign tables like this one on servers of postgres_fdw; returns the statements that it has run';

-- Statements of PL/pgSQL for one node of Citus.  They run in a connection, and a
-- transaction, of their own.  Citus tells failure by the first result alone, so
-- they are sent as a single statement.
CREATE FUNCTION csv_gpu_run_on_node(node text, port integer, commands text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	statement text := format('SELECT success, result FROM master_run_on_worker(ARRAY[%L], ARRAY[%s], ARRAY[%L], false)',
		node, port, format('DO %L', format('BEGIN SET LOCAL citus.enable_ddl_propagation = off; SET LOCAL citus.enable_manual_changes_to_shards = on; %s; END', commands)));
	outcome record;
BEGIN
	EXECUTE statement INTO STRICT outcome;
	IF NOT outcome.success THEN
		RAISE external_routine_exception
			USING MESSAGE = format('node %s:%s: %s', node, port, outcome.result);
	END IF;
	RETURN statement;
END $$;

COMMENT ON FUNCTION csv_gpu_run_on_node(text, integer, text)
IS 'internal: runs commands on a node of Citus; returns the statement';

-- The shards of Citus' table are made as plain tables, and then replaced, each by
-- a definition of the source's.  What is done on nodes is not undone by ROLLBACK.
CREATE FUNCTION csv_gpu_distribute_citus_as(source regclass, target text[])
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	schema text := target[cardinality(target) - 1];
	name text := target[cardinality(target)];
	new_table text := format('%I.%I', schema, name);
	key name;
	shared boolean;
	nnodes integer;
	copies text;
	statement text;
	definition text;		-- of a foreign table
	options text;
	shard record;
BEGIN
	IF source IS NULL OR cardinality(target) < 2 THEN
		RAISE null_value_not_allowed
			USING MESSAGE = 'source and target of csv_gpu_distribute_citus() must not be null';
	END IF;
	IF schema IS NULL THEN
		RAISE invalid_schema_name USING MESSAGE = 'no schema has been selected to create in';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus') THEN
		RAISE feature_not_supported
			USING MESSAGE = 'csv_gpu_distribute_citus() needs the extension citus, which is not in this database';
	END IF;
	key := @extschema@.csv_gpu_server_column(source, false);
	shared := key IS NOT NULL;
	key := coalesce(key, @extschema@.csv_gpu_server_column(source, true),
		(SELECT a.attname FROM pg_attribute a
			WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY a.attnum LIMIT 1));
	definition := (
		SELECT format('(%s) SERVER %I', string_agg(format('%I %s%s%s',
					a.attname, format_type(a.atttypid, a.atttypmod),
					(SELECT format(' OPTIONS (%s)', string_agg(format('%I %L', o.option_name, o.option_value), ', '))
						FROM pg_options_to_table(a.attfdwoptions) o HAVING count(*) > 0),
					(SELECT format(' COLLATE %I.%I', n.nspname, l.collname)
						FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
						WHERE l.oid = a.attcollation AND l.collname <> 'default')),
				', ' ORDER BY a.attnum), s.srvname)
			FROM pg_attribute a, pg_foreign_table t JOIN pg_foreign_server s ON s.oid = t.ftserver
			WHERE t.ftrelid = source AND a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped
			GROUP BY s.srvname);
	options := (
		SELECT string_agg(format('%I %L', o.option_name, o.option_value), ', ')
			FROM (SELECT o.option_name, o.option_value
					FROM pg_foreign_table t, pg_options_to_table(t.ftoptions) o
					WHERE t.ftrelid = source AND NOT (shared AND o.option_name IN ('share', 'shares'))
				UNION ALL SELECT f.option_name, f.option_value
					FROM @extschema@.csv_gpu_session_forms(source) f) o);

	-- all that a node may refuse, before any node is changed
	nnodes := (
		SELECT count(@extschema@.csv_gpu_run_on_node(n.nodename, n.nodeport, format(
				'CREATE FOREIGN TABLE pg_temp.probe %s OPTIONS (%s); DROP FOREIGN TABLE pg_temp.probe', definition,
				options)))
			FROM pg_dist_node n
			WHERE n.isactive AND n.noderole = 'primary' AND n.shouldhaveshards AND n.groupid <> 0);
	IF nnodes = 0 THEN
		RAISE object_not_in_prerequisite_state
			USING MESSAGE = 'no node of Citus beside the coordinator takes shards';
	END IF;
	copies := current_setting('citus.shard_replication_factor');
	PERFORM set_config('citus.shard_replication_factor', '1', true);
	FOREACH statement IN ARRAY ARRAY[
		format('CREATE TABLE %s (LIKE %s)', new_table, source),
		format('SELECT create_distributed_table(%L, %L, ''append'')', new_table, key),
		format('SELECT master_create_empty_shard(%L) FROM generate_series(1, %s)', new_table, nnodes)]
	LOOP
		EXECUTE statement;
		RETURN NEXT statement;
	END LOOP;
	PERFORM set_config('citus.shard_replication_factor', copies, true);

	FOR shard IN
		SELECT s.shardid, shard_name(s.logicalrelid, s.shardid) AS name, n.nodename, n.nodeport,
				row_number() OVER (ORDER BY n.nodeid) - 1 AS number
			FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid)
			WHERE s.logicalrelid = new_table::regclass
	LOOP
		RETURN NEXT @extschema@.csv_gpu_run_on_node(shard.nodename, shard.nodeport,
			format('SET LOCAL search_path = %I; DROP TABLE %s; CREATE FOREIGN TABLE %2$s %s OPTIONS (%s)',
				schema, shard.name, definition,
				concat(options, CASE WHEN shared THEN format(', share %L, shares %L', shard.number, nnodes) END)));
		-- without these, the shard is read also where its share is not wanted
		IF shared AND has_table_privilege('pg_dist_shard', 'UPDATE') THEN
			statement := format('UPDATE pg_dist_shard SET shardminvalue = %L, shardmaxvalue = %1$L WHERE shardid = %s',
				shard.number, shard.shardid);
			EXECUTE statement;
			RETURN NEXT statement;
		END IF;
	END LOOP;
	IF nnodes <> (
			SELECT count(DISTINCT p.groupid) FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
				WHERE s.logicalrelid = new_table::regclass) THEN
		RAISE object_not_in_prerequisite_state
			USING MESSAGE = format('not each of %s nodes of Citus has a shard of %s', nnodes, new_table);
	END IF;
END $$;

COMMENT ON FUNCTION csv_gpu_distribute_citus_as(regclass, text[])
IS 'internal: csv_gpu_distribute_citus(), with the new table''s schema';

CREATE FUNCTION csv_gpu_distribute_citus(source regclass, target text)
RETURNS SETOF text
LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
AS $$ SELECT * FROM @extschema@.csv_gpu_distribute_citus_as($1,
	pg_catalog.array_prepend(pg_catalog.current_schema()::pg_catalog.text, pg_catalog.parse_ident($2))) $$;

COMMENT ON FUNCTION csv_gpu_distribute_citus(regclass, text)
IS 'makes a table of Citus with a foreign table like this one on each node; returns the statements that it has run';

-- Is it a table of Citus with foreign tables?  ERROR if it is no table over servers.
CREATE FUNCTION csv_gpu_is_of_citus(target regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	of_citus boolean := false;
BEGIN
	IF to_regclass('pg_dist_partition') IS NOT NULL THEN
		of_citus := EXISTS (
			SELECT FROM pg_dist_partition p WHERE p.logicalrelid = target AND p.partmethod = 'a');
	END IF;
	IF NOT of_citus AND NOT coalesce((
			SELECT bool_and(coalesce(p.proname = 'postgres_fdw_handler', false))
				FROM pg_partitioned_table t JOIN pg_inherits i ON i.inhparent = t.partrelid
					LEFT JOIN pg_foreign_table f ON f.ftrelid = i.inhrelid
					LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver
					LEFT JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
					LEFT JOIN pg_proc p ON p.oid = w.fdwhandler
				WHERE t.partrelid = target), false) THEN
		RAISE wrong_object_type USING
			MESSAGE = format('%s is no table that csv_gpu_distribute() has made', coalesce(target::text, 'NULL')),
			DETAIL = 'Such a table has only partitions of postgres_fdw, or is a table of Citus whose shards are foreign tables.';
	END IF;
	RETURN of_citus;
END $$;

COMMENT ON FUNCTION csv_gpu_is_of_citus(regclass)
IS 'internal: is a table over servers of Citus?';

-- May be called again after it has failed.
CREATE FUNCTION csv_gpu_undistribute(target regclass)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	statements text[] := ARRAY[format('DROP TABLE %s', target)];
	statement text;
	detail text;
	nodes text[];
	ports integer[];
	commands text[];
	shard record;
BEGIN
	IF @extschema@.csv_gpu_is_of_citus(target) THEN
		IF NOT pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = target), 'USAGE') THEN
			RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', target);
		END IF;
		SELECT array_agg(n.nodename ORDER BY n.nodeid), array_agg(n.nodeport ORDER BY n.nodeid),
				array_agg(format('SET LOCAL search_path = %s; DROP FOREIGN TABLE IF EXISTS %s',
					c.relnamespace::regnamespace, shard_name(s.logicalrelid, s.shardid)) ORDER BY n.nodeid)
			INTO nodes, ports, commands
			FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid)
				JOIN pg_class c ON c.oid = s.logicalrelid
			WHERE s.logicalrelid = target;
		-- Citus would drop plain tables.  What is done on nodes is not undone, so they come last.
		statements := (
			SELECT format('SELECT citus_drop_all_shards(%L, %L, %L, drop_shards_metadata_only => true)',
					target, n.nspname, c.relname)
				FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = target) || statements;
	END IF;
	FOREACH statement IN ARRAY statements LOOP
		BEGIN
			EXECUTE statement;
		EXCEPTION WHEN dependent_objects_still_exist THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			RAISE dependent_objects_still_exist
				USING MESSAGE = SQLERRM, DETAIL = detail, HINT = 'Drop the views of the table first.';
		END;
		RETURN NEXT statement;
	END LOOP;
	FOR shard IN SELECT u.* FROM unnest(nodes, ports, commands) u(node, port, command) LOOP
		RETURN NEXT @extschema@.csv_gpu_run_on_node(shard.node, shard.port, shard.command);
	END LOOP;
END $$;

COMMENT ON FUNCTION csv_gpu_undistribute(regclass)
IS 'drops what csv_gpu_distribute() or csv_gpu_distribute_citus() has made; returns the statements that it has run';

-- Not strict: max_records is NULL by default.
CREATE FUNCTION csv_gpu_server_errors(
	target regclass,
	max_records bigint DEFAULT NULL,
	OUT server text,
	OUT filename text,
	OUT record bigint,
	OUT line bigint,
	OUT byte_offset bigint,
	OUT column_number integer,
	OUT column_name text,
	OUT error text,
	OUT message text,
	OUT raw text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	-- before and behind the table's name
	head CONSTANT text := 'SELECT coalesce(pg_catalog.json_agg(e), ''[]'') FROM @extschema@.csv_gpu_errors(';
	tail CONSTANT text := '::pg_catalog.regclass, ' || coalesce(max_records::text, 'NULL') || '::pg_catalog.int8) e';
	-- a name that no connection of the session has: dblink would take that for the server
	connection CONSTANT text := 'csv_gpu_server_errors ' || gen_random_uuid();
	connected boolean;
	dblink text;
	query text;
	node record;
	detail text;
BEGIN
	IF @extschema@.csv_gpu_is_of_citus(target) THEN
		query := format('SELECT p.nodename || '':'' || p.nodeport AS server, p.success, p.result
				FROM run_command_on_placements($1, %L) p', replace(head, '%', '%%') || '$name$%s$name$' || tail);
	ELSE
		dblink := (
			SELECT quote_ident(n.nspname) || '.dblink' FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
				WHERE e.extname = 'dblink');
		IF dblink IS NULL THEN
			RAISE feature_not_supported USING
				MESSAGE = 'csv_gpu_server_errors() needs the extension dblink, which is not in this database',
				HINT = 'Run CREATE EXTENSION dblink.';
		END IF;
		-- the result is at first the table's name on the server, as postgres_fdw finds it
		query := 'SELECT s.srvname::text AS server, true AS success, quote_literal(format(''%I.%I'',
						coalesce((SELECT o.option_value FROM pg_options_to_table(f.ftoptions) o WHERE o.option_name = ''schema_name''), n.nspname),
						coalesce((SELECT o.option_value FROM pg_options_to_table(f.ftoptions) o WHERE o.option_name = ''table_name''), c.relname))) AS result
				FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
					JOIN pg_foreign_table f ON f.ftrelid = i.inhrelid JOIN pg_foreign_server s ON s.oid = f.ftserver
				WHERE i.inhparent = $1 ORDER BY i.inhrelid';
	END IF;
	FOR node IN EXECUTE query USING target LOOP
		IF NOT node.success THEN
			RAISE external_routine_exception
				USING MESSAGE = format('node %s: %s', node.server, node.result);
		END IF;
		IF dblink IS NOT NULL THEN
			connected := false;
			BEGIN
				EXECUTE format('SELECT %s_connect($1, $2)', dblink) USING connection, node.server;
				connected := true;
				EXECUTE format('SELECT d.result FROM %s($1, $2) d(result text)', dblink)
					INTO STRICT node.result USING connection, head || node.result || tail;
				EXECUTE format('SELECT %s_disconnect($1)', dblink) USING connection;
			EXCEPTION WHEN OTHERS OR query_canceled THEN
				GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
				IF connected THEN
					EXECUTE format('SELECT %s_disconnect($1)', dblink) USING connection;
				END IF;
				RAISE EXCEPTION USING
					ERRCODE = SQLSTATE,
					MESSAGE = concat_ws(': ', format('server "%s"', node.server), SQLERRM, nullif(detail, ''));
			END;
		END IF;
		RETURN QUERY SELECT node.server::text, e.*
			FROM json_to_recordset(node.result::json) e(filename text, record bigint, line bigint,
				byte_offset bigint, column_number integer, column_name text, error text, message text, raw text);
	END LOOP;
END $$;

COMMENT ON FUNCTION csv_gpu_server_errors(regclass, bigint)
IS 'csv_gpu_errors() of each server of a table that csv_gpu_distribute() or csv_gpu_distribute_citus() has made';
