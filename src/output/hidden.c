/*
 * hidden.c
 *		Names of files and directories that wait for the end of their transaction.
 *
 * Only a transaction number on this server's timeline says anything: another server,
 * and a server that was restored to an earlier time, have given the same numbers to
 * other transactions.  A copy of a stopped server has the same timeline, but a younger
 * data directory.
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "common/string.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/xid8.h"

#include "compat.h"
#include "output/hidden.h"
#include "table/fingerprint.h"
#include "table/listing.h"
#include "table/option.h"
#include "table/release.h"
#include "table/text.h"

#define CSV_TAG			"csvgpu-"
#define CSV_TAG_FORMAT	CSV_TAG UINT64_FORMAT "-%u-" UINT64_FORMAT "-%u"
#define CSV_SUFFIX		".csvgpu"

#define CSV_LEFTOVER_COLUMNS	3

/* directories in a hidden directory are at most this deep */
#define CSV_MOST_LEVELS	64

/* readdir() may miss entries of a directory that changes */
#define CSV_MOST_ROUNDS	10

/* who writes a file: what its tag says */
typedef struct Owner
{
	uint64		system;			/* the server's system identifier */
	TimeLineID	timeline;
	uint64		xid;
	Oid			oid;			/* of the relation, or any number */
} Owner;

/* ---- reports at the end of a transaction ---- */

int
csv_level_at_end(void)
{
	int			encoding = pg_get_client_encoding();

	return encoding == GetDatabaseEncoding() || encoding == PG_SQL_ASCII ?
		WARNING : LOG_SERVER_ONLY;
}

void
csv_warn_at_end(const char *message, const char *path)
{
	int			error = errno;
	char	   *name = csv_shown_filename(path);

	errno = error;
	ereport(csv_level_at_end(),
			(errcode_for_file_access(),
			 errmsg(message, name)));
}

/* ---- names ---- */

static char *
make_tag(const Owner *owner)
{
	return psprintf(CSV_TAG_FORMAT, owner->system, owner->timeline, owner->xid, owner->oid);
}

char *
csv_hidden_tag(Oid oid)
{
	static uint64 logged;
	Owner		owner = {
		GetSystemIdentifier(), GetWALInsertionTimeLine(),
		U64FromFullTransactionId(GetTopFullTransactionId()), oid
	};
	char	   *tag = make_tag(&owner);

	/* a number that is in no record of the WAL is given again after a crash */
	if (owner.xid != logged)
		XLogFlush(csv_log_message("csv_gpu_fdw", tag));
	logged = owner.xid;
	return tag;
}

/* reads the tag at the start of a text; returns its length, or 0 if there is none */
static size_t
read_tag(const char *text, Owner *owner)
{
	char	   *tag;

	if (sscanf(text, CSV_TAG_FORMAT, &owner->system, &owner->timeline, &owner->xid,
			   &owner->oid) != 4)
		return 0;
	/* sscanf() allows blanks, signs, and numbers that are too large */
	tag = make_tag(owner);
	return strncmp(text, tag, strlen(tag)) == 0 ? strlen(tag) : 0;
}

char *
csv_hidden_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	int			ndirectory = slash != NULL ? (int) (slash - path) + 1 : 0;

	return psprintf("%.*s.%s" CSV_SUFFIX, ndirectory, path, path + ndirectory);
}

/* the inverse for a name; NULL if it is not hidden */
static char *
shown_name(const char *name)
{
	size_t		length = strlen(name);

	if (name[0] != '.' || length < strlen(CSV_SUFFIX) + 2 || !pg_str_endswith(name, CSV_SUFFIX))
		return NULL;
	return pnstrdup(name + 1, length - strlen(CSV_SUFFIX) - 1);
}

bool
csv_is_hidden_name(const char *name)
{
	return shown_name(name) != NULL;
}

/* ---- is its transaction running? ---- */

/* false: the name without its dot and suffix is not hidden by this server */
static bool
find_owner(const char *shown, Owner *owner)
{
	const char *tag = strstr(shown, CSV_TAG);

	while (tag != NULL && read_tag(tag, owner) == 0)
		tag = strstr(tag + 1, CSV_TAG);
	return tag != NULL && owner->system == GetSystemIdentifier();
}

/*
 * Has the transaction a number that this server has given, on its timeline, and is the
 * file (st, or NULL) not older than the data directory?
 */
static bool
may_be_own(const Owner *owner, const struct stat *st)
{
	FullTransactionId xid = FullTransactionIdFromU64(owner->xid);

	return owner->timeline == GetWALInsertionTimeLine() &&
		FullTransactionIdPrecedes(xid, ReadNextFullTransactionId()) &&
		FullTransactionIdIsNormal(xid) &&
		(st == NULL ||
		 st->st_mtime >= csv_time_of_birth("PG_VERSION") / INT64CONST(1000000000));
}

