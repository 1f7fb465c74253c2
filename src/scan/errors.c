/*
 * errors.c
 *		csv_gpu_errors(): the skipped records of a foreign table as rows, and values
 *		that are NULL instead.
 */
#include "postgres.h"

#include "access/table.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "scan/scan.h"
#include "table/release.h"
#include "table/text.h"

#define CSV_RAW_BYTES	65536

typedef struct CsvErrorRows
{
	ReturnSetInfo *result;
	const CsvTable *table;
	int64		nrecords;		/* or values */
	int64		max_records;
} CsvErrorRows;

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
	values[8] = CStringGetTextDatum(csv_valid_text(table->encoding,
												   (const char *) skipped->raw,
												   skipped->raw_length,
												   CSV_RAW_BYTES));
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

PG_FUNCTION_INFO_V1(csv_gpu_errors);

/* csv_gpu_errors(source, max_records) */
Datum
csv_gpu_errors(PG_FUNCTION_ARGS)
{
	Oid			relid;
	CsvErrorRows rows;
	Relation	relation;
	CsvTable   *table;
	CsvTableScan *scan;
	Datum	   *values;
	bool	   *isnull;

	csv_begin_function(fcinfo, "regclass bigint "
					   "-> setof text bigint bigint bigint integer text text text text");
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
	csv_check_whole_select(relation);

	/*
	 * on_error 'stop', limits and NOTICEs do not matter: all records are returned here
	 */
	table = csv_table_get(relid);
	csv_table_check(table);
	table->stop = false;
	rows.table = table;
	values = palloc(sizeof(Datum) * Max(table->natts, 1));
	isnull = palloc(sizeof(bool) * Max(table->natts, 1));

	if (rows.max_records != 0)
	{
		scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL,
									false, add_row, &rows);
		scan->shows_progress = true;
		scan->progress_relid = relid;
		while (csv_table_scan_next(scan, values, isnull))
			CHECK_FOR_INTERRUPTS();
		csv_table_scan_end(scan);
	}
	table_close(relation, AccessShareLock);
	return (Datum) 0;
}
