/*
 * parallel.c
 *		Scans that several processes of a parallel query share.
 *
 * The leader sets up shared memory.  The leader and the workers then take pieces of
 * the files (batches/sharing.h), and the skipped records are put in order again
 * (skipping.h).  If no workers come, the scan goes on alone.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"

#include "scan/execute.h"

/* the leader and the workers that may come */
static int
count_processes(const ParallelContext *pcxt)
{
	return pcxt->nworkers + 1;
}

Size
csv_estimate_dsm(ForeignScanState *node, ParallelContext *pcxt)
{
	CsvScanState *state = node->fdw_state;

	csv_decide_files(node);
	return csv_shared_scan_size(state->scan, count_processes(pcxt));
}

void
csv_initialize_dsm(ForeignScanState *node, ParallelContext *pcxt,
				   void *coordinate)
{
	CsvScanState *state = node->fdw_state;

	csv_shared_scan_init(coordinate, state->scan, count_processes(pcxt));
	state->pcxt = pcxt;
	state->shared = coordinate;
	/* set only while the plan is set up, or run by the leader */
	state->dsa = node->ss.ps.state->es_query_dsa;
}

void
csv_reinitialize_dsm(ForeignScanState *node, ParallelContext *pcxt,
					 void *coordinate)
{
	CsvScanState *state = node->fdw_state;

	/* its own part of the statistics is added at the end of all scans */
	if (!state->has_begun)
		csv_begin_shared(state);
	if (state->is_shared)
		csv_table_scan_unshare(state->scan, NULL);
	state->is_shared = false;
	state->has_begun = false;
	csv_decide_files(node);
	csv_shared_scan_restart(coordinate, state->scan);
}

void
csv_initialize_worker(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *relation = list_nth(plan->fdw_private, CSV_PLAN_RELATION);
	MemoryContext outer =
		MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	state->table = csv_shared_scan_table(coordinate, linitial_oid(relation));
	MemoryContextSwitchTo(outer);
	state->shared = coordinate;
	state->dsa = node->ss.ps.state->es_query_dsa;
	csv_open_scan(node);
}

void
csv_shutdown_scan(ForeignScanState *node)
{
	CsvScanState *state = node->fdw_state;

	if (state == NULL || state->shared == NULL)
		return;
	/* a leader that took no part may still have to report */
	if (!state->has_begun)
		csv_begin_shared(state);
	if (state->is_shared)
	{
		csv_table_scan_unshare(state->scan, &state->statistics);
		state->has_statistics = true;
	}
	state->is_shared = false;
	state->has_begun = false;
	state->shared = NULL;
	state->pcxt = NULL;
	state->dsa = NULL;
}
