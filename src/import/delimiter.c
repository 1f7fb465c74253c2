/*
 * delimiter.c
 *		Delimiters of several characters, and blanks around values.
 *
 * Candidates are the strings of punctuation that most lines have.  Each is tried on a
 * copy of the sample in which it is one byte; so the sheet need not know of it.  One that has a
 * usual delimiter in it, as || and %; do, would also be found where fields are empty, or
 * values end with a percent sign: that character hardly stands alone.
 */
#include "postgres.h"

#include <ctype.h>

#include "miscadmin.h"

#include "import/delimiter.h"
#include "reader/field.h"

/* lines in which candidates are looked for, their bytes, and candidates that are counted */
#define LINES			100
#define LINES_BYTES		(64 * 1024)
#define CANDIDATES		64

/* share of the lines that must have one */
#define LEAST_LINES		0.6

/* most characters that may stand alone, of those that are in delimiters */
#define MOST_ALONE		0.3

/* rows in which blanks are counted, and lines in which they are looked for */
#define BLANK_ROWS		200

typedef struct Candidate
{
	CsvWideDelimiter text;
	uint32		nlines;			/* that have it */
	uint32		nends;			/* that end with it */
	uint32		n;
	uint32		last_line;
} Candidate;

static bool
is_punctuation(uint8_t byte)
{
	return byte != 0 && strchr("|~^@;:#$&*!%=<>", byte) != NULL;
}

/* ---- candidates ---- */

static void
count_candidate(Candidate *candidates, uint32 *ncandidates, const uint8_t *text,
				uint32 nbytes, uint32 times, uint32 line, bool at_end)
{
	uint32		i = 0;

	while (i < *ncandidates && (strlen(candidates[i].text) != nbytes ||
								memcmp(candidates[i].text, text, nbytes) != 0))
		i++;
	if (i == CANDIDATES)
		return;
	if (i == *ncandidates)
	{
		memset(&candidates[i], 0, sizeof(Candidate));
		memcpy(candidates[i].text, text, nbytes);
		*ncandidates += 1;
	}
	candidates[i].nlines += candidates[i].last_line != line;
	candidates[i].last_line = line;
	candidates[i].nends += at_end;
	candidates[i].n += times;
}

/* a string of punctuation; || may also be in ||||, with an empty field between */
static void
count_string(Candidate *candidates, uint32 *ncandidates, const uint8_t *text,
			 uint64 nbytes, uint32 line, bool at_end)
{
	bool		repeats = true;

	for (uint64 i = 1; i < nbytes; i++)
		repeats &= text[i] == text[0];
	if (!repeats)
	{
		if (nbytes <= CSV_WIDE_BYTES)
			count_candidate(candidates, ncandidates, text, (uint32) nbytes, 1, line, at_end);
		return;
	}
	for (uint32 part = 2; part <= Min(nbytes, CSV_WIDE_BYTES); part++)
		if (nbytes % part == 0)
			count_candidate(candidates, ncandidates, text, part, (uint32) (nbytes / part),
							line, at_end);
}

/* a colon of a time */
static bool
is_in_time(const CsvSample *sample, uint64 i)
{
	return sample->bytes[i] == ':' && i > 0 && i + 1 < sample->nbytes &&
		isdigit(sample->bytes[i - 1]) && isdigit(sample->bytes[i + 1]);
}

/* do the usual delimiters of a string, or what it repeats, hardly stand without it? */
static bool
is_whole(const Candidate *candidate, const uint32 *counts)
{
	const char *text = candidate->text;
	size_t		length = strlen(text);

	for (size_t i = 0; i < length; i++)
	{
		uint32		inside = 0;

		if (strchr("|~^;", text[i]) == NULL &&
			strspn(text, (char[]) {text[i], '\0'}) != length)
			continue;
		for (size_t j = 0; j < length; j++)
			inside += text[j] == text[i] ? candidate->n : 0;
		if (counts[(uint8_t) text[i]] - inside > inside * MOST_ALONE)
			return false;
	}
	return true;
}

