/*
 * batch.c
 *		Batches sent to another process: see batch.h.
 *
 * A message for a batch has a WireBatch; if there is an answer, a WireAnswer and a
 * WireGroups; and a WireArray for each column.  A message for groups has a WireGroups.
 */
#include "batch.h"

#include <string.h>

#include "../query/group_state.h"
#include "../reader/convert.h"
#include "../reader/words.h"

/* of held groups: more than the rows of any file */
#define MOST_HELD_ROWS	(INT64_C(1) << 48)

/* the block of a place without bytes */
#define NO_BLOCK		UINT32_MAX

typedef struct WirePlace
{
	uint64_t	offset;
	uint32_t	block;
	uint32_t	unused;
} WirePlace;

typedef struct WireBatch
{
	uint32_t	ncolumns;
	uint32_t	nrows;
	uint32_t	nrecords;
	uint32_t	nerrors;
	uint64_t	nlines;
	uint64_t	nbytes;
	uint64_t	file_offset;
	uint64_t	file_records;
	uint64_t	file_lines;
	uint64_t	consumed;
	uint64_t	alone_until;
	double		copy_in_seconds;
	double		parse_seconds;
	double		copy_out_seconds;
	double		structure_seconds;
	double		device_seconds;
	WirePlace	bytes;
	WirePlace	errors;
	WirePlace	row_offsets;
	WirePlace	row_lines;
	uint8_t		skip_line;
	uint8_t		answered;
	uint8_t		unused[6];
} WireBatch;

typedef struct WireArray
{
	WirePlace	values;
	WirePlace	status;
	uint32_t	stride;
	uint8_t		all_ok;
	uint8_t		any_slow;
	uint8_t		unused[2];
} WireArray;

typedef struct WireAnswer
{
	WirePlace	rows;
	WirePlace	careful;
	uint32_t	nrows;
	uint32_t	ndropped;
	uint32_t	nbeyond;
	uint8_t		any_careful;
	uint8_t		held;
	uint8_t		unused[2];
} WireAnswer;

typedef struct WireGroups
{
	WirePlace	keys;
	WirePlace	nulls;
	WirePlace	words;
	WirePlace	texts;
	WirePlace	held;
	uint64_t	text_bytes;
	uint32_t	ngroups;
	uint32_t	unused;
} WireGroups;

size_t
csv_wire_batch_bytes(uint32_t ncolumns, bool answered)
{
	return sizeof(WireBatch) + ncolumns * sizeof(WireArray) +
		(answered ? sizeof(WireAnswer) + sizeof(WireGroups) : 0);
}

size_t
csv_wire_answer_bytes(void)
{
	return sizeof(WireAnswer) + sizeof(WireGroups);
}

size_t
csv_wire_groups_bytes(void)
{
	return sizeof(WireGroups);
}

/* ---- groups, on both sides ---- */

/* raise *last to the end of a text; false: its end is beyond 64 bits */
static bool
reach_text(const uint64_t *pair, uint64_t *last)
{
	uint64_t	end;

	if (__builtin_add_overflow(pair[0], pair[1], &end))
		return false;
	if (end > *last)
		*last = end;
	return true;
}

/*
 * Set *text_bytes to the end of the last text.  False: a text has no valid end, or a
 * number of rows is below 0 or above most_rows.
 */
static bool
survey_groups(const CsvPartialGroups *groups, const CsvQuery *query,
			  const CsvPartialLayout *layout, int64_t most_rows,
			  uint64_t *text_bytes)
{
	*text_bytes = 0;
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		const uint64_t *keys = groups->keys + (size_t) g * query->nkeys * 2;
		const int64_t *words = groups->words + (size_t) g * layout->nwords;

		for (uint32_t i = 0; i < query->nkeys; i++)
			if (query->keys[i].lane == CSV_LANE_TEXT &&
				(groups->nulls[g] >> i & 1) == 0 &&
				!reach_text(keys + 2 * i, text_bytes))
				return false;
		for (uint32_t i = 0; i < layout->ninputs; i++)
			if (words[i] < 0 || words[i] > most_rows)
				return false;
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			const CsvAggregate *aggregate = &query->aggregate[i];

			if (csv_is_extreme(aggregate) &&
				aggregate->lane == CSV_LANE_TEXT &&
				words[layout->input[i]] != 0 &&
				!reach_text((const uint64_t *) words + layout->first_word[i],
							text_bytes))
				return false;
		}
	}
	return true;
}

