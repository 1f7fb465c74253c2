/*
 * fuzz_reader.c
 *		libFuzzer: the CPU engines against the reference reader.
 *
 * The input's first byte says how many bytes after it choose the dialect, the
 * layout and the size of chunks (case_make); the rest is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "../differential/compare.h"

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static TestEngine engines[MAX_TEST_ENGINES];
	static int	nengines = 0;
	static Case test_case;
	static TestCounts counts;
	char		message[512];
	Choices		choices;
	size_t		nchoices;
	uint8_t    *file;

	if (nengines == 0)
		nengines = test_engines_open(engines, "cpu");
	if (nbytes == 0)
		return 0;
	nchoices = data[0];
	if (nchoices > nbytes - 1)
		nchoices = nbytes - 1;
	choices.state = 0;
	choices.bytes = data + 1;
	choices.nbytes = nchoices;
	case_make(&test_case, &choices);
	if (test_case.layout.nfields > 100)
		return 0;				/* slow, and nothing new */

	/* a copy with nothing after it */
	nbytes -= nchoices + 1;
	file = malloc(nbytes + (nbytes == 0));
	if (file == NULL)
		return 0;
	memcpy(file, data + 1 + nchoices, nbytes);
	if (!compare_case(&test_case, file, nbytes, engines, nengines, &counts,
					  message, sizeof(message)))
	{
		printf("difference: %s\n", message);
		case_print(stdout, &test_case);
		printf("file (%zu bytes): ", nbytes);
		case_print_bytes(stdout, file, nbytes);
		printf("\n");
		fflush(stdout);
		abort();
	}
	free(file);
	return 0;
}
