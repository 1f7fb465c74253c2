/*
 * tuple.h
 *		Tuples of a heap, as heap_form_tuple() makes them: one at a time, or many of a
 *		run of rows by threads.
 */
#ifndef CSV_TUPLE_H
#define CSV_TUPLE_H

#include "access/htup_details.h"
#include "access/tupdesc.h"

#include "query/crew.h"
#include "scan/run.h"

/* what tuples of a relation have in common; in the current memory context */
typedef struct CsvTupleForm CsvTupleForm;

extern CsvTupleForm *csv_tuple_form_create(TupleDesc tupdesc, TransactionId xmin,
										   CommandId cid);

/* where one is made */
typedef union CsvTupleRoom
{
	HeapTupleHeaderData header;
	char		bytes[BLCKSZ];
	int64		as_aligned_as_this;
} CsvTupleRoom;

/*
 * Make a tuple, in any thread; room is aligned as a CsvTupleRoom, and nothing is
 * written beyond TOAST_TUPLE_THRESHOLD.  Returns its length; 0 for one that is, or may
 * become, a matter for the toaster, or that has a NULL where there may be none.
 */
extern Size csv_form_tuple(const CsvTupleForm *form, const Datum *values,
						   const bool *isnull, void *room);

/* ---- many ---- */

/* so many threads with this one, in the current memory context: they end before it does */
extern CsvCrew *csv_load_crew_create(int nthreads);

typedef struct CsvTuples CsvTuples;

/* one of them; its bytes live until more are made */
typedef struct CsvTupleCursor
{
	uint32_t	slice;
	uint32_t	row;			/* of the slice */
	Size		offset;			/* in the slice's bytes */
} CsvTupleCursor;

/* how rows of a run become those of the relation */
typedef struct CsvRowTemplate
{
	const int  *places;			/* as for csv_row_run_fetch() */
	Datum	   *values;			/* of attributes that have the same in all rows; */
	bool	   *isnull;			/* the others are NULL */
} CsvRowTemplate;

/* all of it has to live as long; in the current memory context */
extern CsvTuples *csv_tuples_create(const CsvTupleForm *form, TupleDesc tupdesc,
									const CsvRowTemplate *template, CsvCrew *crew);

/*
 * Make tuples of the first rows of a run, in place of those made before.  Meanwhile
 * the calling thread may do something else, but not leave for good before
 * csv_tuples_finish(): threads look at the run's arrays.
 */
extern void csv_tuples_start(CsvTuples *tuples, const CsvRowRun *run);

/*
 * Returns of how many rows they are: fewer than there are if that is enough at a time,
 * or if of the next one csv_form_tuple() or csv_row_run_fetch() makes none (*stopped).
 */
extern uint32_t csv_tuples_finish(CsvTuples *tuples, bool *stopped);

/*
 * The tuple at the cursor, which starts as zeros, and on to the next one; NULL: there
 * are no more.  In any thread.
 */
extern const char *csv_tuples_next(const CsvTuples *tuples, CsvTupleCursor *cursor,
								   Size *length);

#endif							/* CSV_TUPLE_H */
