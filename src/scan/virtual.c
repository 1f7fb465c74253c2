/*
 * virtual.c
 *		Values of virtual columns: the file, a record's position, and surplus fields.
 *
 * If a type refuses a value that is the same in all rows of a file, the name of a
 * directory is wrong, and every record of the file would be bad.  So this is an ERROR,
 * and not a bad record.
 *
 * No engine makes surplus fields: for each row, the record's fields are looked for
 * again.  An element is the value that the field would have in a column of type text
 * without options.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "scan/report.h"
#include "scan/virtual.h"
#include "table/option.h"
#include "table/text.h"

/* ---- the file ---- */

static Datum
number_datum(const CsvTableColumn *column, int64 number)
{
	if (column->type == INT8OID)
		return Int64GetDatum(number);
	if (number > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value of virtual column \"%s\" is out of range for type integer",
						column->name)));
	return Int32GetDatum((int32) number);
}

void
csv_file_value_init(CsvValueInput *input, const CsvTable *table,
					const CsvTableColumn *column)
{
	csv_value_init(input, table, column, CurrentMemoryContext);
	/* the option is for values in the file, not for its path */
	input->comma_decimal = false;
}

/* the value of a key in the path; false if the type refuses it */
static bool
make_path_value(CsvValueInput *input, const char *filename, Datum *datum,
				bool *isnull, CsvValueError *error)
{
	char	   *string = NULL;

	if (input->table->program == NULL)
		string = csv_path_value(filename, input->column->path_key);
	*datum = (Datum) 0;
	*isnull = string == NULL;
	if (string == NULL && input->is_strict)
		return true;
	if (string != NULL)
		string = csv_shown_filename(string);
	return csv_value_from_cstring(input, string, datum, error);
}

bool
csv_file_value_make(CsvValueInput *input, char *filename, bool quiet, Datum *datum,
					bool *isnull)
{
	const CsvTable *table = input->table;
	char	   *shown = csv_shown_filename(filename);
	CsvValueError error;

	if (input->column->virtual_kind == CSV_VIRTUAL_SHARE)
	{
		*datum = number_datum(input->column, table->share);
		*isnull = false;
		return true;
	}
	if (input->column->virtual_kind == CSV_VIRTUAL_FILENAME)
	{
		*datum = CStringGetTextDatum(shown);
		*isnull = false;
		return true;
	}
	if (make_path_value(input, filename, datum, isnull, &error))
		return true;
	if (!quiet)
		ereport(ERROR,
				(errcode(csv_error_sqlstate(error.code, error.sqlerrcode)),
				 csv_may_quote(table, input->column) ?
				 errmsg("path \"%s\": column \"%s\": %s", shown,
						input->column->name, error.message) :
				 errmsg("path of \"%s\": column \"%s\": %s", table->filename,
						input->column->name, error.message),
				 error.detail != NULL ?
				 errdetail_internal("%s", error.detail) : 0));
	return false;
}

/* ---- all virtual columns ---- */

typedef struct VirtualColumn
{
	const CsvTableColumn *column;
	CsvScanColumn made;			/* of the file: how to make the value; of surplus
								 * fields: how to make an element, and its field */
	Datum		value;			/* in the current file, if it is the same in all rows */
	bool		isnull;
} VirtualColumn;

struct CsvVirtuals
{
	CsvTable	surplus_table;	/* the table, without a marker for defaults */
	MemoryContext file_context; /* of values for the current file */
	int			n;
	VirtualColumn columns[FLEXIBLE_ARRAY_MEMBER];
};

static void
init_surplus(CsvValueInput *input, const CsvTable *table,
			 const CsvTableColumn *column)
{
	input->table = table;
	input->column = column;
	input->pure = true;
	input->spec.kind = CSV_KIND_TEXT;
	input->spec.attnum = (uint32_t) column->attnum;
	input->spec.max_chars = -1;
	input->spec.byte_width = -1;
	input->spec.type_chars = -1;
	input->is_strict = true;
	fmgr_info(F_TEXTIN, &input->function);
}

CsvVirtuals *
csv_virtuals_create(const CsvTable *table, const Bitmapset *wanted)
{
	CsvVirtuals *virtuals = palloc0(offsetof(CsvVirtuals, columns) +
									sizeof(VirtualColumn) * table->natts);

	for (int i = 0; i < table->natts; i++)
	{
		const CsvTableColumn *column = &table->columns[i];
		VirtualColumn *added = &virtuals->columns[virtuals->n];

		if (!bms_is_member(column->attnum, wanted) ||
			column->virtual_kind == CSV_VIRTUAL_NONE)
			continue;
		added->column = column;
		added->made.att = i;
		if (csv_is_of_file(column))
			csv_file_value_init(&added->made.input, table, column);
		else if (column->virtual_kind == CSV_VIRTUAL_SURPLUS)
			init_surplus(&added->made.input, &virtuals->surplus_table, column);
		virtuals->n++;
	}
	if (virtuals->n == 0)
		return NULL;
	virtuals->surplus_table = *table;
	virtuals->surplus_table.default_string = NULL;
	virtuals->file_context = AllocSetContextCreate(CurrentMemoryContext,
												   "csv_gpu_fdw file",
												   ALLOCSET_SMALL_SIZES);
	return virtuals;
}

