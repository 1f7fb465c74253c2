/*
 * tell.c
 *		NOTICEs of findings that may be wrong, or leave something out.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "import/tell.h"
#include "table/text.h"

/* ---- the format ---- */

void
csv_tell_encoding(const char *filename, const char *encoding)
{
	ereport(NOTICE,
			(errmsg("\"%s\" is not in encoding \"%s\": that it is in \"%s\" is a guess",
					filename, pg_get_client_encoding_name(), encoding),
			 errhint("If it is wrong, add OPTIONS (encoding '...') to IMPORT FOREIGN SCHEMA.")));
}

/* ---- notes on the dialect ---- */

/* the line on which a record begins, from 1; 0: there is no record */
static uint64
line_of(const CsvGrid *grid, const CsvGridRecord *record)
{
	uint64		line = record != NULL;

	for (uint64 pos = 0; record != NULL && pos < record->start; line++)
		pos = csv_sample_next_line(grid->sample, pos, csv_break_byte(grid->options.boundary));
	return line;
}

/* must a writer of the file put a value in quotes? */
static bool
needs_quotes(const CsvCell *cell, const CsvDialectOptions *options)
{
	const char	special[] = {(char) options->delimiter, (char) options->quote, '\r', '\n', '\0'};

	return cell->kind == CSV_CELL_EMPTY || strpbrk(cell->text, special) != NULL ||
		csv_is_blank((uint8_t) cell->text[0]) ||
		csv_is_blank((uint8_t) cell->text[cell->nbytes - 1]);
}

/*
 * The first line with a text in quotes, if no value of the data needs its quotes, and
 * texts of the same column have none, or the quotes are apostrophes; else 0.
 */
static uint64
find_needless(const CsvGrid *grid, uint32 first)
{
	uint32		ncolumns = Min(grid->nfields, MaxHeapAttributeNumber);
	bool	   *any_plain = palloc0(ncolumns);
	const CsvGridRecord **quoted = palloc0(sizeof(CsvGridRecord *) * ncolumns);	/* the first */
	const CsvGridRecord *needless = NULL;

	for (uint32 i = Max(first, grid->from); i < grid->to; i++)
	{
		const CsvGridRecord *record = &grid->records[i];

		for (uint32 j = 0; csv_is_row(record, grid->nfields) && j < record->ncells; j++)
		{
			const CsvCell *cell = &record->cells[j];

			if (cell->quoted && needs_quotes(cell, &grid->options))
				return 0;
			if (cell->kind != CSV_CELL_TEXT)
				continue;
			if (!cell->quoted)
				any_plain[j] = true;
			else if (quoted[j] == NULL)
				quoted[j] = record;
		}
	}
	for (uint32 j = 0; j < ncolumns; j++)
		if (quoted[j] != NULL && (any_plain[j] || grid->options.quote == '\'') &&
			(needless == NULL || quoted[j] < needless))
			needless = quoted[j];
	return needless == NULL ? 0 : line_of(grid, needless);
}

static bool
is_first_padded(const CsvGrid *grid)
{
	uint32		first = csv_grid_first(grid);
	char	   *line = csv_sample_line(grid->sample, first < grid->nrecords ?
									   grid->records[first].start : 0);
	bool		found = false;

	for (uint64 i = 0, nbytes = strlen(line); i < nbytes && !found; i++)
		found = csv_delimiter_at(&grid->options, (const uint8_t *) line, i, nbytes) &&
			(csv_is_blank((uint8_t) line[i + 1 + grid->options.delimiter_rest_length]) ||
			 (i > 0 && csv_is_blank((uint8_t) line[i - 1])));
	pfree(line);
	return found;
}

/* a NOTICE that is given when all is known; detail and hint may be NULL */
typedef struct LaterNotice
{
	const char *message;
	const char *detail;
	const char *hint;
} LaterNotice;

