/*
 * given.c
 *		Columns that IMPORT FOREIGN SCHEMA is given: the options "types" and
 *		"virtual".
 *
 * Both have the form of the columns in CREATE TABLE, and are parsed as these.
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "utils/builtins.h"

#include "import/given.h"
#include "table/option_list.h"

/*
 * the error context callback: a position is in the option, not in the
 * statement
 */
static void
tell_option(void *arg)
{
	errposition(0);
	errcontext("option \"%s\" of IMPORT FOREIGN SCHEMA", (const char *) arg);
}

/* a column of CREATE TABLE that has a name and a type only */
static bool
is_plain(const Node *node)
{
	const ColumnDef *def = (const ColumnDef *) node;

	return IsA(node, ColumnDef) && def->typeName != NULL &&
		!def->typeName->setof &&
		def->constraints == NIL && def->fdwoptions == NIL &&
		def->collClause == NULL;
}

/* the ColumnDefs that an option names; ERROR if it is more than that */
static List *
parse_columns(const char *option, const char *value, const char *example)
{
	List	   *statements =
		raw_parser(psprintf("CREATE TABLE x (%s)", value), RAW_PARSE_DEFAULT);
	CreateStmt *plain = makeNode(CreateStmt);
	CreateStmt *create = list_length(statements) != 1 ? NULL :
		(CreateStmt *) linitial_node(RawStmt, statements)->stmt;
	bool		is_right = create != NULL && IsA(create, CreateStmt);
	ListCell   *cell;

	if (is_right)
	{
		plain->relation = create->relation;
		plain->tableElts = create->tableElts;
		plain->oncommit = create->oncommit;
		is_right = equal(create, plain);
		foreach(cell, create->tableElts)
			is_right &= is_plain(lfirst(cell));
	}
	if (!is_right)
		csv_refuse_value(option, value,
						 psprintf("The value must be a list such as \"%s\".",
								  example), NULL);
	return create->tableElts;
}

/* the type of a virtual column */
static Oid
type_of_virtual(char *word)
{
	CsvTableColumn column;

	csv_option_parse(csv_option_get("virtual", AttributeRelationId), &column,
					 makeDefElem("virtual", (Node *) makeString(word), -1));
	return column.virtual_kind == CSV_VIRTUAL_FILENAME ? TEXTOID :
		column.virtual_kind == CSV_VIRTUAL_SURPLUS ? TEXTARRAYOID :
		column.virtual_kind == CSV_VIRTUAL_SHARE ? INT4OID : INT8OID;
}

static List *
given_columns(const char *option, char *value, bool are_virtual,
			  const char *example)
{
	ErrorContextCallback context = {
		.previous = error_context_stack, .callback = tell_option,
		.arg = unconstify(char *, option)
	};
	List	   *columns = NIL;
	ListCell   *cell;

	if (value == NULL)
		return NIL;
	error_context_stack = &context;
	foreach(cell, parse_columns(option, value, example))
	{
		const ColumnDef *def = lfirst(cell);
		CsvImportedColumn *column = palloc0(sizeof(CsvImportedColumn));

		column->name = def->colname;
		column->typmod = -1;
		if (are_virtual)
		{
			column->word = strVal(llast(def->typeName->names));
			column->type = type_of_virtual(column->word);
		}
		else
			typenameTypeIdAndMod(NULL, def->typeName, &column->type,
								 &column->typmod);
		columns = lappend(columns, column);
	}
	error_context_stack = context.previous;
	return columns;
}

void
csv_find_given(CsvImportOptions *import)
{
	import->given_types = given_columns("types", import->types, false,
										"amount numeric, at timestamptz");
	import->given_virtuals = given_columns("virtual", import->virtuals, true,
										   "file filename, line record");
}

void
csv_give_types(CsvFindings *findings, const CsvImportOptions *import)
{
	ListCell   *cell;

	foreach(cell, import->given_types)
	{
		CsvImportedColumn *given = lfirst(cell);
		CsvFoundColumn *found = NULL;

		for (uint32 i = 0; i < findings->ncolumns; i++)
		{
			CsvFoundColumn *column = &findings->columns[i];

			if (strcmp(column->name, given->name) == 0 ||
				(found == NULL && column->header_name != NULL &&
				 strcmp(column->header_name, given->name) == 0))
				found = column;
		}
		if (found != NULL)
			found->given = given;
		given->used |= found != NULL;
	}
}

void
csv_check_given(const CsvImportOptions *import)
{
	ListCell   *cell;

	foreach(cell, import->given_types)
	{
		const CsvImportedColumn *given = lfirst(cell);

		if (!given->used)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("no table has the column \"%s\" of option \"types\"",
							given->name)));
	}
}
