/*
 * request.c
 *		A request as bytes, and back.
 *
 * The bytes are a Parts as it is in memory, then arrays, in the order of their alignment.
 * Pointers count for nothing: the receiver sets them, to arrays of the lengths that the
 * fields tell.
 */
#include "request.h"

#include <stddef.h>
#include <string.h>

#include "sound.h"

/* no record, nor chunk, is longer: see CsvInput */
#define MOST_INPUT_BYTES	(1024 * 1024 * 1024)

typedef struct Parts
{
	CsvWireRequest wire;		/* the first member: the caller gets its address */
	CsvLayout	layout;
	bool		asks;			/* there is a query */
	CsvQuery	query;
	CsvRequest	request;
} Parts;

/* ---- arrays ---- */

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

/* bytes of an element */
static const size_t sizes[NARRAYS] = {
	[CONSTANTS] = sizeof(CsvConstant),
	[COLUMNS] = sizeof(CsvColumn),
	[INSTRUCTIONS] = sizeof(CsvInstruction),
	[KEYS] = sizeof(CsvKey),
	[AGGREGATES] = sizeof(CsvAggregate),
	[ORDER] = sizeof(CsvOrderKey),
	[FILTERS] = sizeof(uint16_t),
	[CHECKED] = sizeof(uint16_t),
	[HIDDEN] = sizeof(bool),
	[NULL_BYTES] = 1,
	[DEFAULT_BYTES] = 1,
	[NULL_VALUES] = 1,
	[TEXT] = 1
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

/* bytes of all parts */
static uint64_t
count_bytes(const Array *arrays)
{
	uint64_t	nbytes = sizeof(Parts);

	for (int kind = 0; kind < NARRAYS; kind++)
		nbytes += arrays[kind].n * (uint64_t) sizes[kind];
	return nbytes;
}

/* ---- truth values ---- */

/* a byte that is neither 0 nor 1 must not get into a bool */
static const struct
{
	int			kind;			/* of array; -1: of Parts */
	size_t		offset;
}			truths[] = {
	{-1, offsetof(Parts, wire.dialect.multiline)},
	{-1, offsetof(Parts, wire.dialect.lenient)},
	{-1, offsetof(Parts, wire.dialect.blank_is_record)},
	{-1, offsetof(Parts, wire.dialect.trim)},
	{-1, offsetof(Parts, layout.pad)},
	{-1, offsetof(Parts, layout.has_default)},
	{-1, offsetof(Parts, layout.want_positions)},
	{-1, offsetof(Parts, layout.bad_is_doubtful)},
	{-1, offsetof(Parts, asks)},
	{-1, offsetof(Parts, query.aggregates)},
	{-1, offsetof(Parts, request.all_certain)},
	{-1, offsetof(Parts, request.may_hold)},
	{COLUMNS, offsetof(CsvColumn, force_null)},
	{COLUMNS, offsetof(CsvColumn, force_not_null)},
	{COLUMNS, offsetof(CsvColumn, pad_blanks)},
	{CONSTANTS, offsetof(CsvConstant, isnull)},
	{CONSTANTS, offsetof(CsvConstant, undecided)},
	{ORDER, offsetof(CsvOrderKey, descending)},
	{ORDER, offsetof(CsvOrderKey, nulls_first)},
	{HIDDEN, 0}
};

/* are all of Parts, or of the arrays, sound? */
static bool
truths_are_sound(const Parts *parts, const Array *arrays)
{
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++)
	{
		const int	kind = truths[i].kind;
		const uint8_t *byte;

		if ((kind < 0) != (arrays == NULL))
			continue;
		byte = kind < 0 ? (const uint8_t *) parts : (const uint8_t *) arrays[kind].start;
		byte += truths[i].offset;
		for (uint32_t n = kind < 0 ? 1 : arrays[kind].n; n > 0; n--)
		{
			if (*byte > 1)
				return false;
			byte += kind < 0 ? 0 : sizes[kind];
		}
	}
	return true;
}

/* ---- both ways ---- */

uint8_t *
csv_wire_encode_request(const CsvWireRequest *request, const CsvMemory *memory,
						size_t *nbytes)
{
	const Array none[NARRAYS] = {{NULL, 0}};
	Array		arrays[NARRAYS];
	Parts		parts;
	uint8_t    *bytes;
	uint8_t    *room;

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
	if (count_bytes(arrays) > CSV_WIRE_MOST_BYTES)
		return NULL;
	*nbytes = (size_t) count_bytes(arrays);
	bytes = memory->alloc(memory->owner, *nbytes);
	if (bytes == NULL)
		return NULL;

	/* addresses are not the receiver's business */
	set_arrays(&parts, none);
	parts.wire.layout = NULL;
	parts.wire.request = NULL;
	parts.request.query = NULL;
	memcpy(bytes, &parts, sizeof(parts));
	room = bytes + sizeof(parts);
	for (int kind = 0; kind < NARRAYS; kind++)
	{
		size_t		size = arrays[kind].n * sizes[kind];

		if (size > 0)
			memcpy(room, arrays[kind].start, size);
		room += size;
	}
	return bytes;
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

/* set the pointers of parts that came as bytes; false: no sound request has these */
static bool
connect(Parts *parts, size_t nbytes)
{
	Array		arrays[NARRAYS];
	uint8_t    *room = (uint8_t *) (parts + 1);

	if (!truths_are_sound(parts, NULL))
		return false;
	if (!parts->asks)
	{
		memset(&parts->query, 0, sizeof(parts->query));
		memset(&parts->request, 0, sizeof(parts->request));
	}
	list_arrays(parts, arrays);
	if (count_bytes(arrays) != nbytes)
		return false;
	for (int kind = 0; kind < NARRAYS; kind++)
	{
		arrays[kind].start = room;
		room += arrays[kind].n * sizes[kind];
	}
	if (!truths_are_sound(parts, arrays))
		return false;
	set_arrays(parts, arrays);
	parts->wire.layout = &parts->layout;
	parts->wire.request = parts->asks ? &parts->request : NULL;
	parts->request.query = &parts->query;
	return is_sound(parts);
}

bool
csv_wire_decode_request(const uint8_t *bytes, size_t nbytes,
						const CsvMemory *memory, CsvWireRequest **decoded)
{
	Parts	   *parts;

	*decoded = NULL;
	if (nbytes < sizeof(Parts) || nbytes > CSV_WIRE_MOST_BYTES)
		return false;
	parts = memory->alloc(memory->owner, nbytes);
	if (parts == NULL)
		return false;
	memcpy(parts, bytes, nbytes);
	if (!connect(parts, nbytes))
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
