/*
 * columns.c
 *		Fills the arrays of a batch from the structural index.
 */
#include "columns.h"

#include "../reader/arrays.h"
#include "../reader/convert.h"
#include "../reader/field.h"

/* list_positions() writes fewer than this many entries too many */
#define CSV_POSITIONS_MARGIN	16

/* up to this width, a column of text is as wide as its widest value */
#define CSV_NARROW_TEXT	128

/*
 * The cost of a LONG value is its number of bytes and this, because its record is read
 * again.  (Another engine may choose another cost.)
 */
#define LONG_VALUE_COST	1024

static bool
buffer_reserve(const CsvMemory *memory, CsvBuffer *buffer, size_t nbytes)
{
	nbytes += CSV_FILL_MARGIN;
	if (nbytes <= buffer->nbytes)
		return true;
	/* the next chunk may need a little more */
	return csv_renew(memory, &buffer->bytes, &buffer->nbytes, nbytes + nbytes / 4);
}

static void
buffer_free(const CsvMemory *memory, CsvBuffer *buffer)
{
	csv_free(memory, buffer->bytes);
	buffer->bytes = NULL;
	buffer->nbytes = 0;
}

/* may this byte be part of a number, date or other scalar, or of blanks around it? */
static bool
is_value_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
		(byte >= 'a' && byte <= 'z') || csv_is_space(byte) ||
		(byte != 0 && strchr("+-.,:", byte));
}

CsvStatus
csv_columns_configure(CsvColumns *columns, const CsvDialect *dialect,
					  const CsvLayout *layout)
{
	const CsvMemory *memory = columns->memory;

	columns->dialect = dialect;
	columns->layout = layout;
	columns->quote_in_values = is_value_byte(dialect->opt.quote) ||
		is_value_byte(dialect->opt.escape);
	if (layout->ncolumns > columns->ncolumns)
	{
		size_t		n = layout->ncolumns;

		csv_columns_free(columns);
		columns->arrays = memory->alloc(memory->owner, n * sizeof(CsvArray));
		columns->values = memory->alloc(memory->owner, n * sizeof(CsvBuffer));
		columns->status = memory->alloc(memory->owner, n * sizeof(CsvBuffer));
		if (columns->arrays == NULL || columns->values == NULL ||
			columns->status == NULL)
		{
			columns->ncolumns = 0;
			return CSV_NO_MEMORY;
		}
		memset(columns->values, 0, n * sizeof(CsvBuffer));
		memset(columns->status, 0, n * sizeof(CsvBuffer));
		columns->ncolumns = layout->ncolumns;
	}
	return CSV_OK;
}

void
csv_columns_free(CsvColumns *columns)
{
	const CsvMemory *memory = columns->memory;

	for (uint32_t i = 0; i < columns->ncolumns; i++)
	{
		buffer_free(memory, &columns->values[i]);
		buffer_free(memory, &columns->status[i]);
	}
	csv_free(memory, columns->arrays);
	csv_free(memory, columns->values);
	csv_free(memory, columns->status);
	columns->arrays = NULL;
	columns->values = NULL;
	columns->status = NULL;
	columns->ncolumns = 0;
	buffer_free(memory, &columns->positions);
	buffer_free(memory, &columns->left);
	buffer_free(memory, &columns->found);
	buffer_free(memory, &columns->row_code);
	buffer_free(memory, &columns->row_where);
	buffer_free(memory, &columns->errors);
	buffer_free(memory, &columns->row_offsets);
	buffer_free(memory, &columns->row_lines);
}

/* ---- a part of the rows ---- */

static CsvFinder
make_finder(const CsvColumns *columns, const CsvPart *part,
			const CsvColumn *column)
{
	const CsvIndex *index = columns->index;
	CsvFinder	finder;

	finder.records = index->records;
	finder.positions = part->positions;
	finder.bytes = index->input->bytes;
	finder.nbytes = index->input->nbytes;
	finder.bad = part->bad_rows.any ? part->bad_rows.codes : NULL;
	finder.nfields = columns->layout->nfields;
	finder.field = column->field;
	finder.uniform = !columns->layout->pad && !part->bad_rows.any &&
		column->field < columns->layout->nfields;
	finder.delimiter_length = csv_delimiter_length(&columns->dialect->opt);
	finder.trim_crs = columns->dialect->trim_crs;
	finder.trim = columns->dialect->opt.trim ? &columns->dialect->opt : NULL;

	/* make row * nfields the index, whatever the numbers of fields of earlier rows */
	if (finder.uniform && part->from < part->to)
		finder.positions += (int64_t) index->records[part->from].first_separator -
			(int64_t) part->from * finder.nfields;
	return finder;
}

