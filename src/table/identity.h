/*
 * identity.h
 *		What tells one state of a file from another.
 */
#ifndef CSV_IDENTITY_H
#define CSV_IDENTITY_H

#include <sys/stat.h>

typedef struct CsvFileIdentity
{
	uint64_t	device;
	uint64_t	inode;
	int64_t		size;
	int64_t		changed_seconds;	/* st_ctim: set by any write, and by */
	int64_t		changed_nanoseconds;	/* setting other times */
} CsvFileIdentity;

extern CsvFileIdentity csv_file_identity(const struct stat *st);
extern bool csv_same_file(const CsvFileIdentity *a, const CsvFileIdentity *b);

/* is it so old that the next write to the file will show? */
extern bool csv_file_has_settled(const CsvFileIdentity *file);

#endif							/* CSV_IDENTITY_H */
