/*
 * try.c
 *		The dialect of a sample: tries those that are usual.
 *
 *	1. Each delimiter is tried, with the usual quotes: the right one gives most records
 *	   the same number of fields, and no quoting errors.  Then other quotes, where these
 *	   explain the sample better, and COPY's text format.
 *	2. Lines that begin as comments may are left out, if that loses no row of the table.
 *	3. Delimiters of several characters, and blanks around values, are tried on copies of
 *	   the sample that are without (delimiter.c).
 */
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "miscadmin.h"

#include "import/cell.h"
#include "import/comment.h"
#include "import/delimiter.h"
#include "import/grid.h"
#include "import/try.h"
#include "reader/field.h"

/* qualities of delimiters that are nearer than this are equal */
#define SAME_QUALITY	0.02

/*
 * That many records, and that share of them, must begin a field with a quote
 * that encloses nothing for quotes to mean nothing: a few are mistakes.
 */
#define LEAST_STRAY_QUOTES	3
#define STRAY_QUOTES		0.1

/*
 * Blanks are tried where less of the records are a table else; then columns that have a
 * type, and records with another number of fields, for each that is a row
 */
#define LEAST_ROWS		0.8
#define LEAST_TYPED_BY_BLANKS	1.2
#define LINES_OF_VALUES	50
#define MOST_OTHERS		0.05

/* a delimiter of several characters, and blanks to be trimmed, are in nearly all rows */
#define LEAST_PADDED	0.9

/* how much better one must be that has nothing in common with the best of one character */
#define BETTER			1.2

/* in order of preference, all else being equal */
static const uint8_t delimiters[] = {'\t', ';', ',', '|', '^', '~', 0x01, 0x1f};

/* ---- the boundary ---- */

CsvBoundary
csv_find_boundary(const CsvSample *sample, uint8_t quote)
{
	bool		inside = false;
	bool		any_cr = false;

	for (uint64 i = 0; i < Min(sample->nbytes, CSV_BOUNDARY_BYTES); i++)
	{
		uint8_t		byte = sample->bytes[i];

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		if (quote != 0 && byte == quote)
			inside = !inside;
		else if (byte == '\n' && !inside)
			return i > 0 && sample->bytes[i - 1] == '\r' ?
				CSV_BOUNDARY_CRLF : CSV_BOUNDARY_LF;
		else if (byte == '\r' && !inside)
			any_cr = true;
	}
	return any_cr ? CSV_BOUNDARY_CR : CSV_BOUNDARY_AUTO;
}

/* ---- delimiter and quote ---- */

/* the records [from, to) that are rows of a sheet's table, and the others */
static uint32
count_rows_of(const CsvSheet *sheet, uint32 from, uint32 to, uint32 *nothers)
{
	uint32		nrows = 0;

	*nothers = 0;
	for (uint32 i = from; i < to; i++)
		if (csv_is_row(&sheet->records[i], sheet->nfields))
			nrows++;
		else
			*nothers += !sheet->records[i].blank && !sheet->records[i].comment;
	return nrows;
}

/* the same of the table itself */
static uint32
count_rows(const CsvSheet *sheet, uint32 *nothers)
{
	return count_rows_of(sheet, sheet->from, sheet->to, nothers);
}

/* do nearly all records of a sheet agree, from the first of the table on? */
static bool
is_regular(const CsvSheet *sheet)
{
	uint32		nothers;
	uint32		nrows = count_rows(sheet, &nothers);

	return sheet->is_table && nrows >= 2 && nothers <= nrows * MOST_OTHERS;
}

/*
 * Commas are in numbers and texts of all files.  They delimit nothing where something
 * else does so in more records, such as the header.
 */
static bool
outdoes_commas(const CsvSheet *sheet, const CsvSheet *commas)
{
	uint32		nothers;

	return commas->options.delimiter == ',' && sheet->options.delimiter != ',' &&
		is_regular(sheet) && sheet->from <= commas->from &&
		count_rows(sheet, &nothers) > count_rows(commas, &nothers);
}

/*
 * Is this sheet better than the best so far, which had its delimiter before it
 * in the order of preference?
 */
