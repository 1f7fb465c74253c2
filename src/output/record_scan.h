/*
 * record_scan.h
 *		The processes of a parallel plan make records of its rows, or write files.
 */
#ifndef CSV_RECORD_SCAN_H
#define CSV_RECORD_SCAN_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "output/writer.h"

/* the order in which rows are wanted */
typedef enum CsvRowOrder
{
	CSV_ORDER_ANY,
	CSV_ORDER_OF_PLAN,			/* as far as a plan with the user's costs has an order */
	CSV_ORDER_OF_QUERY			/* by ORDER BY, or of the table */
} CsvRowOrder;

/* plan a query for the functions below */
extern PlannedStmt *csv_record_scan_plan(const Query *query, const char *text,
										 CsvRowOrder order);

/*
 * Let the processes make records.  The plan then returns pieces.  NULL: the plan is not
 * parallel, or not in a way that this helps, and stays.
 */
extern CustomScan *csv_record_scan_pieces(PlannedStmt *plan);

/*
 * Let the processes write files.  The plan then returns the members of a CsvWritten
 * (writer.h) for each file and process.
 */
extern CustomScan *csv_record_scan_files(PlannedStmt *plan);

/* before the plan is run: the shared job that has the form of records */
extern void csv_record_scan_set_job(CustomScan *scan, const CsvJob *job);

/* records that follow each other, each with its line break */
typedef struct CsvRecords
{
	int			nrecords;
	const char *bytes;			/* of the first record */
	int			nbytes;			/* of all */
	const char *lengths;		/* ints, not aligned */
	struct CsvParcel *parcel;	/* has the bytes; NULL: the slot has them */
} CsvRecords;

/*
 * The piece of a row that the plan returns: in the slot, the current memory context, or
 * shared memory until csv_records_release().  top: of the plan.
 */
extern void csv_records_take(TupleTableSlot *slot, const PlanState *top,
							 CsvRecords *piece);

/* take a record from the front of a piece that has records; returns its length */
extern int	csv_records_next(CsvRecords *piece, const char **record);

/* once per piece: its bytes are no longer needed */
extern void csv_records_release(CsvRecords *piece);

extern void csv_record_scan_init(void);

#endif							/* CSV_RECORD_SCAN_H */
