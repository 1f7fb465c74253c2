/*
 * file_heads.c
 *		What the files of one table have in common: header, footer, names of columns.
 *
 * The options header_rows and footer_rows hold for each file.  So they are taken from the
 * file that has the fewest lines above its data, or below.  Other lines there are data then,
 * and nothing is lost.
 *
 * Headers make the table of a pattern by_name, which has the columns of all
 * files.  Names that differ in case only are one column, because by_name finds
 * either.  Headers that only spell the same names for SQL in other ways do not
 * differ; by_name would not find them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/memutils.h"

#include "import/file_heads.h"
#include "import/names.h"
#include "table/encoding.h"
#include "table/listing.h"
#include "table/text.h"

/* most names of columns in a message */
#define MOST_NAMES		10

/* names of all files are in memory at once, so that longer names do not tell fields */
#define MOST_NAME_BYTES		8192

/* the findings of one file; the dialect is the table's */
typedef struct FileHead
{
	uint32		header_rows;
	uint32		footer_rows;
	bool		any_data;		/* otherwise footer_rows does not count */
	uint32		nfields;		/* of records */
	List	   *names;			/* of its columns, String nodes as csv_valid_text() has them; NIL:
								 * there is no header */
	List	   *last_row;		/* of its header, where by_name finds names */
	bool		invalid;		/* a name of it is not valid in the table's encoding */
} FileHead;

/* the name of a column in headers */
typedef struct CsvFilesName
{
	Node	   *name;			/* a String, in the first header that has it */
	char	   *folded;			/* without regard to case */
	int			seen;			/* number of the last header that has it, from 1 */
	bool		lacking;		/* a file does not have it */
} CsvFilesName;

/* a name's place in CsvFiles.names, where it has none */
#define NO_NAME		(-1)

static char *
fold(Node *name)
{
	return str_tolower(strVal(name), strlen(strVal(name)), DEFAULT_COLLATION_OID);
}

static CsvFilesName *
name_of(const CsvFiles *files, int i)
{
	return list_nth(files->names, i);
}

/* ---- one file ---- */

/* as much of the names as counts, in the server's encoding */
static List *
server_names(const CsvTable *table, const CsvGridRecord *record, bool *invalid)
{
	List	   *names = NIL;

	for (uint32 i = 0; record != NULL && i < record->ncells; i++)
	{
		const CsvCell *cell = &record->cells[i];
		char	   *name = csv_valid_text(table->encoding, cell->text, cell->nbytes,
										  MOST_NAME_BYTES +
										  MAX_CONVERSION_GROWTH * MAX_MULTIBYTE_CHAR_LEN);

		CHECK_FOR_INTERRUPTS();

		/* csv_valid_text() writes bytes so that are not valid */
		*invalid |= strstr(name, "\\x") != NULL && strstr(cell->text, "\\x") == NULL;
		names = lappend(names, makeString(name));
	}
	return names;
}

/* the findings of a file for the others */
static FileHead
file_head(const CsvTable *table, const CsvGuess *guess)
{
	FileHead head = {
		.header_rows = table->reader.header_rows,
		.footer_rows = guess->footer_rows,
		.any_data = guess->any_data,
		.nfields = guess->nfields
	};

	head.names = server_names(table, guess->header.names, &head.invalid);
	head.last_row = server_names(table, guess->last_row, &head.invalid);
	return head;
}

/* header and footer of the file that is open; false: it has no record */
static bool
look_at_file(CsvTable one, CsvGiven known, bool any_tail,
			 CsvSource *source, FileHead *head)
{
	CsvGuess	guess = {.nfields = 0};
	CsvSample	sample;

	csv_sample_read(&one, source, CSV_SAMPLE_BYTES, &sample);
	if (!sample.at_end && any_tail &&
		csv_source_open(source, csv_source_number(source), NULL))
		csv_sample_read_tail(source, &sample);
	(void) csv_sample_pass_mark(&sample);
	if (!known.boundary)
		one.reader.dialect.boundary =
			csv_find_boundary(&sample, one.reader.dialect.quote) == CSV_BOUNDARY_CR ?
			CSV_BOUNDARY_CR : CSV_BOUNDARY_AUTO;
	known.further = true;
	csv_guess(&one, &known, &sample, &guess);
	*head = file_head(&one, &guess);
	return guess.nfields > 0;
}

/* ---- one header ---- */

