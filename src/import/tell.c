/*
 * tell.c
 *		NOTICEs of findings that may be wrong, or leave something out.
 */
#include "postgres.h"

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

/* CRs that not all lines have */
static void
tell_odd_crs(const char *filename, const CsvGuess *guess)
{
	if (guess->odd_crs.lone_line != 0)
		ereport(NOTICE,
				(errmsg("\"%s\" has a carriage return inside line " UINT64_FORMAT,
						filename, guess->odd_crs.lone_line),
				 errdetail("It is part of a value, because line feeds end the records."),
				 errhint("If carriage returns end the records, add OPTIONS (record_boundary 'cr') to IMPORT FOREIGN SCHEMA.")));
	if (guess->odd_crs.doubled_line != 0)
		ereport(NOTICE,
				(errmsg("line " UINT64_FORMAT " of \"%s\" ends with two carriage returns and a line feed, unlike other lines",
						guess->odd_crs.doubled_line, filename),
				 errdetail("Neither carriage return is part of a value.")));
}

void
csv_tell_dialect(const CsvFindings *findings, const CsvGuess *guess)
{
	const CsvTable *table = findings->table;
	const char *filename = table->filename;

	tell_odd_crs(filename, guess);
	if (guess->rival != NULL)
		ereport(NOTICE,
				(findings->ncolumns == 1 ?
				 errmsg("assuming that \"%s\" has one column", filename) :
				 errmsg("assuming that %s delimits the fields of \"%s\"",
						quote_literal_cstr(table->delimiter), filename),
				 errdetail("All records have as many %s.", quote_literal_cstr(guess->rival)),
				 errhint("If that is the delimiter, add OPTIONS (delimiter %s) to IMPORT FOREIGN SCHEMA.",
						 quote_literal_cstr(guess->rival))));
	else if (guess->unusual)
		ereport(NOTICE,
				(errmsg("assuming that %s delimits the fields of \"%s\"",
						quote_literal_cstr(table->delimiter), filename),
				 errdetail("It may as well be a part of values."),
				 errhint("If the file has one column, add OPTIONS (delimiter ',') to IMPORT FOREIGN SCHEMA.")));
	if (guess->trimmed)
		ereport(NOTICE,
				(errmsg("assuming that blanks around the values of \"%s\" do not count", filename),
				 errhint("If they do, add OPTIONS (trim 'false') to IMPORT FOREIGN SCHEMA.")));
	if (guess->quotes_off)
		ereport(NOTICE,
				(errmsg("assuming that quotes in \"%s\" are parts of values", filename),
				 errhint("If they enclose values, add OPTIONS (quote '\"') to IMPORT FOREIGN SCHEMA.")));
	if (guess->stray_line != 0 || guess->needless_line != 0)
		ereport(NOTICE,
				(errmsg("assuming that quotes in \"%s\" enclose values", filename),
				 guess->stray_line != 0 ?
				 errdetail("Line " UINT64_FORMAT " has a quote inside an unquoted value.",
						   guess->stray_line) :
				 errdetail("Line " UINT64_FORMAT " has quotes that its value does not need, unlike other values of the column.",
						   guess->needless_line),
				 errhint("If they are parts of values, add OPTIONS (quote '') to IMPORT FOREIGN SCHEMA.")));
	if (guess->escapes)
		ereport(NOTICE,
				(errmsg("assuming that backslashes in \"%s\" begin escapes, as in COPY's text format",
						filename),
				 errhint("If they are parts of values, add OPTIONS (format 'csv') to IMPORT FOREIGN SCHEMA.")));
	if (guess->escaped_line != 0)
		ereport(NOTICE,
				(errmsg("line " UINT64_FORMAT " of \"%s\" has a backslash before a quote outside of quotes",
						guess->escaped_line, filename),
				 errdetail("Both stay in the value."),
				 errhint("If a backslash escapes what follows it, add OPTIONS (format 'text', delimiter '...') to IMPORT FOREIGN SCHEMA.")));
	if (findings->any_joined)
		ereport(NOTICE,
				(errmsg("a quoted value of \"%s\" has lines that would be records without quotes",
						filename),
				 errhint("If quotes do not enclose values, add OPTIONS (quote '') to IMPORT FOREIGN SCHEMA.")));
}

void
csv_tell_header(const CsvFindings *findings, const CsvGuess *guess)
{
	const char *filename = findings->table->filename;

	if (guess->assumed)
		ereport(NOTICE,
				(errmsg("assuming that the first record of \"%s\" is a header", filename),
				 errdetail("Only the form of its values tells."),
				 errhint("If it is data, add OPTIONS (header 'false') to IMPORT FOREIGN SCHEMA.")));
	if (guess->none_assumed)
		ereport(NOTICE,
				(errmsg("assuming that \"%s\" has no header", filename),
				 errdetail("The values of its first record may be names."),
				 errhint("If they are, add OPTIONS (header 'true') to IMPORT FOREIGN SCHEMA.")));
	if (guess->shifted)
		ereport(NOTICE,
				(errmsg("assuming that the header of \"%s\" lacks the name of the first column",
						filename),
				 errdetail("Records have a field more than the header, and the first field has a value in each record."),
				 errhint("If the header lacks another name, give the columns their names by ALTER FOREIGN TABLE.")));
	if (guess->nheader == 0 || guess->nheader == guess->nfields)
		return;
	ereport(NOTICE,
			(errmsg("the header of \"%s\" has another number of fields than its records: %u, not %u",
					filename, guess->nheader, guess->nfields),
			 guess->header == NULL ?
			 errdetail("Its names are not used.") :
			 guess->nheader > guess->nfields ?
			 errdetail("Its names from field %u on are not used.",
					   guess->nfields + 1) :
			 errdetail("The columns from field %u on have no name in it.",
					   guess->nheader + 1),
			 guess->header != NULL && guess->nheader > guess->nfields ?
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
