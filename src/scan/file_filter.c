/*
 * file_filter.c
 *		WHERE clauses that decide which of a table's files are read.
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

#include "program/program.h"
#include "scan/file_filter.h"
#include "scan/file_values.h"
#include "table/source.h"

typedef struct FileClause
{
	ExprState  *qual;
	Bitmapset  *used;			/* places in filter->attributes */
	bool		varies;
	bool		late;			/* must not see files that an earlier clause hides */
} FileClause;

struct CsvFileFilter
{
	CsvTable   *table;
	MemoryContext context;
	TupleTableSlot *slot;		/* a row of the current file */
	int		   *attributes;		/* that are used, from 0 */
	int			nattributes;
	CsvFileValues **makers;		/* one for each of these */
	Datum	  **values;			/* of each file, by place */
	bool	  **isnull;
	bool	  **made;			/* so far */
	int			nclauses;
	FileClause *clauses;
	bool		varies;
	int			nleft;			/* in the scan with most files; -1: no scan yet */
};

/* attribute numbers of all Vars; they are all columns of the table */
static Bitmapset *
used_attributes(Node *clause)
{
	Bitmapset  *used = NULL;
	List	   *vars = pull_var_clause(clause, 0);
	ListCell   *cell;

	foreach(cell, vars)
		used = bms_add_member(used, lfirst_node(Var, cell)->varattno);
	return used;
}

static void
begin_values(CsvFileFilter *filter, const Bitmapset *used)
{
	CsvTable   *table = filter->table;
	const int	nfiles = Max(table->nfiles, 1);
	int			attnum = -1;

	filter->attributes = palloc(sizeof(int) * Max(table->natts, 1));
	filter->makers = palloc(sizeof(CsvFileValues *) * Max(table->natts, 1));
	while ((attnum = bms_next_member(used, attnum)) >= 0)
	{
		filter->attributes[filter->nattributes] = attnum - 1;
		filter->makers[filter->nattributes++] =
			csv_file_values_create(table, bms_make_singleton(attnum));
	}
	filter->values = palloc_extended(sizeof(Datum *) * nfiles, MCXT_ALLOC_HUGE);
	filter->isnull = palloc_extended(sizeof(bool *) * nfiles, MCXT_ALLOC_HUGE);
	filter->made = palloc_extended(sizeof(bool *) * nfiles, MCXT_ALLOC_HUGE);
	for (int i = 0; i < table->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		filter->values[i] = palloc(sizeof(Datum) * filter->nattributes);
		filter->isnull[i] = palloc(sizeof(bool) * filter->nattributes);
		filter->made[i] = palloc0(sizeof(bool) * filter->nattributes);
	}
}

/* make the values of a file at these places; false if quiet and a value is refused */
static bool
make_values(CsvFileFilter *filter, int file, const Bitmapset *places, bool quiet)
{
	TupleTableSlot *slot = filter->slot;
	MemoryContext outer = MemoryContextSwitchTo(filter->context);
	int			place = -1;
	bool		taken = true;

	while (taken && (place = bms_next_member(places, place)) >= 0)
	{
		int			attribute = filter->attributes[place];

		if (filter->made[file][place])
			continue;
		taken = csv_file_values_make(filter->makers[place], filter->table->files[file],
									 quiet, slot->tts_values, slot->tts_isnull);
		filter->values[file][place] = slot->tts_values[attribute];
		filter->isnull[file][place] = slot->tts_isnull[attribute];
		filter->made[file][place] = taken;
	}
	MemoryContextSwitchTo(outer);
	return taken;
}

/* make the values of all files */
static bool
make_all_values(CsvFileFilter *filter)
{
	for (int i = 0; i < filter->table->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < filter->nclauses; j++)
			if (!make_values(filter, i, filter->clauses[j].used, true))
				return false;
	}
	return true;
}

static void
add_clause(CsvFileFilter *filter, Node *expr, PlanState *parent)
{
	FileClause *clause = &filter->clauses[filter->nclauses++];
	Bitmapset  *used = used_attributes(expr);

	clause->used = NULL;
	for (int i = 0; i < filter->nattributes; i++)
		if (bms_is_member(filter->attributes[i] + 1, used))
			clause->used = bms_add_member(clause->used, i);
	clause->varies = csv_expression_varies(expr);
	clause->late = filter->varies && contain_leaked_vars(expr);
	clause->qual = ExecInitQual(list_make1(expr), parent);
	filter->varies |= clause->varies;
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
	filter->context = CurrentMemoryContext;
	filter->nleft = -1;
	relation = table_open(table->relid, NoLock);
	desc = CreateTupleDescCopy(RelationGetDescr(relation));
	table_close(relation, NoLock);
	filter->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(filter->slot->tts_isnull, true, sizeof(bool) * desc->natts);
	begin_values(filter, used_attributes((Node *) clauses));

	clauses = copyObject(clauses);
	fix_opfuncids((Node *) clauses);
	filter->clauses = palloc(sizeof(FileClause) * list_length(clauses));
	foreach(cell, clauses)
		add_clause(filter, lfirst(cell), parent);
	return quiet && !make_all_values(filter) ? NULL : filter;
}

/* fill in the clause's columns for a file; false if quiet and a value is refused */
static bool
set_row(CsvFileFilter *filter, const FileClause *clause, int file, bool quiet)
{
	TupleTableSlot *slot = filter->slot;
	int			place = -1;

	ExecClearTuple(slot);
	if (!make_values(filter, file, clause->used, quiet))
		return false;
	while ((place = bms_next_member(clause->used, place)) >= 0)
	{
		slot->tts_values[filter->attributes[place]] = filter->values[file][place];
		slot->tts_isnull[filter->attributes[place]] = filter->isnull[file][place];
	}
	ExecStoreVirtualTuple(slot);
	return true;
}

/*
 * Do the clauses hold for a file?  They are in the order of their security levels.  A
 * function, or an ERROR about a value, must not tell of a file that an earlier clause
 * leaves out.
 */
static bool
holds(CsvFileFilter *filter, ExprContext *econtext, int file, bool all)
{
	bool		quiet = false;

	for (int i = 0; i < filter->nclauses; i++)
	{
		const FileClause *clause = &filter->clauses[i];

		if (all || !(clause->varies || clause->late))
		{
			if (set_row(filter, clause, file, quiet) && !ExecQual(clause->qual, econtext))
				return false;
		}
		quiet |= !all && clause->varies;
	}
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
		table->left_out[i] = !holds(filter, econtext, i, all);
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
