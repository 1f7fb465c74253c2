/*
 * guess.c
 *		The dialect of a file, from its beginning.
 *
 *	1. CRs end records if there are some, and no LF, outside quotes.
 *	2. Delimiters, quotes and their like are tried (try.c).
 *	3. There is a header if the first record does not look like those after it:
 *	   its names do not fit the types of the columns below, or, where all of
 *	   these are text, it looks like names and occurs nowhere else.
 *	4. Numbers have decimal commas, or thousands separators, if more columns are
 *	   numbers then.
 *
 * A guess is only that: whoever knows better says so by options.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/htup_details.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/comment.h"
#include "import/ending.h"
#include "import/guess.h"
#include "import/header.h"
#include "reader/field.h"
#include "table/source.h"

/* most bytes of a field that may be a name */
#define NAME_BYTES		63

/* ---- the header ---- */

/* take names; those of a header that is too wide for a table are not there */
static void
take_names(CsvGuess *guess, CsvCells names)
{
	guess->header = names.texts;
	guess->header_lengths = names.lengths;
	guess->nheader = names.ncells;
}

/*
 * Read header_rows records, blank lines among them, and the fields of the last.  Returns
 * the offset of what follows.
 */
static uint64
read_header(const CsvTable *table, const CsvSample *sample, CsvCells *cells)
{
	CsvSheet	sheet = {.options = table->reader.dialect};
	CsvSampleRecord last = {0};
	CsvDialectOptions options = table->reader.dialect;
	CsvDialect	dialect;
	CsvScan		scan;

	options.blank_is_record = true;
	csv_dialect_compile(&dialect, &options);
	csv_sample_begin(&scan, 0);
	for (uint32 i = 0; i < table->reader.header_rows; i++)
		if (!csv_sample_next(&scan, &dialect, sample))
			return sample->nbytes;
	last.start = scan.start;
	sheet.records = &last;
	if (table->reader.header_rows > 0)
		*cells = csv_header_cells(&sheet, sample, 0);
	csv_sample_end(&scan);
	return scan.next;
}

CsvCells
csv_last_header_row(const CsvTable *table, const CsvSample *sample)
{
	CsvCells	cells = {0};

	(void) read_header(table, sample, &cells);
	return cells;
}

/* is it like a name: a letter first, and nothing unusual? */
static bool
looks_like_name(const char *value, uint32 nbytes)
{
	if (nbytes == 0 || nbytes > NAME_BYTES)
		return false;
	if (!IS_HIGHBIT_SET(value[0]) && value[0] != '_' &&
		!isalpha((unsigned char) value[0]))
		return false;
	for (uint32 i = 1; i < nbytes; i++)
		if (!IS_HIGHBIT_SET(value[i]) &&
			!isalnum((unsigned char) value[i]) &&
			(value[i] == '\0' ||
			 strchr(" _-./:()[]#%&+*?$'\"@", value[i]) == NULL))
			return false;
	return true;
}

/* a value in the sample's encoding: types that are not text are ASCII */
static void
infer_sample(CsvInferrer *inferrer, CsvInference *inference,
			 const char *value, uint32 nbytes)
{
	const char *wide = inferrer->wide_thousands;
	size_t		length = wide == NULL ? 0 : strlen(wide);

	for (uint32 i = 0; i < nbytes; i++)
	{
		if (wide != NULL && nbytes - i >= length && memcmp(value + i, wide, length) == 0)
			i += (uint32) length - 1;
		else if (IS_HIGHBIT_SET(value[i]) || value[i] == '\0')
		{
			inference->family = CSV_FAMILY_TEXT;
			return;
		}
	}
	csv_infer_value(inferrer, inference, value, nbytes);
}

/* does the field stand for NULL? */
static bool
is_null_string(const CsvTable *table, const CsvSample *sample, CsvSpan span)
{
	return csv_bytes_equal(sample->bytes + span.offset, span.length,
						   (const uint8_t *) table->null_string,
						   strlen(table->null_string));
}

/*
 * What the records from `start` on that have so many fields, or as many as the
 * first one (nfields 0), let infer of each; *nfields is how many there are.
 * *recurs: some value is that field's of the header, if there is one.
 */
