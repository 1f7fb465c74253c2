/*
 * compat.h
 *		Differences between the server's major versions, 15 to 19.
 */
#ifndef CSV_COMPAT_H
#define CSV_COMPAT_H

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/sysattr.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_foreign_server.h"
#include "commands/copy.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "parser/parse_node.h"
#include "pgstat.h"
#include "replication/message.h"
#include "storage/bufpage.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"
#include "utils/varlena.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 160000
#include "utils/guc_hooks.h"
#include "varatt.h"
#else
#include "commands/variable.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "storage/waiteventset.h"
#include "utils/wait_classes.h"
#endif

#if PG_VERSION_NUM < 150000
#error "csv_gpu_fdw needs PostgreSQL 15 or later"
#endif

/* from 18 on, a library tells its version, which the Makefile has of the control file */
#if PG_VERSION_NUM >= 180000
#define CSV_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "csv_gpu_fdw", .version = CSV_VERSION)
#else
#define CSV_MODULE_MAGIC PG_MODULE_MAGIC
#endif

/* COPY and file_fdw have the option "default" from 16 on */
#define CSV_HAVE_DEFAULT_OPTION (PG_VERSION_NUM >= 160000)

/* from 17 on, the leader of a parallel query may start subtransactions */
#define CSV_HAVE_PARALLEL_SUBTRANSACTIONS (PG_VERSION_NUM >= 170000)

/* all settings; the array may be allocated in the current memory context */
static inline struct config_generic **
csv_all_settings(int *nsettings)
{
#if PG_VERSION_NUM >= 160000
	return get_guc_variables(nsettings);
#else
	*nsettings = GetNumConfigOptions();
	return get_guc_variables();
#endif
}

/* a set of events that lasts as long as the process */
static inline WaitEventSet *
csv_wait_event_set(int nevents)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, nevents);
#else
	return CreateWaitEventSet(TopMemoryContext, nevents);
#endif
}

/* false, too, if there is no such table (any more) */
static inline bool
csv_owns_table(Oid table, Oid user)
{
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table)))
		return false;
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, table, user);
#else
	return pg_class_ownercheck(table, user);
#endif
}

static inline AclResult
csv_server_aclcheck(Oid server, Oid user, AclMode mode)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ForeignServerRelationId, server, user, mode);
#else
	return pg_foreign_server_aclcheck(server, user, mode);
#endif
}

#if PG_VERSION_NUM < 160000

/*
 * "Perhaps you meant" of 16: the first of the nearest candidates, if it is within
 * max_d edits and half of the source's length.
 */
typedef struct ClosestMatchState
{
	const char *source;
	int			min_d;			/* of match; -1: none yet */
	int			max_d;
	const char *match;
} ClosestMatchState;

static inline void
initClosestMatch(ClosestMatchState *state, const char *source, int max_d)
{
	state->source = source;
	state->min_d = -1;
	state->max_d = max_d;
	state->match = NULL;
}

static inline void
updateClosestMatch(ClosestMatchState *state, const char *candidate)
{
	int			source_length = (int) strlen(state->source);
	int			candidate_length = (int) strlen(candidate);
	int			distance;

	/* varlena.c refuses longer strings (MAX_LEVENSHTEIN_STRLEN) */
	if (source_length == 0 || source_length > 255 || candidate_length > 255)
		return;

	distance = varstr_levenshtein_less_equal(state->source, source_length,
											 candidate, candidate_length,
											 1, 1, 1, state->max_d, true);
	if (distance > state->max_d || distance > source_length / 2)
		return;
	if (state->min_d < 0 || distance < state->min_d)
	{
		state->min_d = distance;
		state->match = candidate;
	}
}

static inline const char *
getClosestMatch(ClosestMatchState *state)
{
	return state->match;
}

#endif							/* PG_VERSION_NUM < 160000 */

/* paths of foreign scans: 17 adds fdw_restrictinfo, 18 disabled_nodes */
#if PG_VERSION_NUM >= 180000
#define CSV_ROWS(rows) rows, 0
#else
#define CSV_ROWS(rows) rows
#endif
#if PG_VERSION_NUM >= 170000
#define CSV_RESTRICTINFO NIL,
#else
#define CSV_RESTRICTINFO
#endif
#define csv_create_foreignscan_path(root, rel, rows, startup, total, outer) \
	create_foreignscan_path(root, rel, NULL, CSV_ROWS(rows), startup, total, \
							NIL, outer, NULL, CSV_RESTRICTINFO NIL)
