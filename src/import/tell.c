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
csv_tell_encoding(const CsvTable *table, const char *encoding, bool is_guess)
{
	const int	number = pg_char_to_encoding(encoding); /* -1: UTF-16 */
	const char *name = number > PG_SQL_ASCII && pg_encoding_max_length(number) == 1 ?
		csv_look_for_high_bytes(table).utf8_file : NULL;

	if (is_guess || name != NULL)
		ereport(NOTICE,
				(is_guess ?
				 errmsg("\"%s\" is not in encoding \"%s\": that it is in \"%s\" is a guess",
						table->filename, pg_get_client_encoding_name(), encoding) :
				 errmsg("assuming that \"%s\" is in the client's encoding \"%s\"",
						table->filename, encoding),
				 name != NULL ? errdetail("\"%s\" is valid in encoding \"UTF8\", too.", name) : 0,
				 errhint("If it is wrong, add OPTIONS (encoding '...') to IMPORT FOREIGN SCHEMA.")));
}

/* ---- the dialect ---- */

/* the line on which a record begins, from 1 */
static uint64
line_of(const CsvGrid *grid, const CsvGridRecord *record)
{
	uint64		line = 1;

	for (uint64 pos = 0; pos < record->start; line++)
		pos = csv_sample_next_line(grid->sample, pos, csv_break_byte(grid->options.boundary));
	return line;
}

