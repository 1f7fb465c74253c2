/*
 * file_heads.h
 *		What the files of one table have in common: header, footer, names of columns.
 */
#ifndef CSV_FILE_HEADS_H
#define CSV_FILE_HEADS_H

#include "import/findings.h"
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
	List	   *header;			/* the names that count: of the first file with the fewest lines
								 * above its data */
	List	   *sql_names;		/* the same as SQL has them */
	bool		twins;			/* two of them are equal */
	List	   *names;			/* CsvFilesName of that header's last row, then of later headers */
	int			nfirst;			/* in that header */
	int			nheaders;		/* headers that were compared */
	const char *differs;		/* the first file whose header is another; NULL: none */
	const char *unfit;			/* why names cannot tell where fields are; NULL: they can */
	const char *marked;			/* the first file that has a mark of UTF-16 although the first file
								 * lacks it, or the other way round */
	const char *null_string;	/* the table's */
	bool		by_name;		/* given: then spelling counts */
	MemoryContext context;		/* of everything here */
} CsvFiles;

/*
 * Look at the table's files behind the first that is not empty, whose guess is given;
 * any_tail: a file's end counts.  Fills *files, in the current memory context.  The least
 * header_rows and footer_rows hold for the table.
 */
extern void csv_files_look(CsvFiles *files, const CsvTable *table, const CsvGiven *given,
						   bool any_tail, const CsvGuess *guess);

/*
 * The names of the table's columns.  If by_name is given, or may be chosen, and
 * headers differ or are of a pattern, they are the names of all files, and
 * table->by_name is set.  Otherwise they are the names that count.
 */
extern List *csv_files_names(const CsvFiles *files, CsvTable *table, bool may_choose);

/* NOTICEs of files that differ; may_choose as above */
extern void csv_files_tell(const CsvFiles *files, const CsvFindings *findings,
						   bool may_choose);

#endif							/* CSV_FILE_HEADS_H */
