/*
 * wide.c
 *		Delimiters of several characters.
 *
 * Candidates are the strings of punctuation that most lines have.  A string that has a
 * usual delimiter in it, as || and %; do, would also be found where fields are empty, or
 * values end with a percent sign: that character must hardly stand alone.
 */
#include "postgres.h"

#include "import/guess.h"

/* lines in which candidates are looked for, their bytes, and candidates that are counted */
#define LINES			100
#define LINES_BYTES		(64 * 1024)
#define CANDIDATES		64

/* share of the lines that must have one */
#define LEAST_LINES		0.4

/* most characters that may stand alone, of those that are in delimiters */
#define MOST_ALONE		0.3

typedef struct CountedString
{
	CsvWideDelimiter text;
	uint32		nlines;			/* that have it */
	uint32		n;				/* not those beside other punctuation */
	uint32		last_line;
} CountedString;

static void
count_candidate(CountedString *candidates, uint32 *ncandidates, const uint8_t *text,
				uint32 nbytes, uint32 times, uint32 line)
{
	uint32		i = 0;

	while (i < *ncandidates && (strlen(candidates[i].text) != nbytes ||
								memcmp(candidates[i].text, text, nbytes) != 0))
		i++;
	if (i == CANDIDATES)
		return;
	if (i == *ncandidates)
	{
		memset(&candidates[i], 0, sizeof(CountedString));
		memcpy(candidates[i].text, text, nbytes);
		*ncandidates += 1;
	}
	candidates[i].nlines += candidates[i].last_line != line;
	candidates[i].last_line = line;
	candidates[i].n += times;
}

/*
 * A string of punctuation.  || may also be in ||||, with an empty field between, and in
 * ||$ or %||, with a part of a value.
 */
static void
count_string(CountedString *candidates, uint32 *ncandidates, const uint8_t *text,
			 uint64 nbytes, uint32 line)
{
	uint64		nfirst = 1;		/* characters like the first, and like the last */
	uint64		nlast = 1;

	while (nfirst < nbytes && text[nfirst] == text[0])
		nfirst++;
	while (nlast < nbytes && text[nbytes - 1 - nlast] == text[nbytes - 1])
		nlast++;
	for (uint32 part = nfirst < nbytes ? (uint32) nbytes : 2;
		 part <= Min(nbytes, CSV_DELIMITER_BYTES); part++)
		if (nbytes % part == 0)
			count_candidate(candidates, ncandidates, text, part, (uint32) (nbytes / part), line);
	if (nfirst < nbytes && nfirst >= 2 && nfirst <= CSV_DELIMITER_BYTES)
		count_candidate(candidates, ncandidates, text, (uint32) nfirst, 0, line);
	if (nfirst < nbytes && nlast >= 2 && nlast <= CSV_DELIMITER_BYTES)
		count_candidate(candidates, ncandidates, text + nbytes - nlast, (uint32) nlast, 0, line);
}

/*
 * Do the usual delimiters of a string, or the character that it repeats, hardly stand
 * outside of it, or of a longer string that has it in it?  A colon alone is in times and
 * addresses.
 */
static bool
is_whole(const CountedString *candidates, uint32 ncandidates, const CountedString *candidate,
		 const uint32 *counts)
{
	const char *text = candidate->text;
	size_t		length = strlen(text);

	for (size_t i = 0; i < length; i++)
	{
		uint32		inside = 0;

		if (text[i] == ':' ||
			(strchr("|~^;", text[i]) == NULL &&
			 strspn(text, (char[]) {text[i], '\0'}) != length))
			continue;
		for (uint32 other = 0; other < ncandidates; other++)
			for (const char *c = candidates[other].text;
				 *c != '\0' && strstr(candidates[other].text, text) != NULL; c++)
				inside += *c == text[i] ? candidates[other].n : 0;
		if (counts[(uint8_t) text[i]] > inside + inside * MOST_ALONE)
			return false;
	}
	return true;
}

static int
compare_candidates(const void *a, const void *b)
{
	const CountedString *left = a;
	const CountedString *right = b;
	size_t		left_length = strlen(left->text);
	size_t		right_length = strlen(right->text);

	/* a longer one is all of what repeats */
	return left->nlines != right->nlines ? (left->nlines > right->nlines ? -1 : 1) :
		left_length != right_length ? (left_length > right_length ? -1 : 1) :
		left->n > right->n ? -1 : left->n < right->n;
}

uint32
csv_find_wide_delimiters(const CsvSample *sample, uint8_t break_byte, uint8_t quote,
						 CsvWideDelimiter *found)
{
	CountedString candidates[CANDIDATES];
	uint32		ncandidates = 0;
	uint32		counts[256] = {0};
	uint32		nlines = 1;
	uint32		nfound = 0;
	uint64		end = Min(sample->nbytes, LINES_BYTES);
	bool		inside = false; /* of quotes, which hide lines and punctuation */
	uint64		i = 0;

	while (i < end && nlines <= LINES)
	{
		uint64		from = i;

		for (; i < end && !inside && sample->bytes[i] != 0 &&
			 strchr("|~^@;:#$&*!%=<>", sample->bytes[i]) != NULL; i++)
			counts[sample->bytes[i]]++;
		if (i - from >= 2)
			count_string(candidates, &ncandidates, sample->bytes + from, i - from, nlines);
		if (i > from)
			continue;
		inside ^= quote != 0 && sample->bytes[i] == quote;
		nlines += sample->bytes[i] == break_byte && !inside;
		i++;
	}

	/* quotes that do not close enclose nothing */
	if (inside && i == end && sample->at_end)
		return csv_find_wide_delimiters(sample, break_byte, 0, found);
	qsort(candidates, ncandidates, sizeof(CountedString), compare_candidates);
	for (uint32 n = 0; n < ncandidates && nfound < CSV_WIDE_DELIMITERS; n++)
		if (candidates[n].nlines >= 2 &&
			candidates[n].nlines >= (nlines - 1) * LEAST_LINES &&
			is_whole(candidates, ncandidates, &candidates[n], counts))
			memcpy(found[nfound++], candidates[n].text, sizeof(CsvWideDelimiter));
	return nfound;
}