List *
csv_note(List *notes, const char *message, const char *detail, const char *hint)
{
	LaterNotice *note = palloc(sizeof(LaterNotice));

	*note = (LaterNotice) {message, detail, hint};
	return lappend(notes, note);
}

void
csv_tell_notes(const List *notes)
{
	ListCell   *cell;

	foreach(cell, notes)
	{
		const LaterNotice *note = lfirst(cell);

		ereport(NOTICE,
				(errmsg_internal("%s", note->message),
				 note->detail != NULL ? errdetail_internal("%s", note->detail) : 0,
				 note->hint != NULL ? errhint("%s", note->hint) : 0));
	}
}

/* line breaks */
static List *
note_breaks(List *notes, const CsvTable *table, const CsvGrid *grid)
{
	const char *filename = table->filename;
	CsvOddCrs	odd = csv_find_odd_crs(&grid->options, grid->sample);

	if (odd.lone_line != 0)
		notes = csv_note(notes,
						 psprintf("\"%s\" has a carriage return inside line " UINT64_FORMAT,
								  filename, odd.lone_line),
						 "It is part of a value, because line feeds end the records.",
						 "If carriage returns end the records, add OPTIONS (record_boundary 'cr') to IMPORT FOREIGN SCHEMA.");
	if (odd.doubled_line != 0)
		notes = csv_note(notes,
						 psprintf("line " UINT64_FORMAT " of \"%s\" ends with two carriage returns and a line feed, unlike other lines",
								  odd.doubled_line, filename),
						 "Neither carriage return is part of a value.", NULL);
	return notes;
}

/* the delimiter */
static List *
note_delimiter(List *notes, const CsvTable *table, const CsvGiven *given,
			   const CsvGuess *guess)
{
	const CsvGrid *grid = guess->grid;
	const char *delimiter = quote_literal_cstr(table->delimiter);
	const char *rival = quote_literal_cstr(grid->rival);
	const bool	any_names = guess->header.names != NULL;

	if (*grid->rival != '\0' && (!grid->rival_is_part || !any_names))
		notes = csv_note(notes,
						 guess->nfields == 1 ?
						 psprintf("assuming that \"%s\" has one column", table->filename) :
						 psprintf("assuming that %s delimits the fields of \"%s\"",
								  delimiter, table->filename),
						 psprintf("All records have as many %s.", rival),
						 psprintf("If that is the delimiter, add OPTIONS (delimiter %s) to IMPORT FOREIGN SCHEMA.",
								  rival));
	else if (!given->delimiter && grid->is_table && !any_names &&
			 strchr(" ^~", grid->options.delimiter) != NULL &&
			 grid->options.delimiter_rest_length == 0)
		notes = csv_note(notes,
						 psprintf("assuming that %s delimits the fields of \"%s\"",
								  delimiter, table->filename),
						 "It may as well be a part of values.",
						 "If the file has one column, add OPTIONS (delimiter ',') to IMPORT FOREIGN SCHEMA.");
	return notes;
}