/* ---- sending ---- */

/* add a part to the message */
static void
put(uint8_t **message, const void *part, size_t nbytes)
{
	memcpy(*message, part, nbytes);
	*message += nbytes;
}

/* the place of bytes, or of a copy of them; false: there is no room for the copy */
static bool
place_of(const CsvWireFinder *finder, const void *bytes, size_t nbytes,
		 WirePlace *place)
{
	void	   *copy;

	place->block = NO_BLOCK;
	if (bytes == NULL || nbytes == 0 ||
		finder->find(finder->arg, bytes, nbytes, &place->block, &place->offset))
		return true;
	copy = finder->make_room(finder->arg, nbytes);
	if (copy == NULL)
		return false;
	memcpy(copy, bytes, nbytes);
	return finder->find(finder->arg, copy, nbytes, &place->block,
						&place->offset);
}

static bool
encode_groups(const CsvPartialGroups *groups, const CsvQuery *query,
			  const CsvWireFinder *finder, uint8_t **message)
{
	size_t		n = groups->ngroups;
	CsvPartialLayout layout;
	WireGroups	wire;

	memset(&wire, 0, sizeof(wire));
	csv_partial_lay_out(query, &layout);
	wire.ngroups = groups->ngroups;
	/* without `texts`, the texts are not in one place */
	if (!survey_groups(groups, query, &layout, INT64_MAX, &wire.text_bytes) ||
		(groups->texts == NULL && wire.text_bytes > 0) ||
		!place_of(finder, groups->keys, n * query->nkeys * 16, &wire.keys) ||
		!place_of(finder, groups->nulls, query->nkeys == 0 ? 0 : n * 4,
				  &wire.nulls) ||
		!place_of(finder, groups->words, n * layout.nwords * 8, &wire.words) ||
		!place_of(finder, groups->texts, wire.text_bytes, &wire.texts) ||
		!place_of(finder, groups->held, n * 4, &wire.held))
		return false;
	put(message, &wire, sizeof(wire));
	return true;
}

bool
csv_wire_encode_groups(const CsvPartialGroups *groups, const CsvQuery *query,
					   const CsvWireFinder *finder, uint8_t *message)
{
	return encode_groups(groups, query, finder, &message);
}

/* with its groups */
static bool
encode_answer(const CsvAnswer *answer, const CsvQuery *query,
			  const CsvWireFinder *finder, uint8_t **message)
{
	const CsvSelection *selection = &answer->selection;
	size_t		n = selection->nrows;
	WireAnswer	wire;

	if (answer->is_whole || query == NULL)
		return false;
	memset(&wire, 0, sizeof(wire));
	wire.nrows = selection->nrows;
	wire.ndropped = selection->ndropped;
	wire.nbeyond = selection->nbeyond;
	wire.any_careful = selection->any_careful;
	wire.held = answer->held;
	if (!place_of(finder, selection->rows, n * 4, &wire.rows) ||
		!place_of(finder, selection->careful, n, &wire.careful))
		return false;
	put(message, &wire, sizeof(wire));
	return encode_groups(&answer->groups, query, finder, message);
}

bool
csv_wire_encode_answer(const CsvAnswer *answer, const CsvQuery *query,
					   const CsvWireFinder *finder, uint8_t *message)
{
	return encode_answer(answer, query, finder, &message);
}

static bool
encode_array(const CsvArray *array, uint32_t nentries,
			 const CsvWireFinder *finder, WireArray *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->stride = array->stride;
	wire->all_ok = array->all_ok;
	wire->any_slow = array->any_slow;
	return place_of(finder, array->values, (size_t) nentries * array->stride,
					&wire->values) &&
		place_of(finder, array->status, nentries, &wire->status);
}

