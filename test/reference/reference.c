/*
 * reference.c
 *		CSV as the specification says it, one byte at a time.
 *
 *	1. A byte-order mark is dropped, and the boundary found out.
 *	2. read_record() runs the machine from the start of a line to the end of
 *	   its record, and puts each field's value together on the way.
 *	   Of COPY's text format, it is the field's bytes when they are all there.
 *	3. read_next() applies the repair rule: where a record has
 *	   an error of quoting or length, only its first line is passed over and
 *	   lines in the window of the record are read alone.  Where quoting is lenient,
 *	   a line with a quoting error is read once more (read_leniently).
 *	4. Good records are counted and checked field by field.
 */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory: blocks that are freed together ---- */

#define REF_BLOCK_BYTES		(32 * 1024)

typedef struct RefBlock
{
	struct RefBlock *next;
	size_t		used;
	size_t		nbytes;
	uint64_t	bytes[];
} RefBlock;

static void *
ref_alloc(RefResult *result, size_t nbytes)
{
	RefBlock   *block = result->blocks;
	void	   *memory;

	nbytes = (nbytes + 7) & ~(size_t) 7;
	if (block == NULL || block->nbytes - block->used < nbytes)
	{
		size_t		size = nbytes > REF_BLOCK_BYTES ? nbytes : REF_BLOCK_BYTES;

		block = malloc(sizeof(RefBlock) + size);
		if (block == NULL)
		{
			fprintf(stderr, "reference: out of memory\n");
			abort();
		}
		block->next = result->blocks;
		block->used = 0;
		block->nbytes = size;
		result->blocks = block;
	}
	memory = (uint8_t *) block->bytes + block->used;
	block->used += nbytes;
	return memory;
}

/* room for one more item of an array that doubles */
static void *
ref_grow(RefResult *result, void *items, uint64_t count, uint64_t *capacity,
		 size_t item_bytes)
{
	void	   *grown;

	if (count < *capacity)
		return items;
	*capacity = *capacity == 0 ? 16 : *capacity * 2;
	grown = ref_alloc(result, *capacity * item_bytes);
	if (count > 0)
		memcpy(grown, items, count * item_bytes);
	return grown;
}

/* ---- one record ---- */

typedef struct RefField
{
	uint64_t	start;			/* its content, quotes and escapes included */
	uint64_t	end;
	uint64_t	separator;		/* the first byte behind it that is none of it */
	uint64_t	value;			/* its value in RefRecord.text ... */
	uint64_t	value_bytes;	/* ... and length */
	bool		quoted;			/* some part of it was in quotes */
	bool		inner;			/* a quote or escape other than the quotes
								 * around the whole */
	bool		blank_after_quote;	/* and nothing else so far */
} RefField;

typedef struct RefRecord
{
	bool		blank;			/* a blank line that is no record */
	bool		bad;
	bool		lenient;		/* read_leniently() has read it */
	bool		endless;		/* not read to its end: too long anyhow */
	uint8_t		last_state;
	uint64_t	start;
	uint64_t	end;			/* without the boundary */
	uint64_t	next;
	uint64_t	nbreaks;		/* line breaks, that of its end included */
	uint64_t	nfields;
	RefField   *fields;
	uint64_t	field_capacity;
	uint8_t    *text;
	uint64_t	text_bytes;
	uint64_t	text_capacity;
} RefRecord;

typedef struct RefReader
{
	RefResult  *result;
	const CsvDialect *dialect;
	const uint8_t *bytes;		/* after the byte-order mark */
	uint64_t	nbytes;
	bool		has_footer;		/* the file goes on after them */
	uint64_t	max_record_bytes;

	/* how far it is */
	uint64_t	pos;
	uint64_t	lines;			/* line breaks before it */
	uint64_t	alone_until;	/* lines from before it are read alone */
	uint64_t	bom_bytes;		/* of the file, before `bytes` */
	uint64_t	row_capacity;
	uint64_t	error_capacity;
	RefRecord	record;
} RefReader;

static void
emit(RefReader *reader, uint8_t byte)
{
	RefRecord  *record = &reader->record;

	record->text = ref_grow(reader->result, record->text, record->text_bytes,
							&record->text_capacity, 1);
	record->text[record->text_bytes++] = byte;
}

static RefField *
begin_field(RefReader *reader, uint64_t start)
{
	RefRecord  *record = &reader->record;
	RefField   *field;

	record->fields = ref_grow(reader->result, record->fields, record->nfields,
							  &record->field_capacity, sizeof(RefField));
	field = &record->fields[record->nfields];
	field->start = start;
	field->value = record->text_bytes;
	field->quoted = false;
	field->inner = false;
	field->blank_after_quote = false;
	return field;
}

static bool
is_blank(const RefReader *reader, uint64_t pos)
{
	return reader->dialect->opt.trim &&
		(reader->bytes[pos] == ' ' || reader->bytes[pos] == '\t');
}

