/*
 * listing.c
 *		The files of a name, which may be a pattern: their list, sizes, identities
 *		and locks.
 */
#include "postgres.h"

#include <dirent.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hashfn.h"
#include "common/username.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "table/decompress.h"
#include "table/listing.h"
#include "table/text.h"

/*
 * Growth of compressed files, for estimates: tables of numbers and short texts grow to
 * three to six times their size.  UTF-16 hardly makes a compressed file larger.
 * Without compression, such tables take twice as many bytes in UTF-16.
 */
#define COMPRESSION_RATIO	4
#define UTF16_RATIO			2

/* more files than this are small if their mean size is below LEAST_MEAN_BYTES */
#define MOST_SMALL_FILES	16
#define LEAST_MEAN_BYTES	(64 * 1024)

/* the functions pg_advisory_lock() and so on use 1 and 2 */
#define CSV_ADVISORY_CLASS	17217

/* a directory of a pattern that could not be read */
typedef struct GlobFailure
{
	char	   *path;			/* malloc'd, or NULL */
	int			error;			/* errno */
} GlobFailure;

/* glob() passes no argument to its callbacks; valid while glob() runs */
static GlobFailure glob_failure;
static const CsvRights *glob_rights;

/* has glob() seen only regular files, so that no match is a directory? */
static bool glob_saw_files_only;

bool
csv_is_pattern(const CsvTable *table)
{
	struct stat st;

	return table->program == NULL && strpbrk(table->filename, "*?[") != NULL &&
		(table->prefers_pattern ||
		 csv_table_stat(table, table->filename, &st) != 0);
}

bool
csv_matches_pattern(const CsvTable *table, const char *filename)
{
	struct stat st;

	if (!csv_is_pattern(table))
		return strcmp(table->filename, filename) == 0;
	if (fnmatch(table->filename, filename,
				FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) != 0)
		return false;
	/* if a file cannot be examined, opening it will fail and say why */
	if (csv_table_stat(table, filename, &st) != 0)
		return errno != ENOENT;
	return S_ISREG(st.st_mode);
}

void
csv_prefer_pattern(CsvTable *table, int elevel)
{
	bool		is_file = table->filename != NULL && !csv_is_pattern(table);

	table->prefers_pattern = true;
	if (is_file && csv_is_pattern(table))
		ereport(elevel,
				(errmsg("\"%s\" is read as a pattern, but a file has exactly this name",
						csv_shown_filename(table->filename)),
				 errhint("Rename the file, or name another pattern.")));
}

int
csv_hint_missing(const char *path, bool takes_program)
{
	char	   *directory = pstrdup(path);
	const char *rest;

	if (path[0] == '~')
		return errhint("\"~\" is a character like any other: write the path of the home directory.");
	if (strstr(path, "://") != NULL)
		return takes_program ?
			errhint("Files are named by their paths on the server; the option \"program\" reads what another program fetches.") :
			errhint("Files are named by their paths on the server.");
	if (!is_absolute_path(path))
		return errhint("A relative path begins at the server's data directory.");
	do
		get_parent_directory(directory);
	while (access(directory, F_OK) != 0);
	rest = path + strlen(directory);
	rest += strspn(rest, "/");
	return errhint("The server's machine has the directory \"%s\", but not \"%s\" in it.",
				   csv_shown_filename(directory),
				   csv_shown_filename(pnstrdup(rest, strcspn(rest, "/"))));
}

int
csv_hint_access(int error, const char *path, const char *right, bool takes_program)
{
	char	   *failure;
	const char *user = get_user_name(&failure);

	return error == ENOENT ? csv_hint_missing(path, takes_program) : error != EACCES ? 0 :
		errhint("The server runs as operating system user \"%s\", who must be allowed to %s it, and to search the directories above it.",
				user != NULL ? user : failure, right);
}

void
csv_fail_on_file(const char *message, const char *path, const char *right)
{
	int			error = errno;

	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg(message, csv_shown_filename(path)),
			 csv_hint_access(error, path, right, false)));
}

