/*
 * foreignscan.h
 *		The wrapper's callbacks for planning, execution, EXPLAIN and ANALYZE.
 */
#ifndef CSV_FOREIGNSCAN_H
#define CSV_FOREIGNSCAN_H

#include "foreign/fdwapi.h"
#include "nodes/bitmapset.h"
#include "option.h"

/* what planning keeps in RelOptInfo.fdw_private */
typedef struct CsvPlanState
{
	CsvTable   *table;
	Bitmapset  *wanted;			/* attribute numbers the scan must deliver */
	BlockNumber pages;			/* of the file, as for a plain table */
	bool		upper;			/* aggregates on top of the table's scan */
} CsvPlanState;

/* the items of ForeignScan.fdw_private */
typedef enum CsvPlanItem
{
	CSV_PLAN_WANTED,			/* integer list of attribute numbers */
	CSV_PLAN_RELATION			/* list of the table's OID, for upper scans */
} CsvPlanItem;

extern void csv_foreign_scan_callbacks(FdwRoutine *routine);

/* upper.c: GetForeignUpperPaths */
extern void csv_get_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								RelOptInfo *input_rel, RelOptInfo *output_rel,
								void *extra);

/* cost of finding the records of the table's file, without any value */
extern Cost csv_structure_cost(const CsvPlanState *state);

#endif							/* CSV_FOREIGNSCAN_H */
