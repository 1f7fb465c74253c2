/*
 * evidence.h
 *		What the values of a column say about its type.
 */
#ifndef CSV_EVIDENCE_H
#define CSV_EVIDENCE_H

#include "import/forms.h"

/* the values of one form */
typedef struct CsvSeen
{
	int64		count;
	int64		last;			/* number of the record, from 0; if count is not 0 */
} CsvSeen;

/* where a value stands */
typedef struct CsvValuePlace
{
	int64		record;			/* of all files, from 0 */
	int64		line;			/* of the file */
	const char *file;			/* NULL: not known yet */
} CsvValuePlace;

/* the first of them: this is apart, since it is written once */
#define CSV_FIRST_BYTES	47

typedef struct CsvFirst
{
	CsvValuePlace place;
	uint8		nbytes;
	char		text[CSV_FIRST_BYTES];	/* its beginning */
} CsvFirst;

/* all zero at first */
typedef struct CsvEvidence
{
	int64		nnulls;
	int64		nquoted_nulls;	/* values equal to the NULL marker, in quotes */
	int64		nvalues;		/* all others, less words for missing values ... */
	int64		nmissing;		/* ... and these, which are values in a column of text */
	int64		nmissing_numbers;	/* the words that are numbers, too */
	uint32		missing;		/* set of the words (forms.h) */
	uint32		ntexts;			/* since the last value of another form */
	CsvFigures	figures;
	CsvSeen		seen[CSV_NUM_FORMS];
	CsvFirst	first[CSV_NUM_FORMS];
} CsvEvidence;

/*
 * Add a value of a record, in the server's encoding.  Allocates nothing and raises no
 * error, so that threads can fill an evidence each; only in encodings other than UTF-8
 * it asks PostgreSQL for the number of characters.
 */
extern void csv_evidence_add(const CsvReadingRules *rules, CsvEvidence *evidence,
							 const CsvValuePlace *place, const char *text,
							 uint32 nbytes);

/*
 * add the evidence of the records that follow `before`, as if they were the
 * first
 */
extern void csv_evidence_merge(CsvEvidence *evidence, const CsvEvidence *more,
							   const CsvValuePlace *before);

/* a set of forms */
#define CSV_FORM_BIT(form)	(UINT64_C(1) << (form))
#define CSV_FORMS(first, last) \
	((CSV_FORM_BIT(last) << 1) - CSV_FORM_BIT(first))
#define CSV_NUMBER_FORMS	CSV_FORMS(CSV_FIRST_NUMBER, CSV_LAST_NUMBER)
#define CSV_WHEN_FORMS		CSV_FORMS(CSV_FIRST_WHEN, CSV_LAST_WHEN)

/* how many values have forms of a set */
extern int64 csv_evidence_count(const CsvEvidence *evidence, uint64 forms);

/* are all values of these forms, and is there any? */
extern bool csv_evidence_all(const CsvEvidence *evidence, uint64 forms);

static inline bool
csv_evidence_has(const CsvEvidence *evidence, CsvForm form)
{
	return evidence->seen[form].count > 0;
}

static inline bool
csv_evidence_fact(const CsvEvidence *evidence, CsvFact fact)
{
	return (evidence->figures.facts & (uint32) fact) != 0;
}

/* the greatest of some number; the least, UINT32_MAX if there is none */
static inline uint32
csv_evidence_most(const CsvEvidence *evidence, CsvMost most)
{
	return evidence->figures.most[most];
}

static inline uint32
csv_evidence_least(const CsvEvidence *evidence, CsvMost least)
{
	return ~evidence->figures.most[least];
}

#endif							/* CSV_EVIDENCE_H */
