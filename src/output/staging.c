/*
 * staging.c
 *		Files that get their names when the transaction commits.
 */
#include "postgres.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "output/hidden.h"
#include "output/sink.h"
#include "output/staging.h"
#include "table/decompress.h"
#include "table/file_lock.h"
#include "table/text.h"

/* from so many files on, the whole file system is synchronized at once */
#define CSV_MOST_SYNCS		1000

/* allocated in TopTransactionContext */
struct CsvStaging
{
	SubTransactionId subid;
	char	   *directory;		/* where the files appear */
	char	   *hidden;
	char	   *base;			/* the file's name without suffixes; NULL: by keys */
	const char *suffix;
	bool		overwrite;
	bool		made_directory; /* remove it if nothing comes of it */
	int			nfiles;
	int			fd;				/* of the hidden directory; -1: not open */
	bool		is_held;		/* it is open until the end, and so is its lock */
	dev_t		device;			/* of the hidden directory */
	ino_t		inode;
};

/* of this transaction; the newest first */
static List *stagings = NIL;

/* for a walk through a directory */
typedef void (*EntryFn) (CsvStaging *staging, const char *name);

/* ---- files ---- */

static void
fail(const char *what, const char *path)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s \"%s\": %m", what, path)));
}

/*
 * Call a function for each entry of a directory, except hidden files.  A directory
 * that is not there has no entries.
 */
static void
walk(CsvStaging *staging, const char *path, EntryFn function)
{
	DIR		   *dir = AllocateDir(path);
	struct dirent *entry;

	if (dir == NULL && errno == ENOENT)
		return;
	while ((entry = ReadDir(dir, path)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			!csv_is_hidden_name(entry->d_name))
			function(staging, entry->d_name);
	}
	FreeDir(dir);
}

/* ---- which files are replaced ---- */

/* is it BASE or BASE-N, and the suffix? */
static bool
is_of_set(const CsvStaging *staging, const char *name)
{
	size_t		nbase = strlen(staging->base);

	if (strncmp(name, staging->base, nbase) != 0)
		return false;
	name += nbase;
	if (name[0] == '-' && name[1] >= '1' && name[1] <= '9')
		for (name++; isdigit((unsigned char) *name);)
			name++;
	return strcmp(name, staging->suffix) == 0;
}

/* ERROR if an entry of a directory for keys is not KEY=VALUE/ */
static void
check_entry(const CsvStaging *staging, const char *name)
{
	char	   *path = psprintf("%s/%s", staging->directory, name);
	struct stat st;

	if (!staging->overwrite)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FILE),
				 errmsg("directory \"%s\" is not empty", staging->directory),
				 errhint("With \"overwrite\", all that is in it is replaced.")));
	if (strchr(name, '=') == NULL || lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a directory KEY=VALUE", path),
				 errdetail("A directory can be overwritten if it has nothing but files that were written by keys.")));
	pfree(path);
}

/* ERROR if the entry may not be replaced; returns whether it must be */
static bool
must_replace(CsvStaging *staging, const char *name)
{
	char	   *path;
	struct stat st;

	if (staging->base == NULL)
	{
		check_entry(staging, name);
		return true;
	}
	if (!is_of_set(staging, name))
		return false;
	path = psprintf("%s/%s", staging->directory, name);
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a regular file", path)));
	if (!staging->overwrite)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FILE),
				 errmsg("file \"%s\" exists", path),
				 errhint("With \"overwrite\", the file and those with -1, -2 and so on before the suffix are replaced.")));
	return true;
}

static void
check_name(CsvStaging *staging, const char *name)
{
	(void) must_replace(staging, name);
}

bool
csv_staging_replaces(const CsvStaging *staging, const char *filename)
{
	char	   *directory = realpath(staging->directory, NULL);
	char	   *file = realpath(filename, NULL);
	bool		replaces = false;

	if (directory != NULL && file != NULL)
	{
		size_t		length = strlen(directory);

		if (strncmp(file, directory, length) == 0 && file[length] == '/')
			replaces = staging->base == NULL || is_of_set(staging, file + length + 1);
	}
	free(directory);
	free(file);
	return replaces;
}

/* ---- the end of the transaction ---- */

/*
 * Opens the hidden directory, unless it is held.  Returns false with errno if its name
 * stands for another one now.
 */
