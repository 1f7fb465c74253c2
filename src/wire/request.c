/*
 * request.c
 *		A request as bytes, and back.
 *
 * The bytes are the fields of single structs, and then the arrays, whose lengths are
 * among the fields.  One function passes the fields of a struct in both directions, so
 * both ends have the same order.
 */
#include "request.h"

#include <string.h>

#include "check.h"

/* the greatest size of a record or chunk: see CsvInput */
#define MOST_INPUT_BYTES	(1024 * 1024 * 1024)

/* a request in one piece of memory */
typedef struct Parts
{
	CsvWireRequest wire;		/* first, as the caller frees all by its address */
	CsvLayout	layout;
	bool		asks;			/* whether there is a query */
	CsvQuery	query;
	CsvRequest	request;
} Parts;

/* ---- fields ---- */

/* bytes that are written, read, or only counted */
typedef struct Stream
{
	uint8_t    *to;				/* NULL: do not write */
	const uint8_t *from;		/* NULL: do not read */
	size_t		at;
	size_t		nbytes;			/* the limit of `at` */
	bool		good;			/* otherwise the values are not valid */
} Stream;

static void
pass(Stream *stream, void *value, size_t nbytes)
{
	if (nbytes > stream->nbytes - stream->at)
	{
		stream->good = false;
		return;
	}
	if (stream->to != NULL && nbytes > 0)
		memcpy(stream->to + stream->at, value, nbytes);
	if (stream->from != NULL && nbytes > 0)
		memcpy(value, stream->from + stream->at, nbytes);
	stream->at += nbytes;
}

#define PASS(stream, field)	pass(stream, &(field), sizeof(field))

/* a byte other than 0 and 1 must not get into a bool */
static void
pass_bool(Stream *stream, bool *value)
{
	uint8_t		byte = *value;

	PASS(stream, byte);
	stream->good &= byte <= 1;
	*value = byte == 1;
}

static void
pass_single(Stream *stream, Parts *parts)
{
	CsvDialectOptions *dialect = &parts->wire.dialect;
	CsvLayout  *layout = &parts->layout;

	PASS(stream, dialect->delimiter);
	PASS(stream, dialect->delimiter_rest_length);
	for (int i = 0; i < CSV_DELIMITER_REST_BYTES; i++)
		PASS(stream, dialect->delimiter_rest[i]);
	PASS(stream, dialect->quote);
	PASS(stream, dialect->escape);
	PASS(stream, dialect->quoting);
	PASS(stream, dialect->boundary);
	pass_bool(stream, &dialect->multiline);
	pass_bool(stream, &dialect->lenient);
	pass_bool(stream, &dialect->blank_is_record);
	pass_bool(stream, &dialect->trim);
	PASS(stream, dialect->comment_length);
	for (int i = 0; i < CSV_COMMENT_BYTES; i++)
		PASS(stream, dialect->comment[i]);
	PASS(stream, dialect->footer_rows);
	PASS(stream, parts->wire.max_record_bytes);
	PASS(stream, parts->wire.chunk_bytes);

	PASS(stream, layout->nfields);
	pass_bool(stream, &layout->pad);
	PASS(stream, layout->encoding);
	PASS(stream, layout->decimal_separator);
	pass_bool(stream, &layout->has_default);
	pass_bool(stream, &layout->want_positions);
	pass_bool(stream, &layout->bad_is_doubtful);
	PASS(stream, layout->null_length);
	PASS(stream, layout->default_length);
	PASS(stream, layout->null_values_length);
	PASS(stream, layout->ncolumns);
	pass_bool(stream, &parts->asks);
}

static void
pass_query(Stream *stream, CsvQuery *query, CsvRequest *request)
{
	PASS(stream, query->nregisters);
	PASS(stream, query->ninstructions);
	PASS(stream, query->nfilter_instructions);
	PASS(stream, query->nconstants);
	PASS(stream, query->text_length);
	PASS(stream, query->nfilters);
	pass_bool(stream, &query->aggregates);
	PASS(stream, query->nkeys);
	PASS(stream, query->naggregates);
	PASS(stream, query->limit);
	PASS(stream, query->limit_bytes);
	PASS(stream, query->norder);
	PASS(stream, query->nchecked);
	pass_bool(stream, &request->all_certain);
	pass_bool(stream, &request->may_hold);
}