/* quotes and escapes */
static List *
note_quotes(List *notes, const CsvTable *table, const CsvGrid *grid, const CsvGiven *given,
			uint32 first)
{
	const char *filename = table->filename;
	uint64		stray = csv_find_sign(grid, CSV_SIGN_QUOTED) == NULL ? 0 :
		line_of(grid, csv_find_sign(grid, CSV_SIGN_STRAY));
	uint64		needless = find_needless(grid, first);
	uint64		escaped = line_of(grid, csv_find_sign(grid, CSV_SIGN_ESCAPED));

	if (grid->options.quote == 0 &&
		csv_find_sign(grid, CSV_SIGN_OPENED | CSV_SIGN_CLOSED) != NULL)
		notes = csv_note(notes,
						 psprintf("assuming that quotes in \"%s\" are parts of values", filename),
						 NULL,
						 "If they enclose values, add OPTIONS (quote '\"') to IMPORT FOREIGN SCHEMA.");
	if (stray != 0 || needless != 0)
		notes = csv_note(notes,
						 psprintf("assuming that quotes in \"%s\" enclose values", filename),
						 stray != 0 ?
						 psprintf("Line " UINT64_FORMAT " has a quote inside an unquoted value.", stray) :
						 psprintf("Line " UINT64_FORMAT " has quotes that its value does not need, unlike other values of the column.",
								  needless),
						 "If they are parts of values, add OPTIONS (quote '') to IMPORT FOREIGN SCHEMA.");
	if (escaped != 0 && !given->escape)
		notes = csv_note(notes,
						 psprintf("line " UINT64_FORMAT " of \"%s\" has a backslash before a quote outside of quotes",
								  escaped, filename),
						 "Both stay in the value.",
						 "If a backslash escapes what follows it, add OPTIONS (format 'text', delimiter '...') to IMPORT FOREIGN SCHEMA.");
	return notes;
}

List *
csv_dialect_notes(const CsvTable *table, const CsvGiven *given, const CsvGuess *guess)
{
	const CsvGrid *grid = guess->grid;
	const CsvHeader *header = &guess->header;
	List	   *notes = NIL;

	if (grid == NULL)
		return NIL;
	if (!given->boundary)
		notes = note_breaks(notes, table, grid);
	notes = note_delimiter(notes, table, given, guess);
	if (grid->options.trim && !given->trim && !(header->found && is_first_padded(grid)))
		notes = csv_note(notes,
						 psprintf("assuming that blanks around the values of \"%s\" do not count",
								  table->filename),
						 NULL,
						 "If they do, add OPTIONS (trim 'false') to IMPORT FOREIGN SCHEMA.");
	if (!given->quote && grid->options.quoting != CSV_QUOTING_TEXT)
		notes = note_quotes(notes, table, grid, given, header->first);
	return notes;
}

/* ---- the header ---- */

void
csv_tell_header(const CsvFindings *findings, const CsvGuess *guess)
{
	const char *filename = findings->table->filename;
	const uint32 nnames = guess->header.nfields;

	if (guess->header.assumed)
		ereport(NOTICE,
				(errmsg("assuming that the first record of \"%s\" is a header", filename),
				 errdetail("Only the form of its values tells."),
				 errhint("If it is data, add OPTIONS (header 'false') to IMPORT FOREIGN SCHEMA.")));
	if (guess->header.none_assumed)
		ereport(NOTICE,
				(errmsg("assuming that \"%s\" has no header", filename),
				 errdetail("The values of its first record may be names."),
				 errhint("If they are, add OPTIONS (header 'true') to IMPORT FOREIGN SCHEMA.")));
	if (guess->header.shifted)
		ereport(NOTICE,
				(errmsg("assuming that the header of \"%s\" lacks the name of the first column",
						filename),
				 errdetail("Records have a field more than the header, and the first field has a value in each record."),
				 errhint("If the header lacks another name, give the columns their names by ALTER FOREIGN TABLE.")));
	if (nnames == 0 || nnames == guess->nfields)
		return;
	ereport(NOTICE,
			(errmsg("the header of \"%s\" has another number of fields than its records: %u, not %u",
					filename, nnames, guess->nfields),
			 guess->header.names == NULL ?
			 errdetail("Its names are not used.") :
			 nnames > guess->nfields ?
			 errdetail("Its names from field %u on are not used.",
					   guess->nfields + 1) :
			 errdetail("The columns from field %u on have no name in it.", nnames + 1),
			 guess->header.names != NULL && nnames > guess->nfields ?
			 errhint("If records may be shorter than the header, give OPTIONS (ragged 'pad').") : 0));
}

