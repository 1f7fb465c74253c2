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
#include "storage/shmem.h"

#include "reader/footer.h"
#include "scan/execute.h"
#include "scan/join_filter.h"

/* where the parts of the shared memory are, for the leader and the workers that may come */
static void
place_parts(CsvSharedScan *shared, const char *options, Size filter_bytes,
			const ParallelContext *pcxt)
{
	shared->report = MAXALIGN(sizeof(CsvSharedScan));
	shared->server_options = shared->report +
		MAXALIGN(csv_shared_report_size(pcxt->nworkers + 1));
	shared->join_filters = shared->server_options + MAXALIGN(strlen(options) + 1);
	shared->sharing = shared->join_filters + MAXALIGN(filter_bytes);
}

/* the memory for join filters; NULL: the leader has none that are shared */
static void *
filter_memory(CsvSharedScan *shared)
{
	return shared->sharing == shared->join_filters ? NULL :
		(char *) shared + shared->join_filters;
}

Size
csv_estimate_dsm(ForeignScanState *node, ParallelContext *pcxt)
{
	CsvScanState *state = node->fdw_state;
	CsvSharedScan parts;

	csv_decide_files(node);
	place_parts(&parts, nodeToString(state->table->server_options),
				csv_join_filters_size(state->join_filters, node), pcxt);
	return add_size(parts.sharing, csv_sharing_size(state->scan->batches->source));
}

void
csv_initialize_dsm(ForeignScanState *node, ParallelContext *pcxt,
				   void *coordinate)
{
	CsvScanState *state = node->fdw_state;
	const CsvTable *table = state->table;
	CsvSharedScan *shared = coordinate;
	const char *options = nodeToString(table->server_options);

	memset(shared, 0, sizeof(*shared));
	place_parts(shared, options,
				csv_join_filters_size(state->join_filters, node), pcxt);
	memcpy((char *) shared + shared->server_options, options, strlen(options) + 1);
	SpinLockInit(&shared->mutex);
	csv_sharing_init(csv_shared_files(shared), state->scan->batches->source,
					 pcxt->nworkers + 1,
					 csv_piece_bytes(table->reader.chunk_bytes),
					 csv_footer_margin(&table->reader.dialect),
					 &table->settings);
	csv_skipping_begin_shared(state->scan->skipping, csv_shared_report(shared));
	csv_join_filters_share(state->join_filters, node, filter_memory(shared), true);
	csv_joins_have_memory();
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
	CsvSharedScan *shared = coordinate;

	if (!state->has_begun)
		csv_begin_shared(state);
	if (state->is_shared)
		(void) csv_table_scan_unshare(state->scan);
	state->is_shared = false;
	state->has_begun = false;
	csv_decide_files(node);

	/*
	 * All files are read again, after everything that was reported up to now.  The
	 * leader takes its own bytes away when it is rewound.
	 */
	shared->statistics.batches.bytes = state->scan->told.batches.bytes;
	csv_skipping_begin_shared(state->scan->skipping, csv_shared_report(shared));
	csv_sharing_restart(csv_shared_files(shared), state->scan->batches->source,
						&state->table->settings);
	csv_join_filters_share(state->join_filters, node, filter_memory(shared), true);
}

void
csv_initialize_worker(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	CsvScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *relation = list_nth(plan->fdw_private, CSV_PLAN_RELATION);
	CsvSharedScan *shared = coordinate;
	const char *options = (const char *) shared + shared->server_options;
	MemoryContext outer =
		MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	/* the table as the leader has it, and its files */
	state->table = csv_table_get_as(linitial_oid(relation),
									stringToNode(options));
	csv_table_check(state->table);
	csv_sharing_files(csv_shared_files(shared), &state->table->files,
					  &state->table->nfiles);
	MemoryContextSwitchTo(outer);
	state->shared = shared;
	state->dsa = node->ss.ps.state->es_query_dsa;
	csv_join_filters_share(state->join_filters, node, filter_memory(shared), false);
	csv_joins_have_memory();
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
		state->statistics = csv_table_scan_unshare(state->scan);
		state->has_statistics = true;
	}
	csv_join_filters_share(state->join_filters, node, NULL, false);
	state->is_shared = false;
	state->has_begun = false;
	state->shared = NULL;
	state->pcxt = NULL;
	state->dsa = NULL;
}
