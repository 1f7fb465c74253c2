/*
 * owner.c
 *		csv_gpu_owner, a library that only tests install: a stand-in for libraries and
 *		access methods that keep a table's rows themselves.
 *
 * Rows of a table "owned..." go into the table "kept..." of the same schema and columns,
 * by every INSERT; COPY into it gets its rows into "owned...", and a NOTICE.  The
 * setting csv_gpu_owner.way says what an INSERT's plan looks like, and with
 * csv_gpu_owner.reads, that of a SELECT of "owned..." alone.
 *
 * The access method of owner_heap_handler() is heap, but without table_multi_insert().
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/planner.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"

PG_MODULE_MAGIC;

typedef enum Way
{
	ABOVE,						/* a CustomScan above ModifyTable */
	ELSEWHERE,					/* ModifyTable of the other table */
	BELOW,						/* a CustomScan below ModifyTable of "owned..." itself,
								 * with a NOTICE at its end */
	UNREAD,						/* as ABOVE, and the rows do not come from this
								 * session's scan: there are none */
	REFUSED						/* an ERROR */
} Way;

static const struct config_enum_entry ways[] = {
	{"above", ABOVE, false},
	{"elsewhere", ELSEWHERE, false},
	{"below", BELOW, false},
	{"unread", UNREAD, false},
	{"refused", REFUSED, false},
	{NULL, 0, false}
};

static int	way = ABOVE;
static bool reads = false;
static planner_hook_type next_planner;
static ProcessUtility_hook_type next_utility;

static bool
is_owned(Oid relid)
{
	return strncmp(get_rel_name(relid), "owned", 5) == 0;
}

/* ---- a CustomScan that hands on what is below it ---- */

typedef struct PassState
{
	CustomScanState css;
	uint64		nrows;
} PassState;

static void
pass_begin(CustomScanState *css, EState *estate, int eflags)
{
	CustomScan *scan = castNode(CustomScan, css->ss.ps.plan);

	css->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate, eflags));
}

static TupleTableSlot *
pass_exec(CustomScanState *css)
{
	TupleTableSlot *slot = ExecProcNode(linitial(css->custom_ps));

	if (!TupIsNull(slot))
		((PassState *) css)->nrows++;
	return slot;
}

static void
pass_end(CustomScanState *css)
{
	if (way == BELOW)
		ereport(NOTICE,
				(errmsg("csv_gpu_owner passed " UINT64_FORMAT " rows", ((PassState *) css)->nrows)));
	ExecEndNode(linitial(css->custom_ps));
}

static void
pass_rescan(CustomScanState *css)
{
	ExecReScan(linitial(css->custom_ps));
}

static const CustomExecMethods pass_exec_methods = {
	.CustomName = "csv_gpu_owner",
	.BeginCustomScan = pass_begin,
	.ExecCustomScan = pass_exec,
	.EndCustomScan = pass_end,
	.ReScanCustomScan = pass_rescan
};

static Node *
pass_create(CustomScan *scan)
{
	PassState  *state = palloc0(sizeof(PassState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &pass_exec_methods;
	return (Node *) state;
}

static const CustomScanMethods pass_methods = {
	.CustomName = "csv_gpu_owner",
	.CreateCustomScanState = pass_create
};

static Plan *
put_above(Plan *plan)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = copyObject(plan->targetlist);
	scan->custom_scan_tlist = copyObject(plan->targetlist);
	scan->custom_plans = list_make1(plan);
	scan->methods = &pass_methods;
	return (Plan *) scan;
}

/* ---- hooks ---- */

/* have a query use the other table in place of its target or source */
static void
divert(Query *query, RangeTblEntry *target)
{
	const char *name = get_rel_name(target->relid);
	Oid			kept = get_relname_relid(psprintf("kept%s", name + strlen("owned")),
										 get_rel_namespace(target->relid));

	if (!OidIsValid(kept))
		elog(ERROR, "there is no table to keep the rows of \"%s\"", name);
	table_close(table_open(kept, RowExclusiveLock), NoLock);
#if PG_VERSION_NUM >= 160000
	getRTEPermissionInfo(query->rteperminfos, target)->relid = kept;
#endif
	target->relid = kept;
}

static PlannedStmt *
plan_query(Query *query, const char *string, int options,
		   ParamListInfo params CSV_EXPLAIN_PARAMETER)
{
	RangeTblEntry *entry = NULL;
	bool		is_ours;
	PlannedStmt *stmt;

	if (query->commandType == CMD_INSERT)
		entry = rt_fetch(query->resultRelation, query->rtable);
	else if (reads && query->commandType == CMD_SELECT && list_length(query->rtable) == 1)
		entry = linitial(query->rtable);
	is_ours = entry != NULL && entry->rtekind == RTE_RELATION && is_owned(entry->relid);

	if (is_ours && way == REFUSED)
		elog(ERROR, "csv_gpu_owner refuses to plan");
	if (is_ours && way != BELOW)
		divert(query, entry);
	if (is_ours && way == UNREAD)
		query->jointree->quals = makeBoolConst(false, false);
	stmt = next_planner != NULL ? next_planner(query, string, options, params CSV_EXPLAIN_ARGUMENT) :
		standard_planner(query, string, options, params CSV_EXPLAIN_ARGUMENT);
	if (is_ours && (way == ABOVE || way == UNREAD))
		stmt->planTree = put_above(stmt->planTree);
	if (is_ours && way == BELOW)
		outerPlan(stmt->planTree) = put_above(outerPlan(stmt->planTree));
	return stmt;
}

static void
process_utility(PlannedStmt *pstmt, const char *string, bool is_read_only,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *qc)
{
	if (IsA(pstmt->utilityStmt, CopyStmt))
		ereport(NOTICE, (errmsg("csv_gpu_owner saw a COPY")));
	if (next_utility != NULL)
		next_utility(pstmt, string, is_read_only, context, params, environment, dest, qc);
	else
		standard_ProcessUtility(pstmt, string, is_read_only, context, params, environment,
								dest, qc);
}

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomEnumVariable("csv_gpu_owner.way", "What the plan of an INSERT looks like.",
							 NULL, &way, ABOVE, ways, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("csv_gpu_owner.reads", "Does a SELECT have such a plan, too?",
							 NULL, &reads, false, PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterCustomScanMethods(&pass_methods);
	next_planner = planner_hook;
	planner_hook = plan_query;
	next_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

/* ---- the access method ---- */

#if PG_VERSION_NUM >= 190000
typedef uint32 InsertOptions;
#else
typedef int InsertOptions;
#endif

static void
refuse_multi_insert(Relation relation, TupleTableSlot **slots, int nslots, CommandId cid,
					InsertOptions options, struct BulkInsertStateData *bulk)
{
	elog(ERROR, "csv_gpu_owner takes rows one by one");
}

/* PostgreSQL makes a TOAST table's index in a heap only */
static Oid
heap_toast_am(Relation relation)
{
	return HEAP_TABLE_AM_OID;
}

PG_FUNCTION_INFO_V1(owner_heap_handler);

Datum
owner_heap_handler(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.multi_insert = refuse_multi_insert;
	routine.relation_toast_am = heap_toast_am;
	PG_RETURN_POINTER(&routine);
}