#define csv_create_foreign_upper_path(root, rel, target, rows, startup, total) \
	create_foreign_upper_path(root, rel, target, CSV_ROWS(rows), startup, \
							  total, NIL, NULL, CSV_RESTRICTINFO NIL)

/* an expression of a query, for a partition (or a part of a UNION ALL) */
static inline Node *
csv_adjust_to_child(PlannerInfo *root, Node *node, RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->top_parent == NULL ? node :
		adjust_appendrel_attrs_multilevel(root, node, rel, rel->top_parent);
#else
	return rel->top_parent_relids == NULL ? node :
		adjust_appendrel_attrs_multilevel(root, node, rel->relids,
										  rel->top_parent_relids);
#endif
}

/*
 * The strategy of an operator in a btree family; for the negator of an equality
 * CSV_STRATEGY_NOT_EQUAL; 0: it has none.
 */
#define CSV_STRATEGY_NOT_EQUAL	6

static inline int
csv_btree_strategy(Oid opno)
{
#if PG_VERSION_NUM >= 180000
	List	   *found = get_op_index_interpretation(opno);

	return found == NIL ? 0 :
		(int) ((OpIndexInterpretation *) linitial(found))->cmptype;
#else
	List	   *found = get_op_btree_interpretation(opno);

	return found == NIL ? 0 :
		((OpBtreeInterpretation *) linitial(found))->strategy;
#endif
}

/*
 * Does the collation order text by its bytes?  In 18 only utils/pg_locale.h tells,
 * which needs ICU's headers; up to 17 the function can be declared without it.
 */
#if PG_VERSION_NUM < 180000
extern bool lc_collate_is_c(Oid collation);

