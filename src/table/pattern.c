/*
 * pattern.c
 *		Patterns of dates and timestamps: date_format and timestamp_format.
 *
 * The patterns are patterns of to_timestamp(), which ignores text behind the part that
 * its pattern covers.  Here such text is an error, so csv_pattern_covers() determines
 * where to_timestamp() stops reading.  Its treatment of blanks and separators is
 * described in the manual, "Data Type Formatting Functions".
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"

#include "reader/patterns.h"
#include "table/pattern.h"

typedef struct Keyword
{
	const char *name;
	uint8_t		element;
	uint8_t		most;			/* digits */
	uint8_t		step;			/* 0: unknown to engines */
} Keyword;

/* a longer name must precede a name that it begins with */
static const Keyword keywords[] = {
	{"A.M.", CSV_ELEMENT_AM_PM_DOTS, 0, CSV_STEP_AM_PM_DOTS},
	{"AM", CSV_ELEMENT_AM_PM, 0, CSV_STEP_AM_PM},
	{"DDD", CSV_ELEMENT_NUMBER, 3, 0},
	{"DD", CSV_ELEMENT_NUMBER, 2, CSV_STEP_DAY},
	{"FF1", CSV_ELEMENT_NUMBER, 1, CSV_STEP_FRACTION_1},
	{"FF2", CSV_ELEMENT_NUMBER, 2, CSV_STEP_FRACTION_1 + 1},
	{"FF3", CSV_ELEMENT_NUMBER, 3, CSV_STEP_FRACTION_1 + 2},
	{"FF4", CSV_ELEMENT_NUMBER, 4, CSV_STEP_FRACTION_1 + 3},
	{"FF5", CSV_ELEMENT_NUMBER, 5, CSV_STEP_FRACTION_1 + 4},
	{"FF6", CSV_ELEMENT_NUMBER, 6, CSV_STEP_FRACTION_6},
	{"HH12", CSV_ELEMENT_NUMBER, 2, CSV_STEP_HOUR_OF_12},
	{"HH24", CSV_ELEMENT_NUMBER, 2, CSV_STEP_HOUR},
	{"HH", CSV_ELEMENT_NUMBER, 2, CSV_STEP_HOUR_OF_12},
	{"MI", CSV_ELEMENT_NUMBER, 2, CSV_STEP_MINUTE},
	{"MM", CSV_ELEMENT_NUMBER, 2, CSV_STEP_MONTH},
	{"MONTH", CSV_ELEMENT_MONTH, 0, CSV_STEP_MONTH_NAME},
	{"MON", CSV_ELEMENT_SHORT_MONTH, 0, CSV_STEP_SHORT_MONTH_NAME},
	{"MS", CSV_ELEMENT_NUMBER, 3, CSV_STEP_FRACTION_1 + 2},
	{"P.M.", CSV_ELEMENT_AM_PM_DOTS, 0, CSV_STEP_AM_PM_DOTS},
	{"PM", CSV_ELEMENT_AM_PM, 0, CSV_STEP_AM_PM},
	{"SSSSS", CSV_ELEMENT_NUMBER, 5, 0},
	{"SSSS", CSV_ELEMENT_NUMBER, 4, 0},
	{"SS", CSV_ELEMENT_NUMBER, 2, CSV_STEP_SECOND},
	{"TZH", CSV_ELEMENT_ZONE_HOUR, 2, CSV_STEP_ZONE_HOUR},
	{"TZM", CSV_ELEMENT_NUMBER, 2, CSV_STEP_ZONE_MINUTE},
	{"US", CSV_ELEMENT_NUMBER, 6, CSV_STEP_FRACTION_6},
	{"YYYY", CSV_ELEMENT_NUMBER, 4, CSV_STEP_YEAR},
	{"YY", CSV_ELEMENT_NUMBER, 2, CSV_STEP_SHORT_YEAR}
};

static const char *const words[] = {"epoch", "epoch_ms", "epoch_us"};

/* ---- parsing ---- */

/* as in PostgreSQL: upper case, lower case or, for a month's name, capitalized */
static bool
is_spelt(const char *text, const char *name, size_t length)
{
	bool		all_upper = true;
	bool		all_lower = true;
	bool		capitalized = strncmp(name, "MON", 3) == 0;

	for (size_t i = 0; i < length; i++)
	{
		if (pg_toupper((unsigned char) text[i]) != (unsigned char) name[i])
			return false;
		all_upper &= !islower((unsigned char) text[i]);
		all_lower &= !isupper((unsigned char) text[i]);
		capitalized &= i == 0 ? !islower((unsigned char) text[i]) :
			!isupper((unsigned char) text[i]);
	}
	return all_upper || all_lower || capitalized;
}

