/*
 * plan_state.h
 *		The state of a table during planning, and the wrapper's planning callbacks.
 */
#ifndef CSV_PLAN_STATE_H
#define CSV_PLAN_STATE_H

#include "foreign/fdwapi.h"
#include "nodes/bitmapset.h"

#include "compat.h"
#include "program/program.h"
#include "table/option.h"

struct CsvSampledRows;

/* in RelOptInfo.fdw_private */
typedef struct CsvPlanState
{
	CsvTable   *table;
	Bitmapset  *wanted;			/* attribute numbers the scan must deliver */
	int64		nbytes;			/* CsvSourceSize.data_bytes, and whether it is exact */
	bool		is_exact;
	int			nfiles;
	uint64		file_state;		/* as in CsvSourceSize */
	int64		modified;
	uint64		sample_key[4];	/* hash of the declaration and file_state */
	struct CsvSampledRows *sample;	/* NULL: not read for this plan */
	bool		sampled;		/* the plan uses statistics of a sample */
	BlockNumber pages;			/* of the file, as for a plain table */
	double		rows_out;		/* the share of the rows that the engine hands out */
	bool		has_gpu;		/* csv_choose_gpu(): it reads */
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
	List	   *pushed;			/* clauses of restrictinfo in the program, */
	List	   *reasons;		/* and for each clause why it is not (String); or empty */

	const char *refusal;		/* why the engine can have nothing; NULL: it can */

	/* keys and aggregates over the table's rows that its own scan leaves to the executor:
	 * lists of an expression and the reason */
	List	   *left;

	/* if rows are sorted and only the first are wanted (order.c) */
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

/* ---- scan_path.c: GetForeignRelSize, GetForeignPaths, GetForeignPlan ---- */

extern void csv_get_rel_size(PlannerInfo *root, RelOptInfo *baserel,
							 Oid foreigntableid);
extern void csv_get_paths(PlannerInfo *root, RelOptInfo *baserel,
						  Oid foreigntableid);
extern ForeignScan *csv_get_plan(PlannerInfo *root, RelOptInfo *baserel,
								 Oid foreigntableid, ForeignPath *best_path,
								 List *tlist, List *scan_clauses,
								 Plan *outer_plan);

/* is the relation a foreign table of this wrapper? */
static inline bool
csv_is_own(const RelOptInfo *rel)
{
	return rel->fdwroutine != NULL && rel->fdwroutine->GetForeignPaths == csv_get_paths;
}

/* set the state's engine, which will hand out this share of the rows */
extern void csv_plan_engine(CsvPlanState *state, double rows_out);

/*
 * Cost of finding the records of the table's file, making its values, and running the
 * program (or NULL) over them.  The program's filters leave nrows.
 */
extern Cost csv_read_cost(const CsvPlanState *state,
						  const CsvProgram *program, double ntuples,
						  double nrows);

/* ---- upper.c: GetForeignUpperPaths ---- */

extern void csv_get_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								RelOptInfo *input_rel, RelOptInfo *output_rel,
								void *extra);

/* ---- planned_table.c ---- */

/*
 * Returns the state of a table in a query, in the planner's memory, with `table`,
 * `wanted`, `nbytes`, `is_exact` and everything about clauses filled in.  Looks at the
 * catalogs and the files only once.
 */
extern CsvPlanState *csv_plan_state(PlannerInfo *root, RelOptInfo *baserel,
									Oid foreigntableid);

/*
 * Returns clauses in the order in which the executor evaluates them
 * (order_qual_clauses in createplan.c).  The order decides which of several clauses
 * raises an ERROR.  Join clauses come last, where they also are if a scan does not
 * have them.
 */
extern List *csv_order_clauses(PlannerInfo *root, List *clauses);

/* the text, or another if it is NULL */
extern String *csv_make_reason(const char *reason);

/* note that an expression over the table's rows stays in the executor */
extern void csv_note_left(CsvPlanState *state, void *expr, const char *reason);

/* ---- file_clauses.c ---- */

/* has the table a column that such a clause may use? */
extern bool csv_has_file_columns(const CsvTable *table);

