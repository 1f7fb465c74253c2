/*
 * fuzz_sniff.c
 *		libFuzzer: what csv_gpu_sniff() says of a file, and what becomes of a
 *		file's name.
 *
 * The input's first byte chooses encodings, the second and third what somebody
 * has said of the file; the rest is the file.  Its beginning is also taken for
 * the name of one.
 */
#include "postgres.h"

#include "common/keywords.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "import/evidence.h"
#include "import/names.h"
#include "table/text.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "server.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
					#condition); \
			abort(); \
		} \
	} while (0)

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);
extern Datum csv_gpu_sniff_2(PG_FUNCTION_ARGS);

static HTAB *taken;				/* names of columns */

static List *
add_option(List *options, char *name, char *value)
{
	return lappend(options,
				   makeDefElem(name, (Node *) makeString(value), -1));
}

static List *
choose_options(unsigned int choices)
{
	List	   *options = NIL;

	if (choices & 1)
		options = add_option(options, "delimiter", choices & 2 ? ";" : "\t");
	if (choices & 4)
		options = add_option(options, "quote", choices & 8 ? "'" : "");
	else if (choices & 16)
		options = add_option(options, "escape", "\\");
	if (choices & 32)
		options = add_option(options, "null", choices & 64 ? "|" : "NULL");
	if (choices & 128)
		options = add_option(options, "header_rows",
							 choices & 256 ? "1" : choices & 512 ? "3" : "0");
	if (choices & 1024)
		options = add_option(options, "decimal_separator", ".");
	if (choices & 2048)
		options = add_option(options, "quoting", "lenient");
	return options;
}

static bool
is_valid(const char *string)
{
	return pg_encoding_verifymbstr(fuzz_server.encoding, string,
								   (int) strlen(string)) ==
		(int) strlen(string);
}

/* does SQL take it without quotes? */
static void
check_name(const char *name)
{
	int			keyword = ScanKeywordLookup(name, &ScanKeywords);

	CHECK(name[0] != '\0' && strlen(name) < NAMEDATALEN);
	CHECK(is_valid(name));
	CHECK(name[strspn(name, "_")] != '\0');
	CHECK(name[0] < '0' || name[0] > '9' || IS_HIGHBIT_SET(name[0]));
	for (const char *c = name; *c != '\0'; c++)
		CHECK(IS_HIGHBIT_SET(*c) || *c == '_' || (*c >= 'a' && *c <= 'z') ||
			  (*c >= '0' && *c <= '9'));
	CHECK(keyword < 0 ||
		  (ScanKeywordCategories[keyword] != RESERVED_KEYWORD &&
		   ScanKeywordCategories[keyword] != TYPE_FUNC_NAME_KEYWORD));
}

/* bytes of the file as its error table shows them */
static void
check_valid_text(const uint8_t *bytes, size_t nbytes)
{
	char	   *text = csv_valid_text(fuzz_server.file_encoding,
									  (const char *) bytes, nbytes, 100);

	CHECK(strlen(text) <= 100 && strlen(text) >= Min(nbytes, 100 / 8));
	CHECK(is_valid(text));
}

static void
check_filename(const uint8_t *bytes, size_t nbytes)
{
	HTAB	   *names = csv_names_create();
	char	   *raw = pnstrdup((const char *) bytes, Min(nbytes, 255));
	char	   *shown = csv_shown_filename(raw);
	char	   *first;
	char	   *second;

	CHECK(is_valid(shown));
	CHECK(csv_check_filename(NOTICE, raw) == (shown == raw));
	first = csv_make_name(names, shown, strlen(shown), "table");
	second = csv_make_name(names, shown, strlen(shown), "table");
	check_name(first);
	check_name(second);
	CHECK(strcmp(first, second) != 0);
	hash_destroy(names);
}

/*
 * The lines as a column's values: two parts, merged, say what all of them say.
 */
