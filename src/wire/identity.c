/*
 * identity.c
 *		Tells different states of a file apart.
 */
#include <time.h>

#include "identity.h"

#define NANOSECONDS_PER_SECOND	INT64_C(1000000000)

/* a file must not have changed for this long before it is read */
#define SETTLED_NANOSECONDS	NANOSECONDS_PER_SECOND

static int64_t
nanoseconds(const struct timespec *time)
{
	return (int64_t) time->tv_sec * NANOSECONDS_PER_SECOND + time->tv_nsec;
}

CsvFileIdentity
csv_file_identity(const struct stat *st)
{
	CsvFileIdentity identity;

	identity.device = (uint64_t) st->st_dev;
	identity.inode = (uint64_t) st->st_ino;
	identity.size = (int64_t) st->st_size;
	identity.changed = nanoseconds(&st->st_ctim);
	identity.modified = nanoseconds(&st->st_mtim);
	return identity;
}

bool
csv_same_file(const CsvFileIdentity *a, const CsvFileIdentity *b)
{
	return a->device == b->device && a->inode == b->inode &&
		a->size == b->size && a->changed == b->changed;
}

/*
 * A write changes a file's times only if the clock has moved on since the last write,
 * and file systems have coarse clocks: a file that was just written may be written
 * again without a trace.  A time in the future is just as doubtful.
 */
bool
csv_has_settled(int64_t time)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return nanoseconds(&now) - time >= SETTLED_NANOSECONDS;
}

bool
csv_has_rested(int64_t modified, int64_t seconds)
{
	return csv_has_settled(modified + seconds * NANOSECONDS_PER_SECOND -
						   SETTLED_NANOSECONDS);
}
