/*
 * bind.c
 *		A query as it is run: with the values of its constants, over the columns of
 *		a file.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "program/program.h"
#include "query/operate.h"

/* ---- constants ---- */

/* a constant of the program, in the query */
typedef struct Bound
{
	uint32_t	first;			/* its first constant in the query */
	uint32_t	count;			/* number of its constants; a list may have several */
	int16_t		scale;			/* of DECIMAL */
	bool		has_null;		/* a list that has a NULL, or is NULL */
	bool		empty;			/* a list without elements */
	bool		ready;			/* its value is known */
} Bound;

/* the query's constants, while they are made */
typedef struct Constants
{
	StringInfoData constants;	/* of CsvConstant */
	uint32_t	n;
	StringInfoData text;
} Constants;

static CsvConstant *
new_constant(Constants *out, uint8_t lane)
{
	CsvConstant constant;

	memset(&constant, 0, sizeof(constant));
	constant.lane = lane;
	appendBinaryStringInfo(&out->constants, (const char *) &constant,
						   sizeof(constant));
	return (CsvConstant *) out->constants.data + out->n++;
}

static void
put_value(Constants *out, uint8_t lane, const CsvValue *value)
{
	CsvConstant *constant = new_constant(out, lane);

	memcpy(&constant->value, &value->value, sizeof(constant->value));
	constant->isnull = value->state == CSV_LANE_NULL;
	constant->undecided = value->state == CSV_LANE_UNDECIDED;
	if (lane == CSV_LANE_TEXT && value->state == CSV_LANE_VALUE)
	{
		constant->length = value->length;
		constant->offset = (uint32_t) out->text.len;
		appendBinaryStringInfo(&out->text, (const char *) value->bytes,
							   (int) value->length);
	}
}

/* begins with the constants of a query, which has some */
static void
copy_constants(Constants *out, const CsvQuery *query)
{
	initStringInfo(&out->constants);
	initStringInfo(&out->text);
	out->n = query->nconstants;
	appendBinaryStringInfo(&out->constants, (const char *) query->constants,
						   (int) (out->n * sizeof(CsvConstant)));
	appendBinaryStringInfo(&out->text, (const char *) query->text,
						   (int) query->text_length);
}

static int
compare_in_lane(const void *a, const void *b, void *lane)
{
	return csv_value_compare(*(uint8_t *) lane, a, b);
}

/*
 * The elements of an array as constants, sorted and distinct.  Elements that the lane
 * cannot hold are left out: they equal no value of the lane.
 */
static void
put_list(Constants *out, const CsvProgramConstant *constant, Datum array,
		 Bound *bound)
{
	Datum	   *datums;
	bool	   *nulls;
	int			n;
	int			nvalues = 0;
	CsvValue   *values;
	uint8_t		lane = constant->reg.lane;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(constant->reg.type, &typlen, &typbyval, &typalign);
	deconstruct_array(DatumGetArrayTypeP(array), constant->reg.type, typlen,
					  typbyval, typalign, &datums, &nulls, &n);
	bound->empty = n == 0;
	values = palloc(sizeof(CsvValue) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			bound->has_null = true;
		else
			nvalues += csv_value_of_datum(&constant->reg, datums[i], &values[nvalues]);
	}
	qsort_arg(values, nvalues, sizeof(CsvValue), compare_in_lane, &lane);
	bound->count = 0;
	for (int i = 0; i < nvalues; i++)
	{
		if (i > 0 && csv_value_compare(lane, &values[i - 1], &values[i]) == 0)
			continue;
		put_value(out, lane, &values[i]);
		bound->count++;
	}
}

/*
 * A numeric that decimals of a scale are compared with.  If it is between two
 * decimals, all numbers between them compare alike: it gets one more digit.  If it is
 * beyond all decimals, it stays so.
 */
static bool
put_compared(Constants *out, const CsvProgramConstant *constant, Datum datum,
			 Bound *bound)
{
	CsvValue	value;
	CsvInt128  *decimal = &value.value.decimal;
	bool		fits = true;

	memset(&value, 0, sizeof(value));
	if (!csv_decimal_of_numeric(datum, constant->reg.scale, decimal) &&
		csv_decimal_fits(*decimal))
	{
		bound->scale++;
		fits = csv_decimal_rescale(*decimal, 1, decimal);
		*decimal += 5;
	}
	put_value(out, constant->reg.lane, &value);
	return fits;
}

