/*
 * sniff.c
 *		What a file holds, and csv_gpu_sniff(), which shows it.
 *
 *	1. The beginning of the file tells the dialect and the header (guess.c).
 *	2. The whole file is then read as any table is, by the engine, with a column
 *	   of type text for each field; each value counts for its column's type
 *	   (infer.c).  So a type holds for all of the file, and a record that is
 *	   skipped here is one that is skipped whatever the types.
 *	3. What no column tells by itself is decided at last (forms.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "import/files.h"
#include "import/forms.h"
#include "import/guess.h"
#include "import/keys.h"
#include "import/names.h"
#include "import/sniff.h"
#include "import/tell.h"
#include "scan/scan.h"
#include "table/decompress.h"
#include "table/source.h"
#include "table/text.h"

/* the beginning of a file that tells its dialect */
#define SAMPLE_BYTES	(256 * 1024)

/* the end of a file that tells its footer */
#define TAIL_BYTES		(128 * 1024)

/*
 * Zero bytes of a file in UTF-16, those in the other half of characters for each, and bytes
 * like line breaks that are some: others are half of a character
 */
#define LEAST_ZEROS			0.02
#define MOST_OTHER_ZEROS	0.1
#define LEAST_BREAKS		0.9

#define CSV_SNIFF_COLUMNS	25

/* ---- the beginning ---- */

bool
csv_is_given(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, name) == 0)
			return true;
	return false;
}

static bool
ends_with(const char *string, size_t length, const char *suffix)
{
	size_t		nbytes = strlen(suffix);

	return length >= nbytes &&
		pg_strncasecmp(string + length - nbytes, suffix, nbytes) == 0;
}

/* the beginning of the file that is open: so many bytes, or twice a line if that is more */
static void
read_beginning(const CsvTable *table, CsvSource *source, uint64 capacity, CsvSample *sample)
{
	const char *name = csv_source_name(source);
	uint8_t    *bytes = palloc_extended(capacity, MCXT_ALLOC_HUGE);

	memset(sample, 0, sizeof(*sample));
	sample->prefers_tab = ends_with(name, csv_name_without_compression(name), ".tsv");
	while (!sample->at_end)
	{
		size_t		nread;

		if (sample->nbytes == capacity)
		{
			/* one line alone tells little: as much is to follow it */
			if (memchr(bytes, '\n', capacity / 2) != NULL ||
				(capacity >= CSV_BOUNDARY_BYTES &&
				 memchr(bytes, '\r', capacity / 2) != NULL) ||
				capacity > table->reader.max_record_bytes)
				break;
			capacity *= 2;
			bytes = repalloc_huge(bytes, capacity);
		}
		nread = csv_source_read(source, bytes + sample->nbytes,
								capacity - sample->nbytes);
		sample->nbytes += nread;
		sample->at_end = nread == 0;
	}
	sample->bytes = bytes;
}

/* the beginning of the first file that has one */
static void
read_sample(CsvTable *table, uint64 capacity, CsvSample *sample)
{
	CsvSource  *source = csv_source_create(table);

	memset(sample, 0, sizeof(*sample));
	while (sample->nbytes == 0 && csv_source_open_next(source, NULL))
	{
		/* what cannot be read twice is not to be looked at */
		if (!csv_source_is_regular(source))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a regular file", csv_source_name(source))));
		read_beginning(table, source, capacity, sample);
	}
	csv_source_close(source);
	sample->is_utf16 = csv_source_found_utf16(source);
}

/* the last bytes of the file that is open: what is a stream is read as far as that */
static void
read_end(CsvSource *source, CsvSample *sample)
{
	uint8_t    *bytes = palloc(2 * TAIL_BYTES);
	uint64		nbytes = 0;
	bool		at_start = true;
	CsvReadAhead ahead;
	size_t		nread;

	while ((nread = csv_source_read(source, bytes + nbytes, 2 * TAIL_BYTES - nbytes)) > 0)
	{
		nbytes += nread;
		if (at_start && csv_source_read_ahead(source, &ahead) &&
			ahead.file_bytes > nbytes + TAIL_BYTES)
		{
			ahead.seek(ahead.arg, ahead.file_bytes - TAIL_BYTES);
			nbytes = 0;
		}
		at_start = false;
		if (nbytes == 2 * TAIL_BYTES)
		{
			memmove(bytes, bytes + TAIL_BYTES, TAIL_BYTES);
			nbytes = TAIL_BYTES;
		}
	}
	sample->tail = bytes;
	sample->ntail = nbytes;
}