/* blanks at the end are not part of the field */
static void
drop_blanks(RefReader *reader, RefField *field)
{
	while (field->end > field->start && is_blank(reader, field->end - 1))
	{
		uint64_t	escapes = 0;

		while (reader->dialect->opt.quoting == CSV_QUOTING_TEXT &&
			   field->end - 1 - escapes > field->start &&
			   reader->bytes[field->end - 2 - escapes] == '\\')
			escapes++;
		if (escapes % 2 == 1)
			break;
		field->end--;

		/* what comes after a closing quote is none of the value yet, but for postgres */
		if (!field->quoted || reader->dialect->opt.quoting == CSV_QUOTING_POSTGRES)
			reader->record.text_bytes--;
	}
}

/*
 * What a byte means for the field's value, by the state before and after it.
 */
static void
take_byte(RefReader *reader, RefField *field, uint64_t pos, int class,
		  CsvState before, CsvState after)
{
	const CsvDialectOptions *opt = &reader->dialect->opt;
	uint8_t		byte = reader->bytes[pos];
	bool		is_quote = class == CSV_CLASS_QUOTE;
	bool		outside = before == CSV_STATE_RECORD_START ||
		before == CSV_STATE_FIELD_START || before == CSV_STATE_UNQUOTED ||
		before == CSV_STATE_QUOTE_SEEN || before == CSV_STATE_AFTER_QUOTE;

	if (outside && is_blank(reader, pos))
	{
		if (pos == field->start)
		{
			field->start++;
			return;
		}
		if (before == CSV_STATE_QUOTE_SEEN)
			field->blank_after_quote = true;
		if (after == CSV_STATE_UNQUOTED)
			emit(reader, byte);
		return;
	}
	field->inner |= field->blank_after_quote && class != CSV_CLASS_PRE_BREAK;

	switch (before)
	{
		case CSV_STATE_QUOTED:
			/* a quote or escape means nothing until the next byte is known */
			if (after == CSV_STATE_QUOTED)
				emit(reader, byte);
			else if (after == CSV_STATE_ESCAPE_SEEN)
				field->inner = true;
			break;

		case CSV_STATE_ESCAPE_SEEN:
			/* what escapes neither a quote nor an escape is data itself */
			if (!is_quote && byte != opt->escape)
				emit(reader, opt->escape);
			emit(reader, byte);
			break;

		case CSV_STATE_QUOTE_SEEN:
			if (class == CSV_CLASS_PRE_BREAK)
				break;
			field->inner = true;
			if (is_quote)
			{
				/* doubled, or (where the escape is another) opened again */
				if (opt->escape == opt->quote)
					emit(reader, byte);
			}
			else if (after == CSV_STATE_UNQUOTED)
				emit(reader, byte);
			break;

		case CSV_STATE_SKIP_LINE:
		case CSV_STATE_AFTER_QUOTE:
			break;

		default:
			/* outside quotes */
			if (class == CSV_CLASS_PRE_BREAK)
				break;
			if (after == CSV_STATE_QUOTED)
			{
				if (pos > field->start)
					field->inner = true;
				field->quoted = true;
			}
			else
				emit(reader, byte);
			break;
	}
}

/* how many of the bytes [from, to) are among `digits`, of the first `most` */
static uint64_t
count_digits(const RefReader *reader, uint64_t from, uint64_t to, uint64_t most,
			 const char *digits)
{
	uint64_t	n = 0;

	while (n < most && from + n < to && reader->bytes[from + n] != 0 &&
		   strchr(digits, reader->bytes[from + n]) != NULL)
		n++;
	return n;
}

/* the value of a field of the text format, from all of its bytes */
static void
take_text(RefReader *reader, RefField *field)
{
	static const char *const letters = "bfnrtv";
	static const char *const stand_for = "\b\f\n\r\t\v";
	const uint8_t *bytes = reader->bytes;
	uint64_t	pos = field->start;

	reader->record.text_bytes = field->value;
	while (pos < field->end)
	{
		uint64_t	noctal;
		uint64_t	nhex;
		char		digits[4] = "";

		if (bytes[pos] != '\\')
		{
			emit(reader, bytes[pos++]);
			continue;
		}
		field->inner = true;
		pos++;
		if (pos == field->end)
			break;
		noctal = count_digits(reader, pos, field->end, 3, "01234567");
		nhex = bytes[pos] == 'x' ?
			count_digits(reader, pos + 1, field->end, 2, "0123456789abcdefABCDEF") : 0;
		memcpy(digits, bytes + pos + (nhex > 0), nhex > 0 ? nhex : noctal);
		if (nhex > 0)
			emit(reader, (uint8_t) strtoul(digits, NULL, 16));
		else if (noctal > 0)
			emit(reader, (uint8_t) strtoul(digits, NULL, 8));
		else if (bytes[pos] != 0 && strchr(letters, bytes[pos]) != NULL)
			emit(reader, (uint8_t) stand_for[strchr(letters, bytes[pos]) - letters]);
		else
			emit(reader, bytes[pos]);
		pos += nhex > 0 ? nhex + 1 : noctal > 0 ? noctal : 1;
	}
}

