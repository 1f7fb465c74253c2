/*
 * naive_query.h
 *		A CsvQuery evaluated a row at a time, by recursion over its registers:
 *		what evaluate.c is compared with.  It shares no operation with it.
 */
#ifndef CSV_TEST_NAIVE_QUERY_H
#define CSV_TEST_NAIVE_QUERY_H

#include "../../src/query/query.h"

/* a table: values by row and column, as an engine's batch should have them */
typedef struct NaiveTable
{
	uint32_t	nrows;
	uint32_t	ncolumns;
	const CsvValue *values;		/* nrows x ncolumns */
} NaiveTable;

/* an exact number: 32 bits a word, the lowest of them 2^NAIVE_LOWEST's */
#define NAIVE_WORDS		86
#define NAIVE_LOWEST	(-1152)

typedef struct NaiveNumber
{
	uint32_t	words[NAIVE_WORDS]; /* two's complement */
} NaiveNumber;

typedef struct NaiveAggregate
{
	int64_t		count;
	NaiveNumber sum;			/* integers begin at 2^0 */
	bool		nan;
	bool		infinity[2];	/* plus, minus */
	bool		only_minus_zeros;
	CsvValue	extreme;
	CsvValue   *distinct;		/* `count` of them */
} NaiveAggregate;

typedef struct NaiveGroup
{
	CsvValue	keys[CSV_MAX_KEYS];
	NaiveAggregate aggregates[16];
} NaiveGroup;

typedef enum NaiveFate
{
	NAIVE_DROPPED,
	NAIVE_PASSES,
	NAIVE_CAREFUL
} NaiveFate;

typedef struct NaiveGroups
{
	NaiveGroup *groups;
	uint32_t	ngroups;
	uint32_t	capacity;
} NaiveGroups;

extern CsvValue naive_value(const CsvQuery *query, const NaiveTable *table,
							uint32_t row, uint16_t number);

/* what becomes of a row; one that passes is added to its group */
extern NaiveFate naive_row(const CsvQuery *query, const NaiveTable *table,
						   uint32_t row, NaiveGroups *groups);
/* of values that are not NULL: below, equal to or above zero */
extern int	naive_compare(uint8_t lane, const CsvValue *a, const CsvValue *b);
extern bool naive_equal(uint8_t lane, const CsvValue *a, const CsvValue *b);
extern void naive_free(const CsvQuery *query, NaiveGroups *groups);

/* is `rounded` the exact sum rounded to nearest even? */
extern bool naive_is_rounded(const NaiveNumber *exact, double rounded);

#endif							/* CSV_TEST_NAIVE_QUERY_H */
