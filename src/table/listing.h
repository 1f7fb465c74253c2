/*
 * listing.h
 *		The files of a name, which may be a pattern: their list, sizes, identities
 *		and locks.
 */
#ifndef CSV_LISTING_H
#define CSV_LISTING_H

#include "storage/lock.h"

#include "wire/identity.h"
#include "table/option.h"

/*
 * Is the table's file name a pattern?  Not if a file has exactly that name, except in
 * jobs.
 */
extern bool csv_is_pattern(const CsvTable *table);

/*
 * May the file be read under the table's name or pattern?  Reads no directories, which
 * may hold many files.
 */
extern bool csv_matches_pattern(const CsvTable *table, const char *filename);

/*
 * For ereport(): a hint about a path that leads to no file.  takes_program: the caller
 * knows the option "program".
 */
extern int	csv_hint_missing(const char *path, bool takes_program);

/* about errors, errno, of a path that cannot be opened to "read" or "write" */
extern int	csv_hint_access(int error, const char *path, const char *right,
							bool takes_program);

/* ERROR with errno and this hint; the message has the path, as text, in place of "%s" */
extern void csv_fail_on_file(const char *message, const char *path, const char *right)
	__attribute__((noreturn));

/* reads an open file; returns the bytes, fewer than nbytes at its end */
extern size_t csv_read_at(int file, const char *name, uint8 *bytes,
						  size_t nbytes, uint64 offset);

/*
 * For a job: reads the name as a pattern even if a file has exactly that name, and
 * reports such a file with a message of level elevel.
 */
extern void csv_prefer_pattern(CsvTable *table, int elevel);

/*
 * Lists the files of the table's name, sorted by the bytes of their names, so that the
 * order of rows does not depend on a locale.  Returns false if the name is a pattern
 * that matches nothing or, if quiet, if that cannot be found out.  Directories match
 * no pattern.
 *
 * A name that is not a pattern is returned as it is, whether or not the file exists.
 * Allocates in the current memory context.
 */
extern bool csv_expand_pattern(const CsvTable *table, bool quiet, char ***names,
							   int *nnames);

/*
 * The files listed for the table; if none were listed, csv_expand_pattern().  A table's
 * share may have no files, although the pattern has some.  IMPORT and csv_gpu_sniff() look at
 * all files, so that a table is the same on each server.
 */
extern bool csv_find_files(const CsvTable *table, bool quiet, char ***names,
						   int *nnames);

/* is the file with this number left out? */
static inline bool
csv_is_left_out(const CsvTable *table, int number)
{
	return table->left_out != NULL && table->left_out[number];
}

/*
 * Returns the current name of a file, or NULL if the file has changed, or has no name
 * that matches the pattern.
 */
extern const char *csv_find_renamed(const CsvTable *table,
									const CsvFileIdentity *file);

/* ---- sizes and identities, without opening files ---- */

/* the table's files as they are now, without files that are left out */
typedef struct CsvSourceSize
{
	int64		file_bytes;		/* on disk */
	int64		data_bytes;		/* that the source will deliver; an estimate for
								 * compressed files and declared UTF-16 */
	int			nfiles;
	bool		is_exact;		/* data_bytes is not estimated */
	uint64		state;			/* csv_source_size(): hash of the identities, */
	int64		modified;		/* and the last of their times */
} CsvSourceSize;

/*
 * The numbers are -1 if unknown: a program, a FIFO, a device, or no file.  The scan
 * will report missing files, so that is not an ERROR here.
 */
extern CsvSourceSize csv_source_size(const CsvTable *table);

/*
 * Sets table->settings.resident to false if there are many small files: looking up the
 * resident columns of a small file takes longer than reading it.
 */
extern void csv_source_decide_resident(CsvTable *table);

extern const CsvSourceSize csv_unknown_size;

/* adds a file of this many bytes on disk */
extern void csv_add_file_size(const CsvTable *table, const char *name, int64 file_bytes,
							  CsvSourceSize *size);

/* as csv_source_identity() */
extern bool csv_identify(const CsvTable *table, const struct stat *st,
						 CsvFileIdentity *identity);

/*
 * Like csv_source_identity(), for all files of a table that are not left out, without
 * opening them.  Names are as shown.
 */
extern bool csv_source_identities(const CsvTable *table, char ***names,
								  CsvFileIdentity **identities, int *nfiles);

/*
 * ---- locks on files that sessions append to ----
 *
 * A transaction appends its rows when it commits, and an abort in that moment takes them
 * off again.  So a scan finds out the file's size under a lock.
 */

/*
 * The number of a file's lock in all databases.  The file need not exist.  Two names of
 * a file have one lock if one of them is a symbolic link.
 */
extern uint64 csv_file_lock_number(const char *filename);

/* wait for a lock: ShareLock or ExclusiveLock, to the end of the transaction */
extern void csv_file_lock(uint64 number, LOCKMODE mode);

/* release it earlier */
extern void csv_file_unlock(uint64 number, LOCKMODE mode);

#endif							/* CSV_LISTING_H */
