/*
 * findings.h
 *		Findings of a file: its dialect, its columns' names and types, options.
 */
#ifndef CSV_FINDINGS_H
#define CSV_FINDINGS_H

#include "import/evidence.h"

typedef struct CsvFoundColumn
{
	char	   *header_name;	/* NULL: there is none */
	char	   *name;			/* for SQL */
	CsvEvidence *evidence;

	/* decisions by it (types.h) */
	Oid			type;
	int32		typmod;			/* precision and scale of today's values, or -1 */
	char	   *pattern;		/* of dates or timestamps; NULL: none */
	struct CsvImportedColumn *given;	/* the type that the user wants; NULL: any */
	uint32		kept;			/* words for missing values that are values */
	char	   *null_values;	/* words that are NULL; NULL: none */
	bool		force_null;
} CsvFoundColumn;

/* bad records of one cause */
typedef struct CsvFault
{
	int64		n;
	char	   *first;			/* what the first was like */
} CsvFault;

/* an empty file has no columns */
typedef struct CsvFindings
{
	CsvTable   *table;			/* with the dialect, and columns of type text */
	CsvGiven	given;
	CsvBoundary boundary;		/* as seen at the beginning of the file */
	uint32		ncolumns;
	CsvFoundColumn *columns;
	CsvEvidence *evidence;		/* by column */
	bool		complete;		/* the whole file was read */
	int64		nrecords;		/* good and bad */
	bool		any_quote;		/* values may be in quotes */

	/* options of the table; NULL: not given, nor found */
	const char *date_format;
	const char *timestamp_format;
	char	   *thousands_separator;
	bool		by_mark;		/* files' encodings differ, by their marks */
	bool		header_varies;	/* files' headers differ */
	CsvFault	skipped;		/* bad, whatever the types ... */
	CsvFault	invalid;		/* for bytes that the encoding does not have, ... */
	CsvFault	zero;			/* ... zero bytes, ... */
	CsvFault	misquoted;		/* ... their quotes, ... */
	CsvFault	escaped;		/* ... or fields, with a backslash before a delimiter */
	bool		mostly_valid;	/* most characters beyond ASCII are of the encoding UTF8 */
	bool		any_escape;		/* backslashes stand before letters, and none before another */
	bool		any_joined;		/* a quoted value has lines that would be rows without quotes */
} CsvFindings;

/* is an option of this name among them? */
extern bool csv_is_given(const List *options, const char *name);

/* a copy of a list of options with one more, in the current memory context */
extern List *csv_with_option(const List *options, const char *name, const char *value);

/*
 * Read the table's files, with columns of text, up to max_records records (negative: all).
 * Fills the evidence of the columns, and what findings count of records.
 */
extern void csv_observe_values(CsvFindings *findings, const CsvReadingRules *rules,
							   int64 max_records);

/*
 * Read a file, or the files of a pattern, as options have it where they say
 * so. In the current memory context.  ERROR where it cannot be read, or makes
 * no table, or the server (InvalidOid: none) does not allow it.
 */
extern CsvFindings *csv_sniff(const char *filename, Oid server,
							  const CsvImportOptions *import);

#endif							/* CSV_FINDINGS_H */
