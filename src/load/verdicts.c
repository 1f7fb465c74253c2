/*
 * verdicts.c
 *		Verdicts about rows, by queries over what keys need of them.
 *
 * An INSERT that finds a duplicate only in the index has written its row already.  Here
 * such rows are known before, so that nothing is written for them.
 *
 * The queries see two relations: csv_rows has the columns cN of the rows, by the number of
 * the target's attribute, and csv_verdicts has what was decided before.  The rows of the
 * target are those of the latest snapshot.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "load/verdicts.h"
#include "output/copy_to.h"
#include "table/option.h"

struct CsvVerdicts
{
	Relation	target;
	List	   *foreign_keys;	/* ForeignKeyCacheInfos */
	Bitmapset  *needed;			/* attributes of the target */
	Tuplestorestate *rows;		/* csv_rows */
	TupleTableSlot *row;
	int64		nrows;
	Tuplestorestate *decided;	/* csv_verdicts: all, and at the end in order */
	TupleTableSlot *slot;		/* of the next one */
	int64		place;			/* of the next one; PG_INT64_MAX: there is none */
	int64		counts[CSV_REFUSED + 1];
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

	deconstruct_array(columns, TEXTOID, -1, false, TYPALIGN_INT, &values, &isnull, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name = isnull[i] ? pstrdup("") : TextDatumGetCString(values[i]);
		AttrNumber	attnum = get_attnum(RelationGetRelid(target), name);

		if (attnum <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
							RelationGetRelationName(target))));
		attnums = bms_add_member(attnums, attnum);
	}
	return attnums;
}

/* the attributes of an index that can arbitrate, or NULL */
static Bitmapset *
key_of(Relation index)
{
	Form_pg_index form = index->rd_index;
	Bitmapset  *attnums = NULL;

	if (!form->indisunique || !form->indisvalid || !form->indimmediate ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return NULL;
	for (int i = 0; i < form->indnkeyatts; i++)
		attnums = bms_add_member(attnums, form->indkey.values[i]);
	return attnums;
}

Oid
csv_key_index(Relation target, ArrayType *columns, Bitmapset **attnums)
{
	Bitmapset  *named = columns == NULL ? NULL : named_attributes(target, columns);
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		bool		is_primary = index->rd_index->indisprimary;

		*attnums = key_of(index);
		index_close(index, NoLock);
		if (*attnums != NULL && (columns == NULL ? is_primary : bms_equal(*attnums, named)))
			return lfirst_oid(cell);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
			 columns == NULL ?
			 errmsg("\"%s\" has no primary key that can tell duplicates",
					RelationGetRelationName(target)) :
			 errmsg("\"%s\" has no unique index on just the columns of \"key\"",
					RelationGetRelationName(target)),
			 errdetail("The index must be valid, not deferrable, and without WHERE and expressions.")));
}

Oid
csv_only_unique_index(Relation target, Bitmapset **attnums)
{
	Oid			found = InvalidOid;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		bool		refuses = index->rd_index->indisunique || index->rd_index->indisexclusion;

		if (refuses)
			*attnums = OidIsValid(found) ? NULL : key_of(index);
		index_close(index, NoLock);
		if (refuses && *attnums == NULL)
			return InvalidOid;
		found = refuses ? lfirst_oid(cell) : found;
	}
	return found;
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
				verdicts->needed = bms_add_member(verdicts->needed, key->confkey[i]);
		}
	}
}