static bool
is_text(const CsvColumn *column)
{
	return column->kind == CSV_KIND_TEXT || column->kind == CSV_KIND_CSTRING;
}

/* list the separators in [start, end), of any number; false if interrupted */
static bool
list_positions(const CsvColumns *columns, uint64_t start, uint64_t end,
			   uint32_t *positions)
{
	const CsvIndex *index = columns->index;

	while (start < end)
	{
		uint64_t	stop = end - start > CSV_ASK_BYTES ?
			start + CSV_ASK_BYTES : end;

		if (csv_interrupted(index->input))
			return false;
		positions = index->functions->list_positions(index, start, stop,
													 positions);
		start = stop;
	}
	return true;
}

/* ---- rows that are read leniently ---- */

/* the lenient rows of the part: entries [*from, *to) of the index's list */
static void
find_lenient_rows(const CsvIndex *index, const CsvPart *part, uint32_t *from,
				  uint32_t *to)
{
	*from = 0;
	while (*from < index->nlenient && index->lenient[*from] < part->from)
		(*from)++;
	*to = *from;
	while (*to < index->nlenient && index->lenient[*to] < part->to)
		(*to)++;
}

/* mark the lenient rows as bad, so that no loop reads their fields */
static void
hide_lenient_rows(const CsvColumns *columns, CsvPart *part)
{
	uint32_t	from;
	uint32_t	to;

	find_lenient_rows(columns->index, part, &from, &to);
	for (uint32_t i = from; i < to; i++)
		csv_fill_bad_row(&part->bad_rows, columns->index->lenient[i],
						 CSV_ERROR_TEXT_AFTER_QUOTE, 0);
}

/* make them rows again, with DOUBTFUL values that the consumer converts */
static void
doubt_lenient_rows(const CsvColumns *columns, CsvPart *part)
{
	const CsvIndexRecord *records = columns->index->records;
	const CsvLayout *layout = columns->layout;
	uint32_t	from;
	uint32_t	to;

	find_lenient_rows(columns->index, part, &from, &to);
	for (uint32_t i = from; i < to; i++)
	{
		uint32_t	row = columns->index->lenient[i];
		uint32_t	nfields = records[row + 1].first_separator -
			records[row].first_separator;

		part->bad_rows.codes[row] = CSV_ERROR_NONE;
		for (uint32_t c = 0; c < layout->ncolumns; c++)
		{
			const CsvArray *array = &columns->arrays[c];
			bool		is_there = layout->columns[c].field < nfields;

			memset(array->values + (size_t) row * array->stride, 0, array->stride);
			array->status[row] = is_there ? CSV_VALUE_DOUBTFUL : CSV_VALUE_NULL;
			part->found[c].any_not_ok = true;
			part->found[c].any_slow |= is_there;
		}
	}
}

/* ---- filling ---- */

/*
 * Check the number of fields of each record, list the separators, and measure the
 * widest values of text columns.  Returns false if interrupted.
 */
static bool
survey_part(const CsvColumns *columns, CsvPart *part)
{
	const CsvIndex *index = columns->index;
	const CsvIndexRecord *records = index->records;
	const CsvLayout *layout = columns->layout;

	for (uint32_t c = 0; c < layout->ncolumns; c++)
		part->found[c].widest = 0;
	if (!layout->pad)
		for (uint32_t row = part->from; row < part->to; row++)
		{
			uint32_t	nfields = records[row + 1].first_separator -
				records[row].first_separator;

			if (nfields != layout->nfields)
				csv_fill_bad_row(&part->bad_rows, row, CSV_ERROR_COLUMN_COUNT,
								 nfields);
		}
	if (layout->ncolumns == 0 || part->from == part->to)
		return true;
	if (index->nlenient > 0)
		hide_lenient_rows(columns, part);

	/* the last record may end with the input, without a byte for it */
	if (!list_positions(columns, records[part->from].start,
						part->to < index->nrecords ?
						records[part->to].start : index->pos + 1,
						part->positions +
						records[part->from].first_separator))
		return false;
	for (uint32_t c = 0; c < layout->ncolumns; c++)
		if (is_text(&layout->columns[c]))
		{
			CsvFinder	finder = make_finder(columns, part,
											 &layout->columns[c]);

			part->found[c].widest = columns->functions->widest(&finder,
															   part->from,
															   part->to);
		}
	return true;
}

