/*
 * request.c
 *		A request as bytes, and back.
 *
 * The bytes are a Parts as it is in memory, then arrays, in the order of their alignment.
 * Pointers count for nothing: the receiver sets them, to arrays of the lengths that the
 * fields tell.
 */
#include "request.h"

#include "packed.h"
#include "reader/arrays.h"

/* no record, nor chunk, is longer: see CsvInput */
#define MOST_INPUT_BYTES	(1024 * 1024 * 1024)

typedef struct Parts
{
	CsvWireRequest wire;		/* the first member: the caller gets its address */
	CsvLayout	layout;
	uint8_t		asks;			/* 0: there is no query */
	CsvQuery	query;
	CsvRequest	request;
} Parts;

/* what walk_arrays() does with an array */
typedef enum Walk
{
	COUNT_ARRAYS,				/* nothing */
	MOVE_ARRAYS,				/* copies it, and makes its pointer NULL: addresses are
								 * not the receiver's business */
	FIND_ARRAYS					/* makes its pointer point to it */
} Walk;

/*
 * Walk through the arrays that parts point to, which are, or get, side by side in
 * `room`.  Returns the bytes of parts and arrays.
 */
static uint64_t
walk_arrays(Parts *parts, uint8_t *room, Walk walk)
{
	CsvLayout  *layout = &parts->layout;
	CsvQuery   *query = &parts->query;
	const struct
	{
		void	   *pointer;	/* where it is */
		uint32_t	n;
		size_t		size;		/* of an element */
	}			arrays[] = {
		{&query->constants, query->nconstants, sizeof(CsvConstant)},
		{&layout->columns, layout->ncolumns, sizeof(CsvColumn)},
		{&query->instructions, query->ninstructions, sizeof(CsvInstruction)},
		{&query->keys, query->nkeys, sizeof(CsvKey)},
		{&query->aggregate, query->naggregates, sizeof(CsvAggregate)},
		{&query->order, query->norder, sizeof(CsvOrderKey)},
		{&query->filters, query->nfilters, sizeof(uint16_t)},
		{&query->checked, query->nchecked, sizeof(uint16_t)},
		{&parts->request.hidden, parts->asks ? layout->ncolumns : 0, sizeof(bool)},
		{&layout->null_bytes, layout->null_length, 1},
		{&layout->default_bytes, layout->default_length, 1},
		{&layout->null_values, layout->null_values_length, 1},
		{&query->text, query->text_length, 1}
	};
	uint64_t	nbytes = sizeof(Parts);

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
	{
		uint64_t	size = arrays[i].n * (uint64_t) arrays[i].size;
		void	   *array;

		nbytes += size;
		if (walk == COUNT_ARRAYS)
			continue;
		memcpy(&array, arrays[i].pointer, sizeof(array));
		if (walk == MOVE_ARRAYS && size > 0)
			memcpy(room, array, size);
		array = walk == MOVE_ARRAYS ? NULL : room;
		memcpy(arrays[i].pointer, &array, sizeof(array));
		room += size;
	}
	return nbytes;
}

uint8_t *
csv_wire_encode_request(const CsvWireRequest *request, const CsvMemory *memory,
						size_t *nbytes)
{
	Parts		parts;
	uint8_t    *bytes;

	memset(&parts, 0, sizeof(parts));
	parts.wire = *request;
	parts.layout = *request->layout;
	parts.asks = request->request != NULL;
	if (parts.asks)
	{
		parts.request = *request->request;
		parts.query = *request->request->query;
	}
	*nbytes = walk_arrays(&parts, NULL, COUNT_ARRAYS);
	if (*nbytes > CSV_WIRE_MOST_BYTES)
		return NULL;
	bytes = memory->alloc(memory->owner, *nbytes);
	if (bytes == NULL)
		return NULL;
	(void) walk_arrays(&parts, bytes + sizeof(parts), MOVE_ARRAYS);
	parts.wire.layout = NULL;
	parts.wire.request = NULL;
	parts.request.query = NULL;
	memcpy(bytes, &parts, sizeof(parts));
	return bytes;
}

/* set the pointers of parts that came as bytes; false: no request has these */
static bool
connect(Parts *parts, size_t nbytes)
{
	if (!parts->asks)
	{
		memset(&parts->query, 0, sizeof(parts->query));
		memset(&parts->request, 0, sizeof(parts->request));
	}
	if (walk_arrays(parts, NULL, COUNT_ARRAYS) != nbytes)
		return false;
	(void) walk_arrays(parts, (uint8_t *) (parts + 1), FIND_ARRAYS);
	parts->wire.layout = &parts->layout;
	parts->wire.request = parts->asks ? &parts->request : NULL;
	parts->request.query = &parts->query;
	return parts->wire.max_record_bytes > 0 &&
		parts->wire.max_record_bytes <= MOST_INPUT_BYTES &&
		parts->wire.chunk_bytes <= MOST_INPUT_BYTES &&
		csv_are_bounded(&parts->wire.dialect, &parts->layout);
}

CsvWireRequest *
csv_wire_decode_request(const uint8_t *bytes, size_t nbytes,
						const CsvMemory *memory)
{
	Parts	   *parts;

	if (nbytes < sizeof(Parts) || nbytes > CSV_WIRE_MOST_BYTES)
		return NULL;
	parts = memory->alloc(memory->owner, nbytes);
	if (parts == NULL)
		return NULL;
	memcpy(parts, bytes, nbytes);
	if (connect(parts, nbytes))
		return &parts->wire;
	csv_free(memory, parts);
	return NULL;
}