static bool
open_hidden(CsvStaging *staging)
{
	struct stat st;

	if (staging->fd >= 0)
		return true;
	staging->fd = csv_hidden_open(AT_FDCWD, staging->hidden);
	if (staging->fd < 0)
		return false;
	if (fstat(staging->fd, &st) == 0 && st.st_dev == staging->device &&
		st.st_ino == staging->inode)
		return true;
	close(staging->fd);
	staging->fd = -1;
	errno = ESTALE;
	return false;
}

static void
close_hidden(CsvStaging *staging)
{
	if (staging->fd >= 0)
		close(staging->fd);
	staging->fd = -1;
	if (staging->is_held)
		ReleaseExternalFD();
	staging->is_held = false;
}

/* after the commit or in an abort: nothing may raise an ERROR */
static void
discard(CsvStaging *staging, bool is_commit)
{
	int			error = 0;

	/* 0: it was not made */
	if (staging->inode != 0)
	{
		if (!open_hidden(staging))
			error = errno;
		else if (is_commit || csv_hidden_undo(staging->fd, staging->hidden, true))
			error = csv_hidden_remove(staging->fd, staging->hidden);
		errno = error;
		if (error != 0)
			csv_warn_at_end("could not remove directory \"%s\": %m", staging->hidden);
	}
	close_hidden(staging);
	/* it stays if others have put something into it */
	if (!is_commit && staging->made_directory)
		(void) rmdir(staging->directory);
}

static void
set_aside(CsvStaging *staging, const char *name)
{
	if (!must_replace(staging, name))
		return;
	errno = csv_hidden_move(staging->fd, psprintf("../%s", name),
							psprintf(CSV_HIDDEN_OLD "/%s", name));
	if (errno != 0)
		fail("replace", psprintf("%s/%s", staging->directory, name));
}

static void
show(CsvStaging *staging)
{
	List	   *names;
	ListCell   *cell;

	/* nobody else replaces the files before the transaction's end */
	csv_file_lock(csv_file_lock_number(staging->directory), ExclusiveLock);
	if (!open_hidden(staging))
		fail("open directory", staging->hidden);
	names = csv_hidden_begin_moves(staging->fd, staging->hidden);
	walk(staging, staging->directory, set_aside);
	foreach(cell, names)
	{
		const char *name = lfirst(cell);

		errno = csv_hidden_move(staging->fd, psprintf(CSV_HIDDEN_NEW "/%s", name),
								psprintf("../%s", name));
		if (errno != 0)
			fail("create", psprintf("%s/%s", staging->directory, name));
	}
	fsync_fname(staging->directory, true);
	if (!staging->is_held)
		close_hidden(staging);
}

static void
end_transaction(XactEvent event, void *arg)
{
	ListCell   *cell;

	if (stagings == NIL)
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			foreach(cell, stagings)
				show(lfirst(cell));
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has called %s",
							"csv_gpu_unload()")));
			break;
		case XACT_EVENT_COMMIT:
			foreach(cell, stagings)
				discard(lfirst(cell), true);
			stagings = NIL;
			break;
		case XACT_EVENT_ABORT:
			/* what came last goes back first */
			for (int i = list_length(stagings) - 1; i >= 0; i--)
				discard(list_nth(stagings, i), false);
			stagings = NIL;
			break;
		default:
			break;
	}
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	for (int i = list_length(stagings) - 1; i >= 0; i--)
	{
		CsvStaging *staging = list_nth(stagings, i);

		if (staging->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			staging->subid = parent;
		else if (event == SUBXACT_EVENT_ABORT_SUB)
		{
			discard(staging, false);
			stagings = list_delete_nth_cell(stagings, i);
		}
	}
}

/* ---- a set of files ---- */

/* the name of the path, in parts */
static void
split_name(CsvStaging *staging, const char *path)
{
	const char *name = last_dir_separator(path) + 1;
	size_t		length = csv_name_without_compression(name, true);

	for (size_t i = length; i-- > 1;)
		if (name[i] == '.')
		{
			length = i;
			break;
		}
	staging->base = pnstrdup(name, length);
	staging->suffix = pstrdup(name + length);
}

/* ERROR if the name, or the first part of the path, looks like a hidden one */
static void
refuse_hidden(const char *path)
{
	char	   *name = pnstrdup(path, strcspn(path, "/"));

	if (csv_is_hidden_name(name))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("file name \"%s\" is reserved", csv_shown_filename(name)),
				 errdetail("Names like .NAME.csvgpu are those of files whose transaction has not ended.")));
	pfree(name);
}