CsvVerdicts *
csv_verdicts_create(Relation target, const Bitmapset *key, bool foreign_keys)
{
	CsvVerdicts *verdicts = palloc0(sizeof(CsvVerdicts));
	TupleDesc	decided = CreateTemplateTupleDesc(2);
	TupleDesc	tupdesc;
	AttrNumber	to = 1;
	int			attnum = -1;

	verdicts->target = target;
	verdicts->needed = bms_copy(key);
	if (foreign_keys)
		add_foreign_keys(verdicts);
	tupdesc = CreateTemplateTupleDesc(bms_num_members(verdicts->needed) + 1);
	TupleDescInitEntry(tupdesc, to, "place", INT8OID, -1, 0);
	while ((attnum = bms_next_member(verdicts->needed, attnum)) >= 0)
	{
		TupleDescCopyEntry(tupdesc, ++to, RelationGetDescr(target), (AttrNumber) attnum);
		namestrcpy(&TupleDescAttr(tupdesc, to - 1)->attname, psprintf("c%d", attnum));
	}
	TupleDescFinalize(tupdesc);
	TupleDescInitEntry(decided, 1, "place", INT8OID, -1, 0);
	TupleDescInitEntry(decided, 2, "verdict", INT8OID, -1, 0);
	TupleDescFinalize(decided);
	verdicts->row = MakeSingleTupleTableSlot(tupdesc, &TTSOpsVirtual);
	verdicts->slot = MakeSingleTupleTableSlot(decided, &TTSOpsMinimalTuple);
	verdicts->rows = tuplestore_begin_heap(true, false, work_mem);
	verdicts->decided = tuplestore_begin_heap(true, false, work_mem);
	return verdicts;
}

