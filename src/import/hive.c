/*
 * hive.c
 *		Directories that hold the files of one table, as Hive writes them.
 *
 * The way down to the first file says which keys there are, in which order.  What
 * does not match the pattern that this makes is none of the table's, and is counted.
 */
#include "postgres.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"

#include "import/hive.h"
#include "import/keys.h"
#include "table/path.h"

/*
 * More directories in each other are no table's, nor are so many without a file;
 * links may make them endless.
 */
#define MOST_KEYS			32
#define MOST_DIRECTORIES	10000

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* the names KEY=VALUE of directories in this one, sorted; none if it cannot be read */
static List *
list_directories(const char *directory)
{
	List	   *names = NIL;
	DIR		   *dir = AllocateDir(directory);
	struct dirent *entry;

	while (dir != NULL && (entry = ReadDirExtended(dir, directory, LOG)) != NULL)
	{
		const char *equals = strchr(entry->d_name, '=');
		char	   *path;
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (equals == NULL || equals == entry->d_name ||
			entry->d_name[0] == '.')
			continue;
		path = psprintf("%s/%s", directory, entry->d_name);
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			names = lappend(names, pstrdup(entry->d_name));
		pfree(path);
	}
	if (dir != NULL)
		FreeDir(dir);
	list_sort(names, compare_names);
	return names;
}

/* a part of a pattern that stands for nothing but itself */
static void
add_literal(StringInfo pattern, const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (strchr("*?[", text[i]) != NULL)
			appendStringInfo(pattern, "[%c]", text[i]);
		else
			appendStringInfoChar(pattern, text[i]);
}

/*
 * The first file below a directory; *parts are the directories on the way, from
 * this one on.
 */
static char *
find_first(const char *directory, CsvListFiles list_files, int depth,
		   int *nvisited, List **parts)
{
	ListCell   *cell;

	*parts = NIL;
	if (++*nvisited > MOST_DIRECTORIES)
		return NULL;
	if (depth > 0)
	{
		List	   *files = list_files(directory);

		if (files != NIL)
			return linitial(files);
	}
	if (depth == MOST_KEYS)
		return NULL;
	foreach(cell, list_directories(directory))
	{
		char	   *name = lfirst(cell);
		char	   *file;

		/* such a key cannot be named by an option */
		if (strpbrk(csv_path_key(name), "/=") != NULL)
			continue;
		file = find_first(psprintf("%s/%s", directory, name), list_files, depth + 1,
						  nvisited, parts);
		if (file == NULL)
			continue;
		*parts = lcons(name, *parts);
		return file;
	}
	return NULL;
}

/* count the files below a directory that the pattern leaves out, as far as anybody can tell */
static void
count_others(CsvHive *hive, const char *directory, CsvListFiles list_files, int depth,
			 int *nvisited)
{
	ListCell   *cell;

	if (++*nvisited > MOST_DIRECTORIES || access(directory, R_OK | X_OK) != 0)
		return;
	foreach(cell, depth == 0 ? NIL : list_files(directory))
	{
		char	   *path = psprintf("%s/%s", directory, (char *) lfirst(cell));

		CHECK_FOR_INTERRUPTS();
		if (fnmatch(hive->pattern, path, FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) == 0)
			pfree(path);
		else if (hive->nothers++ == 0)
			hive->other = path;
	}
	foreach(cell, depth == MOST_KEYS ? NIL : list_directories(directory))
		count_others(hive, psprintf("%s/%s", directory, (char *) lfirst(cell)), list_files,
					 depth + 1, nvisited);
}

CsvHive *
csv_find_hive(const char *directory, CsvListFiles list_files,
			  const char *(*suffix_of) (const char *name))
{
	CsvHive    *hive = palloc0(sizeof(CsvHive));
	StringInfoData pattern;
	List	   *parts;
	int			nvisited = 0;
	char	   *file = find_first(directory, list_files, 0, &nvisited, &parts);
	const char *suffix;
	ListCell   *cell;

	if (file == NULL)
		return NULL;
	initStringInfo(&pattern);
	add_literal(&pattern, directory, strlen(directory));
	foreach(cell, parts)
	{
		const char *name = lfirst(cell);
		size_t		length = strchr(name, '=') - name;

		appendStringInfoChar(&pattern, '/');
		add_literal(&pattern, name, length);
		appendStringInfoString(&pattern, "=*");
		hive->keys = lappend(hive->keys, csv_path_key(name));
	}
	appendStringInfoString(&pattern, "/*");
	suffix = suffix_of(file);
	add_literal(&pattern, suffix, strlen(suffix));
	hive->pattern = pattern.data;
	nvisited = 0;
	count_others(hive, directory, list_files, 0, &nvisited);
	return hive;
}

char *
csv_hive_columns(const CsvHive *hive, const CsvFindings *findings,
				 bool all_text)
{
	StringInfoData columns;
	ListCell   *cell;

	initStringInfo(&columns);
	foreach(cell, csv_find_key_columns(findings, hive->keys))
	{
		const CsvPathColumn *column = lfirst(cell);

		appendStringInfo(&columns, ",\n    %s %s OPTIONS (virtual %s)",
						 quote_identifier(column->name), all_text ? "text" : column->type,
						 quote_literal_cstr(column->option));
	}
	return columns.data;
}
