/*
 * verdicts.c
 *		Verdicts about rows, by the keys that indexes and foreign keys have of
 *		them.
 *
 * An INSERT that finds a duplicate only in the index has written its row
 * already.  Here such rows are known before, so that nothing is written for
 * them.  Keys are sorted as for the index, and looked up there in this order
 * (indexes.c).
 *
 * Foreign keys are queries, which see two relations: csv_rows has the columns
 * cN of the rows, by the number of the target's attribute, and csv_verdicts has
 * the verdicts so far.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "load/indexes.h"
#include "load/insert.h"
#include "load/verdicts.h"
#include "output/copy_to.h"
#include "table/option.h"

struct CsvVerdicts
{
	CsvVerdictCounts counts;
	Relation	target;
	Relation	index;			/* of the key; NULL: none */
	CsvIndexKeys *keys;			/* of the rows */
	List	   *foreign_keys;	/* ForeignKeyCacheInfos */
	Bitmapset  *needed;			/* attributes of the target, for foreign keys */
	Tuplestorestate *rows;		/* csv_rows */
	TupleTableSlot *row;
	Tuplestorestate *decided;	/* csv_verdicts */
	Tuplesortstate *sorted;		/* all */
	ResourceOwner resources;	/* it belongs to them */
	TupleTableSlot *slot;		/* of the next one */
	int64		place;			/* of the next one; PG_INT64_MAX: there is none */
};

/* ---- indexes ---- */

/* the attributes that the argument "key" names */
static Bitmapset *
named_attributes(Relation target, ArrayType *columns)
{
	Bitmapset  *attnums = NULL;
	Datum	   *values;
	bool	   *isnull;
	int			n;

	deconstruct_array(columns, TEXTOID, -1, false, TYPALIGN_INT, &values,
					  &isnull, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name = isnull[i] ? pstrdup("") :
			TextDatumGetCString(values[i]);

		attnums = bms_add_member(attnums, csv_target_column(target, name));
	}
	return attnums;
}

/* the attributes of an index that can arbitrate, or NULL */
static Bitmapset *
key_of(Relation index)
{
	Form_pg_index form = index->rd_index;
	Bitmapset  *attnums = NULL;

	/* a key WITHOUT OVERLAPS is not a B-tree */
	if (!form->indisunique || !form->indisvalid || !form->indimmediate ||
		index->rd_rel->relam != BTREE_AM_OID ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return NULL;
	for (int i = 0; i < form->indnkeyatts; i++)
		attnums = bms_add_member(attnums, form->indkey.values[i]);
	return attnums;
}

Oid
csv_only_unique_index(Relation target, Bitmapset **attnums)
{
	Oid			found = InvalidOid;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		/* a deferrable constraint refuses the statement */
		bool		refuses = index->rd_index->indimmediate &&
			(index->rd_index->indisunique || index->rd_index->indisexclusion);
		Bitmapset  *key = key_of(index);

		index_close(index, NoLock);
		if (refuses && (key == NULL || OidIsValid(found)))
			return InvalidOid;
		if (refuses)
		{
			found = lfirst_oid(cell);
			*attnums = key;
		}
	}
	return found;
}

bool
csv_any_deferrable_index(Relation target)
{
	bool		any = false;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		any |= !index->rd_index->indimmediate;
		index_close(index, NoLock);
	}
	return any;
}

Oid
csv_key_index(Relation target, ArrayType *columns, Bitmapset **attnums)
{
	Bitmapset  *named = columns == NULL ? NULL :
		named_attributes(target, columns);
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		bool		is_primary = index->rd_index->indisprimary;

		*attnums = key_of(index);
		index_close(index, NoLock);
		if (*attnums != NULL &&
			(columns == NULL ? is_primary : bms_equal(*attnums, named)))
			return lfirst_oid(cell);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
			 columns == NULL ?
			 errmsg("\"%s\" has no primary key that can tell duplicates",
					RelationGetRelationName(target)) :
			 errmsg("\"%s\" has no unique index on just the columns of \"key\"",
					RelationGetRelationName(target)),
			 errdetail("The index must be valid, not deferrable, and without WHERE and expressions."),
			 target->rd_rel->relkind != RELKIND_RELATION &&
			 target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE ? 0 :
			 columns == NULL ?
			 errhint("Add a primary key, or name the columns of a unique index in the argument \"key\".") :
			 errhint("CREATE UNIQUE INDEX makes one.")));
}