/* fill the arrays of a part; false if interrupted */
static bool
fill_part(const CsvColumns *columns, CsvPart *part)
{
	const CsvLayout *layout = columns->layout;

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		const CsvColumn *column = &layout->columns[c];
		const CsvArray *array = &columns->arrays[c];
		CsvFill		fill;

		if (csv_interrupted(columns->index->input))
			return false;
		memset(&fill, 0, sizeof(fill));
		fill.finder = make_finder(columns, part, column);
		fill.index = columns->index;
		fill.dialect = columns->dialect;
		fill.layout = layout;
		fill.column = column;
		fill.number = c;
		fill.quote_in_values = columns->quote_in_values;
		fill.values = array->values;
		fill.status = array->status;
		fill.stride = array->stride;
		fill.bad_rows = &part->bad_rows;

		/*
		 * A row with an error in an earlier field is not read any more.  But another
		 * column of the same field may have an error that comes first.
		 */
		if (c > 0 && layout->columns[c - 1].field == column->field)
			fill.finder.bad = NULL;
		csv_fill(&fill, columns->functions, part->from, part->to,
				 columns->index->nrecords, part->left);
		part->found[c].any_not_ok = fill.any_not_ok;
		part->found[c].any_slow = fill.any_slow;
	}
	if (layout->ncolumns > 0 && columns->index->nlenient > 0)
		doubt_lenient_rows(columns, part);
	return true;
}

/* ---- strides ---- */

/*
 * The width with the least cost: bytes of the array, and costs of the values that are
 * LONG with that width.  Candidates are the widest value and the powers of two; lengths
 * are counted by powers of two.
 */
static uint64_t
best_width(const CsvColumns *columns, const CsvColumn *column, uint64_t widest)
{
	uint64_t	nrows = columns->index->nrecords;
	uint64_t	count[64] = {0};
	uint64_t	total[64] = {0};
	uint64_t	best = widest;
	uint64_t	best_cost = widest * nrows;
	uint64_t	long_bytes = 0;
	uint64_t	long_count = 0;

	for (uint32_t i = 0; i < columns->nparts; i++)
	{
		const CsvPart *part = &columns->parts[i];
		const CsvFinder finder = make_finder(columns, part, column);

		for (uint32_t row = part->from; row < part->to; row++)
		{
			uint64_t	nbytes = csv_field_bytes(&finder, row);
			int			bucket;

			if (nbytes <= 32)
				continue;		/* never better as LONG */
			bucket = 64 - __builtin_clzll(nbytes - 1);
			count[bucket]++;
			total[bucket] += nbytes;
		}
	}
	for (int bucket = 63; bucket >= 5; bucket--)
	{
		uint64_t	width = UINT64_C(1) << bucket;

		/* values of up to 2^bucket bytes fit; longer values would be LONG */
		if (width < widest)
		{
			uint64_t	cost = width * nrows + long_bytes +
				LONG_VALUE_COST * long_count;

			if (cost < best_cost)
			{
				best_cost = cost;
				best = width;
			}
		}
		long_bytes += total[bucket];
		long_count += count[bucket];
	}
	return best;
}

/*
 * The stride of a text array: enough for the widest value, unless that costs more than
 * to make a few wide values LONG.
 */
static uint32_t
text_stride(const CsvColumns *columns, uint32_t number)
{
	const CsvColumn *column = &columns->layout->columns[number];
	uint64_t	width = 0;

	for (uint32_t i = 0; i < columns->nparts; i++)
	{
		uint64_t	widest = columns->parts[i].found[number].widest;

		width = widest > width ? widest : width;
	}
	if (width > CSV_NARROW_TEXT)
		width = best_width(columns, column, width);

	if (column->pad_blanks && column->kind == CSV_KIND_TEXT)
	{
		/* blanks are added to values that may have more bytes than characters */
		width += (uint64_t) column->type_chars;
		if (width > 4 * (uint64_t) column->type_chars)
			width = 4 * (uint64_t) column->type_chars;
	}
	if (column->byte_width >= 0 && width > (uint64_t) column->byte_width &&
		!column->pad_blanks)
		width = (uint64_t) column->byte_width;
	width += column->kind == CSV_KIND_CSTRING;
	return (uint32_t) (4 + (width + 3) / 4 * 4);
}

/* ---- the batch ---- */

