/*
 * differential.c
 *		Random files, read by the reference and by every engine.
 *
 *	differential [--seed N] [--files N] [--seconds N] [--engine cpu|cuda|all]
 *
 * The file with number i of seed s depends on s + i alone: --seed s+i --files 1
 * repeats it.  On a difference the case is made smaller, as long as something
 * differs, and printed.
 */
#include "compare.h"
#include "content.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

typedef struct Failure
{
	TestEngine *engines;
	int			nengines;
	char		message[512];
	double		give_up;		/* making it smaller takes no longer than that */
} Failure;

static bool
still_fails(Failure *failure, const Case *test_case, const uint8_t *bytes,
			size_t nbytes)
{
	TestCounts	counts;

	if (csv_now_seconds() > failure->give_up)
		return false;
	memset(&counts, 0, sizeof(counts));
	return !compare_case(test_case, bytes, nbytes, failure->engines,
						 failure->nengines, &counts, failure->message,
						 sizeof(failure->message));
}

/*
 * Leave out pieces, from halves down to single bytes, while it still fails;
 * then write plain letters over what does not matter.
 */
static size_t
reduce_bytes(Failure *failure, const Case *test_case, uint8_t *bytes,
			 size_t nbytes)
{
	uint8_t    *trial = malloc(nbytes + 1);

	if (trial == NULL)
		abort();
	for (size_t piece = nbytes / 2 + 1; piece > 0; piece /= 2)
	{
		size_t		pos = 0;

		while (pos < nbytes)
		{
			size_t		n = piece < nbytes - pos ? piece : nbytes - pos;

			memcpy(trial, bytes, pos);
			memcpy(trial + pos, bytes + pos + n, nbytes - pos - n);
			if (still_fails(failure, test_case, trial, nbytes - n))
			{
				nbytes -= n;
				memcpy(bytes, trial, nbytes);
			}
			else
				pos += n;
		}
	}
	for (size_t pos = 0; pos < nbytes; pos++)
	{
		uint8_t		byte = bytes[pos];

		if (byte == 'x')
			continue;
		bytes[pos] = 'x';
		if (!still_fails(failure, test_case, bytes, nbytes))
			bytes[pos] = byte;
	}
	free(trial);
	return nbytes;
}

static void
reduce_case(Failure *failure, Case *test_case, const uint8_t *bytes,
			size_t nbytes)
{
	Case	   *trial = malloc(sizeof(Case));

	if (trial == NULL)
		abort();
#define TRY(change) \
	do { \
		*trial = *test_case; \
		change; \
		if (still_fails(failure, trial, bytes, nbytes)) \
			*test_case = *trial; \
	} while (0)

	TRY(trial->switch_engines = false);
	TRY(trial->interruptions = 0);
	TRY(trial->failures = 0);
	TRY(trial->max_read_bytes = 1 << 30);
	TRY(trial->chunk_bytes = 0);
	TRY(trial->max_record_bytes = 16777216);
	TRY(trial->header_rows = 0);
	TRY(trial->dialect.footer_rows = 0);
	TRY(trial->dialect.footer_rows = 1);
	TRY(trial->layout.want_positions = false);
	TRY(trial->layout.bad_is_doubtful = false);
	TRY(trial->layout.has_default = false);
	TRY(trial->layout.pad = false);
	TRY(trial->layout.encoding = CSV_ENCODING_UTF8);
	TRY(trial->dialect.quoting = CSV_QUOTING_RFC4180);
	TRY(trial->dialect.lenient = false);
	TRY(trial->dialect.boundary = CSV_BOUNDARY_LF);
	TRY(trial->dialect.multiline = true);
	TRY(trial->dialect.escape = 0);
	for (uint32_t c = test_case->layout.ncolumns; c-- > 0;)
	{
		TRY(trial->layout.ncolumns--;
			memmove(&trial->columns[c], &trial->columns[c + 1],
					(trial->layout.ncolumns - c) * sizeof(CsvColumn)));
		if (c >= test_case->layout.ncolumns)
			continue;
		TRY(trial->columns[c].kind = CSV_KIND_TEXT);
		TRY(trial->columns[c].force_null = false);
		TRY(trial->columns[c].force_not_null = false);
		TRY(trial->columns[c].max_chars = -1);
		TRY(trial->columns[c].byte_width = -1);
		TRY(trial->columns[c].type_chars = -1;
			trial->columns[c].pad_blanks = false);
	}
#undef TRY
	free(trial);
}

