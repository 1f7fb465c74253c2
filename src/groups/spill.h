/*
 * spill.h
 *		Temporary files of what has no room in memory: rows of groups, or
 *		values of COUNT_DISTINCT.
 *
 * A part of its hash decides to which of CSV_SPILL_FILES it goes.  Each file
 * is read again later, by itself; what has no room then goes to files of the
 * next level.
 */
#ifndef CSV_SPILL_H
#define CSV_SPILL_H

#include "storage/buffile.h"

#include "program/program.h"

#define CSV_SPILL_BITS	6
#define CSV_SPILL_FILES	(1 << CSV_SPILL_BITS)

typedef struct CsvSpill
{
	int			level;			/* of what is in memory now: how often it has been
								 * shared out */
	BufFile    *spilling[CSV_SPILL_FILES];	/* its files; NULL: not needed so far */
	List	   *spilled;		/* files to come */
	MemoryContext context;		/* of all of it */
} CsvSpill;

/* in the current memory context */
extern void csv_spill_init(CsvSpill *spill);

/* the file for what has this hash */
extern BufFile *csv_spill_file(CsvSpill *spill, uint64_t hash);
extern bool csv_spill_has_files(const CsvSpill *spill);

/*
 * The files of what has been in memory are complete.  They come before others, so
 * that few are there at a time.
 */
extern void csv_spill_keep(CsvSpill *spill);

/* the next of the files, at its beginning; NULL if there is none */
extern BufFile *csv_spill_take(CsvSpill *spill);

/* let go of all of them */
extern void csv_spill_drop(CsvSpill *spill);

/* ---- what stands in the files ---- */

extern void csv_spill_write(BufFile *file, const void *from, size_t nbytes);
extern void csv_spill_write_value(BufFile *file, uint8_t lane,
								  const CsvValue *value);
extern void csv_spill_write_partial(BufFile *file, const CsvProgram *program,
									const CsvPartialLayout *layout,
									const CsvPartial *partial);

/* ERROR if they are not there */
extern void csv_spill_read(BufFile *file, void *to, size_t nbytes);

/* false at the end of the file; a text's bytes are in the current memory context */
extern bool csv_spill_read_value(BufFile *file, uint8_t lane, CsvValue *value);

/* in the current memory context */
extern CsvPartial csv_spill_read_partial(BufFile *file,
										 const CsvProgram *program,
										 const CsvPartialLayout *layout);

#endif							/* CSV_SPILL_H */
