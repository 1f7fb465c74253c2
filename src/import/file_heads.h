/*
 * file_heads.h
 *		What the files of one table have in common: header, footer, names of columns.
 */
#ifndef CSV_FILE_HEADS_H
#define CSV_FILE_HEADS_H

#include "import/findings.h"
#include "table/source.h"

/* names of all files are in memory at once, so that longer names do not tell fields */
#define CSV_MOST_NAME_BYTES	8192

/* the findings of one file; the dialect is the table's */
typedef struct CsvFileHead
{
	uint32		header_rows;
	uint32		footer_rows;
	bool		any_data;		/* otherwise footer_rows does not count */
	uint32		nfields;		/* of records */
	List	   *names;			/* of its columns, String nodes as csv_valid_text() has them; NIL:
								 * there is no header */
	List	   *last_row;		/* of its header, where by_name finds names */
	bool		invalid;		/* a name of it is not valid in the table's encoding */
} CsvFileHead;

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
	bool		moved;			/* a name is not at its place in that header */
	const char *unfit;			/* why names cannot tell where fields are; NULL: they can */
	const char *marked;			/* the first file that has a mark of UTF-16 although the first file
								 * lacks it, or the other way round */
	const char *null_string;	/* the table's */
	bool		by_name;		/* given: then spelling counts */
	MemoryContext context;		/* of everything here */
} CsvFiles;

/*
 * Find out what the file that is open has; false if it has no record.  May use
 * csv_files_have_header().  The memory context is a short-lived one.
 */
typedef bool (*CsvLookFn) (void *arg, CsvSource *source, const CsvFiles *files,
						   CsvFileHead *head);

/*
 * Look at the table's files behind the first that is not empty; `first` is what that file
 * has.  Fills *files, in the current memory context.  The least header_rows and
 * footer_rows hold for the table.
 */
extern void csv_files_look(CsvFiles *files, const CsvTable *table,
						   const CsvFileHead *first, CsvLookFn look, void *arg);

/* are at least half of the names, or of the first of them, in the header that counts? */
extern bool csv_files_have_header(const CsvFiles *files, const List *names);

/*
 * The names of the table's columns.  If by_name is given, or may be chosen and headers
 * differ, they are the names of all files, and table->by_name is set.  Otherwise they are
 * the names that count.
 */
extern List *csv_files_names(const CsvFiles *files, CsvTable *table, bool may_choose);

/* NOTICEs of files that differ; may_choose as above */
extern void csv_files_tell(const CsvFiles *files, const CsvFindings *findings,
						   bool may_choose);

#endif							/* CSV_FILE_HEADS_H */
