/*
 * sheet.h
 *		Where in a file the table is: what a dialect makes of the sample.
 */
#ifndef CSV_SHEET_H
#define CSV_SHEET_H

#include "import/records.h"

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

extern void csv_sheet_find_header(const CsvSheet *sheet,
								   const CsvSample *sample,
								   CsvHeader *header);

#endif							/* CSV_SHEET_H */
