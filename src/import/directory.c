/*
 * directory.c
 *		The files of a directory that may become tables, and files below directories
 *		KEY=VALUE, as Hive writes them, that may become one.
 */
#include "postgres.h"

#include <ctype.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/varlena.h"

#include "import/directory.h"
#include "table/decompress.h"
#include "table/listing.h"
#include "table/option_list.h"
#include "table/source.h"
#include "table/text.h"

/*
 * No table has more keys, or more directories before its first file.  Links may make
 * directories endless.
 */
#define MOST_KEYS			32
#define MOST_DIRECTORIES	10000

/* ---- one directory ---- */

List *
csv_suffixes(const char *value)
{
	List	   *suffixes;
	ListCell   *cell;

	if (!SplitGUCList(pstrdup(value), ',', &suffixes) || suffixes == NIL)
		csv_refuse_value("suffixes", value,
						 "The value must be a comma-separated list of suffixes such as \"csv,tsv,txt\".",
						 NULL);
	foreach(cell, suffixes)
	{
		const char *suffix = lfirst(cell);
		const char *name = psprintf("x.%s", suffix);
		bool		is_word = *suffix != '\0';

		for (const char *c = suffix; *c != '\0'; c++)
			is_word &= IS_HIGHBIT_SET(*c) || isalnum((unsigned char) *c) || *c == '_' || *c == '-';
		if (!is_word || csv_name_without_compression(name, true) < strlen(name) ||
			csv_name_without_compression(name, false) < strlen(name))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid suffix in option \"%s\": \"%s\"", "suffixes", suffix),
					 is_word ?
					 errdetail("Compressed files have this suffix. Each suffix also stands for files that gzip, zstd or LZ4 have compressed.") :
					 errdetail("A suffix has letters, digits, hyphens and underscores, and no dot.")));
	}
	return suffixes;
}

/* the length of the first nbytes bytes of a name, without a suffix; 0: it has none of them */
static size_t
stem_length(const char *name, size_t nbytes, const List *suffixes)
{
	ListCell   *cell;

	foreach(cell, suffixes)
	{
		const char *suffix = lfirst(cell);
		size_t		length = strlen(suffix);

		if (name[0] != '.' && nbytes > length + 1 &&
			name[nbytes - length - 1] == '.' &&
			pg_strncasecmp(name + nbytes - length, suffix, length) == 0)
			return nbytes - length - 1;
	}
	return 0;
}

size_t
csv_stem_length(const char *name, const List *suffixes)
{
	size_t		length = stem_length(name, csv_name_without_compression(name, true), suffixes);

	return length > 0 ? length :
		stem_length(name, csv_name_without_compression(name, false), suffixes);
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* for ereport(): why the directory may be missing */
static int
hint_directory(const char *directory, int error)
{
	if (error == ENOTDIR)
		return errhint("Name the directory of the file, and the table of the file by LIMIT TO (...).");
	if (error != ENOENT)
		return csv_hint_access(error, directory, "read", false);
	if (strpbrk(directory, "*?[") != NULL)
		return errhint("Name the directory, and the files by OPTIONS (pattern '...', table '...').");

	/* an identifier is cut where it is too long */
	if (strlen(directory) >= NAMEDATALEN - 1 - MAX_MULTIBYTE_CHAR_LEN)
		return errhint("A schema's name has at most %d bytes; name longer paths by OPTIONS (directory '...').",
					   NAMEDATALEN - 1);
	return csv_hint_missing(directory, false);
}

/* the list of a name; NULL: none */
static List **
list_for(CsvListing *listing, const CsvTable *table, const char *path,
		 const char *name, const List *suffixes)
{
	const char *equals = strchr(name, '=');
	bool		is_file = csv_stem_length(name, suffixes) > 0;
	struct stat st;

	if (name[0] == '.' || (!is_file && equals == NULL))
		return NULL;
	if (is_file && csv_name_without_compression(name, false) < strlen(name))
		return &listing->unread;
	if (csv_table_stat(table, path, &st) != 0)
	{
		/* a file that cannot be looked at may be opened, and then tells why not */
		if (errno != ENOENT && errno != ELOOP)
			return is_file ? &listing->files : NULL;

		/* a link, or a file that has just gone */
		return is_file && lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ?
			&listing->dangling : NULL;
	}
	if (S_ISDIR(st.st_mode) && equals != NULL && equals != name)
		return &listing->keys;
	return is_file && S_ISREG(st.st_mode) ? &listing->files : NULL;
}

CsvListing
csv_list_directory(const CsvTable *table, const char *directory,
				   const List *suffixes)
{
	CsvListing	listing = {NIL};
	DIR		   *dir;
	struct dirent *entry;

	csv_check_allowed(&table->rights, directory, CSV_ACCESS_READ);
	dir = AllocateDir(directory);
	if (dir != NULL)
		csv_check_file(&table->rights, directory, dirfd(dir));
	else
	{
		int			error = errno;

		csv_check_links(&table->rights, directory, CSV_ACCESS_READ);

		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open directory \"%s\": %m", csv_shown_filename(directory)),
				 hint_directory(directory, error)));
	}
	while ((entry = ReadDir(dir, directory)) != NULL)
	{
		char	   *path = psprintf("%s/%s", directory, entry->d_name);
		List	  **list =
			list_for(&listing, table, path, entry->d_name, suffixes);

		CHECK_FOR_INTERRUPTS();
		if (list != NULL)
			*list = lappend(*list, pstrdup(entry->d_name));
		pfree(path);
	}
	FreeDir(dir);
	list_sort(listing.files, compare_names);
	list_sort(listing.unread, compare_names);
	list_sort(listing.dangling, compare_names);
	list_sort(listing.keys, compare_names);
	return listing;
}