/* check the path, and find its directory */
static void
find_directory(CsvStaging *staging, const char *path, bool by_key)
{
	struct stat st;

	staging->directory = pstrdup(path);
	if (by_key)
		return;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a directory", path),
				 errhint("With \"partition_by\", files are written into a directory.")));
	get_parent_directory(staging->directory);
	split_name(staging, path);
	/* with a number, "." may get one, too */
	refuse_hidden(csv_staging_name("", staging->base, 1, staging->suffix));
	if (stat(staging->directory, &st) != 0)
		fail("open directory", staging->directory);
}

static void
make_hidden(CsvStaging *staging)
{
	struct stat st;

	staging->fd = csv_hidden_make(staging->hidden);
	if (staging->fd < 0 || fstat(staging->fd, &st) != 0)
		fail("create directory", staging->hidden);
	staging->device = st.st_dev;
	staging->inode = st.st_ino;
	/* a transaction may have more of them than descriptors */
	staging->is_held = AcquireExternalFD();
	if (!staging->is_held)
		close_hidden(staging);
}

CsvStaging *
csv_staging_begin(const char *path, bool by_key, bool overwrite)
{
	static bool is_registered = false;
	static Oid	nstagings = 0;
	MemoryContext outer = MemoryContextSwitchTo(TopTransactionContext);
	CsvStaging *staging = palloc0(sizeof(CsvStaging));
	char	   *tag;

	if (!is_registered)
	{
		RegisterXactCallback(end_transaction, NULL);
		RegisterSubXactCallback(end_subtransaction, NULL);
		is_registered = true;
	}
	staging->subid = GetCurrentSubTransactionId();
	staging->overwrite = overwrite;
	staging->fd = -1;
	find_directory(staging, path, by_key);
	/* what a crash has left behind must not come back beside the new files */
	if (!RecoveryInProgress())
		csv_hidden_settle(staging->directory);
	walk(staging, staging->directory, check_name);
	/* a standby has no transaction numbers */
	tag = RecoveryInProgress() ? psprintf("unload-%d-%u", MyProcPid, nstagings) :
		csv_hidden_tag(nstagings);
	nstagings++;
	staging->hidden = csv_hidden_path(psprintf("%s/%s", staging->directory, tag));

	/* from now on, the end of the transaction removes it */
	stagings = lappend(stagings, staging);
	if (by_key)
		staging->made_directory = csv_make_directory(path, strlen(path));
	make_hidden(staging);
	MemoryContextSwitchTo(outer);
	return staging;
}

char *
csv_staging_name(const char *key_directory, const char *base, int number,
				 const char *suffix)
{
	return number == 0 ? psprintf("%s%s%s", key_directory, base, suffix) :
		psprintf("%s%s-%d%s", key_directory, base, number, suffix);
}

const char *
csv_staging_directory(const CsvStaging *staging)
{
	return staging->hidden;
}

char *
csv_staging_add(CsvStaging *staging, const char *file, const char *key_directory,
				int number, const char *suffix)
{
	char	   *name = key_directory == NULL ?
		csv_staging_name("", staging->base, number, staging->suffix) :
		csv_staging_name(key_directory, CSV_STAGING_DATA, number, suffix);
	char	   *path = psprintf(CSV_HIDDEN_NEW "/%s", name);
	const char *written = file + strlen(staging->hidden) + 1;

	refuse_hidden(key_directory == NULL ? name : key_directory);
	if (strcmp(written, path) != 0)
	{
		if (!open_hidden(staging))
			fail("open directory", staging->hidden);
		if (renameat(staging->fd, written, staging->fd, path) != 0)
			fail("create", psprintf("%s/%s", staging->hidden, path));
		if (!staging->is_held)
			close_hidden(staging);
	}
	staging->nfiles++;
	return psprintf("%s/%s", staging->directory, name);
}

/* files and directories below a directory */
static void
sync_below(const char *path)
{
	DIR		   *dir = AllocateDir(path);
	struct dirent *entry;

	while ((entry = ReadDir(dir, path)) != NULL)
	{
		char	   *name;

		CHECK_FOR_INTERRUPTS();
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		name = psprintf("%s/%s", path, entry->d_name);
		if (get_dirent_type(name, entry, false, ERROR) == PGFILETYPE_DIR)
			sync_below(name);
		else
			fsync_fname(name, false);
		pfree(name);
	}
	FreeDir(dir);
	fsync_fname(path, true);
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
csv_staging_end(CsvStaging *staging)
{
	char	   *path = psprintf("%s/" CSV_STAGING_NEW, staging->hidden);

	if (enableFsync &&
		(staging->nfiles < CSV_MOST_SYNCS || !sync_file_system(staging->hidden)))
		sync_below(path);
}
