/*
 * identity.c
 *		What tells one state of a file from another.
 */
#include "postgres.h"

#include <time.h>

#include "table/identity.h"

/* a file must not have changed for this long before it is read */
#define CSV_SETTLED_NANOSECONDS	INT64CONST(1000000000)

CsvFileIdentity
csv_file_identity(const struct stat *st)
{
	CsvFileIdentity identity;

	identity.device = (uint64_t) st->st_dev;
	identity.inode = (uint64_t) st->st_ino;
	identity.size = (int64_t) st->st_size;
	identity.changed_seconds = (int64_t) st->st_ctim.tv_sec;
	identity.changed_nanoseconds = (int64_t) st->st_ctim.tv_nsec;
	return identity;
}

bool
csv_same_file(const CsvFileIdentity *a, const CsvFileIdentity *b)
{
	return a->device == b->device && a->inode == b->inode &&
		a->size == b->size && a->changed_seconds == b->changed_seconds &&
		a->changed_nanoseconds == b->changed_nanoseconds;
}

/*
 * A write shows in the change time only if the clock has moved on since the
 * last one, and clocks of file systems are coarse: a file that was just written
 * may be written again without a trace.  One of the future is as doubtful.
 */
bool
csv_file_has_settled(const CsvFileIdentity *file)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ((int64) now.tv_sec - file->changed_seconds) * INT64CONST(1000000000) +
		now.tv_nsec - file->changed_nanoseconds > CSV_SETTLED_NANOSECONDS;
}