/* the same of the first file that has some */
static void
read_tail(CsvTable *table, CsvSample *sample)
{
	CsvSource  *source = csv_source_create(table);

	while (sample->ntail == 0 && csv_source_open_next(source, NULL))
		read_end(source, sample);
	csv_source_close(source);
}

/* pass over a byte-order mark; false if there is none */
static bool
pass_mark(CsvSample *sample)
{
	if (sample->nbytes < 3 || memcmp(sample->bytes, "\xef\xbb\xbf", 3) != 0)
		return false;
	sample->bytes += 3;
	sample->nbytes -= 3;
	return true;
}

/* a table with these options, and that encoding */
static CsvTable *
make_table(List *server_options, List *options, const char *encoding)
{
	DefElem    *option = makeDefElem("encoding",
									 (Node *) makeString(pstrdup(encoding)), -1);

	return csv_table_make(server_options, lappend(list_copy(options), option));
}

/*
 * The encoding of bytes that should be UTF-8; NULL: that.  In most others text has bytes
 * beyond ASCII that are hardly ever valid UTF-8; a fault in UTF-8 stands among many that
 * are.  *none: there are no such bytes.
 */
static const char *
guess_encoding(const CsvSample *sample, bool *none)
{
	uint64		nvalid = 0;
	uint64		ninvalid = 0;
	bool		is_win1252 = true;

	for (uint64 i = 0; i < sample->nbytes;)
	{
		uint8_t		byte = sample->bytes[i];
		uint64		rest = sample->nbytes - i;
		int			nbytes;

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		if (!IS_HIGHBIT_SET(byte))
		{
			i++;
			continue;
		}
		nbytes = pg_encoding_verifymbchar(PG_UTF8, (const char *) sample->bytes + i,
										  (int) Min(rest, MAX_MULTIBYTE_CHAR_LEN));

		/* the end may be half of a character */
		if (nbytes < 0 && rest < MAX_MULTIBYTE_CHAR_LEN && !sample->at_end)
			break;
		nvalid += nbytes > 0;
		ninvalid += nbytes < 0;
		is_win1252 &= nbytes > 0 || (byte != 0x81 && byte != 0x8d && byte != 0x8f &&
									 byte != 0x90 && byte != 0x9d);
		i += (uint64) Max(nbytes, 1);
	}
	*none = nvalid + ninvalid == 0;
	return ninvalid <= nvalid ? NULL : is_win1252 ? "WIN1252" : "LATIN1";
}

/*
 * UTF-16 without a mark; NULL: it is none.  ASCII has zero for its other byte then, line
 * breaks always do, and no text in other encodings has zeros.
 */
static const char *
guess_utf16(const CsvSample *sample)
{
	uint64		nzeros[2] = {0};
	uint64		nbreaks[2] = {0};	/* by their place, and 0 next to it */
	uint64		nall = 0;

	for (uint64 i = 0; i < sample->nbytes; i++)
	{
		uint64		other = i ^ 1;

		if (i % CSV_BYTES_TO_INTERRUPT == 0)
			CHECK_FOR_INTERRUPTS();
		nzeros[i % 2] += sample->bytes[i] == 0;
		if (sample->bytes[i] != '\n' && sample->bytes[i] != '\r')
			continue;
		nall++;
		nbreaks[i % 2] += other < sample->nbytes && sample->bytes[other] == 0;
	}
	for (int big = 0; big < 2; big++)
		if (nbreaks[big] > nall * LEAST_BREAKS &&
			nzeros[!big] > sample->nbytes * LEAST_ZEROS &&
			nzeros[big] < nzeros[!big] * MOST_OTHER_ZEROS)
			return csv_utf16_name(big ? CSV_UTF16_BIG : CSV_UTF16_LITTLE);
	return NULL;
}

/*
 * The table for a file, and its sample, of so many bytes at least.  Without the option
 * "encoding" it is the client's, as in COPY, unless a byte-order mark says better, or
 * bytes that it does not have do; *guessed tells of these, and *may_guess if they may
 * still come.
 */
