/*
 * file_lock.c
 *		Locks on files that sessions append to.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "table/file_lock.h"
#include "table/text.h"

/* the functions pg_advisory_lock() and so on use 1 and 2 */
#define CSV_ADVISORY_CLASS	17217

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