size_t
csv_read_at(int file, const char *name, uint8 *bytes, size_t nbytes,
			uint64 offset)
{
	size_t		ndone = 0;
	ssize_t		nread = 1;

	while (ndone < nbytes && nread != 0)
	{
		nread = pread(file, bytes + ndone, nbytes - ndone,
					  (off_t) (offset + ndone));
		if (nread < 0 && errno != EINTR)
			csv_fail_on_file("could not read from file \"%s\": %m", name, "read");
		ndone += (size_t) Max(nread, 0);
	}
	return ndone;
}

/*
 * glob() calls this for a directory that it cannot read.  A nonzero result ends
 * glob(): to skip files silently would give answers from part of the data.
 */
static int
note_glob_failure(const char *path, int error)
{
	if (error == ENOENT || error == ENOTDIR || glob_failure.error != 0)
		return 0;
	glob_failure.path = strdup(path);
	glob_failure.error = error;
	return 1;
}

#ifdef GLOB_ALTDIRFUNC

/* is an interrupt pending that will end the query? */
static bool
must_stop(void)
{
	return INTERRUPTS_CAN_BE_PROCESSED() && (QueryCancelPending || ProcDiePending);
}

/* does glob() look where links lead out of what is allowed? */
static bool
is_outside(const char *path)
{
	struct stat st;

	if (!glob_rights->given[CSV_ACCESS_READ] ||
		csv_rights_stat(glob_rights, path, CSV_ACCESS_READ, &st) == 0 ||
		errno != EACCES)
		return false;
	(void) note_glob_failure(path, EACCES);
	return true;
}

/* glob() calls this; if it returns NULL, glob() finds no more files */
static void *
open_directory(const char *path)
{
	errno = ENOENT;
	return must_stop() || is_outside(path) ? NULL : opendir(path);
}

/*
 * the last two components of a pattern need not be directories that are opened
 */
static int
look_at(const char *path, struct stat *st)
{
	return is_outside(path) ? -1 : stat(path, st);
}

static int
look_at_link(const char *path, struct stat *st)
{
	return is_outside(path) ? -1 : lstat(path, st);
}

static struct dirent *
read_directory(void *directory)
{
	struct dirent *entry = must_stop() ? NULL : readdir(directory);

	glob_saw_files_only &= entry == NULL || entry->d_type == DT_REG ||
		strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	return entry;
}

static void
close_directory(void *directory)
{
	(void) closedir(directory);
}

#endif

/* glob(), cancellable if the C library allows that */
static int
find_matches(const CsvRights *rights, const char *pattern, int flags,
			 glob_t *matches)
{
	int			result;

	memset(matches, 0, sizeof(*matches));
#ifdef GLOB_ALTDIRFUNC
	glob_saw_files_only = true;
	flags |= GLOB_ALTDIRFUNC;
	matches->gl_opendir = open_directory;
	matches->gl_readdir = read_directory;
	matches->gl_closedir = close_directory;
	matches->gl_stat = look_at;
	matches->gl_lstat = look_at_link;
#endif
	glob_failure = (GlobFailure) {NULL};
	glob_rights = rights;
	result = glob(pattern, flags, note_glob_failure, matches);
#ifdef GLOB_ALTDIRFUNC
	if (must_stop())
	{
		free(glob_failure.path);
		globfree(matches);
		CHECK_FOR_INTERRUPTS();
	}
#endif
	return result;
}

