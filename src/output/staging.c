/*
 * staging.c
 *		Files that get their names when the transaction commits.
 */
#include "postgres.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "output/hidden.h"
#include "output/sink.h"
#include "output/staging.h"
#include "table/decompress.h"
#include "table/listing.h"
#include "table/option_list.h"
#include "table/text.h"

/* from so many files on, the whole file system is synchronized at once */
#define CSV_MOST_SYNCS		1000

static void
fail(const char *what, const char *path)
{
	csv_fail_on_file(psprintf("could not %s \"%%s\": %%m", what), path, "write");
}

/* BASE[-NUMBER]SUFFIX; a number of 0 is left out */
static char *
make_name(const char *base, int64 number, const char *suffix)
{
	return number == 0 ? psprintf("%s%s", base, suffix) :
		psprintf("%s-%lld%s", base, (long long) number, suffix);
}

/* ---- which files are replaced ---- */

/* is the file of this number in a directory? */
static bool
has_number(const CsvHidden *staging, const char *directory, int64 number)
{
	char	   *name = make_name(staging->base, number, staging->suffix);
	struct stat st;

	CHECK_FOR_INTERRUPTS();
	return lstat(psprintf("%s/%s", directory, name), &st) == 0;
}

/* the number up to which a directory has a file of each number from 1 on */
static int64
last_number(const CsvHidden *staging, const char *directory)
{
	int64		number = 0;

	while (has_number(staging, directory, number + 1))
		number++;
	return number;
}

/* is it BASE or BASE-N, and the suffix?  A file behind a gap is not of the set. */
static bool
is_of_set(const CsvHidden *staging, const char *name)
{
	size_t		nbase = strlen(staging->base);
	const char *end = name + nbase;
	int64		number = 0;

	if (strncmp(name, staging->base, nbase) != 0)
		return false;
	if (end[0] == '-' && end[1] >= '1' && end[1] <= '9')
		number = strtoll(end + 1, (char **) &end, 10);
	return strcmp(end, staging->suffix) == 0 &&
		(number <= last_number(staging, staging->directory) ||
		 !has_number(staging, staging->directory, number));
}

/*
 * Look at a file or directory that is replaced, and at all below it.  The name begins in
 * `root`; NULL: all in `root`.  Entries of `root` are added to names.  A missing name is
 * passed over.  ERROR if it may not be replaced, or if COPY TO could not open a file.
 */
static void
look_at(CsvHidden *staging, const char *root, const char *name, List **names)
{
	bool		by_key = staging->base == NULL;
	bool		is_top = name != NULL && strchr(name, '/') == NULL;
	char	   *path = name == NULL ? pstrdup(root) : psprintf("%s/%s", root, name);
	char	   *shown = csv_shown_filename(path);
	struct stat st = {0};
	int			failed = name == NULL ? stat(path, &st) : lstat(path, &st);
	bool		is_directory = name == NULL || (by_key && S_ISDIR(st.st_mode));
	struct dirent *entry;
	DIR		   *dir;

	CHECK_FOR_INTERRUPTS();
	if (failed != 0 && errno == ENOENT)
		return;
	if (failed != 0)
		fail("stat file", path);
	if (is_top && !staging->overwrite)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FILE),
				 by_key ? errmsg("directory \"%s\" is not empty",
								 csv_shown_filename(staging->directory)) :
				 errmsg("file \"%s\" exists", shown),
				 by_key ? errhint("With \"overwrite\", all that is in it is replaced.") :
				 errhint("With \"overwrite\", the file and those with -1, -2 and so on before the suffix are replaced.")));
	if (by_key && is_top && (!is_directory || strchr(name, '=') == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a directory COLUMN=VALUE", shown),
				 errdetail("A directory can be overwritten only if it has nothing but directories COLUMN=VALUE."),
				 errhint("Name a new directory, or move \"%s\" away.", shown)));
	if (!is_directory)
		csv_check_regular(path, st.st_mode);
	if (name != NULL && access(path, is_directory ? W_OK | X_OK : W_OK) != 0)
		fail(is_directory ? "write to directory" : "write to file", path);

	if (is_top)
		*names = lappend(*names, pstrdup(name));
	if (name != NULL)
		staging->modes[is_directory] &= st.st_mode;
	if (!is_directory && staging->fd >= 0 &&
		fstatat(staging->fd, psprintf(CSV_HIDDEN_NEW "/%s", name), &st, 0) != 0 &&
		staging->nremoved++ == 0)
		staging->removed = shown;
	dir = is_directory ? AllocateDir(path) : NULL;
	if (is_directory && dir == NULL)
		fail("open directory", path);
	while (is_directory && (entry = ReadDir(dir, path)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			(name != NULL || !csv_is_hidden_name(entry->d_name)))
			look_at(staging, root, name == NULL ? entry->d_name :
					psprintf("%s/%s", name, entry->d_name), names);
	if (is_directory)
		FreeDir(dir);
}