static CsvTable *
begin_table(const char *filename, List *server_options, List *options,
			uint64 sample_bytes, CsvSample *sample, const char **guessed,
			bool *may_guess)
{
	DefElem    *name = makeDefElem("filename",
								   (Node *) makeString(pstrdup(filename)), -1);
	CsvTable   *table;

	*guessed = NULL;
	*may_guess = false;
	options = lappend(list_copy(options), name);
	table = csv_table_make(server_options, options);
	if (!csv_is_given(options, "encoding"))
	{
		/* the client's may be one that is converted: no mark is left then */
		CsvTable   *utf8_table = make_table(server_options, options, "UTF8");
		bool		is_marked;

		utf8_table->utf16 = CSV_UTF16_BY_MARK;
		read_sample(utf8_table, sample_bytes, sample);
		is_marked = pass_mark(sample);
		if (sample->is_utf16)
			return table->file_encoding == PG_UTF8 ? utf8_table :
				make_table(server_options, options, csv_utf16_name(CSV_UTF16_ANY));
		if (!is_marked)
			*guessed = guess_utf16(sample);
		if (!is_marked && *guessed == NULL && table->file_encoding == PG_UTF8 &&
			GetDatabaseEncoding() == PG_UTF8)
			*guessed = guess_encoding(sample, may_guess);
		if (*guessed != NULL)
			table = make_table(server_options, options, *guessed);
		else if (is_marked || table->file_encoding == PG_UTF8)
			return utf8_table;
	}
	read_sample(table, sample_bytes, sample);
	(void) pass_mark(sample);
	return table;
}

/* ---- further files ---- */

/* header and footer of a file, by all else of the table */
static void
look_at_file(const CsvTable *table, const CsvGiven *given, CsvSource *source, int number,
			 bool any_tail, CsvFiles *files)
{
	CsvTable	one = *table;
	CsvGiven	known = *given;
	CsvGuess	guess;
	CsvSample	sample;
	CsvCells	names;

	if (!csv_source_open(source, number, NULL))
		return;
	read_beginning(table, source, SAMPLE_BYTES, &sample);
	if (!sample.at_end && any_tail && csv_source_open(source, number, NULL))
		read_end(source, &sample);
	(void) pass_mark(&sample);
	if (!given->boundary)
		one.reader.dialect.boundary =
			csv_find_boundary(&sample, one.reader.dialect.quote) == CSV_BOUNDARY_CR ?
			CSV_BOUNDARY_CR : CSV_BOUNDARY_AUTO;
	names = csv_last_header_row(&one, &sample);
	known.header |= csv_files_have_header(files, names);
	csv_guess(&one, &known, &sample, &guess);
	if (guess.nfields > 0)
		csv_files_add(files, csv_source_name(source), one.reader.header_rows, &guess,
					  one.reader.header_rows == table->reader.header_rows ? names :
					  csv_last_header_row(&one, &sample));
}

/*
 * Look at the files of a pattern behind the first that is not empty, and of which the sample
 * is; false if there are none.
 */
static bool
look_at_files(CsvTable *table, CsvGiven given, const CsvSample *of_first, bool any_tail,
			  const CsvGuess *guess, CsvFiles *files)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context;
	CsvSource  *source;
	char	  **names;
	int			nfiles;
	int			first = -1;
	bool		is_marked = false;

	csv_source_files(table, &names, &nfiles);
	if (nfiles < 2)
		return false;
	given.format = given.delimiter = given.trim = given.quote = given.escape =
		given.decimal_separator = given.comment = given.further = true;
	context = AllocSetContextCreate(outer, "csv_gpu_fdw files", ALLOCSET_DEFAULT_SIZES);
	source = csv_source_create(table);
	for (int i = 0; i < nfiles; i++)
	{
		CsvSample	sample;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
		MemoryContextSwitchTo(context);
		if (first >= 0)
			look_at_file(table, &given, source, i, any_tail, files);
		else if (csv_source_open(source, i, NULL))
		{
			read_beginning(table, source, SAMPLE_BYTES, &sample);
			first = sample.nbytes > 0 ? i : -1;
		}
		MemoryContextSwitchTo(outer);
		if (first == i)
		{
			is_marked = csv_source_is_marked_utf16(names[i]);
			csv_files_begin(files, csv_source_name(source), table->reader.header_rows,
							guess->footer_rows, csv_last_header_row(table, of_first));
		}
		else if (first >= 0 && files->marked == NULL &&
				 (table->utf16 == CSV_UTF16_BY_MARK || table->utf16 == CSV_UTF16_ANY) &&
				 csv_source_is_marked_utf16(names[i]) != is_marked)
			files->marked = pstrdup(csv_source_name(source));
	}
	csv_source_close(source);
	MemoryContextDelete(context);
	return first >= 0;
}