/* the state of a leftover, or "in progress" */
static const char *
find_state(const Owner *owner, const struct stat *st)
{
	LOCAL_FCINFO(fcinfo, 1);
	FullTransactionId xid = FullTransactionIdFromU64(owner->xid);
	Datum		datum;

	/* pg_xact_status() raises an ERROR for numbers that are still to come */
	if (!may_be_own(owner, st))
		return "unknown";
	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = FullTransactionIdGetDatum(xid);
	fcinfo->args[0].isnull = false;
	datum = pg_xact_status(fcinfo);
	return fcinfo->isnull ? "unknown" : TextDatumGetCString(datum);
}

static bool
is_running(const Owner *owner)
{
	return strcmp(find_state(owner, NULL), "in progress") == 0;
}

size_t
csv_hidden_tag_at(const char *path, size_t at, bool *is_own)
{
	Owner		owner;
	struct stat st;
	size_t		length = read_tag(path + at, &owner);
	const char *state;

	if (length == 0 || owner.system != GetSystemIdentifier())
		return 0;
	state = find_state(&owner, NULL);
	/* it committed, or is too old for its state to be known */
	*is_own = lstat(path, &st) == 0 && S_ISREG(st.st_mode) && may_be_own(&owner, &st) &&
		strcmp(state, "aborted") != 0 && strcmp(state, "in progress") != 0;
	return length;
}

/*
 * Returns a descriptor, which holds a lock on the file or directory, or -1 with errno:
 * EWOULDBLOCK if another process holds the lock, ESTALE if it is not one of ours: another
 * user's, or a directory that others may look into.
 */