/* the names in a directory that are replaced; ERROR if a new file's name is taken */
static List *
find_replaced(CsvHidden *staging, const char *directory)
{
	bool		by_key = staging->base == NULL;
	int64		last = by_key ? -1 : last_number(staging, directory);
	List	   *names = NIL;

	staging->nremoved = 0;
	if (by_key)
		look_at(staging, directory, NULL, &names);
	for (int64 number = 0; !by_key && number <= Max(last, staging->nfiles); number++)
	{
		const char *name = make_name(staging->base, number, staging->suffix);

		if (number > last && has_number(staging, directory, number))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_FILE),
					 errmsg("file \"%s/%s\" exists", csv_shown_filename(staging->directory),
							csv_shown_filename(name)),
					 errdetail("It is not replaced, because a lower number has no file."),
					 errhint("Move it away, or name another path.")));
		look_at(staging, directory, name, &names);
	}
	return names;
}

bool
csv_staging_replaces(const CsvHidden *staging, const char *filename)
{
	char	   *directory = csv_real_path(staging->directory);
	char	   *file = csv_real_path(filename);
	size_t		length = strlen(directory);

	return strncmp(file, directory, length) == 0 && file[length] == '/' &&
		(staging->base == NULL || is_of_set(staging, file + length + 1));
}

void
csv_staging_check_written(const char *filename)
{
	ListCell   *cell;

	foreach(cell, csv_hidden_all)
		if (((CsvHidden *) lfirst(cell))->is_directory &&
			csv_staging_replaces(lfirst(cell), filename))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot write to file \"%s\" and call csv_gpu_unload() for it in one transaction",
							filename)));
}

/* ---- before the commit ---- */

/* a directory may have several names */
static bool
have_same_directory(const CsvHidden *a, const CsvHidden *b)
{
	struct stat st[2];

	return fstatat(a->fd, "..", &st[0], 0) == 0 && fstatat(b->fd, "..", &st[1], 0) == 0 &&
		st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
}

/* files that earlier calls in the transaction would give these names are removed */
static void
replace_earlier(CsvHidden *staging)
{
	ListCell   *cell;
	ListCell   *name;

	foreach(cell, csv_hidden_all)
	{
		const CsvHidden *earlier = lfirst(cell);

		if (earlier == staging)
			return;
		if (!have_same_directory(earlier, staging))
			continue;
		foreach(name, find_replaced(staging, psprintf("%s/" CSV_HIDDEN_NEW, earlier->path)))
		{
			errno = csv_hidden_visit(earlier->fd,
									 psprintf(CSV_HIDDEN_NEW "/%s", (char *) lfirst(name)),
									 CSV_ERRAND_REMOVE);
			if (errno != 0)
				fail("replace", psprintf("%s/%s", staging->directory, (char *) lfirst(name)));
		}
	}
}

/* the directory may have been moved or removed since, by others or another transaction */
static void
check_place(const CsvHidden *staging)
{
	struct stat st;

	if (lstat(staging->path, &st) != 0)
		fail("stat file", staging->path);
	csv_check_place(staging->path, &st, &staging->place);
	if (fstatat(staging->fd, CSV_HIDDEN_NEW, &st, AT_SYMLINK_NOFOLLOW) != 0)
		fail("stat file", psprintf("%s/" CSV_HIDDEN_NEW, staging->path));
}

