/*
 * record.c
 *		Reads single records through the dialect's table.
 *
 * Engines read millions of records.  This file reads one record: a header, the
 * record of an error message or of a doubtful value, or an irregular record that a
 * fast path cannot read.
 */
#include "arrays.h"
#include "field.h"
#include "lenient.h"
#include "pair.h"

/* the index of the first of sixteen bytes that equals a wanted byte; 16 if none does */
static inline uint32_t
first_of(const uint8_t *p, const uint8_t wanted[4])
{
	CsvBytes	bytes = (CsvBytes) csv_load_pair(p);
	CsvPair		found = (CsvPair) ((bytes == wanted[0]) |
								   (bytes == wanted[1]) |
								   (bytes == wanted[2]) |
								   (bytes == wanted[3]));

	return (uint32_t) __builtin_ctz(csv_pair_bits(found) | 1 << 16);
}

static inline bool
is_any(uint8_t byte, const uint8_t wanted[4])
{
	return byte == wanted[0] || byte == wanted[1] || byte == wanted[2] ||
		byte == wanted[3];
}

/*
 * The first of the bytes [p, end) that equals a wanted byte; end if none does.  It must
 * be fast, because fields may have megabytes without such a byte.
 */
static inline const uint8_t *
find_any(const uint8_t *p, const uint8_t *end, const uint8_t wanted[4])
{
	while (end - p >= 16)
	{
		uint32_t	n = first_of(p, wanted);

		p += n;
		if (n < 16)
			return p;
	}
	while (p < end && !is_any(*p, wanted))
		p++;
	return p;
}

/* ---- records ---- */

/* interrupts are checked after this many bytes */
#define ASK_BYTES	(1024 * 1024)

static bool
is_interrupted(const CsvScan *scan)
{
	return scan->interrupted != NULL &&
		scan->interrupted(scan->interrupted_arg);
}

static inline CsvStatus
add_separator(CsvScan *scan, const CsvMemory *memory, uint64_t pos)
{
	if (scan->most == 0 || scan->nfields < scan->most)
	{
		if (scan->nfields == scan->capacity &&
			!csv_grow(memory, &scan->separators, &scan->capacity,
					  (size_t) scan->nfields + 1, 64, sizeof(uint32_t)))
			return CSV_NO_MEMORY;
		scan->separators[scan->nfields] = (uint32_t) (pos - scan->start);
	}
	scan->nfields++;
	return CSV_OK;
}

/*
 * Skip bytes that are data of a field in this state, and do not change it.  Returns the
 * first byte that may be something else.
 */
static inline const uint8_t *
skip_data(const CsvDialect *dialect, uint8_t state, const uint8_t *p,
		  const uint8_t *end)
{
	const CsvDialectOptions *opt = &dialect->opt;
	uint8_t		wanted[4] = {opt->delimiter, opt->delimiter, '\r', '\n'};
	uint8_t		special = csv_special_byte(opt);

	if (state != CSV_STATE_UNQUOTED && state != CSV_STATE_QUOTED)
		return p;
	if (special != 0)
		wanted[0] = special;
	if (state != CSV_STATE_QUOTED)
		return find_any(p, end, wanted);
	wanted[1] = opt->escape;
	p = find_any(p, end, wanted);
	while (end - p > 1 && p[0] == opt->escape &&
		   (p[1] == opt->quote || p[1] == opt->escape))
		p = find_any(p + 2, end, wanted);
	return p;
}

