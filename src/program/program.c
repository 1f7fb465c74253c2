/*
 * program.c
 *		A query as it is stored in a plan.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "program/program.h"

typedef struct Section
{
	void	   *start;
	size_t		nbytes;
} Section;

Expr *
csv_scale_function(Expr *value)
{
	return (Expr *) makeFuncExpr(F_SCALE, INT4OID, list_make1(value), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

#define NSPANS	9

/* elements of the arrays of a small program */
#define LEAST_ROOM	8

/* the counts, at once */
#define HEAD_BYTES	(offsetof(CsvProgram, room) - offsetof(CsvProgram, nviews))

static void
spans_of(CsvProgram *program, Section *spans)
{
	const CsvQuery *n = &program->query;

	spans[0] = (Section) {&program->nviews, HEAD_BYTES};
	spans[1] = (Section) {program->instructions,
		n->ninstructions * sizeof(CsvInstruction)};
	spans[2] = (Section) {program->constants,
		n->nconstants * sizeof(CsvProgramConstant)};
	spans[3] = (Section) {program->registers, program->nviews * sizeof(CsvRegister)};
	spans[4] = (Section) {program->filters, n->nfilters * sizeof(uint16_t)};
	spans[5] = (Section) {program->keys, n->nkeys * sizeof(CsvKey)};
	spans[6] = (Section) {program->aggregate,
		n->naggregates * sizeof(CsvAggregate)};
	spans[7] = (Section) {program->order, n->norder * sizeof(CsvOrderKey)};
	spans[8] = (Section) {program->checked, n->nchecked * sizeof(uint16_t)};
}

/* makes the arrays, all of them zero */
static void
make_arrays(CsvProgram *program, uint32_t room)
{
	size_t		n = (size_t) room + 1;
	char	   *next = palloc0(n * (sizeof(Node *) + sizeof(CsvInstruction) +
									sizeof(CsvProgramConstant) + sizeof(CsvRegister) +
									sizeof(CsvKey) + sizeof(CsvAggregate) +
									sizeof(CsvOrderKey) + 2 * sizeof(uint16_t)));

#define PLACE(array, type) \
	((array) = (type *) next, next += n * sizeof(type))

	/* by their alignment */
	PLACE(program->known, Node *);
	PLACE(program->instructions, CsvInstruction);
	PLACE(program->constants, CsvProgramConstant);
	PLACE(program->registers, CsvRegister);
	PLACE(program->aggregate, CsvAggregate);
	PLACE(program->keys, CsvKey);
	PLACE(program->order, CsvOrderKey);
	PLACE(program->filters, uint16_t);
	PLACE(program->checked, uint16_t);
#undef PLACE
	program->room = room;
}

/* the number of elements of the longest array */
static uint32_t
longest(const CsvProgram *program)
{
	const CsvQuery *n = &program->query;
	uint32_t	most = Max(program->nviews, n->ninstructions);

	most = Max(most, Max(n->nconstants, n->nfilters));
	most = Max(most, Max(n->nkeys, n->naggregates));
	return Max(most, Max(n->norder, n->nchecked));
}

void
csv_program_reserve(CsvProgram *program)
{
	CsvProgram	before = *program;
	Section		from[NSPANS];
	Section		to[NSPANS];

	if (longest(program) < program->room)
		return;
	make_arrays(program, Max(LEAST_ROOM, 2 * program->room));
	if (before.room == 0)
		return;
	spans_of(&before, from);
	spans_of(program, to);
	for (int i = 1; i < NSPANS; i++)
		memcpy(to[i].start, from[i].start, from[i].nbytes);
	memcpy(program->known, before.known, program->nviews * sizeof(Node *));
}

Node *
csv_program_to_node(CsvProgram *program)
{
	Section		spans[NSPANS];
	size_t		nbytes = 0;
	bytea	   *image;
	char	   *next;

	spans_of(program, spans);
	for (int i = 0; i < NSPANS; i++)
		nbytes += spans[i].nbytes;
	image = palloc(VARHDRSZ + nbytes);
	SET_VARSIZE(image, VARHDRSZ + nbytes);
	next = VARDATA(image);
	for (int i = 0; i < NSPANS; i++)
	{
		if (spans[i].nbytes > 0)
			memcpy(next, spans[i].start, spans[i].nbytes);
		next += spans[i].nbytes;
	}
	return (Node *) makeConst(BYTEAOID, -1, InvalidOid, -1,
							  PointerGetDatum(image), false, false);
}

CsvProgram *
csv_program_from_node(const Node *node)
{
	bytea	   *image = DatumGetByteaPP(((const Const *) node)->constvalue);
	CsvProgram *program = palloc0(sizeof(CsvProgram));
	const char *next = VARDATA_ANY(image);
	Section		spans[NSPANS];

	memcpy(&program->nviews, next, HEAD_BYTES);
	make_arrays(program, longest(program));
	spans_of(program, spans);
	for (int i = 0; i < NSPANS; i++)
	{
		if (spans[i].nbytes > 0)
			memcpy(spans[i].start, next, spans[i].nbytes);
		next += spans[i].nbytes;
	}
	program->case_register = -1;
	return program;
}