/* files that are replaced make room */
static void
set_aside(CsvHidden *staging)
{
	ListCell   *cell;

	/* nobody else replaces the files before the transaction's end */
	csv_file_lock(csv_file_lock_number(staging->directory), ExclusiveLock);
	check_place(staging);
	replace_earlier(staging);
	foreach(cell, find_replaced(staging, staging->directory))
	{
		const char *name = lfirst(cell);
		char	   *old = psprintf(CSV_HIDDEN_OLD "/%s", name);

		errno = csv_hidden_move(staging->fd, psprintf("../%s", name), old);
		if (errno != 0)
			fail("replace", psprintf("%s/%s", staging->directory, name));
		/* from now on, no transaction can put a file there by its path */
		if (staging->base == NULL &&
			csv_hidden_visit(staging->fd, old, CSV_ERRAND_FIND_IN_USE) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("cannot overwrite directory \"%s/%s\"",
							csv_shown_filename(staging->directory), csv_shown_filename(name)),
					 errdetail("A transaction that has not ended writes files in it.")));
	}
	(void) fsync_fname_ext(staging->directory, true, false, ERROR);
}

void
csv_staging_commit(void)
{
	ListCell   *cell;

	/* files that are replaced are removed right after the commit */
	if (csv_hidden_all != NIL)
		ForceSyncCommit();
	foreach(cell, csv_hidden_all)
		if (((CsvHidden *) lfirst(cell))->is_directory)
			set_aside(lfirst(cell));
}

/* ---- a set of files ---- */

/* the name of the path, in parts */
static void
split_name(CsvHidden *staging, const char *path)
{
	const char *name = last_dir_separator(path) + 1;
	char	   *dot;

	staging->base = pnstrdup(name, csv_name_without_compression(name, true));
	dot = strrchr(staging->base, '.');
	if (dot != NULL && dot > staging->base)
		*dot = '\0';
	staging->suffix = pstrdup(name + strlen(staging->base));
}

/* ERROR if the name looks like a hidden one */
static void
refuse_hidden(const CsvHidden *staging, const char *path)
{
	const char *name = last_dir_separator(path) + 1;

	/* with a number, "." may get one, too */
	if (csv_is_hidden_name(name) ||
		(staging->base != NULL &&
		 csv_is_hidden_name(make_name(staging->base, 1, staging->suffix))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("file name \"%s\" is reserved", csv_shown_filename(name)),
				 errdetail("Names like .NAME.csvgpu are those of files whose transaction has not ended.")));
}

char *
csv_staging_follow_links(char *path)
{
	char	   *end = path;
	char		target[PATH_MAX];
	struct stat st[2];
	ssize_t		n;

	for (int i = 0; i < MAXSYMLINKS && (n = readlink(end, target, sizeof(target) - 1)) >= 0; i++)
	{
		/* a descriptor's file, such as the server's log, is open: a new one would hide it */
		if (lstat(end, &st[0]) == 0 && stat("/proc", &st[1]) == 0 && st[0].st_dev == st[1].st_dev)
			csv_refuse_value("path", path, "It leads to an open file of the server.", NULL);
		target[n] = '\0';
		end = is_absolute_path(target) ? pstrdup(target) :
			psprintf("%s/%s", csv_directory_of(end), target);
	}
	/* too many links, or some that the system does not let us follow */
	if (stat(path, &st[0]) != 0 ? errno != ENOENT :
		lstat(end, &st[1]) != 0 || st[0].st_dev != st[1].st_dev || st[0].st_ino != st[1].st_ino)
		fail("open file", path);
	return end;
}

/* check the path, and find its directory */
static void
find_directory(CsvHidden *staging, const char *path, bool by_key)
{
	struct stat st;

	staging->directory = pstrdup(path);
	if (!by_key)
	{
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is a directory", csv_shown_filename(path)),
					 errhint("With \"partition_by\", files are written into a directory.")));
		get_parent_directory(staging->directory);
		split_name(staging, path);
		if (stat(staging->directory, &st) != 0)
			fail("open directory", staging->directory);
	}
	refuse_hidden(staging, path);
}

