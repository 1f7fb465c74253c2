/*
 * insert.h
 *		Inserts rows into a relation as COPY FROM does: any kind of relation
 *		that COPY takes, with its constraints, indexes and triggers.
 *
 *	1. csv_insert_open() and csv_insert_check() refuse relations and users.
 *	2. csv_insert_begin() prepares for it, and fires the statement's triggers.
 *	3. A row is filled in in csv_insert_slot(), and goes in by csv_insert_row(),
 *	   at once or a buffer at a time.
 *	4. csv_insert_end() puts in what is left, index entries last where they come
 *	   after the rows, and fires the other triggers.
 */
#ifndef CSV_INSERT_H
#define CSV_INSERT_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "load/indexes.h"
#include "scan/run.h"
#include "settings.h"

typedef struct CsvInsert CsvInsert;

/* where a row comes from, for messages; file NULL: from nowhere in particular */
typedef struct CsvRecordPlace
{
	const char *file;			/* lives until csv_insert_end() */
	int64		record;
} CsvRecordPlace;

/*
 * Open a relation for rows with values for the given attributes (a set of
 * attribute numbers), and lock it as INSERT does, until the transaction ends.
 * ERROR where it cannot have rows, or where the transaction may not write.  Its
 * memory is of the current memory context, here and in csv_insert_begin().
 */
extern CsvInsert *csv_insert_open(Oid relid);
extern void csv_insert_give(CsvInsert *insert, const Bitmapset *given);

/*
 * After csv_insert_give(), once for each statement of the user: ERROR where the user
 * may not insert rows.  The user needs the privilege INSERT on these columns, and no
 * row-level security may apply.
 */
extern void csv_insert_check(const CsvInsert *insert);

/* instead of all that follows: nothing is inserted */
extern void csv_insert_close(CsvInsert *insert);

extern Relation csv_insert_relation(const CsvInsert *insert);

/* what is told of rows is as COPY has it: the line, behind so many of a header */
extern void csv_insert_tell_lines(CsvInsert *insert, int64 header_lines);

/* only rows that the qualifications (of a planned query; implicitly ANDed) let in */
extern void csv_insert_filter(CsvInsert *insert, List *quals);

/*
 * freeze: as COPY's option; ERROR where that refuses it.  indexing: how indexes get
 * their entries, if rows go in by pages.
 */
extern void csv_insert_begin(CsvInsert *insert, bool freeze,
							 CsvLoadMethod method, CsvIndexing indexing);

/* for expressions of one row; reset by csv_insert_slot() */
extern ExprContext *csv_insert_context(CsvInsert *insert);

/*
 * A slot for the next row, with all attributes NULL.  Only those given are to
 * be filled in, with values that live until csv_insert_row() returns.  From one
 * call to the other, an ERROR tells where the row comes from.  False: the filter leaves
 * the row out.
 */
extern TupleTableSlot *csv_insert_slot(CsvInsert *insert, CsvRecordPlace place);
extern bool csv_insert_row(CsvInsert *insert, TupleTableSlot *slot);

/*
 * After csv_insert_begin(): the slot that csv_insert_slot() returns each time,
 * if it is always the same one and every attribute is given; else NULL.  It may
 * then be filled in before, and only attributes that differ from the row before
 * need be.
 */
extern TupleTableSlot *csv_insert_fixed_slot(CsvInsert *insert);

/*
 * After csv_insert_begin(): can rows go in many at a time, made by so many threads with
 * this one?  places: for each attribute of the source, which of the relation's it is,
 * as it stands; it has to live as long.
 */
extern bool csv_insert_takes_runs(CsvInsert *insert, const int *places, int nthreads);

/*
 * If so: between rows, those of a run.  Returns how many went in, of the first ones;
 * *stopped: the next one has to go in by itself.
 */
extern uint32 csv_insert_run(CsvInsert *insert, const CsvRowRun *run, bool *stopped);

/* returns how many rows went in; triggers and FDWs may have dropped some */
extern int64 csv_insert_end(CsvInsert *insert);

#endif							/* CSV_INSERT_H */