/* ---- elements of arrays ---- */

typedef union Element
{
	CsvColumn	column;
	bool		hidden;
	CsvInstruction instruction;
	CsvConstant constant;
	uint16_t	number;			/* of a register */
	CsvKey		key;
	CsvAggregate aggregate;
	CsvOrderKey order;
	uint8_t		byte;
} Element;

static void
pass_column(Stream *stream, Element *element)
{
	CsvColumn  *column = &element->column;

	PASS(stream, column->field);
	PASS(stream, column->attnum);
	PASS(stream, column->kind);
	pass_bool(stream, &column->force_null);
	pass_bool(stream, &column->force_not_null);
	pass_bool(stream, &column->pad_blanks);
	PASS(stream, column->max_chars);
	PASS(stream, column->byte_width);
	PASS(stream, column->type_chars);
	PASS(stream, column->precision);
	PASS(stream, column->scale);
	PASS(stream, column->thousands);
	for (int i = 0; i < CSV_PATTERN_STEPS; i++)
		PASS(stream, column->pattern[i]);
	PASS(stream, column->nulls_from);
	PASS(stream, column->nulls_to);
}

static void
pass_hidden(Stream *stream, Element *element)
{
	pass_bool(stream, &element->hidden);
}

static void
pass_instruction(Stream *stream, Element *element)
{
	CsvInstruction *instruction = &element->instruction;

	PASS(stream, instruction->operation);
	PASS(stream, instruction->lane);
	PASS(stream, instruction->bits);
	PASS(stream, instruction->flags);
	PASS(stream, instruction->result);
	PASS(stream, instruction->a);
	PASS(stream, instruction->b);
	PASS(stream, instruction->c);
	PASS(stream, instruction->operand);
	PASS(stream, instruction->count);
}

/* bytes of the value beyond its lane are zeros */
static void
pass_constant(Stream *stream, Element *element)
{
	CsvConstant *constant = &element->constant;
	uint8_t		value[sizeof(constant->value)] = {0};
	size_t		nbytes;

	PASS(stream, constant->lane);
	pass_bool(stream, &constant->isnull);
	pass_bool(stream, &constant->undecided);
	PASS(stream, constant->length);
	PASS(stream, constant->offset);
	nbytes = constant->lane == CSV_LANE_TEXT ? 0 :
		constant->lane == CSV_LANE_INT || constant->lane == CSV_LANE_FLOAT ?
		8 : sizeof(value);
	memcpy(value, &constant->value, nbytes);
	PASS(stream, value);
	for (size_t i = nbytes; i < sizeof(value); i++)
		stream->good &= value[i] == 0;
	memcpy(&constant->value, value, sizeof(value));
}

static void
pass_number(Stream *stream, Element *element)
{
	PASS(stream, element->number);
}

static void
pass_key(Stream *stream, Element *element)
{
	PASS(stream, element->key.lane);
	PASS(stream, element->key.value);
}

static void
pass_aggregate(Stream *stream, Element *element)
{
	PASS(stream, element->aggregate.kind);
	PASS(stream, element->aggregate.lane);
	PASS(stream, element->aggregate.argument);
	PASS(stream, element->aggregate.filter);
}

static void
pass_order(Stream *stream, Element *element)
{
	PASS(stream, element->order.lane);
	pass_bool(stream, &element->order.descending);
	pass_bool(stream, &element->order.nulls_first);
	PASS(stream, element->order.value);
}

static void
pass_byte(Stream *stream, Element *element)
{
	PASS(stream, element->byte);
}

/* ---- arrays ---- */

/* in the order of their alignment, so that there are no gaps between them in memory */
enum
{
	CONSTANTS,
	COLUMNS,
	INSTRUCTIONS,
	KEYS,
	AGGREGATES,
	ORDER,
	FILTERS,
	CHECKED,
	HIDDEN,
	NULL_BYTES,
	DEFAULT_BYTES,
	NULL_VALUES,
	TEXT,
	NARRAYS
};