static CsvInference *
infer_columns(CsvInferrer *inferrer, const CsvTable *table,
			  const CsvSample *sample, uint64 start, uint32 *nfields,
			  const CsvGuess *guess, bool *recurs)
{
	CsvInference *columns = NULL;
	CsvDialect	dialect;
	CsvScan		scan;

	csv_dialect_compile(&dialect, &table->reader.dialect);
	csv_sample_begin(&scan, start);
	for (uint32 n = 0; n < CSV_SAMPLE_RECORDS &&
		 csv_sample_next(&scan, &dialect, sample); n++)
	{
		if (scan.bad || scan.nfields > MaxHeapAttributeNumber ||
			(*nfields != 0 && scan.nfields != *nfields))
			continue;
		*nfields = scan.nfields;
		if (columns == NULL)
			columns = palloc0(sizeof(CsvInference) * *nfields);
		for (uint32 i = 0; i < *nfields; i++)
		{
			char	   *value;
			uint32		nbytes = csv_sample_value(&scan, &dialect, sample,
												  i, &value, NULL);

			if (nbytes > 0 &&
				!is_null_string(table, sample,
								csv_scan_field(&scan, &dialect, sample->bytes,
											   sample->nbytes, i)))
			{
				infer_sample(inferrer, &columns[i], value, nbytes);
				*recurs |= guess != NULL &&
					nbytes == guess->header_lengths[i] &&
					memcmp(value, guess->header[i], nbytes) == 0;
			}
			pfree(value);
		}
	}
	return columns != NULL ? columns :
		palloc0(sizeof(CsvInference) * Max(*nfields, 1));
}

/*
 * Does the first record, of which guess->header has the fields, look like a
 * header to the records from `start` on?
 */
static bool
is_header(const CsvTable *table, const CsvSample *sample,
		  const CsvGuess *guess, uint64 start)
{
	CsvInferrer inferrer;
	const CsvInference *columns;
	uint32		nfields = guess->nheader;
	uint32		nnames = 0;
	uint32		nempty = 0;
	uint32		ntyped = 0;		/* columns that are not text ... */
	uint32		nstrange = 0;	/* ... to whose type the name is strange */
	bool		recurs = false;

	csv_inferrer_init(&inferrer, table);
	columns = infer_columns(&inferrer, table, sample, start, &nfields, guess,
							&recurs);
	for (uint32 i = 0; i < nfields; i++)
	{
		CsvInference column = columns[i];
		uint32		nbytes = guess->header_lengths[i];

		nempty += nbytes == 0;
		nnames += looks_like_name(guess->header[i], nbytes);
		if (nbytes == 0 || column.family == CSV_FAMILY_NONE ||
			column.family == CSV_FAMILY_TEXT)
			continue;
		ntyped++;
		infer_sample(&inferrer, &column, guess->header[i], nbytes);

		/* as a name, nan and inf are no numbers */
		nstrange += column.family == CSV_FAMILY_TEXT ||
			(column.family == CSV_FAMILY_NUMBER &&
			 strpbrk(guess->header[i], "0123456789") == NULL);
	}
	if (ntyped > 0)
		return nstrange == ntyped;
	return nnames > 0 && nnames + nempty == nfields && nempty <= nfields / 2 &&
		!recurs;
}

/* ---- decimal commas, and thousands ---- */

/*
 * Are what stands between digits of a column thousands separators?  A point or comma
 * may be decimal, and a blank part the digits of a code.
 */
static bool
parts_thousands(const CsvInference *column, const char *thousands, uint8_t delimiter)
{
	if (column->ngrouped == 0)
		return false;
	if (column->surely_grouped)
		return true;
	if (*thousands == ' ' || *thousands == '\'' || IS_HIGHBIT_SET(*thousands))
		return column->any_point ||
			column->least_whole_digits <= column->whole_digits;
	return *thousands == ',' && delimiter != ';' && column->ngrouped >= 2 &&
		!column->any_long_ungrouped;
}

/*
 * Columns of the sample that are numbers with these separators, an empty string for none
 * of thousands, and are not so with any others; *sure tells of one whose separators
 * cannot be anything else.
 */
