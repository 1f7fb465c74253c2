/*
 * index.c
 *		Memory of the structural index.
 */
#include "index.h"

#include <string.h>

/*
 * Move a full list to new memory, with room for twice as many entries, or `least` at
 * first.  Returns NULL if there is no memory; then the old list stays.
 */
static void *
grow(CsvIndex *index, void *old, uint32_t *capacity, uint32_t least, size_t entry_bytes)
{
	uint32_t	wanted = *capacity == 0 ? least : *capacity * 2;
	void	   *new = index->memory->alloc(index->memory->owner, wanted * entry_bytes);

	if (new == NULL)
		return NULL;
	if (old != NULL)
	{
		memcpy(new, old, *capacity * entry_bytes);
		index->memory->free(index->memory->owner, old);
	}
	*capacity = wanted;
	return new;
}

/* room for more records */
bool
csv_index_grow_records(CsvIndex *index)
{
	CsvIndexRecord *records = grow(index, index->records, &index->record_capacity, 1024,
								   sizeof(CsvIndexRecord));

	if (records == NULL)
		return false;
	index->records = records;
	return true;
}

bool
csv_index_add_error(CsvIndex *index, CsvErrorCode code, CsvMode mode,
					uint64_t offset, uint64_t length, uint32_t line,
					uint32_t where)
{
	CsvError   *error;

	if (index->nerrors == index->error_capacity)
	{
		CsvError   *errors = grow(index, index->errors, &index->error_capacity, 64,
								  sizeof(CsvError));

		if (errors == NULL)
			return false;
		index->errors = errors;
	}
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
	if (index->nlenient == index->lenient_capacity)
	{
		uint32_t   *lenient = grow(index, index->lenient, &index->lenient_capacity, 64,
								   sizeof(uint32_t));

		if (lenient == NULL)
			return false;
		index->lenient = lenient;
	}
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

		if (index->separators != NULL)
			memory->free(memory->owner, index->separators);
		if (index->quotes != NULL)
			memory->free(memory->owner, index->quotes);
		if (index->unplain != NULL)
			memory->free(memory->owner, index->unplain);
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
		if (owned[i] != NULL)
			memory->free(memory->owner, owned[i]);
}
