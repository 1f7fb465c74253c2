/*
 * server.c
 *		The tests' settings: csv_gpu_test.NAME.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <unistd.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "batches/inlet.h"
#include "batches/resident.h"
#include "inject.h"
#include "table/marks.h"
#include "wire/identity.h"

extern void __real_MarkGUCPrefixReserved(const char *prefix);
extern void __wrap_MarkGUCPrefixReserved(const char *prefix);
extern bool __real_csv_has_settled(int64_t time);
extern bool __wrap_csv_has_settled(int64_t time);

extern int	__real_compute_parallel_worker(RelOptInfo *rel, double heap_pages,
										   double index_pages, int max_workers);
extern int	__wrap_compute_parallel_worker(RelOptInfo *rel, double heap_pages,
										   double index_pages, int max_workers);

extern uint64 __real_csv_piece_bytes(uint64 chunk_bytes);
extern uint64 __wrap_csv_piece_bytes(uint64 chunk_bytes);

extern bool __real_csv_resident_find(CsvResident *resident, const CsvSource *source,
									 const CsvFilePlace *from, uint64 set, bool *may_keep);
extern bool __wrap_csv_resident_find(CsvResident *resident, const CsvSource *source,
									 const CsvFilePlace *from, uint64 set, bool *may_keep);

extern bool __real_csv_codec_load(CsvCodec *codec, int fd, off_t offset, size_t nbytes);
extern bool __wrap_csv_codec_load(CsvCodec *codec, int fd, off_t offset, size_t nbytes);

extern CsvInlet *__real_csv_inlet_open(const void *message, size_t nbytes,
									   int request);
extern CsvInlet *__wrap_csv_inlet_open(const void *message, size_t nbytes,
									   int request);

extern void *__real_dlopen(const char *name, int flags);
extern void *__wrap_dlopen(const char *name, int flags);

static CsvInjected injected;
static double file_age;
static bool small_pieces;
static int	parallel_workers;
static int	lost_sets;
static char *missing_library;
static int	permission_checks;
static int	marks_used;
static bool refuse_permissions;
static ExecutorCheckPerms_hook_type next_check;

#if PG_VERSION_NUM >= 160000
#define RELATION_PERMISSIONS	RTEPermissionInfo
#define CHECK_ARGUMENTS			List *rtable, List *relations, bool ereport_on_violation
#define CALL_NEXT_CHECK()		next_check(rtable, relations, ereport_on_violation)
#else
#define RELATION_PERMISSIONS	RangeTblEntry
#define CHECK_ARGUMENTS			List *relations, bool ereport_on_violation
#define CALL_NEXT_CHECK()		next_check(relations, ereport_on_violation)
#endif

/* counts what an auditing library would record: each relation with its privileges */
static bool
check_permissions(CHECK_ARGUMENTS)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		RELATION_PERMISSIONS *relation = lfirst(cell);

		if (relation->requiredPerms == 0)
			continue;
		permission_checks++;
		if (refuse_permissions)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("a library refuses access to relation %u", relation->relid)));
	}
	return next_check == NULL || CALL_NEXT_CHECK();
}

