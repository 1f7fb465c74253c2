/*
 * foreignscan.h
 *		The wrapper's callbacks for planning, execution, EXPLAIN and ANALYZE.
 */
#ifndef CSV_FOREIGNSCAN_H
#define CSV_FOREIGNSCAN_H

#include "foreign/fdwapi.h"
#include "nodes/bitmapset.h"

#include "program/program.h"
#include "table/option.h"

/* what planning keeps in RelOptInfo.fdw_private */
typedef struct CsvPlanState
{
	CsvTable   *table;
	Bitmapset  *wanted;			/* attribute numbers the scan must deliver */
	BlockNumber pages;			/* of the file, as for a plain table */
	double		read_speed;		/* csv_engine_speed() */
	bool		resident;		/* the session has the columns */
	Index		relid;			/* of the table, also on top of its scan */
	List	   *restrictinfo;	/* the table's WHERE clauses, as the executor
								 * evaluates them */

	/* what the engine has; NULL: nothing */
	CsvProgram *program;
	List	   *pushed;			/* those of restrictinfo that are in it */

	/* of rows that are sorted, and but the first ones wanted: order.h */
	List	   *order;			/* NIL: all rows are wanted */
	List	   *limit;			/* expressions of LIMIT and OFFSET */

	int			first_relid;	/* of the relations that the plan stands for */

	/* of aggregates on top of the table's scan */
	bool		upper;
	List	   *scan_tlist;		/* group keys and Aggrefs */
	List	   *results;		/* a CsvResult of each, as integer lists */
	List	   *sources;		/* as csv_aggregation_create() wants them */
	List	   *having;			/* quals over scan_tlist */
} CsvPlanState;

/* the items of ForeignScan.fdw_private */
typedef enum CsvPlanItem
{
	CSV_PLAN_WANTED,			/* integer list of attribute numbers */
	CSV_PLAN_RELATION,			/* list of the table's OID */
	CSV_PLAN_FIRST_RELID,		/* as in CsvPlanState */
	CSV_PLAN_PROGRAM,			/* list of one program, or empty */
	CSV_PLAN_QUALS,				/* the WHERE clauses that the engine has */
	CSV_PLAN_RESULTS,			/* of an upper scan: how its columns come about,
								 * and for which its aggregates were made */
	CSV_PLAN_HIDDEN,			/* attribute numbers, as in CsvPushdown */
	CSV_PLAN_ORDER				/* as in CsvPlanState; the limit's expressions
								 * are the last ones of fdw_exprs */
} CsvPlanItem;

extern void csv_foreign_scan_callbacks(FdwRoutine *routine);

/* upper.c: GetForeignUpperPaths */
extern void csv_get_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								RelOptInfo *input_rel, RelOptInfo *output_rel,
								void *extra);

/*
 * Cost of finding the records of the table's file, making its values, and
 * running the program (or NULL) over them, whose filters leave nrows.
 */
extern Cost csv_read_cost(const CsvPlanState *state,
						  const CsvProgram *program, double ntuples,
						  double nrows);

#endif							/* CSV_FOREIGNSCAN_H */
