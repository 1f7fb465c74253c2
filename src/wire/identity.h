/*
 * identity.h
 *		Tells different states of a file apart.
 */
#ifndef CSV_IDENTITY_H
#define CSV_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct CsvFileIdentity
{
	uint64_t	device;
	uint64_t	inode;
	int64_t		size;
	int64_t		changed;		/* st_ctim, in nanoseconds; every write sets it, and so
								 * does setting other times */
	int64_t		modified;		/* st_mtim, in nanoseconds; stays the same when the
								 * file is moved, or its rights change */
} CsvFileIdentity;

extern CsvFileIdentity csv_file_identity(const struct stat *st);
extern bool csv_same_file(const CsvFileIdentity *a, const CsvFileIdentity *b);

/*
 * Is a time above so old that the next write to the file will change it?
 */
extern bool csv_has_settled(int64_t time);

/* a file that is not written to for so long is probably complete */
#define CSV_REST_SECONDS	60

/* has a file that was modified at this time not been written to for so long? */
extern bool csv_has_rested(int64_t modified, int64_t seconds);

#endif							/* CSV_IDENTITY_H */
