/*
 * sniff.c
 *		What a file holds.
 *
 *	1. The beginning and the end of the file tell the dialect, the header and the
 *	   footer (guess.c).
 *	2. Further files of a pattern are compared with it (file_heads.c).
 *	3. The names of the columns are made (names.c).
 *	4. All values of the whole file are evidence for the type of their column (observe.c).
 *	5. All columns together decide types and options (types.c), and NOTICEs tell where
 *	   these may be wrong, or leave something out (tell.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/memutils.h"

#include "import/file_heads.h"
#include "import/given.h"
#include "import/guess.h"
#include "import/sample.h"
#include "import/names.h"
#include "import/findings.h"
#include "import/tell.h"
#include "import/types.h"
#include "table/source.h"
#include "table/text.h"

/* what is known, step by step */
typedef struct Sniffing
{
	const char *filename;		/* or a program */
	const char *input_option;	/* what it is */
	Oid			server;			/* InvalidOid: none */
	List	   *options;		/* of the table, as given */
	CsvGiven	given;
	bool		any_tail;		/* the file's end counts */
	CsvSample	sample;			/* of the first file that is not empty */
	CsvTable   *table;
	const char *guessed;		/* the encoding, if that is a guess; NULL: it is not */
	bool		may_guess;		/* later bytes may tell another encoding */
	CsvGuess	guess;
	CsvFiles	files;
	List	   *names;			/* of the columns */
	bool		may_choose;		/* whether fields are found by name */
} Sniffing;

/* ---- the beginning ---- */

bool
csv_is_given(const List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, name) == 0)
			return true;
	return false;
}