static bool
is_better(const CsvSheet *sheet, const CsvSheet *best)
{
	if (!sheet->is_table || !best->is_table)
		return sheet->is_table;
	if (outdoes_commas(best, sheet))
		return false;
	if (outdoes_commas(sheet, best))
		return true;
	if (sheet->quality < best->quality * (1 - SAME_QUALITY))
		return false;
	if (sheet->quality > best->quality * (1 + SAME_QUALITY))
		return true;

	/* commas between semicolons are decimal ones */
	if (best->options.delimiter == ';' && sheet->options.delimiter == ',')
		return false;
	return sheet->nfields > best->nfields;
}

/* the delimiter that the line "sep=;" at the beginning tells; 0: there is none */
static uint8_t
told_delimiter(const CsvSample *sample)
{
	if (sample->nbytes < 6 || pg_strncasecmp((const char *) sample->bytes, "sep=", 4) != 0 ||
		(sample->bytes[5] != '\r' && sample->bytes[5] != '\n') ||
		memchr(delimiters, sample->bytes[4], sizeof(delimiters)) == NULL)
		return 0;
	return sample->bytes[4];
}

/* is a line one number, or one date and time, with blanks in it? */
static bool
is_one_value(const char *line, uint32 nbytes)
{
	const char *blank = strchr(line, ' ');
	CsvCellKind kind = csv_cell_kind(line, nbytes);

	if (kind == CSV_CELL_NUMBER)
		return true;
	if (kind != CSV_CELL_TIME || blank == NULL)
		return false;
	for (uint32 i = 0; i < nbytes; i++)
		if (isalpha((unsigned char) line[i]))
			return true;
	return strchr(blank + 1, ' ') == NULL &&
		csv_cell_kind(line, (uint32) (blank - line)) == CSV_CELL_TIME;
}

/* are most lines of a sheet's table one value each? */
static bool
is_column_of_values(const CsvSheet *sheet, const CsvSample *sample)
{
	CsvDialectOptions with = sheet->options;
	CsvDialect	dialect;
	CsvScan		scan;
	uint32		nlines = 0;
	uint32		nvalues = 0;

	with.delimiter = csv_unused_byte(sample);
	csv_dialect_compile(&dialect, &with);
	csv_sample_begin(&scan, sheet->records[sheet->from].start);
	while (nlines++ < LINES_OF_VALUES && csv_sample_next(&scan, &dialect, sample))
	{
		char	   *line;
		uint32		nbytes = csv_sample_value(&scan, &dialect, sample, 0, &line, NULL);

		nvalues += is_one_value(line, nbytes);
		pfree(line);
	}
	csv_sample_end(&scan);
	return nvalues * 2 >= nlines;
}

/* has a sheet's table, or nearly all of it, blanks around values? */
static bool
is_padded(const CsvBlanks *blanks)
{
	return blanks->nrows >= 2 && blanks->npadded >= blanks->nrows * LEAST_PADDED;
}

/*
 * Single blanks, which are in texts as well: nearly all records must agree, and several
 * columns have a type.  Beside other delimiters they are around values.
 */
static bool
are_blanks_delimiters(const CsvSheet *sheet, const CsvSample *sample)
{
	uint32		nothers;
	uint32		nrows = count_rows_of(sheet, 0, sheet->nrecords, &nothers);
	CsvBlanks	blanks;

	if (!sheet->is_table || sheet->typed < LEAST_TYPED_BY_BLANKS ||
		nothers > 1 + nrows * MOST_OTHERS || is_column_of_values(sheet, sample))
		return false;
	blanks = csv_count_blanks(sheet, sample);
	return !is_padded(&blanks);
}

/*
 * With this quote, the best of the delimiters; one that is the quote, or part
 * of what stands for NULL, is none.
 */