void
csv_verdicts_add(CsvVerdicts *verdicts, TupleTableSlot *row, int64 place, int64 verdict)
{
	TupleTableSlot *slot = verdicts->row;
	int			attnum = -1;
	int			to = 0;

	if (verdict != CSV_INSERTED)
	{
		Datum		values[2] = {Int64GetDatum(place), Int64GetDatum(verdict)};
		bool		isnull[2] = {false, false};

		tuplestore_putvalues(verdicts->decided, verdicts->slot->tts_tupleDescriptor, values,
							 isnull);
		verdicts->counts[CSV_REFUSED]++;
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
	verdicts->nrows++;
}

/* ---- queries ---- */

static void
register_relation(char *name, TupleTableSlot *slot, Tuplestorestate *rows, int64 nrows)
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

/* run a query that returns verdicts, and add them to a store; returns their number */
static int64
decide(CsvVerdicts *verdicts, const char *sql, Tuplestorestate *decided)
{
	SPIExecuteOptions options = {0};
	int64		n;
	MemoryContext context = CurrentMemoryContext;

	SPI_connect();
	register_relation("csv_rows", verdicts->row, verdicts->rows, verdicts->nrows);
	register_relation("csv_verdicts", verdicts->slot, verdicts->decided, 1);
	options.dest = CreateDestReceiver(DestTuplestore);
	SetTuplestoreDestReceiverParams(options.dest, decided, context, false, NULL, NULL);
	if (SPI_execute_extended(sql, &options) != SPI_OK_SELECT)
		elog(ERROR, "a query of a load has failed");
	n = (int64) SPI_processed;
	SPI_finish();
	return n;
}

static char *
operator_name(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
}

static const char *
column_name(Relation relation, AttrNumber attnum)
{
	return quote_identifier(get_attname(RelationGetRelid(relation), attnum, false));
}

/* rows without a verdict */
#define UNDECIDED "csv_rows r WHERE NOT EXISTS (SELECT FROM csv_verdicts v WHERE v.place OPERATOR(pg_catalog.=) r.place)"

/*
 * The rows whose key other rows have, and if it `looks`, those whose key the target has; by
 * the operators and collations of the index.  In the order of keys, the rows with one key are
 * neighbours, and so are the places where the target's index has the keys.
 */
static char *
key_query(Relation target, Oid indexid, bool last, bool looks, int64 of_file, int64 of_target)
{
	Relation	index = index_open(indexid, AccessShareLock);
	const char *next = last ? "pg_catalog.lead" : "pg_catalog.lag";
	bool		nulls_differ = !index->rd_index->indnullsnotdistinct;
	StringInfoData all,
				same,
				order,
				found;

	initStringInfo(&all);
	initStringInfo(&same);
	initStringInfo(&order);
	initStringInfo(&found);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		AttrNumber	attnum = index->rd_index->indkey.values[i];
		Oid			type = index->rd_opcintype[i];
		Oid			family = index->rd_opfamily[i];
		Oid			collation = index->rd_indcollation[i];
		char	   *equal = operator_name(get_opfamily_member(family, type, type,
															  BTEqualStrategyNumber));
		char	   *less = operator_name(get_opfamily_member(family, type, type,
															 BTLessStrategyNumber));
		char	   *cast = IsPolymorphicType(type) ? "" :
			psprintf("::%s", format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
		char	   *collate = !OidIsValid(collation) ? "" :
			psprintf(" COLLATE %s", generate_collation_name(collation));
		char	   *column = psprintf("(r.c%d%s)%s", attnum, cast, collate);
		char	   *other = psprintf("(%s(r.c%d) OVER w%s)", next, attnum, cast);
		char	   *held = psprintf("(t.%s%s)", column_name(target, attnum), cast);

		if (nulls_differ)
			appendStringInfo(&all, " AND r.c%d IS NOT NULL", attnum);
		appendStringInfo(&order, "%s USING %s, ", column, less);
		appendStringInfo(&same, " AND (%s %s %s", other, equal, column);
		appendStringInfo(&found, " AND (%s %s (k.c%d%s)%s", held, equal, attnum, cast, collate);
		if (!nulls_differ)
		{
			appendStringInfo(&same, " OR (%s IS NULL AND r.c%d IS NULL)", other, attnum);
			appendStringInfo(&found, " OR (%s IS NULL AND k.c%d IS NULL)", held, attnum);
		}
		appendStringInfoChar(&same, ')');
		appendStringInfoChar(&found, ')');
	}
	index_close(index, NoLock);
	return psprintf("SELECT place, CASE WHEN same THEN " INT64_FORMAT "::pg_catalog.int8 ELSE "
					INT64_FORMAT "::pg_catalog.int8 END FROM (SELECT r.*, %s(r.place) OVER w IS NOT NULL%s AS same FROM "
					UNDECIDED "%s WINDOW w AS (ORDER BY %sr.place)) k WHERE same%s%s%s%s"
					" ORDER BY place",
					of_file, of_target, next, same.data, all.data, order.data,
					!looks ? "" : target->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
					" OR EXISTS (SELECT FROM " : " OR EXISTS (SELECT FROM ONLY ",
					looks ? csv_quote_relation(target) : "",
					looks ? psprintf(" t WHERE true%s", found.data) : "", looks ? ")" : "");
}

/* the rows that a foreign key refuses, as the parent's owner sees it */
static char *
foreign_key_query(Relation target, const ForeignKeyCacheInfo *key, bool is_full, Oid *owner)
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
		char	   *equal = operator_name(key->conpfeqop[i]);
		const char *comma = i == 0 ? "" : ", ";
		const char *and = i == 0 ? "" : " AND ";

		appendStringInfo(&columns, "%sr.c%d", comma, key->conkey[i]);
		appendStringInfo(&of_table, "%sp.%s %s r.c%d", and,
						 column_name(parent, key->confkey[i]), equal, key->conkey[i]);
		appendStringInfo(&referenced, ", r.c%d", key->confkey[i]);
		appendStringInfo(&of_rows, "%sp.c%d %s r.c%d", and, key->confkey[i], equal,
						 key->conkey[i]);
	}

	/* rows that need a parent which the table does not have */
	appendStringInfo(&of_refused,
					 "SELECT r.* FROM " UNDECIDED " AND %sROW(%s) IS %sNULL"
					 " AND NOT EXISTS (SELECT FROM %s%s p WHERE %s)",
					 is_full ? "NOT " : "", columns.data, is_full ? "" : "NOT ",
					 parent->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
					 csv_quote_relation(parent), of_table.data);
	*owner = parent->rd_rel->relowner;
	relation_close(parent, NoLock);
	if (!is_self)
		return psprintf("SELECT place, %u::pg_catalog.int8 FROM (%s) x ORDER BY place", key->conoid,
						of_refused.data);

	/* a parent may come in the same load, unless it lacks a parent itself */
	return psprintf("WITH RECURSIVE held AS MATERIALIZED (%s), refused AS ("
					"SELECT r.place%s FROM held r WHERE NOT EXISTS (SELECT FROM csv_rows p WHERE %s"
					" AND NOT EXISTS (SELECT FROM csv_verdicts v WHERE v.place OPERATOR(pg_catalog.=) p.place))"
					" UNION SELECT r.place%s FROM held r, refused p WHERE %s)"
					" SELECT DISTINCT place, %u::pg_catalog.int8 FROM refused ORDER BY place",
					of_refused.data, referenced.data, of_rows.data, referenced.data,
					of_rows.data, key->conoid);
}

