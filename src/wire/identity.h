/*
 * identity.h
 *		What tells one state of a file from another.
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
	int64_t		changed;		/* st_ctim, in nanoseconds: set by any write, and
								 * by setting other times */
	int64_t		modified;		/* st_mtim, likewise: a file keeps it where it is
								 * moved, and its rights may change */
} CsvFileIdentity;

extern CsvFileIdentity csv_file_identity(const struct stat *st);
extern bool csv_same_file(const CsvFileIdentity *a, const CsvFileIdentity *b);

/*
 * Is this time, one of those above, so old that the next write to the file will
 * show in it?
 */
extern bool csv_has_settled(int64_t time);

#endif							/* CSV_IDENTITY_H */