CsvStatus
csv_scan_record(CsvScan *scan, const CsvMemory *memory,
				const CsvDialect *dialect, CsvMode mode,
				const uint8_t *bytes, uint64_t start,
				uint64_t nbytes, bool at_end)
{
	uint8_t		state = CSV_STATE_RECORD_START;
	uint64_t	field_start = start;
	uint64_t	limit = at_end ? nbytes + 1 : nbytes;
	uint64_t	ask = start + ASK_BYTES;

	scan->nfields = 0;
	scan->complete = false;
	scan->is_record = false;
	scan->bad = false;
	scan->lenient = false;
	scan->last_state = state;
	scan->has_break = false;
	scan->nbreaks = 0;
	scan->start = start;
	scan->end = start;
	scan->next = start;

	for (uint64_t pos = start; pos < limit; pos++)
	{
		int			class;
		uint8_t		entry;

		if (pos >= ask)
		{
			if (is_interrupted(scan))
				return CSV_INTERRUPTED;
			ask = pos + ASK_BYTES;
		}
		pos = (uint64_t) (skip_data(dialect, state, bytes + pos,
									bytes + (ask < nbytes ? ask : nbytes)) -
						  bytes);
		if (pos == limit)
			break;
		class = csv_class_at(dialect, bytes, pos, nbytes);
		entry = dialect->table[mode][state][class];
		if (entry & CSV_START)
		{
			scan->start = field_start = pos;
			scan->is_record = true;
			scan->nbreaks = 0;
		}
		if (entry & CSV_FIELD)
		{
			CsvStatus	status = add_separator(scan, memory, pos);

			if (status != CSV_OK)
				return status;
		}
		if (entry & CSV_RECORD)
		{
			scan->complete = true;
			scan->bad = (entry & CSV_BAD) != 0;
			scan->last_state = state;
			scan->end = csv_content_end(dialect, bytes, field_start, pos,
										nbytes);
			scan->has_break = pos < nbytes;
			scan->next = pos + scan->has_break;
			return CSV_OK;
		}
		if (entry & CSV_FIELD)
			field_start = pos + csv_delimiter_length(&dialect->opt);
		if (class == CSV_CLASS_BREAK)
			scan->nbreaks++;
		state = entry & CSV_STATE_MASK;
	}
	scan->last_state = state;
	scan->end = nbytes;
	scan->next = nbytes;
	scan->complete = at_end;
	return CSV_OK;
}

/* a line break outside quotes ends a record */
static void
note_break(CsvLookBreaks *breaks, uint64_t pos)
{
	if (breaks->n++ == 0)
		breaks->first = pos;
	breaks->last = pos;
	if (breaks->nfields > 0)
	{
		breaks->nalike += breaks->nfields == breaks->nbefore;
		breaks->nbefore = breaks->nfields;
	}
	breaks->nfields = 0;
}

void
csv_look_for_breaks(CsvBoundaryLook *look, const CsvDialect *dialect, const uint8_t *bytes,
					uint64_t until, uint64_t nbytes, bool all)
{
	for (; look->pos < until && (all || look->lfs.n == 0); look->pos++)
	{
		bool		inside = look->state == CSV_STATE_QUOTED ||
			look->state == CSV_STATE_ESCAPE_SEEN;
		int			class = csv_class_at(dialect, bytes, look->pos, nbytes);
		uint8_t		entry;

		if (class == CSV_CLASS_BREAK && !(inside && dialect->opt.multiline))
			note_break(&look->lfs, look->pos);
		else if (bytes[look->pos] == '\r' && class == CSV_CLASS_OTHER && !inside)
		{
			/* it may end records; then a quote behind it opens a field */
			note_break(&look->crs, look->pos);
			class = CSV_CLASS_BREAK;
		}
		entry = dialect->table[CSV_NORMAL][look->state][class];
		look->state = CSV_STATE_MASK & entry;
		if (class != CSV_CLASS_BREAK && class != CSV_CLASS_PRE_BREAK &&
			look->state != CSV_STATE_COMMENT)
		{
			look->lfs.nfields += (look->lfs.nfields == 0) + ((entry & CSV_FIELD) != 0);
			look->crs.nfields += (look->crs.nfields == 0) + ((entry & CSV_FIELD) != 0);
		}
	}
}

static uint64_t
count_alike(const CsvLookBreaks *breaks, bool at_end)
{
	return breaks->nalike +
		(at_end && breaks->nfields > 0 && breaks->nfields == breaks->nbefore);
}