/* decide by a foreign key; returns how many rows it refuses */
static int64
decide_by_foreign_key(CsvVerdicts *verdicts, const ForeignKeyCacheInfo *key)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(key->conoid));
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
	is_tested = !form->condeferred && csv_tests_foreign_key(form);
	is_full = form->confmatchtype == FKCONSTR_MATCH_FULL;
	ReleaseSysCache(tuple);
	if (!is_tested)
		return 0;

	/* as the triggers of foreign keys do; an ERROR restores the user, too */
	sql = foreign_key_query(verdicts->target, key, is_full, &owner);
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(owner, security | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	n = decide(verdicts, sql, verdicts->decided);
	SetUserIdAndSecContext(user, security);
	return n;
}

/* ---- in order ---- */

static void
advance(CsvVerdicts *verdicts)
{
	bool		any = tuplestore_gettupleslot(verdicts->decided, true, false, verdicts->slot);

	if (any)
		slot_getallattrs(verdicts->slot);
	verdicts->place = any ? DatumGetInt64(verdicts->slot->tts_values[0]) : PG_INT64_MAX;
}

void
csv_verdicts_rewind(CsvVerdicts *verdicts)
{
	tuplestore_rescan(verdicts->decided);
	advance(verdicts);
}

int64
csv_verdicts_at(CsvVerdicts *verdicts, int64 place)
{
	while (verdicts->place < place)
		advance(verdicts);
	return verdicts->place == place ? DatumGetInt64(verdicts->slot->tts_values[1]) :
		CSV_INSERTED;
}

int64
csv_verdicts_free(const CsvVerdicts *verdicts, int64 place)
{
	return verdicts->place - place - 1;
}

/* ---- the end ---- */

void
csv_verdicts_end(CsvVerdicts *verdicts, Oid index, bool last, bool looks, int64 of_file,
				 int64 of_target)
{
	Tuplestorestate *sorted = tuplestore_begin_heap(true, false, work_mem);
	int64		nrefused;
	ListCell   *cell;

	/* a row that one key refuses may be the parent of another key */
	do
	{
		nrefused = 0;
		foreach(cell, verdicts->foreign_keys)
			nrefused += decide_by_foreign_key(verdicts, lfirst(cell));
	} while (nrefused > 0 && list_length(verdicts->foreign_keys) > 1);
	if (OidIsValid(index))
		(void) decide(verdicts, key_query(verdicts->target, index, last, looks, of_file,
										  of_target), verdicts->decided);
	(void) decide(verdicts, "SELECT place, verdict FROM csv_verdicts ORDER BY place", sorted);
	tuplestore_end(verdicts->rows);
	tuplestore_end(verdicts->decided);
	verdicts->decided = sorted;
	csv_verdicts_rewind(verdicts);
	while (verdicts->place < PG_INT64_MAX)
	{
		int64		verdict = csv_verdicts_at(verdicts, verdicts->place);

		verdicts->counts[verdict < 0 || verdict > CSV_REFUSED ? CSV_REFUSED : verdict]++;
		(void) csv_verdicts_at(verdicts, verdicts->place + 1);
	}
}

int64
csv_verdicts_count(const CsvVerdicts *verdicts, int64 verdict)
{
	return verdict == CSV_INSERTED ? verdicts->nrows : verdicts->counts[verdict];
}