/* have columns found by_name, those that only later files have as well */
static void
take_all_names(CsvTable *table, const CsvFiles *files, CsvGuess *guess)
{
	table->by_name = true;
	guess->header = files->names.texts;
	guess->header_lengths = files->names.lengths;
	guess->nheader = guess->nfields = files->names.ncells;
}

/* make of what the first file is like what holds for all; is it new that columns are found by_name? */
static bool
take_files(CsvTable *table, const CsvFiles *files, bool may_by_name, CsvGuess *guess)
{
	const bool	any_header = files->header_rows.least > 0 &&
		files->header_rows.other_file == NULL;
	bool		is_new;

	if (files->header_rows.least > 0 && files->header_rows.least < table->reader.header_rows)
	{
		guess->header = files->names.texts;
		guess->header_lengths = files->names.lengths;
		guess->nheader = files->names.ncells;
	}
	table->reader.header_rows = files->header_rows.least;
	guess->footer_rows = files->footer_rows.least;
	if (!any_header || files->differs == NULL || files->renamed ||
		!(may_by_name || table->by_name) || guess->nfields != files->nfirst)
		return false;
	for (uint32 i = 0; i < files->nfirst; i++)
		if (guess->nheader != files->nfirst ||
			strcmp(guess->header[i], files->names.texts[i]) != 0)
			return false;
	is_new = !table->by_name || files->names.ncells > files->nfirst;
	take_all_names(table, files, guess);
	return is_new;
}

/* has nobody said how fields are found? */
static bool
may_find_by_name(const CsvTable *table, List *options)
{
	return !table->header_match && !csv_is_given(options, "by_name") &&
		!csv_is_given(options, "columns");
}

/* ---- names ---- */

/*
 * A name in the server's encoding, as far as it can be: what is not valid, or
 * has no equivalent, becomes question marks.
 */
static char *
server_name(const CsvTable *table, const char *name, uint32 nbytes)
{
	int			from = table->encoding;
	int			to = GetDatabaseEncoding();
	char	   *copy = palloc_extended((Size) nbytes + 1, MCXT_ALLOC_HUGE);
	char	   *converted;

	/* less what no text can hold */
	for (uint32 i = 0; i < nbytes; i++)
		copy[i] = name[i] != '\0' ? name[i] : '?';
	copy[nbytes] = '\0';
	if (from == PG_SQL_ASCII)
		from = to;
	if (pg_encoding_verifymbstr(from, copy, (int) nbytes) == (int) nbytes)
	{
		Oid			proc;
		Size		room = (Size) nbytes * MAX_CONVERSION_GROWTH + 1;

		if (from == to || to == PG_SQL_ASCII)
			return copy;
		proc = FindDefaultConversionProc(from, to);
		converted = palloc_extended(room, MCXT_ALLOC_HUGE);
		if (OidIsValid(proc) &&
			pg_do_encoding_conversion_buf(proc, from, to,
										  (unsigned char *) copy, (int) nbytes,
										  (unsigned char *) converted,
										  (int) Min(room, INT_MAX),
										  true) == (int) nbytes)
			return converted;
	}
	for (uint32 i = 0; i < nbytes; i++)
		if (IS_HIGHBIT_SET(copy[i]))
			copy[i] = '?';
	return copy;
}

static void
name_columns(CsvFindings *findings, const CsvGuess *guess)
{
	HTAB	   *names = csv_names_create();

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];

		/* a header that is too wide has no names; its records may be narrower */
		if (guess->header != NULL && i < guess->nheader)
			column->header_name = server_name(findings->table,
											  guess->header[i],
											  guess->header_lengths[i]);
		column->name = csv_make_name(names,
									 column->header_name != NULL ?
									 column->header_name : "",
									 column->header_name != NULL ?
									 strlen(column->header_name) : 0,
									 psprintf("column_%u", i + 1));
	}
	hash_destroy(names);

	/* messages have them, too */
	for (uint32 i = 0; i < findings->ncolumns; i++)
		findings->table->columns[i].name = findings->columns[i].name;
}