/* the line of the first record with a sign; 0: there is none */
static uint64
line_with(const CsvGrid *grid, CsvSign sign)
{
	for (uint32 i = 0; i < grid->nrecords; i++)
		if ((grid->records[i].signs & sign) != 0)
			return line_of(grid, &grid->records[i]);
	return 0;
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

/* line breaks */
static void
tell_breaks(const char *filename, const CsvGrid *grid)
{
	CsvOddCrs	odd = csv_find_odd_crs(&grid->options, grid->sample);

	if (odd.lone_line != 0)
		ereport(NOTICE,
				(errmsg("\"%s\" has a carriage return inside line " UINT64_FORMAT,
						filename, odd.lone_line),
				 errdetail("It is part of a value, because line feeds end the records."),
				 errhint("If carriage returns end the records, add OPTIONS (record_boundary 'cr') to IMPORT FOREIGN SCHEMA.")));
	if (odd.doubled_line != 0)
		ereport(NOTICE,
				(errmsg("line " UINT64_FORMAT " of \"%s\" ends with two carriage returns and a line feed, unlike other lines",
						odd.doubled_line, filename),
				 errdetail("Neither carriage return is part of a value.")));
}

/* the delimiter */
static void
tell_delimiter(const CsvFindings *findings, const CsvGuess *guess)
{
	const CsvTable *table = findings->table;
	const CsvGrid *grid = guess->grid;
	const char *delimiter = quote_literal_cstr(table->delimiter);
	const char *rival = quote_literal_cstr(grid->rival);
	const bool	any_names = guess->header.names != NULL;

	if (*grid->rival != '\0' && (!grid->rival_is_part || !any_names))
		ereport(NOTICE,
				(grid->is_table ?
				 errmsg("assuming that %s delimits the fields of \"%s\"",
						delimiter, table->filename) :
				 errmsg("assuming that \"%s\" has one column", table->filename),
				 errdetail("All records, or nearly all, have as many %s.", rival),
				 errhint("If that is the delimiter, add OPTIONS (delimiter %s) to IMPORT FOREIGN SCHEMA.",
						 rival)));
	else if (!findings->given.delimiter && grid->is_table && !any_names &&
			 strchr(" ^~$", grid->options.delimiter) != NULL &&
			 grid->options.delimiter_rest_length == 0)
		ereport(NOTICE,
				(errmsg("assuming that %s delimits the fields of \"%s\"",
						delimiter, table->filename),
				 errdetail("It may as well be a part of values."),
				 errhint("If the file has one column, add OPTIONS (delimiter ',') to IMPORT FOREIGN SCHEMA.")));
}

/* quotes and escapes */
static void
tell_quotes(const CsvFindings *findings, const CsvGuess *guess)
{
	const char *filename = findings->table->filename;
	const CsvGrid *grid = guess->grid;
	uint64		stray = (grid->signs & CSV_SIGN_QUOTED) == 0 ? 0 :
		line_with(grid, CSV_SIGN_STRAY);
	uint64		needless = find_needless(grid, guess->header.first);
	uint64		escaped = line_with(grid, CSV_SIGN_ESCAPED);

	if (grid->options.quote == 0 && (grid->signs & (CSV_SIGN_OPENED | CSV_SIGN_CLOSED)) != 0)
		ereport(NOTICE,
				(errmsg("assuming that quotes in \"%s\" are parts of values", filename),
				 errhint("If they enclose values, add OPTIONS (quote '\"') to IMPORT FOREIGN SCHEMA.")));
	if (stray != 0 || needless != 0)
		ereport(NOTICE,
				(errmsg("assuming that quotes in \"%s\" enclose values", filename),
				 stray != 0 ?
				 errdetail("Line " UINT64_FORMAT " has a quote inside an unquoted value.", stray) :
				 errdetail("Line " UINT64_FORMAT " has quotes that its value does not need, unlike other values of the column.",
						   needless),
				 errhint("If they are parts of values, add OPTIONS (quote '') to IMPORT FOREIGN SCHEMA.")));
	if (escaped != 0 && !findings->given.escape)
		ereport(NOTICE,
				(errmsg("line " UINT64_FORMAT " of \"%s\" has a backslash before a quote outside of quotes",
						escaped, filename),
				 errdetail("Both stay in the value."),
				 errhint("If a backslash escapes what follows it, add OPTIONS (format 'text', delimiter '...') to IMPORT FOREIGN SCHEMA.")));
}

void
csv_tell_dialect(const CsvFindings *findings, const CsvGuess *guess)
{
	const char *filename = findings->table->filename;
	const CsvGrid *grid = guess->grid;
	const CsvGiven *given = &findings->given;

	if (!given->boundary)
		tell_breaks(filename, grid);
	tell_delimiter(findings, guess);
	if (grid->options.trim && !given->trim &&
		!(guess->header.found && is_first_padded(grid)))
		ereport(NOTICE,
				(errmsg("assuming that blanks around the values of \"%s\" do not count",
						filename),
				 errhint("If they do, add OPTIONS (trim 'false') to IMPORT FOREIGN SCHEMA.")));
	if (!given->quote && grid->options.quoting != CSV_QUOTING_TEXT)
		tell_quotes(findings, guess);
	if (findings->any_escape)
		ereport(NOTICE,
				(errmsg("assuming that backslashes in \"%s\" begin escapes, as in COPY's text format",
						filename),
				 errhint("If they are parts of values, add OPTIONS (format 'csv') to IMPORT FOREIGN SCHEMA.")));
	if (findings->any_joined)
		ereport(NOTICE,
				(errmsg("a quoted value of \"%s\" has lines that would be records without quotes",
						filename),
				 errhint("If quotes do not enclose values, add OPTIONS (quote '') to IMPORT FOREIGN SCHEMA.")));
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
	if (guess->header.joins_words)
		ereport(NOTICE,
				(errmsg("assuming that the header of \"%s\" has %u records",
						filename, guess->header.last - guess->header.top + 1),
				 errhint("If the last of them is data, add OPTIONS (header_rows '%u') to IMPORT FOREIGN SCHEMA.",
						 guess->grid->nblank + guess->header.last)));
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

/* a line for a message */
static char *
shown_line(const CsvTable *table, const char *line)
{
	return csv_quoted_text(csv_valid_text(table->encoding, line, strlen(line),
										  CSV_SHOWN_LINE_BYTES));
}

/* some lines that are left out, and the first of them */
static void
add_part(StringInfo parts, const CsvTable *table, const char *what, const char *line)
{
	appendStringInfo(parts, "%s%s (%s)", parts->len > 0 ? ", " : "", what,
					 shown_line(table, line));
}

void
csv_tell_comment(const CsvFindings *findings)
{
	const CsvTable *table = findings->table;
	uint64		line = 0;
	const char *file;
	const char *text = csv_look_for_odd_comment(table, findings->boundary, findings->ncolumns,
												&line, &file);

	if (file != NULL)
		ereport(NOTICE,
				(errmsg("line " UINT64_FORMAT " of \"%s\" names other fields than the first line of names: %s",
						line, file, shown_line(table, text)),
				 errdetail("Records below it are read as the first line has them."),
				 errhint("Move that line and the records below it to a file of their own.")));
	else if (text != NULL && !findings->given.comment)
		ereport(NOTICE,
				(errmsg("a line that begins with \"%s\" has as many fields as a record of \"%s\": %s",
						table->comment, table->filename, shown_line(table, text)),
				 errhint("If it is a record, add OPTIONS (comment '') to IMPORT FOREIGN SCHEMA.")));
}

void
csv_tell_left_out(const CsvFindings *findings, const CsvGuess *guess)
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
	if (parts.len > 0)
		ereport(NOTICE,
				(errmsg("left out of \"%s\": %s", table->filename, parts.data),
				 errhint("If they are data, set the options \"header_rows\", \"footer_rows\" or \"comment\".")));
}

/* a hint if most bad records have the same error, or NULL; *detail: of a record with it */
static char *
likely_cause(const CsvFindings *findings, const char **detail)
{
	const char *encoding = csv_encoding_name(findings->table);
	const char *other = strcmp(encoding, "WIN1252") == 0 ? "LATIN1" : "WIN1252";

	*detail = findings->invalid.first;
	if (findings->invalid.n > findings->skipped.n / 2 && findings->mostly_valid)
		return psprintf("Other values beyond ASCII are valid in encoding \"%s\": correct these records, or make another table of files in another encoding.",
						encoding);
	if (findings->invalid.n > findings->skipped.n / 2)
		return psprintf("If it is not in encoding \"%s\", set client_encoding to its own, such as %s, or add OPTIONS (encoding '%s') to IMPORT FOREIGN SCHEMA.",
						encoding, other, other);
	*detail = findings->zero.first;
	if (findings->skipped.n == findings->nrecords && findings->zero.n > findings->skipped.n / 2)
		return "If it is in UTF-16, add OPTIONS (encoding 'UTF16LE') or OPTIONS (encoding 'UTF16BE') to IMPORT FOREIGN SCHEMA.";
	*detail = findings->misquoted.first;
	if (findings->misquoted.n * 2 >= findings->skipped.n && findings->misquoted.n > 0 &&
		!findings->table->reader.dialect.lenient)
		return "If quotes in values are not doubled, add OPTIONS (quoting 'lenient') to IMPORT FOREIGN SCHEMA.";
	*detail = findings->escaped.first;
	if (findings->escaped.n > findings->skipped.n / 2)
		return psprintf("If a backslash before a delimiter makes it part of a value, add OPTIONS (format 'text', delimiter %s) to IMPORT FOREIGN SCHEMA.",
						quote_literal_cstr(findings->table->delimiter));
	*detail = findings->skipped.first;
	return NULL;
}

void
csv_found_errors(const CsvFindings *findings, const char *consequence, bool any)
{
	const char *detail;
	char	   *cause = likely_cause(findings, &detail);

	if (!any && cause == NULL)
		return;
	ereport(NOTICE,
			(errmsg("%lld of %lld records of \"%s\" have errors%s",
					(long long) findings->skipped.n,
					(long long) findings->nrecords,
					findings->table->filename, consequence),
			 errdetail_internal("%s", detail),
			 cause != NULL ? errhint("%s", cause) : 0));
}