/* ---- directories KEY=VALUE ---- */

/* one search */
typedef struct HiveSearch
{
	const CsvTable *table;
	const List *suffixes;
	size_t		nfixed;			/* bytes of the directory in which it began */
	int			nvisited;		/* directories */
	CsvHive	   *hive;			/* no pattern: there was no file so far */
} HiveSearch;

/* a part of a pattern that stands for itself */
static void
add_literal(StringInfo pattern, const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (strchr("*?[", text[i]) != NULL)
			appendStringInfo(pattern, "[%c]", text[i]);
		else
			appendStringInfoChar(pattern, text[i]);
}

char *
csv_pattern_in(const char *directory, const char *pattern)
{
	StringInfoData path;

	initStringInfo(&path);
	add_literal(&path, directory, strlen(directory));
	appendStringInfo(&path, "/%s", pattern);
	return path.data;
}

/* the pattern of a file: any value of its keys, any name with its suffix */
static char *
pattern_of(const HiveSearch *search, const char *path)
{
	const char *name = path + search->nfixed;
	const char *slash;
	const char *suffix;
	StringInfoData pattern;

	initStringInfo(&pattern);
	add_literal(&pattern, path, search->nfixed);
	for (; (slash = strchr(name, '/')) != NULL; name = slash + 1)
	{
		add_literal(&pattern, name, strchr(name, '=') - name);
		appendStringInfoString(&pattern, "=*/");
	}
	appendStringInfoChar(&pattern, '*');
	suffix = name + csv_stem_length(name, search->suffixes);
	add_literal(&pattern, suffix, strlen(suffix));
	return pattern.data;
}

/*
 * Look at the files below a directory, as far as they can be seen.  The first has the pattern,
 * others are counted that do not match it.  are_named: options can name the directory's keys.
 */
static void
walk(HiveSearch *search, const char *directory, int depth, bool are_named)
{
	CsvHive    *hive = search->hive;
	CsvListing	listing;
	ListCell   *cell;

	if (++search->nvisited > MOST_DIRECTORIES || access(directory, R_OK | X_OK) != 0)
		return;
	listing = csv_list_directory(search->table, directory, search->suffixes);
	foreach(cell, depth == 0 ? NIL : listing.files)
	{
		char	   *path = psprintf("%s/%s", directory, (char *) lfirst(cell));

		CHECK_FOR_INTERRUPTS();
		if (are_named && hive->pattern == NULL)
			hive->pattern = pattern_of(search, path);
		else if ((!are_named ||
				  fnmatch(hive->pattern, path, FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) != 0) &&
				 hive->nothers++ == 0)
			hive->other = pstrdup(path);
		pfree(path);
	}
	foreach(cell, depth == MOST_KEYS ? NIL : listing.keys)
	{
		char	   *path = psprintf("%s/%s", directory, (char *) lfirst(cell));

		walk(search, path, depth + 1,
			 are_named && csv_is_path_key(csv_path_key(lfirst(cell))));
		pfree(path);
	}
	list_free_deep(listing.files);
	list_free_deep(listing.unread);
	list_free_deep(listing.dangling);
	list_free_deep(listing.keys);
}

CsvHive *
csv_find_hive(const CsvTable *table, const char *directory,
			  const List *suffixes)
{
	HiveSearch	search = {
		.table = table,
		.suffixes = suffixes,
		.nfixed = strlen(directory) + 1,
		.hive = palloc0(sizeof(CsvHive))
	};

	walk(&search, directory, 0, true);
	return search.hive->pattern == NULL ? NULL : search.hive;
}