static uint32
count_numbers(CsvTable *table, char decimal, const char *thousands,
			  const CsvSample *sample, uint64 start, bool *sure)
{
	uint32		nfields = 0;
	uint32		nnumbers = 0;
	const CsvInference *columns;
	CsvInferrer inferrer;
	bool		ignored = false;

	*sure = false;
	csv_inferrer_init(&inferrer, table);
	inferrer.decimal_separator = decimal;
	inferrer.thousands = 0;
	inferrer.wide_thousands = NULL;
	if (*thousands != '\0')
		csv_infer_thousands(&inferrer, thousands);
	columns = infer_columns(&inferrer, table, sample, start, &nfields, NULL,
							&ignored);
	for (uint32 i = 0; i < nfields; i++)
		if (columns[i].family == CSV_FAMILY_NUMBER)
		{
			nnumbers += *thousands != '\0' || !csv_inference_is_ambiguous(&columns[i]);
			*sure |= *thousands == '\0' ?
				columns[i].any_ungrouped :
				parts_thousands(&columns[i], thousands,
								table->reader.dialect.delimiter);
		}
	return nnumbers;
}

/* a thousands separator in the server's encoding, and in the sample's */
typedef struct CsvThousands
{
	char	   *separator;
	const char *bytes;			/* NULL: the sample has none */
} CsvThousands;

#define ASCII_THOUSANDS	5
#define NUM_THOUSANDS	9