static CsvSheet
try_delimiters(const CsvDialectOptions *options, const char *null_string,
			   bool delimiter_given, const CsvSample *sample)
{
	CsvSheet	best = {.options = *options};
	CsvDialectOptions with = *options;
	uint8_t		told = told_delimiter(sample);
	uint8_t		unused = 0;
	bool		is_covered;

	if (delimiter_given)
		return csv_sheet_read(options, sample);
	for (size_t i = 0; i < lengthof(delimiters); i++)
	{
		CsvSheet	sheet;

		with.delimiter = delimiters[i];
		if (with.delimiter == with.quote ||
			(with.comment_length > 0 && with.comment[0] == with.delimiter) ||
			strchr(null_string, with.delimiter) != NULL)
			continue;
		sheet = csv_sheet_read(&with, sample);
		if (sheet.is_table && (with.delimiter == told ||
								(with.delimiter == '\t' && sample->prefers_tab)))
			return sheet;
		if (is_better(&sheet, &best))
			best = sheet;
		if (sheet.is_single && (unused == 0 || with.delimiter == ','))
			unused = with.delimiter;
	}
	is_covered = best.is_table && best.to - best.from >= best.nrecords * LEAST_ROWS;
	if (!is_covered ||
		(best.nquoted == 0 && with.quote != 0 &&
		 memchr(sample->bytes, with.quote, sample->nbytes) != NULL))
	{
		CsvSheet	sheet;

		/* what delimits else may always stand in quotes that begin behind blanks */
		with.delimiter = ' ';
		sheet = csv_sheet_read(&with, sample);
		if ((!is_covered || sheet.nquoted >= sheet.to - sheet.from) &&
			are_blanks_delimiters(&sheet, sample) && is_better(&sheet, &best))
			best = sheet;
	}
	if (best.is_table)
		return best;

	/* one field: what does not occur in it delimits it */
	with.delimiter = unused != 0 ? unused : options->delimiter;
	return csv_sheet_read(&with, sample);
}

/* what COPY's text format escapes; not numbers of bytes, which no program writes */
typedef struct Escapes
{
	uint32		nnulls;			/* \N, all of a field */
	uint32		nothers;
	uint32		nodd;			/* backslashes that begin none */
	uint32		nempty;			/* fields */
	bool		at_end;			/* \. is the last line */

	/* backslashes before tabs and line breaks, as MySQL writes them: what they join ... */
	uint32		njoins;
	uint32		width;			/* ... is a record of so many fields ... */
	uint32		nrows;
	uint32		nmisfits;		/* ... or is not */
} Escapes;

/* a field's; true: it ends with a backslash, and goes on in the next one */
static bool
count_escapes(Escapes *escapes, const uint8_t *field, uint64 nbytes)
{
	escapes->nempty += nbytes == 0;
	escapes->at_end = nbytes == 2 && memcmp(field, "\\.", 2) == 0;
	if (nbytes == 2 && memcmp(field, "\\N", 2) == 0)
		escapes->nnulls++;
	else if (!escapes->at_end)
		for (uint64 i = 0; i < nbytes; i++)
		{
			if (field[i] != '\\')
				continue;
			i++;
			if (i == nbytes)
				return true;
			if (memchr("\\bfnrtv", field[i], 8) != NULL)
				escapes->nothers++;
			else
				escapes->nodd++;
		}
	return false;
}

static Escapes
find_escapes(const CsvSheet *sheet, const CsvSample *sample)
{
	CsvDialectOptions options = sheet->options;
	Escapes		escapes = {0};
	CsvDialect	dialect;
	CsvScan		scan;
	uint32		n = 0;
	uint32		nfields = 0;

	options.quote = options.escape = 0;
	csv_dialect_compile(&dialect, &options);
	csv_sample_begin(&scan, 0);
	while (n++ < CSV_SAMPLE_RECORDS && csv_sample_next(&scan, &dialect, sample))
	{
		bool		goes_on = false;

		for (uint32 i = 0; i < csv_scan_nkept(&scan); i++)
		{
			CsvSpan		span = csv_scan_field(&scan, &dialect, sample->bytes,
											  sample->nbytes, i);

			if (i % CSV_BYTES_TO_INTERRUPT == 0)
				CHECK_FOR_INTERRUPTS();
			goes_on = count_escapes(&escapes, sample->bytes + span.offset, span.length);
			escapes.njoins += goes_on;
			nfields += !goes_on;
		}
		if (goes_on)
			continue;
		if (escapes.width == 0)
			escapes.width = nfields;
		if (!escapes.at_end)
			*(nfields == escapes.width ? &escapes.nrows : &escapes.nmisfits) += 1;
		nfields = 0;
	}
	escapes.nmisfits += nfields > 0;
	csv_sample_end(&scan);
	return escapes;
}

