/*
 * spill_file.h
 *		The temporary file for groups that memory has no room for (query/spilled.h).
 *
 * Threads write and read it by a descriptor of their own, since they must not call
 * PostgreSQL.  The session counts its bytes for temp_file_limit, now and then; until then
 * the file is not longer than that limit, either.
 */
#ifndef CSV_SPILL_FILE_H
#define CSV_SPILL_FILE_H

#include "query/spilled.h"
#include "storage/fd.h"

typedef struct CsvSpillFile
{
	File		file;
	int			fd;				/* for threads */
	bool		is_open;
	uint64		counted;		/* bytes that fd.c knows */
} CsvSpillFile;

/* makes the file, in a temporary tablespace, and gives it to `spill` */
extern void csv_spill_file_open(CsvSpillFile *file, CsvSpill *spill);

/* counts what threads have written meanwhile; ERROR if it is too much */
extern void csv_spill_file_count(CsvSpillFile *file, CsvSpill *spill);

/* raises the ERROR for a failure of `spill`, if there was one */
extern void csv_spill_file_check(CsvSpill *spill);

/*
 * Closes the file, if it is open: at the regular end, or after an ERROR, when
 * PostgreSQL has closed its own descriptor.  No thread may use the file any more.
 */
extern void csv_spill_file_close(CsvSpillFile *file, bool after_error);

#endif							/* CSV_SPILL_FILE_H */
