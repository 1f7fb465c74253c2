/*
 * sheet.h
 *		Where in a file the table is: what a dialect makes of the sample.
 */
#ifndef CSV_SHEET_H
#define CSV_SHEET_H

#include "import/sample.h"

typedef struct CsvSampleRecord
{
	uint64		start;
	uint32		nfields;
	bool		bad;			/* has a quoting error */
	bool		blank;
	bool		comment;		/* begins as comments may */
} CsvSampleRecord;

/* is it a record of a table with so many fields? */
static inline bool
csv_is_row(const CsvSampleRecord *record, uint32 nfields)
{
	return !record->bad && !record->blank && record->nfields == nfields;
}

/* most rows of a header that names are made of */
#define CSV_HEADER_ROWS	4

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

/* what surrounds the table's data, as numbers of records of the sample */
typedef struct CsvHeader
{
	uint32		first;			/* the first record of data */
	uint32		last_row;		/* of the header: names; no row if that is `first` */
	bool		undecided;		/* last_row may be a header, or not */
	bool		text_only;		/* no column has a type, so `first` may be one as well */
} CsvHeader;

/* in the current memory context */
extern CsvSheet csv_sheet_read(const CsvDialectOptions *options,
								 const CsvSample *sample);

/* the records alone, of a sheet that has the options and is all zero else */
extern void csv_sheet_read_records(CsvSheet *sheet, const CsvSample *sample);

extern void csv_sheet_find_header(const CsvSheet *sheet,
								   const CsvSample *sample,
								   CsvHeader *header);

#endif							/* CSV_SHEET_H */
