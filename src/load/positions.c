/*
 * positions.c
 *		How far the files of a foreign table were loaded into a table.
 *
 * Users see positions of their own targets; members of pg_monitor see all.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "storage/fd.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#include "compat.h"
#include "load/positions.h"
#include "output/copy_to.h"
#include "table/release.h"

/*
 * class of the advisory locks of loads; functions that users call have 1 and 2
 */
#define LOCK_CLASS	41

/* the columns in the order of the script, and their values in a statement */
#define COLUMNS \
	"source, target, filename, bytes_read, records_read, lines_read, place, alone_until, " \
	"skip_line, lacks_break, inode, size, changed, born, first_hash, last_hash, crc, loaded_at, modified"
#define PARAMETERS \
	"$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19"
#define NCOLUMNS	19

/* of the columns; then of the row that is replaced, and of its place */
static Oid	value_types[NCOLUMNS + 2] = {
	REGCLASSOID, REGCLASSOID, TEXTOID, INT8OID, INT8OID, INT8OID, INT8OID, INT8OID,
	BOOLOID, BOOLOID, INT8OID, INT8OID, INT8OID, INT8OID, BYTEAOID, BYTEAOID, INT8OID,
	TIMESTAMPTZOID, INT8OID, TIDOID, INT8OID
};

#define OF_PAIR \
	" WHERE source OPERATOR(pg_catalog.=) $1 AND target OPERATOR(pg_catalog.=) $2"

/* columns of csv_gpu_positions() */
#define POSITION_COLUMNS	8

const CsvLoadedPair *csv_loaded_pair;

bool
csv_position_got_break(const CsvPosition *position, int fd)
{
	char		bytes[3] = {0};

	/* a CR that was the last byte was loaded as a part of the value */
	return pread(fd, bytes, 3, (off_t) position->bytes.nbytes - 1) > 1 &&
		bytes[0] != '\r' &&
		(bytes[1] == '\n' || (bytes[1] == '\r' && bytes[2] == '\n'));
}

void
csv_positions_lock(Oid source, Oid target)
{
	LOCKTAG		tag;

	/* the lock does not keep out its own holder */
	for (const CsvLoadedPair *pair = csv_loaded_pair; pair != NULL; pair = pair->outer)
		if (pair->source == source && pair->target == target)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("this session is loading new records of \"%s\" into \"%s\"",
							get_rel_name(source), get_rel_name(target))));
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, source, target, LOCK_CLASS);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/*
 * Runs a statement as the owner of the table of positions, whose name the
 * format lacks. The snapshot is of this moment: as for foreign keys, rows that
 * other transactions committed after the transaction's snapshot count, too.
 * The caller must end SPI.
 */
