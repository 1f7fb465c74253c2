/*
 * surplus.c
 *		Columns with the option virtual 'surplus'.
 *
 * No engine makes them: for each row, the record's fields are looked for again.  An
 * element is the value that the field would have in a column of type text without
 * options.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "scan/surplus.h"

struct CsvSurplus
{
	CsvScanColumn column;		/* how to make an element, and its field */
	CsvTable	table;			/* the table, without a marker for defaults */
};

CsvSurplus *
csv_surplus_create(const CsvTable *table, const CsvTableColumn *column)
{
	CsvSurplus *surplus = palloc0(sizeof(CsvSurplus));
	CsvValueInput *input = &surplus->column.input;

	surplus->table = *table;
	surplus->table.default_string = NULL;
	surplus->column.att = column->attnum - 1;
	input->table = &surplus->table;
	input->column = column;
	input->pure = true;
	input->spec.kind = CSV_KIND_TEXT;
	input->spec.attnum = (uint32_t) column->attnum;
	input->spec.max_chars = -1;
	input->spec.byte_width = -1;
	input->spec.type_chars = -1;
	fmgr_info(F_TEXTIN, &input->function);
	return surplus;
}

/* make an array of n fields from `first` on; false if a field is refused */
static bool
make_array(CsvSurplus *surplus, CsvCareful *careful, uint32_t first, uint32_t n,
		   Datum *value, CsvValueError *error)
{
	const CsvDialect *dialect = csv_careful_dialect(careful);
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
		surplus->column.input.spec.field = first + i;
		csv_careful_field(careful, first + i, &content, &length);
		if (!csv_value_from_field(&surplus->column.input, dialect, content,
								  length, &elements[i], &nulls[i], error))
			return false;
		if (!nulls[i])
			nbytes += INTALIGN(VARSIZE_ANY(DatumGetPointer(elements[i])));
		if (!AllocSizeIsValid(nbytes))
			return csv_value_beyond(error, "value is longer than a datum can be");
	}
	*value = PointerGetDatum(construct_md_array(elements, nulls, 1, dimensions,
												lower_bounds, TEXTOID, -1,
												false, TYPALIGN_INT));
	return true;
}

bool
csv_surplus_fill(CsvSurplus *surplus, CsvCareful *careful, uint32_t entry,
				 uint32_t nfields, uint32_t *nsurplus, Datum *value, bool *isnull,
				 CsvRefusal *refusal)
{
	uint32_t	nfound = csv_careful_nfields(careful, entry);
	bool		good = true;

	*isnull = false;
	*nsurplus = nfound > nfields ? nfound - nfields : 0;
	memset(&refusal->error, 0, sizeof(refusal->error));
	if (*nsurplus == 0)
		*value = PointerGetDatum(construct_empty_array(TEXTOID));
	else if (*nsurplus > CSV_MAX_FIELDS)
	{
		surplus->column.input.spec.field = nfields;
		good = csv_value_beyond(&refusal->error,
								psprintf("there are %u surplus fields, which is more than %d",
										 *nsurplus, CSV_MAX_FIELDS));
	}
	else
		good = make_array(surplus, careful, nfields, *nsurplus, value,
						  &refusal->error);
	refusal->column = &surplus->column;
	refusal->set_null = false;
	return good || csv_careful_set_null(careful, &surplus->column,
										&refusal->error, value, isnull);
}