CsvHidden *
csv_staging_begin(const char *path, bool by_key, bool overwrite)
{
	MemoryContext outer = MemoryContextSwitchTo(TopTransactionContext);
	CsvHidden *staging = palloc0(sizeof(CsvHidden));

	staging->fd = -1;
	staging->overwrite = overwrite;
	staging->modes[false] = staging->modes[true] = 07777;
	find_directory(staging, path, by_key);
	/* what a crash has left behind must not come back beside the new files */
	if (!RecoveryInProgress())
		csv_hidden_settle(staging->directory, true, NULL);
	list_free_deep(find_replaced(staging, staging->directory));
	csv_hidden_make_directory(staging, by_key);
	MemoryContextSwitchTo(outer);
	return staging;
}

/*
 * A file in new/, or a directory, gets the mode of the old file of its name.  Without such
 * a file, it permits no more than all old files.
 */
static void
set_mode(const CsvHidden *staging, const char *name)
{
	const char *path = psprintf(CSV_HIDDEN_NEW "/%s", name);
	struct stat st;
	struct stat old;
	mode_t		mode;

	if (fstatat(staging->fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		fail("stat file", psprintf("%s/%s", staging->path, path));
	mode = fstatat(staging->fd, psprintf("../%s", name), &old, AT_SYMLINK_NOFOLLOW) == 0 ?
		old.st_mode : st.st_mode & staging->modes[S_ISDIR(st.st_mode)];
	mode &= S_ISDIR(st.st_mode) ? 07777 : ACCESSPERMS;
	if (mode != (st.st_mode & 07777) && fchmodat(staging->fd, path, mode, 0) != 0)
		fail("set permissions of file", psprintf("%s/%s", staging->path, path));
}

/* in new/, with those above it; without an ERROR if it exists */
static void
make_key_directory(const CsvHidden *staging, const char *name)
{
	const char *path = psprintf(CSV_HIDDEN_NEW "/%s", name);
	const char *slash = strrchr(name, '/');

	if (slash != NULL)
		make_key_directory(staging, pnstrdup(name, slash - name));
	if (csv_make_directory(staging->fd, path) == 0)
		set_mode(staging, name);
	else if (errno != EEXIST)
		fail("create directory", psprintf("%s/%s", staging->path, path));
}

char *
csv_staging_add(CsvHidden *staging, const char *file, const char *key_directory,
				int number, const char *suffix, int64 *nbytes)
{
	struct stat st;
	char	   *name;
	char	   *path;

	if (fstatat(staging->fd, file, &st, AT_SYMLINK_NOFOLLOW) != 0)
		fail("stat file", psprintf("%s/%s", staging->path, file));
	*nbytes = st.st_size;

	if (key_directory == NULL)
		name = make_name(staging->base, number, staging->suffix);
	else
	{
		name = psprintf("%s/%s", key_directory, make_name("data", number, suffix));
		make_key_directory(staging, key_directory);
	}
	path = psprintf(CSV_HIDDEN_NEW "/%s", name);
	if (renameat(staging->fd, file, staging->fd, path) != 0)
		fail("create", psprintf("%s/%s", staging->path, path));
	set_mode(staging, name);
	staging->nfiles++;
	return psprintf("%s/%s", staging->directory, name);
}

/* false if it cannot be done */
static bool
sync_file_system(const char *path)
{
#ifdef HAVE_SYNCFS
	int			fd = OpenTransientFile(path, O_RDONLY);
	int			result = fd < 0 ? -1 : syncfs(fd);

	if (fd >= 0)
		CloseTransientFile(fd);
	return result == 0;
#else
	return false;
#endif
}

void
csv_staging_end(CsvHidden *staging)
{
	list_free_deep(find_replaced(staging, staging->directory));
	if (staging->nremoved > 0)
		ereport(NOTICE,
				(errmsg("files that are removed, and not written anew: %d, the first: \"%s\"",
						staging->nremoved, staging->removed)));
	if (!enableFsync || (staging->nfiles >= CSV_MOST_SYNCS && sync_file_system(staging->path)))
		return;
	while ((errno = csv_hidden_visit(staging->fd, CSV_HIDDEN_NEW, CSV_ERRAND_SYNC)) == EINTR)
		CHECK_FOR_INTERRUPTS();
	if (errno != 0)
		fail("fsync directory", psprintf("%s/" CSV_HIDDEN_NEW, staging->path));
}