bool
csv_look_finds_crs(const CsvBoundaryLook *look, bool at_end)
{
	const CsvLookBreaks *lfs = &look->lfs;
	bool		ends_in_lf = at_end && lfs->n == 1 && lfs->last + 1 == look->pos;

	if (look->crs.n == 0 || lfs->n == 0)
		return look->crs.n > 0;
	/* records of one field are alike wherever they end */
	return (ends_in_lf || look->crs.nbefore > 1) &&
		count_alike(&look->crs, at_end) > count_alike(lfs, at_end);
}

uint8_t
csv_pass_bytes(const CsvDialect *dialect, uint8_t state, const uint8_t *bytes,
			   uint64_t start, uint64_t until, uint64_t nbytes)
{
	for (uint64_t pos = start; pos < until; pos++)
	{
		pos = (uint64_t) (skip_data(dialect, state, bytes + pos, bytes + until) - bytes);
		if (pos < until)
			state = CSV_STATE_MASK &
				dialect->table[CSV_NORMAL][state][csv_class_at(dialect, bytes, pos, nbytes)];
	}
	return state;
}

uint64_t
csv_find_break(const CsvDialect *dialect, const uint8_t *bytes, uint64_t start,
			   uint64_t nbytes)
{
	while (start < nbytes)
	{
		const uint8_t *found = memchr(bytes + start, dialect->break_byte,
									  nbytes - start);

		if (found == NULL)
			break;
		start = (uint64_t) (found - bytes);
		if (csv_class_at(dialect, bytes, start, nbytes) == CSV_CLASS_BREAK)
			return start;
		start++;
	}
	return nbytes;
}

/*
 * Move *pos from the start of a field to its separator, in a line that ends at `end`.
 * *closes: may a quote that ends a field still follow in the line?
 */
static CsvStatus
pass_lenient_field(const CsvScan *scan, const CsvDialectOptions *opt,
				   const uint8_t *bytes, uint64_t *pos, uint64_t end, bool *closes)
{
	size_t		look = *pos;
	uint64_t	ask = *pos + ASK_BYTES;
	bool		closed = false;

	while (opt->trim && look < end && csv_is_blank(bytes[look]) &&
		   !csv_delimiter_at(opt, bytes, look, end))
		look++;
	if (*closes && look < end && bytes[look] == opt->quote)
	{
		look++;
		while (!closed && look < end)
		{
			closed = csv_lenient_close(opt, bytes, &look, ask < end ? ask : end, end);
			ask = look + ASK_BYTES;
			if (!closed && look < end && is_interrupted(scan))
				return CSV_INTERRUPTED;
		}
		*closes = closed;
		if (closed)
			*pos = look;
	}
	ask = *pos + ASK_BYTES;
	while (*pos < end && !csv_delimiter_at(opt, bytes, *pos, end))
		if (++*pos >= ask)
		{
			if (is_interrupted(scan))
				return CSV_INTERRUPTED;
			ask = *pos + ASK_BYTES;
		}
	return CSV_OK;
}

CsvStatus
csv_scan_lenient(CsvScan *scan, const CsvMemory *memory, const CsvDialect *dialect,
				 const uint8_t *bytes, uint64_t start, uint64_t nbytes)
{
	const CsvDialectOptions *opt = &dialect->opt;
	uint64_t	line_break = csv_find_break(dialect, bytes, start, nbytes);
	uint64_t	pos = start;
	uint64_t	asked = start;
	bool		closes = true;

	scan->nfields = 0;
	scan->complete = true;
	scan->is_record = true;
	scan->bad = false;
	scan->lenient = true;
	scan->last_state = CSV_STATE_RECORD_START;
	scan->has_break = line_break < nbytes;
	scan->nbreaks = 0;
	scan->start = start;
	scan->end = csv_content_end(dialect, bytes, start, line_break, nbytes);
	scan->next = line_break + scan->has_break;
	for (;;)
	{
		CsvStatus	status = pass_lenient_field(scan, opt, bytes, &pos, scan->end,
												&closes);
		const bool	is_last = pos == scan->end;

		if (status == CSV_OK)
			status = add_separator(scan, memory, is_last ? line_break : pos);
		if (status != CSV_OK || is_last)
			return status;
		pos += csv_delimiter_length(opt);
		if (pos - asked >= ASK_BYTES)
		{
			if (is_interrupted(scan))
				return CSV_INTERRUPTED;
			asked = pos;
		}
	}
}