static inline bool
csv_collation_is_c(Oid collation)
{
	return lc_collate_is_c(collation);
}
#else
static inline bool
csv_collation_is_c(Oid collation)
{
	bool		of_database = collation == DEFAULT_COLLATION_OID;
	int			cache = of_database ? DATABASEOID : COLLOID;
	HeapTuple	tuple = SearchSysCache1(cache, of_database ? MyDatabaseId :
										collation);
	char		provider;
	bool		is_c;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	provider = of_database ?
		((Form_pg_database) GETSTRUCT(tuple))->datlocprovider :
		((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
	is_c = provider == COLLPROVIDER_BUILTIN;
	if (provider == COLLPROVIDER_LIBC)
	{
		Datum		datum = SysCacheGetAttrNotNull(cache, tuple, of_database ?
												   Anum_pg_database_datcollate :
												   Anum_pg_collation_collcollate);
		char	   *name = TextDatumGetCString(datum);

		is_c = strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0;
		pfree(name);
	}
	ReleaseSysCache(tuple);
	return is_c;
}
#endif

/* the leaf page on which an entry may go in, locked for that */
static inline void
csv_bt_search(Relation index, Relation heap, BTScanInsert key, Buffer *buffer)
{
#if PG_VERSION_NUM >= 190000
	(void) _bt_search(index, heap, key, buffer, BT_WRITE, true);
#elif PG_VERSION_NUM >= 170000
	(void) _bt_search(index, heap, key, buffer, BT_WRITE);
#elif PG_VERSION_NUM >= 160000
	(void) _bt_search(index, heap, key, buffer, BT_WRITE, NULL);
#else
	(void) _bt_search(index, key, buffer, BT_WRITE, NULL);
#endif
}

/* up to 16, std_typanalyze() wants the attribute; it writes to it */
#if PG_VERSION_NUM >= 170000
#define CSV_STATISTICS_TARGET(attribute) .attstattarget = -1
#else
#define CSV_STATISTICS_TARGET(attribute) .attr = attribute
#endif
#if PG_VERSION_NUM < 160000
#define last_analyze_time analyze_timestamp
#endif

/* NULL in early minor releases up to 17 */
extern bool all_rows_selectable(PlannerInfo *root, Index varno,
								Bitmapset *varattnos) __attribute__((weak));

/* from 17 on, extensions have named wait events; *event has the number, 0 at first */
static inline uint32
csv_wait_event(uint32 *event, const char *name)
{
#if PG_VERSION_NUM >= 170000
	if (*event == 0)
		*event = WaitEventExtensionNew(name);
	return *event;
#else
	return PG_WAIT_EXTENSION;
#endif
}

/*
 * Make csv_check_permissions() require this privilege on the attributes of the
 * relation.  From 16 on, the required privileges are in a list apart from the range
 * table.
 */
static inline void
csv_ask_permissions(ParseNamespaceItem *item, AclMode privilege,
					const Bitmapset *attributes)
{
	Bitmapset  *columns = NULL;
	int			attnum = -1;

	while ((attnum = bms_next_member(attributes, attnum)) >= 0)
		columns = bms_add_member(columns,
								 attnum - FirstLowInvalidHeapAttributeNumber);
#if PG_VERSION_NUM >= 160000
	item->p_perminfo->requiredPerms = privilege |
		(item->p_perminfo->selectedCols != NULL ? ACL_SELECT : 0);
	if (privilege == ACL_INSERT)
		item->p_perminfo->insertedCols = columns;
	else
		item->p_perminfo->selectedCols = columns;
#else
	item->p_rte->requiredPerms = privilege |
		(item->p_rte->selectedCols != NULL ? ACL_SELECT : 0);
	if (privilege == ACL_INSERT)
		item->p_rte->insertedCols = columns;
	else
		item->p_rte->selectedCols = columns;
#endif
}

/*
 * as csv_ask_permissions() for INSERT, also SELECT of a key, and UPDATE of
 * attributes
 */
static inline void
csv_ask_conflict_permissions(ParseNamespaceItem *item, const Bitmapset *key,
							 const Bitmapset *updated)
{
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *asked = item->p_perminfo;
#else
	RangeTblEntry *asked = item->p_rte;
#endif
	Bitmapset  *inserted = asked->insertedCols;

	csv_ask_permissions(item, ACL_INSERT, updated);
	asked->updatedCols = asked->insertedCols;
	asked->insertedCols = inserted;
	csv_ask_permissions(item, ACL_SELECT, key);
	asked->requiredPerms |= ACL_INSERT | (updated == NULL ? 0 : ACL_UPDATE);
}

/*
 * ERROR if the user lacks a privilege, or if another library's hook refuses it.  The
 * hook may record each call.
 */
static inline void
csv_check_permissions(ParseState *pstate)
{
#if PG_VERSION_NUM >= 160000
	ExecCheckPermissions(pstate->p_rtable, pstate->p_rteperminfos, true);
#else
	ExecCheckRTPerms(pstate->p_rtable, true);
#endif
}

/* set an executor's range table */
static inline void
csv_init_range_table(EState *estate, ParseState *pstate)
{
#if PG_VERSION_NUM >= 180000
	ExecInitRangeTable(estate, pstate->p_rtable, pstate->p_rteperminfos,
					   bms_make_singleton(1));
#elif PG_VERSION_NUM >= 160000
	ExecInitRangeTable(estate, pstate->p_rtable, pstate->p_rteperminfos);
#else
	ExecInitRangeTable(estate, pstate->p_rtable);
#endif
}

/* ERROR if rows cannot be inserted into the relation */
static inline void
csv_check_insert_target(ResultRelInfo *relation)
{
#if PG_VERSION_NUM >= 180000
	CheckValidResultRel(relation, CMD_INSERT, ONCONFLICT_NONE, NIL);
#elif PG_VERSION_NUM >= 170000
	CheckValidResultRel(relation, CMD_INSERT, NIL);
#else
	CheckValidResultRel(relation, CMD_INSERT);
#endif
}

/* from 18 on, a foreign key may be not enforced, or hold in periods */
static inline bool
csv_tests_foreign_key(Form_pg_constraint constraint)
{
#if PG_VERSION_NUM >= 180000
	return constraint->conenforced && !constraint->conperiod;
#else
	return true;
#endif
}

/* from 18 on, a row that is updated may be left out */
static inline bool
csv_check_index_constraints(ResultRelInfo *relation, TupleTableSlot *slot,
							EState *estate,
							ItemPointer conflict, List *arbiters)
{
#if PG_VERSION_NUM >= 180000
	ItemPointerData updated;

	ItemPointerSetInvalid(&updated);
	return ExecCheckIndexConstraints(relation, slot, estate, conflict,
									 &updated, arbiters);
#else
	return ExecCheckIndexConstraints(relation, slot, estate, conflict,
									 arbiters);
#endif
}

/* the subtransaction that made the relation's storage, if in this transaction */
#if PG_VERSION_NUM >= 160000
#define csv_new_storage_subid(relation) ((relation)->rd_newRelfilelocatorSubid)
#define csv_first_storage_subid(relation) ((relation)->rd_firstRelfilelocatorSubid)
#else
#define csv_new_storage_subid(relation) ((relation)->rd_newRelfilenodeSubid)
#define csv_first_storage_subid(relation) ((relation)->rd_firstRelfilenodeSubid)
#endif

/* log images of pages, at most XLR_MAX_BLOCK_ID in a record; sets their LSNs */
static inline void
csv_log_new_pages(Relation relation, int npages, BlockNumber *blocks, Page *pages)
{
#if PG_VERSION_NUM >= 160000
	log_newpages(&relation->rd_locator, MAIN_FORKNUM, npages, blocks, pages, true);
#else
	log_newpages(&relation->rd_node, MAIN_FORKNUM, npages, blocks, pages, true);
#endif
}

static inline bool
csv_storage_is_new(Relation relation)
{
	return RELKIND_HAS_STORAGE(relation->rd_rel->relkind) &&
		(relation->rd_createSubid != InvalidSubTransactionId ||
		 csv_first_storage_subid(relation) != InvalidSubTransactionId);
}

/* rebuild an index with new storage, as REINDEX does */
static inline void
csv_reindex(Oid index, char persistence)
{
	ReindexParams params = {0};

#if PG_VERSION_NUM >= 170000
	reindex_index(NULL, index, false, persistence, &params);
#else
	reindex_index(index, false, persistence, &params);
#endif
}

/* from 17 on, COPY has FORCE_NOT_NULL * and FORCE_NULL * */
#if PG_VERSION_NUM >= 170000
#define csv_copy_forces_not_null(copy) ((copy)->force_notnull_all)
#define csv_copy_forces_null(copy) ((copy)->force_null_all)
#else
#define csv_copy_forces_not_null(copy) false
#define csv_copy_forces_null(copy) false
#endif

/* from 17 on, COPY has ON_ERROR and LOG_VERBOSITY; from 18 on, REJECT_LIMIT */
#if PG_VERSION_NUM >= 170000
#define csv_copy_on_error(copy) ((copy)->on_error)
#define csv_copy_verbosity(copy) ((copy)->log_verbosity)
#else
#define COPY_ON_ERROR_IGNORE 1
#define COPY_LOG_VERBOSITY_DEFAULT 0
#define COPY_LOG_VERBOSITY_VERBOSE 1
#define csv_copy_on_error(copy) 0
#define csv_copy_verbosity(copy) 0
#define CopyLimitPrintoutLength(value) (value)
#define PROGRESS_COPY_TUPLES_SKIPPED PROGRESS_COPY_TUPLES_EXCLUDED
#endif
#if PG_VERSION_NUM >= 180000
#define csv_copy_reject_limit(copy) ((copy)->reject_limit)
#else
#define csv_copy_reject_limit(copy) 0
#endif

/* from 18 on, COPY computes defaults for rows that it skips */
#define CSV_COPY_DEFAULTS_OF_SKIPPED (PG_VERSION_NUM >= 180000)

/* from 16 on, COPY inserts rows into foreign tables in batches */
#define CSV_COPY_BATCHES (PG_VERSION_NUM >= 160000)

/* where COPY has the default of the column (by its number from 0) that it adds next */
#if PG_VERSION_NUM >= 160000
#define csv_copy_default(copy, column) ((copy)->defexprs[column])
#else
#define csv_copy_default(copy, column) ((copy)->defexprs[(copy)->num_defaults])
#endif

/* a record of the transaction in the WAL, which means nothing; returns its end */
static inline XLogRecPtr
csv_log_message(const char *prefix, const char *message)
{
#if PG_VERSION_NUM >= 170000
	return LogLogicalMessage(prefix, message, strlen(message), true, false);
#else
	return LogLogicalMessage(prefix, message, strlen(message), true);
#endif
}

/* the format of a COPY, which has a type of its own from 19 on, where JSON came */
#if PG_VERSION_NUM >= 190000
#define csv_copy_is_csv(copy) ((copy)->format == COPY_FORMAT_CSV)
#define csv_copy_is_text(copy) ((copy)->format == COPY_FORMAT_TEXT)
#else
#define csv_copy_is_csv(copy) ((copy)->csv_mode)
#define csv_copy_is_text(copy) (!(copy)->csv_mode && !(copy)->binary)
#endif

/* 19 hands EXPLAIN's state to the planner, and so to its hooks */
#if PG_VERSION_NUM >= 190000
#define CSV_EXPLAIN_PARAMETER , ExplainState *explain
#define CSV_EXPLAIN_ARGUMENT , explain
#define pg_plan_query(query, string, options, params) \
	pg_plan_query(query, string, options, params, NULL)
#else
#define CSV_EXPLAIN_PARAMETER
#define CSV_EXPLAIN_ARGUMENT
#endif

/*
 * Which paths of a join may be nested loops?  Up to 18, a setting says so when paths are
 * added; in 19, the relation of the join.
 */
static inline bool
csv_nestloops_allowed(const RelOptInfo *joinrel)
{
#if PG_VERSION_NUM >= 190000
	return (joinrel->pgs_mask & PGS_NESTLOOP_ANY) != 0;
#else
	return enable_nestloop;
#endif
}

/* returns the value with which csv_allow_nestloops() restores them */
static inline uint64
csv_forbid_nestloops(RelOptInfo *joinrel)
{
#if PG_VERSION_NUM >= 190000
	uint64		saved = joinrel->pgs_mask;

	joinrel->pgs_mask &= ~PGS_NESTLOOP_ANY;
#else
	uint64		saved = enable_nestloop;

	enable_nestloop = false;
#endif
	return saved;
}

static inline void
csv_allow_nestloops(RelOptInfo *joinrel, uint64 saved)
{
#if PG_VERSION_NUM >= 190000
	joinrel->pgs_mask = saved;
#else
	enable_nestloop = saved != 0;
#endif
}

/* from 19 on, states of sums of integers are serialized as integers of 16 bytes */
#define CSV_SERIALIZES_INT128 (PG_VERSION_NUM >= 190000)

/*
 * From 18 on, a query runs once in any case, a delay knows whether (auto)analyze
 * waits, and there may be room before a tuple.  EXPLAIN puts tables before columns
 * if there are several, and does not count the range table entry of groups.
 */
#if PG_VERSION_NUM >= 180000
#define csv_executor_run(query) ExecutorRun(query, ForwardScanDirection, 0)
#define csv_vacuum_delay_point() vacuum_delay_point(true)
#define csv_form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull, 0)
#define csv_explain_prefix(es) ((es)->rtable_size > 1 || (es)->verbose)
#else
#define csv_executor_run(query) \
	ExecutorRun(query, ForwardScanDirection, 0, true)
#define csv_vacuum_delay_point() vacuum_delay_point()
#define csv_form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull)
#define csv_explain_prefix(es) (list_length((es)->rtable) > 1 || (es)->verbose)
#endif

/* other functions with further parameters in 19, or other names */
#if PG_VERSION_NUM >= 190000
#define create_material_path(rel, path) create_material_path(rel, path, true)
#define table_beginscan(rel, snapshot, nkeys, keys) \
	table_beginscan(rel, snapshot, nkeys, keys, SO_NONE)
#define DomainHasConstraints(type) DomainHasConstraints(type, NULL)
#define PageSetChecksumInplace(page, block) PageSetChecksum(page, block)
#else
#define TupleDescFinalize(tupdesc) ((void) 0)
#define PG_SIG_DFL SIG_DFL
#define PG_SIG_IGN SIG_IGN
#endif

/* from 18 on, the operators of other ordered indexes, too */
#if PG_VERSION_NUM >= 180000
#define get_op_btree_interpretation get_op_index_interpretation
#endif

/* from 16 on, a Var names the outer join that may make it NULL */
static inline void
csv_set_nulled(Var *var, int join)
{
#if PG_VERSION_NUM >= 160000
	var->varnullingrels = bms_make_singleton(join);
#endif
}

#endif							/* CSV_COMPAT_H */
