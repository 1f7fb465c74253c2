/*
 * hidden.c
 *		Names of files and directories that wait for the end of their transaction.
 *
 * Only a transaction number on this server's timeline says anything: another server,
 * and a server that was restored to an earlier time, have given the same numbers to
 * other transactions.
 */
#include "postgres.h"

#include <fcntl.h>
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
	char	   *path;
	char	   *shown;			/* the name that it gets, as a path */
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

/* ---- leftovers ---- */

/* the bytes of all files in a directory */
static int64
directory_bytes(const char *path)
{
	DIR		   *dir = AllocateDir(path);
	struct dirent *entry;
	int64		nbytes = 0;

	if (dir == NULL)
		return 0;
	while ((entry = ReadDirExtended(dir, path, DEBUG1)) != NULL)
	{
		char	   *name;
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		name = psprintf("%s/%s", path, entry->d_name);
		if (lstat(name, &st) == 0)
			nbytes += S_ISDIR(st.st_mode) ? directory_bytes(name) : st.st_size;
		pfree(name);
	}
	FreeDir(dir);
	return nbytes;
}

/* NULL: it is not hidden, not of this server, or its transaction runs */
static Leftover *
examine(const char *directory, const char *name)
{
	char	   *shown = shown_name(name);
	const char *tag = shown != NULL ? strstr(shown, CSV_TAG) : NULL;
	CsvHiddenOwner owner;
	Leftover   *leftover;
	struct stat st;
	Fate		fate;

	while (tag != NULL && csv_hidden_parse(tag, &owner) == 0)
		tag = strstr(tag + 1, CSV_TAG);
	if (tag == NULL || owner.system != GetSystemIdentifier())
		return NULL;
	fate = find_fate(&owner);
	if (fate == FATE_RUNNING)
		return NULL;
	leftover = palloc(sizeof(Leftover));
	leftover->path = psprintf("%s/%s", directory, name);
	leftover->shown = psprintf("%s/%s", directory, shown);
	/* its transaction may just have given it its name */
	if (lstat(leftover->path, &st) != 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return NULL;
	leftover->is_directory = S_ISDIR(st.st_mode);
	leftover->nbytes = leftover->is_directory ? directory_bytes(leftover->path) :
		st.st_size;
	leftover->fate = fate;
	return leftover;
}

/* a List of Leftover; quiet: empty if the directory cannot be read */
static List *
list_leftovers(const char *directory, bool quiet)
{
	DIR		   *dir = AllocateDir(directory);
	struct dirent *entry;
	List	   *leftovers = NIL;

	if (dir == NULL && quiet)
		return NIL;
	while ((entry = ReadDir(dir, directory)) != NULL)
	{
		Leftover   *leftover = entry->d_name[0] == '.' ?
			examine(directory, entry->d_name) : NULL;

		CHECK_FOR_INTERRUPTS();
		if (leftover != NULL)
			leftovers = lappend(leftovers, leftover);
	}
	FreeDir(dir);
	return leftovers;
}

int
csv_hidden_move(const char *from, const char *to)
{
	struct stat st;

#ifdef RENAME_NOREPLACE
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* not every file system can do that */
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
#endif
	if (lstat(from, &st) == 0 && S_ISDIR(st.st_mode))
	{
		if (lstat(to, &st) == 0)
			return EEXIST;
		return rename(from, to) != 0 ? errno : 0;
	}
	if (link(from, to) != 0)
		return errno;
	(void) unlink(from);
	return 0;
}

int
csv_hidden_show(const char *path)
{
	char	   *hidden = csv_hidden_path(path);
	struct stat st;
	int			error = csv_hidden_move(hidden, path);

	/* another session may have given it its name */
	if (error == ENOENT && lstat(path, &st) == 0)
		error = 0;
	pfree(hidden);
	return error;
}

bool
csv_hidden_put_back(const char *hidden)
{
	char	   *old = psprintf("%s/" CSV_HIDDEN_OLD, hidden);
	int			ndirectory = (int) (strrchr(hidden, '/') - hidden);
	DIR		   *dir = AllocateDir(old);
	struct dirent *entry;
	bool		is_good = true;

	/* nothing was set aside */
	if (dir == NULL && errno == ENOENT)
		return true;
	while ((entry = ReadDirExtended(dir, old, WARNING)) != NULL)
	{
		char	   *from = psprintf("%s/%s", old, entry->d_name);
		char	   *to = psprintf("%.*s/%s", ndirectory, hidden, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			(errno = csv_hidden_move(from, to)) == 0)
			continue;
		is_good = false;
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("could not rename file \"%s\" to \"%s\": %m",
						csv_shown_filename(from), csv_shown_filename(to))));
	}
	if (dir != NULL)
		FreeDir(dir);
	return is_good && dir != NULL;
}

static void
settle(const Leftover *leftover)
{
	int			error = 0;

	if (leftover->fate == FATE_UNKNOWN)
		return;
	if (leftover->is_directory)
	{
		if (leftover->fate == FATE_COMMITTED || csv_hidden_put_back(leftover->path))
			(void) rmtree(leftover->path, true);
		return;
	}
	if (leftover->fate == FATE_COMMITTED)
		error = csv_hidden_show(leftover->shown);
	else if (unlink(leftover->path) != 0 && errno != ENOENT)
		error = errno;
	if (error == 0)
		return;
	errno = error;
	ereport(WARNING,
			(errcode_for_file_access(),
			 leftover->fate == FATE_COMMITTED ?
			 errmsg("could not rename file \"%s\" to \"%s\": %m",
					csv_shown_filename(leftover->path),
					csv_shown_filename(leftover->shown)) :
			 errmsg("could not remove file \"%s\": %m",
					csv_shown_filename(leftover->path))));
}

static void
settle_all(const char *directory, const List *leftovers)
{
	ListCell   *cell;

	foreach(cell, leftovers)
		settle(lfirst(cell));
	if (leftovers != NIL)
		(void) fsync_fname_ext(directory, true, true, WARNING);
}

void
csv_hidden_settle(const char *directory)
{
	settle_all(directory, list_leftovers(directory, true));
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
	leftovers = list_leftovers(directory, false);
	foreach(cell, leftovers)
	{
		const Leftover *leftover = lfirst(cell);
		Datum		values[CSV_LEFTOVER_COLUMNS] = {
			CStringGetTextDatum(csv_shown_filename(leftover->path)),
			Int64GetDatum(leftover->nbytes),
			CStringGetTextDatum(fate_names[leftover->fate])
		};
		bool		nulls[CSV_LEFTOVER_COLUMNS] = {false};

		tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
	}
	if (PG_GETARG_BOOL(1))
		settle_all(directory, leftovers);
	return (Datum) 0;
}