void
csv_virtuals_open_file(CsvVirtuals *virtuals, char *filename)
{
	MemoryContext outer;

	MemoryContextReset(virtuals->file_context);
	outer = MemoryContextSwitchTo(virtuals->file_context);
	for (int i = 0; i < virtuals->n; i++)
	{
		VirtualColumn *column = &virtuals->columns[i];

		if (csv_is_of_file(column->column))
			csv_file_value_make(&column->made.input, filename, false,
								&column->value, &column->isnull);
	}
	MemoryContextSwitchTo(outer);
}

bool
csv_virtuals_value(CsvVirtuals *virtuals, AttrNumber attnum, char *filename,
				   Datum *value, bool *isnull)
{
	MemoryContext outer = MemoryContextSwitchTo(virtuals->file_context);
	VirtualColumn *column = virtuals->columns;
	bool		made;

	while (column->column->attnum != attnum)
		column++;
	made = csv_file_value_make(&column->made.input, filename, true, value, isnull);
	MemoryContextSwitchTo(outer);
	return made;
}

/* make an array of n fields from `first` on; false if a field is refused */
static bool
make_array(CsvScanColumn *element, CsvInputs *inputs, uint32_t first, uint32_t n,
		   Datum *value, CsvValueError *error)
{
	const CsvDialect *dialect = csv_inputs_dialect(inputs);
	Datum	   *elements = palloc(sizeof(Datum) * n);
	bool	   *nulls = palloc(sizeof(bool) * n);
	int			dimensions[1] = {(int) n};
	int			lower_bounds[1] = {1};
	Size		nbytes = ARR_OVERHEAD_WITHNULLS(1, n);

	for (uint32_t i = 0; i < n; i++)
	{
		const uint8_t *content = NULL;
		uint64_t	length = 0;

		CHECK_FOR_INTERRUPTS();
		element->input.spec.field = first + i;
		csv_inputs_field(inputs, first + i, &content, &length);
		if (!csv_value_from_field(&element->input, dialect, content, length,
								  &elements[i], &nulls[i], error))
			return false;
		if (!nulls[i])
			nbytes += INTALIGN(VARSIZE_ANY(DatumGetPointer(elements[i])));
		if (!AllocSizeIsValid(nbytes))
			return csv_value_beyond(error, CSV_TOO_LONG_FOR_DATUM);
	}
	*value = PointerGetDatum(construct_md_array(elements, nulls, 1, dimensions,
												lower_bounds, TEXTOID, -1,
												false, TYPALIGN_INT));
	return true;
}

/* make an array of the fields beyond nfields */
static bool
fill_surplus(VirtualColumn *column, CsvInputs *inputs, uint32_t entry,
			 uint32_t nfields, bool *any_surplus, Datum *value, bool *isnull,
			 CsvRefusal *refusal)
{
	uint32_t	nfound = csv_inputs_nfields(inputs, entry);
	uint32_t	nsurplus = nfound > nfields ? nfound - nfields : 0;
	bool		good = true;

	*any_surplus |= nsurplus > 0;
	memset(refusal, 0, sizeof(*refusal));
	refusal->column = &column->made;
	if (nsurplus == 0)
		*value = PointerGetDatum(construct_empty_array(TEXTOID));
	else if (nsurplus > CSV_MAX_FIELDS)
	{
		column->made.input.spec.field = nfields;
		good = csv_value_beyond(&refusal->error,
								psprintf("there are %u surplus fields, which is more than %d",
										 nsurplus, CSV_MAX_FIELDS));
	}
	else
		good = make_array(&column->made, inputs, nfields, nsurplus, value,
						  &refusal->error);
	return good || csv_inputs_set_null(inputs, &column->made, &refusal->error,
									   value, isnull);
}

bool
csv_virtuals_fill(CsvVirtuals *virtuals, CsvInputs *inputs,
				  const CsvFileBatch *at, uint32_t entry, int64 record,
				  bool *any_surplus, Datum *values, bool *isnull,
				  CsvRefusal *refusal)
{
	*any_surplus = false;
	for (int i = 0; i < virtuals->n; i++)
	{
		VirtualColumn *column = &virtuals->columns[i];
		int			att = column->made.att;

		isnull[att] = false;
		switch (column->column->virtual_kind)
		{
			case CSV_VIRTUAL_SURPLUS:
				if (!fill_surplus(column, inputs, entry, at->layout->nfields,
								  any_surplus, &values[att], &isnull[att],
								  refusal))
					return false;
				break;
			case CSV_VIRTUAL_RECORD:
				values[att] = number_datum(column->column, record);
				break;
			case CSV_VIRTUAL_LINE:
				values[att] = number_datum(column->column, (int64)
										   at->batch.file_lines +
										   at->batch.row_lines[entry] + 1);
				break;
			case CSV_VIRTUAL_BYTE_OFFSET:
				values[att] = number_datum(column->column, (int64)
										   at->batch.file_offset +
										   CSV_ROW_OFFSET(at->batch.row_offsets[entry]));
				break;
			default:
				values[att] = column->value;
				isnull[att] = column->isnull;
				break;
		}
	}
	return true;
}
