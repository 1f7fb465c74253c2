/*
 * positions.c
 *		How far the files of a foreign table were loaded into a table.
 */
#include "postgres.h"

#include <unistd.h>

#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "load/owner.h"
#include "load/positions.h"
#include "table/release.h"

/* class of the advisory locks of loads; functions that users call have 1 and 2 */
#define LOCK_CLASS	41

/* the columns in the order of add_row_values() and of the script */
#define COLUMNS \
	"source, target, filename, bytes_read, records_read, lines_read, place, alone_until, " \
	"skip_line, lacks_break, inode, size, changed, born, first_hash, last_hash, crc, loaded_at"
#define NCOLUMNS	18

static const Oid column_types[NCOLUMNS] = {
	REGCLASSOID, REGCLASSOID, TEXTOID, INT8OID, INT8OID, INT8OID, INT8OID, INT8OID,
	BOOLOID, BOOLOID, INT8OID, INT8OID, INT8OID, INT8OID, BYTEAOID, BYTEAOID, INT8OID, TIMESTAMPTZOID
};

const CsvLoadedPair *csv_loaded_pair;

/* a statement that runs as the owner of the table of positions */
typedef struct Statement
{
	StringInfoData sql;
	Oid			types[NCOLUMNS + 2];
	Datum		values[NCOLUMNS + 2];
	int			nvalues;
	Oid			owner;
} Statement;

bool
csv_position_got_break(const CsvPosition *position, int fd)
{
	char		bytes[2] = {0};

	return pread(fd, bytes, 2, (off_t) position->bytes.nbytes) > 0 &&
		(bytes[0] == '\n' || (bytes[0] == '\r' && bytes[1] == '\n'));
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

/* begins a statement; format: with a place for the table's name */
static void
begin_statement(Statement *statement, Oid schema, const char *format)
{
	Oid			relid = get_relname_relid("csv_gpu_position", schema);
	Relation	relation;

	if (!OidIsValid(relid))
		csv_fail_as_older();
	relation = table_open(relid, AccessShareLock);
	for (int i = 0; i < NCOLUMNS; i++)
		if (RelationGetNumberOfAttributes(relation) <= i ||
			TupleDescAttr(RelationGetDescr(relation), i)->atttypid != column_types[i])
			csv_fail_as_older();
	initStringInfo(&statement->sql);
	appendStringInfo(&statement->sql, format, csv_quote_relation(relation));
	statement->owner = relation->rd_rel->relowner;
	statement->nvalues = 0;
	table_close(relation, NoLock);
}

static void
add_value(Statement *statement, Oid type, Datum value)
{
	statement->types[statement->nvalues] = type;
	statement->values[statement->nvalues++] = value;
}

/*
 * Runs a statement within SPI, with a snapshot of this moment.  As for foreign keys,
 * rows that other transactions committed after the transaction's snapshot count, too.
 */
static void
run_statement(Statement *statement, int expected)
{
	SPIPlanPtr	plan;
	Oid			user;
	int			context;
	int			result;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(statement->owner, context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	plan = SPI_prepare(statement->sql.data, statement->nvalues, statement->types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	result = SPI_execute_snapshot(plan, statement->values, NULL, GetLatestSnapshot(),
								  InvalidSnapshot, false, true, 0);
	SetUserIdAndSecContext(user, context);
	if (result != expected)
		elog(ERROR, "SPI_execute_snapshot failed: %s", SPI_result_code_string(result));
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
	position->loaded_at = DatumGetTimestampTz(*value);
}

static int
compare_filenames(const void *a, const void *b)
{
	return strcmp(((const CsvPosition *) a)->filename, ((const CsvPosition *) b)->filename);
}

CsvPosition *
csv_positions_read(Oid schema, Oid source, Oid target, int *npositions)
{
	MemoryContext context = CurrentMemoryContext;
	CsvPosition *positions;
	Statement	statement;

	begin_statement(&statement, schema, "SELECT ctid, " COLUMNS " FROM ONLY %s");
	if (OidIsValid(source))
	{
		appendStringInfoString(&statement.sql, " WHERE source OPERATOR(pg_catalog.=) $1"
							   " AND target OPERATOR(pg_catalog.=) $2");
		add_value(&statement, OIDOID, ObjectIdGetDatum(source));
		add_value(&statement, OIDOID, ObjectIdGetDatum(target));
	}
	SPI_connect();
	run_statement(&statement, SPI_OK_SELECT);
	*npositions = (int) SPI_processed;
	positions = MemoryContextAllocExtended(context,
										   sizeof(CsvPosition) * Max(SPI_processed, 1),
										   MCXT_ALLOC_HUGE);
	for (int i = 0; i < *npositions; i++)
		get_position(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, context, &positions[i]);
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

static void
add_row_values(Statement *statement, const CsvPosition *position)
{
	const CsvFilePlace *place = &position->place;
	const Datum values[NCOLUMNS] = {
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
		TimestampTzGetDatum(position->loaded_at)
	};

	for (int i = 0; i < NCOLUMNS; i++)
		add_value(statement, column_types[i], values[i]);
}

static void
append_parameters(StringInfo sql, int n)
{
	for (int i = 1; i <= n; i++)
		appendStringInfo(sql, "%s$%d", i > 1 ? ", " : "", i);
}

void
csv_positions_write(Oid schema, const CsvPosition *before, const CsvPosition *position)
{
	bool		is_new = before == NULL;
	Statement	statement;

	begin_statement(&statement, schema, is_new ? "INSERT INTO %s (" COLUMNS ") VALUES (" :
					"UPDATE ONLY %s SET (" COLUMNS ") = ROW(");
	add_row_values(&statement, position);
	append_parameters(&statement.sql, NCOLUMNS);
	appendStringInfoChar(&statement.sql, ')');
	if (!is_new)
	{
		appendStringInfo(&statement.sql, " WHERE ctid OPERATOR(pg_catalog.=) $%d"
						 " AND place OPERATOR(pg_catalog.=) $%d",
						 NCOLUMNS + 1, NCOLUMNS + 2);
		add_value(&statement, TIDOID, PointerGetDatum(unconstify(ItemPointerData *, &before->row)));
		add_value(&statement, INT8OID, Int64GetDatum((int64) before->place.offset));
	}
	SPI_connect();
	run_statement(&statement, is_new ? SPI_OK_INSERT : SPI_OK_UPDATE);
	if (SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the position of file \"%s\" was changed by another transaction",
						position->filename)));
	SPI_finish();
}

int64
csv_positions_forget(Oid schema, Oid source, Oid target, const char *filename)
{
	Statement	statement;
	int64		nforgotten;

	begin_statement(&statement, schema, "DELETE FROM ONLY %s"
					" WHERE source OPERATOR(pg_catalog.=) $1"
					" AND target OPERATOR(pg_catalog.=) $2");
	add_value(&statement, OIDOID, ObjectIdGetDatum(source));
	add_value(&statement, OIDOID, ObjectIdGetDatum(target));
	if (filename != NULL)
	{
		appendStringInfoString(&statement.sql, " AND filename OPERATOR(pg_catalog.=) $3");
		add_value(&statement, TEXTOID, CStringGetTextDatum(filename));
	}
	SPI_connect();
	run_statement(&statement, SPI_OK_DELETE);
	nforgotten = (int64) SPI_processed;
	SPI_finish();
	return nforgotten;
}