/* the bytes of an element in memory */
static const struct
{
	size_t		nbytes;
	void		(*pass) (Stream *stream, Element *element);
}			kinds[NARRAYS] =
{
	[CONSTANTS] = {sizeof(CsvConstant), pass_constant},
	[COLUMNS] = {sizeof(CsvColumn), pass_column},
	[INSTRUCTIONS] = {sizeof(CsvInstruction), pass_instruction},
	[KEYS] = {sizeof(CsvKey), pass_key},
	[AGGREGATES] = {sizeof(CsvAggregate), pass_aggregate},
	[ORDER] = {sizeof(CsvOrderKey), pass_order},
	[FILTERS] = {sizeof(uint16_t), pass_number},
	[CHECKED] = {sizeof(uint16_t), pass_number},
	[HIDDEN] = {sizeof(bool), pass_hidden},
	[NULL_BYTES] = {1, pass_byte},
	[DEFAULT_BYTES] = {1, pass_byte},
	[NULL_VALUES] = {1, pass_byte},
	[TEXT] = {1, pass_byte}
};

typedef struct Array
{
	const void *start;
	uint32_t	n;
} Array;

static void
list_arrays(const Parts *parts, Array *arrays)
{
	const CsvLayout *layout = &parts->layout;
	const CsvQuery *query = &parts->query;

	arrays[CONSTANTS] = (Array) {query->constants, query->nconstants};
	arrays[COLUMNS] = (Array) {layout->columns, layout->ncolumns};
	arrays[INSTRUCTIONS] =
		(Array) {query->instructions, query->ninstructions};
	arrays[KEYS] = (Array) {query->keys, query->nkeys};
	arrays[AGGREGATES] = (Array) {query->aggregate, query->naggregates};
	arrays[ORDER] = (Array) {query->order, query->norder};
	arrays[FILTERS] = (Array) {query->filters, query->nfilters};
	arrays[CHECKED] = (Array) {query->checked, query->nchecked};
	arrays[HIDDEN] = (Array) {parts->request.hidden,
		parts->asks ? layout->ncolumns : 0};
	arrays[NULL_BYTES] = (Array) {layout->null_bytes, layout->null_length};
	arrays[DEFAULT_BYTES] =
		(Array) {layout->default_bytes, layout->default_length};
	arrays[NULL_VALUES] =
		(Array) {layout->null_values, layout->null_values_length};
	arrays[TEXT] = (Array) {query->text, query->text_length};
}

static void
set_arrays(Parts *parts, const Array *arrays)
{
	CsvLayout  *layout = &parts->layout;
	CsvQuery   *query = &parts->query;

	query->constants = arrays[CONSTANTS].start;
	layout->columns = arrays[COLUMNS].start;
	query->instructions = arrays[INSTRUCTIONS].start;
	query->keys = arrays[KEYS].start;
	query->aggregate = arrays[AGGREGATES].start;
	query->order = arrays[ORDER].start;
	query->filters = arrays[FILTERS].start;
	query->checked = arrays[CHECKED].start;
	parts->request.hidden = arrays[HIDDEN].start;
	layout->null_bytes = arrays[NULL_BYTES].start;
	layout->default_bytes = arrays[DEFAULT_BYTES].start;
	layout->null_values = arrays[NULL_VALUES].start;
	query->text = arrays[TEXT].start;
}

/* everything before the arrays */
static void
pass_fields(Stream *stream, Parts *parts)
{
	pass_single(stream, parts);
	if (parts->asks)
		pass_query(stream, &parts->query, &parts->request);
}

/* from the array, or to `room`, if not NULL */
static void
pass_array(Stream *stream, int kind, const Array *array, uint8_t *room)
{
	const uint8_t *elements = array->start;
	size_t		nbytes = kinds[kind].nbytes;

	for (uint32_t i = 0; i < array->n; i++)
	{
		Element		element;

		memset(&element, 0, sizeof(element));
		if (elements != NULL)
			memcpy(&element, elements + i * nbytes, nbytes);
		kinds[kind].pass(stream, &element);
		if (room != NULL)
			memcpy(room + i * nbytes, &element, nbytes);
	}
}