static bool
is_comment(const RefReader *reader, uint64_t start)
{
	const CsvDialectOptions *opt = &reader->dialect->opt;

	return opt->comment_length > 0 && reader->nbytes - start >= opt->comment_length &&
		memcmp(reader->bytes + start, opt->comment, opt->comment_length) == 0;
}

/* where a line's content ends, whose break is at pos: before the CRs of that */
static uint64_t
before_crs(const RefReader *reader, uint64_t start, uint64_t pos)
{
	for (int i = 0; i < reader->dialect->trim_crs && pos > start; i++)
		if (reader->bytes[pos - 1] == '\r')
			pos--;
	return pos;
}

/*
 * Read from `start`, the start of a line that is no comment, to the end of the record
 * there.
 */
static void
read_record(RefReader *reader, CsvMode mode, uint64_t start)
{
	const CsvDialect *dialect = reader->dialect;
	RefRecord  *record = &reader->record;
	RefField   *field;
	CsvState	state = CSV_STATE_RECORD_START;
	uint64_t	content_end = start;

	/* the text of an earlier record may be part of a row: start a new one */
	record->text = NULL;
	record->text_capacity = 0;
	record->text_bytes = 0;
	record->nfields = 0;
	record->nbreaks = 0;
	record->blank = false;
	record->bad = false;
	record->lenient = false;
	record->endless = false;
	record->start = start;
	field = begin_field(reader, start);

	for (uint64_t pos = start;; pos++)
	{
		int			class = csv_class_at(dialect, reader->bytes, pos,
										 reader->nbytes);
		uint8_t		entry = dialect->table[mode][state][class];
		CsvState	after = entry & CSV_STATE_MASK;

		/* CRs of the boundary are not part of the field */
		content_end = class == CSV_CLASS_BREAK ? before_crs(reader, start, pos) : pos;
		if (class == CSV_CLASS_BREAK)
			record->nbreaks++;

		if (entry & CSV_FIELD)
		{
			field->end = entry & CSV_RECORD ? content_end : pos;
			field->separator = field->end;
			drop_blanks(reader, field);
			if (dialect->opt.quoting == CSV_QUOTING_TEXT)
				take_text(reader, field);
			field->value_bytes = record->text_bytes - field->value;
			record->nfields++;
			if (entry & CSV_RECORD)
			{
				record->bad = (entry & CSV_BAD) != 0;
				record->last_state = state;
				record->end = content_end;
				record->next = class == CSV_CLASS_END_OF_INPUT ? pos : pos + 1;
				return;
			}
			field = begin_field(reader, pos + csv_delimiter_length(&dialect->opt));
		}
		else if (class == CSV_CLASS_BREAK && state == CSV_STATE_RECORD_START)
		{
			record->blank = true;
			record->next = pos + 1;
			return;
		}
		else if (state < CSV_STATE_IN_DELIMITER)
			take_byte(reader, field, pos, class, state, after);

		/* too long whatever comes; two more bytes may be the boundary's CRs */
		if (pos - start > reader->max_record_bytes + 2)
		{
			record->endless = true;
			return;
		}
		state = after;
	}
}

/*
 * The line at start: its end, and the first byte after its boundary.  Returns
 * whether it has one.
 */
static bool
find_line(const RefReader *reader, uint64_t start, uint64_t *end,
		  uint64_t *next)
{
	uint64_t	pos = start;

	while (pos < reader->nbytes &&
		   csv_class_at(reader->dialect, reader->bytes, pos, reader->nbytes) !=
		   CSV_CLASS_BREAK)
		pos++;
	*end = pos;
	*next = pos;
	if (pos == reader->nbytes)
		return false;
	*end = before_crs(reader, start, pos);
	*next = pos + 1;
	return true;
}

/* ---- lenient lines ---- */

static bool
delimiter_at(const CsvDialectOptions *opt, const uint8_t *line, uint64_t pos,
			 uint64_t nbytes)
{
	return nbytes - pos > opt->delimiter_rest_length && line[pos] == opt->delimiter &&
		memcmp(line + pos + 1, opt->delimiter_rest, opt->delimiter_rest_length) == 0;
}

/*
 * For each byte of a line and its end, from the back: may a quoted field be over there,
 * and where is the first quote from there on that ends one (the line's end: none)?
 */
static void
find_quoted_ends(const CsvDialectOptions *opt, const uint8_t *line, uint64_t nbytes,
				 bool *over, uint64_t *ends)
{
	over[nbytes] = true;
	ends[nbytes] = nbytes;
	for (uint64_t i = nbytes; i-- > 0;)
	{
		uint8_t		byte = line[i];
		bool		is_blank = (byte == ' ' || byte == '\t') && byte != opt->quote;
		bool		escapes = opt->escape != opt->quote && byte == opt->escape &&
			i + 1 < nbytes && (line[i + 1] == opt->quote || line[i + 1] == opt->escape);

		over[i] = delimiter_at(opt, line, i, nbytes) || (is_blank && over[i + 1]);
		if (escapes)
			ends[i] = ends[i + 2];
		else
			ends[i] = byte == opt->quote && over[i + 1] ? i : ends[i + 1];
	}
}