static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *left = a;
	const Candidate *right = b;
	size_t		left_length = strlen(left->text);
	size_t		right_length = strlen(right->text);

	/* a longer one is all of what repeats */
	return left->nlines != right->nlines ? (left->nlines > right->nlines ? -1 : 1) :
		left_length != right_length ? (left_length > right_length ? -1 : 1) :
		left->n > right->n ? -1 : left->n < right->n;
}

uint32
csv_find_wide_delimiters(const CsvSample *sample, uint8_t break_byte,
						 CsvWideDelimiter *found)
{
	Candidate	candidates[CANDIDATES];
	uint32		ncandidates = 0;
	uint32		counts[256] = {0};
	uint32		nlines = 1;
	uint32		nfound = 0;
	uint64		end = Min(sample->nbytes, LINES_BYTES);

	for (uint64 i = 0; i < end && nlines <= LINES;)
	{
		uint64		from = i;

		for (; i < end && is_punctuation(sample->bytes[i]); i++)
			counts[sample->bytes[i]] += !is_in_time(sample, i);
		if (i - from >= 2)
			count_string(candidates, &ncandidates, sample->bytes + from, i - from, nlines,
						 i == end || sample->bytes[i] == '\n' || sample->bytes[i] == '\r');
		if (i > from)
			continue;
		nlines += sample->bytes[i] == break_byte;
		i++;
	}
	qsort(candidates, ncandidates, sizeof(Candidate), compare_candidates);
	for (uint32 i = 0; i < ncandidates && nfound < CSV_WIDE_DELIMITERS; i++)
		if (candidates[i].nlines >= 2 &&
			candidates[i].nlines >= (nlines - 1) * LEAST_LINES &&
			candidates[i].nends * 2 < candidates[i].nlines &&
			is_whole(&candidates[i], counts))
			memcpy(found[nfound++], candidates[i].text, sizeof(CsvWideDelimiter));
	return nfound;
}

uint8_t
csv_unused_byte(const CsvSample *sample)
{
	static const uint8_t bytes[] = {0x1f, 0x1e, 0x1d, 0x1c, 0x02, 0x01};

	for (size_t i = 0; i < sizeof(bytes); i++)
		if (memchr(sample->bytes, bytes[i], sample->nbytes) == NULL &&
			(sample->ntail == 0 || memchr(sample->tail, bytes[i], sample->ntail) == NULL))
			return bytes[i];
	return 0;
}

/* ---- a sample in other words ---- */

/* the end of a quoted value that begins at pos, behind its quote */
static uint64
quoted_end(const uint8_t *bytes, uint64 nbytes, uint64 pos, const CsvDialectOptions *options)
{
	uint8_t		escape = options->escape != 0 ? options->escape : options->quote;

	for (pos++; pos < nbytes; pos++)
	{
		if (bytes[pos] == escape && pos + 1 < nbytes &&
			(bytes[pos + 1] == options->quote || bytes[pos + 1] == escape))
			pos++;
		else if (bytes[pos] == options->quote)
			return pos + 1;
	}
	return nbytes;
}

/* the same bytes in other words, in *to, which has room for as many; how many they are */
static uint64
make_plain(const uint8_t *bytes, uint64 nbytes, const CsvDialectOptions *options,
		   const char *marker, const char *delimiter, uint8_t stand_in, bool trim,
		   uint8_t *to)
{
	const size_t length = strlen(delimiter);
	const size_t marker_length = marker == NULL ? 0 : strlen(marker);
	uint64		n = 0;
	bool		in_comment = false;

	/* field by field */
	for (uint64 i = 0; i < nbytes;)
	{
		uint64		value;
		bool		is_break = false;
		bool		is_delimiter = false;

		CHECK_FOR_INTERRUPTS();
		if (i == 0 || bytes[i - 1] == '\n' || bytes[i - 1] == '\r')
			in_comment = marker_length > 0 && nbytes - i >= marker_length &&
				memcmp(bytes + i, marker, marker_length) == 0;
		while (trim && i < nbytes && csv_is_blank(bytes[i]) && bytes[i] != (uint8_t) *delimiter)
			i++;
		if (i < nbytes && options->quote != 0 && bytes[i] == options->quote && !in_comment)
		{
			uint64		end = quoted_end(bytes, nbytes, i, options);

			memcpy(to + n, bytes + i, end - i);
			n += end - i;
			i = end;
		}
		value = n;
		for (; i < nbytes; to[n++] = bytes[i++])
		{
			is_break = bytes[i] == '\n' || bytes[i] == '\r';
			is_delimiter = bytes[i] == (uint8_t) *delimiter && nbytes - i >= length &&
				memcmp(bytes + i, delimiter, length) == 0;
			if (is_break || is_delimiter)
				break;
		}
		while (trim && n > value && csv_is_blank(to[n - 1]))
			n--;
		if (is_delimiter)
		{
			to[n++] = stand_in;
			i += length;
		}
		else if (i < nbytes)
			to[n++] = bytes[i++];
	}
	return n;
}