/*
 * Are fields between tabs written as COPY, pg_dump and MySQL do?  Backslashes may as well
 * be part of paths, and other programs write \N, but leave fields empty, too, or have
 * quotes.
 */
static bool
is_text_format(const CsvSheet *sheet, const CsvSample *sample)
{
	Escapes		escapes;

	if (!sheet->is_table || sheet->options.delimiter != '\t' ||
		(sheet->nquoted > 0 && sheet->nbad == 0))
		return false;
	escapes = find_escapes(sheet, sample);
	if (escapes.nodd > 0)
		return false;
	if (escapes.njoins > 0)
		return escapes.nmisfits <= escapes.nrows * MOST_OTHERS &&
			(escapes.width == sheet->nfields || !is_regular(sheet));
	return escapes.at_end ||
		(escapes.nnulls > 0 && (escapes.nempty == 0 || escapes.nothers > 0));
}

/* also those above the table, which may be of it */
static uint32
count_bad(const CsvSheet *sheet)
{
	uint32		nbad = 0;

	for (uint32 i = 0; i < sheet->nrecords; i++)
		nbad += sheet->records[i].bad;
	return nbad;
}

static CsvSheet
guess_dialect(const CsvDialectOptions *options, const char *null_string,
			  const CsvGiven *given, const CsvSample *sample)
{
	CsvDialectOptions with = *options;
	CsvSheet	best = try_delimiters(&with, null_string, given->delimiter,
									  sample);
	CsvSheet	other;

	/* the text format leaves nothing else open, and no table has so many columns */
	if (with.quoting == CSV_QUOTING_TEXT || best.nfields > CSV_MOST_FIELDS_TRIED)
		return best;

	if (!given->format && !given->quote && !given->escape && is_text_format(&best, sample))
	{
		with.quoting = CSV_QUOTING_TEXT;
		with.delimiter = '\t';
		with.quote = with.escape = 0;
		return csv_sheet_read(&with, sample);
	}

	/* a backslash before quotes, where doubling them does not explain it all */
	if (!given->escape && with.quote != 0 &&
		(count_bad(&best) > 0 || !best.is_table ||
		 (best.nquoted == 0 && csv_sample_has(sample, (char[]) {'\\', (char) with.quote, '\0'}))))
	{
		with.escape = '\\';
		other = try_delimiters(&with, null_string, given->delimiter, sample);
		if (other.is_table && other.nquoted > 0 &&
			(!best.is_table || count_bad(&other) < count_bad(&best) ||
			 (best.nquoted == 0 && other.quality > best.quality)))
			best = other;
		with.escape = options->escape;
	}
	if (given->quote || best.nquoted > 0)
		return best;

	/* no field is in quotes: in apostrophes, or do quotes mean nothing? */
	with.quote = '\'';
	if (with.delimiter != '\'' && with.escape != '\'' &&
		strchr(null_string, '\'') == NULL)
	{
		other = try_delimiters(&with, null_string, given->delimiter, sample);
		if (other.nquoted > 0 && other.nbad == 0 &&
			other.quality >= best.quality)
			return other;
	}
	with.quote = 0;
	if (!given->escape &&
		(!best.is_table || (best.nbad >= LEAST_STRAY_QUOTES &&
							best.nbad > best.nlater * STRAY_QUOTES)))
	{
		other = try_delimiters(&with, null_string, given->delimiter, sample);
		if (!best.is_table ? other.is_table : other.quality > best.quality)
			return other;
	}
	return best;
}

/* ---- comments ---- */

/* the same without lines that begin with the sample's marker, if these may be comments */
static bool
leave_out_comments(const CsvSheet *sheet, const CsvDialectOptions *options,
				   const char *null_string, const CsvGiven *given,
				   const CsvSample *sample, CsvSheet *without)
{
	CsvDialectOptions with = *options;

	with.comment_length = (uint8_t) strlen(sample->marker);
	memcpy(with.comment, sample->marker, with.comment_length);
	if ((given->delimiter && with.delimiter == with.comment[0]) ||
		with.quote == with.comment[0] || with.escape == with.comment[0])
		return false;
	*without = guess_dialect(&with, null_string, given, sample);
	if (without->from == without->to || without->is_table < sheet->is_table ||
		without->nfields > MaxHeapAttributeNumber)
		return false;
	if (without->quality < sheet->quality &&
		(without->nfields != sheet->nfields ||
		 without->options.delimiter != sheet->options.delimiter))
		return false;
	return csv_are_comments(without, sample);
}

