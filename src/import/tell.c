/*
 * tell.c
 *		NOTICEs of what was found of a file where it may be wrong, or leaves something out.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "import/tell.h"
#include "table/text.h"

/* most names of columns in a message */
#define MOST_NAMES		10

/* ---- the format ---- */

void
csv_tell_encoding(const char *filename, const char *encoding)
{
	ereport(NOTICE,
			(errmsg("\"%s\" is not in encoding \"%s\": that it is in \"%s\" is a guess",
					filename, pg_get_client_encoding_name(), encoding),
			 errhint("If it is wrong, add OPTIONS (encoding '...') to IMPORT FOREIGN SCHEMA.")));
}

void
csv_tell_odd_crs(const char *filename, const CsvGuess *guess)
{
	if (guess->lone_cr_line != 0)
		ereport(NOTICE,
				(errmsg("\"%s\" has a carriage return inside line " UINT64_FORMAT,
						filename, guess->lone_cr_line),
				 errdetail("It is part of a value, because line feeds end the records."),
				 errhint("If carriage returns end the records, add OPTIONS (record_boundary 'cr') to IMPORT FOREIGN SCHEMA.")));
	if (guess->doubled_cr_line != 0)
		ereport(NOTICE,
				(errmsg("line " UINT64_FORMAT " of \"%s\" ends with two carriage returns and a line feed, unlike other lines",
						guess->doubled_cr_line, filename),
				 errdetail("Neither carriage return is part of a value.")));
}

void
csv_tell_header(const char *filename, const CsvGuess *guess)
{
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

/* ---- files of a table ---- */

void
csv_tell_marks(const CsvFindings *findings, const CsvFiles *files)
{
	if (files->marked == NULL)
		return;
	ereport(NOTICE,
			(errmsg("files of \"%s\" differ in their encodings: \"%s\" and the first one are not both in UTF-16",
					findings->table->filename, files->marked),
			 findings->by_mark ?
			 errhint("Without the option \"encoding\", each file is read as its byte-order mark says, or in the client's encoding.") :
			 errhint("What is in another encoding is to be a table of its own.")));
}

void
csv_tell_names(const CsvFindings *findings, const CsvFiles *files)
{
	StringInfoData more;

	/* who has given by_name knows that */
	if (files->differs == NULL ||
		(findings->table->by_name && !findings->by_name))
		return;
	if (!findings->table->by_name)
	{
		ereport(NOTICE,
				(errmsg("files of \"%s\" differ in their headers, as \"%s\" does from the first one: fields are taken by their places",
						findings->table->filename, files->differs),
				 files->renamed ?
				 errhint("With OPTIONS (by_name 'true') columns are found by the header's names, and are NULL where a file has another name for them.") :
				 errhint("If columns are to be found by the header's names, give OPTIONS (by_name 'true').")));
		return;
	}
	initStringInfo(&more);
	for (uint32 i = files->nfirst; i < findings->ncolumns && i < files->nfirst + MOST_NAMES; i++)
		appendStringInfo(&more, "%s\"%s\"", more.len > 0 ? ", " : "", findings->columns[i].name);
	ereport(NOTICE,
			(errmsg("files of \"%s\" differ in their headers, as \"%s\" does from the first one: columns are found by name",
					findings->table->filename, files->differs),
			 more.len > 0 ?
			 errdetail("The first file does not have column %s%s.", more.data,
					   findings->ncolumns > files->nfirst + MOST_NAMES ? ", ..." : "") : 0));
}

/* ---- values ---- */

void
csv_tell_thousands(const CsvFindings *findings)
{
	const char *thousands = findings->table->thousands_separator;
	const CsvFoundColumn *guessed = NULL;

	if (thousands == NULL || strcmp(thousands, ",") != 0)
		return;
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvInference *inference = &findings->columns[i].inference;

		if (inference->family != CSV_FAMILY_NUMBER)
			continue;
		if (inference->surely_grouped)
			return;
		if (inference->ngrouped > 0 && guessed == NULL)
			guessed = &findings->columns[i];
	}
	if (guessed != NULL)
		ereport(NOTICE,
				(errmsg("that each \",\" in column \"%s\" of \"%s\" separates thousands is a guess",
						guessed->name, findings->table->filename),
				 errhint("If it is decimal, set the option \"decimal_separator\" to \",\".")));
}

void
csv_tell_odd(const CsvFindings *findings)
{
	StringInfoData columns;
	uint32		n = 0;

	initStringInfo(&columns);
	for (uint32 i = 0; i < findings->ncolumns; i++)
	{
		const CsvFoundColumn *column = &findings->columns[i];
		const CsvInference *inference = &column->inference;
		const char *others = csv_inference_but_for_odd(inference);

		CHECK_FOR_INTERRUPTS();
		if (others == NULL || n++ >= MOST_NAMES)
			continue;
		appendStringInfo(&columns, "%sColumn \"%s\": %lld of %lld values are %s, %s is not.",
						 n > 1 ? "\n" : "", column->name,
						 (long long) (inference->nvalues - inference->nodd),
						 (long long) inference->nvalues, others,
						 csv_quoted_text(inference->first_odd));
	}
	if (n > 0)
		ereport(NOTICE,
				(errmsg("columns of \"%s\" are text for a few of their values",
						findings->table->filename),
				 errdetail_internal("%s", columns.data),
				 errhint("Where a column is to have the type of the others, the options \"null_values\" and \"on_error\" ('set_null') make NULL of such values, and \"footer_rows\" leaves out records at the end.")));
}

/* what may be wrong if most bad records have the same error; NULL: who knows */
static char *
likely_cause(const CsvFindings *findings)
{
	if (findings->ninvalid > findings->nskipped / 2)
		return psprintf("If it is not in encoding \"%s\", set client_encoding to its own, such as WIN1252, or add OPTIONS (encoding 'WIN1252') to IMPORT FOREIGN SCHEMA.",
						csv_encoding_name(findings->table));
	if (findings->nskipped == findings->nrecords && findings->nzero > findings->nskipped / 2)
		return "If it is in UTF-16, add OPTIONS (encoding 'UTF16LE') or OPTIONS (encoding 'UTF16BE') to IMPORT FOREIGN SCHEMA.";
	if (findings->nmisquoted > findings->nskipped / 2 &&
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
