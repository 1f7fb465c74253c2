/*
 * stand_in_table.c
 *		Columns that stay with the stand-in for a GPU, and queries over them.
 *
 * Who asks has a lock around all of this, but for csv_cuda_answer_free().
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cuda/csv_cuda.h"
#include "../../cuda/policy.h"
#include "stand_in_query.h"

/* that are asked about at a time: so few that tests get several answers */
#define MOST_ROWS	10000

typedef struct Part
{
	uint8_t    *bytes;			/* NULL: nothing is there */
	uint32_t	width;
	uint32_t	nfilled;		/* rows */
} Part;

struct CsvCudaColumns
{
	CsvCudaColumns *next;		/* of all */
	const CsvSession *session;
	uint32_t	nparts;
	uint32_t	nrows;
	Part		parts[];
};

/* of all sessions; each one's are for one thread, but this list */
static CsvCudaColumns *all_columns = NULL;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void
drop_parts(CsvCudaColumns *columns)
{
	for (uint32_t i = 0; i < columns->nparts; i++)
	{
		free(columns->parts[i].bytes);
		memset(&columns->parts[i], 0, sizeof(Part));
	}
}

static bool
may_be(uint64_t nbytes, uint64_t memory_limit)
{
	return memory_limit == 0 || nbytes <= memory_limit / CSV_QUERY_MEMORY_SHARE;
}

/* may so much more stay with these?  Others of the session make way. */
static bool
make_way(const CsvCudaColumns *columns, uint64_t nbytes, uint64_t memory_limit)
{
	CsvCudaColumns *other;

	pthread_mutex_lock(&mutex);
	for (other = all_columns; other != NULL; other = other->next)
		if (other->session == columns->session)
			nbytes += csv_cuda_columns_bytes(other);
	for (other = all_columns; other != NULL &&
		 !may_be(nbytes, memory_limit);
		 other = other->next)
		if (other->session == columns->session && other != columns)
		{
			nbytes -= csv_cuda_columns_bytes(other);
			drop_parts(other);
		}
	pthread_mutex_unlock(&mutex);
	return may_be(nbytes, memory_limit);
}

CsvCudaColumns *
csv_cuda_columns_create(CsvSession *session, uint32_t ncolumns, uint32_t nrows)
{
	CsvCudaColumns *columns = calloc(1, sizeof(CsvCudaColumns) +
									 2 * ncolumns * sizeof(Part));

	if (columns == NULL)
		return NULL;
	columns->session = session;
	columns->nparts = 2 * ncolumns;
	columns->nrows = nrows;
	pthread_mutex_lock(&mutex);
	columns->next = all_columns;
	all_columns = columns;
	pthread_mutex_unlock(&mutex);
	return columns;
}

void
csv_cuda_columns_free(CsvCudaColumns *columns)
{
	CsvCudaColumns **place = &all_columns;

	pthread_mutex_lock(&mutex);
	while (*place != columns)
		place = &(*place)->next;
	*place = columns->next;
	pthread_mutex_unlock(&mutex);
	drop_parts(columns);
	free(columns);
}

uint64_t
csv_cuda_columns_bytes(const CsvCudaColumns *columns)
{
	uint64_t	nbytes = 0;

	for (uint32_t i = 0; i < columns->nparts; i++)
		nbytes += (uint64_t) columns->nrows * columns->parts[i].width;
	return nbytes;
}

uint32_t
csv_cuda_columns_filled(const CsvCudaColumns *columns, uint32_t part)
{
	return columns->parts[part].nfilled;
}

