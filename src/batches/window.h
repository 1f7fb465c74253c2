/*
 * window.h
 *		Threads evaluate kept batches before the scan reaches them.
 */
#ifndef CSV_WINDOW_H
#define CSV_WINDOW_H

#include "query/team.h"

#include "batches/kept.h"

/* consecutive batches of a file, with their answers */
typedef struct CsvWindow CsvWindow;

/* in the current memory context */
extern CsvWindow *csv_window_create(const CsvFileLayout *layout);

/* a file was opened, or the scan starts again: forget the batches */
extern void csv_window_clear(CsvWindow *window);

/*
 * Returns the answer for the current batch of the kept columns, or NULL if there is
 * none.  Batches must follow each other from call to call.
 */
extern const CsvAnswer *csv_window_answer(CsvWindow *window, CsvTeam *team,
										  const CsvKept *kept, CsvStatus *status);

#endif							/* CSV_WINDOW_H */