/* a constant, with its current value; false if its lane does not have the value */
static bool
put_constant(Constants *out, const CsvProgramConstant *constant,
			 ExprState *state, ExprContext *econtext, Bound *bound)
{
	CsvValue	value;
	bool		isnull;
	bool		fits;
	Datum		datum = ExecEvalExpr(state, econtext, &isnull);

	if (isnull)
	{
		/* IN a list that is NULL is always NULL */
		bound->has_null = true;
		if (constant->list)
			bound->count = 0;
		else
			new_constant(out, constant->reg.lane)->isnull = true;
		return true;
	}
	if (constant->list)
	{
		put_list(out, constant, datum, bound);
		return true;
	}
	if (constant->dynamic)
		return put_compared(out, constant, datum, bound);
	fits = csv_value_of_datum(&constant->reg, datum, &value);
	put_value(out, constant->reg.lane, &value);
	return fits;
}

static bool
params_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		*(List **) context = list_append_unique(*(List **) context, node);
	return expression_tree_walker(node, params_walker, context);
}

List *
csv_expression_params(Node *expr)
{
	List	   *params = NIL;

	(void) params_walker(expr, &params);
	return params;
}

/* does an expression need the value of a subquery that has not run? */
static bool
awaits_subquery(Node *expr, const ExprContext *econtext)
{
	List	   *params = csv_expression_params(expr);
	bool		awaits = false;
	ListCell   *cell;

	foreach(cell, params)
	{
		const Param *param = lfirst_node(Param, cell);

		awaits |= param->paramkind == PARAM_EXEC &&
			econtext->ecxt_param_exec_vals[param->paramid].execPlan != NULL;
	}
	list_free(params);
	return awaits;
}

static bool
constant_is_ready(const CsvProgram *program, List *constants, uint32_t i,
				  ExprContext *econtext)
{
	ExprState  *constant = list_nth(constants, (int) i);

	return program->constants[i].certain ||
		!awaits_subquery((Node *) constant->expr, econtext);
}

bool
csv_program_is_ready(const CsvProgram *program, List *constants,
					 ExprContext *econtext)
{
	for (uint32_t i = 0; i < program->query.nconstants; i++)
		if (!constant_is_ready(program, constants, i, econtext))
			return false;
	return true;
}

bool
csv_expression_varies(Node *expr)
{
	ListCell   *cell;

	foreach(cell, csv_expression_params(expr))
		if (lfirst_node(Param, cell)->paramkind == PARAM_EXEC)
			return true;
	return contain_subplans(expr);
}

/* ---- the query ---- */

/* is a register just a column?  Its evaluation raises no ERROR. */
static bool
is_column(const CsvProgram *program, uint16_t reg)
{
	const CsvInstruction *writer =
		csv_find_writer(program->instructions, program->query.ninstructions, reg);

	return writer != NULL && writer->operation == CSV_OP_COLUMN;
}

/* no, undecided: numbers of the constants false and undecided */
static void
bind_instruction(CsvInstruction *instruction, const CsvProgram *program,
				 const Bound *constants, uint32_t no, uint32_t undecided)
{
	uint32_t	number = instruction->operand;
	const Bound *bound;

	switch (instruction->operation)
	{
		case CSV_OP_CONSTANT:
		case CSV_OP_STARTS_WITH:
		case CSV_OP_ENDS_WITH:
		case CSV_OP_CONTAINS:
		case CSV_OP_LIKE:
			instruction->operand = constants[number].first;
			break;
		case CSV_OP_RESCALE:
			if (instruction->flags & CSV_FLAG_DYNAMIC)
			{
				instruction->flags = 0;
				instruction->operand = (uint32_t)
					(constants[number].scale -
					 program->constants[number].reg.scale);
			}
			break;
		case CSV_OP_IN:
			bound = &constants[number];
			instruction->operand = bound->first;
			instruction->count = bound->count;
			if (bound->has_null)
				instruction->flags |= CSV_FLAG_LIST_NULL;
			if (bound->empty || !bound->ready)
			{
				/*
				 * IN an empty list is false, also for NULL.  But PostgreSQL evaluates
				 * the left operand, and raises its ERRORs.
				 */
				instruction->operation = CSV_OP_CONSTANT;
				instruction->lane = CSV_LANE_INT;
				if (bound->empty)
					instruction->operand =
						is_column(program, instruction->a) ? no : undecided;
			}
			break;
		default:
			break;
	}
}

/*
 * The filters of a query; filters that need a constant which is not known yet come
 * last.  (An operand that an instruction does not have counts as register 0.)
 */
static const uint16_t *
decided_first(const CsvQuery *query)
{
	bool	   *open = palloc0(sizeof(bool) * (query->nregisters + 1));
	uint16_t   *filters = palloc(sizeof(uint16_t) * (query->nfilters + 1));
	uint32_t	n = 0;

	for (uint32_t i = 0; i < query->ninstructions; i++)
	{
		const CsvInstruction *instruction = &query->instructions[i];

		open[instruction->result] =
			instruction->operation == CSV_OP_CONSTANT ?
			query->constants[instruction->operand].undecided :
			open[instruction->a] || open[instruction->b] ||
			open[instruction->c];
	}
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < query->nfilters; i++)
			if (open[query->filters[i]] == (pass == 1))
				filters[n++] = query->filters[i];
	return filters;
}