/* have columns of further files found by the names of the first one's header */
static void
find_by_name(CsvFindings *findings)
{
	CsvTable   *table = findings->table;

	table->nfields_from_header = true;
	for (uint32 i = 0; i < findings->ncolumns; i++)
		table->columns[i].header_name =
			findings->columns[i].header_name != NULL ?
			findings->columns[i].header_name : findings->columns[i].name;
}

/* ---- the whole file ---- */

/* does a backslash stand before a delimiter in it? */
static bool
has_escaped_delimiter(const CsvTable *table, const CsvSkipped *skipped)
{
	const CsvSample record = {.bytes = skipped->raw, .nbytes = skipped->raw_length};

	return table->reader.dialect.quoting != CSV_QUOTING_TEXT &&
		csv_sample_has(&record, psprintf("\\%c", table->reader.dialect.delimiter));
}

/* a CsvSkippedFn */
static bool
note_skipped(void *arg, const CsvSkipped *skipped)
{
	CsvFindings *findings = arg;

	findings->nrecords++;
	findings->ninvalid += skipped->code == CSV_ERROR_INVALID_UTF8;
	findings->nzero += skipped->code == CSV_ERROR_NUL_BYTE;
	findings->nmisquoted += skipped->code == CSV_ERROR_TEXT_AFTER_QUOTE ||
		skipped->code == CSV_ERROR_UNTERMINATED_QUOTE;
	findings->nescaped += skipped->code == CSV_ERROR_COLUMN_COUNT &&
		has_escaped_delimiter(findings->table, skipped);
	if (findings->nskipped++ == 0)
		findings->first_skipped =
			MemoryContextStrdup(GetMemoryChunkContext(findings),
								psprintf("Record %lld of \"%s\": %s.",
										 (long long) skipped->record,
										 skipped->file, skipped->message));
	return true;
}

static void
read_values(CsvFindings *findings, CsvInferrer *inferrer, int64 max_records)
{
	const CsvTable *table = findings->table;
	Datum	   *values = palloc(sizeof(Datum) * table->natts);
	bool	   *isnull = palloc(sizeof(bool) * table->natts);
	CsvTableScan *scan;

	scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL, 0,
								note_skipped, findings);
	csv_table_scan_show_progress(scan, InvalidOid);
	while (max_records < 0 || findings->nrecords < max_records)
	{
		if (!csv_table_scan_next(scan, values, isnull))
		{
			findings->complete = true;
			break;
		}
		CHECK_FOR_INTERRUPTS();
		findings->nrecords++;
		for (uint32 i = 0; i < findings->ncolumns; i++)
		{
			CsvInference *inference = &findings->columns[i].inference;
			const char *text;
			uint32		nbytes;

			if (isnull[i])
			{
				inference->nnulls++;
				continue;
			}
			text = VARDATA_ANY(DatumGetPointer(values[i]));
			nbytes = VARSIZE_ANY_EXHDR(DatumGetPointer(values[i]));
			csv_infer_value(inferrer, inference, text, nbytes);
			if (findings->ninvalid > 0)
				findings->nbeyond_ascii += !csv_is_ascii(text, nbytes);
		}
	}
	csv_table_scan_end(scan);
}

/* NOTICE of a column that has points (or commas) where nobody can tell what they mean */
static void
tell_undecided(const CsvFindings *findings, const CsvFoundColumn *column,
			   const CsvFoundColumn *other, char point)
{
	bool		is_decimal = point == findings->table->decimal_separator;

	ereport(NOTICE,
			(errmsg("column \"%s\" of \"%s\" is text: each \"%c\" in it may be decimal or separate thousands",
					column->name, findings->table->filename, point),
			 errdetail("Column \"%s\" has \"%c\" as its decimal separator.",
					   other->name, point == '.' ? ',' : '.'),
			 is_decimal ?
			 errhint("If it is decimal, set the option \"decimal_separator\" to \"%c\".",
					 point) :
			 errhint("If it separates thousands, set the option \"thousands_separator\" to \"%c\".",
					 point)));
}

