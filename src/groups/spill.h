/*
 * spill.h
 *		Temporary files for rows of groups, or values of COUNT_DISTINCT, that have no
 *		room in memory.
 *
 * A part of the hash of a row or value decides to which of CSV_SPILL_FILES files it
 * goes.  Each file is read later, by itself.  Rows or values that still have no room
 * go to files of the next level.
 */
#ifndef CSV_SPILL_H
#define CSV_SPILL_H

#include "storage/buffile.h"

#include "program/program.h"

#define CSV_SPILL_BITS	6
#define CSV_SPILL_FILES	(1 << CSV_SPILL_BITS)

typedef struct CsvSpill
{
	int			level;			/* how often the rows or values in memory have been
								 * divided */
	BufFile    *spilling[CSV_SPILL_FILES];	/* files being written; NULL: not needed so
											 * far */
	List	   *spilled;		/* files to be read */
	MemoryContext context;		/* of the files and the list */
} CsvSpill;

/* in the current memory context */
extern void csv_spill_init(CsvSpill *spill);

/* the file for a row or value with this hash */
extern BufFile *csv_spill_file(CsvSpill *spill, uint64_t hash);
extern bool csv_spill_has_files(const CsvSpill *spill);

/*
 * The files being written are complete, and will be read before others, so that few
 * files exist at a time.
 */
extern void csv_spill_keep(CsvSpill *spill);

/* the next of the files, at its beginning; NULL if there is none */
extern BufFile *csv_spill_take(CsvSpill *spill);

/* drop all files */
extern void csv_spill_drop(CsvSpill *spill);

/* ---- contents of the files ---- */

extern void csv_spill_write(BufFile *file, const void *from, size_t nbytes);

/* datum: a numeric that belongs to the value, or 0 */
extern void csv_spill_write_value(BufFile *file, uint8_t lane,
								  const CsvValue *value, Datum datum);
extern void csv_spill_write_partial(BufFile *file, const CsvProgram *program,
									const CsvPartialLayout *layout,
									const CsvPartial *partial);

/* ERROR if the file has fewer bytes */
extern void csv_spill_read(BufFile *file, void *to, size_t nbytes);

/* in the current memory context; *datum stays if the value has none */
extern void csv_spill_read_value(BufFile *file, uint8_t lane, CsvValue *value,
								 Datum *datum);
extern CsvPartial csv_spill_read_partial(BufFile *file,
										 const CsvProgram *program,
										 const CsvPartialLayout *layout);

#endif							/* CSV_SPILL_H */
