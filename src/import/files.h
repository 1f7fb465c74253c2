/*
 * files.h
 *		What the files of one table have in common: header and footer.
 */
#ifndef CSV_FILES_H
#define CSV_FILES_H

#include "import/guess.h"

/* a number that files may have differently */
typedef struct CsvFileCount
{
	uint32		least;
	uint32		other;
	const char *least_file;
	const char *other_file;		/* the first that has another; NULL: none */
} CsvFileCount;

typedef struct CsvFiles
{
	CsvFileCount header_rows;
	CsvFileCount footer_rows;
	CsvCells	names;			/* the first header's (of those with the least above it), and
								 * those that only later ones have */
	uint32		nfirst;			/* the first header's */
	const char *differs;		/* the first file whose header is not the first one's */
	const char *marked;			/* the first file that has a mark of UTF-16, or lacks it,
								 * other than the first one */
	bool		renamed;		/* names do not tell where the first header's columns are */
	MemoryContext context;		/* of what is here */
} CsvFiles;

/* for a table that is as its first file, which has these names, wants it */
extern void csv_files_begin(CsvFiles *files, const char *name, uint32 header_rows,
							uint32 footer_rows, CsvCells names);

/* one more, with so many rows above its data, and what was found in it else */
extern void csv_files_add(CsvFiles *files, const char *name, uint32 header_rows,
						  const CsvGuess *guess, CsvCells names);

/* is at least every other of the first header's names among these? */
extern bool csv_files_have_header(const CsvFiles *files, CsvCells names);

/* NOTICE of numbers that files have differently */
extern void csv_files_tell(const CsvFiles *files, const char *pattern);

#endif							/* CSV_FILES_H */
