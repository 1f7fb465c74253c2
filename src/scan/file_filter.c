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
#include "scan/virtual.h"
#include "table/source.h"

typedef struct CsvFilterClause
{
	ExprState  *qual;
	Bitmapset  *used;			/* attribute numbers */
	bool		varies;
	bool		late;			/* must not see files that an earlier clause hides */
} CsvFilterClause;

/* a column that clauses use; arrays have an entry for each file */
typedef struct CsvFilterColumn
{
	CsvValueInput input;
	bool	   *made;			/* the value was made; NULL: no clause uses it */
	bool	   *isnull;
	Datum	   *values;
} CsvFilterColumn;

/* room for one member for each file */
static void *
allocate(const CsvFileFilter *filter, Size member_bytes)
{
	return palloc_extended(member_bytes * Max(filter->table->nfiles, 1),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
add_clause(CsvFileFilter *filter, Node *expr, PlanState *parent)
{
	CsvFilterClause *clause = &filter->clauses[filter->nclauses++];
	List	   *vars = pull_var_clause(expr, 0);
	ListCell   *cell;

	clause->used = NULL;
	foreach(cell, vars)
	{
		int			attnum = lfirst_node(Var, cell)->varattno;
		CsvFilterColumn *column = &filter->columns[attnum - 1];

		clause->used = bms_add_member(clause->used, attnum);
		if (column->made != NULL)
			continue;
		csv_file_value_init(&column->input, filter->table,
							&filter->table->columns[attnum - 1]);
		column->made = allocate(filter, sizeof(bool));
		column->isnull = allocate(filter, sizeof(bool));
		column->values = allocate(filter, sizeof(Datum));
	}
	clause->varies = csv_expression_varies(expr);
	clause->late = filter->varies && contain_leaked_vars(expr);
	clause->qual = ExecInitQual(list_make1(expr), parent);
	filter->varies |= clause->varies;
}

/* fill in the clause's columns for a file; false if quiet and a value is refused */
static bool
set_row(CsvFileFilter *filter, const CsvFilterClause *clause, int file, bool quiet)
{
	TupleTableSlot *slot = filter->slot;
	MemoryContext outer = MemoryContextSwitchTo(filter->context);
	int			attnum = -1;
	bool		made = true;

	ExecClearTuple(slot);
	while (made && (attnum = bms_next_member(clause->used, attnum)) >= 0)
	{
		CsvFilterColumn *column = &filter->columns[attnum - 1];

		if (!column->made[file])
			column->made[file] = made =
				csv_file_value_make(&column->input, filter->table->files[file],
									quiet, &column->values[file],
									&column->isnull[file]);
		slot->tts_values[attnum - 1] = column->values[file];
		slot->tts_isnull[attnum - 1] = column->isnull[file];
	}
	if (made)
		ExecStoreVirtualTuple(slot);
	MemoryContextSwitchTo(outer);
	return made;
}

/* make the values of all files; false if one is refused */
static bool
make_all_values(CsvFileFilter *filter)
{
	for (int i = 0; i < filter->table->nfiles; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < filter->nclauses; j++)
			if (!set_row(filter, &filter->clauses[j], i, true))
				return false;
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
	filter->context = CurrentMemoryContext;
	filter->nleft = -1;
	filter->columns = palloc0(sizeof(CsvFilterColumn) * table->natts);
	relation = table_open(table->relid, NoLock);
	desc = CreateTupleDescCopy(RelationGetDescr(relation));
	table_close(relation, NoLock);
	filter->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	memset(filter->slot->tts_isnull, true, sizeof(bool) * desc->natts);

	clauses = copyObject(clauses);
	fix_opfuncids((Node *) clauses);
	filter->clauses = palloc(sizeof(CsvFilterClause) * list_length(clauses));
	foreach(cell, clauses)
		add_clause(filter, lfirst(cell), parent);
	return quiet && !make_all_values(filter) ? NULL : filter;
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
		const CsvFilterClause *clause = &filter->clauses[i];

		if ((all || !(clause->varies || clause->late)) &&
			set_row(filter, clause, file, quiet) &&
			!ExecQual(clause->qual, econtext))
			return false;
		quiet |= !all && clause->varies;
	}
	return true;
}

void
csv_file_filter_leave_out(CsvFileFilter *filter, ExprContext *econtext, bool all)
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
	if (all || !filter->varies)
		filter->nleft = Max(filter->nleft, nleft);
}
