/*
 * errors.c
 *		csv_gpu_errors(): the skipped records of a foreign table as rows.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "scan/errors.h"
#include "scan/scan.h"

#define CSV_RAW_BYTES	65536

typedef struct CsvErrorRows
{
	ReturnSetInfo *result;
	const CsvTable *table;
	int64		nrecords;
	int64		max_records;
} CsvErrorRows;

/*
 * The bytes of a record as text in the server's encoding: what is not valid,
 * or has no equivalent, as \xHH.  At most CSV_RAW_BYTES bytes.
 */
static text *
raw_text(const CsvTable *table, const uint8_t *raw, uint64_t length)
{
	int			from = table->encoding;
	int			to = GetDatabaseEncoding();
	uint64_t	pos = 0;
	StringInfoData buffer;
	text	   *result;

	if (from == PG_SQL_ASCII)
		from = to;
	if (to == PG_SQL_ASCII)
		to = from;
	initStringInfo(&buffer);
	while (pos < length)
	{
		const uint8_t *bytes = raw + pos;
		int			available = (int) Min(length - pos, 16);
		int			nbytes = 1;
		char		converted[64];
		const char *shown = NULL;
		int			nshown = 0;

		if (*bytes != 0)
			nbytes = *bytes < 0x80 ? 1 :
				pg_encoding_verifymbchar(from, (const char *) bytes, available);
		if (*bytes != 0 && nbytes > 0)
		{
			shown = (const char *) bytes;
			nshown = nbytes;
			if (from != to && *bytes >= 0x80)
			{
				Oid			proc = FindDefaultConversionProc(from, to);

				shown = NULL;
				if (OidIsValid(proc) &&
					pg_do_encoding_conversion_buf(proc, from, to,
												  (unsigned char *) bytes,
												  nbytes,
												  (unsigned char *) converted,
												  sizeof(converted),
												  true) == nbytes)
				{
					shown = converted;
					nshown = (int) strlen(converted);
				}
			}
		}
		if (shown == NULL)
		{
			snprintf(converted, sizeof(converted), "\\x%02x", *bytes);
			shown = converted;
			nshown = 4;
			nbytes = 1;
		}
		if (buffer.len + nshown > CSV_RAW_BYTES)
			break;
		appendBinaryStringInfo(&buffer, shown, nshown);
		pos += nbytes;
	}
	result = cstring_to_text_with_len(buffer.data, buffer.len);
	pfree(buffer.data);
	return result;
}

void
csv_error_row(const CsvTable *table, const CsvSkipped *skipped, Datum *values,
			  bool *nulls)
{
	memset(nulls, false, sizeof(bool) * CSV_ERROR_COLUMNS);
	values[0] = CStringGetTextDatum(skipped->file);
	values[1] = Int64GetDatum(skipped->record);
	values[2] = Int64GetDatum(skipped->line);
	values[3] = Int64GetDatum(skipped->byte_offset);
	values[4] = Int32GetDatum(skipped->field + 1);
	nulls[4] = skipped->field < 0;
	nulls[5] = skipped->column_name == NULL;
	if (!nulls[5])
		values[5] = CStringGetTextDatum(skipped->column_name);
	values[6] = CStringGetTextDatum(csv_error_name(skipped->code));
	values[7] = CStringGetTextDatum(skipped->message);
	values[8] = PointerGetDatum(raw_text(table, skipped->raw,
										 skipped->raw_length));
}

static bool
add_row(void *arg, const CsvSkipped *skipped)
{
	CsvErrorRows *rows = arg;
	Datum		values[CSV_ERROR_COLUMNS];
	bool		nulls[CSV_ERROR_COLUMNS];

	rows->nrecords++;
	csv_error_row(rows->table, skipped, values, nulls);
	tuplestore_putvalues(rows->result->setResult, rows->result->setDesc,
						 values, nulls);
	return rows->max_records < 0 || rows->nrecords < rows->max_records;
}

/*
 * Is this a foreign table of ours?
 */
static bool
is_csv_table(Relation relation)
{
	ForeignDataWrapper *wrapper;

	if (RelationGetForm(relation)->relkind != RELKIND_FOREIGN_TABLE)
		return false;
	wrapper = GetForeignDataWrapper(GetForeignServer(GetForeignServerIdByRelId(RelationGetRelid(relation)))->fdwid);
	return OidIsValid(wrapper->fdwhandler) &&
		strcmp(get_func_name(wrapper->fdwhandler), "csv_gpu_fdw_handler") == 0;
}

Relation
csv_open_source(Oid relid)
{
	Relation	relation = table_open(relid, AccessShareLock);

	if (!is_csv_table(relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table of csv_gpu_fdw",
						RelationGetRelationName(relation))));
	return relation;
}

PG_FUNCTION_INFO_V1(csv_gpu_errors);

/*
 * csv_gpu_errors(source regclass, max_records bigint DEFAULT NULL)
 */
Datum
csv_gpu_errors(PG_FUNCTION_ARGS)
{
	Oid			relid;
	CsvErrorRows rows;
	Relation	relation;
	CsvTable   *table;
	CsvTableScan *scan;
	AclResult	allowed;
	Datum	   *values;
	bool	   *isnull;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	relid = PG_GETARG_OID(0);
	rows.result = (ReturnSetInfo *) fcinfo->resultinfo;
	rows.nrecords = 0;
	rows.max_records = PG_ARGISNULL(1) ? -1 : PG_GETARG_INT64(1);
	if (!PG_ARGISNULL(1) && rows.max_records < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_records must not be negative")));

	relation = csv_open_source(relid);
	allowed = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(relation));

	/* neither on_error nor limits and NOTICEs matter: all is told here */
	table = csv_table_get(relid);
	csv_table_check(table);
	rows.table = table;
	values = palloc(sizeof(Datum) * Max(table->natts, 1));
	isnull = palloc(sizeof(bool) * Max(table->natts, 1));

	if (rows.max_records != 0)
	{
		scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL,
									false, add_row, &rows);
		while (csv_table_scan_next(scan, values, isnull))
			CHECK_FOR_INTERRUPTS();
		csv_table_scan_end(scan);
	}
	table_close(relation, AccessShareLock);
	return (Datum) 0;
}