bool
csv_wire_encode_batch(const CsvBatch *batch, const CsvLayout *layout,
					  const CsvQuery *query, const CsvWireFinder *finder,
					  uint8_t *message)
{
	uint32_t	nentries = csv_batch_entries(batch);
	WireBatch	wire;

	memset(&wire, 0, sizeof(wire));
	wire.ncolumns = layout->ncolumns;
	wire.nrows = batch->nrows;
	wire.nrecords = batch->nrecords;
	wire.nerrors = batch->nerrors;
	wire.nlines = batch->nlines;
	wire.nbytes = batch->nbytes;
	wire.file_offset = batch->file_offset;
	wire.file_records = batch->file_records;
	wire.file_lines = batch->file_lines;
	wire.consumed = batch->consumed;
	wire.alone_until = batch->alone_until;
	wire.skip_line = batch->skip_line;
	wire.copy_in_seconds = batch->copy_in_seconds;
	wire.parse_seconds = batch->parse_seconds;
	wire.copy_out_seconds = batch->copy_out_seconds;
	wire.structure_seconds = batch->structure_seconds;
	wire.device_seconds = batch->device_seconds;
	wire.answered = batch->answer != NULL;
	if (!place_of(finder, batch->bytes, batch->nbytes, &wire.bytes) ||
		!place_of(finder, batch->errors, batch->nerrors * sizeof(CsvError),
				  &wire.errors) ||
		!place_of(finder, batch->row_offsets, (size_t) nentries * 4,
				  &wire.row_offsets) ||
		!place_of(finder, batch->row_lines, (size_t) nentries * 4,
				  &wire.row_lines))
		return false;
	put(&message, &wire, sizeof(wire));
	if (batch->answer != NULL &&
		!encode_answer(batch->answer, query, finder, &message))
		return false;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		WireArray	array;

		if (!encode_array(&batch->arrays[i], nentries, finder, &array))
			return false;
		put(&message, &array, sizeof(array));
	}
	return true;
}

/* ---- receiving ---- */

/* the rest of a message; after the first error only zeros come */
typedef struct WireReader
{
	const uint8_t *message;
	size_t		nbytes;
	const CsvWireBlocks *blocks;
	bool		good;
} WireReader;

static void
expect(WireReader *reader, bool good)
{
	reader->good &= good;
}

/* the next part of the message; zeros if it is missing */
static void
get(WireReader *reader, void *part, size_t nbytes)
{
	expect(reader, reader->nbytes >= nbytes);
	if (!reader->good)
	{
		memset(part, 0, nbytes);
		return;
	}
	memcpy(part, reader->message, nbytes);
	reader->message += nbytes;
	reader->nbytes -= nbytes;
}

static bool
get_bool(WireReader *reader, uint8_t byte)
{
	expect(reader, byte <= 1);
	return byte == 1;
}

/* n entries of `width` bytes in a block; NULL: none, or the place is not valid */
static void *
find_place(WireReader *reader, const WirePlace *place, uint64_t n,
		   uint64_t width, uint32_t alignment)
{
	uint64_t	nbytes = n * width; /* both fit into 32 bits, or n is 1 */

	if (place->block == NO_BLOCK || nbytes == 0)
		return NULL;
	for (uint32_t i = 0; i < reader->blocks->nblocks; i++)
	{
		const CsvWireBlock *block = &reader->blocks->blocks[i];

		if (block->number == place->block && place->offset <= block->nbytes &&
			nbytes <= block->nbytes - place->offset &&
			(uintptr_t) (block->bytes + place->offset) % alignment == 0)
			return block->bytes + place->offset;
	}
	expect(reader, false);
	return NULL;
}

/* the same, if entries must have a place */
static void *
need_place(WireReader *reader, const WirePlace *place, uint64_t n,
		   uint64_t width, uint32_t alignment)
{
	void	   *found = find_place(reader, place, n, width, alignment);

	expect(reader, found != NULL || n * width == 0);
	return found;
}

