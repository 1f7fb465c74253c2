/*
 * hidden.c
 *		Names of files and directories that wait for the end of their transaction.
 *
 * Only a transaction number on this server's timeline says anything: another server,
 * and a server that was restored to an earlier time, have given the same numbers to
 * other transactions.
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/xid8.h"

#include "compat.h"
#include "output/hidden.h"
#include "table/text.h"

#define CSV_TAG			"csvgpu-"
#define CSV_SUFFIX		".csvgpu"

#define CSV_LEFTOVER_COLUMNS	3

/* in a hidden directory: the files and directories that get their names */
#define CSV_MOVES		"moves"

/* directories in a hidden directory are at most this deep */
#define CSV_MOST_LEVELS	64

typedef enum Fate
{
	FATE_RUNNING,
	FATE_COMMITTED,
	FATE_ABORTED,
	FATE_UNKNOWN
} Fate;

static const char *const fate_names[] = {"running", "committed", "aborted", "unknown"};

/* a hidden name of this server whose transaction has ended */
typedef struct Leftover
{
	char	   *name;			/* in its directory */
	char	   *shown;			/* the name that it gets */
	bool		is_directory;
	int64		nbytes;
	Fate		fate;
} Leftover;

/* ---- reports at the end of a transaction ---- */

int
csv_level_at_end(void)
{
	int			encoding = pg_get_client_encoding();

	return encoding == GetDatabaseEncoding() || encoding == PG_SQL_ASCII ?
		WARNING : LOG_SERVER_ONLY;
}

char *
csv_ascii_filename(const char *path)
{
	StringInfoData text;

	initStringInfo(&text);
	for (; *path != '\0'; path++)
		if (*path >= ' ' && *path <= '~')
			appendStringInfoChar(&text, *path);
		else
			appendStringInfo(&text, "\\x%02x", (unsigned char) *path);
	return text.data;
}

void
csv_warn_at_end(const char *message, const char *path)
{
	int			error = errno;
	char	   *name = csv_ascii_filename(path);

	errno = error;
	ereport(csv_level_at_end(),
			(errcode_for_file_access(),
			 errmsg(message, name)));
}

/* ---- names ---- */

char *
csv_hidden_server_tag(void)
{
	return psprintf(CSV_TAG UINT64_FORMAT "-", GetSystemIdentifier());
}

char *
csv_hidden_tag(Oid oid)
{
	static uint64 logged;
	uint64		xid = U64FromFullTransactionId(GetTopFullTransactionId());
	char	   *tag = psprintf("%s%u-" UINT64_FORMAT "-%u", csv_hidden_server_tag(),
							   GetWALInsertionTimeLine(), xid, oid);

	/* a number that is in no record of the WAL is given again after a crash */
	if (xid != logged)
		XLogFlush(csv_log_message("csv_gpu_fdw", tag));
	logged = xid;
	return tag;
}

char *
csv_hidden_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	int			ndirectory = slash != NULL ? (int) (slash - path) + 1 : 0;

	return psprintf("%.*s.%s" CSV_SUFFIX, ndirectory, path, path + ndirectory);
}

/* the inverse; NULL if the name is not hidden */
static char *
shown_name(const char *name)
{
	size_t		length = strlen(name);
	size_t		nsuffix = strlen(CSV_SUFFIX);

	if (name[0] != '.' || length < nsuffix + 2 ||
		strcmp(name + length - nsuffix, CSV_SUFFIX) != 0)
		return NULL;
	return pnstrdup(name + 1, length - nsuffix - 1);
}

bool
csv_is_hidden_name(const char *name)
{
	return shown_name(name) != NULL;
}

/* reads a number and the byte behind it; false if there is no number */
static bool
read_number(const char **text, char behind, uint64 most, uint64 *number)
{
	char	   *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtou64(*text, &end, 10);
	if (errno != 0 || *number > most || (behind != '\0' && *end != behind))
		return false;
	*text = end + (behind != '\0');
	return true;
}