/* the dialect; the sample's marker is NULL then, or what comments do begin with, or # */
static CsvSheet
guess_comments(const CsvDialectOptions *options, const char *null_string,
			   const CsvGiven *given, CsvSample *sample)
{
	CsvSheet	sheet = guess_dialect(options, null_string, given, sample);
	CsvSheet	without;
	bool		any = false;

	for (uint32 i = 0; i < sheet.nrecords; i++)
		any |= sheet.records[i].comment;
	if (!any || options->comment_length > 0)
		return sheet;
	if (leave_out_comments(&sheet, options, null_string, given, sample, &without) &&
		(strcmp(sample->marker, "##") != 0 ||
		 sample->bytes[without.records[without.from].start] == '#'))
		return without;

	/* what begins with one # less than all others is no header */
	if (strcmp(sample->marker, "##") == 0)
	{
		sample->marker = "#";
		if (leave_out_comments(&sheet, options, null_string, given, sample, &without))
			return without;
	}
	if (*sample->marker != '#')
	{
		sample->marker = NULL;
		for (uint32 i = 0; i < sheet.nrecords; i++)
			sheet.records[i].comment = false;
	}
	return sheet;
}

/* ---- several characters, and blanks ---- */

/* the same of a copy of the sample with one byte for the delimiter */
static CsvTrial
try_delimiter(const CsvDialectOptions *options, const char *null_string,
			  const CsvGiven *given, const CsvSample *sample, const char *delimiter,
			  uint8_t stand_in, bool trim)
{
	CsvTrial	trial = {.trim = trim};
	CsvDialectOptions with = *options;
	CsvGiven	then = *given;

	with.delimiter = stand_in;
	with.delimiter_rest_length = 0;
	then.delimiter = true;
	trial.sample = csv_sample_plain(sample, options, delimiter, stand_in, trim);
	trial.sheet = guess_comments(&with, null_string, &then, &trial.sample);
	if (strlen(delimiter) > 1)
		trial.delimiter = pstrdup(delimiter);
	return trial;
}

static bool
is_in_null_string(const char *null_string, const char *delimiter)
{
	return *null_string != '\0' && strstr(null_string, delimiter) != NULL;
}

/* the same from its end, a bracket for the other */
static bool
is_symmetric(const char *text)
{
	size_t		length = strlen(text);

	for (size_t i = 0; i < length; i++)
	{
		char		other = text[length - 1 - i];

		if (text[i] != (other == '<' ? '>' : other == '>' ? '<' : other))
			return false;
	}
	return true;
}

/*
 * A string that has the best delimiter of one character in it: what is around that must
 * be no part of values, such as percent signs, and no row may be lost.
 */
static bool
may_contain(const char *wide, const CsvSheet *sheet, const CsvSheet *best)
{
	uint32		nothers;

	if (best->is_table && count_rows(sheet, &nothers) < count_rows(best, &nothers))
		return false;
	return strspn(wide, "|~^;:") == strlen(wide) || is_symmetric(wide) ||
		sheet->nfields != best->nfields;
}

/* the best of several characters, if it is better than *best */
static void
try_wide_delimiters(CsvTrial *best, const CsvDialectOptions *options,
					const char *null_string, const CsvGiven *given,
					const CsvSample *sample)
{
	CsvWideDelimiter wide[CSV_WIDE_DELIMITERS];
	uint8_t		stand_in = csv_unused_byte(sample);
	uint32		nwide = stand_in == 0 ? 0 :
		csv_find_wide_delimiters(sample, options->boundary == CSV_BOUNDARY_CR ? '\r' : '\n',
								 wide);

	for (uint32 i = 0; i < nwide; i++)
	{
		CsvTrial	trial;
		bool		contains;

		/* what repeats, in a longer one that is found */
		if ((options->quote != 0 && strchr(wide[i], options->quote) != NULL) ||
			is_in_null_string(null_string, wide[i]) ||
			(best->delimiter != NULL && strstr(best->delimiter, wide[i]) != NULL))
			continue;
		trial = try_delimiter(options, null_string, given, sample, wide[i], stand_in, false);

		/* it may be in quotes that begin behind blanks */
		if (!is_regular(&trial.sheet) && !given->trim)
			trial = try_delimiter(options, null_string, given, sample, wide[i], stand_in, true);
		contains = best->delimiter == NULL &&
			strchr(wide[i], best->sheet.options.delimiter) != NULL;
		if (!is_regular(&trial.sheet) ||
			(contains && !may_contain(wide[i], &trial.sheet, &best->sheet)))
			continue;
		if (!best->sheet.is_table || contains ||
			trial.sheet.quality > best->sheet.quality * BETTER)
			*best = trial;
	}
}