static void
run_statement(Oid schema, const char *format, int nvalues, Datum *values)
{
	Oid			relid = get_relname_relid("csv_gpu_position", schema);
	Relation	relation;
	TupleDesc	tupdesc;
	const char *sql;
	SPIPlanPtr	plan;
	Oid			user;
	int			context;
	int			result;

	if (!OidIsValid(relid))
		csv_fail_as_older();
	relation = table_open(relid, AccessShareLock);
	tupdesc = RelationGetDescr(relation);
	for (int i = 0; i < NCOLUMNS; i++)
		if (tupdesc->natts <= i ||
			!IsBinaryCoercible(TupleDescAttr(tupdesc, i)->atttypid,
							   value_types[i]))
			csv_fail_as_older();
	sql = psprintf(format, csv_quote_relation(relation));
	SPI_connect();
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(relation->rd_rel->relowner,
						   context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS);
	table_close(relation, NoLock);
	plan = SPI_prepare(sql, nvalues, value_types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	result = SPI_execute_snapshot(plan, values, NULL, GetLatestSnapshot(),
								  InvalidSnapshot, false, true, 0);
	SetUserIdAndSecContext(user, context);
	if (result < 0)
		elog(ERROR, "SPI_execute_snapshot failed: %s",
			 SPI_result_code_string(result));
}

/* ---- read ---- */

/* a hash that a restored dump may have in another length fits nothing */
static void
get_hash(Datum datum, uint8 *hash)
{
	bytea	   *bytes = DatumGetByteaPP(datum);

	memset(hash, 0, PG_SHA256_DIGEST_LENGTH);
	if (VARSIZE_ANY_EXHDR(bytes) == PG_SHA256_DIGEST_LENGTH)
		memcpy(hash, VARDATA_ANY(bytes), PG_SHA256_DIGEST_LENGTH);
}

/* no column of the table is null */
static void
get_position(HeapTuple tuple, TupleDesc tupdesc, MemoryContext context,
			 CsvPosition *position)
{
	Datum		values[1 + NCOLUMNS];
	bool		isnull[1 + NCOLUMNS];
	const Datum *value = values;
	MemoryContext outer;

	heap_deform_tuple(tuple, tupdesc, values, isnull);
	memset(position, 0, sizeof(*position));
	position->row = *(ItemPointer) DatumGetPointer(*value++);
	position->source = DatumGetObjectId(*value++);
	position->target = DatumGetObjectId(*value++);
	outer = MemoryContextSwitchTo(context);
	position->filename = TextDatumGetCString(*value++);
	MemoryContextSwitchTo(outer);
	position->bytes.nbytes = (uint64) DatumGetInt64(*value++);
	position->place.records = (uint64) DatumGetInt64(*value++);
	position->place.lines = (uint64) DatumGetInt64(*value++);
	position->place.offset = (uint64) DatumGetInt64(*value++);
	position->place.alone_until = (uint64) DatumGetInt64(*value++);
	position->place.skip_line = DatumGetBool(*value++);
	position->lacks_break = DatumGetBool(*value++);
	position->identity.inode = (uint64) DatumGetInt64(*value++);
	position->identity.size = DatumGetInt64(*value++);
	position->identity.changed = DatumGetInt64(*value++);
	position->born = DatumGetInt64(*value++);
	get_hash(*value++, position->bytes.first);
	get_hash(*value++, position->bytes.last);
	position->bytes.crc = (uint32) DatumGetInt64(*value++);
	position->loaded_at = DatumGetTimestampTz(*value++);
	position->identity.modified = DatumGetInt64(*value);
}

static int
compare_filenames(const void *a, const void *b)
{
	return strcmp(((const CsvPosition *) a)->filename,
				  ((const CsvPosition *) b)->filename);
}

CsvPosition *
csv_positions_read(Oid schema, Oid source, Oid target, int *npositions)
{
	MemoryContext context = CurrentMemoryContext;
	CsvPosition *positions;
	Datum		pair[] = {ObjectIdGetDatum(source), ObjectIdGetDatum(target)};

	if (OidIsValid(source))
		run_statement(schema, "SELECT ctid, " COLUMNS " FROM ONLY %s" OF_PAIR,
					  2, pair);
	else
		run_statement(schema, "SELECT ctid, " COLUMNS " FROM ONLY %s", 0, NULL);
	*npositions = (int) SPI_processed;
	positions = MemoryContextAllocExtended(context,
										   sizeof(CsvPosition) * Max(SPI_processed, 1),
										   MCXT_ALLOC_HUGE);
	for (int i = 0; i < *npositions; i++)
		get_position(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, context,
					 &positions[i]);
	SPI_finish();
	qsort(positions, *npositions, sizeof(CsvPosition), compare_filenames);
	return positions;
}

/* ---- write ---- */

static Datum
hash_datum(const uint8 *hash)
{
	bytea	   *bytes = palloc(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);

	SET_VARSIZE(bytes, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	memcpy(VARDATA(bytes), hash, PG_SHA256_DIGEST_LENGTH);
	return PointerGetDatum(bytes);
}

void
csv_positions_write(Oid schema, const CsvPosition *before,
					const CsvPosition *position)
{
	const CsvFilePlace *place = &position->place;
	Datum		values[NCOLUMNS + 2] = {
		ObjectIdGetDatum(position->source),
		ObjectIdGetDatum(position->target),
		CStringGetTextDatum(position->filename),
		Int64GetDatum((int64) position->bytes.nbytes),
		Int64GetDatum((int64) place->records),
		Int64GetDatum((int64) place->lines),
		Int64GetDatum((int64) place->offset),
		Int64GetDatum((int64) place->alone_until),
		BoolGetDatum(place->skip_line),
		BoolGetDatum(position->lacks_break),
		Int64GetDatum((int64) position->identity.inode),
		Int64GetDatum(position->identity.size),
		Int64GetDatum(position->identity.changed),
		Int64GetDatum(position->born),
		hash_datum(position->bytes.first),
		hash_datum(position->bytes.last),
		Int64GetDatum((int64) position->bytes.crc),
		TimestampTzGetDatum(position->loaded_at),
		Int64GetDatum(position->identity.modified)
	};

	if (before == NULL)
		run_statement(schema,
					  "INSERT INTO %s (" COLUMNS ") VALUES (" PARAMETERS ")", NCOLUMNS,
					  values);
	else
	{
		values[NCOLUMNS] = PointerGetDatum(unconstify(ItemPointerData *,
													  &before->row));
		values[NCOLUMNS + 1] = Int64GetDatum((int64) before->place.offset);
		run_statement(schema,
					  "UPDATE ONLY %s SET (" COLUMNS ") = ROW(" PARAMETERS ")"
					  " WHERE ctid OPERATOR(pg_catalog.=) $20"
					  " AND place OPERATOR(pg_catalog.=) $21", NCOLUMNS + 2, values);
	}
	if (SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the position of file \"%s\" was changed by another transaction",
						position->filename)));
	SPI_finish();
}