/* ---- rows ---- */

/* for each foreign key that an INSERT checks: the attributes that it needs */
static void
add_foreign_keys(CsvVerdicts *verdicts)
{
	Oid			relid = RelationGetRelid(verdicts->target);
	ListCell   *cell;

	verdicts->foreign_keys = copyObject(RelationGetFKeyList(verdicts->target));
	foreach(cell, verdicts->foreign_keys)
	{
		const ForeignKeyCacheInfo *key = lfirst_node(ForeignKeyCacheInfo, cell);

		for (int i = 0; i < key->nkeys; i++)
		{
			verdicts->needed = bms_add_member(verdicts->needed, key->conkey[i]);
			if (key->confrelid == relid)
				verdicts->needed = bms_add_member(verdicts->needed,
												  key->confkey[i]);
		}
	}
}

CsvVerdicts *
csv_verdicts_create(Relation target, Oid index, bool foreign_keys,
					ResourceOwner resources)
{
	CsvVerdicts *verdicts = palloc0(sizeof(CsvVerdicts));
	TupleDesc	decided = CreateTemplateTupleDesc(2);
	TupleDesc	tupdesc;
	AttrNumber	to = 1;
	int			attnum = -1;

	verdicts->target = target;
	verdicts->resources = resources;
	if (OidIsValid(index))
		verdicts->index = index_open(index, RowExclusiveLock);
	if (foreign_keys)
		add_foreign_keys(verdicts);
	for (int i = 0; verdicts->index != NULL &&
		 i < IndexRelationGetNumberOfKeyAttributes(verdicts->index); i++)
		verdicts->needed = bms_add_member(verdicts->needed,
										  verdicts->index->rd_index->indkey.values[i]);
	tupdesc = CreateTemplateTupleDesc(bms_num_members(verdicts->needed) + 1);
	TupleDescInitEntry(tupdesc, to, "place", INT8OID, -1, 0);
	while ((attnum = bms_next_member(verdicts->needed, attnum)) >= 0)
	{
		TupleDescCopyEntry(tupdesc, ++to, RelationGetDescr(target),
						   (AttrNumber) attnum);
		namestrcpy(&TupleDescAttr(tupdesc, to - 1)->attname,
				   psprintf("c%d", attnum));
	}
	TupleDescFinalize(tupdesc);
	TupleDescInitEntry(decided, 1, "place", INT8OID, -1, 0);
	TupleDescInitEntry(decided, 2, "verdict", INT8OID, -1, 0);
	TupleDescFinalize(decided);
	verdicts->row = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);
	verdicts->slot = MakeSingleTupleTableSlot(decided, &TTSOpsMinimalTuple);
	verdicts->rows = tuplestore_begin_heap(true, false, work_mem);
	verdicts->decided = tuplestore_begin_heap(true, false, work_mem);
	if (verdicts->index != NULL)
		verdicts->keys = csv_index_keys_begin(target, verdicts->index);
	return verdicts;
}

static void
add_key(CsvVerdicts *verdicts, TupleTableSlot *row, int64 place, bool is_narrow)
{
	Form_pg_index form = verdicts->index->rd_index;
	Datum		values[INDEX_MAX_KEYS] = {0};
	bool		isnull[INDEX_MAX_KEYS];

	/* columns that are only included do not matter */
	memset(isnull, true, sizeof(isnull));
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		int			attnum = form->indkey.values[i];
		int			att = is_narrow ?
			bms_member_index(verdicts->needed, attnum) + 1 : attnum - 1;

		if (row->tts_isnull[att] && !form->indnullsnotdistinct)
			return;
		values[i] = row->tts_values[att];
		isnull[i] = row->tts_isnull[att];
	}
	csv_index_keys_add(verdicts->keys, values, isnull, place);
}

static void
add_verdict(CsvVerdicts *verdicts, int64 place, int64 verdict)
{
	Datum		values[2] = {Int64GetDatum(place), Int64GetDatum(verdict)};
	bool		isnull[2] = {false, false};

	tuplestore_putvalues(verdicts->decided,
						 verdicts->slot->tts_tupleDescriptor, values, isnull);
	verdicts->counts.nleft_out += verdict == CSV_LEFT_OUT;
	verdicts->counts.nupdates += verdict == CSV_UPDATES;
}