static const Keyword *
find_keyword(const char *text)
{
	for (size_t i = 0; i < lengthof(keywords); i++)
		if (is_spelt(text, keywords[i].name, strlen(keywords[i].name)))
			return &keywords[i];
	return NULL;
}

/* the elements of a pattern, by their steps, and whether any occurs twice */
typedef struct Elements
{
	bool		seen[CSV_NUM_PATTERN_STEPS];
	bool		any_twice;
	bool		all_known;		/* all are known to engines */
	int			nsteps;
} Elements;

static void
add_step(CsvPattern *pattern, Elements *elements, int step)
{
	if (step == 0 || step > '~' || elements->nsteps + 1 >= CSV_PATTERN_STEPS)
		elements->all_known = false;
	else
		pattern->steps[elements->nsteps++] = (uint8_t) step;
}

static void
add_node(CsvPattern *pattern, uint8_t element, uint8_t most)
{
	CsvPatternNode *node = &pattern->nodes[pattern->nnodes++];

	node->element = element;
	node->most = most;
	node->digits_follow = false;
}

/* steps that differ only in spelling or number of digits are of one kind */
static int
kind_of_step(int step)
{
	if (step == CSV_STEP_SHORT_YEAR)
		return CSV_STEP_YEAR;
	if (step == CSV_STEP_SHORT_MONTH_NAME || step == CSV_STEP_MONTH_NAME)
		return CSV_STEP_MONTH;
	if (step == CSV_STEP_HOUR_OF_12)
		return CSV_STEP_HOUR;
	if (step >= CSV_STEP_FRACTION_1 && step <= CSV_STEP_FRACTION_6)
		return CSV_STEP_FRACTION_6;
	if (step == CSV_STEP_AM_PM_DOTS)
		return CSV_STEP_AM_PM;
	return step;
}

static void
add_keyword(CsvPattern *pattern, Elements *elements, const Keyword *keyword)
{
	int			kind = kind_of_step(keyword->step);

	add_node(pattern, keyword->element, keyword->most);
	add_step(pattern, elements, keyword->step);
	elements->any_twice |= elements->seen[kind];
	if (kind == CSV_STEP_ZONE_MINUTE && !elements->seen[CSV_STEP_ZONE_HOUR])
		elements->all_known = false;
	elements->seen[kind] = true;
}

/* adds a character that stands for itself; returns its number of bytes */
static int
add_character(CsvPattern *pattern, Elements *elements, const char *character,
			  bool quoted)
{
	int			nbytes = pg_mblen(character);
	unsigned char byte = (unsigned char) *character;
	bool		is_separator = !quoted && nbytes == 1 &&
		(isspace(byte) || ispunct(byte));

	add_node(pattern, is_separator ? CSV_ELEMENT_SEPARATOR : CSV_ELEMENT_TEXT, 0);
	if (pattern->nnodes > 1 && isdigit(byte))
		pattern->nodes[pattern->nnodes - 2].digits_follow = true;
	add_step(pattern, elements, nbytes == 1 && byte >= ' ' ? byte : 0);
	return nbytes;
}

/* engines need a complete date, and elements that they know, none of them twice */
static bool
is_for_engines(const Elements *elements)
{
	const bool *seen = elements->seen;

	return elements->all_known && !elements->any_twice &&
		seen[CSV_STEP_YEAR] && seen[CSV_STEP_MONTH] && seen[CSV_STEP_DAY];
}