/* some lines that are left out, and the first of them */
static void
add_part(StringInfo parts, const CsvTable *table, const char *what, const char *line)
{
	appendStringInfo(parts, "%s%s (%s)", parts->len > 0 ? ", " : "", what,
					 csv_quoted_text(csv_valid_text(table->encoding, line, strlen(line),
													CSV_SHOWN_LINE_BYTES)));
}

void
csv_tell_comment_row(const CsvFindings *findings, const char *line)
{
	const CsvTable *table = findings->table;

	if (line != NULL)
		ereport(NOTICE,
				(errmsg("a line that begins with \"%s\" has as many fields as a record of \"%s\": %s",
						table->comment, table->filename,
						csv_quoted_text(csv_valid_text(table->encoding, line, strlen(line),
													   CSV_SHOWN_LINE_BYTES))),
				 errhint("If it is a record, add OPTIONS (comment '') to IMPORT FOREIGN SCHEMA.")));
}

char *
csv_left_out(const CsvFindings *findings, const CsvGuess *guess)
{
	const CsvTable *table = findings->table;
	StringInfoData parts;

	initStringInfo(&parts);
	if (guess->nabove > 0 && table->reader.header_rows > 0)
		add_part(&parts, table, psprintf("%u %s above the data", guess->nabove,
										 guess->nabove == 1 ? "line" : "lines"),
				 guess->first_above);
	if (guess->footer_rows > 0)
		add_part(&parts, table, psprintf("%u %s below the data", guess->footer_rows,
										 guess->footer_rows == 1 ? "line" : "lines"),
				 guess->first_below);
	if (guess->first_comment != NULL)
		add_part(&parts, table, psprintf("lines that begin with \"%s\"", table->comment),
				 guess->first_comment);
	return parts.len == 0 ? NULL :
		psprintf("left out of \"%s\": %s", table->filename, parts.data);
}

/* a hint if most bad records have the same error; NULL: there is none */
static char *
likely_cause(const CsvFindings *findings)
{
	const char *encoding = csv_encoding_name(findings->table);
	const char *other = strcmp(encoding, "WIN1252") == 0 ? "LATIN1" : "WIN1252";

	if (findings->ninvalid > findings->nskipped / 2 && findings->mostly_valid)
		return psprintf("Other values beyond ASCII are valid in encoding \"%s\": correct these records, or make another table of files in another encoding.",
						encoding);
	if (findings->ninvalid > findings->nskipped / 2)
		return psprintf("If it is not in encoding \"%s\", set client_encoding to its own, such as %s, or add OPTIONS (encoding '%s') to IMPORT FOREIGN SCHEMA.",
						encoding, other, other);
	if (findings->nskipped == findings->nrecords && findings->nzero > findings->nskipped / 2)
		return "If it is in UTF-16, add OPTIONS (encoding 'UTF16LE') or OPTIONS (encoding 'UTF16BE') to IMPORT FOREIGN SCHEMA.";
	if (findings->nmisquoted * 2 >= findings->nskipped && findings->nmisquoted > 0 &&
		!findings->table->reader.dialect.lenient)
		return "If quotes in values are not doubled, add OPTIONS (quoting 'lenient') to IMPORT FOREIGN SCHEMA.";
	if (findings->nescaped > findings->nskipped / 2)
		return psprintf("If a backslash before a delimiter makes it part of a value, add OPTIONS (format 'text', delimiter %s) to IMPORT FOREIGN SCHEMA.",
						quote_literal_cstr(findings->table->delimiter));
	return NULL;
}

void
csv_found_errors(const CsvFindings *findings, const char *consequence, bool any)
{
	char	   *cause = likely_cause(findings);

	if (!any && cause == NULL)
		return;
	ereport(NOTICE,
			(errmsg("%lld of %lld records of \"%s\" have errors%s",
					(long long) findings->nskipped,
					(long long) findings->nrecords,
					findings->table->filename, consequence),
			 errdetail_internal("%s", findings->first_skipped),
			 cause != NULL ? errhint("%s", cause) : 0));
}