static bool
has_distinct(const CsvQuery *query)
{
	for (uint32_t i = 0; i < query->naggregates; i++)
		if (query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
			return true;
	return false;
}

/* may_be_held: the engine may hold some of the groups */
static void
decode_groups(WireReader *reader, const CsvQuery *query, int64_t most_rows,
			  bool may_be_held, CsvPartialGroups *groups)
{
	CsvPartialLayout layout;
	WireGroups	wire;
	uint64_t	n;
	uint64_t	text_bytes;

	memset(groups, 0, sizeof(*groups));
	get(reader, &wire, sizeof(wire));
	n = wire.ngroups;
	if (n == 0)
		return;

	/* partial groups have no state for COUNT_DISTINCT */
	expect(reader, query->aggregates && !has_distinct(query));
	expect(reader, (int64_t) n <= (query->nkeys == 0 ? 1 : most_rows));
	if (!reader->good)
		return;
	csv_partial_lay_out(query, &layout);
	groups->ngroups = wire.ngroups;
	groups->keys = need_place(reader, &wire.keys, n, query->nkeys * 16, 8);
	groups->nulls = need_place(reader, &wire.nulls, n,
							   query->nkeys == 0 ? 0 : 4, 4);
	groups->words = need_place(reader, &wire.words, n,
							   (uint64_t) layout.nwords * 8, 8);
	groups->texts = need_place(reader, &wire.texts, 1, wire.text_bytes, 1);
	groups->held = find_place(reader, &wire.held, n, 4, 4);
	expect(reader, groups->held == NULL || may_be_held);
	expect(reader, reader->good &&
		   survey_groups(groups, query, &layout, most_rows, &text_bytes) &&
		   text_bytes <= wire.text_bytes);
}

bool
csv_wire_decode_groups(const uint8_t *message, size_t nbytes,
					   const CsvWireBlocks *blocks, const CsvQuery *query,
					   CsvPartialGroups *groups)
{
	WireReader	reader = {message, nbytes, blocks, true};

	decode_groups(&reader, query, MOST_HELD_ROWS, false, groups);
	return reader.good && reader.nbytes == 0;
}

/* rows must be ascending, and in the batch */
static bool
check_selection(const CsvSelection *selection, uint32_t nrows)
{
	for (uint32_t i = 0; i < selection->nrows; i++)
		if (selection->rows[i] >= nrows ||
			(i > 0 && selection->rows[i] <= selection->rows[i - 1]))
			return false;
	return (uint64_t) selection->nrows + selection->ndropped +
		selection->nbeyond <= nrows;
}

static void
decode_answer(WireReader *reader, const CsvQuery *query, uint32_t nrows,
			  CsvAnswer *answer)
{
	CsvSelection *selection = &answer->selection;
	WireAnswer	wire;

	memset(answer, 0, sizeof(*answer));
	get(reader, &wire, sizeof(wire));
	selection->nrows = wire.nrows;
	selection->rows = need_place(reader, &wire.rows, wire.nrows, 4, 4);
	selection->careful = need_place(reader, &wire.careful, wire.nrows, 1, 1);
	selection->any_careful = get_bool(reader, wire.any_careful);
	selection->ndropped = wire.ndropped;
	selection->nbeyond = wire.nbeyond;
	expect(reader, reader->good && check_selection(selection, nrows));
	answer->held = get_bool(reader, wire.held);
	expect(reader, !answer->held || (query->aggregates && query->nkeys > 0));
	decode_groups(reader, query, nrows, answer->held, &answer->groups);
}

bool
csv_wire_decode_answer(const uint8_t *message, size_t nbytes,
					   const CsvWireBlocks *blocks, const CsvQuery *query,
					   uint32_t nrows, CsvAnswer *answer)
{
	WireReader	reader = {message, nbytes, blocks, true};

	decode_answer(&reader, query, nrows, answer);
	return reader.good && reader.nbytes == 0;
}

/*
 * A stride of text depends on the longest value.  Arrays may be missing if no row
 * needs them, unless rows must be evaluated again.
 */
static void
decode_array(WireReader *reader, const CsvColumn *column, const CsvBatch *batch,
			 CsvArray *array)
{
	uint32_t	n = csv_batch_entries(batch);
	uint32_t	width = csv_value_stride(column);
	bool		may_be_hidden = csv_has_selected_rows(batch) &&
		!batch->answer->selection.any_careful;
	WireArray	wire;

	memset(array, 0, sizeof(*array));
	get(reader, &wire, sizeof(wire));
	array->stride = wire.stride;
	array->all_ok = get_bool(reader, wire.all_ok);
	array->any_slow = get_bool(reader, wire.any_slow);
	array->values = find_place(reader, &wire.values, n, wire.stride,
							   width == 0 || column->kind == CSV_KIND_NUMERIC ?
							   4 : width < 8 ? width : 8);
	array->status = find_place(reader, &wire.status, n, 1, 1);
	expect(reader, n == 0 || array->values != NULL || may_be_hidden);
	expect(reader, array->values == NULL ||
		   (width > 0 ? wire.stride == width :
			wire.stride >= 4 && wire.stride % 4 == 0));
	expect(reader, array->all_ok ? !array->any_slow :
		   n == 0 || array->status != NULL);
}

static bool
check_errors(const CsvBatch *batch, const CsvLayout *layout)
{
	uint32_t	row = 0;

	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		const CsvError *error = &batch->errors[i];

		if (error->before_row < row || error->before_row > batch->nrows ||
			error->record != (uint64_t) error->before_row + i ||
			error->line > batch->nlines || error->offset > batch->consumed ||
			error->length > batch->nbytes - error->offset ||
			error->mode >= CSV_NUM_MODES || error->code == CSV_ERROR_NONE ||
			error->code >= CSV_ERROR_BAD_VALUE ||
			(error->code > CSV_ERROR_COLUMN_COUNT &&
			 error->where >= layout->ncolumns))
			return false;
		row = error->before_row;
	}
	return true;
}

