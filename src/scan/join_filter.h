/*
 * join_filter.h
 *		Filters of a scan's rows by the keys of hash joins above the scan.
 *
 * A row that has no partner in the hash table of a join need not be made.  The keys in
 * the table are collected in a Bloom filter while the join builds the table (joins.c).
 * A filter lets rows pass that have no partner, too, so the join checks all rows as
 * always.
 */
#ifndef CSV_JOIN_FILTER_H
#define CSV_JOIN_FILTER_H

#include "nodes/execnodes.h"
#include "port/atomics.h"

#include "scan/fetch.h"

/* a join with more keys is filtered by these many */
#define CSV_MAX_JOIN_KEYS	8

/* the Bloom filter, also in shared memory */
typedef struct CsvJoinBits
{
	pg_atomic_uint64 nrows;		/* of the hash table, whose keys are here */
	uint64		nwords;			/* a power of two */
	pg_atomic_uint64 words[FLEXIBLE_ARRAY_MEMBER];
} CsvJoinBits;

/* the keys of one hash join, in the executor's memory */
typedef struct CsvJoinFilter
{
	const HashJoinState *join;
	PlanState  *child;			/* delivers the rows of the hash table */
	ExecProcNodeMtd next_row;	/* the child's own function */
	int			nkeys;
	Oid			inner_types[CSV_MAX_JOIN_KEYS];
	Oid			outer_types[CSV_MAX_JOIN_KEYS];
	AttrNumber	inner_atts[CSV_MAX_JOIN_KEYS];	/* in the child's rows */
	uint32		used;			/* a bit for each key that scans have */
	uint64		nwords;
	CsvJoinBits *bits;			/* NULL: no keys yet */
	uint64		nrows;			/* that bits->nrows does not count yet */
	bool		complete;		/* the hash table's last row was seen */

	/* if processes build one hash table together, the bits are in shared memory */
	const ForeignScanState *owner;	/* of the scan with this memory; NULL: none */
	bool		is_shared;

	struct CsvJoinFilter *next; /* of this process */
} CsvJoinFilter;

/* such a filter, as one scan uses it */
typedef struct CsvScanFilter
{
	CsvJoinFilter *filter;
	Var		   *columns[CSV_MAX_JOIN_KEYS]; /* of the table; NULL: no such key */
	uint64		ntested;		/* rows */
	uint64		nremoved;
	bool		dropped;		/* it removed too few rows */
} CsvScanFilter;

/* has the type values that a filter can have? */
extern bool csv_join_type_allowed(Oid type);

/* the number of words for a hash table of nrows rows, within its memory */
extern uint64 csv_join_filter_words(double nrows);

/* add the keys of a row of the hash table, or note that there are no more rows */
extern void csv_join_filter_collect(CsvJoinFilter *filter, TupleTableSlot *slot);

/* can any of these filters be used now? */
extern bool csv_join_filters_work(const List *scan_filters);

/*
 * Removes rows without partners from a list of n rows of a batch (positions in its
 * selection; without a selection, rows), and returns the number of rows that are left.
 * columns: as csv_inputs_take() got them.  inputs: NULL if the arrays hold all
 * values.  Rows whose values are not all made pass, so that their records are checked.
 */
extern uint32_t csv_join_filters_run(List *scan_filters, const CsvFileBatch *at,
									 const CsvScanColumn *columns, int ncolumns,
									 const CsvInputs *inputs, uint32_t *rows,
									 uint32_t n);

/* ---- shared memory of a scan, for the filters (CsvScanFilter) that it owns ---- */

extern Size csv_join_filters_size(const List *scan_filters,
								  const ForeignScanState *owner);

/* in the leader: initialize; in a worker, use the leader's.  NULL: it ends */
extern void csv_join_filters_share(const List *scan_filters,
								   const ForeignScanState *owner, void *memory,
								   bool initialize);

/* ---- joins.c: finds hash joins whose keys can filter rows of scans ---- */

/* installs a hook that does so whenever the executor has set up a plan */
extern void csv_joins_init(void);

/* a scan that processes share has got its shared memory */
extern void csv_joins_have_memory(void);

#endif							/* CSV_JOIN_FILTER_H */