/*
 * Where one column has decimal commas, 1.000 in another may be a thousand: make
 * such columns text, with a NOTICE, rather than a wrong number.  The same with
 * comma and point the other way round.
 */
static void
leave_undecided(CsvFindings *findings)
{
	const CsvFoundColumn *other = NULL;
	const CsvFoundColumn *ours = NULL;
	char		point = findings->table->decimal_separator;

	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];

		if (other == NULL && csv_inference_is_other(&column->inference))
			other = column;
		if (ours == NULL && csv_inference_is_decimal(&column->inference))
			ours = column;
	}
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		CsvFoundColumn *column = &findings->columns[i];

		CHECK_FOR_INTERRUPTS();
		if (other != NULL && csv_inference_is_ambiguous(&column->inference))
		{
			column->inference.family = CSV_FAMILY_TEXT;
			tell_undecided(findings, column, other, point);
		}
		else if (ours != NULL && csv_inference_may_be_grouped(&column->inference))
			tell_undecided(findings, column, ours, point == '.' ? ',' : '.');
	}
}

/* of that which can be found out; all but the boundary, which the table tells */
static CsvGiven
what_is_given(List *options)
{
	return (CsvGiven) {
		.format = csv_is_given(options, "format"),
		.delimiter = csv_is_given(options, "delimiter"),
		.trim = csv_is_given(options, "trim"),
		.quote = csv_is_given(options, "quote"),
		.escape = csv_is_given(options, "escape"),
		.decimal_separator = csv_is_given(options, "decimal_separator"),
		.comment = csv_is_given(options, "comment"),
		.footer = csv_is_given(options, "footer_rows"),
		.header = csv_is_given(options, "header") || csv_is_given(options, "header_rows")
	};
}

/* behind its sample the file is not in UTF-8 */
static CsvFindings *
sniff_again(const char *filename, List *server_options, const CsvImportOptions *import)
{
	CsvImportOptions with = *import;

	csv_tell_encoding(filename, "WIN1252");
	with.table_options = lappend(list_copy(import->table_options),
								 makeDefElem("encoding",
											 (Node *) makeString(pstrdup("WIN1252")), -1));
	return csv_sniff(filename, server_options, &with);
}

