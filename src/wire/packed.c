/*
 * packed.c
 *		Batches for other processes: see packed.h.
 *
 * visit_parts() has the list of everything that a batch points to.
 */
#include "packed.h"

#include <string.h>

#include "../query/group_state.h"
#include "../query/plan.h"
#include "../reader/convert.h"
#include "../reader/footer.h"
#include "../reader/words.h"

/* of groups: more than the rows of any file */
#define MOST_GROUP_ROWS	(INT64_C(1) << 48)

/* as in PostgreSQL's results */
#define MOST_COLUMNS		1664

/* of numeric(n) */
#define MOST_NUMERIC_DIGITS	1000

/* may the value be used as a bool? */
static inline bool
is_bool(const bool *value)
{
	uint8_t		byte;

	memcpy(&byte, value, 1);
	return byte <= 1;
}

/* ---- dialects and layouts ---- */

static bool
is_bounded(const CsvColumn *column, const CsvLayout *layout)
{
	return column->kind < CSV_NUM_KINDS &&
		(column->field < layout->nfields ||
		 column->field == CSV_ABSENT_FIELD) &&
		column->precision <= MOST_NUMERIC_DIGITS &&
		column->scale >= 0 && column->scale <= MOST_NUMERIC_DIGITS &&
		column->nulls_from <= column->nulls_to &&
		column->nulls_to <= layout->null_values_length &&
		memchr(column->pattern, CSV_STEP_END, CSV_PATTERN_STEPS) != NULL;
}

bool
csv_are_bounded(const CsvDialectOptions *dialect, const CsvLayout *layout)
{
	if (dialect->delimiter_rest_length > CSV_DELIMITER_REST_BYTES ||
		dialect->comment_length > CSV_COMMENT_BYTES ||
		dialect->quoting > CSV_QUOTING_TEXT ||
		dialect->boundary > CSV_BOUNDARY_CR ||
		dialect->footer_rows > CSV_MAX_FOOTER_ROWS ||
		layout->nfields < 1 || layout->nfields > CSV_MAX_FIELDS ||
		layout->ncolumns > MOST_COLUMNS)
		return false;
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		if (!is_bounded(&layout->columns[i], layout))
			return false;
	return true;
}

/* ---- the parts of a batch ---- */

/* returns the pointer to the same bytes for the other side, or NULL */
typedef void *(*ConvertFn) (void *arg, void *pointer, uint64_t nbytes,
							uint32_t alignment);

typedef struct Visit
{
	ConvertFn	convert;
	void	   *arg;
} Visit;

/* a pointer to n entries of `size` bytes */
typedef struct BatchPart
{
	void	   *pointer;		/* where it is */
	uint64_t	n;
	uint64_t	size;
	bool		must_be;		/* it is not NULL if there are entries */
} BatchPart;

/* convert the pointer of a part; without entries it becomes NULL */
static bool
visit(const Visit *visit, BatchPart part)
{
	uint64_t	nbytes = part.n * part.size;	/* both fit into 32 bits, or one is 1 */
	uint64_t	alignment = part.size & -part.size;
	void	   *pointer;

	memcpy(&pointer, part.pointer, sizeof(pointer));
	if (nbytes == 0)
		pointer = NULL;
	else if (pointer == NULL)
		return !part.must_be;
	else
	{
		pointer = visit->convert(visit->arg, pointer, nbytes,
								 alignment < 8 ? (uint32_t) alignment : 8);
		if (pointer == NULL)
			return false;
	}
	memcpy(part.pointer, &pointer, sizeof(pointer));
	return true;
}

/*
 * Visit each part of a batch, its answer and their groups.  All numbers are set.  False:
 * a pointer could not be converted.
 */