/* returns the mistake in the pattern, and perhaps *hint; NULL: there is none */
static const char *
parse(CsvPattern *pattern, Elements *elements, const char **hint)
{
	bool		quoted = false;
	bool		any_month = false;	/* as a number */
	const char *p = pattern->text;

	while (*p != '\0')
	{
		const Keyword *keyword = quoted ? NULL : find_keyword(p);

		if (*p == '\\')
			return "A backslash cannot stand in a pattern.";
		if (*p == '"')
		{
			quoted = !quoted;
			p++;
		}
		else if (keyword != NULL)
		{
			if (pattern->nnodes > 0 && keyword->element == CSV_ELEMENT_NUMBER)
				pattern->nodes[pattern->nnodes - 1].digits_follow = true;
			if (keyword->step == CSV_STEP_MONTH && any_month)
			{
				*hint = "Minutes are \"MI\".";
				return "\"MM\" stands twice in it.";
			}
			any_month |= keyword->step == CSV_STEP_MONTH;
			add_keyword(pattern, elements, keyword);
			p += strlen(keyword->name);
		}
		else if (!quoted && isalpha((unsigned char) *p))
		{
			*hint = "Elements are those of to_timestamp(): YYYY, YY, MM, Mon, Month, DD, DDD, HH24, HH12, MI, SS, SSSS, MS, US, FF1 to FF6, AM, PM, TZH and TZM; or it is epoch, epoch_ms or epoch_us. Other letters have to stand in double quotes.";
			return psprintf("\"%s\" is no element of it.", p);
		}
		else
			p += add_character(pattern, elements, p, quoted);
	}
	return quoted ? "A double quote is not closed." :
		!elements->seen[CSV_STEP_YEAR] ? "It has no year." : NULL;
}

CsvPattern *
csv_pattern_parse(const char *text, const char **wrong, const char **hint)
{
	CsvPattern *pattern = palloc0(sizeof(CsvPattern));
	Elements	elements = {.all_known = true};

	*wrong = *hint = NULL;
	pattern->text = text;
	for (size_t i = 0; i < lengthof(words); i++)
		if (pg_strcasecmp(text, words[i]) == 0)
		{
			pattern->epoch = (uint8_t) (CSV_STEP_EPOCH + i);
			pattern->steps[0] = pattern->epoch;
			return pattern;
		}

	pattern->nodes = palloc(sizeof(CsvPatternNode) * (strlen(text) + 1));
	*wrong = parse(pattern, &elements, hint);
	pattern->has_zone = elements.seen[CSV_STEP_ZONE_HOUR] ||
		elements.seen[CSV_STEP_ZONE_MINUTE];
	if (!is_for_engines(&elements))
		memset(pattern->steps, 0, sizeof(pattern->steps));
	return pattern;
}

/* ---- where to_timestamp() stops ---- */

static const char *
skip_blanks(const char *text, int *nskipped)
{
	while (isspace((unsigned char) *text))
	{
		text++;
		(*nskipped)++;
	}
	return text;
}

/* the end of a number that to_timestamp() has read */
static const char *
skip_number(const CsvPatternNode *node, const char *text)
{
	char	   *end;

	if (node->digits_follow)
		return text + strnlen(text, node->most);
	(void) strtol(text, &end, 10);
	return end;
}

static const char *
skip_name(const CsvPatternNode *node, const char *text)
{
	size_t		length = 3;
	uint32_t	month;

	if (node->element == CSV_ELEMENT_AM_PM)
		length = 2;
	else if (node->element == CSV_ELEMENT_AM_PM_DOTS)
		length = 4;
	else if (node->element == CSV_ELEMENT_MONTH)
		length = Max(csv_scan_month((const uint8_t *) text, (uint32_t) strlen(text), true,
									&month), 3);
	return text + strnlen(text, length);
}

bool
csv_pattern_covers(const CsvPattern *pattern, const char *text)
{
	int			extra = 0;		/* blanks and separators skipped, less the pattern's */
	int			ignored = 0;
	const char *p = text;

	for (int i = 0; i < pattern->nnodes && *p != '\0'; i++)
	{
		const CsvPatternNode *node = &pattern->nodes[i];

		if (i == 0 || node->element > CSV_ELEMENT_TEXT)
			p = skip_blanks(p, &extra);
		switch (node->element)
		{
			case CSV_ELEMENT_SEPARATOR:
				extra--;
				if (isspace((unsigned char) *p) ||
					(*p > ' ' && *p < 0x7f && !isalnum((unsigned char) *p)))
				{
					p++;
					extra++;
				}
				break;
			case CSV_ELEMENT_TEXT:
				if (extra > 0)
					extra--;
				else if (*p != '\0')
					p += pg_mblen(p);
				break;
			case CSV_ELEMENT_ZONE_HOUR:
				if (*p == '+' || *p == '-')
					p++;
				p = skip_number(node, p);
				break;
			case CSV_ELEMENT_NUMBER:
				p = skip_number(node, p);
				break;
			default:
				p = skip_name(node, p);
				break;
		}
		if (node->element > CSV_ELEMENT_TEXT)
		{
			extra = 0;
			p = skip_blanks(p, &extra);
		}
	}
	return *skip_blanks(p, &ignored) == '\0' && *skip_blanks(text, &ignored) != '\0';
}