bool
csv_cuda_columns_add(CsvCudaColumns *columns, uint32_t number,
					 uint32_t first_row, uint32_t width, const uint8_t *source,
					 uint32_t source_width, uint32_t nrows,
					 uint64_t memory_limit, char *reason, size_t reason_size)
{
	Part	   *part = &columns->parts[number];
	uint64_t	nbytes = (uint64_t) columns->nrows * width;

	snprintf(reason, reason_size, "%s", "");
	if (part->nfilled != first_row)
		return false;
	if (part->bytes == NULL)
	{
		if (!make_way(columns, nbytes, memory_limit) ||
			(part->bytes = calloc(1, nbytes)) == NULL)
			return false;
		part->width = width;
	}
	for (uint32_t i = 0; i < nrows && source != NULL; i++)
		memcpy(part->bytes + (size_t) (first_row + i) * width,
			   source + (size_t) i * source_width, source_width);
	part->nfilled += nrows;
	return true;
}

bool
csv_cuda_question_needs(const CsvCudaQuestion *question, uint32_t column,
						bool statuses)
{
	const CsvQuery *query = question->request->query;
	uint8_t		seen = question->seen[column];
	bool		is_read = false;

	for (uint32_t i = 0; i < query->ninstructions; i++)
		is_read |= query->instructions[i].operation == CSV_OP_COLUMN &&
			query->instructions[i].operand == column;
	return !statuses ? is_read :
		(seen & CSV_CUDA_SEEN_SLOW) != 0 || (is_read && seen != 0);
}

bool
csv_cuda_question_fits(const CsvSession *session,
					   const CsvCudaQuestion *question, uint64_t nbytes)
{
	(void) session;
	return may_be(nbytes, question->memory_limit) &&
		csv_stand_in_takes(question->request->query, question->layout);
}

/* a part from first_row on, if it is needed; false: it is not all there */
static bool
find_part(const CsvCudaColumns *columns, const CsvCudaQuestion *question,
		  uint32_t column, bool statuses, uint32_t first_row, CsvArray *array)
{
	uint32_t	place = question->places[column];
	const Part *part = &columns->parts[statuses ? CSV_CUDA_STATUSES(place) :
									   CSV_CUDA_VALUES(place)];

	if (!csv_cuda_question_needs(question, column, statuses))
		return true;
	if (part->nfilled < columns->nrows)
		return false;
	if (statuses)
		array->status = part->bytes + first_row;
	else
	{
		array->values = part->bytes + (size_t) first_row * part->width;
		array->stride = part->width;
	}
	return true;
}

CsvStatus
csv_cuda_columns_answer(CsvCudaColumns *columns,
						const CsvCudaQuestion *question, uint32_t first_row,
						uint32_t *nrows, CsvAnswer **answer, char *reason,
						size_t reason_size)
{
	const CsvLayout *layout = question->layout;
	CsvArray   *arrays = calloc(layout->ncolumns + 1, sizeof(CsvArray));
	CsvBatch	batch = {.arrays = arrays};
	bool		is_there = arrays != NULL;
	CsvStatus	status = CSV_OK;

	*answer = NULL;
	snprintf(reason, reason_size, "%s", "");
	(void) make_way(columns, 0, question->memory_limit);
	if (*nrows > MOST_ROWS)
		*nrows = MOST_ROWS;
	batch.nrows = *nrows;
	for (uint32_t i = 0; i < layout->ncolumns && is_there; i++)
	{
		CsvArray   *array = &arrays[i];

		is_there = find_part(columns, question, i, false, first_row, array) &&
			find_part(columns, question, i, true, first_row, array);
		array->all_ok = array->status == NULL;
		array->any_slow = (question->seen[i] & CSV_CUDA_SEEN_SLOW) != 0;
	}
	if (is_there)
		status = csv_stand_in_answer(question->request, layout, &batch,
									 question->interrupted,
									 question->interrupted_arg, answer);
	free(arrays);
	if (*answer != NULL &&
		!csv_stand_in_may_travel((*answer)->groups.ngroups, *nrows))
	{
		csv_stand_in_free_answer(*answer);
		*answer = NULL;
	}
	return status;
}

void
csv_cuda_answer_free(CsvSession *session, CsvAnswer *answer)
{
	(void) session;
	csv_stand_in_free_answer(answer);
}