/* is a sheet better without blanks around values, or as good? */
static bool
is_better_trimmed(const CsvSheet *trimmed, const CsvSheet *sheet, const CsvBlanks *blanks)
{
	uint32		nothers;

	if (!trimmed->is_table || !sheet->is_table)
		return is_regular(trimmed);
	if (trimmed->nbad < sheet->nbad || trimmed->quality > sheet->quality)
		return blanks->nquotes > 0 || is_padded(blanks) ||
			trimmed->options.quote != sheet->options.quote;
	if (blanks->nquotes == 0)
		return is_padded(blanks) && trimmed->nfields == sheet->nfields;
	return blanks->nquotes * 2 > blanks->nrows && trimmed->nbad == sheet->nbad &&
		count_rows(trimmed, &nothers) >= count_rows(sheet, &nothers);
}

/*
 * Blanks around values.  Where each delimiter has them (", "), they could be part of it, but
 * one further down that has none would be missed.
 */
static void
try_blanks(CsvTrial *best, const CsvDialectOptions *options, const char *null_string,
		   const CsvGiven *given, const CsvSample *sample)
{
	CsvSheet	sheet = best->sheet;
	char		delimiter[CSV_DELIMITER_BYTES + 1];
	uint8_t		stand_in = sheet.options.delimiter;
	CsvBlanks	blanks;
	CsvTrial	trial;

	csv_dialect_delimiter(&sheet.options, delimiter);
	if (best->delimiter != NULL)
		strlcpy(delimiter, best->delimiter, sizeof(delimiter));
	else if (delimiter[1] != '\0')
		stand_in = csv_unused_byte(sample);

	if (given->trim || best->trim || *delimiter == ' ' || stand_in == 0 ||
		sheet.options.quoting == CSV_QUOTING_TEXT)
		return;

	/* commas in quotes may be all that keeps it from being a table */
	if (!sheet.is_table && !given->delimiter && sheet.options.quote != ',' &&
		!is_in_null_string(null_string, ","))
	{
		*delimiter = ',';
		sheet.options.delimiter = stand_in = ',';
		sheet = csv_sheet_read(&sheet.options, sample);
	}
	blanks = csv_count_blanks(&sheet, &best->sample);

	/* blanks behind quotes are no reason to do without */
	if (!given->quote && sheet.options.quote == 0 && strchr(delimiter, options->quote) == NULL)
		sheet.options.quote = options->quote;
	else if (blanks.nquotes == 0 && (!sheet.is_table || !is_padded(&blanks)))
		return;
	trial = try_delimiter(&sheet.options, null_string, given, sample, delimiter, stand_in,
						  true);
	if (is_better_trimmed(&trial.sheet, &best->sheet, &blanks))
		*best = trial;
}

CsvTrial
csv_try_dialects(const CsvDialectOptions *options, const char *null_string,
				 const CsvGiven *given, const CsvSample *sample)
{
	CsvTrial	best = {.sample = *sample};
	CsvSample	marked;

	best.sample.marker = given->further && options->comment_length == 0 ? NULL :
		csv_find_marker(sample, options->boundary == CSV_BOUNDARY_CR ?
										 '\r' : '\n');
	marked = best.sample;
	best.sheet = guess_comments(options, null_string, given, &best.sample);
	if (best.sheet.nfields > CSV_MOST_FIELDS_TRIED)
		return best;
	if (!given->delimiter && best.sheet.options.quoting != CSV_QUOTING_TEXT)
		try_wide_delimiters(&best, options, null_string, given, &marked);
	try_blanks(&best, options, null_string, given, &marked);
	return best;
}