/* merge the errors of structure and the errors of rows, in record order */
static CsvStatus
list_errors(CsvColumns *columns, CsvBatch *batch)
{
	const CsvIndex *index = columns->index;
	const uint8_t *codes = columns->row_code.bytes;
	const uint32_t *wheres = (const uint32_t *) columns->row_where.bytes;
	const CsvIndexRecord *records = index->records;
	uint32_t	nerrors = index->nerrors;
	uint32_t	taken = 0;		/* errors of structure already merged */
	uint32_t	good = 0;
	CsvError   *next;

	if (!columns->any_bad_row)
	{
		batch->errors = index->errors;
		batch->nerrors = index->nerrors;
		batch->nrows = index->nrecords;
		return CSV_OK;
	}

	for (uint32_t row = 0; row < index->nrecords; row++)
		nerrors += codes[row] != CSV_ERROR_NONE;
	if (!buffer_reserve(columns->memory, &columns->errors,
						nerrors * sizeof(CsvError)))
		return CSV_NO_MEMORY;
	next = (CsvError *) columns->errors.bytes;
	for (uint32_t row = 0; row <= index->nrecords; row++)
	{
		uint64_t	separator;

		while (taken < index->nerrors && index->errors[taken].before_row <= row)
		{
			*next = index->errors[taken++];
			next->before_row = good;
			next++;
		}
		if (row == index->nrecords)
			break;
		if (codes[row] == CSV_ERROR_NONE)
		{
			good++;
			continue;
		}
		separator = csv_select_from(index->separators, records[row].start,
									records[row + 1].first_separator -
									records[row].first_separator - 1);
		next->offset = records[row].start;
		next->length = csv_content_end(columns->dialect, index->input->bytes,
									   records[row].start, separator,
									   index->input->nbytes) -
			records[row].start;
		next->record = row + taken;
		next->line = records[row].line;
		next->before_row = good;
		next->code = codes[row];
		next->mode = CSV_NORMAL;
		next->where = wheres[row];
		next++;
	}
	batch->errors = (CsvError *) columns->errors.bytes;
	batch->nerrors = nerrors;
	batch->nrows = good;
	return CSV_OK;
}

/* remove the bad rows from the arrays */
static void
close_up(CsvColumns *columns)
{
	const uint8_t *codes = columns->row_code.bytes;

	for (uint32_t c = 0; c < columns->layout->ncolumns; c++)
	{
		CsvArray   *array = &columns->arrays[c];
		uint32_t	good = 0;

		for (uint32_t row = 0; row < columns->index->nrecords; row++)
		{
			if (codes[row] != CSV_ERROR_NONE)
				continue;
			if (good != row)
			{
				memcpy(array->values + (size_t) good * array->stride,
					   array->values + (size_t) row * array->stride,
					   array->stride);
				array->status[good] = array->status[row];
			}
			good++;
		}
	}
}

static CsvStatus
list_rows(CsvColumns *columns, CsvBatch *batch)
{
	const CsvIndex *index = columns->index;
	const uint8_t *codes = columns->row_code.bytes;
	uint32_t	good = 0;
	uint32_t	lenient = 0;	/* next entry of the index's list */

	if (!buffer_reserve(columns->memory, &columns->row_offsets,
						batch->nrows * sizeof(uint32_t)) ||
		!buffer_reserve(columns->memory, &columns->row_lines,
						batch->nrows * sizeof(uint32_t)))
		return CSV_NO_MEMORY;
	batch->row_offsets = (uint32_t *) columns->row_offsets.bytes;
	batch->row_lines = (uint32_t *) columns->row_lines.bytes;
	for (uint32_t row = 0; row < index->nrecords; row++)
	{
		if (columns->any_bad_row && codes[row] != CSV_ERROR_NONE)
			continue;
		batch->row_offsets[good] = index->records[row].start;
		if (lenient < index->nlenient && index->lenient[lenient] == row)
		{
			batch->row_offsets[good] |= CSV_ROW_LENIENT;
			lenient++;
		}
		batch->row_lines[good] = index->records[row].line;
		good++;
	}
	return CSV_OK;
}

