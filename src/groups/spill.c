/*
 * spill.c
 *		Temporary files for rows and values that have no room in memory: see spill.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "groups/spill.h"

/* a file to be read */
typedef struct SpillFile
{
	BufFile    *file;
	int			level;
} SpillFile;

void
csv_spill_init(CsvSpill *spill)
{
	memset(spill, 0, sizeof(*spill));
	spill->context = CurrentMemoryContext;
}

BufFile *
csv_spill_file(CsvSpill *spill, uint64_t hash)
{
	int			number = hash >> (64 - CSV_SPILL_BITS * (spill->level + 1)) &
		(CSV_SPILL_FILES - 1);

	if (spill->spilling[number] == NULL)
	{
		MemoryContext outer = MemoryContextSwitchTo(spill->context);

		spill->spilling[number] = BufFileCreateTemp(false);
		MemoryContextSwitchTo(outer);
	}
	return spill->spilling[number];
}

bool
csv_spill_has_files(const CsvSpill *spill)
{
	bool		any = spill->spilled != NIL;

	for (int i = 0; i < CSV_SPILL_FILES; i++)
		any |= spill->spilling[i] != NULL;
	return any;
}

void
csv_spill_keep(CsvSpill *spill)
{
	MemoryContext outer = MemoryContextSwitchTo(spill->context);

	for (int i = 0; i < CSV_SPILL_FILES; i++)
	{
		SpillFile  *spilled;

		if (spill->spilling[i] == NULL)
			continue;
		spilled = palloc(sizeof(SpillFile));
		spilled->file = spill->spilling[i];
		spilled->level = spill->level + 1;
		spill->spilled = lcons(spilled, spill->spilled);
		spill->spilling[i] = NULL;
	}
	MemoryContextSwitchTo(outer);
}

BufFile *
csv_spill_take(CsvSpill *spill)
{
	SpillFile  *spilled;
	BufFile    *file;

	if (spill->spilled == NIL)
		return NULL;
	spilled = linitial(spill->spilled);
	file = spilled->file;
	spill->level = spilled->level;
	spill->spilled = list_delete_first(spill->spilled);
	pfree(spilled);
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file")));
	return file;
}

void
csv_spill_drop(CsvSpill *spill)
{
	BufFile    *file;

	csv_spill_keep(spill);
	while ((file = csv_spill_take(spill)) != NULL)
		BufFileClose(file);
	spill->level = 0;
}

/* ---- contents of the files ---- */

/* BufFileWrite() takes no const before 16 */
void
csv_spill_write(BufFile *file, const void *from, size_t nbytes)
{
	BufFileWrite(file, unconstify(void *, from), nbytes);
}

void
csv_spill_read(BufFile *file, void *to, size_t nbytes)
{
	if (BufFileRead(file, to, nbytes) != nbytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* in the byte of a state: a datum follows the value */
#define HAS_DATUM	0x80

void
csv_spill_write_value(BufFile *file, uint8_t lane, const CsvValue *value, Datum datum)
{
	uint8_t		state = value->state | (datum != 0 ? HAS_DATUM : 0);

	csv_spill_write(file, &state, sizeof(state));
	if (value->state == CSV_LANE_VALUE && lane == CSV_LANE_TEXT)
	{
		csv_spill_write(file, &value->length, sizeof(value->length));
		csv_spill_write(file, value->bytes, value->length);
	}
	else if (value->state == CSV_LANE_VALUE)
		csv_spill_write(file, &value->value, sizeof(value->value));
	if (datum != 0)
	{
		struct varlena *wide = PG_DETOAST_DATUM(datum);
		uint32		nbytes = VARSIZE(wide);

		csv_spill_write(file, &nbytes, sizeof(nbytes));
		csv_spill_write(file, wide, nbytes);
	}
}

/* bytes with their length before them */
static void *
read_bytes(BufFile *file, uint32_t *nbytes)
{
	void	   *bytes;

	csv_spill_read(file, nbytes, sizeof(*nbytes));
	bytes = palloc(*nbytes);
	csv_spill_read(file, bytes, *nbytes);
	return bytes;
}

void
csv_spill_read_value(BufFile *file, uint8_t lane, CsvValue *value, Datum *datum)
{
	uint8_t		state;
	uint32_t	nbytes;

	memset(value, 0, sizeof(*value));
	csv_spill_read(file, &state, sizeof(state));
	value->state = state & ~HAS_DATUM;
	if (value->state == CSV_LANE_VALUE && lane == CSV_LANE_TEXT)
		value->bytes = read_bytes(file, &value->length);
	else if (value->state == CSV_LANE_VALUE)
		csv_spill_read(file, &value->value, sizeof(value->value));
	if ((state & HAS_DATUM) != 0)
		*datum = PointerGetDatum(read_bytes(file, &nbytes));
}

/* does a partial have a text for aggregate i? */
static bool
has_text(const CsvProgram *program, const CsvPartialLayout *layout,
		 const int64_t *words, uint32_t i)
{
	const CsvAggregate *aggregate = &program->aggregate[i];

	return aggregate->lane == CSV_LANE_TEXT &&
		(aggregate->kind == CSV_AGGREGATE_MIN ||
		 aggregate->kind == CSV_AGGREGATE_MAX) &&
		words[layout->input[i]] != 0;
}

void
csv_spill_write_partial(BufFile *file, const CsvProgram *program,
						const CsvPartialLayout *layout,
						const CsvPartial *partial)
{
	csv_spill_write(file, partial->words, layout->nwords * sizeof(int64_t));
	for (uint32_t i = 0; i < program->query.naggregates; i++)
	{
		const int64_t *text = partial->words + layout->first_word[i];

		if (has_text(program, layout, partial->words, i))
			csv_spill_write(file, csv_partial_text(partial->texts,
												   (uint64_t) text[0]),
							(size_t) text[1]);
	}
}

CsvPartial
csv_spill_read_partial(BufFile *file, const CsvProgram *program,
					   const CsvPartialLayout *layout)
{
	int64_t    *words = palloc(layout->nwords * sizeof(int64_t));
	CsvPartial	partial = {words, NULL};
	size_t		nbytes = 0;
	uint8_t    *texts;

	csv_spill_read(file, words, layout->nwords * sizeof(int64_t));
	for (uint32_t i = 0; i < program->query.naggregates; i++)
		if (has_text(program, layout, words, i))
		{
			int64_t    *text = words + layout->first_word[i];

			text[0] = (int64_t) nbytes;
			nbytes += (size_t) text[1];
		}
	texts = MemoryContextAllocHuge(CurrentMemoryContext, nbytes + 1);
	csv_spill_read(file, texts, nbytes);
	partial.texts = texts;
	return partial;
}