/* where a record is in the bytes of a kept batch; 0: it is not there */
static uint32_t
find_kept(const CsvBatch *batch, uint32_t offset)
{
	uint32_t	from = 0;
	uint32_t	until = batch->nkept;

	while (from < until)
	{
		uint32_t	middle = from + (until - from) / 2;
		const CsvKeptRecord *record = &batch->records[middle];

		if (record->offset == offset)
			return record->place < batch->nbytes ? record->place : 0;
		if (record->offset < offset)
			from = middle + 1;
		else
			until = middle;
	}
	return 0;
}

CsvStatus
csv_scan_row(CsvScan *scan, const CsvMemory *memory, const CsvDialect *dialect,
			 const CsvBatch *batch, uint32_t entry)
{
	uint32_t	start = CSV_ROW_OFFSET(entry);

	if (batch->is_resident && (start = find_kept(batch, start)) == 0)
		return CSV_END;
	return entry & CSV_ROW_LENIENT ?
		csv_scan_lenient(scan, memory, dialect, batch->bytes, start,
						 batch->consumed) :
		csv_scan_record(scan, memory, dialect, CSV_NORMAL, batch->bytes, start,
						batch->consumed, true);
}

CsvSpan
csv_scan_field(const CsvScan *scan, const CsvDialect *dialect,
			   const uint8_t *bytes, uint64_t nbytes, uint32_t field)
{
	CsvSpan		span;
	uint64_t	end = scan->start + scan->separators[field];

	span.offset = scan->start;
	if (field > 0)
		span.offset += scan->separators[field - 1] + csv_delimiter_length(&dialect->opt);
	if (field + 1 == scan->nfields)
		end = csv_content_end(dialect, bytes, span.offset, end, nbytes);
	if (dialect->opt.trim)
		csv_trim(&dialect->opt, bytes, &span.offset, &end);
	span.length = end - span.offset;
	return span;
}

/* ---- values ---- */

/* bytes are copied in steps of this many */
#define COPY_BYTES	32

/* the bytes of a field that have a meaning, 64 bytes at a time */
typedef struct CsvSpecials
{
	const uint8_t *field;
	const uint8_t *end;
	const uint8_t *block;
	uint64_t	bits;			/* a bit per special byte of the block that was not
								 * returned yet */
	uint8_t		quote;
	uint8_t		escape;
} CsvSpecials;

/* a bit for each of sixteen bytes that equals this byte */
static inline uint64_t
equal_bits(const uint8_t *p, uint8_t byte)
{
	return csv_pair_bits((CsvPair) ((CsvBytes) csv_load_pair(p) == byte));
}

/* the same for 64 bytes */
static inline uint64_t
equal_bits_64(const uint8_t *p, uint8_t byte)
{
	return equal_bits(p, byte) | equal_bits(p + 16, byte) << 16 |
		equal_bits(p + 32, byte) << 32 | equal_bits(p + 48, byte) << 48;
}

/* the same for the last nbytes bytes of a field, fewer than 64 */
static inline uint64_t
equal_bits_of_rest(const uint8_t *p, uint64_t nbytes, const uint8_t *field, uint8_t byte)
{
	uint64_t	bits = 0;
	uint64_t	i;

	for (i = 0; nbytes - i >= 16; i += 16)
		bits |= equal_bits(p + i, byte) << i;
	if (i < nbytes && p + nbytes - field >= 16)
		return bits | equal_bits(p + nbytes - 16, byte) >> (16 - (nbytes - i)) << i;
	for (; i < nbytes; i++)
		bits |= (uint64_t) (p[i] == byte) << i;
	return bits;
}

/* let the block begin here, before the field's end */
static inline __attribute__((always_inline)) void
enter_block(CsvSpecials *specials, const uint8_t *block)
{
	uint64_t	nbytes = (uint64_t) (specials->end - block);

	specials->block = block;
	if (nbytes >= 64)
	{
		specials->bits = equal_bits_64(block, specials->quote);
		if (specials->escape != specials->quote)
			specials->bits |= equal_bits_64(block, specials->escape);
	}
	else
	{
		specials->bits = equal_bits_of_rest(block, nbytes, specials->field,
											specials->quote);
		if (specials->escape != specials->quote)
			specials->bits |= equal_bits_of_rest(block, nbytes, specials->field,
												 specials->escape);
	}
}

