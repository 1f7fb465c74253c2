/*
 * place.h
 *		A place in a file between two records, from which any reader can continue.
 */
#ifndef CSV_PLACE_H
#define CSV_PLACE_H

#include "reader.h"

/* bytes that an engine may read before and after its input */
#define CSV_MARGIN				64

/* a place, and all that a reader must know to continue there */
typedef struct CsvFilePlace
{
	uint64_t	offset;			/* bytes before the place, including a BOM */
	uint64_t	records;		/* records before it, without the header */
	uint64_t	lines;			/* line breaks before it */
	uint64_t	alone_until;	/* as in CsvInput, from the place on */
	bool		skip_line;		/* as in CsvInput */
} CsvFilePlace;

/* move the place to the end of the batch */
static inline void
csv_place_pass_batch(CsvFilePlace *place, const CsvBatch *batch)
{
	uint64_t	consumed = batch->is_resident ? batch->read_bytes :
		batch->consumed;

	place->offset += consumed;
	place->records += batch->nrecords;
	place->lines += batch->nlines;
	place->alone_until = batch->alone_until > consumed ?
		batch->alone_until - consumed : 0;
	place->skip_line = batch->skip_line;
}

#endif							/* CSV_PLACE_H */
