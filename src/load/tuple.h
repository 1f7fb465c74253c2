/*
 * tuple.h
 *		Makes heap tuples as heap_form_tuple() does: one at a time, or many of a
 *		run of rows by threads.
 */
#ifndef CSV_TUPLE_H
#define CSV_TUPLE_H

#include "access/htup_details.h"
#include "access/tupdesc.h"

#include "reader/crew.h"
#include "scan/row_run.h"

/* the common properties of a relation's tuples; in the current memory context */
typedef struct CsvTupleForm CsvTupleForm;

extern CsvTupleForm *csv_tuple_form_create(TupleDesc tupdesc, TransactionId xmin,
										   CommandId cid);

/* room for a tuple */
typedef union CsvTupleRoom
{
	HeapTupleHeaderData header;
	char		bytes[BLCKSZ];
	int64		as_aligned_as_this;
} CsvTupleRoom;

/*
 * Make a tuple in room, which must be aligned as a CsvTupleRoom; nothing is written
 * beyond TOAST_TUPLE_THRESHOLD.  Any thread may call it.  Returns the tuple's length,
 * or 0 if it might need toasting or violates NOT NULL.
 */
extern Size csv_form_tuple(const CsvTupleForm *form, const Datum *values,
						   const bool *isnull, void *room);

/* ---- many ---- */

typedef struct CsvTuples CsvTuples;

/* a place in the tuples; their bytes live until more are made */
typedef struct CsvTupleCursor
{
	uint32_t	slice;
	uint32_t	row;			/* of the slice */
	Size		offset;			/* in the slice's bytes */
} CsvTupleCursor;

/* how rows of a run become rows of the relation */
typedef struct CsvRowTemplate
{
	const int  *places;			/* as for csv_row_run_fetch() */
	Datum	   *values;			/* of attributes with the same value in all rows; */
	bool	   *isnull;			/* all others are NULL */
} CsvRowTemplate;

/* all arguments must live as long as the result; in the current memory context */
extern CsvTuples *csv_tuples_create(const CsvTupleForm *form, TupleDesc tupdesc,
									const CsvRowTemplate *template, CsvCrew *crew);

/*
 * Start making tuples of the first rows of a run; they replace the tuples made before.
 * The calling thread may do other work meanwhile, but must not leave without
 * csv_tuples_finish(), because threads look at the run's arrays.
 */
extern void csv_tuples_start(CsvTuples *tuples, const CsvRowRun *run);

/*
 * Returns the number of rows that have tuples.  It is less than the run's if that is
 * enough at a time, or if csv_form_tuple() or csv_row_run_fetch() fails for the next
 * row (*stopped).
 */
extern uint32_t csv_tuples_finish(CsvTuples *tuples, bool *stopped);

/*
 * Returns the tuple at the cursor, which starts as zeros, and moves the cursor to the
 * next tuple; NULL if there are no more.  Any thread may call it.
 */
extern const char *csv_tuples_next(const CsvTuples *tuples, CsvTupleCursor *cursor,
								   Size *length);

#endif							/* CSV_TUPLE_H */