CsvSample
csv_sample_plain(const CsvSample *sample, const CsvDialectOptions *options,
				 const char *delimiter, uint8_t stand_in, bool trim)
{
	CsvSample	plain = *sample;
	uint8_t    *bytes = palloc_extended(sample->nbytes + 1, MCXT_ALLOC_HUGE);
	uint8_t    *tail = palloc_extended(sample->ntail + 1, MCXT_ALLOC_HUGE);

	plain.nbytes = make_plain(sample->bytes, sample->nbytes, options, sample->marker, delimiter,
							  stand_in, trim, bytes);
	plain.bytes = bytes;
	plain.ntail = make_plain(sample->tail, sample->ntail, options, sample->marker, delimiter,
							 stand_in, trim, tail);
	plain.tail = tail;
	return plain;
}

/* ---- blanks ---- */

/* a byte that delimits in other files */
static bool
is_delimiter(uint8_t byte)
{
	return byte != 0 && strchr("\t;,|^~", byte) != NULL;
}

/* has a field, that blanks delimit, another delimiter at its end, or its beginning? */
static bool
has_delimiter(const uint8_t *text, uint64 nbytes)
{
	return is_delimiter(text[0]) || is_delimiter(text[nbytes - 1]) ||
		(nbytes >= 2 && memcmp(text + nbytes - 2, "::", 2) == 0);
}

static void
look_at_field(const CsvDialectOptions *options, const uint8_t *text, uint64 nbytes,
			  bool is_first, bool *padded, bool *quoted)
{
	uint64		before = 0;

	while (before < nbytes && csv_is_blank(text[before]))
		before++;
	if (options->delimiter == ' ')
		*padded |= nbytes > 0 && has_delimiter(text, nbytes);
	else if (before < nbytes)
	{
		*padded |= before > 0 || csv_is_blank(text[nbytes - 1]);
		*quoted |= !is_first && before > 0 && options->quote != 0 &&
			text[before] == options->quote;
	}
}

CsvBlanks
csv_count_blanks(const CsvSheet *sheet, const CsvSample *sample)
{
	CsvBlanks	blanks = {0};
	CsvDialect	dialect;
	CsvScan		scan;

	csv_dialect_compile(&dialect, &sheet->options);
	csv_sample_begin(&scan, 0);
	for (uint32 i = 0; i < Min(sheet->nrecords, sheet->from + BLANK_ROWS); i++)
	{
		bool		padded = false;
		bool		quoted = false;
		bool		is_row = i >= sheet->from && i < sheet->to;

		scan.next = sheet->records[i].start;
		if (sheet->records[i].blank || sheet->records[i].comment ||
			!csv_sample_next(&scan, &dialect, sample))
			continue;
		blanks.nrows += is_row;
		for (uint32 field = 0; field < csv_scan_nkept(&scan); field++)
		{
			CsvSpan		span = csv_scan_field(&scan, &dialect, sample->bytes,
											  sample->nbytes, field);

			if (field % CSV_BYTES_TO_INTERRUPT == 0)
				CHECK_FOR_INTERRUPTS();
			look_at_field(&sheet->options, sample->bytes + span.offset, span.length,
						  field == 0, &padded, &quoted);
		}
		blanks.npadded += padded && is_row;
		blanks.nquotes += quoted;
	}
	csv_sample_end(&scan);
	return blanks;
}
