/*
 * request.h
 *		What a session wants of the program that owns the GPU, as bytes.
 *
 * Both ends are of one build and on one machine: numbers are as they are in
 * memory.  The bytes of a request are a function of its fields, without gaps.
 *
 * Whoever decodes them need not trust who has made them: a decoded request is
 * one that the library can work with, or there is none (check.h).
 */
#ifndef CSV_WIRE_REQUEST_H
#define CSV_WIRE_REQUEST_H

#include "../query/query.h"

/* of a request, in bytes */
#define CSV_WIRE_MOST_BYTES	((size_t) 64 * 1024 * 1024)

/* plain data */
typedef struct CsvWireRequest
{
	CsvDialectOptions dialect;
	uint64_t	max_record_bytes;
	uint64_t	chunk_bytes;	/* 0: the engine's choice */
	const CsvLayout *layout;
	const CsvRequest *request;	/* NULL, or what to ask of the layout's columns */
} CsvWireRequest;

/*
 * The bytes of a request that is sound, *nbytes of them, from `memory`.  NULL:
 * there is no memory, or they would be too many.
 */
extern uint8_t *csv_wire_encode_request(const CsvWireRequest *request,
										const CsvMemory *memory,
										size_t *nbytes);

/*
 * The request that has these bytes: one piece of `memory`, with all that it
 * points to, for csv_wire_free_request(); the bytes may go.  False, and NULL: no
 * sound request has these bytes, or there is no memory.
 */
extern bool csv_wire_decode_request(const uint8_t *bytes, size_t nbytes,
									const CsvMemory *memory,
									CsvWireRequest **decoded);
extern void csv_wire_free_request(CsvWireRequest *request,
								  const CsvMemory *memory);

#endif							/* CSV_WIRE_REQUEST_H */