/* the next special byte; the field's end if there is none */
static inline __attribute__((always_inline)) const uint8_t *
next_special(CsvSpecials *specials)
{
	uint32_t	i;

	while (specials->bits == 0)
	{
		if (specials->end - specials->block <= 64)
			return specials->end;
		enter_block(specials, specials->block + 64);
	}
	i = (uint32_t) __builtin_ctzll(specials->bits);
	specials->bits &= specials->bits - 1;
	return specials->block + i;
}

/*
 * Copy nbytes bytes in steps.  Bytes behind them, up to `end` and in the room, may be
 * read and overwritten.
 */
static inline __attribute__((always_inline)) void
copy_run(uint8_t *to, uint64_t room, const uint8_t *p, const uint8_t *end,
		 uint64_t nbytes)
{
	uint64_t	whole = (nbytes + COPY_BYTES - 1) / COPY_BYTES * COPY_BYTES;

	if (whole > (uint64_t) (end - p) || whole > room)
	{
		memcpy(to, p, nbytes);
		return;
	}
	for (uint64_t i = 0; i < nbytes; i += COPY_BYTES)
		memcpy(to + i, p + i, COPY_BYTES);
}

/*
 * Unquote a field to `to`; if that is NULL, only count.  The result is the same as with
 * csv_unquoter_next(), byte by byte.  `escape` is a constant if it is the quote.
 */
static inline __attribute__((always_inline)) uint64_t
unquote(const CsvDialectOptions *opt, uint8_t escape, const uint8_t *field,
		uint64_t length, uint8_t *to, uint64_t room, bool *quoted)
{
	const uint8_t quote = opt->quote;
	const bool	anywhere = opt->quoting == CSV_QUOTING_POSTGRES;
	const uint8_t *end = field + length;
	const uint8_t *run = field; /* bytes of the value that are not copied yet */
	const uint8_t *p;
	uint64_t	nbytes = 0;
	bool		inside = false;
	CsvSpecials specials = {.field = field, .end = end, .quote = quote, .escape = escape};

	enter_block(&specials, field);
	while ((p = next_special(&specials)) < end)
	{
		if (inside && *p == escape && end - p > 1 &&
			(p[1] == quote || p[1] == escape))
			next_special(&specials);	/* is data */
		else if (*p == quote)
			inside = !inside;
		else
			continue;
		if (to != NULL)
			copy_run(to + nbytes, room - nbytes, run, end, (uint64_t) (p - run));
		nbytes += (uint64_t) (p - run);
		run = p + 1;
		if (!inside && !anywhere)
			break;
	}
	*quoted = run > field;
	if (to != NULL)
		memcpy(to + nbytes, run, (size_t) (end - run));
	return nbytes + (uint64_t) (end - run);
}

/* the same for text format.  *is_odd: see csv_unescape(). */
static uint64_t
unescape(const CsvDialect *dialect, const uint8_t *field, uint64_t length, uint8_t *to,
		 uint64_t room, bool *is_odd)
{
	const uint8_t escape = dialect->opt.escape;
	const uint8_t *end = field + length;
	const uint8_t *run = field;
	const uint8_t *p;
	uint64_t	nbytes = 0;
	CsvSpecials specials = {.field = field, .end = end, .quote = escape, .escape = escape};

	*is_odd = false;
	enter_block(&specials, field);
	while ((p = next_special(&specials)) < end)
	{
		uint32_t	sequence;
		uint8_t		byte;

		if (to != NULL)
			copy_run(to + nbytes, room - nbytes, run, end, (uint64_t) (p - run));
		nbytes += (uint64_t) (p - run);
		run = ++p;
		if (p == end)
			break;				/* it escapes nothing */
		if (*p == escape)
			next_special(&specials);
		byte = csv_unescape(p, (uint64_t) (end - p), &sequence, is_odd);
		if (to != NULL)
			to[nbytes] = byte;
		nbytes++;
		run += sequence;
	}
	if (to != NULL)
		memcpy(to + nbytes, run, (size_t) (end - run));
	return nbytes + (uint64_t) (end - run);
}

