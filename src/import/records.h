/*
 * records.h
 *		The records of a sample, as a dialect has them.
 */
#ifndef CSV_RECORDS_H
#define CSV_RECORDS_H

#include "import/sample.h"

typedef struct CsvSampleRecord
{
	uint64		start;
	uint32		nfields;
	bool		bad;			/* has a quoting error */
	bool		blank;			/* or Excel's line "sep=;" */
	bool		comment;		/* begins as comments may */
} CsvSampleRecord;

/* is it a record of a table with so many fields? */
static inline bool
csv_is_row(const CsvSampleRecord *record, uint32 nfields)
{
	return !record->bad && !record->blank && record->nfields == nfields;
}

typedef struct CsvSheet
{
	CsvDialectOptions options;

	uint32		nblank;			/* lines before the first record */

	/* of the sample from there on, blank lines among them */
	CsvSampleRecord *records;
	uint32		nrecords;

	/* records that have as many fields, most of them in a row */
	uint32		nfields;
	uint32		from;			/* the first of the table ... */
	uint32		to;				/* ... and the one behind its last */
	bool		is_table;		/* there is enough of it to be one, of several fields */
	bool		is_single;		/* all records have one field */
	double		typed;			/* columns with a type, and how sure that is */
	double		quality;		/* to be compared with other dialects' */
	uint32		nlater;			/* records from the table's first on, less blank lines ... */
	uint32		nbad;			/* ... with a quoting error */
	uint32		nquoted;		/* fields in quotes */
} CsvSheet;

/* the records alone, of a sheet that has the options and is all zero else */
extern void csv_read_records(CsvSheet *sheet, const CsvSample *sample);

#endif							/* CSV_RECORDS_H */
