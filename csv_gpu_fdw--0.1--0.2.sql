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