/* the field of the line at `start` that begins at line[at]; returns where it ends */
static uint64_t
read_lenient_field(RefReader *reader, uint64_t start, uint64_t at, uint64_t nbytes,
				   const uint64_t *ends)
{
	const CsvDialectOptions *opt = &reader->dialect->opt;
	const uint8_t *line = reader->bytes + start;
	RefField   *field;
	uint64_t	end;

	while (at < nbytes && is_blank(reader, start + at) &&
		   !delimiter_at(opt, line, at, nbytes))
		at++;
	field = begin_field(reader, start + at);
	end = at;
	if (at < nbytes && line[at] == opt->quote && ends[at + 1] < nbytes)
	{
		field->quoted = true;
		for (uint64_t i = at + 1; i < ends[at + 1]; i++)
		{
			if (opt->escape != opt->quote && line[i] == opt->escape &&
				(line[i + 1] == opt->quote || line[i + 1] == opt->escape) &&
				i + 1 < ends[at + 1])
				i++;
			emit(reader, line[i]);
		}
		end = ends[at + 1] + 1;
		while (end < nbytes && !delimiter_at(opt, line, end, nbytes))
			end++;
	}
	else
		for (; end < nbytes && !delimiter_at(opt, line, end, nbytes); end++)
			emit(reader, line[end]);
	field = &reader->record.fields[reader->record.nfields++];
	field->end = start + end;
	field->separator = field->end;
	drop_blanks(reader, field);
	field->value_bytes = reader->record.text_bytes - field->value;
	return end;
}

/* the line at `start`, by itself, whatever its quotes are */
static void
read_leniently(RefReader *reader, uint64_t start)
{
	RefRecord  *record = &reader->record;
	uint64_t	line_end;
	uint64_t	next;
	bool		has_break = find_line(reader, start, &line_end, &next);
	uint64_t	nbytes = line_end - start;
	bool	   *over = malloc(nbytes + 1);
	uint64_t   *ends = malloc((nbytes + 1) * sizeof(uint64_t));
	uint64_t	at = 0;

	if (over == NULL || ends == NULL)
		abort();
	find_quoted_ends(&reader->dialect->opt, reader->bytes + start, nbytes, over, ends);
	record->text = NULL;
	record->text_capacity = 0;
	record->text_bytes = 0;
	record->nfields = 0;
	record->bad = false;
	record->lenient = true;
	record->start = start;
	record->end = line_end;
	record->next = next;
	record->nbreaks = has_break;
	while ((at = read_lenient_field(reader, start, at, nbytes, ends)) < nbytes)
		at += csv_delimiter_length(&reader->dialect->opt);
	free(over);
	free(ends);
}

/* ---- values ---- */

/* length of the valid UTF-8 character at p, 0 if there is none */
static uint32_t
reference_utf8(const uint8_t *p, uint64_t nbytes)
{
	uint32_t	code_point;
	uint32_t	length;
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

	if (p[0] < 0x80)
		return 1;
	if ((p[0] & 0xE0) == 0xC0)
	{
		length = 2;
		code_point = p[0] & 0x1F;
	}
	else if ((p[0] & 0xF0) == 0xE0)
	{
		length = 3;
		code_point = p[0] & 0x0F;
	}
	else if ((p[0] & 0xF8) == 0xF0)
	{
		length = 4;
		code_point = p[0] & 0x07;
	}
	else
		return 0;
	if (nbytes < length)
		return 0;
	for (uint32_t i = 1; i < length; i++)
	{
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		code_point = code_point << 6 | (p[i] & 0x3F);
	}
	if (code_point < smallest[length] || code_point > 0x10FFFF ||
		(code_point >= 0xD800 && code_point <= 0xDFFF))
		return 0;
	return length;
}

