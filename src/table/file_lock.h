/*
 * file_lock.h
 *		Locks on files that sessions append to.
 *
 * A transaction appends its rows when it commits, and an abort in that moment takes them
 * off again.  So a scan finds out the file's size under a lock.
 */
#ifndef CSV_FILE_LOCK_H
#define CSV_FILE_LOCK_H

#include "storage/lock.h"

/*
 * The number of a file's lock in all databases.  The file need not exist.  Two names of
 * a file have one lock if one of them is a symbolic link.
 */
extern uint64 csv_file_lock_number(const char *filename);

/* wait for a lock: ShareLock or ExclusiveLock, to the end of the transaction */
extern void csv_file_lock(uint64 number, LOCKMODE mode);

/* release it earlier */
extern void csv_file_unlock(uint64 number, LOCKMODE mode);

#endif							/* CSV_FILE_LOCK_H */
