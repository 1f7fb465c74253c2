/*
 * sniff.h
 *		What a file holds: its dialect, its columns' names and types.
 */
#ifndef CSV_SNIFF_H
#define CSV_SNIFF_H

#include "import/guess.h"

typedef struct CsvFoundColumn
{
	char	   *header_name;	/* NULL: there is none */
	char	   *name;			/* for SQL */
	CsvInference inference;
	char	   *pattern;		/* of dates or timestamps; NULL: none */
	char	   *null_values;	/* NULL: the table's */
	bool		force_null;
} CsvFoundColumn;

/* what was found; of an empty file no columns */
typedef struct CsvFindings
{
	CsvTable   *table;			/* with the dialect, and columns of type text */
	CsvBoundary boundary;		/* as seen at the beginning of the file */
	uint32		ncolumns;
	CsvFoundColumn *columns;
	bool		complete;		/* the whole file was read */
	int64		nrecords;		/* good and bad */
	bool		any_quote;		/* values may be in quotes */

	/* options of the table; NULL: not given, nor found */
	char	   *null_values;
	const char *date_format;
	const char *timestamp_format;
	char	   *thousands_separator;
	int64		nskipped;		/* bad, whatever the types ... */
	int64		ninvalid;		/* ... for bytes that the encoding does not have */
	char	   *first_skipped;	/* what the first of them was like */
} CsvFindings;

/*
 * Read a file, or the files of a pattern, as options have it where they say so.
 * In the current memory context.  ERROR where it cannot be read, or makes no
 * table.  Does not look at privileges.
 */
extern CsvFindings *csv_sniff(const char *filename, List *server_options,
							  const CsvImportOptions *import);

/* most characters and bytes of a column's values; false if there are none */
extern bool csv_found_widths(const CsvFoundColumn *column, int32 *max_chars,
							 int32 *byte_width);

/* NOTICE of the records that are skipped, and of what follows from it */
extern void csv_found_errors(const CsvFindings *findings,
							 const char *consequence);

/* ERROR unless the user may read the server's files */
extern void csv_check_may_read_files(const char *what);

#endif							/* CSV_SNIFF_H */