/* the same for any dialect that is not lenient */
static uint64_t
unquote_any(const CsvDialect *dialect, const uint8_t *field, uint64_t length,
			uint8_t *to, uint64_t room, bool *quoted, bool *is_odd)
{
	const CsvDialectOptions *opt = &dialect->opt;

	*quoted = false;
	*is_odd = false;
	if (opt->quoting == CSV_QUOTING_TEXT)
		return unescape(dialect, field, length, to, room, is_odd);
	if (opt->quote != 0 && length > 0 &&
		(field[0] == opt->quote || opt->quoting == CSV_QUOTING_POSTGRES))
		return opt->escape == opt->quote ?
			unquote(opt, opt->quote, field, length, to, room, quoted) :
			unquote(opt, opt->escape, field, length, to, room, quoted);
	if (to != NULL && length > 0)
		memcpy(to, field, length);
	return length;
}

/*
 * The same for a line that is read leniently: the bytes between the two quotes, or, if
 * there are none, the whole field.
 */
static uint64_t
unquote_leniently(const CsvDialectOptions *opt, const uint8_t *field, uint64_t length,
				  uint8_t *to, bool *quoted)
{
	size_t		pos = 1;
	size_t		end;
	uint64_t	nbytes = 0;

	*quoted = length > 0 && field[0] == opt->quote &&
		csv_lenient_close(opt, field, &pos, length, length);
	if (!*quoted)
	{
		if (length > 0)
			memcpy(to, field, length);
		return length;
	}
	end = pos - 1;
	if (opt->escape == opt->quote)
	{
		memcpy(to, field + 1, end - 1);
		return end - 1;
	}
	for (size_t i = 1; i < end; i++)
	{
		i += csv_lenient_is_escaped(opt, field, i, end);
		to[nbytes++] = field[i];
	}
	return nbytes;
}

uint64_t
csv_field_value(const CsvDialect *dialect, const uint8_t *field,
				uint64_t length, uint8_t *value, uint64_t room, bool *quoted)
{
	bool		is_odd;			/* not used here */

	if (dialect->opt.quoting == CSV_QUOTING_LENIENT)
		return unquote_leniently(&dialect->opt, field, length, value, quoted);
	return unquote_any(dialect, field, length, value, room, quoted, &is_odd);
}

bool
csv_check_text(const uint8_t *text, uint64_t nbytes, uint64_t *nchars)
{
	uint64_t	i = 0;
	uint64_t	count = 0;

	while (i < nbytes)
	{
		uint32_t	sequence;

		if (nbytes - i >= 16)
		{
			CsvPair		unplain = csv_pair_unplain(csv_load_pair(text + i));

			if ((unplain[0] | unplain[1]) == 0)
			{
				i += 16;
				count += 16;
				continue;
			}
		}
		if (text[i] == 0)
			return false;
		sequence = csv_utf8_sequence(text + i, nbytes - i);
		if (sequence == 0)
			return false;
		i += sequence;
		count++;
	}
	*nchars = count;
	return true;
}

void
csv_fast_measure(const CsvDialect *dialect, const uint8_t *field,
				 uint64_t length, bool is_plain, uint8_t *value,
				 CsvMeasure *measure)
{
	uint64_t	nchars = length;
	bool		is_odd;

	measure->nbytes = unquote_any(dialect, field, length, value, length,
								  &measure->quoted, &is_odd);
	if (is_odd || (!is_plain && !csv_check_text(field, length, &nchars)))
	{
		/* go byte by byte to find all that is wrong */
		csv_field_measure(dialect, field, length, measure);
		return;
	}
	measure->has_nul = false;
	measure->invalid_utf8 = false;
	measure->beyond_ascii = nchars != length;
	measure->nchars = nchars - (length - measure->nbytes);
}