void
csv_verdicts_add(CsvVerdicts *verdicts, TupleTableSlot *row, int64 place,
				 int64 verdict)
{
	TupleTableSlot *slot = verdicts->row;
	int			attnum = -1;
	int			to = 0;

	if (verdict != CSV_INSERTED)
	{
		add_verdict(verdicts, place, verdict);
		return;
	}
	verdicts->counts.nrows++;
	if (verdicts->foreign_keys == NIL)
	{
		if (verdicts->index != NULL)
			add_key(verdicts, row, place, false);
		return;
	}
	ExecClearTuple(slot);
	slot->tts_values[to] = Int64GetDatum(place);
	slot->tts_isnull[to] = false;
	while ((attnum = bms_next_member(verdicts->needed, attnum)) >= 0)
	{
		slot->tts_values[++to] = row->tts_values[attnum - 1];
		slot->tts_isnull[to] = row->tts_isnull[attnum - 1];
	}
	tuplestore_puttupleslot(verdicts->rows, ExecStoreVirtualTuple(slot));
}

/* ---- queries ---- */

static void
register_relation(char *name, TupleTableSlot *slot, Tuplestorestate *rows,
				  int64 nrows)
{
	EphemeralNamedRelation relation = palloc0(sizeof(EphemeralNamedRelationData));

	relation->md.name = name;
	relation->md.tupdesc = slot->tts_tupleDescriptor;
	relation->md.enrtype = ENR_NAMED_TUPLESTORE;
	relation->md.enrtuples = (double) nrows;
	relation->reldata = rows;
	if (SPI_register_relation(relation) != SPI_OK_REL_REGISTER)
		elog(ERROR, "a relation of a load cannot be registered");
}

/*
 * add the verdicts of a query, which sorts them: it has read all then; returns
 * how many
 */
static int64
decide(CsvVerdicts *verdicts, const char *sql)
{
	SPIExecuteOptions options = {0};
	int64		n;
	MemoryContext context = CurrentMemoryContext;

	SPI_connect();
	register_relation("csv_rows", verdicts->row, verdicts->rows,
					  verdicts->counts.nrows);
	register_relation("csv_verdicts", verdicts->slot, verdicts->decided, 1);
	options.dest = CreateDestReceiver(DestTuplestore);
	SetTuplestoreDestReceiverParams(options.dest, verdicts->decided, context,
									false, NULL, NULL);
	if (SPI_execute_extended(sql, &options) != SPI_OK_SELECT)
		elog(ERROR, "a query of a load has failed");
	n = (int64) SPI_processed;
	SPI_finish();
	return n;
}

static const char *
column_name(Relation relation, AttrNumber attnum)
{
	return quote_identifier(get_attname(RelationGetRelid(relation), attnum,
										false));
}

/*
 * Does a row's value equal the parent's?  By the key's operator, and the
 * parent's collation, as the triggers of foreign keys compare.
 */
static void
append_equal(StringInfo sql, Relation parent, const char *value,
			 Relation target, const ForeignKeyCacheInfo *key, int i)
{
	Form_pg_attribute of_parent = TupleDescAttr(RelationGetDescr(parent),
												key->confkey[i] - 1);
	Form_pg_attribute of_row = TupleDescAttr(RelationGetDescr(target),
											 key->conkey[i] - 1);
	char	   *row = psprintf("r.c%d", key->conkey[i]);

	if (OidIsValid(of_parent->attcollation) && OidIsValid(of_row->attcollation))
		row = psprintf("(%s COLLATE %s)", row,
					   generate_collation_name(of_parent->attcollation));
	appendStringInfoString(sql, i == 0 ? "" : " AND ");
	generate_operator_clause(sql, value, of_parent->atttypid, key->conpfeqop[i],
							 row, of_row->atttypid);
}

/* rows without a verdict */
#define UNDECIDED "csv_rows r WHERE NOT EXISTS (SELECT FROM csv_verdicts v WHERE v.place OPERATOR(pg_catalog.=) r.place)"