/* the beginning of the first file that has one */
static void
read_sample(CsvTable *table, uint64 capacity, CsvSample *sample)
{
	CsvSource  *source = csv_source_create(table);

	memset(sample, 0, sizeof(*sample));
	while (sample->nbytes == 0 && csv_source_open_next(source, NULL))
	{
		/* a FIFO cannot be read twice */
		if (!csv_source_is_regular(source) && table->program == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a regular file", csv_source_name(source))));
		csv_sample_read(table, source, capacity, sample);
	}
	csv_source_close(source);
	sample->is_utf16 = csv_source_found_utf16(source) >= CSV_UTF16_ANY;
}

/* the end of the first file that has one */
static void
read_tail(CsvTable *table, CsvSample *sample)
{
	CsvSource  *source = csv_source_create(table);

	while (sample->ntail == 0 && csv_source_open_next(source, NULL))
		csv_sample_read_tail(source, sample);
	csv_source_close(source);
}

List *
csv_with_option(const List *options, const char *name, const char *value)
{
	return lappend(list_copy(options),
				   makeDefElem(pstrdup(name), (Node *) makeString(pstrdup(value)), -1));
}

/* encoding: NULL, or the option */
static CsvTable *
make_table(Oid server, List *options, const char *encoding)
{
	CsvTable   *table = csv_table_make(server, encoding == NULL ? options :
									   csv_with_option(options, "encoding",
													   encoding));

	/* messages name it */
	if (table->program != NULL)
		table->name = table->filename = table->program;
	return table;
}

/*
 * The table for a file, and its sample, of so many bytes at least.  Without the option
 * "encoding" it is the client's, as in COPY, unless a byte-order mark, or bytes that are
 * not valid in it, tell another.
 */
static CsvTable *
begin_table(Sniffing *sniffing, uint64 sample_bytes)
{
	Oid			server = sniffing->server;
	List	   *options =
		csv_with_option(sniffing->options, sniffing->input_option,
						sniffing->filename);
	CsvSample  *sample = &sniffing->sample;
	CsvTable   *table = make_table(server, options, NULL);

	sniffing->guessed = NULL;
	sniffing->may_guess = false;
	if (!csv_is_given(options, "encoding"))
	{
		/* the client's may be one that is converted: no mark is left then */
		CsvTable   *utf8_table = make_table(server, options, "UTF8");
		bool		is_marked;

		utf8_table->utf16 = CSV_UTF16_BY_MARK;
		read_sample(utf8_table, sample_bytes, sample);
		is_marked = csv_sample_pass_mark(sample);
		if (sample->is_utf16)
			return table->file_encoding == PG_UTF8 ? utf8_table :
				make_table(server, options, csv_utf16_name(CSV_UTF16_ANY));
		if (!is_marked)
			sniffing->guessed = csv_guess_utf16(sample);
		if (!is_marked && sniffing->guessed == NULL && table->file_encoding == PG_UTF8 &&
			GetDatabaseEncoding() == PG_UTF8)
		{
			CsvHighBytes counts = {0};

			csv_count_high_bytes(sample, &counts);
			if (!sample->at_end && csv_encoding_of(&counts) != NULL)
				counts = csv_look_for_high_bytes(utf8_table);
			sniffing->guessed = csv_encoding_of(&counts);
			sniffing->may_guess = sniffing->guessed == NULL;
		}
		if (sniffing->guessed != NULL)
			table = make_table(server, options, sniffing->guessed);
		else if (is_marked || table->file_encoding == PG_UTF8)
			return utf8_table;
	}
	read_sample(table, sample_bytes, sample);
	(void) csv_sample_pass_mark(sample);
	return table;
}

/* ---- further files ---- */

/* have header and footer fit all files, and take the names of their columns */
static void
look_at_files(Sniffing *sniffing)
{
	CsvTable   *table = sniffing->table;
	CsvGuess   *guess = &sniffing->guess;

	csv_files_look(&sniffing->files, table, &sniffing->given, sniffing->any_tail, guess);
	sniffing->names = csv_files_names(&sniffing->files, table, sniffing->may_choose);
	table->reader.header_rows = sniffing->files.header_rows.least;
	guess->footer_rows = sniffing->files.footer_rows.least;

	/* other files have the header, too, or another */
	guess->header.joins_words &= sniffing->files.nheaders == 1 &&
		sniffing->files.header_rows.other_file == NULL;
	guess->header.assumed &= guess->any_data || sniffing->files.nheaders < 2;
	if (sniffing->names != NIL)
		guess->header.nfields = list_length(sniffing->names);
	if (table->by_name && sniffing->names != NIL)
		guess->nfields = guess->header.nfields;
}

/* ---- all of it ---- */

/* the options that are given, except the boundary, which the table tells */
static CsvGiven
what_is_given(List *options)
{
	return (CsvGiven) {
		.format = csv_is_given(options, "format"),
		.delimiter = csv_is_given(options, "delimiter"),
		.trim = csv_is_given(options, "trim"),
		.quote = csv_is_given(options, "quote"),
		.escape = csv_is_given(options, "escape"),
		.comment = csv_is_given(options, "comment"),
		.footer = csv_is_given(options, "footer_rows"),
		.header = csv_is_given(options, "header") || csv_is_given(options, "header_rows"),
		.decimal = csv_is_given(options, "decimal_separator")
	};
}

/* the table of the first file, as its sample tells; no fields: it has no record */
static void
find_format(Sniffing *sniffing)
{
	const CsvSample *sample = &sniffing->sample;

	/* blank lines, or line breaks in quotes, may fill a sample */
	for (uint64 nbytes = CSV_SAMPLE_BYTES;; nbytes *= 4)
	{
		CsvTable   *table = begin_table(sniffing, nbytes);

		sniffing->table = table;
		if (!sample->at_end && sniffing->any_tail)
			read_tail(table, &sniffing->sample);
		sniffing->given.thousands = table->thousands_separator != NULL;
		sniffing->given.boundary = table->reader.dialect.boundary != CSV_BOUNDARY_AUTO;
		csv_guess(table, &sniffing->given, sample, &sniffing->guess);
		if (sniffing->guess.nfields > 0 || sample->at_end ||
			sample->nbytes > table->reader.max_record_bytes)
			break;
	}
	sniffing->may_choose = !sniffing->table->header_match &&
		!csv_is_given(sniffing->options, "by_name");
	if (sniffing->guess.nfields == 0 && !sample->at_end)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("no record of \"%s\" ends within its first " UINT64_FORMAT " bytes",
						sniffing->filename, sample->nbytes)));
}

/* what was found so far */
static CsvFindings *
begin_findings(Sniffing *sniffing)
{
	CsvFindings *findings = palloc0(sizeof(CsvFindings));
	CsvTable   *table = sniffing->table;
	const CsvGuess *guess = &sniffing->guess;
	const bool	any_marked = sniffing->files.marked != NULL;

	findings->table = table;
	findings->given = sniffing->given;
	findings->boundary = guess->boundary;
	findings->ncolumns = guess->nfields;
	findings->header_varies = sniffing->files.differs != NULL;
	findings->by_mark = table->utf16 == CSV_UTF16_BY_MARK && any_marked;
	if (table->utf16 == CSV_UTF16_BY_MARK && sniffing->sample.is_utf16 && !any_marked)
		table->utf16 = CSV_UTF16_ANY;
	if (guess->boundary_found)
		table->reader.dialect.boundary = CSV_BOUNDARY_AUTO;
	if (guess->footer_rows > 0)
		table->reader.dialect.footer_rows = guess->footer_rows;
	return findings;
}

