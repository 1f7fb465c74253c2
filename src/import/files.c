/*
 * files.c
 *		What the files of one table have in common: header and footer.
 *
 * The options header_rows and footer_rows hold for each file.  So they are those of the
 * file that has the least above its data, or below: what another has there is data
 * then, and nothing is lost.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/files.h"

static bool
same_name(const CsvCells *a, uint32 i, const CsvCells *b, uint32 j)
{
	return a->lengths[i] == b->lengths[j] &&
		memcmp(a->texts[i], b->texts[j], a->lengths[i]) == 0;
}

static bool
has_name(const CsvCells *names, const CsvCells *of, uint32 i)
{
	for (uint32 j = 0; j < names->ncells; j++)
		if (same_name(of, i, names, j))
			return true;
	return false;
}

/* how many of these names are among the others */
static uint32
count_common(const CsvCells *these, const CsvCells *others)
{
	uint32		n = 0;

	for (uint32 i = 0; i < these->ncells; i++)
	{
		CHECK_FOR_INTERRUPTS();
		n += has_name(others, these, i);
	}
	return n;
}

/* is there a name for each column, and none twice? */
static bool
are_unique(const CsvCells *names)
{
	for (uint32 i = 0; i < names->ncells; i++)
	{
		CsvCells	above = {.ncells = i, .texts = names->texts, .lengths = names->lengths};

		CHECK_FOR_INTERRUPTS();
		if (names->lengths[i] == 0 || has_name(&above, names, i))
			return false;
	}
	return true;
}

static bool
are_same(const CsvCells *a, const CsvCells *b)
{
	if (a->ncells != b->ncells)
		return false;
	for (uint32 i = 0; i < a->ncells; i++)
		if (!same_name(a, i, b, i))
			return false;
	return true;
}

static void
add_name(CsvCells *names, const CsvCells *of, uint32 i)
{
	names->texts = repalloc(names->texts, sizeof(char *) * (names->ncells + 1));
	names->lengths = repalloc(names->lengths, sizeof(uint32) * (names->ncells + 1));
	names->texts[names->ncells] = pnstrdup(of->texts[i], of->lengths[i]);
	names->lengths[names->ncells++] = of->lengths[i];
}

static void
count_file(CsvFileCount *count, uint32 n, const char *name)
{
	if (n < count->least)
		*count = (CsvFileCount) {n, count->least, pstrdup(name), count->least_file};
	else if (n > count->least && count->other_file == NULL)
	{
		count->other = n;
		count->other_file = pstrdup(name);
	}
}

/* names that the first file has not become the table's, too */
static void
compare_names(CsvFiles *files, const char *name, const CsvCells *names)
{
	CsvCells	first = files->names;
	bool		any_more = false;

	first.ncells = files->nfirst;
	if (are_same(&first, names))
		return;
	if (files->differs == NULL)
		files->differs = pstrdup(name);
	files->renamed |= !are_unique(names);
	for (uint32 i = 0; i < names->ncells && !files->renamed; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (has_name(&files->names, names, i))
			continue;
		any_more = true;
		add_name(&files->names, names, i);
	}

	/* what is new may be what is missing, by another name */
	first.texts = files->names.texts;
	first.lengths = files->names.lengths;
	files->renamed |= any_more && count_common(&first, names) < first.ncells;
}

static void
take_names(CsvFiles *files, CsvCells names)
{
	if (names.texts == NULL)
		names.ncells = 0;
	files->names = (CsvCells) {0, palloc(sizeof(char *)), palloc(sizeof(uint32))};
	for (uint32 i = 0; i < names.ncells; i++)
		add_name(&files->names, &names, i);
	files->nfirst = names.ncells;
	files->renamed = !are_unique(&names);
}

void
csv_files_begin(CsvFiles *files, const char *name, uint32 header_rows, uint32 footer_rows,
				CsvCells names)
{
	*files = (CsvFiles) {.context = CurrentMemoryContext, .names = {0}};
	name = pstrdup(name);
	files->header_rows.least = header_rows;
	files->footer_rows.least = footer_rows;
	files->header_rows.least_file = files->footer_rows.least_file = name;
	take_names(files, names);
}

void
csv_files_add(CsvFiles *files, const char *name, uint32 header_rows, const CsvGuess *guess,
			  CsvCells names)
{
	MemoryContext outer = MemoryContextSwitchTo(files->context);

	/* where there is no record, there is no footer, either */
	if (guess->any_data)
		count_file(&files->footer_rows, guess->footer_rows, name);
	if (header_rows > 0 && header_rows < files->header_rows.least)
		take_names(files, names);
	count_file(&files->header_rows, header_rows, name);
	if (files->header_rows.other_file == NULL && header_rows > 0 && names.texts != NULL)
		compare_names(files, name, &names);
	MemoryContextSwitchTo(outer);
}

bool
csv_files_have_header(const CsvFiles *files, CsvCells names)
{
	CsvCells	first = files->names;

	first.ncells = files->nfirst;
	return names.texts != NULL && first.ncells > 0 &&
		count_common(&first, &names) * 2 >= Min(first.ncells, names.ncells);
}

static void
tell_count(const CsvFileCount *count, const char *pattern, const char *option,
		   const char *where)
{
	if (count->other_file == NULL)
		return;
	ereport(NOTICE,
			(errmsg("files of \"%s\" differ in what stands %s their data: \"%s\" is %u, as in \"%s\"",
					pattern, where, option, count->least, count->least_file),
			 errdetail("In \"%s\" it would be %u: what is more there counts as data.",
					   count->other_file, count->other)));
}

void
csv_files_tell(const CsvFiles *files, const char *pattern)
{
	tell_count(&files->header_rows, pattern, "header_rows", "above");
	tell_count(&files->footer_rows, pattern, "footer_rows", "below");
}