static void
check_evidence(const char *bytes, size_t nbytes)
{
	static const CsvReadingRules rules = {
		.empty_is_null = true, .missing = (UINT32_C(1) << CSV_MISSING_WORDS) - 1
	};
	CsvEvidence *evidence = palloc0(sizeof(CsvEvidence) * 3);
	CsvEvidence *whole = &evidence[2];
	int64		nrecords[2] = {0};
	CsvValuePlace place = {0};
	const char *end = bytes + nbytes;
	const char *line_end;

	for (const char *line = bytes; line < end; line = line_end + 1)
	{
		const int	part = line >= bytes + nbytes / 2;

		line_end = memchr(line, '\n', end - line);
		if (line_end == NULL)
			line_end = end;
		place.record = nrecords[0] + nrecords[1];
		csv_evidence_add(&rules, whole, &place, line, (uint32) (line_end - line));
		place.record = nrecords[part]++;
		csv_evidence_add(&rules, &evidence[part], &place, line, (uint32) (line_end - line));
	}
	place.record = nrecords[0];
	csv_evidence_merge(&evidence[0], &evidence[1], &place);
	CHECK(evidence[0].nvalues + evidence[0].nmissing + evidence[0].nquoted_nulls ==
		  nrecords[0] + nrecords[1]);
	CHECK(csv_evidence_all(whole, ~UINT64_C(0)) == (whole->nvalues > 0));
	CHECK(csv_evidence_most(&evidence[0], CSV_MOST_CHARS) ==
		  csv_evidence_most(whole, CSV_MOST_CHARS));
	if (whole->nvalues > 1000)
		return;
	CHECK(memcmp(&evidence[0], whole, sizeof(CsvEvidence)) == 0);
}

/* a row of csv_gpu_sniff() */
void
fuzz_check_row(char **values)
{
	/* column_name, header_name, type, delimiter ... */
	static const int texts[] = {1, 2, 3, 7, 8, 9, 10, 12, 13, 16, 17, 18, 19};
	char	   *name = values[1];

	for (size_t i = 0; i < lengthof(texts); i++)
		CHECK(values[texts[i]] == NULL || is_valid(values[texts[i]]));
	check_name(name);
	CHECK(strcmp(csv_make_name(taken, name, strlen(name), "x"), name) == 0);
	CHECK(atoll(values[15]) <= atoll(values[14]));
}

static void
sniff(char *filename)
{
	LOCAL_FCINFO(fcinfo, 2);
	ReturnSetInfo result = {.type = T_ReturnSetInfo};

	taken = csv_names_create();
	memset(fcinfo, 0, SizeForFunctionCallInfo(2));
	fcinfo->resultinfo = (Node *) &result;
	fcinfo->nargs = 2;
	fcinfo->args[1].isnull = true;
	fcinfo->args[0].value = CStringGetTextDatum(filename);
	(void) csv_gpu_sniff_2(fcinfo);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static const int encodings[] = {
		PG_UTF8, PG_LATIN1, PG_EUC_JP, PG_SQL_ASCII
	};
	uint8_t    *file;

	if (nbytes < 3)
		return 0;

	/* a copy with nothing after it */
	fuzz_server.nbytes = nbytes - 3;
	fuzz_server.bytes = file = malloc(nbytes - 3 + (nbytes == 3));
	if (file == NULL)
		return 0;
	memcpy(file, data + 3, nbytes - 3);
	fuzz_server.encoding = encodings[data[0] & 3];
	fuzz_server.file_encoding = encodings[data[0] >> 2 & 3];
	CurrentMemoryContext = AllocSetContextCreate(NULL, "input",
												 ALLOCSET_DEFAULT_SIZES);
	fuzz_server.options = choose_options(data[1] | data[2] << 8);
	if (setjmp(fuzz_server.error) == 0)
	{
		check_valid_text(file, nbytes - 3);
		check_filename(file, nbytes - 3);
		check_evidence((const char *) file, nbytes - 3);
		sniff(data[0] & 16 ? "f.tsv" : "f.csv");
	}
	while (CurrentMemoryContext->parent != NULL)
		CurrentMemoryContext = CurrentMemoryContext->parent;
	MemoryContextDelete(CurrentMemoryContext);
	free(file);
	return 0;
}