/* those that are usual, the first is none; beyond ASCII only if the sample has them */
static void
list_thousands(const CsvTable *table, const CsvSample *sample, CsvThousands *thousands)
{
	static char *const ascii[ASCII_THOUSANDS] = {"", ",", ".", " ", "'"};

	/* no-break blank, narrow no-break blank, thin blank, apostrophe of typesetters */
	static char *const wide[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99"};
	static const char *const win1252[] = {"\xa0", NULL, NULL, "\x92"};

	for (int i = 0; i < ASCII_THOUSANDS; i++)
		thousands[i] = (CsvThousands) {ascii[i], ascii[i]};
	for (int i = 0; i < NUM_THOUSANDS - ASCII_THOUSANDS; i++)
	{
		const char *bytes = GetDatabaseEncoding() != PG_UTF8 ? NULL :
			table->encoding == PG_UTF8 ? wide[i] :
			table->encoding == PG_WIN1252 || (table->encoding == PG_LATIN1 && i == 0) ?
			win1252[i] : NULL;

		if (bytes != NULL && !csv_sample_has(sample, bytes))
			bytes = NULL;
		thousands[ASCII_THOUSANDS + i] = (CsvThousands) {wide[i], bytes};
	}
}

/*
 * The separators with which most columns are numbers, if some value is sure to be
 * one only then.  Where all points of a column may separate thousands, another one has
 * the word.
 */
static void
guess_separators(CsvTable *table, const CsvGiven *given, const CsvSample *sample,
				 uint64 start)
{
	static const char decimals[] = {'.', ','};
	CsvThousands thousands[NUM_THOUSANDS];
	const char	given_decimal = given->decimal_separator ? table->decimal_separator : 0;
	char	   *given_thousands = table->thousands_separator;
	int			nthousands = given_thousands != NULL ? 1 : NUM_THOUSANDS;
	uint32		most = 0;

	list_thousands(table, sample, thousands);
	if (given_thousands != NULL)
		thousands[0].bytes = pg_server_to_any(given_thousands, (int) strlen(given_thousands),
											  table->encoding);
	for (int i = 0; i < nthousands; i++)
		for (size_t j = 0; j < lengthof(decimals); j++)
		{
			const char *bytes = thousands[i].bytes;
			bool		is_first = i == 0 && (j == 0 || given_decimal != 0);
			bool		sure;
			uint32		n;

			if (bytes == NULL || decimals[j] == *bytes ||
				(given_decimal != 0 && decimals[j] != given_decimal) ||
				(i > 0 && *bytes == (char) table->reader.dialect.quote))
				continue;
			n = count_numbers(table, decimals[j], bytes, sample, start, &sure);
			if (!is_first && (n <= most || !sure))
				continue;
			most = n;
			table->decimal_separator = decimals[j];
			if (i > 0)
				table->thousands_separator = thousands[i].separator;
		}
}

/* ---- the number of fields ---- */

static int
compare_counts(const void *a, const void *b)
{
	uint32		left = *(const uint32 *) a;
	uint32		right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

/*
 * That most records from `start` on have.  Of numbers that are equally frequent
 * the header's counts, if it is one of them, else the largest; nheader is 0 where
 * there is no header.
 */
static uint32
count_fields(const CsvDialectOptions *options, const CsvSample *sample,
			 uint64 start, uint32 nheader)
{
	CsvDialect	dialect;
	CsvScan		scan;
	uint32		counts[CSV_SAMPLE_RECORDS];
	uint32		ncounts = 0;
	uint32		most = 0;
	uint32		nfields = nheader;

	csv_dialect_compile(&dialect, options);
	csv_sample_begin(&scan, start);
	for (uint32 i = 0; i < CSV_SAMPLE_RECORDS &&
		 csv_sample_next(&scan, &dialect, sample); i++)
		if (!scan.bad)
			counts[ncounts++] = scan.nfields;
	csv_sample_end(&scan);

	qsort(counts, ncounts, sizeof(uint32), compare_counts);
	for (uint32 i = 0, run = 0; i < ncounts; i++)
	{
		run = i > 0 && counts[i] == counts[i - 1] ? run + 1 : 1;
		if (run > most || (run == most && nfields != nheader))
		{
			most = run;
			nfields = counts[i];
		}
	}
	return nfields;
}

/* ---- the boundary ---- */

/* do readers find by themselves that lone CRs end records? */
static bool
finds_lone_cr(const CsvDialectOptions *options, const CsvSample *sample)
{
	CsvDialectOptions with = *options;
	CsvDialect	dialect;
	CsvBoundaryLook look = {0};

	with.boundary = CSV_BOUNDARY_AUTO;
	csv_dialect_compile(&dialect, &with);
	(void) csv_look_for_lf(&look, &dialect, sample->bytes,
						   Min(sample->nbytes, CSV_BOUNDARY_BYTES), sample->nbytes);
	return look.lone_cr;
}

/* the first lines with CRs that others do not have, outside quotes */
static void
find_odd_crs(const CsvDialectOptions *options, const CsvSample *sample, CsvGuess *guess)
{
	const uint8_t *bytes = sample->bytes;
	uint64		until = sample->at_end ? sample->nbytes :
		sample->nbytes - Min(sample->nbytes, CSV_CLASS_BYTES);
	uint8_t		state = CSV_STATE_RECORD_START;
	uint64		line = 1;
	uint64		ndoubled = 0;
	uint64		nbreaks = 0;
	CsvDialect	dialect;

	csv_dialect_compile(&dialect, options);
	for (uint64 pos = 0; pos < until; pos++)
	{
		int			class = csv_class_at(&dialect, bytes, pos, sample->nbytes);

		if (pos % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		line += class == CSV_CLASS_BREAK;
		if (state != CSV_STATE_QUOTED && state != CSV_STATE_ESCAPE_SEEN &&
			state != CSV_STATE_COMMENT)
		{
			nbreaks += class == CSV_CLASS_BREAK;
			if (class == CSV_CLASS_OTHER && bytes[pos] == '\r' &&
				guess->lone_cr_line == 0)
				guess->lone_cr_line = line;
			if (class == CSV_CLASS_PRE_BREAK && bytes[pos + 1] == '\r' &&
				ndoubled++ == 0)
				guess->doubled_cr_line = line;
		}
		state = dialect.table[CSV_NORMAL][state][class] & CSV_STATE_MASK;
	}
	if (ndoubled == nbreaks)
		guess->doubled_cr_line = 0;
}

/* ---- all of it ---- */

/* have the table read as what was found, in the current memory context */
static void
take_dialect(CsvTable *table, const CsvTrial *trial, const CsvGiven *given)
{
	CsvDialectOptions *dialect = &table->reader.dialect;

	dialect->trim |= trial->trim;
	if (trial->delimiter != NULL)
		csv_dialect_set_delimiter(dialect, trial->delimiter);
	if (!given->delimiter)
	{
		table->delimiter = palloc(CSV_DELIMITER_BYTES + 1);
		csv_dialect_delimiter(dialect, table->delimiter);
	}
	if (dialect->quoting == CSV_QUOTING_TEXT && *table->null_string == '\0')
		table->null_string = "\\N";
}

/* names in the last comment above the data, which begins at `start` */
static bool
find_names_in_comment(const CsvTable *table, const CsvSample *sample, const CsvSheet *sheet,
					  uint64 start, CsvGuess *guess, MemoryContext outer)
{
	MemoryContext scratch = CurrentMemoryContext;
	uint64		comment;
	CsvCells	cells;

	if (sheet->options.comment_length == 0 ||
		!csv_last_comment(sheet, sample, start, &comment))
		return false;
	MemoryContextSwitchTo(outer);
	cells = csv_header_cells_at(&sheet->options, sample, comment);
	MemoryContextSwitchTo(scratch);

	/* the word that logs have before the names */
	if (cells.texts != NULL && cells.ncells == sheet->nfields + 1 &&
		pg_strncasecmp(cells.texts[0], "fields", 6) == 0)
	{
		cells.texts++;
		cells.lengths++;
		cells.ncells--;
	}
	take_names(guess, cells);
	if (cells.texts != NULL && cells.ncells == sheet->nfields &&
		is_header(table, sample, guess, start))
		return true;
	take_names(guess, (CsvCells) {0});
	return false;
}

/* what stands right above the data, and is no row of it, should have been its header */
static void
note_line_above(const CsvSheet *sheet, uint32 first, CsvGuess *guess)
{
	const CsvSampleRecord *above = first > 0 ? &sheet->records[first - 1] : NULL;

	if (above != NULL && !above->blank && !above->comment && !above->bad &&
		sheet->is_table && sheet->to - sheet->from > 1)
		guess->nheader = above->nfields;
}

/* ---- what is left out ---- */

/* count the records above the data that are no rows of the header [top, bottom] */
static void
count_above(const CsvSheet *sheet, const CsvSample *sample, uint32 first, bool any_header,
			uint32 top, uint32 bottom, CsvGuess *guess)
{
	for (uint32 i = 0; i < Min(first, sheet->nrecords); i++)
	{
		if (sheet->records[i].blank || (any_header && i >= top && i <= bottom))
			continue;
		if (guess->nabove == 0)
		{
			char	   *line = csv_sample_line(sample, sheet->records[i].start);

			/* Excel's word on the delimiter */
			if (i == 0 && pg_strncasecmp(line, "sep=", 4) == 0 && strlen(line) <= 5)
				continue;
			guess->first_above = line;
		}
		guess->nabove++;
	}
}

/* comments, but for one alone that is the header */
static void
look_for_comments(const CsvSheet *sheet, const CsvSample *sample, bool is_header,
				  CsvGuess *guess)
{
	uint64		first;
	uint32		n = csv_count_comments(sheet, sample, &first);

	if (n > (is_header ? 1 : 0))
		guess->first_comment = csv_sample_line(sample, first);
}

/*
 * Find the header, and its names in the context `outer`.  Returns the offset of the
 * first record of data.
 */
static uint64
guess_header(CsvTable *table, const CsvSample *sample, const CsvSheet *sheet,
			 CsvGuess *guess, MemoryContext outer)
{
	MemoryContext scratch = CurrentMemoryContext;
	CsvHeader	header;
	bool		found;
	uint32		top = 0;
	uint64		start;

	csv_sheet_find_header(sheet, sample, &header);
	found = header.last_row != header.first;
	while (header.undecided)
	{
		uint32		next = header.last_row + 1;

		take_names(guess, csv_header_cells(sheet, sample, header.last_row));
		found = guess->header != NULL &&
			is_header(table, sample, guess, next < sheet->nrecords ?
					  sheet->records[next].start : sample->nbytes);

		/* if it is not the record above, it may be the first one */
		header.undecided = !found && header.text_only && header.last_row != header.first;
		if (header.undecided)
			header.last_row = header.first;
	}
	if (found && header.last_row == header.first)
		header.first++;
	take_names(guess, (CsvCells) {0});
	MemoryContextSwitchTo(outer);
	if (found)
		take_names(guess, csv_header_names(sheet, sample, header.last_row, &top));
	count_above(sheet, sample, header.first, found, top, header.last_row, guess);
	MemoryContextSwitchTo(scratch);
	table->reader.header_rows = sheet->nblank + header.first;
	start = header.first < sheet->nrecords ? sheet->records[header.first].start :
		sample->nbytes;
	if (!found && !find_names_in_comment(table, sample, sheet, start, guess, outer))
		note_line_above(sheet, header.first, guess);
	return start;
}

/* in a context of its own */
static void
find_footer(const CsvTable *table, const CsvSheet *sheet, const CsvSample *sample,
			uint32 first, CsvGuess *guess)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(outer, "csv_gpu_fdw footer",
												  ALLOCSET_DEFAULT_SIZES);
	char	   *line = NULL;

	MemoryContextSwitchTo(scratch);
	guess->footer_rows = csv_find_footer(table, sheet, sample, first, &line);
	MemoryContextSwitchTo(outer);
	if (guess->footer_rows > 0)
		guess->first_below = pstrdup(line);
	MemoryContextDelete(scratch);
}

void
csv_guess(CsvTable *table, const CsvGiven *given, const CsvSample *sample,
		  CsvGuess *guess)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext scratch;
	CsvDialectOptions *dialect = &table->reader.dialect;
	const CsvSample *original = sample;
	CsvBoundary boundary = dialect->boundary;
	CsvTrial	trial;
	CsvSheet	sheet;
	uint64		start;
	uint32		first = 0;

	memset(guess, 0, sizeof(*guess));
	guess->boundary = boundary;

	/* no record ends: all trials would find nothing, slowly */
	if (!sample->at_end && !csv_sample_has(sample, "\n") && !csv_sample_has(sample, "\r"))
		return;
	if (!given->boundary)
	{
		guess->boundary = csv_find_boundary(sample, dialect->quote);

		/* an odd number of quotes */
		if (guess->boundary == CSV_BOUNDARY_AUTO)
			guess->boundary = csv_find_boundary(sample, 0);

		/* breaks of several kinds may mix, but for lone CRs */
		boundary = guess->boundary == CSV_BOUNDARY_CR ? CSV_BOUNDARY_CR :
			CSV_BOUNDARY_AUTO;
	}

	scratch = AllocSetContextCreate(outer, "csv_gpu_fdw guess",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(scratch);
	dialect->boundary = (uint8_t) boundary;
	trial = csv_try_dialects(dialect, table->null_string, given, sample);
	sample = &trial.sample;
	sheet = trial.sheet;
	*dialect = sheet.options;
	if (!given->header && sheet.nrecords > 0)
		start = guess_header(table, sample, &sheet, guess, outer);
	else
	{
		CsvCells	names = {0};

		MemoryContextSwitchTo(outer);
		start = read_header(table, sample, &names);
		take_names(guess, names);
		MemoryContextSwitchTo(scratch);
	}
	if (!given->further && sheet.nfields <= CSV_MOST_FIELDS_TRIED)
		guess_separators(table, given, sample, start);
	while (first < sheet.nrecords && sheet.records[first].start < start)
		first++;
	guess->any_data = first < sheet.nrecords;
	MemoryContextSwitchTo(outer);
	if (dialect->comment_length > 0 && !given->comment)
		look_for_comments(&sheet, sample, guess->nheader > 0 &&
						  table->reader.header_rows == sheet.nblank, guess);
	if (!given->footer)
		find_footer(table, &sheet, sample, first, guess);
	MemoryContextSwitchTo(scratch);
	guess->nfields = count_fields(dialect, sample, start, guess->nheader);
	MemoryContextSwitchTo(outer);
	take_dialect(table, &trial, given);
	guess->boundary_found = !given->boundary && boundary == CSV_BOUNDARY_CR &&
		finds_lone_cr(dialect, original);
	if (!given->boundary)
		find_odd_crs(dialect, original, guess);
	if (dialect->comment_length > 0 && table->comment == NULL)
		table->comment = pnstrdup((const char *) dialect->comment, dialect->comment_length);

	/* then shorter records are as good as others */
	if (table->pad && guess->header != NULL && guess->nheader > guess->nfields)
		guess->nfields = guess->nheader;
	MemoryContextDelete(scratch);
}