/* where rows are must be known if a reader may look into them */
static void
check_places(WireReader *reader, const CsvBatch *batch,
			 const CsvLayout *layout)
{
	uint32_t	n = csv_batch_entries(batch);
	bool		needed = layout->want_positions;
	uint32_t	last = 0;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		needed |= batch->arrays[i].any_slow;
	expect(reader, n == 0 || batch->row_offsets != NULL || !needed);
	expect(reader, (batch->row_offsets == NULL) == (batch->row_lines == NULL));
	if (!reader->good || batch->row_offsets == NULL)
		return;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	offset = CSV_ROW_OFFSET(batch->row_offsets[i]);

		last = offset > last ? offset : last;
	}
	expect(reader, last <= batch->consumed);
}

/* all numbers of a batch */
static void
decode_numbers(const WireBatch *wire, CsvBatch *batch)
{
	memset(batch, 0, sizeof(*batch));
	batch->nrows = wire->nrows;
	batch->nrecords = wire->nrecords;
	batch->nerrors = wire->nerrors;
	batch->nlines = wire->nlines;
	batch->nbytes = wire->nbytes;
	batch->file_offset = wire->file_offset;
	batch->file_records = wire->file_records;
	batch->file_lines = wire->file_lines;
	batch->consumed = wire->consumed;
	batch->alone_until = wire->alone_until;
	batch->copy_in_seconds = wire->copy_in_seconds;
	batch->parse_seconds = wire->parse_seconds;
	batch->copy_out_seconds = wire->copy_out_seconds;
	batch->structure_seconds = wire->structure_seconds;
	batch->device_seconds = wire->device_seconds;
}

/* a record has at least one byte, and so does a line break */
static bool
check_numbers(const CsvBatch *batch)
{
	return batch->nbytes <= INT32_MAX && batch->consumed <= batch->nbytes &&
		batch->nrecords <= batch->consumed && batch->nlines <= batch->consumed &&
		batch->nrecords == (uint64_t) batch->nrows + batch->nerrors;
}

