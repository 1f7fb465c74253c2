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

/* a path without its directory, if it has one */
static const char *
base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* the name that a hidden one stands for; NULL if it is not hidden */
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

/*
 * The names in a directory; NIL with errno if they cannot be read.  Follows no symbolic
 * link.  Callers change the directory later, because readdir() could miss entries then.
 */
static List *
list_names(int at, const char *directory)
{
	int			fd = openat(at, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR		   *dir = fd < 0 ? NULL : fdopendir(fd);
	List	   *names = NIL;
	struct dirent *entry;
	int			error;

	while (dir != NULL && (errno = 0, entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			names = lappend(names, pstrdup(entry->d_name));
	error = errno;
	if (dir != NULL)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	errno = error;
	return error == 0 ? names : NIL;
}

static int	visit(int at, const char *name, int level, CsvErrand errand, int64 *nbytes);

/* visit all that is in a directory, and below it; returns 0 or errno */
static int
visit_below(int at, const char *directory, int level, CsvErrand errand, int64 *nbytes)
{
	int			fd = openat(at, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int			error;
	List	   *names;
	ListCell   *cell;

	if (fd < 0)
		return errno;
	names = list_names(fd, ".");
	error = errno;
	foreach(cell, names)
	{
		int			failure = visit(fd, lfirst(cell), level + 1, errand, nbytes);

		if (failure != 0 && failure != ENOENT)
			error = failure;
	}
	list_free_deep(names);
	close(fd);
	return error;
}

/* as fsync_fname(), but never a PANIC: the server needs no file of the user's */
static int
sync_name(int at, const char *name, bool is_directory)
{
	int			flags = (is_directory ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC;
	int			fd = openat(at, name, flags);
	int			error = fd < 0 || pg_fsync(fd) != 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	/* not every system can synchronize directories */
	return is_directory && (error == EBADF || error == EINVAL) ? 0 : error;
}

static int
visit(int at, const char *name, int level, CsvErrand errand, int64 *nbytes)
{
	bool		is_directory;
	struct stat st;
	int			error = 0;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno;
	is_directory = S_ISDIR(st.st_mode);
	if (is_directory)
		error = level < CSV_MOST_LEVELS ? visit_below(at, name, level, errand, nbytes) :
			ENAMETOOLONG;
	if (error != 0)
		return error;
	switch (errand)
	{
		case CSV_ERRAND_SIZE:
			*nbytes += is_directory ? 0 : st.st_size;
			return 0;
		case CSV_ERRAND_REMOVE:
			return unlinkat(at, name, is_directory ? AT_REMOVEDIR : 0) != 0 ? errno : 0;
		case CSV_ERRAND_SYNC:
			return InterruptPending ? EINTR : sync_name(at, name, is_directory);
		case CSV_ERRAND_FIND_IN_USE:
			return is_in_use(at, name) ? EBUSY : 0;
	}
	return 0;
}

int
csv_hidden_visit(int at, const char *name, CsvErrand errand)
{
	return visit(at, name, 0, errand, NULL);
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

/* ---- the end ---- */

/*
 * Is there nothing in a hidden directory but what a transaction makes?  Another user may
 * have given its name to any directory of the server's user.
 */
static bool
has_only_files_of_sets(int hidden)
{
	List	   *names = list_names(hidden, ".");
	bool		is_whole = errno == 0;
	ListCell   *cell;

	foreach(cell, names)
	{
		const char *name = lfirst(cell);

		is_whole &= strcmp(name, CSV_HIDDEN_NEW) == 0 || strcmp(name, CSV_HIDDEN_OLD) == 0 ||
			strncmp(name, CSV_HIDDEN_ROWS, strlen(CSV_HIDDEN_ROWS)) == 0;
	}
	return is_whole;
}

/* move up what is in a directory of the hidden directory; false if something stays */
static bool
move_up(int hidden, const char *path, const char *directory, bool is_loud)
{
	List	   *names = list_names(hidden, directory);
	bool		is_good = errno == 0 || errno == ENOENT;
	ListCell   *cell;

	if (!is_good && is_loud)
		csv_warn_at_end("could not read directory \"%s\": %m", path);
	foreach(cell, names)
	{
		char	   *from = psprintf("%s/%s", directory, (char *) lfirst(cell));

		errno = csv_hidden_move(hidden, from, psprintf("../%s", (char *) lfirst(cell)));
		if (errno == 0 || errno == ENOENT)
			continue;
		is_good = false;
		if (is_loud)
			csv_warn_at_end("could not rename file \"%s\": %m", psprintf("%s/%s", path, from));
	}
	return is_good;
}

static void
end_directory(int hidden, const char *path, bool is_commit, bool is_loud)
{
	const char *directory = is_commit ? CSV_HIDDEN_NEW : CSV_HIDDEN_OLD;
	int			error = 0;

	/* what has not moved up must not be removed with the rest */
	if (!move_up(hidden, path, directory, is_loud))
		return;
	if (unlinkat(hidden, directory, AT_REMOVEDIR) != 0 && errno != ENOENT)
		error = errno;
	if (error == 0)
		error = visit_below(hidden, ".", 0, CSV_ERRAND_REMOVE, NULL);
	if (error == 0 &&
		unlinkat(hidden, psprintf("../%s", base_of(path)), AT_REMOVEDIR) != 0)
		error = errno;
	errno = error;
	if (error != 0 && is_loud)
		csv_warn_at_end("could not remove directory \"%s\": %m", path);
}

static void
end_file(int at, const char *path, bool is_commit, bool is_loud)
{
	const char *base = base_of(path);
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

/*
 * A file gets its name, or is removed.  In a directory, the contents of new/ or old/ move up,
 * and then it is removed; if something cannot move up, it stays.  Failures are reported if
 * is_loud.  Raises no ERROR.
 *
 * fd: a descriptor of the file or directory; for a file, it may be negative.  path: its
 * hidden name.  at: a descriptor of the directory that has it, or AT_FDCWD.
 */
static void
end_hidden(int at, int fd, const char *path, bool is_commit, bool is_loud)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		end_directory(fd, path, is_commit, is_loud);
	else
		end_file(at, path, is_commit, is_loud);
}

/* ---- files and directories of this transaction ---- */

List	   *csv_hidden_all = NIL;

/* from now on, the end of the transaction removes the file or directory, if it is made */
static void
begin(CsvHidden *hidden, const char *path)
{
	const char *base = base_of(path);

	hidden->path = psprintf("%.*s.%s" CSV_SUFFIX, (int) (base - path), path, base);
	hidden->nest_level = GetCurrentTransactionNestLevel();
	hidden->fd = -1;
	csv_hidden_all = lappend(csv_hidden_all, hidden);
}

void
csv_hidden_make_file(const char *path, const CsvPlace *place, CsvSink *sink)
{
	MemoryContext outer = MemoryContextSwitchTo(TopTransactionContext);
	CsvHidden  *hidden = palloc0(sizeof(CsvHidden));

	hidden->directory = csv_directory_of(path);
	begin(hidden, path);
	csv_sink_open(sink, hidden->path, place, O_CREAT | O_EXCL);

	/*
	 * A server with a copy of this server's data directory does not settle a locked file.
	 * The descriptor keeps the lock after the file is closed.
	 */
	if (AcquireExternalFD())
	{
		hidden->fd = fcntl(sink->fd, F_DUPFD_CLOEXEC, 0);
		if (hidden->fd < 0)
			ReleaseExternalFD();
		else
			(void) flock(hidden->fd, LOCK_EX | LOCK_NB);
	}
	MemoryContextSwitchTo(outer);
}

void
csv_hidden_make_directory(CsvHidden *hidden, bool makes_parent)
{
	static Oid	ndirectories = 0;
	struct stat st = {0};
	/* a standby has no transaction numbers */
	char	   *tag = RecoveryInProgress() ? psprintf("unload-%d-%u", MyProcPid, ndirectories) :
		csv_hidden_tag(ndirectories);

	ndirectories++;
	hidden->is_directory = true;
	begin(hidden, psprintf("%s/%s", hidden->directory, tag));
	hidden->made_parent = makes_parent && csv_make_directory(AT_FDCWD, hidden->directory) == 0;
	if (makes_parent && !hidden->made_parent && errno != EEXIST)
		csv_fail_on_file("could not create directory \"%s\": %m", hidden->directory, "write");

	/* held until the end of the transaction, since its name may lead elsewhere by then */
	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("too many calls of csv_gpu_unload() in one transaction"),
				 errhint("Use \"partition_by\", or raise max_files_per_process.")));
	if (mkdir(hidden->path, S_IRWXU) == 0)
		hidden->fd = open_hidden(AT_FDCWD, hidden->path, &st);
	if (hidden->fd < 0)
		ReleaseExternalFD();
	hidden->place = (CsvPlace) {st.st_dev, st.st_ino};
	if (hidden->fd < 0 || mkdirat(hidden->fd, CSV_HIDDEN_NEW, S_IRWXU) != 0 ||
		mkdirat(hidden->fd, CSV_HIDDEN_OLD, S_IRWXU) != 0)
		csv_fail_on_file("could not create directory \"%s\": %m", hidden->path, "write");
}

/* after the commit or in an abort: nothing may raise an ERROR */
static void
end(CsvHidden *hidden, bool is_commit)
{
	struct stat st;

	/* then the old files are left as well */
	if (is_commit && hidden->is_directory &&
		fstatat(hidden->fd, CSV_HIDDEN_NEW, &st, AT_SYMLINK_NOFOLLOW) != 0)
		csv_warn_at_end("could not find new files in directory \"%s\": %m", hidden->path);
	else if (!hidden->is_directory || hidden->fd >= 0)
		end_hidden(AT_FDCWD, hidden->fd, hidden->path, is_commit, true);
	if (hidden->fd >= 0)
	{
		close(hidden->fd);
		ReleaseExternalFD();
	}
	if (is_commit)
		(void) fsync_fname_ext(hidden->directory, true, true, csv_level_at_end());
	/* it stays if others have put something into it */
	else if (hidden->made_parent)
		(void) rmdir(hidden->directory);
}

void
csv_hidden_leave(int nest_level, bool is_commit)
{
	/* what came last goes back first */
	for (int i = list_length(csv_hidden_all) - 1; i >= 0; i--)
	{
		CsvHidden  *hidden = list_nth(csv_hidden_all, i);

		if (hidden->nest_level < nest_level)
			return;
		hidden->nest_level--;
		if (is_commit && nest_level > 1)
			continue;
		end(hidden, is_commit);
		csv_hidden_all = list_delete_nth_cell(csv_hidden_all, i);
	}
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
		(void) visit_below(fd, ".", 0, CSV_ERRAND_SIZE, nbytes);
		if (!has_only_files_of_sets(fd))
			return "unknown";
	}
	return find_state(owner, st);
}

void
csv_hidden_settle(const char *directory, bool removes, ReturnSetInfo *set)
{
	DIR		   *dir = AllocateDir(directory);
	int			at = dir != NULL ? dirfd(dir) : -1;
	bool		is_changed = false;
	struct dirent *entry;

	if (dir == NULL && set != NULL)
		csv_fail_on_file("could not open directory \"%s\": %m", directory, "read");
	while (dir != NULL && (entry = ReadDir(dir, directory)) != NULL)
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
			end_hidden(at, fd, path, strcmp(state, "committed") == 0, set != NULL);
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
	if (dir != NULL)
		FreeDir(dir);
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

	csv_begin_function(fcinfo, "strict text boolean -> setof text bigint text");
	directory = text_to_cstring(PG_GETARG_TEXT_PP(0));
	csv_check_role(ROLE_PG_WRITE_SERVER_FILES, "for function csv_gpu_leftovers",
				   "call this function");
	/* a standby does not know which transactions run */
	PreventCommandDuringRecovery("csv_gpu_leftovers()");
	canonicalize_path(directory);
	csv_hidden_settle(directory, PG_GETARG_BOOL(1), (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