/* the bytes of all arrays in the message, and in memory */
static void
count_arrays(const Array *arrays, uint64_t *nbytes, uint64_t *room_bytes)
{
	*nbytes = 0;
	*room_bytes = 0;
	for (int kind = 0; kind < NARRAYS; kind++)
	{
		Stream		one = {.nbytes = sizeof(Element)};
		Element		element;

		memset(&element, 0, sizeof(element));
		kinds[kind].pass(&one, &element);
		*nbytes += arrays[kind].n * (uint64_t) one.at;
		*room_bytes += arrays[kind].n * (uint64_t) kinds[kind].nbytes;
	}
}

/* ---- both ways ---- */

uint8_t *
csv_wire_encode_request(const CsvWireRequest *request, const CsvMemory *memory,
						size_t *nbytes)
{
	Stream		stream = {.nbytes = CSV_WIRE_MOST_BYTES};
	Array		arrays[NARRAYS];
	uint64_t	array_bytes;
	uint64_t	room_bytes;
	Parts		parts;

	memset(&parts, 0, sizeof(parts));
	parts.wire = *request;
	parts.layout = *request->layout;
	parts.asks = request->request != NULL;
	if (parts.asks)
	{
		parts.request = *request->request;
		parts.query = *request->request->query;
	}
	list_arrays(&parts, arrays);
	count_arrays(arrays, &array_bytes, &room_bytes);
	pass_fields(&stream, &parts);
	if (array_bytes > CSV_WIRE_MOST_BYTES - stream.at)
		return NULL;

	*nbytes = stream.at + array_bytes;
	stream = (Stream) {.nbytes = *nbytes};
	stream.to = memory->alloc(memory->owner, *nbytes);
	if (stream.to == NULL)
		return NULL;
	pass_fields(&stream, &parts);
	for (int kind = 0; kind < NARRAYS; kind++)
		pass_array(&stream, kind, &arrays[kind], NULL);
	return stream.to;
}

static bool
is_sound(const Parts *parts)
{
	const CsvWireRequest *wire = &parts->wire;

	return csv_dialect_is_sound(&wire->dialect) &&
		wire->max_record_bytes > 0 &&
		wire->max_record_bytes <= MOST_INPUT_BYTES &&
		wire->chunk_bytes <= MOST_INPUT_BYTES &&
		csv_layout_is_sound(&parts->layout) &&
		(!parts->asks || csv_query_is_sound(&parts->query, &parts->layout));
}

bool
csv_wire_decode_request(const uint8_t *bytes, size_t nbytes,
						const CsvMemory *memory, CsvWireRequest **decoded)
{
	Stream		stream = {.from = bytes, .nbytes = nbytes, .good = true};
	Array		arrays[NARRAYS];
	uint64_t	array_bytes;
	uint64_t	room_bytes;
	Parts	   *parts;
	Parts		fields;
	uint8_t    *room;

	*decoded = NULL;
	memset(&fields, 0, sizeof(fields));
	pass_fields(&stream, &fields);
	list_arrays(&fields, arrays);
	count_arrays(arrays, &array_bytes, &room_bytes);
	if (!stream.good || nbytes > CSV_WIRE_MOST_BYTES ||
		array_bytes != nbytes - stream.at)
		return false;

	/* arrays follow the structs; the last array is the query's text */
	parts = memory->alloc(memory->owner, sizeof(*parts) + room_bytes);
	if (parts == NULL)
		return false;
	room = (uint8_t *) (parts + 1);
	for (int kind = 0; kind < NARRAYS; kind++)
	{
		pass_array(&stream, kind, &arrays[kind], room);
		arrays[kind].start = room;
		room += arrays[kind].n * kinds[kind].nbytes;
	}
	*parts = fields;
	set_arrays(parts, arrays);
	parts->wire.layout = &parts->layout;
	if (parts->asks)
	{
		parts->wire.request = &parts->request;
		parts->request.query = &parts->query;
	}
	if (!stream.good || !is_sound(parts))
	{
		memory->free(memory->owner, parts);
		return false;
	}
	*decoded = &parts->wire;
	return true;
}

void
csv_wire_free_request(CsvWireRequest *request, const CsvMemory *memory)
{
	memory->free(memory->owner, request);
}
