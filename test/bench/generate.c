/*
 * generate.c
 *		Writes CSV of a given shape and size to standard output.
 *
 *	generate SHAPE BYTES[k|M|G] [SEED]
 *
 * The output is the same for the same arguments.  Shapes:
 *
 *	lineitem	16 columns as in TPC-H's lineitem, about 125 bytes a record; the
 *				comments are quoted, with commas, doubled quotes and multi-byte
 *				characters in some of them
 *	quoted		the same, every field quoted
 *	unquoted	the same, without any quote
 *	tiny		16 columns of one byte each
 *	wide		1,000 columns of a few bytes each
 *	long		lineitem, 5% of the records 100 times longer than the rest
 *	giant		lineitem, one field of 10 MB in the middle
 *	bad			lineitem, 10% of the records with a column too many
 *	stray		lineitem, 1% of the records with an unquoted quote (5" pipe)
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static const char *const words[] = {
	"carefully", "final", "deposits", "sleep", "furiously", "ironic",
	"requests", "quickly", "bold", "accounts", "pending", "theodolites",
	"regular", "packages", "across", "the", "even", "instructions", "haggle",
	"slyly"
};
static const char *const special_words[] = {
	"ironic, final", "\"\"express\"\"", "Zürich", "déjà vu", "東京", "naïve, bold",
	"😀", "Ω"
};
static const char *const instructions[] = {
	"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"
};
static const char *const modes[] = {
	"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

typedef struct Shape
{
	const char *name;
	bool		quote_all;
	bool		no_quotes;
	uint32_t	long_in_100;
	uint32_t	bad_in_100;
	uint32_t	stray_in_100;
	bool		giant;
} Shape;

static const Shape shapes[] = {
	{"lineitem", false, false, 0, 0, 0, false},
	{"quoted", true, false, 0, 0, 0, false},
	{"unquoted", false, true, 0, 0, 0, false},
	{"long", false, false, 5, 0, 0, false},
	{"giant", false, false, 0, 0, 0, true},
	{"bad", false, false, 0, 10, 0, false},
	{"stray", false, false, 0, 0, 1, false}
};

static char line[64 * 1024];

static char *
add(char *at, const char *text)
{
	size_t		length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static char *
add_date(char *at, uint32_t day)
{
	return at + sprintf(at, "%04u-%02u-%02u", 1992 + day / 336 % 7,
						1 + day / 28 % 12, 1 + day % 28);
}

/* a comment of some words; returns its end */
static char *
add_comment(char *at, const Shape *shape, uint32_t nwords)
{
	for (uint32_t i = 0; i < nwords; i++)
	{
		if (i > 0)
			*at++ = ' ';
		if (!shape->no_quotes && next_random(40) == 0)
			at = add(at, special_words[next_random(COUNT(special_words))]);
		else
			at = add(at, words[next_random(COUNT(words))]);
	}
	return at;
}

static void
write_lineitem(const Shape *shape, uint64_t limit)
{
	const char *separator = shape->quote_all ? "\",\"" : ",";
	uint64_t	written = 0;
	uint64_t	order = 1;
	uint32_t	number = 0;
	bool		giant_done = !shape->giant;

	while (written < limit)
	{
		char	   *at = line;
		uint32_t	quantity = 1 + next_random(50);
		uint32_t	part = 1 + next_random(200000);
		uint32_t	day = next_random(2526);
		uint32_t	nwords = 2 + next_random(4);
		bool		is_long = shape->long_in_100 > 0 &&
			next_random(100) < shape->long_in_100;

		if (++number > 1 + next_random(7))
		{
			number = 1;
			order += 1 + next_random(4);
		}
		if (shape->quote_all)
			*at++ = '"';
		at += sprintf(at, "%llu%s%u%s%u%s%u%s%u%s%u.%02u%s0.%02u%s0.%02u%s",
					  (unsigned long long) order, separator, part, separator,
					  1 + next_random(10000), separator, number, separator,
					  quantity, separator, quantity * (900 + part % 1000),
					  next_random(100), separator, next_random(11), separator,
					  next_random(9), separator);
		at = add(at, &"R\0A\0N"[2 * next_random(3)]);
		at = add(at, separator);
		at = add(at, &"O\0F"[2 * next_random(2)]);
		for (int i = 0; i < 3; i++)
		{
			at = add(at, separator);
			at = add_date(at, day + next_random(60));
		}
		at = add(at, separator);
		at = add(at, instructions[next_random(COUNT(instructions))]);
		at = add(at, separator);
		if (shape->stray_in_100 > 0 && next_random(100) < shape->stray_in_100)
			at = add(at, "5\" pipe");
		else
			at = add(at, modes[next_random(COUNT(modes))]);
		at = add(at, separator);
		if (!shape->quote_all && !shape->no_quotes)
			*at++ = '"';
		at = add_comment(at, shape, is_long ? 1600 : nwords);
		if (!giant_done && written > limit / 2)
		{
			fwrite(line, 1, (size_t) (at - line), stdout);
			written += (uint64_t) (at - line);
			for (int i = 0; i < 10 * 1024; i++)
			{
				at = add_comment(line, shape, 140);
				while (at < line + 1024)
					*at++ = '.';
				fwrite(line, 1, (size_t) (at - line), stdout);
				written += (uint64_t) (at - line);
			}
			at = line;
			giant_done = true;
		}
		if (!shape->no_quotes)
			*at++ = '"';
		if (next_random(100) < shape->bad_in_100)
			at = add(at, ",surplus");
		*at++ = '\n';
		fwrite(line, 1, (size_t) (at - line), stdout);
		written += (uint64_t) (at - line);
	}
}

static void
write_columns(uint32_t ncolumns, uint32_t most_bytes, uint64_t limit)
{
	uint64_t	written = 0;

	while (written < limit)
	{
		char	   *at = line;

		for (uint32_t i = 0; i < ncolumns; i++)
		{
			uint32_t	nbytes = 1 + next_random(most_bytes);

			if (i > 0)
				*at++ = ',';
			while (nbytes-- > 0)
				*at++ = (char) ('0' + next_random(10));
		}
		*at++ = '\n';
		fwrite(line, 1, (size_t) (at - line), stdout);
		written += (uint64_t) (at - line);
	}
}

int
main(int argc, char **argv)
{
	char	   *unit;
	uint64_t	limit;

	if (argc < 3)
	{
		fprintf(stderr, "usage: generate SHAPE BYTES[k|M|G] [SEED]\n");
		return 2;
	}
	limit = strtoull(argv[2], &unit, 10);
	if (*unit == 'k')
		limit <<= 10;
	else if (*unit == 'M')
		limit <<= 20;
	else if (*unit == 'G')
		limit <<= 30;
	seed_random(argc > 3 ? strtoull(argv[3], NULL, 10) : 0);

	if (strcmp(argv[1], "tiny") == 0)
		write_columns(16, 1, limit);
	else if (strcmp(argv[1], "wide") == 0)
		write_columns(1000, 6, limit);
	else
	{
		for (size_t i = 0; i < COUNT(shapes); i++)
			if (strcmp(argv[1], shapes[i].name) == 0)
			{
				write_lineitem(&shapes[i], limit);
				return 0;
			}
		fprintf(stderr, "generate: no shape \"%s\"\n", argv[1]);
		return 2;
	}
	return 0;
}