int64
csv_positions_forget(Oid schema, Oid source, Oid target, text *filename)
{
	Datum		values[] = {
		ObjectIdGetDatum(source), ObjectIdGetDatum(target), PointerGetDatum(filename)
	};
	int64		nforgotten;

	run_statement(schema, filename == NULL ?
				  "DELETE FROM ONLY %s" OF_PAIR :
				  "DELETE FROM ONLY %s" OF_PAIR " AND filename OPERATOR(pg_catalog.=) $3",
				  filename == NULL ? 2 : 3, values);
	nforgotten = (int64) SPI_processed;
	SPI_finish();
	return nforgotten;
}

/* ---- what users see of positions ---- */

/*
 * The state of a position's file, by its name alone; the next load may find it
 * under another name.  *nbehind: bytes behind the position; -1: not known.
 */
static const char *
find_state(const CsvPosition *position, int64 *nbehind)
{
	const char *name = position->filename;
	int			file = OpenTransientFile(name,
										 O_RDONLY | O_NONBLOCK | O_NOCTTY);
	const char *state = "open";
	struct stat st;

	*nbehind = -1;
	if (file < 0)
		return "gone";
	if (fstat(file, &st) != 0 || !S_ISREG(st.st_mode))
		state = "gone";
	else
	{
		bool		is_same = (uint64) st.st_ino == position->identity.inode &&
			csv_time_of_birth(name) == position->born;
		bool		is_shorter = st.st_size < (int64) position->bytes.nbytes;
		bool		is_longer = st.st_size > (int64) position->bytes.nbytes;

		if (is_shorter || (is_longer && position->lacks_break &&
						   !csv_position_got_break(position, file)) ||
			!csv_fingerprint_fits_ends(file, name, &position->bytes))
			state = !is_same ? "gone" : is_shorter ? "shrunk" : "changed";
		else
			*nbehind = st.st_size - (int64) position->bytes.nbytes;
	}
	CloseTransientFile(file);
	return state;
}

PG_FUNCTION_INFO_V1(csv_gpu_positions);

/* csv_gpu_positions() returns a row for each position that the user may see */
Datum
csv_gpu_positions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_MONITOR);
	CsvPosition *positions;
	int			npositions;

	csv_begin_function(fcinfo,
					   "strict -> setof regclass regclass text bigint bigint bigint "
					   "timestamp with time zone text");
	positions = csv_positions_read(get_func_namespace(fcinfo->flinfo->fn_oid),
								   InvalidOid,
								   InvalidOid, &npositions);
	for (int i = 0; i < npositions; i++)
	{
		const CsvPosition *position = &positions[i];
		Datum		values[POSITION_COLUMNS];
		bool		nulls[POSITION_COLUMNS] = {false};
		int64		nbehind;

		CHECK_FOR_INTERRUPTS();
		if (!sees_all && !csv_owns_table(position->target, GetUserId()))
			continue;
		values[0] = ObjectIdGetDatum(position->source);
		values[1] = ObjectIdGetDatum(position->target);
		values[2] = CStringGetTextDatum(position->filename);
		values[3] = Int64GetDatum((int64) position->bytes.nbytes);
		values[7] = CStringGetTextDatum(find_state(position, &nbehind));
		values[4] = Int64GetDatum(nbehind);
		nulls[4] = nbehind < 0;
		values[5] = Int64GetDatum((int64) position->place.records);
		values[6] = TimestampTzGetDatum(position->loaded_at);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(csv_gpu_relation_in);

/* as regclassin(), but a name of no relation is a WARNING, and 0 */
Datum
csv_gpu_relation_in(PG_FUNCTION_ARGS)
{
	const char *name;
	List	   *names;
	Oid			relid;

	csv_begin_function(fcinfo,
					   "strict cstring oid integer -> csv_gpu_relation");
	name = PG_GETARG_CSTRING(0);
	/* a number; "-" is 0 */
	if (name[strspn(name, "-0123456789")] == '\0')
		return DirectFunctionCall1(regclassin, CStringGetDatum(name));
	names = textToQualifiedNameList(cstring_to_text(name));
	relid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
	if (!OidIsValid(relid))
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", name),
				 errdetail("What csv_gpu_fdw stores about it is lost.")));
	PG_RETURN_OID(relid);
}
