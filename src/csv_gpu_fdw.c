/*
 * csv_gpu_fdw.c
 *		The module, and the handler of the foreign data wrapper.
 */
#include "postgres.h"

#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "utils/guc.h"

#include "compat.h"
#include "import/import.h"
#include "plan/plan_state.h"
#include "scan/execute.h"
#include "scan/join_filter.h"
#include "load/copy.h"
#include "output/record_scan.h"
#include "output/writes.h"
#include "settings.h"
#include "table/release.h"

CSV_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	(void) csv_library_is_replaced(false);
	csv_settings_define();
	csv_copy_init();
	csv_joins_init();
	csv_hash_joins_init();
	csv_sampled_init();
	csv_decorrelate_init();
	csv_partial_groups_init();
	csv_record_scan_init();
	csv_writes_init();
	MarkGUCPrefixReserved("csv_gpu_fdw");
}

PG_FUNCTION_INFO_V1(csv_gpu_fdw_handler);

Datum
csv_gpu_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	csv_begin_function(fcinfo, "strict -> fdw_handler");
	routine->GetForeignRelSize = csv_get_rel_size;
	routine->GetForeignPaths = csv_get_paths;
	routine->GetForeignPlan = csv_get_plan;
	routine->BeginForeignScan = csv_begin_scan;
	routine->IterateForeignScan = csv_iterate_scan;
	routine->ReScanForeignScan = csv_rescan;
	routine->EndForeignScan = csv_end_scan;
	routine->IsForeignScanParallelSafe = csv_is_parallel_safe;
	routine->EstimateDSMForeignScan = csv_estimate_dsm;
	routine->InitializeDSMForeignScan = csv_initialize_dsm;
	routine->ReInitializeDSMForeignScan = csv_reinitialize_dsm;
	routine->InitializeWorkerForeignScan = csv_initialize_worker;
	routine->ShutdownForeignScan = csv_shutdown_scan;
	routine->ExplainForeignScan = csv_explain_scan;
	routine->AnalyzeForeignTable = csv_analyze_table;
	routine->GetForeignUpperPaths = csv_get_upper_paths;
	routine->IsForeignRelUpdatable = csv_is_updatable;
	routine->BeginForeignModify = csv_begin_modify;
	routine->BeginForeignInsert = csv_begin_insert;
	routine->ExecForeignInsert = csv_exec_insert;
	routine->ExecForeignTruncate = csv_exec_truncate;
	routine->ImportForeignSchema = csv_import_foreign_schema;
	PG_RETURN_POINTER(routine);
}
