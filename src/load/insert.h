/*
 * insert.h
 *		Inserts rows into a relation as COPY FROM does: any kind of relation
 *		that COPY takes, with its constraints, indexes and triggers.
 *
 *	1. csv_insert_open() and csv_insert_check() refuse relations and users.
 *	2. csv_insert_begin() chooses how rows go in.
 *	3. csv_insert_all() inserts the rows and their index entries, and fires
 *	   triggers.  If rows go in by pages, the caller does this instead: it
 *	   fills in the slot for a row and calls csv_insert_row(), or
 *	   csv_insert_run() for many rows, and at the end csv_insert_end().
 */
#ifndef CSV_INSERT_H
#define CSV_INSERT_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "load/indexes.h"
#include "scan/row_run.h"

typedef struct CsvInsert CsvInsert;

/*
 * Open a relation, and lock it as INSERT does, until the transaction ends.
 * ERROR if it cannot have rows, or if the transaction may not write.  All
 * memory is in a child of the current memory context.  csv_insert_give() tells
 * which attributes (a set of attribute numbers) rows have values for.
 */
extern CsvInsert *csv_insert_open(Oid relid);
extern void csv_insert_give(CsvInsert *insert, const Bitmapset *given);

/*
 * Before csv_insert_check(): rows with a key that the relation has are left
 * out, or updated in these attributes, so that the privileges of INSERT ... ON
 * CONFLICT are needed.
 */
extern void csv_insert_resolve(CsvInsert *insert, const Bitmapset *key,
							   const Bitmapset *updated);

/*
 * Call after csv_insert_give(), once for each statement of the user.  ERROR if
 * the user lacks the privilege INSERT on these columns, if row-level security
 * applies, unless a statement obeys it, or if a foreign table takes no rows.
 */
extern void csv_insert_check(const CsvInsert *insert, bool obeys_security);

/* call it instead of the functions below: nothing is inserted */
extern void csv_insert_close(CsvInsert *insert);

extern Relation csv_insert_relation(const CsvInsert *insert);

/* the attribute number of a column that the user names; ERROR if there is none */
extern AttrNumber csv_target_column(Relation relation, const char *name);

/*
 * For a COPY statement: messages name a row by its line, behind header_lines
 * lines. Only rows that pass the quals (of a planned query; implicitly ANDed)
 * are inserted.
 */
extern void csv_insert_for_copy(CsvInsert *insert, int64 header_lines,
								List *quals);

/* call before csv_insert_begin(): each row is in before the next one is made */
extern void csv_insert_one_by_one(CsvInsert *insert);

/*
 * Prepare the slot and the defaults.  csv_insert_begin() does that, too; call
 * it if rows are looked at before.  csv_insert_tell(): ERRORs tell where the
 * row of csv_insert_place() comes from, until the same with false.
 * csv_insert_varies(): does the default of one of the attributes differ from
 * row to row?
 */
extern void csv_insert_prepare(CsvInsert *insert);
extern void csv_insert_tell(CsvInsert *insert, bool tells);
extern bool csv_insert_varies(const CsvInsert *insert,
							  const Bitmapset *attnums);

/*
 * freeze: as COPY's option; ERROR if COPY refuses it.  may_go_by_pages: may
 * rows go in by pages?  indexing: how indexes get their entries then.  Returns
 * whether they do.
 */
extern bool csv_insert_begin(CsvInsert *insert, bool freeze,
							 bool may_go_by_pages,
							 CsvIndexing indexing);

/*
 * The slot for each row.  Its attributes are NULL first.  The caller must fill
 * in only attributes that are given, with values that live until the next row.
 */
extern TupleTableSlot *csv_insert_slot(CsvInsert *insert);

/*
 * From now on until the row is in, an ERROR tells where the row comes from.
 * file may be NULL, and must live until all rows are in.
 */
extern void csv_insert_place(CsvInsert *insert, const char *file, int64 record);

/*
 * After csv_insert_prepare(), without csv_insert_begin(): compute the defaults
 * of a row in the slot, let BEFORE triggers change it, and raise the ERROR by
 * which its insertion fails for what the row alone tells; false if a trigger
 * drops it.  The caller must free resources after that.  The other function
 * finds the partition, and keeps it open.
 */
extern bool csv_insert_test(CsvInsert *insert, ExprContext *econtext);
extern void csv_insert_test_partition(CsvInsert *insert);

/*
 * after a test: the index that refuses the row now, of several the preferred or
 * the first one; InvalidOid: not known
 */
extern Oid	csv_insert_conflict(CsvInsert *insert, Oid preferred);

/*
 * compute the defaults of a row in the slot, or of a row that is skipped, as
 * nextval(); and generated columns, if one of those that are needed is
 * generated: the row is stored in the slot then
 */
extern void csv_insert_fill(CsvInsert *insert, const Bitmapset *needed,
							ExprContext *econtext);

/* insert the row in the slot by pages; false if the filter leaves it out */
extern bool csv_insert_row(CsvInsert *insert);

/*
 * Can rows go in by pages many at a time, made by nthreads threads including
 * this one? places: for each attribute of the source, the attribute of the
 * relation that takes its value unchanged; it must live until csv_insert_end().
 */
extern bool csv_insert_takes_runs(CsvInsert *insert, const int *places,
								  int nthreads);

/*
 * If so: insert rows of a run, between single rows.  Returns the number of rows
 * inserted, from the first on.  *stopped: the next row must go in by itself.
 */
extern uint32 csv_insert_run(CsvInsert *insert, const CsvRowRun *run,
							 bool *stopped);

/*
 * the end of csv_insert_row() and csv_insert_run(); returns the number of rows
 */
extern int64 csv_insert_end(CsvInsert *insert);

/*
 * Call csv_insert_place(), and fill in the slot with the next row; return false
 * at the end.
 */
typedef bool (*CsvNextRowFn) (void *arg);

/*
 * Insert all rows that next() has, through COPY.  Returns the number of rows
 * inserted; triggers and FDWs may have dropped some.
 */
extern int64 csv_insert_all(CsvInsert *insert, CsvNextRowFn next, void *arg);

#endif							/* CSV_INSERT_H */
