/*
 * record.c
 *		Reads single records through the dialect's table.
 *
 * The engines read records by the million; this file reads one, for a header,
 * for an error message, for a value that an engine was not sure of, and where
 * a fast path meets something irregular.
 */
#include "field.h"

#include <string.h>

static bool
add_separator(CsvScan *scan, const CsvMemory *memory, uint64_t separator)
{
	if (scan->nfields == scan->capacity)
	{
		uint32_t	capacity = scan->capacity == 0 ? 64 : scan->capacity * 2;
		uint32_t   *separators = memory->alloc(memory->owner,
											   capacity * sizeof(uint32_t));

		if (separators == NULL)
			return false;
		if (scan->separators != NULL)
		{
			memcpy(separators, scan->separators,
				   scan->nfields * sizeof(uint32_t));
			memory->free(memory->owner, scan->separators);
		}
		scan->separators = separators;
		scan->capacity = capacity;
	}
	scan->separators[scan->nfields++] = (uint32_t) (separator - scan->start);
	return true;
}

bool
csv_scan_record(CsvScan *scan, const CsvMemory *memory,
				const CsvDialect *dialect, CsvMode mode,
				const uint8_t *bytes, uint64_t start,
				uint64_t nbytes, bool at_end)
{
	uint8_t		state = CSV_STATE_RECORD_START;
	uint64_t	limit = at_end ? nbytes + 1 : nbytes;

	scan->nfields = 0;
	scan->complete = false;
	scan->is_record = false;
	scan->bad = false;
	scan->last_state = state;
	scan->nbreaks = 0;
	scan->start = start;
	scan->end = start;
	scan->next = start;

	for (uint64_t pos = start; pos < limit; pos++)
	{
		int			class = csv_class_at(dialect, bytes, pos, nbytes);
		uint8_t		entry = dialect->table[mode][state][class];

		if (entry & CSV_START)
		{
			scan->start = pos;
			scan->is_record = true;
			scan->nbreaks = 0;
		}
		if ((entry & CSV_FIELD) && !add_separator(scan, memory, pos))
			return false;
		if (entry & CSV_RECORD)
		{
			uint64_t	field_start = scan->nfields < 2 ? scan->start :
				scan->start + scan->separators[scan->nfields - 2] + 1;

			scan->complete = true;
			scan->bad = (entry & CSV_BAD) != 0;
			scan->last_state = state;
			scan->end = csv_content_end(dialect, bytes, field_start, pos,
										nbytes);
			scan->next = pos < nbytes ? pos + 1 : nbytes;
			return true;
		}
		if (class == CSV_CLASS_BREAK)
			scan->nbreaks++;
		state = entry & CSV_STATE_MASK;
	}
	scan->last_state = state;
	scan->end = nbytes;
	scan->next = nbytes;
	scan->complete = at_end;
	return true;
}

CsvSpan
csv_scan_field(const CsvScan *scan, const CsvDialect *dialect,
			   const uint8_t *bytes, uint64_t nbytes, uint32_t field)
{
	CsvSpan		span;
	uint64_t	end = scan->start + scan->separators[field];

	span.offset = scan->start;
	if (field > 0)
		span.offset += scan->separators[field - 1] + 1;
	if (field + 1 == scan->nfields)
		end = csv_content_end(dialect, bytes, span.offset, end, nbytes);
	span.length = end - span.offset;
	return span;
}

uint64_t
csv_field_value(const CsvDialect *dialect, const uint8_t *field,
				uint64_t length, uint8_t *value, bool *quoted)
{
	return csv_unquote(dialect, field, length, value, quoted);
}
