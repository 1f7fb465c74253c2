/*
 * file_filter.c
 *		WHERE clauses that decide which of a table's files are read.
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

#include "program/program.h"
#include "scan/file_filter.h"
#include "scan/file_values.h"
#include "table/source.h"

typedef struct FileClause
{
	ExprState  *qual;
	bool		varies;
} FileClause;

struct CsvFileFilter
{
	CsvTable   *table;
	TupleTableSlot *slot;		/* a row of the file that is looked at */
	Datum	  **values;			/* of each file, by attribute of those used */
	bool	  **isnull;
	int		   *attributes;		/* those used, from 0 */
	int			nattributes;
	int			nclauses;
	FileClause *clauses;
	bool		varies;
	int			nleft;			/* in the scan that had most; -1: there was none */
};

/* attribute numbers of all Vars; there are no others than the table's columns */
static Bitmapset *
used_attributes(List *clauses)
{
	Bitmapset  *used = NULL;
	List	   *vars = pull_var_clause((Node *) clauses, 0);
	ListCell   *cell;

	foreach(cell, vars)
		used = bms_add_member(used, lfirst_node(Var, cell)->varattno);
	return used;
}

/* the values of each file; false, if quiet, where one is refused */
static bool
make_values(CsvFileFilter *filter, const Bitmapset *used, bool quiet)
{
	CsvTable   *table = filter->table;
	CsvFileValues *made = csv_file_values_create(table, used);
	int			attnum = -1;

	filter->attributes = palloc(sizeof(int) * Max(table->natts, 1));
	while ((attnum = bms_next_member(used, attnum)) >= 0)
		filter->attributes[filter->nattributes++] = attnum - 1;
	filter->values = palloc_extended(sizeof(Datum *) * Max(table->nfiles, 1),
									 MCXT_ALLOC_HUGE);
	filter->isnull = palloc_extended(sizeof(bool *) * Max(table->nfiles, 1),
									 MCXT_ALLOC_HUGE);
	for (int i = 0; i < table->nfiles; i++)
	{
		TupleTableSlot *slot = filter->slot;

		CHECK_FOR_INTERRUPTS();
		if (!csv_file_values_make(made, table->files[i], quiet,
								  slot->tts_values, slot->tts_isnull))
			return false;
		filter->values[i] = palloc(sizeof(Datum) * filter->nattributes);
		filter->isnull[i] = palloc(sizeof(bool) * filter->nattributes);
		for (int j = 0; j < filter->nattributes; j++)
		{
			filter->values[i][j] = slot->tts_values[filter->attributes[j]];
			filter->isnull[i][j] = slot->tts_isnull[filter->attributes[j]];
		}
	}
	return true;
}

CsvFileFilter *
csv_file_filter_create(CsvTable *table, List *clauses, PlanState *parent,
					   bool quiet)
{
	CsvFileFilter *filter = palloc0(sizeof(CsvFileFilter));
	Relation	relation;
	TupleDesc	desc;
	ListCell   *cell;

	if (!csv_source_list(table, quiet))
		return NULL;
	filter->table = table;
	filter->nleft = -1;
	relation = table_open(table->relid, NoLock);
	desc = CreateTupleDescCopy(RelationGetDescr(relation));
	table_close(relation, NoLock);
	filter->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(filter->slot->tts_isnull, true, sizeof(bool) * desc->natts);
	if (!make_values(filter, used_attributes(clauses), quiet))
		return NULL;

	clauses = copyObject(clauses);
	fix_opfuncids((Node *) clauses);
	filter->clauses = palloc(sizeof(FileClause) * list_length(clauses));
	foreach(cell, clauses)
	{
		FileClause *clause = &filter->clauses[filter->nclauses++];

		clause->varies = csv_expression_varies(lfirst(cell));
		clause->qual = ExecInitQual(list_make1(lfirst(cell)), parent);
		filter->varies |= clause->varies;
	}
	return filter;
}

/* a row of the file, as far as it matters */
static void
set_row(CsvFileFilter *filter, int file)
{
	TupleTableSlot *slot = filter->slot;

	ExecClearTuple(slot);
	for (int i = 0; i < filter->nattributes; i++)
	{
		slot->tts_values[filter->attributes[i]] = filter->values[file][i];
		slot->tts_isnull[filter->attributes[i]] = filter->isnull[file][i];
	}
	ExecStoreVirtualTuple(slot);
}

static bool
holds(const CsvFileFilter *filter, ExprContext *econtext, bool all)
{
	for (int i = 0; i < filter->nclauses; i++)
		if ((all || !filter->clauses[i].varies) &&
			!ExecQual(filter->clauses[i].qual, econtext))
			return false;
	return true;
}

static int
leave_out(CsvFileFilter *filter, ExprContext *econtext, bool all)
{
	TupleTableSlot *before = econtext->ecxt_scantuple;
	CsvTable   *table = filter->table;
	int			nleft = 0;

	econtext->ecxt_scantuple = filter->slot;
	for (int i = 0; i < table->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		set_row(filter, i);
		table->left_out[i] = !holds(filter, econtext, all);
		nleft += !table->left_out[i];
	}
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = before;
	return nleft;
}

void
csv_file_filter_begin(CsvFileFilter *filter, ExprContext *econtext)
{
	int			nleft = leave_out(filter, econtext, false);

	if (!filter->varies)
		filter->nleft = Max(filter->nleft, nleft);
}

void
csv_file_filter_decide(CsvFileFilter *filter, ExprContext *econtext)
{
	int			nleft = leave_out(filter, econtext, true);

	filter->nleft = Max(filter->nleft, nleft);
}

bool
csv_file_filter_varies(const CsvFileFilter *filter)
{
	return filter->varies;
}

int
csv_file_filter_nleft(const CsvFileFilter *filter)
{
	return filter->nleft;
}