bool
csv_expand_pattern(const CsvTable *table, bool quiet, char ***names, int *nnames)
{
	const char *pattern = table->filename;
	glob_t		matches;
	int			result;

	csv_check_allowed(&table->rights, pattern, CSV_ACCESS_READ);
	if (!csv_is_pattern(table))
	{
		*names = palloc(sizeof(char *));
		(*names)[0] = pstrdup(pattern);
		*nnames = 1;
		return true;
	}

	/* a backslash is an ordinary character, as in the name of a single file */
	result = find_matches(&table->rights, pattern, GLOB_NOSORT | GLOB_NOESCAPE,
						  &matches);
	if (result != 0 || glob_failure.error != 0)
	{
		char	   *path = pstrdup(glob_failure.path != NULL ?
								   glob_failure.path : pattern);

		free(glob_failure.path);
		glob_failure.path = NULL;
		globfree(&matches);
		if ((result == GLOB_NOMATCH && glob_failure.error == 0) || quiet)
			return false;
		if (result == GLOB_NOSPACE)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
		csv_check_links(&table->rights, path, CSV_ACCESS_READ);
		errno = glob_failure.error;
		csv_fail_on_file("could not open directory \"%s\": %m", path, "read");
	}

	*nnames = 0;
	PG_TRY();
	{
		*names = palloc_extended(sizeof(char *) * Max(matches.gl_pathc, 1),
								 MCXT_ALLOC_HUGE);
		for (size_t i = 0; i < matches.gl_pathc; i++)
		{
			const char *match = matches.gl_pathv[i];
			struct stat st;

			CHECK_FOR_INTERRUPTS();
			if (glob_saw_files_only || stat(match, &st) != 0 || !S_ISDIR(st.st_mode))
				(*names)[(*nnames)++] = pstrdup(match);
		}
	}
	PG_FINALLY();
	{
		globfree(&matches);
	}
	PG_END_TRY();
	qsort(*names, *nnames, sizeof(char *), pg_qsort_strcmp);
	return *nnames > 0;
}

/*
 * The share with the greatest weight for the file's name without suffixes, whichever other
 * files there are.  A further share takes its files from all others, which keep the rest.
 * The weights must never change, as servers must agree: FNV-1a, and SplitMix64 from there.
 */
static int
share_of(const char *filename, int shares)
{
	const char *slash = last_dir_separator(filename);
	const char *name = slash != NULL ? slash + 1 : filename;
	size_t		length = csv_name_without_compression(name, true);
	uint64		state = UINT64CONST(0xcbf29ce484222325);
	uint64		greatest = 0;
	int			found = 0;

	if (length > 4 && (pg_strncasecmp(name + length - 4, ".csv", 4) == 0 ||
					   pg_strncasecmp(name + length - 4, ".tsv", 4) == 0))
		length -= 4;
	for (size_t i = 0; i < length; i++)
		state = (state ^ (uint8) name[i]) * UINT64CONST(0x100000001b3);
	for (int share = 0; share < shares; share++)
	{
		uint64		weight = state += UINT64CONST(0x9e3779b97f4a7c15);

		weight = (weight ^ weight >> 30) * UINT64CONST(0xbf58476d1ce4e5b9);
		weight = (weight ^ weight >> 27) * UINT64CONST(0x94d049bb133111eb);
		weight ^= weight >> 31;
		if (weight > greatest)
			found = share;
		greatest = Max(weight, greatest);
	}
	return found;
}

/* leaves only the files of the table's share in a pattern's list */
static void
take_share(const CsvTable *table, char **names, int *nnames)
{
	const int	nfound = *nnames;

	*nnames = 0;
	for (int i = 0; i < nfound; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (share_of(names[i], table->shares) == table->share)
			names[(*nnames)++] = names[i];
	}
}

bool
csv_find_files(const CsvTable *table, bool quiet, char ***names, int *nnames)
{
	if (table->files == NULL)
	{
		if (!csv_expand_pattern(table, quiet, names, nnames))
		{
			/* until the first row is written, there is no file */
			*names = palloc(sizeof(char *));
			*nnames = 0;
			return table->writable && csv_is_pattern(table);
		}
		if (table->share >= 0 && OidIsValid(table->relid) && csv_is_pattern(table))
			take_share(table, *names, nnames);
		return true;
	}
	*names = table->files;
	*nnames = table->nfiles;
	return true;
}

const char *
csv_find_renamed(const CsvTable *table, const CsvFileIdentity *as)
{
	char	  **names;
	int			nnames;

	if (!csv_expand_pattern(table, true, &names, &nnames))
		return NULL;
	for (int i = 0; i < nnames; i++)
	{
		struct stat st;
		CsvFileIdentity identity;

		CHECK_FOR_INTERRUPTS();
		if (csv_table_stat(table, names[i], &st) != 0)
			continue;

		/* another file may have got the inode of a deleted file */
		identity = csv_file_identity(&st);
		if (identity.device == as->device && identity.inode == as->inode &&
			identity.size == as->size && identity.modified == as->modified)
			return names[i];
	}
	return NULL;
}