CsvQuery *
csv_program_query(const CsvProgram *program, List *constants,
				  ExprContext *econtext, CsvKnown known,
				  CsvDecidable *decidable)
{
	const CsvQuery *n = &program->query;
	CsvQuery   *query = palloc(sizeof(CsvQuery));
	CsvInstruction *instructions = palloc(Max(n->ninstructions, 1) *
										  sizeof(CsvInstruction));
	Bound	   *bound = palloc0(Max(n->nconstants, 1) * sizeof(Bound));
	bool		all_ready = true;
	bool		all_fit = true;
	Constants	out;

	out.n = 0;
	initStringInfo(&out.constants);
	initStringInfo(&out.text);
	for (uint32_t i = 0; i < n->nconstants; i++)
	{
		const CsvProgramConstant *constant = &program->constants[i];
		ExprState  *state = list_nth(constants, (int) i);

		bound[i].first = out.n;
		bound[i].count = 1;
		bound[i].scale = constant->reg.scale;
		bound[i].ready = known != CSV_KNOWS_NONE &&
			(known == CSV_KNOWS_ALL ||
			 !csv_expression_varies((Node *) state->expr)) &&
			constant_is_ready(program, constants, i, econtext);
		all_ready &= bound[i].ready;
		if (bound[i].ready)
			all_fit &= put_constant(&out, constant, state, econtext,
									&bound[i]);
		else
			new_constant(&out, constant->list ? CSV_LANE_INT :
						 constant->reg.lane)->undecided = true;
	}
	*decidable = !all_fit ? CSV_DECIDES_NOTHING :
		all_ready ? CSV_DECIDES_ALL : CSV_DECIDES_LATER;
	new_constant(&out, CSV_LANE_INT);
	new_constant(&out, CSV_LANE_INT)->undecided = true;

	memcpy(instructions, program->instructions,
		   n->ninstructions * sizeof(CsvInstruction));
	for (uint32_t i = 0; i < n->ninstructions; i++)
		bind_instruction(&instructions[i], program, bound, out.n - 2,
						 out.n - 1);

	*query = *n;
	query->nconstants = out.n;
	query->text_length = (uint32_t) out.text.len;
	query->instructions = instructions;
	query->constants = (const CsvConstant *) out.constants.data;
	query->text = (const uint8_t *) out.text.data;
	query->filters = program->filters;
	query->keys = program->keys;
	query->aggregate = program->aggregate;
	query->order = program->order;
	query->checked = program->checked;
	if (known == CSV_KNOWS_LASTING)
		query->filters = decided_first(query);
	return query;
}

CsvQuery *
csv_query_over(const CsvQuery *query, const CsvColumn *columns,
			   uint32_t ncolumns, CsvFileValueFn file_value, void *arg)
{
	size_t		nbytes = query->ninstructions * sizeof(CsvInstruction);
	CsvInstruction *instructions = palloc0(MAXALIGN(nbytes));
	Constants	out = {.n = 0};
	CsvQuery   *over;

	memcpy(instructions, query->instructions, nbytes);
	nbytes = MAXALIGN(nbytes);
	for (uint32_t i = 0; i < query->ninstructions; i++)
	{
		CsvInstruction *instruction = &instructions[i];
		uint32_t	k = 0;
		CsvValue	value;

		if (instruction->operation != CSV_OP_COLUMN)
			continue;
		while (k < ncolumns && columns[k].attnum != instruction->operand)
			k++;
		if (k == ncolumns)
		{
			if (out.n == 0)
				copy_constants(&out, query);
			file_value(arg, (AttrNumber) instruction->operand, &value);
			instruction->operation = CSV_OP_CONSTANT;
			k = out.n;
			put_value(&out, instruction->lane, &value);
		}
		instruction->operand = k;
	}
	over = palloc(sizeof(CsvQuery) + nbytes + out.constants.len + out.text.len);
	*over = *query;
	over->instructions = memcpy(over + 1, instructions, nbytes);
	pfree(instructions);
	if (out.n == 0)
		return over;
	over->nconstants = out.n;
	over->constants = memcpy((char *) (over + 1) + nbytes, out.constants.data,
							 out.constants.len);
	over->text_length = (uint32_t) out.text.len;
	over->text = memcpy((char *) (over->constants + out.n), out.text.data,
						out.text.len);
	pfree(out.constants.data);
	pfree(out.text.data);
	return over;
}
