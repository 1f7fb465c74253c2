/*
 * plan_state.h
 *		The state of a table during planning, and the wrapper's planning callbacks.
 */
#ifndef CSV_PLAN_STATE_H
#define CSV_PLAN_STATE_H

#include "foreign/fdwapi.h"
#include "nodes/bitmapset.h"

#include "program/program.h"
#include "table/option.h"

/* in RelOptInfo.fdw_private */
typedef struct CsvPlanState
{
	CsvTable   *table;
	Bitmapset  *wanted;			/* attribute numbers the scan must deliver */
	int64		nbytes;			/* csv_source_data_size(), and whether it is exact */
	bool		is_exact;
	BlockNumber pages;			/* of the file, as for a plain table */
	bool		has_gpu;		/* csv_engine_uses_gpu() */
	double		speed;			/* csv_engine_speed(): it reads and evaluates this
								 * many times as fast as one thread */
	bool		resident;		/* the session has the columns */
	Index		relid;			/* of the table, also on top of its scan */
	const Query *query;			/* that the table is in */
	List	   *restrictinfo;	/* the table's WHERE clauses, as the executor
								 * evaluates them, without file_clauses */
	bool		row_security;	/* some clauses hide rows from other clauses */
	List	   *file_clauses;	/* they decide which files are read */
	List	   *unknown_files;	/* those that the planner cannot evaluate */
	double		share;			/* fraction of the known rows that are in files
								 * that will be read */

	/* the engine's part; NULL: none */
	CsvProgram *program;
	List	   *pushed;			/* clauses of restrictinfo in the program */

	/* if rows are sorted and only the first are wanted (order.h) */
	List	   *order;			/* NIL: all rows are wanted */
	List	   *limit;			/* expressions of LIMIT and OFFSET */

	int			first_relid;	/* of the relations that the plan stands for */

	/* for aggregates on top of the table's scan */
	bool		upper;
	List	   *scan_tlist;		/* group keys and Aggrefs */
	List	   *results;		/* a CsvResult of each, as integer lists */
	List	   *sources;		/* as csv_aggregation_create() wants them */
	List	   *having;			/* quals over scan_tlist */
} CsvPlanState;

/* scan_path.c: GetForeignRelSize, GetForeignPaths, GetForeignPlan */
extern void csv_get_rel_size(PlannerInfo *root, RelOptInfo *baserel,
							 Oid foreigntableid);
extern void csv_get_paths(PlannerInfo *root, RelOptInfo *baserel,
						  Oid foreigntableid);
extern ForeignScan *csv_get_plan(PlannerInfo *root, RelOptInfo *baserel,
								 Oid foreigntableid, ForeignPath *best_path,
								 List *tlist, List *scan_clauses,
								 Plan *outer_plan);

/* upper.c: GetForeignUpperPaths */
extern void csv_get_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								RelOptInfo *input_rel, RelOptInfo *output_rel,
								void *extra);

/*
 * Cost of finding the records of the table's file, making its values, and running the
 * program (or NULL) over them.  The program's filters leave nrows.
 */
extern Cost csv_read_cost(const CsvPlanState *state,
						  const CsvProgram *program, double ntuples,
						  double nrows);

#endif							/* CSV_PLAN_STATE_H */