static void
report(Failure *failure, Case *test_case, Content *content, uint64_t seed)
{
	printf("difference with --seed %llu --files 1: %s\n",
		   (unsigned long long) seed, failure->message);
	fflush(stdout);
	failure->give_up = csv_now_seconds() + 30;
	if (still_fails(failure, test_case, content->bytes, content->nbytes))
	{
		for (int round = 0; round < 2; round++)
		{
			reduce_case(failure, test_case, content->bytes, content->nbytes);
			content->nbytes = reduce_bytes(failure, test_case, content->bytes,
										   content->nbytes);
		}
		failure->give_up += 30;
		(void) still_fails(failure, test_case, content->bytes,
						   content->nbytes);
		printf("made smaller: %s\n", failure->message);
	}
	else
		printf("it does not differ by itself: an engine's earlier use counts\n");
	case_print(stdout, test_case);
	printf("file (%zu bytes): ", content->nbytes);
	if (content->nbytes <= 4000)
		case_print_bytes(stdout, content->bytes, content->nbytes);
	printf("\n");
}

static void
print_summary(const TestCounts *counts, double seconds)
{
	static const char *names[CSV_NUM_ERRORS] = {
		"", "record_too_long", "text_after_quote", "unterminated_quote",
		"column_count", "nul_byte", "invalid_utf8", "too_many_chars",
		"too_many_bytes", ""
	};

	printf("%llu files, %llu rows, %llu batches; values: ok %llu, null %llu,"
		   " doubtful %llu, long %llu; errors:",
		   (unsigned long long) counts->files,
		   (unsigned long long) counts->rows,
		   (unsigned long long) counts->batches,
		   (unsigned long long) counts->statuses[CSV_VALUE_OK],
		   (unsigned long long) counts->statuses[CSV_VALUE_NULL],
		   (unsigned long long) counts->statuses[CSV_VALUE_DOUBTFUL],
		   (unsigned long long) counts->statuses[CSV_VALUE_LONG]);
	for (int code = CSV_ERROR_RECORD_TOO_LONG; code < CSV_ERROR_BAD_VALUE; code++)
		printf(" %s %llu%s", names[code],
			   (unsigned long long) counts->errors[code],
			   code + 1 < CSV_ERROR_BAD_VALUE ? "," : ";");
	printf(" %llu interruptions, %llu failed allocations; %llu places (%llu, %llu); %.1f s\n",
		   (unsigned long long) counts->interruptions,
		   (unsigned long long) counts->failures, (unsigned long long) counts->places,
		   (unsigned long long) counts->places_alone,
		   (unsigned long long) counts->places_in_line, seconds);
}

int
main(int argc, char **argv)
{
	static Case test_case;
	TestEngine	engines[MAX_TEST_ENGINES];
	TestCounts	counts;
	Content		content = {NULL, 0, 0};
	const char *which = "all";
	uint64_t	seed = 1;
	uint64_t	files = 20000;
	double		seconds = 0;
	double		began = csv_now_seconds();
	int			nengines;
	bool		same = true;

	for (int i = 1; i + 1 < argc; i += 2)
	{
		if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--files") == 0)
			files = strtoull(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--seconds") == 0)
		{
			seconds = strtod(argv[i + 1], NULL);
			files = UINT64_MAX;
		}
		else if (strcmp(argv[i], "--engine") == 0)
			which = argv[i + 1];
		else
			argc = 0;
	}
	if (argc % 2 == 0)
	{
		fprintf(stderr, "usage: differential [--seed N] [--files N]"
				" [--seconds N] [--engine cpu|cuda|all]\n");
		return 2;
	}

	nengines = test_engines_open(engines, which);
	printf("engines:");
	for (int i = 0; i < nengines; i++)
		printf(" %s", engines[i].name);
	printf("%s; seed %llu\n", nengines == 0 ? " none" : "",
		   (unsigned long long) seed);
	if (nengines == 0)
		return 2;

	memset(&counts, 0, sizeof(counts));
	for (uint64_t i = 0; i < files && same; i++)
	{
		Choices		choices = {(seed + i) * UINT64_C(0xD1342543DE82EF95), NULL, 0};
		Failure		failure;

		if (seconds > 0 && csv_now_seconds() - began > seconds)
			break;
		case_make(&test_case, &choices);
		content_make(&content, &test_case, &choices);
		if (!compare_case(&test_case, content.bytes, content.nbytes, engines,
						  nengines, &counts, failure.message,
						  sizeof(failure.message)))
		{
			failure.engines = engines;
			failure.nengines = nengines;
			report(&failure, &test_case, &content, seed + i);
			same = false;
		}
	}
	content_free(&content);
	if (!test_engines_close(engines, nengines) && same)
	{
		printf("an engine leaked memory\n");
		same = false;
	}
	print_summary(&counts, csv_now_seconds() - began);
	printf("differential: %llu passed, %d failed\n",
		   (unsigned long long) (counts.files - !same), !same);
	return same ? 0 : 1;
}
