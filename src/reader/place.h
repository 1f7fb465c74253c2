/*
 * place.h
 *		A place in a file between two records.
 *
 * Reading can go on from it, whoever read what comes before.
 */
#ifndef CSV_PLACE_H
#define CSV_PLACE_H

#include "reader.h"

/* bytes that an engine may read before and after its input */
#define CSV_MARGIN				64

/* where in a file reading goes on, and what is known there */
typedef struct CsvFilePlace
{
	uint64_t	offset;			/* bytes before it, BOM included */
	uint64_t	records;		/* after the header */
	uint64_t	lines;			/* line breaks */
	uint64_t	alone_until;	/* as in CsvInput, from here */
	bool		skip_line;		/* likewise */
} CsvFilePlace;

/* on to where the batch ends */
static inline void
csv_place_pass_batch(CsvFilePlace *place, const CsvBatch *batch)
{
	place->offset += batch->consumed;
	place->records += batch->nrecords;
	place->lines += batch->nlines;
	place->alone_until = batch->alone_until > batch->consumed ?
		batch->alone_until - batch->consumed : 0;
	place->skip_line = batch->skip_line;
}

#endif							/* CSV_PLACE_H */
