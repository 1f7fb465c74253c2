/*
 * findings.h
 *		What was found of a file: its dialect, its columns' names and types, options.
 */
#ifndef CSV_FINDINGS_H
#define CSV_FINDINGS_H

#include "import/infer.h"

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
	bool		by_name;		/* files' headers differ */
	bool		by_mark;		/* and so do their encodings, by their marks */
	char	   *left_out;		/* what is to be said of lines that are no data; NULL: nothing */
	int64		nskipped;		/* bad, whatever the types ... */
	int64		ninvalid;		/* ... for bytes that the encoding does not have, ... */
	int64		nzero;			/* ... zero bytes, ... */
	int64		nmisquoted;		/* ... their quotes, ... */
	int64		nescaped;		/* ... or fields, with a backslash before a delimiter */
	int64		nbeyond_ascii;	/* values with bytes beyond ASCII, from the first of these on */
	char	   *first_skipped;	/* what the first of them was like */
} CsvFindings;

#endif							/* CSV_FINDINGS_H */
