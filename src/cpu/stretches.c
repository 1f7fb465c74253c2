/*
 * stretches.c
 *		Several threads read the structure of one input.
 *
 *	1. The input is cut into stretches of whole words.  Each thread counts the
 *	   quotes of one, and the bytes that may be line breaks.
 *	2. If all is regular, a stretch begins inside quotes where the number of
 *	   quotes before it is odd.  The first line break outside quotes from there
 *	   on ends a record; the stretch is read from behind it, up to where the
 *	   next one's reading starts, by the loop that reads any regular records.
 *	3. The calling thread takes the stretches in order.  Reading
 *	   depends on a record's start only: what a thread has read counts if the
 *	   records before it end where it began.  What is irregular, and what began at a
 *	   wrong place because of that, the calling thread reads itself.
 *	4. The records of the stretches that count move to their places.
 *
 * So the index is the same for any number of threads.  Where quotes stray in
 * every stretch, only one thread's work counts.
 *
 * Threads write separate words of the bit-strings; the word in which one
 * stretch ends and the next begins is put together at the end.  Each has room
 * for its records, by the number of its line breaks, in the upper half of the
 * array; the lower half is for the whole index.
 */
#include "index.h"

#include <string.h>

/* bytes in which a stretch's first record end must be found */
#define SEARCH_BYTES	65536

struct CsvIndexStretch
{
	/* counted */
	uint64_t	from;			/* a multiple of 64 */
	uint64_t	to;
	uint64_t	nquotes;
	uint64_t	nbreaks;

	/* read, where found */
	bool		found;			/* a record's start */
	uint32_t	first_record;	/* its place in the array */
	uint64_t	began;			/* there */
	CsvIndex	index;			/* with what was read */
	CsvStatus	status;

	/* taken over, where it counts: what was in the index before it */
	bool		counts;
	uint32_t	nrecords;
	uint32_t	nseparators;
	uint32_t	nlines;
};

/* what the threads share */
typedef struct CsvStretchWork
{
	CsvIndex   *index;
} CsvStretchWork;

static void
count_stretch(void *arg, uint32_t number)
{
	CsvIndex   *index = ((CsvStretchWork *) arg)->index;
	CsvIndexStretch *stretch = &index->stretches[number];
	uint64_t	first = CSV_WORD(stretch->from);
	uint64_t	nwords = CSV_WORD(stretch->to + 63) - first;

	csv_index_clear(index, first, nwords);
	index->functions->count(index, stretch->from, stretch->to,
							&stretch->nquotes, &stretch->nbreaks);
}

static void
read_stretch(void *arg, uint32_t number)
{
	CsvIndexStretch *stretch = &((CsvStretchWork *) arg)->index->stretches[number];

	if (stretch->found && stretch->began < stretch->index.limit)
		stretch->status = stretch->index.functions->run(&stretch->index);
}

/*
 * The first record's start at or after `from`, which is inside quotes or not;
 * false where it is not soon.
 */
static bool
find_start(const CsvIndex *index, uint64_t from, bool inside, uint64_t *start)
{
	const CsvInput *input = index->input;
	const CsvDialect *dialect = index->dialect;
	uint64_t	end = input->nbytes;

	if (end - from > SEARCH_BYTES)
		end = from + SEARCH_BYTES;
	for (uint64_t pos = from; pos < end; pos++)
	{
		if (dialect->opt.quote != 0 && input->bytes[pos] == dialect->opt.quote)
			inside = dialect->opt.multiline && !inside;
		else if (!inside &&
				 csv_class_at(dialect, input->bytes, pos, input->nbytes) ==
				 CSV_CLASS_BREAK)
		{
			*start = pos + 1;
			return pos + 1 < input->nbytes;
		}
	}
	return false;
}

/*
 * Find where each stretch's reading starts, and give it room for records.
 */
static CsvStatus
prepare(CsvIndex *index, uint32_t nstretches)
{
	const CsvInput *input = index->input;
	CsvIndexStretch *stretches = index->stretches;
	uint64_t	nquotes = 0;
	uint64_t	room = 0;
	uint32_t	previous = 0;

	for (uint32_t i = 0; i < nstretches; i++)
	{
		CsvIndexStretch *stretch = &stretches[i];

		stretch->found = i == 0 ||
			find_start(index, stretch->from,
					   index->dialect->opt.multiline && nquotes % 2 != 0,
					   &stretch->began);
		if (i == 0)
			stretch->began = index->pos;

		/* two may find the same, behind a long record: it is the later one's */
		if (stretch->found && i > 0 &&
			stretches[previous].began == stretch->began)
			stretches[previous].found = false;
		if (stretch->found)
			previous = i;
		nquotes += stretch->nquotes;

		/* a last record may end with the input, without a break */
		stretch->first_record = (uint32_t) room;
		room += stretch->nbreaks + 2;
	}
	if (!csv_index_reserve_records(index, 2 * room))
		return CSV_NO_MEMORY;

	for (uint32_t i = 0; i < nstretches; i++)
	{
		CsvIndexStretch *stretch = &stretches[i];
		CsvIndex   *part = &stretch->index;
		uint64_t	end = 2 * room;

		stretch->first_record += (uint32_t) room;
		if (!stretch->found)
			continue;
		*part = *index;
		part->is_stretch = true;
		part->head_separators = 0;
		part->head_quotes = 0;
		part->pos = stretch->began;
		part->limit = input->nbytes;
		for (uint32_t next = i + 1; next < nstretches; next++)
			if (stretches[next].found)
			{
				part->limit = stretches[next].began;
				end = stretches[next].first_record + room;
				break;
			}
		part->records = index->records + stretch->first_record;
		part->record_capacity = (uint32_t) (end - stretch->first_record);
	}
	return CSV_OK;
}

