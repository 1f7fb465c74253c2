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
	OUT last_used timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 10;

COMMENT ON FUNCTION csv_gpu_resident()
IS 'the columns of files that this session keeps converted';

CREATE FUNCTION csv_gpu_forget()
RETURNS integer
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION csv_gpu_forget()
IS 'lets go of the columns that this session keeps; returns how many sets';

-- Not strict: most arguments may be NULL.
CREATE FUNCTION csv_gpu_load(
	source regclass,
	target regclass,
	columns text[] DEFAULT NULL,
	rejects regclass DEFAULT NULL,
	freeze boolean DEFAULT false,
	OUT records_loaded bigint,
	OUT records_skipped bigint,
	OUT bytes_read bigint,
	OUT elapsed interval)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
COST 1000;

COMMENT ON FUNCTION csv_gpu_load(regclass, regclass, text[], regclass, boolean)
IS 'loads the records of a foreign table into a table';