CsvFindings *
csv_sniff(const char *filename, List *server_options,
		  const CsvImportOptions *import)
{
	CsvFindings *findings = palloc0(sizeof(CsvFindings));
	List	   *options = import->table_options;
	CsvTable   *table;
	CsvSample	sample;
	CsvGiven	given = what_is_given(options);
	CsvGuess	guess;
	CsvInferrer inferrer;
	CsvFiles	files = {.differs = NULL};
	const char *guessed;
	bool		may_guess;

	/* blank lines, or line breaks in quotes, may fill a sample */
	for (uint64 nbytes = SAMPLE_BYTES;; nbytes *= 4)
	{
		table = begin_table(filename, server_options, options, nbytes,
							&sample, &guessed, &may_guess);
		if (!sample.at_end && import->sample_records < 0 && !given.footer)
			read_tail(table, &sample);
		given.boundary = table->reader.dialect.boundary != CSV_BOUNDARY_AUTO;
		csv_guess(table, &given, &sample, &guess);
		if (guess.nfields > 0 || sample.at_end ||
			sample.nbytes > table->reader.max_record_bytes)
			break;
	}

	if (guess.nfields > 0 &&
		look_at_files(table, given, &sample, import->sample_records < 0 && !given.footer,
					  &guess, &files))
		findings->by_name = take_files(table, &files, may_find_by_name(table, options),
									   &guess);
	findings->by_mark = table->utf16 == CSV_UTF16_BY_MARK && files.marked != NULL;
	if (table->utf16 == CSV_UTF16_BY_MARK && sample.is_utf16 && files.marked == NULL)
		table->utf16 = CSV_UTF16_ANY;
	if (guess.boundary_found)
		table->reader.dialect.boundary = CSV_BOUNDARY_AUTO;
	findings->table = table;
	findings->boundary = guess.boundary;
	if (guess.footer_rows > 0)
		table->reader.dialect.footer_rows = guess.footer_rows;
	findings->ncolumns = guess.nfields;
	if (guess.nfields == 0 && !sample.at_end)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("no record of \"%s\" ends within its first " UINT64_FORMAT " bytes",
						filename, sample.nbytes)));
	if (guess.nfields == 0)
		return findings;
	if (guess.nfields > MaxHeapAttributeNumber)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"%s\" has %u fields, and a table can have at most %d columns",
						filename, guess.nfields, MaxHeapAttributeNumber)));

	if (guessed != NULL)
		csv_tell_encoding(filename, guessed);

	/* names are made here, and need not be those of the header */
	table->header_match = false;
	table->set_null = false;	/* what is wrong with values is to be told */
	csv_table_set_fields(table, guess.nfields);
	findings->columns = palloc0(sizeof(CsvFoundColumn) * guess.nfields);
	name_columns(findings, &guess);
	if (table->by_name && table->reader.header_rows > 0)
		find_by_name(findings);
	findings->any_quote = table->reader.dialect.quote != 0 &&
		(!sample.at_end ||
		 memchr(sample.bytes, table->reader.dialect.quote, sample.nbytes) != NULL);
	csv_inferrer_init(&inferrer, table);
	if (csv_is_given(options, "null_values"))
		inferrer.missing = 0;
	read_values(findings, &inferrer, import->sample_records);
	if (may_guess && findings->ninvalid > findings->nbeyond_ascii)
		return sniff_again(filename, server_options, import);
	csv_tell_odd_crs(filename, &guess);
	csv_tell_header(filename, &guess);
	csv_tell_marks(findings, &files);
	csv_files_tell(&files, filename);
	csv_tell_names(findings, &files);
	findings->left_out = csv_left_out(findings, &guess);
	if (import->all_text)
	{
		for (uint32 i = 0; i < findings->ncolumns; i++)
			findings->columns[i].inference.family = CSV_FAMILY_TEXT;
		return findings;
	}
	if (!given.decimal_separator)
		leave_undecided(findings);
	if (!given.decimal_separator && !csv_is_given(options, "thousands_separator"))
		csv_tell_thousands(findings);
	csv_tell_odd(findings);
	csv_find_forms(findings, &inferrer);
	return findings;
}

bool
csv_found_widths(const CsvFoundColumn *column, int32 *max_chars,
				 int32 *byte_width)
{
	const CsvInference *inference = &column->inference;

	*max_chars = (int32) Max(inference->most_chars, 1);
	*byte_width = (int32) (Max(inference->most_bytes, 1) + 3) / 4 * 4;
	return inference->nvalues + inference->nmissing + inference->nquoted_nulls > 0;
}

void
csv_check_may_read_files(const char *what)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for %s", what),
				 errdetail("Only roles with privileges of the \"%s\" role may read the server's files.",
						   "pg_read_server_files")));
}

/* ---- csv_gpu_sniff() ---- */

static Datum
character_datum(uint8_t c)
{
	return PointerGetDatum(cstring_to_text_with_len((char *) &c, c != 0));
}

static const char *
boundary_name(CsvBoundary boundary)
{
	switch (boundary)
	{
		case CSV_BOUNDARY_LF:
			return "lf";
		case CSV_BOUNDARY_CRLF:
			return "crlf";
		case CSV_BOUNDARY_CR:
			return "cr";
		default:
			return "auto";
	}
}

static int64
count_nulls(const CsvFoundColumn *column)
{
	const CsvInference *inference = &column->inference;

	return inference->nnulls +
		(csv_inference_missing(inference) != 0 ? inference->nmissing : 0) +
		(column->force_null ? inference->nquoted_nulls : 0);
}

static void
put_option(Datum *values, bool *nulls, int i, const char *option)
{
	nulls[i] = option == NULL;
	values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(option);
}