static bool
equal_bytes(const uint8_t *a, uint64_t a_bytes, const uint8_t *b,
			uint64_t b_bytes)
{
	return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

static bool
is_null_value(const CsvLayout *layout, const CsvColumn *column,
			  const uint8_t *bytes, uint64_t nbytes)
{
	const uint8_t *value = layout->null_values + column->nulls_from;
	const uint8_t *end = layout->null_values + column->nulls_to;

	for (; value < end; value += 1 + *value)
		if (equal_bytes(bytes, nbytes, value + 1, *value))
			return true;
	return false;
}

/*
 * Check one column's value and fill it in.  Returns the first error.
 */
static CsvErrorCode
check_value(RefReader *reader, const CsvLayout *layout, const CsvColumn *column,
			const RefField *field, RefValue *value)
{
	uint64_t	nbytes = field->value_bytes;
	const uint8_t *text = nbytes == 0 ? (const uint8_t *) "" :
		reader->record.text + field->value;
	uint64_t	nchars = 0;
	uint64_t	kept_bytes = 0; /* of the first type_chars characters */
	bool		beyond_ascii = false;
	bool		valid = true;
	bool		doubtful = false;
	bool		is_text = reader->dialect->opt.quoting == CSV_QUOTING_TEXT;

	/* of the text format, what stands in the file is compared */
	const uint8_t *compared = is_text ? reader->bytes + field->start : text;
	uint64_t	compared_bytes = is_text ? field->end - field->start : nbytes;
	bool		is_null_string = equal_bytes(compared, compared_bytes,
											 layout->null_bytes,
											 layout->null_length) ||
		is_null_value(layout, column, compared, compared_bytes);

	memset(value, 0, sizeof(*value));
	value->plain = !field->inner;
	value->text = text;
	value->text_bytes = nbytes;
	value->stored = text;
	value->stored_bytes = nbytes;

	if (is_null_string &&
		(field->quoted ? column->force_null : !column->force_not_null))
	{
		value->status = REF_NULL;
		return CSV_ERROR_NONE;
	}
	if (layout->has_default && !field->quoted &&
		equal_bytes(compared, compared_bytes, layout->default_bytes,
					layout->default_length))
	{
		value->status = REF_DOUBTFUL;
		return CSV_ERROR_NONE;
	}

	value->status = REF_VALUE;
	for (uint64_t i = 0; i < nbytes; i++)
	{
		if (text[i] == 0)
			return CSV_ERROR_NUL_BYTE;
		if (text[i] >= 0x80)
			beyond_ascii = true;
	}
	for (uint64_t pos = field->start; pos < field->end; pos++)
	{
		if (reader->bytes[pos] == 0)
			return CSV_ERROR_NUL_BYTE;
		if (reader->bytes[pos] >= 0x80)
			beyond_ascii = true;
	}
	if (layout->encoding != CSV_ENCODING_UTF8 && beyond_ascii)
	{
		value->status = REF_DOUBTFUL;
		return CSV_ERROR_NONE;
	}

	/*
	 * As in COPY it is the input that must be valid: a quote that is dropped
	 * from between two bytes does not join them to a character.  What escapes of
	 * the text format stand for must be valid as well.
	 */
	for (uint64_t pos = field->start; pos < field->end && valid;)
	{
		uint32_t	length = reference_utf8(reader->bytes + pos,
											field->end - pos);

		valid = length > 0;
		pos += length;
	}
	for (uint64_t pos = 0; pos < nbytes && valid;)
	{
		uint32_t	length = reference_utf8(text + pos, nbytes - pos);

		valid = length > 0 || !is_text;
		pos += length > 0 ? length : 1;
	}
	if (!valid)
		return CSV_ERROR_INVALID_UTF8;

	for (uint64_t pos = 0; pos < nbytes; nchars++)
	{
		if (column->type_chars >= 0 && nchars == (uint64_t) column->type_chars)
			kept_bytes = pos;
		pos += reference_utf8(text + pos, nbytes - pos);
	}
	if (column->max_chars >= 0 && nchars > (uint64_t) column->max_chars)
		return CSV_ERROR_TOO_MANY_CHARS;
	if (column->type_chars >= 0 && nchars > (uint64_t) column->type_chars)
	{
		bool		all_blanks = true;

		for (uint64_t i = kept_bytes; i < nbytes; i++)
			if (text[i] != ' ')
				all_blanks = false;
		if (all_blanks)
			value->stored_bytes = kept_bytes;
		else if (column->max_chars < 0)
			return CSV_ERROR_TOO_MANY_CHARS;
		else
			doubtful = true;
	}
	if (column->byte_width >= 0 && nbytes > (uint64_t) column->byte_width)
		return CSV_ERROR_TOO_MANY_BYTES;
	if (doubtful)
		value->status = REF_DOUBTFUL;

	if (column->pad_blanks && nchars < (uint64_t) column->type_chars)
	{
		uint64_t	nblanks = (uint64_t) column->type_chars - nchars;
		uint8_t    *padded = ref_alloc(reader->result, nbytes + nblanks);

		memcpy(padded, text, nbytes);
		memset(padded + nbytes, ' ', nblanks);
		value->stored = padded;
		value->stored_bytes = nbytes + nblanks;
	}
	return CSV_ERROR_NONE;
}

/*
 * The wanted values of a record with an acceptable number of fields.  Returns
 * the error to report: that of the lowest field; there the lowest code; there
 * the first column.
 */
static CsvErrorCode
check_record(RefReader *reader, const CsvLayout *layout, RefValue *values,
			 uint32_t *where)
{
	const RefRecord *record = &reader->record;
	CsvErrorCode worst = CSV_ERROR_NONE;

	for (uint32_t c = 0; c < layout->ncolumns; c++)
	{
		const CsvColumn *column = &layout->columns[c];
		CsvErrorCode code;

		if (worst != CSV_ERROR_NONE &&
			column->field != layout->columns[*where].field)
			break;
		if (column->field >= record->nfields)
		{
			memset(&values[c], 0, sizeof(RefValue));
			values[c].status = REF_NULL;
			continue;
		}
		code = check_value(reader, layout, column,
						   &record->fields[column->field], &values[c]);

		/* whatever it is, whoever takes the row finds it */
		if (record->lenient)
		{
			values[c].status = REF_DOUBTFUL;
			code = CSV_ERROR_NONE;
		}
		if (code != CSV_ERROR_NONE && layout->bad_is_doubtful)
		{
			values[c].status = REF_DOUBTFUL;
			code = CSV_ERROR_NONE;
		}
		if (code != CSV_ERROR_NONE && (worst == CSV_ERROR_NONE || code < worst))
		{
			worst = code;
			*where = c;
		}
	}
	return worst;
}

/* ---- the file ---- */

/* records, if only one kind of unquoted line break ends them: how many equal the one before? */
typedef struct RefCut
{
	uint64_t	nbreaks;
	uint64_t	first_break;
	uint64_t	last_break;
	uint64_t	nequal;
	uint64_t	nfields;		/* of this record */
	uint64_t	before;			/* of the last one that is not blank; 0: none */
	bool		is_blank;
} RefCut;

static void
cut(RefCut *records)
{
	if (!records->is_blank && records->nfields == records->before)
		records->nequal++;
	if (!records->is_blank)
		records->before = records->nfields;
	records->nfields = 1;
	records->is_blank = true;
}

/*
 * Do CRs end the records?  They do if there are unquoted CRs in the first MB, but no LF;
 * and if they cut the bytes into more records with as many fields as the record before than
 * LFs do.  Records of one field tell nothing, unless the only LF is the file's last byte.
 * All breaks end lines while that is looked for; CRs of a CR LF or CR CR LF are passed over.
 *
 * These are the first 64 kB, or twice as many as long as they have no LF, up to 1 MB.  The
 * last eight are not looked at, except at the end of the file.
 */
static bool
ends_at_crs(const CsvDialectOptions *options, const uint8_t *bytes, uint64_t nbytes,
			bool *first_is_lf)
{
	uint64_t	read_bytes = 64 * 1024;
	uint64_t	look_bytes = 0;
	CsvDialectOptions with_all = *options;
	CsvDialect	dialect;
	uint8_t		state = CSV_STATE_RECORD_START;
	RefCut		by_lf = {.nfields = 1, .is_blank = true};
	RefCut		by_cr = {.nfields = 1, .is_blank = true};
	bool		several_fields;

	with_all.boundary = CSV_BOUNDARY_AUTO;
	csv_dialect_compile(&dialect, &with_all);
	for (uint64_t pos = 0;; pos++)
	{
		while (pos == look_bytes && look_bytes < 1024 * 1024 && look_bytes < nbytes &&
			   by_lf.nbreaks == 0)
		{
			look_bytes = nbytes < read_bytes ? nbytes : read_bytes - 8;
			read_bytes = read_bytes == 1024 * 1024 ? 1024 * 1024 + 8 : read_bytes * 2;
		}
		if (pos == look_bytes)
			break;

		bool		in_quotes = state == CSV_STATE_QUOTED ||
			state == CSV_STATE_ESCAPE_SEEN;
		int			class = csv_class_at(&dialect, bytes, pos, nbytes);
		bool		is_lf = bytes[pos] == '\n' && (!in_quotes || !dialect.opt.multiline);
		bool		is_cr = bytes[pos] == '\r' && !in_quotes && class != CSV_CLASS_PRE_BREAK;
		RefCut	   *records = is_lf ? &by_lf : &by_cr;

		if (is_lf || is_cr)
		{
			if (records->nbreaks++ == 0)
				records->first_break = pos;
			records->last_break = pos;
			cut(records);
			state = is_lf ? dialect.table[CSV_NORMAL][state][class] & CSV_STATE_MASK :
				CSV_STATE_RECORD_START;
			continue;
		}
		if ((dialect.table[CSV_NORMAL][state][class] & CSV_FIELD) != 0)
		{
			by_lf.nfields++;
			by_cr.nfields++;
		}
		state = dialect.table[CSV_NORMAL][state][class] & CSV_STATE_MASK;
		if ((bytes[pos] != '\n' || !in_quotes) && class != CSV_CLASS_PRE_BREAK &&
			state != CSV_STATE_COMMENT)
			by_lf.is_blank = by_cr.is_blank = false;
	}
	*first_is_lf = by_lf.nbreaks > 0 && by_lf.first_break < by_cr.first_break;
	if (by_lf.nbreaks == 0 || by_cr.nbreaks == 0)
		return by_cr.nbreaks > 0;
	several_fields = by_cr.before > 1;
	if (look_bytes == nbytes)
	{
		cut(&by_lf);
		cut(&by_cr);
		several_fields |= by_lf.nbreaks == 1 && by_lf.last_break == nbytes - 1;
	}
	return several_fields && by_cr.nequal > by_lf.nequal;
}

static void
compile(RefResult *result, const CsvDialectOptions *options,
		CsvBoundary boundary, bool blank_is_record)
{
	CsvDialectOptions decided = *options;

	decided.boundary = (uint8_t) boundary;
	decided.blank_is_record = blank_is_record;
	csv_dialect_compile(&result->dialect, &decided);
}

static CsvMode
mode_here(const RefReader *reader)
{
	return reader->pos < reader->alone_until ? CSV_ALONE : CSV_NORMAL;
}

static bool
is_too_long(const RefReader *reader)
{
	return reader->record.endless ||
		reader->record.end - reader->pos > reader->max_record_bytes;
}

/* the repair rule: how far lines are read alone after a bad record */
static void
begin_repair(RefReader *reader)
{
	if (mode_here(reader) == CSV_NORMAL)
		reader->alone_until = is_too_long(reader) ?
			reader->pos + reader->max_record_bytes : reader->record.next;
}

/* comments at this place */
static void
pass_comments(RefReader *reader)
{
	uint64_t	line_end;
	uint64_t	next;

	while (reader->pos < reader->nbytes && is_comment(reader, reader->pos))
	{
		reader->lines += find_line(reader, reader->pos, &line_end, &next);
		reader->pos = next;
	}
}

/* the header: every line is a record but comments, and none is checked */
static void
read_header(RefReader *reader, uint32_t header_rows)
{
	RefResult  *result = reader->result;
	RefRecord  *record = &reader->record;

	for (uint32_t i = 0; i < header_rows; i++)
	{
		CsvMode		mode;
		uint64_t	line_end;
		uint64_t	next;
		bool		has_break;

		pass_comments(reader);
		if (reader->pos >= reader->nbytes)
			break;
		mode = mode_here(reader);
		read_record(reader, mode, reader->pos);
		has_break = find_line(reader, reader->pos, &line_end, &next);
		if (mode == CSV_NORMAL && !record->bad && !is_too_long(reader))
		{
			line_end = record->end;
			next = record->next;
			reader->lines += record->nbreaks;
		}
		else
		{
			/* its first line, or the line read alone */
			uint64_t	all = reader->max_record_bytes;

			begin_repair(reader);
			reader->lines += has_break;
			reader->max_record_bytes = reader->nbytes;
			read_record(reader, CSV_ALONE, reader->pos);
			reader->max_record_bytes = all;
			if (record->bad && reader->dialect->opt.lenient)
				read_leniently(reader, reader->pos);
		}
		if (i + 1 == header_rows)
		{
			result->has_header = true;
			result->header = reader->bytes + reader->pos;
			result->header_bytes = line_end - reader->pos;
			result->header_fields = (uint32_t) record->nfields;
			result->header_separators =
				ref_alloc(result, record->nfields * sizeof(uint64_t));
			for (uint64_t f = 0; f < record->nfields; f++)
				result->header_separators[f] = record->fields[f].separator -
					reader->pos;
		}
		reader->pos = next;
	}
}

static void
add_row(RefReader *reader, RefValue *values)
{
	RefResult  *result = reader->result;
	RefRow	   *row;

	result->rows = ref_grow(result, result->rows, result->nrows,
							&reader->row_capacity, sizeof(RefRow));
	row = &result->rows[result->nrows++];
	row->offset = reader->bom_bytes + reader->pos;
	row->line = reader->lines;
	row->values = values;
}

static void
add_error(RefReader *reader, CsvErrorCode code, CsvMode mode, uint32_t where,
		  uint64_t length)
{
	RefResult  *result = reader->result;
	CsvError   *error;

	result->errors = ref_grow(result, result->errors, result->nerrors,
							  &reader->error_capacity, sizeof(CsvError));
	error = &result->errors[result->nerrors];
	error->offset = reader->bom_bytes + reader->pos;
	error->length = length;
	error->record = (uint32_t) (result->nrows + result->nerrors);
	error->line = (uint32_t) reader->lines;
	error->before_row = (uint32_t) result->nrows;
	error->code = (uint8_t) code;
	error->mode = (uint8_t) mode;
	error->where = where;
	result->nerrors++;
}

/*
 * Ctrl-Z, or "\." of text, and at most 16 bytes behind it, all of them line breaks, and
 * no footer
 */
static bool
is_end_of_data(const RefReader *reader)
{
	const RefRecord *record = &reader->record;
	const uint8_t *bytes = reader->bytes;
	const uint8_t *start = bytes + reader->pos;
	bool		is_ctrl_z = record->end == reader->pos + 1 && start[0] == 0x1a &&
		reader->dialect->class_of[0x1a] == CSV_CLASS_OTHER;
	bool		is_marker = record->end == reader->pos + 2 &&
		reader->dialect->opt.quoting == CSV_QUOTING_TEXT &&
		start[0] == '\\' && start[1] == '.';

	if (!(is_ctrl_z || is_marker) || reader->has_footer ||
		reader->nbytes - record->next > 16)
		return false;
	for (uint64_t i = record->next; i < reader->nbytes; i++)
		if (bytes[i] != '\r' && bytes[i] != '\n')
			return false;
	return true;
}

/* the next record, or a blank line that is none */
static void
read_next(RefReader *reader, const CsvLayout *layout)
{
	RefRecord  *record = &reader->record;
	CsvMode		mode = mode_here(reader);
	CsvErrorCode code = CSV_ERROR_NONE;
	uint32_t	where = 0;

	if (is_comment(reader, reader->pos))
	{
		pass_comments(reader);
		return;
	}
	read_record(reader, mode, reader->pos);
	if (record->blank)
	{
		reader->pos = record->next;
		reader->lines++;
		return;
	}

	if (is_too_long(reader))
		code = CSV_ERROR_RECORD_TOO_LONG;
	else if (is_end_of_data(reader))
	{
		while (reader->pos < reader->nbytes)
		{
			uint64_t	line_end;

			reader->lines += find_line(reader, reader->pos, &line_end, &reader->pos);
		}
		return;
	}
	else if (record->bad)
	{
		code = record->last_state == CSV_STATE_SKIP_LINE ?
			CSV_ERROR_TEXT_AFTER_QUOTE : CSV_ERROR_UNTERMINATED_QUOTE;
		where = (uint32_t) record->nfields - 1;
	}

	if (code != CSV_ERROR_NONE)
		begin_repair(reader);
	if (record->bad && code != CSV_ERROR_RECORD_TOO_LONG &&
		reader->dialect->opt.lenient)
	{
		read_leniently(reader, reader->pos);
		if (layout->pad || record->nfields == layout->nfields)
			code = CSV_ERROR_NONE;
	}

	if (code != CSV_ERROR_NONE)
	{
		uint64_t	line_end;
		uint64_t	next;
		bool		has_break;

		has_break = find_line(reader, reader->pos, &line_end, &next);
		add_error(reader, code, mode, where, line_end - reader->pos);
		reader->lines += has_break;
		reader->pos = next;
	}
	else
	{
		RefValue   *values = ref_alloc(reader->result,
									   layout->ncolumns * sizeof(RefValue));

		if (!layout->pad && record->nfields != layout->nfields)
		{
			code = CSV_ERROR_COLUMN_COUNT;
			where = (uint32_t) record->nfields;
		}
		else
			code = check_record(reader, layout, values, &where);

		/* structure is good: both modes read it the same */
		if (code == CSV_ERROR_NONE)
			add_row(reader, values);
		else
			add_error(reader, code, CSV_NORMAL, where,
					  record->end - reader->pos);
		reader->lines += record->nbreaks;
		reader->pos = record->next;
	}
}

/* where the last records begin; nbytes if there are none */
static uint64_t
footer_start(const RefResult *result, uint32_t footer_rows, uint64_t nbytes)
{
	uint64_t	nrecords = result->nrows + result->nerrors;
	uint64_t	first = nrecords > footer_rows ? nrecords - footer_rows : 0;
	uint64_t	nrows = 0;

	for (uint64_t i = 0; i < result->nerrors; i++)
	{
		if (result->errors[i].record == first)
			return result->errors[i].offset;
		nrows += result->errors[i].record < first;
	}
	/* so many of those before it are errors, the others rows */
	return first < nrecords ? result->rows[first - nrows].offset : nbytes;
}

void
reference_read(RefResult *result, const CsvDialectOptions *options,
			   const CsvLayout *layout, uint32_t header_rows,
			   uint64_t max_record_bytes, const uint8_t *file, uint64_t nbytes)
{
	RefReader	reader;
	RefReader	body;
	CsvBoundary boundary = (CsvBoundary) options->boundary;
	bool		first_is_lf = false;

	memset(result, 0, sizeof(*result));
	memset(&reader, 0, sizeof(reader));
	if (nbytes >= 3 && memcmp(file, "\xEF\xBB\xBF", 3) == 0)
		reader.bom_bytes = 3;
	reader.result = result;
	reader.dialect = &result->dialect;
	reader.bytes = file + reader.bom_bytes;
	reader.nbytes = nbytes - reader.bom_bytes;
	reader.max_record_bytes = max_record_bytes;

	if ((boundary == CSV_BOUNDARY_AUTO || boundary == CSV_BOUNDARY_CR) &&
		ends_at_crs(options, reader.bytes, reader.nbytes, &first_is_lf))
		boundary = CSV_BOUNDARY_CR;

	/* a LF before the CRs ends the header */
	compile(result, options, boundary == CSV_BOUNDARY_CR && first_is_lf && header_rows == 1 ?
			CSV_BOUNDARY_AUTO : boundary, true);
	read_header(&reader, header_rows);

	/* a LF at the end of records that end at CRs is no data */
	if (boundary == CSV_BOUNDARY_CR && reader.pos < reader.nbytes &&
		reader.bytes[reader.nbytes - 1] == '\n')
		reader.nbytes--;
	result->body_offset = reader.bom_bytes + reader.pos;
	result->body_lines = reader.lines;

	compile(result, options, boundary, layout->nfields == 1);
	body = reader;
	while (reader.pos < reader.nbytes)
		read_next(&reader, layout);

	/* a file with a footer is read as if it ended there */
	if (options->footer_rows > 0)
	{
		body.nbytes = footer_start(result, options->footer_rows,
								   reader.nbytes + reader.bom_bytes) - reader.bom_bytes;
		body.has_footer = body.nbytes < reader.nbytes;
		reader = body;
		result->nrows = result->nerrors = 0;
		result->rows = NULL;
		result->errors = NULL;
		while (reader.pos < reader.nbytes)
			read_next(&reader, layout);
	}
	result->nlines = reader.lines;
}

void
reference_free(RefResult *result)
{
	while (result->blocks != NULL)
	{
		RefBlock   *next = result->blocks->next;

		free(result->blocks);
		result->blocks = next;
	}
}