bool
csv_wire_decode_batch(const uint8_t *message, size_t nbytes,
					  const CsvWireBlocks *blocks, const CsvLayout *layout,
					  const CsvQuery *query, CsvArray *arrays,
					  CsvAnswer *answer, CsvBatch *batch)
{
	WireReader	reader = {message, nbytes, blocks, true};
	WireBatch	wire;
	bool		answered;
	uint32_t	n;

	get(&reader, &wire, sizeof(wire));
	decode_numbers(&wire, batch);
	batch->skip_line = get_bool(&reader, wire.skip_line);
	answered = get_bool(&reader, wire.answered);
	expect(&reader, check_numbers(batch));
	expect(&reader, wire.ncolumns == layout->ncolumns);
	expect(&reader, !answered || query != NULL);
	expect(&reader, nbytes == csv_wire_batch_bytes(layout->ncolumns, answered));
	if (!reader.good)
		return false;

	/* the answer decides which rows have entries */
	if (answered)
	{
		decode_answer(&reader, query, batch->nrows, answer);
		batch->answer = answer;
	}
	n = csv_batch_entries(batch);
	batch->arrays = arrays;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		decode_array(&reader, &layout->columns[i], batch, &arrays[i]);
	batch->bytes = find_place(&reader, &wire.bytes, 1, wire.nbytes, 1);
	batch->errors = need_place(&reader, &wire.errors, wire.nerrors,
							   sizeof(CsvError), 8);
	batch->row_offsets = find_place(&reader, &wire.row_offsets, n, 4, 4);
	batch->row_lines = find_place(&reader, &wire.row_lines, n, 4, 4);
	expect(&reader, batch->bytes != NULL || batch->nbytes == 0 ||
		   !csv_batch_needs_bytes(batch, layout));
	check_places(&reader, batch, layout);
	return reader.good && check_errors(batch, layout);
}

/* ---- values ---- */

/*
 * Are the statuses as all_ok and any_slow promise?  OK, NULL and LONG are 0, 1 and 3,
 * so the bits of all statuses together show the greatest.
 */
static bool
check_statuses(const CsvArray *array, uint32_t n)
{
	uint8_t		most = array->all_ok ? CSV_VALUE_OK :
		array->any_slow ? CSV_VALUE_LONG : CSV_VALUE_NULL;
	uint64_t	found = 0;
	uint32_t	i = 0;

	if (array->status == NULL)
		return true;
	for (; n - i >= 8; i += 8)
		found |= csv_load8(array->status + i);
	for (; i < n; i++)
		found |= array->status[i];
	return (found & ~(most * UINT64_C(0x0101010101010101))) == 0;
}

/* a varlena with a plain 4-byte header, within its entry */
static inline bool
check_entry(const uint8_t *entry, uint32_t stride, uint8_t kind)
{
	uint32_t	header;
	uint32_t	nbytes;

	memcpy(&header, entry, 4);
	nbytes = header >> 2;
	if ((header & 3) != 0 || nbytes < 4 || nbytes > stride)
		return false;
	switch (kind)
	{
		case CSV_KIND_CSTRING:
			return nbytes < stride && entry[nbytes] == 0;
		case CSV_KIND_NUMERIC:
			/* the short format, and digits of two bytes */
			return nbytes >= 6 && nbytes % 2 == 0 && (entry[5] & 0xC0) == 0x80;
		default:
			return true;
	}
}

bool
csv_wire_check_values(const CsvBatch *batch, const CsvLayout *layout)
{
	uint32_t	n = csv_batch_entries(batch);

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		const CsvArray *array = &batch->arrays[c];
		uint8_t		kind = layout->columns[c].kind;
		const uint8_t *entry = array->values;

		if (!check_statuses(array, n))
			return false;
		if (array->values == NULL ||
			(kind != CSV_KIND_TEXT && kind != CSV_KIND_CSTRING &&
			 kind != CSV_KIND_NUMERIC))
			continue;
		for (uint32_t i = 0; i < n; i++, entry += array->stride)
			if ((array->all_ok || array->status[i] == CSV_VALUE_OK) &&
				!check_entry(entry, array->stride, kind))
				return false;
	}
	return true;
}
