/*
 * window.h
 *		Kept batches that threads evaluate before they are walked through.
 */
#ifndef CSV_WINDOW_H
#define CSV_WINDOW_H

#include "query/team.h"

#include "batches/kept.h"

/* some batches that follow each other in a file, with their answers */
typedef struct CsvWindow CsvWindow;

/* in the current memory context */
extern CsvWindow *csv_window_create(const CsvFileLayout *layout);

/* a file was opened, or all begins anew: what is there does not count */
extern void csv_window_clear(CsvWindow *window);

/*
 * The answer for a batch of the columns that were found, which follow each other
 * from call to call; NULL if there is none.  grouping: NULL, or of their rows.
 */
extern const CsvAnswer *csv_window_answer(CsvWindow *window, CsvTeam *team,
										  const CsvKept *kept,
										  const CsvResidentBatch *batch,
										  CsvResidentGrouping *grouping,
										  CsvStatus *status);

#endif							/* CSV_WINDOW_H */