static int
open_hidden(int at, const char *path, struct stat *st)
{
	int			fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	int			error = 0;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) != 0)
		error = errno;
	else if (st->st_uid != geteuid() ||
			 !(S_ISREG(st->st_mode) ||
			   (S_ISDIR(st->st_mode) && (st->st_mode & (S_IRWXG | S_IRWXO)) == 0)))
		error = ESTALE;
	/* some file systems have no locks of directories, or only shared locks for readers */
	else if (flock(fd, (S_ISDIR(st->st_mode) ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 &&
			 errno == EWOULDBLOCK)
		error = EWOULDBLOCK;
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* is it a hidden name of a transaction that has not ended, or that is locked? */
static bool
is_in_use(int at, const char *name)
{
	const char *shown = shown_name(name);
	Owner		owner;
	struct stat st;
	int			fd;

	if (shown == NULL)
		return false;
	if (!RecoveryInProgress() && find_owner(shown, &owner) && is_running(&owner))
		return true;
	fd = open_hidden(at, name, &st);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EWOULDBLOCK;
}

/* ---- files and directories, by descriptors ---- */

/* never follows a symbolic link; NULL: errno is set */
static DIR *
open_directory(int at, const char *name)
{
	int			fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR		   *dir = fd < 0 ? NULL : fdopendir(fd);
	int			error = errno;

	if (fd >= 0 && dir == NULL)
		close(fd);
	errno = error;
	return dir;
}

/* the next entry, except "." and ".."; NULL at the end, where errno is 0, or with errno */
static const char *
next_name(DIR *dir)
{
	struct dirent *entry;

	while (errno = 0, (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return entry->d_name;
	return NULL;
}

/* what walk() does with each entry; it also adds up the bytes of files, unless nbytes is NULL */
typedef enum Errand
{
	ERRAND_NONE,
	ERRAND_REMOVE,
	ERRAND_FIND_IN_USE			/* the result is EBUSY if one is_in_use() */
} Errand;

/* visit all that is in a directory, and below it.  Returns 0 or errno. */
static int
walk(int at, const char *directory, int level, Errand errand, int64 *nbytes)
{
	DIR		   *dir = level < CSV_MOST_LEVELS ? open_directory(at, directory) : NULL;
	const char *name;
	struct stat st;
	int			error = 0;

	if (dir == NULL)
		return level < CSV_MOST_LEVELS ? errno : ENAMETOOLONG;
	while ((name = next_name(dir)) != NULL)
	{
		int			failure = 0;
		bool		is_directory;

		if (errand == ERRAND_FIND_IN_USE && is_in_use(dirfd(dir), name))
			error = EBUSY;
		if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		is_directory = S_ISDIR(st.st_mode);
		if (is_directory)
			failure = walk(dirfd(dir), name, level + 1, errand, nbytes);
		else if (nbytes != NULL)
			*nbytes += st.st_size;
		if (errand == ERRAND_REMOVE && failure == 0 &&
			unlinkat(dirfd(dir), name, is_directory ? AT_REMOVEDIR : 0) != 0)
			failure = errno;
		if (failure != 0 && failure != ENOENT)
			error = failure;
	}
	if (errno != 0)
		error = errno;
	closedir(dir);
	return error;
}

bool
csv_hidden_runs_below(int at, const char *directory)
{
	return walk(at, directory, 0, ERRAND_FIND_IN_USE, NULL) != 0;
}

int
csv_hidden_remove(int hidden, const char *name)
{
	int			error = walk(hidden, name, 0, ERRAND_REMOVE, NULL);

	if (error != 0 && error != ENOTDIR)
		return error;
	return unlinkat(hidden, name, error == 0 ? AT_REMOVEDIR : 0) != 0 ? errno : 0;
}

int
csv_hidden_move(int at, const char *from, const char *to)
{
	struct stat st;

#ifdef RENAME_NOREPLACE
	if (renameat2(at, from, at, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* not every file system can do that */
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
#endif
	/* rename() replaces no files by a directory */
	if (fstatat(at, from, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return renameat(at, from, at, to) != 0 ? errno : 0;
	if (linkat(at, from, at, to, 0) != 0)
		return errno;
	(void) unlinkat(at, from, 0);
	return 0;
}

/* ---- locks ---- */

int
csv_hidden_lock(int fd)
{
	int			lock = AcquireExternalFD() ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -2;

	if (lock == -1)
		ReleaseExternalFD();
	if (lock >= 0)
		(void) flock(lock, LOCK_EX | LOCK_NB);
	return lock;
}

void
csv_hidden_unlock(int fd)
{
	if (fd < 0)
		return;
	close(fd);
	ReleaseExternalFD();
}

/* ---- hidden directories ---- */

/* remove the directory and all that is in it; returns 0 or errno */
static int
remove_hidden(int hidden, const char *path)
{
	char		up[MAXPGPATH];
	int			error = walk(hidden, ".", 0, ERRAND_REMOVE, NULL);

	snprintf(up, sizeof(up), "../%s", strrchr(path, '/') + 1);
	if (error == 0 && unlinkat(hidden, up, AT_REMOVEDIR) != 0)
		error = errno;
	return error;
}

int
csv_hidden_make(const char *path)
{
	struct stat st;

	return mkdir(path, S_IRWXU) == 0 ? open_hidden(AT_FDCWD, path, &st) : -1;
}

/*
 * Is there nothing in a hidden directory but what a transaction makes?  Another user may
 * have given its name to any directory of the server's user.
 */
static bool
has_only_files_of_sets(int hidden)
{
	DIR		   *dir = open_directory(hidden, ".");
	const char *name = NULL;
	bool		is_whole;

	while (dir != NULL && (name = next_name(dir)) != NULL &&
		   (strcmp(name, CSV_HIDDEN_NEW) == 0 || strcmp(name, CSV_HIDDEN_OLD) == 0 ||
			strncmp(name, CSV_HIDDEN_ROWS, strlen(CSV_HIDDEN_ROWS)) == 0))
		;
	is_whole = dir != NULL && name == NULL && errno == 0;
	if (dir != NULL)
		closedir(dir);
	return is_whole;
}

/* move up what is in a directory of the hidden directory; false if something stays */
static bool
move_up(int hidden, const char *path, const char *directory, bool is_loud)
{
	DIR		   *dir = open_directory(hidden, directory);
	bool		is_good = dir != NULL || errno == ENOENT;
	const char *name;

	if (!is_good && is_loud)
		csv_warn_at_end("could not open directory \"%s\": %m", path);
	while (dir != NULL && (name = next_name(dir)) != NULL)
	{
		char		from[MAXPGPATH];
		char		to[MAXPGPATH];

		snprintf(from, sizeof(from), "%s/%s", directory, name);
		snprintf(to, sizeof(to), "../%s", name);
		errno = csv_hidden_move(hidden, from, to);
		if (errno == 0 || errno == ENOENT)
			continue;
		is_good = false;
		if (is_loud)
			csv_warn_at_end("could not rename file \"%s\": %m", psprintf("%s/%s", path, from));
	}
	if (dir != NULL && errno != 0)
	{
		is_good = false;
		if (is_loud)
			csv_warn_at_end("could not read directory \"%s\": %m", path);
	}
	if (dir != NULL)
		closedir(dir);
	return is_good;
}

static void
end_directory(int hidden, const char *path, bool is_commit, bool is_loud)
{
	const char *directory = is_commit ? CSV_HIDDEN_NEW : CSV_HIDDEN_OLD;

	/* what has not moved up must not be removed with the rest */
	for (int round = 1;; round++)
	{
		if (!move_up(hidden, path, directory, is_loud))
			return;
		if (unlinkat(hidden, directory, AT_REMOVEDIR) == 0 || errno == ENOENT)
			errno = remove_hidden(hidden, path);
		else if (round < CSV_MOST_ROUNDS && (errno == ENOTEMPTY || errno == EEXIST))
			continue;
		break;
	}
	if (errno != 0 && is_loud)
		csv_warn_at_end("could not remove directory \"%s\": %m", path);
}

/* ---- the end of a transaction ---- */

static void
end_file(int at, const char *path, bool is_commit, bool is_loud)
{
	const char *base = strrchr(path, '/') + 1;
	const char *name = at == AT_FDCWD ? path : base;
	char	   *shown = psprintf("%.*s%s", (int) (base - name), name, shown_name(base));
	struct stat st;
	int			error = is_commit ? csv_hidden_move(at, name, shown) :
		unlinkat(at, name, 0) != 0 ? errno : 0;

	/* another session may have settled it */
	if (error == ENOENT && (!is_commit || fstatat(at, shown, &st, AT_SYMLINK_NOFOLLOW) == 0))
		return;
	errno = error;
	if (errno != 0 && is_loud)
		csv_warn_at_end(is_commit ? "could not rename file \"%s\": %m" :
						"could not remove file \"%s\": %m", path);
}

void
csv_hidden_end(int at, int fd, const char *path, bool is_commit, bool is_loud)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		end_directory(fd, path, is_commit, is_loud);
	else
		end_file(at, path, is_commit, is_loud);
}

/* ---- leftovers ---- */

/* the state of a leftover, which is open as fd; nbytes: of its files */
static const char *
find_state_of(const Owner *owner, int fd, const struct stat *st, int64 *nbytes)
{
	*nbytes = st->st_size;
	if (S_ISDIR(st->st_mode))
	{
		*nbytes = 0;
		(void) walk(fd, ".", 0, ERRAND_NONE, nbytes);
		if (!has_only_files_of_sets(fd))
			return "unknown";
	}
	return find_state(owner, st);
}

/*
 * Find the hidden names of this server in a directory, which is open, whose transactions
 * have ended.  removes: also settles them.  set: NULL, or gets a row for each; then
 * failures are reported.
 */
static void
find_leftovers(DIR *dir, const char *directory, bool removes, ReturnSetInfo *set)
{
	int			at = dirfd(dir);
	bool		is_changed = false;
	struct dirent *entry;

	while ((entry = ReadDir(dir, directory)) != NULL)
	{
		char	   *shown = shown_name(entry->d_name);
		char	   *path;
		const char *state;
		Owner		owner;
		struct stat st;
		int64		nbytes;
		int			fd;

		CHECK_FOR_INTERRUPTS();
		if (shown == NULL || !find_owner(shown, &owner) || is_running(&owner))
			continue;

		/*
		 * Its transaction may just have given it its name, its session may just be settling
		 * it, or it is of a copy of this server.
		 */
		fd = open_hidden(at, entry->d_name, &st);
		if (fd < 0)
			continue;
		path = psprintf("%s/%s", directory, entry->d_name);
		state = find_state_of(&owner, fd, &st, &nbytes);
		if (removes && strcmp(state, "unknown") != 0)
			csv_hidden_end(at, fd, path, strcmp(state, "committed") == 0, set != NULL);
		close(fd);
		if (set != NULL)
			tuplestore_putvalues(set->setResult, set->setDesc,
								 (Datum[CSV_LEFTOVER_COLUMNS]) {
									 CStringGetTextDatum(csv_shown_filename(path)),
									 Int64GetDatum(nbytes), CStringGetTextDatum(state)
								 }, (bool[CSV_LEFTOVER_COLUMNS]) {false});
		is_changed |= removes;
	}
	if (is_changed)
		(void) pg_fsync(at);
	FreeDir(dir);
}

void
csv_hidden_settle(const char *directory)
{
	DIR		   *dir = AllocateDir(directory);

	if (dir != NULL)
		find_leftovers(dir, directory, true, NULL);
}

/* ---- csv_gpu_leftovers() ---- */

PG_FUNCTION_INFO_V1(csv_gpu_leftovers);

/*
 * csv_gpu_leftovers(directory text, remove boolean): a row for each hidden name of this
 * server whose transaction has ended.  remove: they are settled, too.
 */
Datum
csv_gpu_leftovers(PG_FUNCTION_ARGS)
{
	char	   *directory;
	DIR		   *dir;

	csv_begin_function(fcinfo, "strict text boolean -> setof text bigint text");
	directory = text_to_cstring(PG_GETARG_TEXT_PP(0));
	csv_check_role(ROLE_PG_WRITE_SERVER_FILES, "for function csv_gpu_leftovers",
				   "call this function");
	/* a standby does not know which transactions run */
	PreventCommandDuringRecovery("csv_gpu_leftovers()");
	canonicalize_path(directory);
	dir = AllocateDir(directory);
	if (dir == NULL)
		csv_fail_on_file("could not open directory \"%s\": %m", directory, "read");
	find_leftovers(dir, directory, PG_GETARG_BOOL(1),
				   (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