size_t
csv_hidden_parse(const char *text, CsvHiddenOwner *owner)
{
	const char *at = text + strlen(CSV_TAG);
	uint64		timeline;
	uint64		xid;
	uint64		oid;

	if (strncmp(text, CSV_TAG, strlen(CSV_TAG)) != 0 ||
		!read_number(&at, '-', PG_UINT64_MAX, &owner->system) ||
		!read_number(&at, '-', PG_UINT32_MAX, &timeline) ||
		!read_number(&at, '-', PG_UINT64_MAX, &xid) ||
		!read_number(&at, '\0', PG_UINT32_MAX, &oid))
		return 0;
	owner->timeline = (TimeLineID) timeline;
	owner->xid = FullTransactionIdFromU64(xid);
	owner->oid = (Oid) oid;
	return (size_t) (at - text);
}

/* ---- the fate of a transaction ---- */

static Fate
find_fate(const CsvHiddenOwner *owner)
{
	LOCAL_FCINFO(fcinfo, 1);
	char	   *status;
	Datum		datum;

	/* pg_xact_status() raises an ERROR for numbers that are still to come */
	if (owner->timeline != GetWALInsertionTimeLine() ||
		!FullTransactionIdPrecedes(owner->xid, ReadNextFullTransactionId()) ||
		!FullTransactionIdIsNormal(owner->xid))
		return FATE_UNKNOWN;
	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = FullTransactionIdGetDatum(owner->xid);
	fcinfo->args[0].isnull = false;
	datum = pg_xact_status(fcinfo);
	if (fcinfo->isnull)
		return FATE_UNKNOWN;
	status = TextDatumGetCString(datum);
	return strcmp(status, "committed") == 0 ? FATE_COMMITTED :
		strcmp(status, "aborted") == 0 ? FATE_ABORTED : FATE_RUNNING;
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

/* the next entry, except "." and ".."; NULL at the end */
static const char *
next_name(DIR *dir)
{
	struct dirent *entry;

	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return entry->d_name;
	return NULL;
}

/* the bytes of all files in a directory */
static int64
directory_bytes(int at, const char *directory, int level)
{
	DIR		   *dir = level < CSV_MOST_LEVELS ? open_directory(at, directory) : NULL;
	const char *name;
	struct stat st;
	int64		nbytes = 0;

	if (dir == NULL)
		return 0;
	while ((name = next_name(dir)) != NULL)
		if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			nbytes += S_ISDIR(st.st_mode) ?
				directory_bytes(dirfd(dir), name, level + 1) : st.st_size;
	closedir(dir);
	return nbytes;
}

/* remove all that is in a directory; returns 0 or errno */
static int
remove_contents(int at, const char *directory, int level)
{
	DIR		   *dir = level < CSV_MOST_LEVELS ? open_directory(at, directory) : NULL;
	const char *name;
	int			error = 0;

	if (dir == NULL)
		return level < CSV_MOST_LEVELS ? errno : ENAMETOOLONG;
	while ((name = next_name(dir)) != NULL)
	{
		int			failure = unlinkat(dirfd(dir), name, 0) == 0 ? 0 : errno;

		if (failure == EISDIR || failure == EPERM)
		{
			failure = remove_contents(dirfd(dir), name, level + 1);
			if (failure == 0 && unlinkat(dirfd(dir), name, AT_REMOVEDIR) != 0)
				failure = errno;
		}
		if (failure != 0 && failure != ENOENT)
			error = failure;
	}
	closedir(dir);
	return error;
}

/* rename, unless there is a file of the new name; returns 0 or errno */
static int
move(int at, const char *from, const char *to)
{
	struct stat st;

#ifdef RENAME_NOREPLACE
	if (renameat2(at, from, at, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* not every file system can do that */
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
#endif
	if (fstatat(at, from, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
	{
		if (fstatat(at, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return EEXIST;
		return renameat(at, from, at, to) != 0 ? errno : 0;
	}
	if (linkat(at, from, at, to, 0) != 0)
		return errno;
	(void) unlinkat(at, from, 0);
	return 0;
}

/* give a file its name; returns 0 or errno */
static int
show(int at, const char *hidden, const char *shown)
{
	struct stat st;
	int			error = move(at, hidden, shown);

	/* another session may have given it its name */
	if (error == ENOENT && fstatat(at, shown, &st, AT_SYMLINK_NOFOLLOW) == 0)
		error = 0;
	return error;
}

int
csv_hidden_show(const char *path)
{
	char	   *hidden = csv_hidden_path(path);
	int			error = show(AT_FDCWD, hidden, path);

	pfree(hidden);
	return error;
}

/* ---- hidden directories ---- */

static bool
is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() &&
		(S_ISREG(st->st_mode) ||
		 (S_ISDIR(st->st_mode) && (st->st_mode & (S_IRWXG | S_IRWXO)) == 0));
}

int
csv_hidden_open(int at, const char *path)
{
	int			fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int			error = 0;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0)
		error = errno;
	else if (!is_ours(&st))
		error = ESTALE;
	/* not every file system has locks of directories */
	else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		error = EWOULDBLOCK;
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int
csv_hidden_make(const char *path)
{
	int			fd = mkdir(path, S_IRWXU) == 0 ? csv_hidden_open(AT_FDCWD, path) : -1;
	int			error;

	if (fd < 0 || (mkdirat(fd, CSV_HIDDEN_NEW, S_IRWXU) == 0 &&
				   mkdirat(fd, CSV_HIDDEN_OLD, S_IRWXU) == 0))
		return fd;
	error = errno;
	(void) csv_hidden_remove(fd, path);
	close(fd);
	errno = error;
	return -1;
}

int
csv_hidden_move(int hidden, const char *from, const char *to)
{
	return move(hidden, from, to);
}

/* the names in a directory, NIL if there are none; false: errno is set */
static bool
list_names(int hidden, const char *directory, List **names)
{
	DIR		   *dir = open_directory(hidden, directory);
	const char *name;

	*names = NIL;
	if (dir == NULL)
		return errno == ENOENT;
	while ((name = next_name(dir)) != NULL)
		*names = lappend(*names, pstrdup(name));
	closedir(dir);
	return true;
}

/* what tells a file from others, followed by a blank; NULL: it is not there */
static char *
identity(int hidden, const char *path)
{
	struct stat st;

	if (fstatat(hidden, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return NULL;
	/* a rename may change the time of a directory */
	return psprintf("%llu-%lld ", (unsigned long long) st.st_ino,
					S_ISDIR(st.st_mode) ? 0 : (long long) st.st_mtime);
}

List *
csv_hidden_begin_moves(int hidden, const char *path)
{
	StringInfoData text;
	List	   *names;
	ListCell   *cell;
	bool		is_good = list_names(hidden, CSV_HIDDEN_NEW, &names);
	int			fd = -1;
	int			error;

	initStringInfo(&text);
	foreach(cell, names)
	{
		char	   *name = lfirst(cell);
		char	   *file = identity(hidden, psprintf(CSV_HIDDEN_NEW "/%s", name));

		appendStringInfo(&text, "%s%s", file != NULL ? file : "", name);
		appendStringInfoChar(&text, '\0');
	}
	if (is_good)
		fd = openat(hidden, CSV_MOVES, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					S_IRUSR | S_IWUSR);
	if (fd >= 0)
	{
		/* the rest of the disk may be too small */
		errno = ENOSPC;
		is_good = write(fd, text.data, (size_t) text.len) == text.len &&
			pg_fsync(fd) == 0 && pg_fsync(hidden) == 0;
		error = errno;
		close(fd);
		errno = error;
	}
	if (fd < 0 || !is_good)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write to file \"%s\": %m",
						psprintf("%s/" CSV_MOVES, path))));
	return names;
}

/* the file of csv_hidden_begin_moves(), which ends with \0; NULL: errno is set */
static char *
read_moves(int hidden, size_t *nbytes)
{
	int			fd = openat(hidden, CSV_MOVES, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char	   *text = NULL;
	struct stat st;

	*nbytes = 0;
	if (fd < 0)
		return errno == ENOENT ? pstrdup("") : NULL;
	if (fstat(fd, &st) == 0 && st.st_size < MaxAllocSize)
	{
		text = palloc0((size_t) st.st_size + 1);
		*nbytes = (size_t) st.st_size;
		if (read(fd, text, *nbytes) != st.st_size)
			text = NULL;
	}
	close(fd);
	return text;
}

/* the report of a file that cannot be moved; returns false */
static bool
stays(const char *hidden, const char *name, bool is_loud)
{
	if (is_loud)
		csv_warn_at_end("could not rename file \"%s\": %m",
						psprintf("%s/%s", hidden, name));
	return false;
}

/* what has been moved up goes back */
static bool
move_back(int hidden, const char *path, bool is_loud)
{
	size_t		nbytes;
	char	   *text = read_moves(hidden, &nbytes);
	bool		is_good = true;

	if (text == NULL)
		return stays(path, CSV_MOVES, is_loud);
	for (const char *at = text; at < text + nbytes; at += strlen(at) + 1)
	{
		const char *name = strchr(at, ' ');
		char	   *up = name != NULL ? psprintf("../%s", name + 1) : NULL;
		char	   *file = up != NULL ? identity(hidden, up) : NULL;

		if (file == NULL || strncmp(file, at, strlen(file)) != 0)
			continue;
		errno = move(hidden, up, psprintf(CSV_HIDDEN_NEW "/%s", name + 1));
		if (errno != 0 && errno != ENOENT)
			is_good = stays(path, up, is_loud);
	}
	return is_good;
}

bool
csv_hidden_undo(int hidden, const char *path, bool is_loud)
{
	List	   *names;
	ListCell   *cell;
	struct stat st;
	bool		is_good = move_back(hidden, path, is_loud);

	if (!list_names(hidden, CSV_HIDDEN_OLD, &names))
		return stays(path, CSV_HIDDEN_OLD, is_loud);
	/* all or none, otherwise files of two sets would be mixed */
	foreach(cell, names)
		if (fstatat(hidden, psprintf("../%s", (char *) lfirst(cell)), &st,
					AT_SYMLINK_NOFOLLOW) == 0)
		{
			errno = EEXIST;
			return stays(path, psprintf(CSV_HIDDEN_OLD "/%s", (char *) lfirst(cell)),
						 is_loud);
		}
	foreach(cell, names)
	{
		char	   *old = psprintf(CSV_HIDDEN_OLD "/%s", (char *) lfirst(cell));

		errno = move(hidden, old, psprintf("../%s", (char *) lfirst(cell)));
		if (errno != 0)
			is_good = stays(path, old, is_loud);
	}
	return is_good;
}

int
csv_hidden_remove(int hidden, const char *path)
{
	int			error = remove_contents(hidden, ".", 0);

	if (error == 0 &&
		unlinkat(hidden, psprintf("../%s", strrchr(path, '/') + 1), AT_REMOVEDIR) != 0)
		error = errno;
	return error;
}

/* ---- leftovers ---- */

/* NULL: it is not hidden, not of this server, or its transaction runs */
static Leftover *
examine(int at, const char *name)
{
	char	   *shown = shown_name(name);
	const char *tag = shown != NULL ? strstr(shown, CSV_TAG) : NULL;
	CsvHiddenOwner owner;
	Leftover   *leftover;
	struct stat st;
	Fate		fate;
	int			fd;

	while (tag != NULL && csv_hidden_parse(tag, &owner) == 0)
		tag = strstr(tag + 1, CSV_TAG);
	if (tag == NULL || owner.system != GetSystemIdentifier())
		return NULL;
	fate = find_fate(&owner);
	/* its transaction may just have given it its name */
	if (fate == FATE_RUNNING || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		!is_ours(&st))
		return NULL;
	if (S_ISDIR(st.st_mode))
	{
		/* its session may just be settling it */
		fd = csv_hidden_open(at, name);
		if (fd < 0 && errno == EWOULDBLOCK)
			return NULL;
		if (fd >= 0)
			close(fd);
	}
	leftover = palloc(sizeof(Leftover));
	leftover->name = pstrdup(name);
	leftover->shown = shown;
	leftover->is_directory = S_ISDIR(st.st_mode);
	leftover->nbytes = leftover->is_directory ? directory_bytes(at, name, 0) :
		st.st_size;
	leftover->fate = fate;
	return leftover;
}

/* a List of Leftover */
static List *
list_leftovers(DIR *dir, const char *directory)
{
	struct dirent *entry;
	List	   *leftovers = NIL;

	while ((entry = ReadDir(dir, directory)) != NULL)
	{
		Leftover   *leftover = entry->d_name[0] == '.' ?
			examine(dirfd(dir), entry->d_name) : NULL;

		CHECK_FOR_INTERRUPTS();
		if (leftover != NULL)
			leftovers = lappend(leftovers, leftover);
	}
	return leftovers;
}

/* what fails is reported if is_loud */
static void
settle(int at, const char *directory, const Leftover *leftover, bool is_loud)
{
	char	   *path = psprintf("%s/%s", directory, leftover->name);
	bool		is_committed = leftover->fate == FATE_COMMITTED;
	int			error = 0;

	if (leftover->fate == FATE_UNKNOWN)
		return;
	if (leftover->is_directory)
	{
		int			fd = csv_hidden_open(at, leftover->name);

		if (fd < 0)
			error = errno;
		else if (is_committed || csv_hidden_undo(fd, path, is_loud))
			error = csv_hidden_remove(fd, path);
		if (fd >= 0)
			close(fd);
	}
	else if (is_committed)
		error = show(at, leftover->name, leftover->shown);
	else if (unlinkat(at, leftover->name, 0) != 0)
		error = errno;
	if (!is_loud || error == 0 || (error == ENOENT && !is_committed) ||
		error == EWOULDBLOCK)
		return;
	errno = error;
	csv_warn_at_end(is_committed && !leftover->is_directory ?
					"could not rename file \"%s\": %m" :
					"could not remove file \"%s\": %m", path);
}

static void
settle_all(int at, const char *directory, const List *leftovers, bool is_loud)
{
	ListCell   *cell;

	foreach(cell, leftovers)
		settle(at, directory, lfirst(cell), is_loud);
	if (leftovers != NIL)
		(void) pg_fsync(at);
}

void
csv_hidden_settle(const char *directory)
{
	DIR		   *dir = AllocateDir(directory);

	if (dir == NULL)
		return;
	settle_all(dirfd(dir), directory, list_leftovers(dir, directory), false);
	FreeDir(dir);
}

/* ---- csv_gpu_leftovers() ---- */

PG_FUNCTION_INFO_V1(csv_gpu_leftovers);

/*
 * csv_gpu_leftovers(directory text, remove boolean): a row for each hidden name of this
 * server whose transaction has ended.  remove: they are settled afterwards.
 */
Datum
csv_gpu_leftovers(PG_FUNCTION_ARGS)
{
	char	   *directory = text_to_cstring(PG_GETARG_TEXT_PP(0));
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *leftovers;
	ListCell   *cell;
	DIR		   *dir;

	if (!has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", "csv_gpu_leftovers"),
				 errdetail("Only roles with privileges of the \"%s\" role may call this function.",
						   "pg_write_server_files")));
	/* a standby does not know which transactions run */
	PreventCommandDuringRecovery("csv_gpu_leftovers()");
	canonicalize_path(directory);
	InitMaterializedSRF(fcinfo, 0);
	dir = AllocateDir(directory);
	leftovers = list_leftovers(dir, directory);
	foreach(cell, leftovers)
	{
		const Leftover *leftover = lfirst(cell);
		Datum		values[CSV_LEFTOVER_COLUMNS] = {
			CStringGetTextDatum(csv_shown_filename(psprintf("%s/%s", directory,
															leftover->name))),
			Int64GetDatum(leftover->nbytes),
			CStringGetTextDatum(fate_names[leftover->fate])
		};
		bool		nulls[CSV_LEFTOVER_COLUMNS] = {false};

		tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
	}
	if (PG_GETARG_BOOL(1))
		settle_all(dirfd(dir), directory, leftovers, true);
	FreeDir(dir);
	return (Datum) 0;
}
