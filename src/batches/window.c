/*
 * window.c
 *		Threads evaluate kept batches before the scan reaches them.
 *
 * A window begins small, because a query may want only a few rows, and doubles.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "batches/window.h"
#include "table/source.h"

/* batches of the first window of a file */
#define FIRST_BATCHES	8

struct CsvWindow
{
	const CsvFileLayout *layout;
	uint32_t	size;			/* of the next window */
	uint32_t	nbatches;		/* of this window */
	uint32_t	next;			/* index of its next batch */
	CsvTeamBatch batches[CSV_BATCH_SLOTS];
	CsvRowClasses classes[CSV_BATCH_SLOTS];
	CsvBatch	mapped[CSV_BATCH_SLOTS];
	CsvArray   *arrays;			/* ncolumns of each batch */
};

CsvWindow *
csv_window_create(const CsvFileLayout *layout)
{
	CsvWindow  *window = palloc0(sizeof(CsvWindow));

	window->layout = layout;
	window->arrays = palloc(sizeof(CsvArray) * CSV_BATCH_SLOTS *
							Max(layout->ncolumns, 1));
	csv_window_clear(window);
	return window;
}

void
csv_window_clear(CsvWindow *window)
{
	window->size = FIRST_BATCHES;
	window->nbatches = 0;
	window->next = 0;
}

const CsvAnswer *
csv_window_answer(CsvWindow *window, CsvTeam *team, const CsvKept *kept,
				  CsvStatus *status)
{
	CsvResidentGrouping *grouping = kept->grouping;
	const CsvResidentBatch *batch;
	uint32_t	n = 0;

	*status = CSV_OK;
	if (window->next < window->nbatches)
		return window->batches[window->next++].answer;
	for (uint32_t number = kept->next - 1; n < window->size; number++)
	{
		CsvTeamBatch *entry = &window->batches[n];

		batch = csv_kept_batch(kept, number, &window->mapped[n], window->arrays +
							   (size_t) n * window->layout->ncolumns);
		if (batch == NULL)
			break;
		/* the scan skips batches without rows */
		if (batch->batch.nrows == 0)
			continue;
		entry->batch = &window->mapped[n];
		entry->classes = NULL;
		if (grouping != NULL)
		{
			window->classes[n].classes = grouping->classes + batch->first_row;
			window->classes[n].nclasses = &grouping->nclasses;
			entry->classes = &window->classes[n];
		}
		n++;
	}
	*status = csv_team_run_all(team, &window->layout->layout, window->batches,
							   n, csv_process_interrupts, NULL);
	window->nbatches = n;
	window->next = 1;
	window->size = Min(2 * window->size, CSV_BATCH_SLOTS);
	return window->batches[0].answer;
}