/*
 * Divide clauses (RestrictInfos, in the executor's order) into *file_clauses, which
 * decide which files are read, and all others, which are returned.
 */
extern List *csv_part_clauses(const CsvPlanState *state, List *clauses,
							  List **file_clauses);

/*
 * Leave out files of the table for which the clauses do not hold, if that is known
 * when the query is planned.  Returns the clauses that were not evaluated.
 */
extern List *csv_plan_files(CsvPlanState *state, List *file_clauses);

/* may the clauses leave out other files when a scan is repeated? */
extern bool csv_files_vary(const List *file_clauses);

/*
 * Returns the expressions of the clauses for the plan, and the Params in them.  Values
 * of an outer relation become Params.
 */
extern List *csv_file_quals(PlannerInfo *root, const CsvPlanState *state,
							List *file_clauses, List **params);

/* ---- order.c ---- */

/*
 * Add the query's order to the program of a table's scan, if the executor only sorts
 * the rows and takes the first n.  Returns false if it does more, or if the engine
 * cannot have the order.
 */
extern bool csv_push_order(PlannerInfo *root, RelOptInfo *baserel,
						   CsvPlanState *state);

/* estimates how many of nrows rows come out of the engine */
extern double csv_rows_in_order(const PlannerInfo *root, double nrows);

/* ---- parallel_path.c ---- */

/* IsForeignScanParallelSafe: may parts of the table be scanned by workers? */
extern bool csv_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel,
								 RangeTblEntry *rte);

/* the number of workers for a shared scan; 0: do not share it */
extern int	csv_parallel_workers(PlannerInfo *root, RelOptInfo *baserel,
								 const CsvPlanState *state);

extern double csv_parallel_divisor(int nworkers);

/*
 * Is one of these true: for the type, or for the types of its elements, attributes and
 * bounds; for a check of a domain among them?  is_found may be NULL.
 */
extern bool csv_type_has(Oid type, bool (*is_found) (Oid type),
						 bool (*in_check) (Node *check));

/* ---- rescan.c ---- */

/* the column of the relation that it is, with or without a relabeled type, or NULL */
extern const Var *csv_column_of(const Node *node, Index relid);

/*
 * Do values that the operator finds equal have equal hashes?  With a collation that is not
 * deterministic, only if both sides have the same function: that of "name" is not of
 * collations.
 */
extern bool csv_hashes_alike(const OpExpr *op);

/*
 * Returns the equalities by which such a scan can look its rows up, as in CsvPlanItem.
 * clauses: RestrictInfos in the executor's order.  allowed: clauses that may serve;
 * while their values are not known, all rows must come out undecided.
 */
extern List *csv_find_equalities(PlannerInfo *root, const CsvPlanState *state,
								 List *clauses, const List *allowed);

/*
 * Returns the average cost of scans that are repeated for rows of the outer relations,
 * and for rows of queries around this query.  read_cost: to read all rows.  nfound: rows
 * that a scan returns.
 */
extern Cost csv_repeated_cost(PlannerInfo *root, const CsvPlanState *state,
							  Cost read_cost, Relids outer, double nfound);

/* ---- hash_joins.c ---- */

/* installs a hook that plans few nested loops over all rows of a relation */
extern void csv_hash_joins_init(void);

/* ---- sampled.c ---- */

/* takes rows and widths from a sample; 0: there is none, or ANALYZE's count */
extern double csv_plan_sample(PlannerInfo *root, RelOptInfo *baserel,
							  CsvPlanState *state);

/* installs a hook that supplies columns' statistics */
extern void csv_sampled_init(void);

/* ---- decorrelate.c ---- */

/* installs a planner that joins the groups of correlated aggregates */
extern void csv_decorrelate_init(void);

/* has another library a planner? */
extern bool csv_is_plan_hooked(void);

/* ---- partial_groups.c ---- */

/* installs a hook that plans groups of many processes */
extern void csv_partial_groups_init(void);

/* has another library such a hook? */
extern bool csv_is_grouping_hooked(void);

#endif							/* CSV_PLAN_STATE_H */