CsvStatus
csv_index_read_stretches(CsvIndex *index, uint32_t nstretches)
{
	const CsvInput *input = index->input;
	CsvStretchWork work = {index};
	uint64_t	nwords = CSV_WORD(input->nbytes + 63);
	CsvStatus	status;

	if (index->stretches == NULL)
	{
		index->stretches = index->memory->alloc(index->memory->owner,
												CSV_MAX_PARTS *
												sizeof(CsvIndexStretch));
		if (index->stretches == NULL)
			return CSV_NO_MEMORY;
	}
	for (uint32_t i = 0; i < nstretches; i++)
	{
		CsvIndexStretch *stretch = &index->stretches[i];

		memset(stretch, 0, sizeof(*stretch));
		stretch->from = nwords * i / nstretches * CSV_WORD_BITS;
		stretch->to = nwords * (i + 1) / nstretches * CSV_WORD_BITS;
		if (stretch->to > input->nbytes)
			stretch->to = input->nbytes;
	}
	csv_crew_run(index->crew, nstretches, count_stretch, &work);
	status = prepare(index, nstretches);
	if (status != CSV_OK)
		return status;
	csv_crew_run(index->crew, nstretches, read_stretch, &work);
	if (csv_crew_was_interrupted(index->crew))
		return CSV_INTERRUPTED;
	index->nstretches = nstretches;
	index->next_stretch = 0;
	return CSV_OK;
}

/* the stretch joins the index, which ends where it began; records come later */
static void
append(CsvIndex *index, CsvIndexStretch *stretch)
{
	const CsvIndex *part = &stretch->index;

	stretch->counts = true;
	stretch->nrecords = index->nrecords;
	stretch->nseparators = index->nseparators;
	stretch->nlines = index->nlines;
	index->separators[CSV_WORD(stretch->began)] |= part->head_separators;
	index->quotes[CSV_WORD(stretch->began)] |= part->head_quotes;
	index->nrecords += part->nrecords;
	index->nseparators += part->nseparators;
	index->nlines += part->nlines;
	index->pos = part->pos;
	index->incomplete = part->incomplete;
}

static void
move_records(void *arg, uint32_t number)
{
	const CsvIndex *index = ((CsvStretchWork *) arg)->index;
	const CsvIndexStretch *stretch = &index->stretches[number];
	const CsvIndexRecord *from = index->records + stretch->first_record;
	CsvIndexRecord *to = index->records + stretch->nrecords;

	if (!stretch->counts)
		return;
	for (uint32_t i = 0; i < stretch->index.nrecords; i++)
	{
		to[i].start = from[i].start;
		to[i].first_separator = from[i].first_separator + stretch->nseparators;
		to[i].line = from[i].line + stretch->nlines;
	}
}

void
csv_index_move_records(CsvIndex *index)
{
	CsvStretchWork work = {index};

	if (index->nstretches > 0)
		csv_crew_run(index->crew, index->nstretches, move_records, &work);
}

/*
 * Take over what threads have read from index->pos on.  Sets index->limit to
 * where the next such stretch begins.
 */
void
csv_index_take_stretches(CsvIndex *index)
{
	index->limit = index->input->nbytes;
	for (; index->next_stretch < index->nstretches; index->next_stretch++)
	{
		CsvIndexStretch *stretch = &index->stretches[index->next_stretch];

		if (!stretch->found)
			continue;
		if (stretch->began > index->pos)
		{
			index->limit = stretch->began;
			return;
		}
		if (stretch->began == index->pos && stretch->status == CSV_OK &&
			!index->skip_line && index->pos >= index->alone_until)
			append(index, stretch);
		else
		{
			/* what it has found is wrong from here on */
			csv_clear_between(index->separators, index->pos,
							  stretch->index.limit);
			csv_clear_between(index->quotes, index->pos, stretch->index.limit);
		}
	}
}