/*
 * Where the name of a header is in files->names, probably at `next`.  Without regard to case
 * if that is the only choice, and another name of the header is not a better one.
 */
static int
find_name(const CsvFiles *files, const List *header, Node *name, int next)
{
	int			nnames = list_length(files->names);
	int			found = NO_NAME;
	char	   *folded;

	for (int i = 0; i < nnames; i++)
		if (equal(name_of(files, (next + i) % nnames)->name, name))
			return (next + i) % nnames;
	folded = fold(name);
	for (int i = 0; i < nnames; i++)
	{
		const CsvFilesName *known = name_of(files, i);

		if (known->seen == files->nheaders || strcmp(known->folded, folded) != 0 ||
			list_member(header, known->name))
			continue;
		if (found != NO_NAME)
			return NO_NAME;
		found = i;
	}
	return found;
}

/* the names as columns would have them: they are the same in several spellings */
static List *
sql_names(const List *header)
{
	List	   *names = NIL;
	ListCell   *cell;

	foreach(cell, header)
	{
		const char *name = strVal(lfirst(cell));

		CHECK_FOR_INTERRUPTS();
		names = lappend(names, makeString(csv_plain_name(name, strlen(name), "")));
	}
	return names;
}

/* why names cannot tell the fields of a file; NULL: they can, or it has no header */
static const char *
why_unfit(const CsvFiles *files, const char *file, const FileHead *head)
{
	if (head->last_row == NIL)
		return NULL;
	if (list_length(head->last_row) != (int) head->nfields)
		return psprintf("The header of \"%s\" has another number of fields than its records.",
						file);
	if (head->invalid)
		return psprintf("The header of \"%s\" is not valid in the table's encoding.", file);
	if (!equal(head->names, head->last_row))
		return psprintf("The header of \"%s\" has names in several rows.", file);
	if (head->nfields == 1 && files->nfirst > 1 &&
		find_name(files, head->last_row, linitial(head->last_row), 0) == NO_NAME)
		return psprintf("\"%s\" has only one field by the first file's delimiter.", file);
	return NULL;
}

static const char *
why_unfit_name(const CsvFiles *files, const char *file, const char *name)
{
	if (*name == '\0' || strcmp(name, files->null_string) == 0)
		return psprintf("\"%s\" has a field without a name.", file);
	if (strlen(name) > MOST_NAME_BYTES)
		return psprintf("\"%s\" has a name of more than %d bytes.", file, MOST_NAME_BYTES);
	return NULL;
}

static void
note_unfit(CsvFiles *files, const char *why)
{
	if (files->unfit == NULL && why != NULL)
		files->unfit = MemoryContextStrdup(files->context, why);
}

/* add the names of a header that are new, and note those that it lacks */
static void
add_names(CsvFiles *files, const char *file, const List *header)
{
	const int	nknown = list_length(files->names);
	int			found = NO_NAME;
	ListCell   *cell;

	foreach(cell, header)
	{
		const char *unfit = why_unfit_name(files, file, strVal(lfirst(cell)));
		CsvFilesName *name;

		CHECK_FOR_INTERRUPTS();
		if (list_length(files->names) > MaxHeapAttributeNumber)
			break;
		if (unfit == NULL)
			found = find_name(files, header, lfirst(cell), found + 1);
		if (unfit == NULL && found != NO_NAME && name_of(files, found)->seen == files->nheaders)
			unfit = psprintf("\"%s\" has two fields of the name \"%s\".", file,
							 strVal(lfirst(cell)));
		note_unfit(files, unfit);
		if (unfit != NULL)
			continue;
		if (found == NO_NAME)
		{
			MemoryContext scratch = MemoryContextSwitchTo(files->context);

			name = palloc0(sizeof(CsvFilesName));
			name->name = (Node *) makeString(pstrdup(strVal(lfirst(cell))));
			name->folded = fold(name->name);
			name->lacking = files->nheaders > 1;
			found = list_length(files->names);
			files->names = lappend(files->names, name);
			MemoryContextSwitchTo(scratch);
		}
		name_of(files, found)->seen = files->nheaders;
	}
	if (list_length(files->names) > MaxHeapAttributeNumber)
		note_unfit(files, psprintf("The files have more than %d names.",
								   MaxHeapAttributeNumber));
	for (int i = 0; i < nknown; i++)
		name_of(files, i)->lacking |= name_of(files, i)->seen < files->nheaders;
}