/* have the table read a column of text for each field */
static void
make_columns(const Sniffing *sniffing, CsvFindings *findings)
{
	CsvTable   *table = sniffing->table;
	const CsvSample *sample = &sniffing->sample;
	const uint8_t quote = table->reader.dialect.quote;

	if (findings->ncolumns > MaxHeapAttributeNumber)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"%s\" has %u fields, and a table can have at most %d columns",
						sniffing->filename, findings->ncolumns, MaxHeapAttributeNumber)));
	if (!csv_is_given(sniffing->options, "encoding"))
		csv_tell_encoding(table, csv_encoding_name(table), sniffing->guessed != NULL);

	/* names are made here, and may differ from the header */
	table->header_match = false;
	table->set_null = false;	/* errors in values must be told */
	csv_table_set_fields(table, findings->ncolumns);
	findings->columns = palloc0(sizeof(CsvFoundColumn) * findings->ncolumns);
	findings->evidence = palloc0(sizeof(CsvEvidence) * findings->ncolumns);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		findings->columns[i].type = TEXTOID;
		findings->columns[i].typmod = -1;
		findings->columns[i].evidence = &findings->evidence[i];
	}
	csv_name_columns(findings, sniffing->names);
	findings->any_quote = quote != 0 &&
		(!sample->at_end || memchr(sample->bytes, quote, sample->nbytes) != NULL);
}

static void
tell_format(const Sniffing *sniffing, CsvFindings *findings)
{
	csv_tell_dialect(findings, &sniffing->guess);
	csv_tell_header(findings, &sniffing->guess);
	csv_files_tell(&sniffing->files, findings, sniffing->may_choose);
	if (sniffing->guess.first_comment != NULL || sniffing->guess.header.in_comment)
		csv_tell_comment(findings);
	csv_tell_left_out(findings, &sniffing->guess);
}

/*
 * The findings; NULL if the whole file tells another format than its sample: then the
 * option is among the options that are given.
 */
static CsvFindings *
find(Sniffing *sniffing, const CsvImportOptions *import)
{
	CsvEscapes	escapes = {0};
	CsvFindings *findings;
	CsvReadingRules rules;

	find_format(sniffing);
	if (sniffing->table->reader.dialect.quoting == CSV_QUOTING_TEXT && !sniffing->given.format)
		escapes = csv_look_for_escapes(sniffing->table);
	if (escapes.odd)
	{
		sniffing->options = csv_with_option(sniffing->options, "format", "csv");
		return NULL;
	}
	if (sniffing->guess.nfields > 0)
		look_at_files(sniffing);
	findings = begin_findings(sniffing);
	findings->any_escape = escapes.letters && !escapes.doubled && !escapes.at_end;
	if (findings->ncolumns == 0)
		return findings;
	make_columns(sniffing, findings);

	csv_reading_rules_init(&rules, findings->table);
	if (csv_is_given(sniffing->options, "null_values"))
		rules.missing = 0;
	csv_observe_values(findings, &rules, import->sample_records);
	if (findings->invalid.n > 0 && findings->table->file_encoding == PG_UTF8)
	{
		CsvHighBytes counts = csv_look_for_high_bytes(findings->table);
		const char *encoding = csv_encoding_of(&counts);

		if (sniffing->may_guess && encoding != NULL)
		{
			csv_tell_encoding(findings->table, encoding, true);
			sniffing->options = csv_with_option(sniffing->options, "encoding", encoding);
			return NULL;
		}
		findings->mostly_valid = counts.nvalid > counts.ninvalid;
	}

	tell_format(sniffing, findings);
	csv_give_types(findings, import);
	if (!import->all_text || import->given_types != NIL)
		csv_decide_types(findings, &rules, import->all_text);
	return findings;
}

CsvFindings *
csv_sniff(const char *filename, Oid server, const CsvImportOptions *import)
{
	List	   *options = import->table_options;
	CsvFindings *findings = NULL;

	while (findings == NULL)
	{
		Sniffing	sniffing = {
			.filename = filename,
			.input_option = import->program != NULL ? "program" : "filename",
			.server = server,
			.options = options,
			.given = what_is_given(options)
		};

		sniffing.any_tail = import->sample_records < 0 && !sniffing.given.footer;
		findings = find(&sniffing, import);
		options = sniffing.options;
	}
	return findings;
}
