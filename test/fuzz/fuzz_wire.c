/*
 * fuzz_wire.c
 *		libFuzzer: bytes that say what is wanted.
 *
 * What is not refused is encoded again, to the same bytes.  A file is read by it, if it
 * has no query: a query need not make sense.
 */
#include <stdlib.h>

#include "../unit/carry_out.h"

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	CsvWireRequest *decoded = decode_again(data, nbytes);

	if (decoded == NULL)
		return 0;
	if (decoded->request == NULL)
		carry_out(decoded);
	csv_wire_free_request(decoded, &some_memory);
	return 0;
}