/* memory for the survey: everything that depends only on the number of rows */
static bool
reserve_parts(CsvColumns *columns)
{
	const CsvMemory *memory = columns->memory;
	const CsvIndex *index = columns->index;
	uint32_t	nrows = index->nrecords;
	uint32_t	ncolumns = columns->layout->ncolumns;

	if (!buffer_reserve(memory, &columns->row_code, nrows) ||
		!buffer_reserve(memory, &columns->row_where,
						nrows * sizeof(uint32_t)) ||
		!buffer_reserve(memory, &columns->left, nrows * sizeof(uint32_t)) ||
		!buffer_reserve(memory, &columns->found, (size_t) columns->nparts *
						ncolumns * sizeof(CsvFound)) ||
		(ncolumns > 0 &&
		 !buffer_reserve(memory, &columns->positions,
						 (index->nseparators + (size_t) columns->nparts *
						  CSV_POSITIONS_MARGIN) * sizeof(uint32_t))))
		return false;
	for (uint32_t i = 0; i < columns->nparts; i++)
	{
		CsvPart    *part = &columns->parts[i];

		part->from = (uint32_t) ((uint64_t) nrows * i / columns->nparts);
		part->to = (uint32_t) ((uint64_t) nrows * (i + 1) / columns->nparts);
		part->bad_rows.codes = columns->row_code.bytes;
		part->bad_rows.wheres = (uint32_t *) columns->row_where.bytes;
		part->bad_rows.from = part->from;
		part->bad_rows.to = part->to;
		part->bad_rows.any = false;
		part->positions = ncolumns == 0 ? NULL :
			(uint32_t *) columns->positions.bytes +
			(size_t) i * CSV_POSITIONS_MARGIN;
		part->left = (uint32_t *) columns->left.bytes + part->from;
		part->found = (CsvFound *) columns->found.bytes +
			(size_t) i * ncolumns;
	}
	return true;
}

/* memory for the arrays; their strides are known after the survey */
static bool
reserve_arrays(CsvColumns *columns)
{
	const CsvMemory *memory = columns->memory;
	const CsvLayout *layout = columns->layout;
	uint32_t	nrows = columns->index->nrecords;

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		CsvArray   *array = &columns->arrays[c];

		array->stride = is_text(&layout->columns[c]) ?
			text_stride(columns, c) : csv_value_stride(&layout->columns[c]);
		if (!buffer_reserve(memory, &columns->values[c],
							(size_t) nrows * array->stride) ||
			!buffer_reserve(memory, &columns->status[c], nrows))
			return false;
		array->values = columns->values[c].bytes;
		array->status = columns->status[c].bytes;
	}
	return true;
}

/* join the findings of all parts; a part without bad rows has not set its codes */
static void
join_parts(CsvColumns *columns)
{
	const CsvLayout *layout = columns->layout;

	columns->any_bad_row = false;
	columns->any_slow = false;
	for (uint32_t i = 0; i < columns->nparts; i++)
		columns->any_bad_row |= columns->parts[i].bad_rows.any;
	for (uint32_t i = 0; columns->any_bad_row && i < columns->nparts; i++)
	{
		const CsvPart *part = &columns->parts[i];

		if (!part->bad_rows.any)
			memset(columns->row_code.bytes + part->from, CSV_ERROR_NONE,
				   part->to - part->from);
	}
	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		CsvArray   *array = &columns->arrays[c];

		array->all_ok = true;
		array->any_slow = false;
		for (uint32_t i = 0; i < columns->nparts; i++)
		{
			array->all_ok &= !columns->parts[i].found[c].any_not_ok;
			array->any_slow |= columns->parts[i].found[c].any_slow;
		}
		columns->any_slow |= array->any_slow;
	}
}

CsvStatus
csv_columns_build(CsvColumns *columns, const CsvIndex *index, uint32_t nparts,
				  CsvBatch *batch)
{
	CsvStatus	status;

	columns->index = index;
	columns->nparts = nparts;
	if (!reserve_parts(columns))
		return CSV_NO_MEMORY;
	for (uint32_t i = 0; i < nparts; i++)
		if (!survey_part(columns, &columns->parts[i]))
			return CSV_INTERRUPTED;
	if (!reserve_arrays(columns))
		return CSV_NO_MEMORY;
	for (uint32_t i = 0; i < nparts; i++)
		if (!fill_part(columns, &columns->parts[i]))
			return CSV_INTERRUPTED;
	join_parts(columns);

	status = list_errors(columns, batch);
	if (status != CSV_OK)
		return status;
	if (columns->any_bad_row)
		close_up(columns);
	if (columns->layout->want_positions || columns->any_slow)
	{
		status = list_rows(columns, batch);
		if (status != CSV_OK)
			return status;
	}
	batch->arrays = columns->arrays;
	batch->nrecords = batch->nrows + batch->nerrors;
	return CSV_OK;
}
