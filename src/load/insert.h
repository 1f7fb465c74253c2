/*
 * insert.h
 *		Inserts rows into a relation as COPY FROM does: any kind of relation
 *		that COPY takes, with its constraints, indexes and triggers.
 *
 *	1. csv_insert_open() and csv_insert_check() refuse relations and users.
 *	2. csv_insert_begin() prepares to insert, and fires the statement's triggers.
 *	3. The caller fills in the slot of csv_insert_slot(), and csv_insert_row()
 *	   inserts the row, at once or a buffer at a time.
 *	4. csv_insert_end() inserts the rows that wait, and then index entries that come
 *	   after the rows, and fires the other triggers.
 */
#ifndef CSV_INSERT_H
#define CSV_INSERT_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "load/indexes.h"
#include "scan/row_run.h"
#include "settings.h"

typedef struct CsvInsert CsvInsert;

/* where a row comes from, for messages; file NULL: not known */
typedef struct CsvRecordPlace
{
	const char *file;			/* lives until csv_insert_end() */
	int64		record;
} CsvRecordPlace;

/*
 * Open a relation, and lock it as INSERT does, until the transaction ends.  ERROR if
 * it cannot have rows, or if the transaction may not write.  All memory is in a child
 * of the current memory context.  csv_insert_give() tells which attributes (a set of
 * attribute numbers) rows have values for.
 */
extern CsvInsert *csv_insert_open(Oid relid);
extern void csv_insert_give(CsvInsert *insert, const Bitmapset *given);

/*
 * Call after csv_insert_give(), once for each statement of the user.  ERROR if the
 * user lacks the privilege INSERT on these columns, or if row-level security applies.
 */
extern void csv_insert_check(const CsvInsert *insert);

/* call it instead of the functions below: nothing is inserted */
extern void csv_insert_close(CsvInsert *insert);

extern Relation csv_insert_relation(const CsvInsert *insert);

/* let messages name a row as COPY does: by its line, behind header_lines lines */
extern void csv_insert_tell_lines(CsvInsert *insert, int64 header_lines);

/* insert only rows that pass the quals (of a planned query; implicitly ANDed) */
extern void csv_insert_filter(CsvInsert *insert, List *quals);

/*
 * freeze: as COPY's option; ERROR if COPY refuses it.  indexing: how indexes get their
 * entries, if rows go in by pages.
 */
extern void csv_insert_begin(CsvInsert *insert, bool freeze,
							 CsvLoadMethod method, CsvIndexing indexing);

/* for expressions of one row; reset by csv_insert_slot() */
extern ExprContext *csv_insert_context(CsvInsert *insert);

/*
 * Returns a slot for the next row, with all attributes NULL.  The caller must fill in
 * only attributes that are given, with values that live until csv_insert_row()
 * returns.  Between the two calls, an ERROR tells where the row comes from.
 * csv_insert_row() returns false if the filter leaves the row out.
 */
extern TupleTableSlot *csv_insert_slot(CsvInsert *insert, CsvRecordPlace place);
extern bool csv_insert_row(CsvInsert *insert, TupleTableSlot *slot);

/*
 * Call after csv_insert_begin().  Returns the slot that csv_insert_slot() returns each
 * time, or NULL if that is not always the same slot or if not every attribute is
 * given.  The caller may then fill the slot in beforehand, and only attributes that
 * differ from the row before.
 */
extern TupleTableSlot *csv_insert_fixed_slot(CsvInsert *insert);

/*
 * Call after csv_insert_begin().  Can rows go in many at a time, made by nthreads
 * threads including this one?  places: for each attribute of the source, the attribute
 * of the relation that takes its value unchanged; it must live until csv_insert_end().
 */
extern bool csv_insert_takes_runs(CsvInsert *insert, const int *places, int nthreads);

/*
 * If so: insert rows of a run, between single rows.  Returns the number of rows
 * inserted, from the first on.  *stopped: the next row must go in by itself.
 */
extern uint32 csv_insert_run(CsvInsert *insert, const CsvRowRun *run, bool *stopped);

/* returns the number of rows inserted; triggers and FDWs may have dropped some */
extern int64 csv_insert_end(CsvInsert *insert);

#endif							/* CSV_INSERT_H */