/* what all rows have in common, but for options that a column may have of its own */
static void
put_table(Datum *values, bool *nulls, const CsvFindings *findings)
{
	const CsvTable *table = findings->table;
	const CsvDialectOptions *dialect = &table->reader.dialect;

	values[7] = CStringGetTextDatum(table->delimiter);
	values[8] = character_datum(dialect->quote);
	values[9] = character_datum(dialect->escape != 0 ? dialect->escape :
								dialect->quote);
	values[10] = CStringGetTextDatum(boundary_name(findings->boundary));
	values[11] = Int32GetDatum((int32) table->reader.header_rows);
	values[12] = character_datum((uint8_t) table->decimal_separator);
	values[13] = CStringGetTextDatum(csv_encoding_name(table));
	values[14] = Int64GetDatum(findings->nrecords);
	values[15] = Int64GetDatum(findings->nskipped);
	put_option(values, nulls, 19, findings->thousands_separator);
	put_option(values, nulls, 20, table->comment);
	nulls[21] = dialect->footer_rows == 0;
	values[21] = Int32GetDatum((int32) dialect->footer_rows);
	nulls[22] = !dialect->trim;
	values[22] = BoolGetDatum(true);
	put_option(values, nulls, 23, dialect->quoting == CSV_QUOTING_TEXT ? "text" : "csv");
}

static void
put_row(ReturnSetInfo *result, const CsvFindings *findings, uint32 i)
{
	const CsvFoundColumn *column = &findings->columns[i];
	Datum		values[CSV_SNIFF_COLUMNS];
	bool		nulls[CSV_SNIFF_COLUMNS] = {false};
	int32		max_chars;
	int32		byte_width;
	int32		typmod;
	Oid			type = csv_inferred_type(&column->inference, &typmod);

	values[0] = Int32GetDatum((int32) i + 1);
	values[1] = CStringGetTextDatum(column->name);
	nulls[2] = column->header_name == NULL;
	values[2] = nulls[2] ? (Datum) 0 :
		CStringGetTextDatum(column->header_name);
	values[3] = CStringGetTextDatum(csv_inferred_type_name(&column->inference));
	values[4] = Int64GetDatum(count_nulls(column));
	nulls[5] = nulls[6] = !csv_found_widths(column, &max_chars, &byte_width);
	values[5] = Int32GetDatum(max_chars);
	values[6] = Int32GetDatum(byte_width);
	put_table(values, nulls, findings);
	put_option(values, nulls, 16, column->null_values != NULL ? column->null_values :
			   findings->null_values);
	put_option(values, nulls, 17, type == DATEOID ? column->pattern : NULL);
	put_option(values, nulls, 18, type == TIMESTAMPOID ? column->pattern : NULL);
	nulls[24] = true;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* of a column that is not in the file, but in its path */
static void
put_key(ReturnSetInfo *result, const CsvFindings *findings, const CsvPathColumn *column,
		uint32 number)
{
	Datum		values[CSV_SNIFF_COLUMNS];
	bool		nulls[CSV_SNIFF_COLUMNS] = {false};

	values[0] = Int32GetDatum((int32) number);
	values[1] = CStringGetTextDatum(column->name);
	values[3] = CStringGetTextDatum(column->type);
	nulls[2] = nulls[4] = nulls[5] = nulls[6] = true;
	put_table(values, nulls, findings);
	nulls[16] = nulls[17] = nulls[18] = true;
	values[24] = CStringGetTextDatum(column->option);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(csv_gpu_sniff);

/*
 * csv_gpu_sniff(filename text): a row per field, and per key in the path
 */
Datum
csv_gpu_sniff(PG_FUNCTION_ARGS)
{
	CsvImportOptions import;
	CsvFindings *findings;
	List	   *keys;
	ListCell   *cell;

	csv_check_may_read_files("function csv_gpu_sniff");
	InitMaterializedSRF(fcinfo, 0);
	csv_import_options(NIL, &import);
	findings = csv_sniff(text_to_cstring(PG_GETARG_TEXT_PP(0)), NIL, &import);
	keys = findings->ncolumns == 0 ? NIL :
		csv_find_key_columns(findings, csv_find_keys(findings->table));
	for (uint32 i = 0; i < findings->ncolumns; i++)
		put_row((ReturnSetInfo *) fcinfo->resultinfo, findings, i);
	foreach(cell, keys)
		put_key((ReturnSetInfo *) fcinfo->resultinfo, findings, lfirst(cell),
				findings->ncolumns + (uint32) foreach_current_index(cell) + 1);

	/* the rows count errors: what may be wrong is to be said */
	if (findings->nskipped > 0)
		csv_found_errors(findings, "", false);
	return (Datum) 0;
}