/* the rows that a foreign key refuses, as the parent's owner sees it */
static char *
foreign_key_query(Relation target, const ForeignKeyCacheInfo *key,
				  bool is_full, Oid *owner)
{
	Relation	parent = csv_open_relation(key->confrelid, AccessShareLock);
	bool		is_self = key->confrelid == RelationGetRelid(target);
	StringInfoData columns,
				referenced,
				of_table,
				of_rows,
				of_refused;

	initStringInfo(&columns);
	initStringInfo(&referenced);
	initStringInfo(&of_table);
	initStringInfo(&of_rows);
	initStringInfo(&of_refused);
	for (int i = 0; i < key->nkeys; i++)
	{
		const char *comma = i == 0 ? "" : ", ";

		appendStringInfo(&columns, "%sr.c%d", comma, key->conkey[i]);
		appendStringInfo(&referenced, "%sr.c%d", comma, key->confkey[i]);
		append_equal(&of_table, parent,
					 psprintf("p.%s", column_name(parent, key->confkey[i])),
					 target, key, i);
		if (is_self)
			append_equal(&of_rows, parent,
						 psprintf("p.c%d", key->confkey[i]), target, key, i);
	}

	/* rows that need a parent which the table does not have */
	appendStringInfo(&of_refused,
					 "SELECT r.* FROM " UNDECIDED " AND %sROW(%s) IS %sNULL"
					 " AND NOT EXISTS (SELECT FROM %s%s p WHERE %s)",
					 is_full ? "NOT " : "", columns.data, is_full ? "" : "NOT ",
					 parent->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
					 "" : "ONLY ",
					 csv_quote_relation(parent), of_table.data);
	*owner = parent->rd_rel->relowner;
	relation_close(parent, NoLock);
	if (!is_self)
		return psprintf("SELECT place, %u::pg_catalog.int8 FROM (%s) x ORDER BY place", key->conoid,
						of_refused.data);

	/*
	 * A parent may come in the same load, unless it lacks a parent itself and
	 * no other row has its key.
	 */
	return psprintf("WITH RECURSIVE held AS MATERIALIZED (%s), alone AS MATERIALIZED ("
					"SELECT r.place, p.place AS parent FROM held r"
					" JOIN (SELECT pg_catalog.min(r.place) AS place, %s FROM " UNDECIDED
					" GROUP BY %s HAVING pg_catalog.count(*) OPERATOR(pg_catalog.=) 1) p ON %s), refused AS ("
					"SELECT r.place FROM held r WHERE NOT EXISTS (SELECT FROM csv_rows p WHERE %s"
					" AND NOT EXISTS (SELECT FROM csv_verdicts v WHERE v.place OPERATOR(pg_catalog.=) p.place))"
					" UNION SELECT a.place FROM alone a, refused p"
					" WHERE a.parent OPERATOR(pg_catalog.=) p.place)"
					" SELECT place, %u::pg_catalog.int8 FROM refused ORDER BY place",
					of_refused.data, referenced.data, referenced.data,
					of_rows.data, of_rows.data, key->conoid);
}

/* would an INSERT check the key? */
static bool
is_checked(Relation target, Oid constraint)
{
	const TriggerDesc *triggers = target->trigdesc;
	bool		replicates =
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgconstraint == constraint &&
			TRIGGER_FOR_INSERT(trigger->tgtype))
			return trigger->tgenabled == TRIGGER_FIRES_ALWAYS ||
				trigger->tgenabled == (replicates ? TRIGGER_FIRES_ON_REPLICA :
									   TRIGGER_FIRES_ON_ORIGIN);
	}
	/* partitions have the triggers */
	return !replicates;
}

/* decide by a foreign key; returns how many rows it refuses */
static int64
decide_by_foreign_key(CsvVerdicts *verdicts, const ForeignKeyCacheInfo *key)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID,
										ObjectIdGetDatum(key->conoid));
	Form_pg_constraint form;
	bool		is_tested;
	bool		is_full;
	char	   *sql;
	Oid			owner;
	Oid			user;
	int			security;
	int64		n;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", key->conoid);
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	is_tested = !form->condeferred && csv_tests_foreign_key(form) &&
		is_checked(verdicts->target, key->conoid);
	is_full = form->confmatchtype == FKCONSTR_MATCH_FULL;
	ReleaseSysCache(tuple);
	if (!is_tested)
		return 0;

	/* as the triggers of foreign keys do; an ERROR restores the user, too */
	sql = foreign_key_query(verdicts->target, key, is_full, &owner);
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(owner, security | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	n = decide(verdicts, sql);
	SetUserIdAndSecContext(user, security);
	return n;
}

/* ---- in order ---- */