static bool
visit_parts(CsvPacked *packed, CsvArray *arrays, uint32_t ncolumns,
			const CsvQuery *query, Visit how)
{
	CsvBatch   *batch = &packed->batch;
	CsvSelection *selection = &packed->answer.selection;
	CsvPartialGroups *groups = &packed->answer.groups;
	uint32_t	nentries = csv_batch_entries(batch);
	uint32_t	nkeys = query != NULL ? query->nkeys : 0;
	CsvPartialLayout layout = {0};

	if (groups->ngroups > 0)
		csv_partial_lay_out(query, &layout);

	const BatchPart parts[] = {
		{&batch->bytes, batch->nbytes, 1, false},
		{&batch->errors, batch->nerrors, sizeof(CsvError), true},
		{&batch->row_offsets, nentries, sizeof(uint32_t), false},
		{&batch->row_lines, nentries, sizeof(uint32_t), false},
		{&batch->records, batch->nkept, sizeof(CsvKeptRecord), true},
		{&selection->rows, selection->nrows, sizeof(uint32_t), true},
		{&selection->careful, selection->nrows, 1, true},
		{&groups->keys, groups->ngroups, 2 * sizeof(uint64_t) * nkeys, true},
		{&groups->nulls, nkeys > 0 ? groups->ngroups : 0, sizeof(uint32_t), true},
		{&groups->words, groups->ngroups, sizeof(int64_t) * layout.nwords, true},
		{&groups->texts, packed->text_bytes, 1, true},
		{&groups->held, groups->ngroups, sizeof(uint32_t), false}
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!visit(&how, parts[i]))
			return false;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (!visit(&how, (BatchPart) {&arrays[i].values, nentries, arrays[i].stride, false}) ||
			!visit(&how, (BatchPart) {&arrays[i].status, nentries, 1, false}))
			return false;
	return true;
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
 * number of rows is not valid.
 */
static bool
survey_groups(const CsvPartialGroups *groups, const CsvQuery *query,
			  uint64_t *text_bytes)
{
	CsvPartialLayout layout;

	*text_bytes = 0;
	if (groups->ngroups == 0)
		return true;
	csv_partial_lay_out(query, &layout);
	for (uint32_t g = 0; g < groups->ngroups; g++)
	{
		const uint64_t *keys = groups->keys + (size_t) g * query->nkeys * 2;
		const int64_t *words = groups->words + (size_t) g * layout.nwords;

		for (uint32_t i = 0; i < query->nkeys; i++)
			if (query->keys[i].lane == CSV_LANE_TEXT &&
				(groups->nulls[g] >> i & 1) == 0 &&
				!reach_text(keys + 2 * i, text_bytes))
				return false;
		for (uint32_t i = 0; i < layout.ninputs; i++)
			if (words[i] < 0 || words[i] > MOST_GROUP_ROWS)
				return false;
		for (uint32_t i = 0; i < query->naggregates; i++)
		{
			const CsvAggregate *aggregate = &query->aggregate[i];

			if (csv_is_extreme(aggregate) &&
				aggregate->lane == CSV_LANE_TEXT &&
				words[layout.input[i]] != 0 &&
				!reach_text((const uint64_t *) words + layout.first_word[i],
							text_bytes))
				return false;
		}
	}
	return true;
}

/* ---- sending ---- */

static void *
pack_pointer(void *arg, void *pointer, uint64_t nbytes, uint32_t alignment)
{
	const CsvPacker *packer = arg;

	(void) alignment;
	return packer->pack(packer->arg, pointer, nbytes);
}

bool
csv_pack(const CsvBatch *batch, uint32_t ncolumns, const CsvQuery *query,
		 const CsvPacker *packer, CsvPacked *packed)
{
	memset(packed, 0, sizeof(*packed));
	packed->batch = *batch;
	packed->batch.note = NULL;
	packed->batch.arrays = NULL;
	if (ncolumns > 0)
		memcpy(packed->arrays, batch->arrays, ncolumns * sizeof(CsvArray));
	if (batch->answer != NULL)
	{
		packed->answer = *batch->answer;
		if (packed->answer.is_whole || query == NULL ||
			!survey_groups(&packed->answer.groups, query, &packed->text_bytes))
			return false;
	}
	return visit_parts(packed, packed->arrays, ncolumns, query,
					   (Visit) {pack_pointer, (void *) (uintptr_t) packer});
}

/* ---- receiving ---- */

static void *
unpack_pointer(void *arg, void *pointer, uint64_t nbytes, uint32_t alignment)
{
	const CsvBlocks *blocks = arg;
	uint64_t	number = (uintptr_t) pointer / CSV_MOST_BLOCK_BYTES;
	uint64_t	offset = (uintptr_t) pointer % CSV_MOST_BLOCK_BYTES;
	const CsvBlock *block;

	if (number == 0 || number > blocks->nblocks)
		return NULL;
	block = &blocks->blocks[number - 1];
	return offset <= block->nbytes && nbytes <= block->nbytes - offset &&
		(uintptr_t) (block->bytes + offset) % alignment == 0 ?
		block->bytes + offset : NULL;
}

/* before they are used as bools; in answers of threads there is more */
static bool
check_bools(const CsvPacked *packed, const CsvArray *arrays, uint32_t ncolumns)
{
	for (uint32_t i = 0; i < ncolumns; i++)
		if (!is_bool(&arrays[i].all_ok) || !is_bool(&arrays[i].any_slow))
			return false;
	return is_bool(&packed->batch.skip_line) &&
		is_bool(&packed->batch.is_resident) &&
		is_bool(&packed->answer.selection.any_careful) &&
		is_bool(&packed->answer.held) &&
		is_bool(&packed->answer.is_whole) && !packed->answer.is_whole;
}

/* before pointers are used; partial groups have no state for COUNT_DISTINCT */
static bool
check_numbers(const CsvBatch *batch, const CsvAnswer *answer,
			  const CsvQuery *query)
{
	const CsvSelection *selection = &answer->selection;
	uint32_t	ngroups = answer->groups.ngroups;

	if (batch->nbytes > INT32_MAX || batch->consumed > batch->nbytes ||
		batch->nrecords != (uint64_t) batch->nrows + batch->nerrors)
		return false;
	if (batch->answer == NULL)
		return true;
	if (query == NULL ||
		(uint64_t) selection->nrows + selection->ndropped + selection->nbeyond >
		batch->nrows ||
		((ngroups > 0 || answer->held) && !query->aggregates) ||
		(answer->held && query->nkeys == 0) || (ngroups > 1 && query->nkeys == 0))
		return false;
	for (uint32_t i = 0; i < query->naggregates && ngroups > 0; i++)
		if (query->aggregate[i].kind == CSV_AGGREGATE_COUNT_DISTINCT)
			return false;
	return true;
}

/* rows must be ascending, and in the batch */
static bool
check_answer(const CsvPacked *packed, const CsvQuery *query)
{
	const CsvSelection *selection = &packed->answer.selection;
	const CsvPartialGroups *groups = &packed->answer.groups;
	uint64_t	text_bytes;

	for (uint32_t i = 0; i < selection->nrows; i++)
		if (selection->rows[i] >= packed->batch.nrows ||
			(i > 0 && selection->rows[i] <= selection->rows[i - 1]))
			return false;
	return (groups->held == NULL || packed->answer.held) &&
		survey_groups(groups, query, &text_bytes) &&
		text_bytes <= packed->text_bytes;
}

/*
 * A stride of text depends on the longest value.  Arrays may be missing if no row
 * needs them, unless rows must be evaluated again.
 */
static bool
check_array(const CsvArray *array, const CsvColumn *column, const CsvBatch *batch)
{
	uint32_t	n = csv_batch_entries(batch);
	uint32_t	width = csv_value_stride(column);
	bool		may_be_hidden = csv_has_selected_rows(batch) &&
		!batch->answer->selection.any_careful;

	return (n == 0 || array->values != NULL || may_be_hidden) &&
		(array->values == NULL ||
		 (width > 0 ? array->stride == width :
		  array->stride >= 4 && array->stride % 4 == 0)) &&
		(array->all_ok ? !array->any_slow : n == 0 || array->status != NULL);
}

/* the offsets of a kept batch are looked up when they are needed */
static bool
check_errors(const CsvBatch *batch, const CsvLayout *layout)
{
	uint32_t	row = 0;

	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		const CsvError *error = &batch->errors[i];

		if (error->before_row < row || error->before_row > batch->nrows ||
			error->record != (uint64_t) error->before_row + i ||
			(!batch->is_resident && (error->offset > batch->consumed ||
								 error->length > batch->nbytes - error->offset)) ||
			error->mode >= CSV_NUM_MODES || error->code == CSV_ERROR_NONE ||
			error->code >= CSV_ERROR_BAD_VALUE ||
			(error->code > CSV_ERROR_COLUMN_COUNT &&
			 error->where >= layout->ncolumns))
			return false;
		row = error->before_row;
	}
	return true;
}

