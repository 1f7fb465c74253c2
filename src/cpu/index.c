/*
 * index.c
 *		Memory of the structural index.
 */
#include "index.h"

#include "../reader/arrays.h"

/* room for more records */
bool
csv_index_grow_records(CsvIndex *index)
{
	return csv_grow(index->memory, &index->records, &index->record_capacity,
					(size_t) index->record_capacity + 1, 1024,
					sizeof(CsvIndexRecord));
}

bool
csv_index_add_error(CsvIndex *index, CsvErrorCode code, CsvMode mode,
					uint64_t offset, uint64_t length, uint32_t line,
					uint32_t where)
{
	CsvError   *error;

	if (!csv_grow(index->memory, &index->errors, &index->error_capacity,
				  (size_t) index->nerrors + 1, 64, sizeof(CsvError)))
		return false;
	error = &index->errors[index->nerrors];
	error->offset = offset;
	error->length = length;
	error->record = index->nrecords + index->nerrors;
	error->line = line;
	error->before_row = index->nrecords;
	error->code = (uint8_t) code;
	error->mode = (uint8_t) mode;
	error->where = where;
	index->nerrors++;
	return true;
}

/* note the number of a record that is read leniently */
bool
csv_index_add_lenient(CsvIndex *index, uint32_t record)
{
	if (!csv_grow(index->memory, &index->lenient, &index->lenient_capacity,
				  (size_t) index->nlenient + 1, 64, sizeof(uint32_t)))
		return false;
	index->lenient[index->nlenient++] = record;
	return true;
}

CsvStatus
csv_index_reserve(CsvIndex *index)
{
	/* a position for the end of the input, and a word for csv_any_between */
	uint64_t	nwords = CSV_WORD(index->input->nbytes) + 2;

	if (nwords > index->nwords)
	{
		const CsvMemory *memory = index->memory;

		csv_free(memory, index->separators);
		csv_free(memory, index->quotes);
		csv_free(memory, index->unplain);
		/* alloc may leave by longjmp */
		index->separators = NULL;
		index->quotes = NULL;
		index->unplain = NULL;
		index->nwords = 0;
		index->separators = memory->alloc(memory->owner, nwords * 8);
		if (index->separators != NULL)
			index->quotes = memory->alloc(memory->owner, nwords * 8);
		if (index->quotes != NULL)
			index->unplain = memory->alloc(memory->owner, nwords);
		if (index->unplain == NULL)
			return CSV_NO_MEMORY;
		index->nwords = nwords;
	}
	if (index->record_capacity == 0 && !csv_index_grow_records(index))
		return CSV_NO_MEMORY;
	return CSV_OK;
}

void
csv_index_free(CsvIndex *index)
{
	const CsvMemory *memory = index->memory;
	void	   *owned[] = {index->separators, index->quotes, index->unplain,
	index->records, index->errors, index->lenient, index->scan.separators};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		csv_free(memory, owned[i]);
}
