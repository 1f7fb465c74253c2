/*
 * request.h
 *		A session's request to the program that owns the GPU, as bytes.
 *
 * Both ends are of one build, on one machine and of one user, so structs are as in
 * memory.  The program trusts the sender, except for lengths and bounds.
 */
#ifndef CSV_WIRE_REQUEST_H
#define CSV_WIRE_REQUEST_H

#include "../query/query.h"

/* of a request */
#define CSV_WIRE_MOST_BYTES	((size_t) 64 * 1024 * 1024)

typedef struct CsvWireRequest
{
	CsvDialectOptions dialect;
	uint64_t	max_record_bytes;
	uint64_t	chunk_bytes;	/* 0: the engine's choice */
	const CsvLayout *layout;
	const CsvRequest *request;	/* the query over the layout's columns; or NULL */
} CsvWireRequest;

/*
 * The bytes of a request, from `memory`; sets *nbytes.  NULL: there is no
 * memory, or they are too many.
 */
extern uint8_t *csv_wire_encode_request(const CsvWireRequest *request,
										const CsvMemory *memory,
										size_t *nbytes);

/*
 * The request with these bytes, in one piece of `memory` with everything that it
 * points to.  The bytes are not needed any more.  NULL: the bytes are not a request,
 * or there is no memory.
 */
extern CsvWireRequest *csv_wire_decode_request(const uint8_t *bytes,
											   size_t nbytes,
											   const CsvMemory *memory);

#endif							/* CSV_WIRE_REQUEST_H */