/* the header of a file, whose name lives as long as *files */
static void
add_header(CsvFiles *files, const char *file, const FileHead *head)
{
	const bool	is_first = files->nheaders++ == 0;
	MemoryContext scratch;

	note_unfit(files, why_unfit(files, file, head));
	add_names(files, file, head->last_row);
	if (files->differs == NULL && files->header != NIL &&
		!equal(files->header, head->names) &&
		(files->by_name || list_length(files->header) != list_length(head->names) ||
		 files->twins || !equal(files->sql_names, sql_names(head->names))))
		files->differs = file;
	if (!is_first)
		return;
	scratch = MemoryContextSwitchTo(files->context);
	files->nfirst = list_length(files->names);
	files->header = copyObject(head->names);
	files->sql_names = sql_names(files->header);
	files->twins = list_length(list_union(NIL, files->sql_names)) <
		list_length(files->sql_names);
	MemoryContextSwitchTo(scratch);
}

/* ---- all files ---- */

static void
count_file(CsvFileCount *count, uint32 n, const char *name)
{
	if (n < count->least)
		*count = (CsvFileCount) {n, count->least, name, count->least_file};
	else if (n > count->least && count->other_file == NULL)
	{
		count->other = n;
		count->other_file = name;
	}
}

static void
add_file(CsvFiles *files, const char *name, const FileHead *head)
{
	/* a file without a record has no footer, either */
	if (head->any_data)
		count_file(&files->footer_rows, head->footer_rows, name);
	if (head->header_rows > 0 && head->header_rows < files->header_rows.least)
	{
		files->names = NIL;
		files->nheaders = files->nfirst = 0;
		files->unfit = NULL;
	}
	count_file(&files->header_rows, head->header_rows, name);
	if (head->header_rows > 0 && files->header_rows.least > 0)
		add_header(files, name, head);
}

/* the first file's */
static void
begin_files(CsvFiles *files, const CsvTable *table, const char *name,
			const FileHead *first)
{
	*files = (CsvFiles) {
		.null_string = table->null_string,
		.by_name = table->by_name,
		.header_rows = {.least = first->header_rows, .least_file = name},
		.footer_rows = {.least = first->footer_rows, .least_file = name},
		.context = CurrentMemoryContext
	};
	add_header(files, name, first);
}

void
csv_files_look(CsvFiles *files, const CsvTable *table, const CsvGiven *given, bool any_tail,
			   const CsvGuess *guess)
{
	const FileHead first = file_head(table, guess);
	const bool	by_mark = table->utf16 == CSV_UTF16_BY_MARK ||
		table->utf16 == CSV_UTF16_ANY;
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(outer, "csv_gpu_fdw files",
												  ALLOCSET_DEFAULT_SIZES);
	CsvSource  *source = csv_source_create(table);
	bool		any_first = false;
	bool		is_marked = false;
	char	  **names;
	int			nfiles;

	begin_files(files, table, table->filename, &first);
	csv_source_names(source, &names, &nfiles);
	for (int i = 0; nfiles > 1 && i < nfiles; i++)
	{
		FileHead head = {0};
		uint8_t		buffer[1024];
		char	   *name;

		CHECK_FOR_INTERRUPTS();
		if (!csv_source_open(source, i, NULL))
			continue;
		if (!any_first)
		{
			any_first = csv_source_read(source, buffer, sizeof(buffer)) > 0;
			if (!any_first)
				continue;
			is_marked = by_mark && csv_file_marked_utf16(&table->rights, names[i]) >= CSV_UTF16_ANY;
			begin_files(files, table, pstrdup(csv_source_name(source)), &first);
			continue;
		}
		name = pstrdup(csv_source_name(source));
		MemoryContextReset(context);
		MemoryContextSwitchTo(context);
		if (look_at_file(*table, *given, any_tail, source, &head))
			add_file(files, name, &head);
		if (by_mark && files->marked == NULL &&
			(csv_file_marked_utf16(&table->rights, names[i]) >=
			 CSV_UTF16_ANY) != is_marked)
			files->marked = name;
		MemoryContextSwitchTo(outer);
	}
	csv_source_close(source);
	MemoryContextDelete(context);
}

