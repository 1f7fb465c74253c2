/*
 * evidence.c
 *		What the values of a column say about its type.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "import/evidence.h"

/*
 * Behind this many texts, one after the other, further values count as texts; one record
 * in LOOK_EVERY is looked at all the same, and ends that if it has no text.
 */
#define MANY_TEXTS	1000
#define LOOK_EVERY	16

static uint32
count_chars(const char *text, uint32 nbytes)
{
	uint32		nchars = 0;

	if (GetDatabaseEncoding() != PG_UTF8)
		return (uint32) pg_mbstrlen_with_len(text, (int) nbytes);
	for (uint32 i = 0; i < nbytes; i++)
		nchars += (text[i] & 0xc0) != 0x80;
	return nchars;
}

static void
merge_figures(CsvFigures *figures, const CsvFigures *more)
{
	figures->facts |= more->facts;
	for (int i = 0; i < CSV_NUM_MOST; i++)
		figures->most[i] = Max(figures->most[i], more->most[i]);
}

static void
note_first(CsvFirst *first, const CsvValuePlace *place, const char *text,
		   uint32 nbytes)
{
	first->place = *place;
	first->nbytes = (uint8) Min(nbytes, CSV_FIRST_BYTES);
	memcpy(first->text, text, first->nbytes);
}

void
csv_evidence_add(const CsvReadingRules *rules, CsvEvidence *evidence,
				 const CsvValuePlace *place, const char *text, uint32 nbytes)
{
	uint32	   *most = evidence->figures.most;
	CsvReadValue value;

	/* no value has more characters than bytes */
	most[CSV_MOST_BYTES] = Max(most[CSV_MOST_BYTES], nbytes);
	if (nbytes > most[CSV_MOST_CHARS])
		most[CSV_MOST_CHARS] = Max(most[CSV_MOST_CHARS], count_chars(text, nbytes));

	/* in quotes, any other marker is a value like all others */
	if (nbytes == 0 && rules->empty_is_null)
	{
		evidence->nquoted_nulls++;
		return;
	}
	if (evidence->ntexts > MANY_TEXTS && place->record % LOOK_EVERY != 0)
	{
		value.form = CSV_FORM_TEXT;
		value.missing = csv_missing_word(rules, text, nbytes);
	}
	else
		csv_read_value(rules, text, nbytes, &value);
	if (value.missing >= 0)
	{
		evidence->nmissing++;
		evidence->nmissing_numbers += value.missing >= CSV_FIRST_MISSING_NUMBER;
		evidence->missing |= UINT32_C(1) << value.missing;
		return;
	}
	if (value.form == CSV_FORM_TEXT)
		evidence->ntexts++;
	else
	{
		evidence->ntexts = 0;
		merge_figures(&evidence->figures, &value.figures);
	}
	evidence->nvalues++;
	if (evidence->seen[value.form].count++ == 0)
		note_first(&evidence->first[value.form], place, text, nbytes);
	evidence->seen[value.form].last = place->record;
}

void
csv_evidence_merge(CsvEvidence *evidence, const CsvEvidence *more,
				   const CsvValuePlace *before)
{
	evidence->nnulls += more->nnulls;
	evidence->nquoted_nulls += more->nquoted_nulls;
	evidence->nvalues += more->nvalues;
	evidence->nmissing += more->nmissing;
	evidence->nmissing_numbers += more->nmissing_numbers;
	evidence->missing |= more->missing;
	evidence->ntexts = more->ntexts +
		(more->ntexts == more->nvalues ? evidence->ntexts : 0);
	merge_figures(&evidence->figures, &more->figures);
	for (int form = 0; form < CSV_NUM_FORMS; form++)
	{
		const CsvFirst *first = &more->first[form];
		const CsvValuePlace place = {
			.record = before->record + first->place.record,
			.line = before->line + first->place.line,
			.file = before->file
		};

		if (more->seen[form].count == 0)
			continue;
		if (evidence->seen[form].count == 0)
			note_first(&evidence->first[form], &place, first->text,
					   first->nbytes);
		evidence->seen[form].count += more->seen[form].count;
		evidence->seen[form].last = more->seen[form].last + before->record;
	}
}

int64
csv_evidence_count(const CsvEvidence *evidence, uint64 forms)
{
	int64		n = 0;

	for (int form = 0; form < CSV_NUM_FORMS; form++)
		if ((forms & CSV_FORM_BIT(form)) != 0)
			n += evidence->seen[form].count;
	return n;
}

bool
csv_evidence_all(const CsvEvidence *evidence, uint64 forms)
{
	return evidence->nvalues > 0 &&
		csv_evidence_count(evidence, forms) == evidence->nvalues;
}