/* the offsets of rows, which must be known if a reader may look into them */
static bool
check_offsets(const CsvBatch *batch, const CsvLayout *layout)
{
	uint32_t	n = csv_batch_entries(batch);
	bool		needed = layout->want_positions;
	uint32_t	last = 0;

	for (uint32_t i = 0; i < layout->ncolumns; i++)
		needed |= batch->arrays[i].any_slow;
	if ((batch->row_offsets == NULL) != (batch->row_lines == NULL) ||
		(n > 0 && needed && batch->row_offsets == NULL))
		return false;
	for (uint32_t i = 0; i < n && batch->row_offsets != NULL && !batch->is_resident; i++)
	{
		uint32_t	offset = CSV_ROW_OFFSET(batch->row_offsets[i]);

		last = offset > last ? offset : last;
	}
	return last <= batch->consumed;
}

bool
csv_unpack(const void *bytes, size_t nbytes, const CsvBlocks *blocks,
		   const CsvLayout *layout, const CsvQuery *query, CsvArray *arrays,
		   CsvAnswer *answer, CsvBatch *batch)
{
	uint32_t	ncolumns = layout->ncolumns;
	CsvPacked	packed;

	if (nbytes != csv_packed_bytes(ncolumns))
		return false;
	memcpy(&packed, bytes, sizeof(packed));
	if (ncolumns > 0)
		memcpy(arrays, (const uint8_t *) bytes + sizeof(packed),
			   ncolumns * sizeof(CsvArray));
	if (packed.batch.answer == NULL)
	{
		memset(&packed.answer, 0, sizeof(packed.answer));
		packed.text_bytes = 0;
	}
	else
		packed.batch.answer = &packed.answer;
	packed.batch.arrays = arrays;
	packed.batch.note = NULL;
	packed.answer.groups.made = NULL;
	if (!check_bools(&packed, arrays, ncolumns) ||
		!check_numbers(&packed.batch, &packed.answer, query) ||
		!visit_parts(&packed, arrays, ncolumns, query,
					 (Visit) {unpack_pointer, (void *) (uintptr_t) blocks}) ||
		!check_answer(&packed, query))
		return false;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (!check_array(&arrays[i], &layout->columns[i], &packed.batch))
			return false;
	if (!check_errors(&packed.batch, layout) ||
		!check_offsets(&packed.batch, layout) ||
		(packed.batch.bytes == NULL && packed.batch.nbytes > 0 &&
		 (packed.batch.is_resident || csv_batch_needs_bytes(&packed.batch, layout))))
		return false;
	*batch = packed.batch;
	if (batch->answer != NULL)
	{
		*answer = packed.answer;
		batch->answer = answer;
	}
	return true;
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
csv_check_values(const CsvBatch *batch, const CsvLayout *layout)
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