List *
csv_files_names(const CsvFiles *files, CsvTable *table, bool may_choose)
{
	List	   *all = NIL;
	ListCell   *cell;

	if (!table->by_name &&
		(!may_choose || files->unfit != NULL ||
		 (files->differs == NULL && !csv_is_pattern(table)) ||
		 (files->differs == NULL &&
		  list_length(files->names) > files->nfirst) ||
		 files->header_rows.least == 0 || files->header_rows.other_file != NULL))
		return files->header;
	table->by_name = true;
	foreach(cell, files->names)
		all = lappend(all, ((CsvFilesName *) lfirst(cell))->name);
	return all;
}

/* ---- NOTICEs ---- */

static void
tell_count(const CsvFileCount *count, const char *pattern, const char *option,
		   const char *where)
{
	if (count->other_file == NULL)
		return;
	ereport(NOTICE,
			(errmsg("files of \"%s\" differ in the number of lines %s their data: \"%s\" is %u, as in \"%s\"",
					pattern, where, option, count->least, count->least_file),
			 errdetail("In \"%s\" it would be %u: the other lines there count as data.",
					   count->other_file, count->other),
			 errhint("If they are not data, make another table of such files.")));
}

/* a line "The first file lacks columns "a", "b"." of the columns from..to - 1; their number */
static int
add_lacking(StringInfo detail, const CsvFiles *files, const CsvFindings *findings,
			const char *who, int from, int to)
{
	StringInfoData names;
	int			n = 0;

	initStringInfo(&names);
	for (int i = from; i < to; i++)
		if (name_of(files, i)->lacking && ++n <= MOST_NAMES)
			appendStringInfo(&names, "%s\"%s\"", n > 1 ? ", " : "",
							 findings->columns[i].name);
	if (n > 0)
		appendStringInfo(detail, "%s%s lacks %s %s%s.", detail->len > 0 ? "\n" : "", who,
						 n == 1 ? "column" : "columns", names.data,
						 n > MOST_NAMES ? ", ..." : "");
	return n;
}

static void
tell_names(const CsvFiles *files, const CsvFindings *findings, bool may_choose)
{
	const char *pattern = findings->table->filename;
	StringInfoData detail;
	bool		any_new;
	int			nlacking;

	if (findings->table->by_name && files->unfit != NULL)
		ereport(NOTICE,
				(errmsg("by_name may not find all fields of \"%s\"", pattern),
				 errdetail_internal("%s", files->unfit)));
	if (files->differs == NULL)
		return;
	if (!findings->table->by_name)
	{
		ereport(NOTICE,
				(errmsg("files of \"%s\" differ in their headers, as \"%s\" does from the first one: fields are taken by their places",
						pattern, files->differs),
				 files->unfit != NULL ? errdetail_internal("%s", files->unfit) : 0,
				 files->unfit != NULL ?
				 errhint("If columns differ, make another table of such files.") : 0));
		return;
	}
	initStringInfo(&detail);
	any_new = add_lacking(&detail, files, findings, "The first file", files->nfirst,
						  list_length(files->names)) > 0;
	nlacking = add_lacking(&detail, files, findings, "A later file", 0, files->nfirst);
	if (may_choose || detail.len > 0)
		ereport(NOTICE,
				(errmsg("files of \"%s\" differ in their headers, as \"%s\" does from the first one: columns are found by name",
						pattern, files->differs),
				 detail.len > 0 ? errdetail_internal("%s", detail.data) : 0,
				 nlacking == files->nfirst ?
				 errhint("If the files have no headers, give OPTIONS (header 'false').") :
				 any_new && nlacking > 0 ?
				 errhint("If two of these are one column under two names, coalesce() has the values of both; OPTIONS (by_name 'false') makes one column of them, if the fields of all files are in one order.") : 0));
}

void
csv_files_tell(const CsvFiles *files, const CsvFindings *findings, bool may_choose)
{
	const char *pattern = findings->table->filename;

	if (files->marked != NULL)
		ereport(NOTICE,
				(errmsg("files of \"%s\" differ in their encodings: \"%s\" and the first one are not both in UTF-16",
						pattern, files->marked),
				 findings->by_mark ?
				 errhint("Without the option \"encoding\", each file is read as its byte-order mark says, or in the client's encoding.") :
				 errhint("Make another table of files in another encoding.")));
	tell_count(&files->header_rows, pattern, "header_rows", "above");
	tell_count(&files->footer_rows, pattern, "footer_rows", "below");
	tell_names(files, findings, may_choose);
}
