/*
 * walk.c
 *		Looks at all that a batch offers: see walk.h.
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/query/operate.h"
#include "../../src/reader/field.h"
#include "../../src/wire/packed.h"

/* what was looked at, so that it is */
static volatile uint64_t seen;

static void
look_at(const void *bytes, size_t nbytes)
{
	uint64_t	sum = 0;

	for (size_t i = 0; i < nbytes; i++)
		sum += ((const uint8_t *) bytes)[i];
	seen += sum;
}

/* ---- records, by the input's bytes ---- */

static void
walk_record(const CsvBatch *batch, const CsvLayout *layout,
			const CsvDialect *dialect, uint32_t entry)
{
	CsvMeasure	measure;
	CsvScan		scan;

	memset(&scan, 0, sizeof(scan));
	if (csv_scan_row(&scan, &csv_thread_memory, dialect, batch, entry) != CSV_OK)
	{
		free(scan.separators);
		return;
	}
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		CsvSpan		span;

		if (layout->columns[i].field >= scan.nfields)
			continue;
		span = csv_scan_field(&scan, dialect, batch->bytes, batch->consumed,
							  layout->columns[i].field);
		csv_fast_measure(dialect, batch->bytes + span.offset, span.length, false,
						 NULL, &measure);
		look_at(batch->bytes + span.offset, span.length);
	}
	free(scan.separators);
}

static void
walk_errors(const CsvBatch *batch, const CsvLayout *layout,
			const CsvDialect *dialect)
{
	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		const CsvError *error = &batch->errors[i];

		look_at(batch->bytes + error->offset, error->length);
		if (error->code <= CSV_ERROR_COLUMN_COUNT)
			continue;
		look_at(&layout->columns[error->where], sizeof(CsvColumn));
		walk_record(batch, layout, dialect, (uint32_t) error->offset);
	}
}

/* ---- entries ---- */

static void
walk_value(const CsvColumn *column, const uint8_t *entry, uint32_t stride)
{
	CsvInt128	decimal = 0;
	uint32_t	header;

	switch (column->kind)
	{
		case CSV_KIND_TEXT:
			memcpy(&header, entry, 4);
			look_at(entry + 4, (header >> 2) - 4);
			break;
		case CSV_KIND_CSTRING:
			look_at(entry + 4, strlen((const char *) entry + 4));
			break;
		case CSV_KIND_NUMERIC:
			memcpy(&header, entry, 4);
			look_at(entry, header >> 2);
			(void) csv_decimal_from_numeric(entry, column->scale, &decimal);
			look_at(&decimal, sizeof(decimal));
			break;
		default:
			look_at(entry, stride);
			break;
	}
}

static void
walk_arrays(const CsvBatch *batch, const CsvLayout *layout,
			const CsvDialect *dialect, uint32_t n)
{
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];
		const uint8_t *entry = array->values;

		if (array->status != NULL)
			look_at(array->status, n);
		if (array->values == NULL)
			continue;
		for (uint32_t row = 0; row < n; row++, entry += array->stride)
		{
			uint8_t		status = array->all_ok ? CSV_VALUE_OK :
				array->status[row];

			if (status == CSV_VALUE_OK)
				walk_value(&layout->columns[i], entry, array->stride);
			else if (status != CSV_VALUE_NULL)
				walk_record(batch, layout, dialect, batch->row_offsets[row]);
		}
	}
}

/* ---- answers ---- */

void
walk_groups(const CsvPartialGroups *groups, const CsvQuery *query)
{
	CsvEvaluator *evaluator = csv_evaluator_create(&csv_thread_memory, query);
	CsvPartialLayout layout;

	csv_partial_lay_out(query, &layout);
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		for (uint32_t i = 0; i < query->nkeys; i++)
		{
			CsvValue	key;

			csv_partial_key(query, groups, g, i, &key);
			look_at(&key, sizeof(key));
			look_at(key.bytes, key.length);
		}
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			CsvAggregateValue value;

			csv_partial_aggregate(query, &layout, groups, g, i, &value);
			look_at(value.extreme.bytes, value.extreme.length);
		}
	}
	if (groups->ngroups > 0)
		csv_evaluator_merge(evaluator, groups);
	csv_evaluator_free(evaluator);
}

/* as where no engine has answered */
static void
evaluate(const CsvBatch *batch, const CsvLayout *layout, const CsvQuery *query)
{
	CsvEvaluator *evaluator = csv_evaluator_create(&csv_thread_memory, query);
	CsvSelection selection;

	if (csv_evaluator_run(evaluator, layout, batch, NULL, NULL, NULL,
						  &selection) == CSV_OK)
		look_at(selection.rows, selection.nrows * sizeof(uint32_t));
	csv_evaluator_free(evaluator);
}

void
walk_batch(const CsvBatch *batch, const CsvLayout *layout,
		   const CsvDialect *dialect, const CsvQuery *query)
{
	const CsvAnswer *answer = batch->answer;
	uint32_t	n = batch->nrows;

	if (batch->bytes != NULL)
		look_at(batch->bytes, batch->nbytes);
	walk_errors(batch, layout, dialect);
	if (answer != NULL)
	{
		const CsvSelection *selection = &answer->selection;

		n = selection->nrows;
		look_at(selection->careful, n);
		for (uint32_t i = 0; i < n; i++)
			if (selection->rows[i] >= batch->nrows)
				abort();
		walk_groups(&answer->groups, query);
	}
	for (uint32_t i = 0; i < n && batch->row_offsets != NULL; i++)
	{
		look_at(&batch->row_lines[i], sizeof(uint32_t));
		if (batch->bytes != NULL)
			walk_record(batch, layout, dialect, batch->row_offsets[i]);
	}
	if (!csv_check_values(batch, layout))
		return;
	walk_arrays(batch, layout, dialect, n);
	if (answer == NULL && query != NULL)
		evaluate(batch, layout, query);
}