static void
advance(CsvVerdicts *verdicts)
{
	bool		any = tuplesort_gettupleslot(verdicts->sorted, true, false,
											 verdicts->slot, NULL);

	if (any)
		slot_getallattrs(verdicts->slot);
	verdicts->place = any ? DatumGetInt64(verdicts->slot->tts_values[0]) :
		PG_INT64_MAX;
}

void
csv_verdicts_rewind(CsvVerdicts *verdicts)
{
	tuplesort_rescan(verdicts->sorted);
	advance(verdicts);
}

int64
csv_verdicts_at(CsvVerdicts *verdicts, int64 place)
{
	while (verdicts->place < place)
		advance(verdicts);
	return verdicts->place == place ?
		DatumGetInt64(verdicts->slot->tts_values[1]) :
		CSV_INSERTED;
}

int64
csv_verdicts_free(const CsvVerdicts *verdicts, int64 place)
{
	return verdicts->place - place - 1;
}

/* ---- the end ---- */

/* sort all verdicts so far; temporary files outlive a subtransaction */
static void
sort_verdicts(CsvVerdicts *verdicts)
{
	ResourceOwner owner = CurrentResourceOwner;
	AttrNumber	place = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	if (verdicts->sorted != NULL)
		tuplesort_end(verdicts->sorted);
	CurrentResourceOwner = verdicts->resources;
	verdicts->sorted = tuplesort_begin_heap(verdicts->slot->tts_tupleDescriptor, 1, &place,
											&less, &collation, &nulls_first, work_mem, NULL,
											TUPLESORT_RANDOMACCESS);
	tuplestore_select_read_pointer(verdicts->decided, 0);
	tuplestore_rescan(verdicts->decided);
	while (tuplestore_gettupleslot(verdicts->decided, true, false,
								   verdicts->slot))
		tuplesort_puttupleslot(verdicts->sorted, verdicts->slot);
	tuplesort_performsort(verdicts->sorted);
	CurrentResourceOwner = owner;
	advance(verdicts);
}

/* decide by foreign keys; the others may have duplicates */
static void
decide_by_foreign_keys(CsvVerdicts *verdicts)
{
	TupleTableSlot *row = MakeSingleTupleTableSlot(verdicts->row->tts_tupleDescriptor,
												   &TTSOpsMinimalTuple);
	int64		nrefused;
	ListCell   *cell;

	/* the rows that are refused may be parents of others */
	do
	{
		nrefused = 0;
		foreach(cell, verdicts->foreign_keys)
			nrefused += decide_by_foreign_key(verdicts, lfirst(cell));
	} while (nrefused > 0);
	sort_verdicts(verdicts);
	tuplestore_select_read_pointer(verdicts->rows, 0);
	while (verdicts->index != NULL &&
		   tuplestore_gettupleslot(verdicts->rows, true, false, row))
	{
		int64		place;

		slot_getallattrs(row);
		place = DatumGetInt64(row->tts_values[0]);
		if (csv_verdicts_at(verdicts, place) == CSV_INSERTED)
			add_key(verdicts, row, place, true);
	}
	ExecDropSingleTupleTableSlot(row);
}

CsvVerdictCounts
csv_verdicts_end(CsvVerdicts *verdicts, bool last, bool looks, int64 of_file,
				 int64 of_target)
{
	int64		kept = 0;
	int64		place;
	bool		held = false;
	CsvKeyMatch match;

	if (verdicts->foreign_keys != NIL)
		decide_by_foreign_keys(verdicts);
	while (verdicts->index != NULL &&
		   csv_index_keys_next(verdicts->keys, looks, &place, &match))
	{
		if (match != CSV_KEY_BEFORE && held)
			add_verdict(verdicts, kept, of_target);
		if (match == CSV_KEY_BEFORE)
			add_verdict(verdicts, last ? kept : place, of_file);
		else
			held = match == CSV_KEY_HELD;
		if (match != CSV_KEY_BEFORE || last)
			kept = place;
	}
	if (held)
		add_verdict(verdicts, kept, of_target);
	if (verdicts->index != NULL)
	{
		csv_index_keys_end(verdicts->keys);
		index_close(verdicts->index, NoLock);
	}
	tuplestore_end(verdicts->rows);
	sort_verdicts(verdicts);
	tuplestore_end(verdicts->decided);
	return verdicts->counts;
}

void
csv_verdicts_drop(CsvVerdicts **verdicts)
{
	if (*verdicts != NULL)
		tuplesort_end((*verdicts)->sorted);
	*verdicts = NULL;
}
