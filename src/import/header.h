/*
 * header.h
 *		Names of columns, from a header of one row or several.
 */
#ifndef CSV_HEADER_H
#define CSV_HEADER_H

#include "import/records.h"

/* cells of a record, in the sample's encoding, each with a zero byte behind it */
typedef struct CsvCells
{
	uint32		ncells;
	char	  **texts;
	uint32	   *lengths;
} CsvCells;

/* those of record `number` of the sample */
extern CsvCells csv_header_cells(const CsvSheet *sheet, const CsvSample *sample,
								 uint32 number);

/* those of the record that begins there, which may be a comment */
extern CsvCells csv_header_cells_at(const CsvDialectOptions *of_data,
									const CsvSample *sample, uint64 start);

/*
 * The names in a header whose last row is record `number`, and of which rows above it
 * may be part, from *top on.
 */
extern CsvCells csv_header_names(const CsvSheet *sheet, const CsvSample *sample,
								 uint32 number, uint32 *top);

#endif							/* CSV_HEADER_H */