/* the last that the extension does when it is loaded */
void
__wrap_MarkGUCPrefixReserved(const char *prefix)
{
	DefineCustomIntVariable("csv_gpu_test.gpu_fault",
							"Makes the GPU fail in the n-th chunk of a scan.",
							"Positive: a fault in a kernel; negative: no memory; 0: never.",
							&injected.gpu_fault, 0, -1000000, 1000000,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_test.gpu_groups",
							"Keeps groups on the GPU from so many of a chunk on.",
							"0: from where it is worth it.",
							&injected.gpu_groups, 0, 0, 1000000,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("csv_gpu_test.file_age",
							 "Makes files so many seconds older.",
							 "So tests need not wait until a file has settled.",
							 &file_age, 0, 0, 1000,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("csv_gpu_test.small_pieces",
							 "Shares files in pieces of chunk_size, however small.",
							 NULL,
							 &small_pieces, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_test.parallel_workers",
							"Plans so many workers for a scan, whatever its size.",
							"0: as many as its size is worth.",
							&parallel_workers, 0, 0, 1000,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_test.lost_sets",
							"Does not find resident columns at every n-th search.",
							"0: finds all.",
							&lost_sets, 0, 0, 1000,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("csv_gpu_test.missing_library",
							   "Libraries whose names begin so are not found.",
							   "Empty: all are found.",
							   &missing_library, "",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_test.permission_checks",
							"Counts relations that ExecutorCheckPerms_hook has seen.",
							"SET it to 0, and SHOW it later.",
							&permission_checks, 0, 0, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_test.mark_bytes",
							"Bytes between marks in members of gzip.",
							NULL,
							&csv_mark_bytes, csv_mark_bytes, 1, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_test.marks_used",
							"Counts marks at which threads have begun.",
							"SET it to 0, and SHOW it later.",
							&marks_used, 0, 0, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("csv_gpu_test.refuse_permissions",
							 "Has ExecutorCheckPerms_hook refuse each relation.",
							 NULL,
							 &refuse_permissions, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	next_check = ExecutorCheckPerms_hook;
	ExecutorCheckPerms_hook = check_permissions;
	__real_MarkGUCPrefixReserved(prefix);
}

void *
__wrap_dlopen(const char *name, int flags)
{
	bool		is_missing = missing_library[0] != '\0' &&
		strncmp(name, missing_library, strlen(missing_library)) == 0;

	return __real_dlopen(is_missing ? "missing/library" : name, flags);
}

int
__wrap_compute_parallel_worker(RelOptInfo *rel, double heap_pages,
							   double index_pages, int max_workers)
{
	return parallel_workers > 0 ? Min(parallel_workers, max_workers) :
		__real_compute_parallel_worker(rel, heap_pages, index_pages,
									   max_workers);
}

bool
__wrap_csv_has_settled(int64_t time)
{
	return __real_csv_has_settled(time - (int64_t) (file_age * 1e9));
}

bool
__wrap_csv_resident_find(CsvResident *resident, const CsvSource *source,
						 const CsvFilePlace *from, uint64 set, bool *may_keep)
{
	static int	nsearches = 0;

	*may_keep = false;
	return (lost_sets == 0 || (MyProcPid + ++nsearches) % lost_sets != 0) &&
		__real_csv_resident_find(resident, source, from, set, may_keep);
}

bool
__wrap_csv_codec_load(CsvCodec *codec, int fd, off_t offset, size_t nbytes)
{
	__atomic_fetch_add(&marks_used, 1, __ATOMIC_RELAXED);
	return __real_csv_codec_load(codec, fd, offset, nbytes);
}

uint64
__wrap_csv_piece_bytes(uint64 chunk_bytes)
{
	return small_pieces ? chunk_bytes : __real_csv_piece_bytes(chunk_bytes);
}

/* ---- what the program is to do to this session's scans ---- */

static void
forget_injected(int code, Datum arg)
{
	char		path[64];

	snprintf(path, sizeof(path), CSV_INJECTED_FILE, MyProcPid);
	(void) unlink(path);
}

static void
write_injected(void)
{
	static bool is_first = true;
	char		path[64];
	FILE	   *file;

	if (is_first && injected.gpu_fault == 0 && injected.gpu_groups == 0)
		return;
	if (is_first)
		on_proc_exit(forget_injected, (Datum) 0);
	is_first = false;
	snprintf(path, sizeof(path), CSV_INJECTED_FILE, MyProcPid);
	file = AllocateFile(path, "w");
	if (file == NULL)
		elog(ERROR, "could not create \"%s\": %m", path);
	fprintf(file, "%d %d\n", injected.gpu_fault, injected.gpu_groups);
	FreeFile(file);
}

CsvInlet *
__wrap_csv_inlet_open(const void *message, size_t nbytes, int request)
{
	write_injected();
	return __real_csv_inlet_open(message, nbytes, request);
}