/* ---- sizes and identities ---- */

const CsvSourceSize csv_unknown_size = {
	.file_bytes = -1, .data_bytes = -1, .nfiles = -1
};

void
csv_add_file_size(const CsvTable *table, const char *name, int64 file_bytes,
				  CsvSourceSize *size)
{
	int64		data_bytes = file_bytes;

	if (csv_file_compression(table, name) != CSV_COMPRESSION_NONE)
		data_bytes *= COMPRESSION_RATIO;
	else if (table->utf16 >= CSV_UTF16_ANY)
		data_bytes /= UTF16_RATIO;
	size->nfiles++;
	size->file_bytes += file_bytes;
	size->data_bytes += data_bytes;
	size->is_exact &= data_bytes == file_bytes;
}

CsvSourceSize
csv_source_size(const CsvTable *table)
{
	CsvSourceSize size = {.is_exact = true};
	char	  **names;
	int			nnames;

	if (table->program != NULL ||
		!csv_find_files(table, true, &names, &nnames))
		return csv_unknown_size;
	for (int i = 0; i < nnames; i++)
	{
		struct stat st;
		CsvFileIdentity identity;

		if (csv_is_left_out(table, i))
			continue;
		if (csv_table_stat(table, names[i], &st) != 0 ||
			!S_ISREG(st.st_mode))
			return csv_unknown_size;
		identity = csv_file_identity(&st);
		size.state = hash_bytes_extended((const uint8 *) &identity,
										 sizeof(identity), size.state);
		size.modified = Max(size.modified, identity.modified);
		csv_add_file_size(table, names[i], st.st_size, &size);
	}
	return size;
}

void
csv_source_decide_resident(CsvTable *table)
{
	CsvSourceSize size;

	if (!table->settings.resident)
		return;
	size = csv_source_size(table);
	if (size.nfiles > MOST_SMALL_FILES)
		table->settings.resident = size.data_bytes / size.nfiles >= LEAST_MEAN_BYTES;
}

bool
csv_identify(const CsvTable *table, const struct stat *st,
			 CsvFileIdentity *identity)
{
	if (!S_ISREG(st->st_mode) || table->encoding != table->file_encoding)
		return false;
	*identity = csv_file_identity(st);
	return true;
}

bool
csv_source_identities(const CsvTable *table, char ***names,
					  CsvFileIdentity **identities, int *nfiles)
{
	char	  **found;
	int			nfound;

	if (table->program != NULL ||
		!csv_find_files(table, true, &found, &nfound))
		return false;
	*names = palloc_extended(sizeof(char *) * nfound, MCXT_ALLOC_HUGE);
	*identities = palloc_extended(sizeof(CsvFileIdentity) * nfound,
								  MCXT_ALLOC_HUGE);
	*nfiles = 0;
	for (int i = 0; i < nfound; i++)
	{
		struct stat st;

		if (csv_is_left_out(table, i))
			continue;
		if (csv_table_stat(table, found[i], &st) != 0 ||
			!csv_identify(table, &st, &(*identities)[*nfiles]))
			return false;
		(*names)[(*nfiles)++] = csv_shown_filename(found[i]);
	}
	return true;
}

/* ---- locks ---- */

uint64
csv_file_lock_number(const char *filename)
{
	char	   *path = csv_real_path(filename);
	uint64		number = hash_bytes_extended((const unsigned char *) path, (int) strlen(path), 0);

	pfree(path);
	return number;
}

static LOCKTAG
lock_tag(uint64 number)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, InvalidOid, (uint32) (number >> 32), (uint32) number,
						 CSV_ADVISORY_CLASS);
	return tag;
}

void
csv_file_lock(uint64 number, LOCKMODE mode)
{
	LOCKTAG		tag = lock_tag(number);

	(void) LockAcquire(&tag, mode, false, false);
}

void
csv_file_unlock(uint64 number, LOCKMODE mode)
{
	LOCKTAG		tag = lock_tag(number);

	(void) LockRelease(&tag, mode, false);
}
