/*
 * skipping.h
 *		Tracks the records that a scan has passed, and reports skipped records, and
 *		values that are set to NULL.
 *
 * Records are passed in file order.  A record that is read a second time, after a
 * rewind or because a device failed, is not reported and not counted again.
 */
#ifndef CSV_SKIPPING_H
#define CSV_SKIPPING_H

#include "utils/dsa.h"

#include "scan/report.h"

/*
 * Receives each skipped record, and each value that is NULL instead
 * (CSV_ERROR_SET_NULL), in order, instead of the usual report.  Returns false to
 * receive no more; then the scan ends.
 */
typedef bool (*CsvSkippedFn) (void *arg, const CsvSkipped *skipped);

typedef struct CsvSkipping CsvSkipping;

/* in the current memory context; skipped: NULL for the usual report */
extern CsvSkipping *csv_skipping_create(const CsvTable *table,
										CsvSkippedFn skipped, void *arg);

/* has the scan passed this record (from 1) of this file (from 1)? */
extern bool csv_skipping_was_passed(const CsvSkipping *skipping,
									int file_number, int64 record);

/*
 * The scan has passed this record, and all records before it in the batch.  `before`
 * is the number of the file's records before the batch.
 */
extern void csv_skipping_pass(CsvSkipping *skipping, int file_number,
							  int64 before, int64 record);

/*
 * While it looks ahead, the scan passes no record and reports nothing.  It ends before
 * a skipped record that it has not passed.
 */
extern void csv_skipping_look_ahead(CsvSkipping *skipping, bool looks_ahead);

/*
 * Returns the number of records passed, if the scan has passed this record, too.
 * *skipped of them were skipped.  *set_null values were set to NULL.
 */
extern int64 csv_skipping_count(const CsvSkipping *skipping, int file_number,
								int64 before, int64 record, int64 *skipped,
								int64 *set_null);

/* will the scan pass this record for the first time? */
extern bool csv_skipping_is_new(const CsvSkipping *skipping, int file_number,
								int64 record);

/* is the message of the next skipped record needed? */
extern bool csv_skipping_needs_message(const CsvSkipping *skipping);

/*
 * Report a skipped record, or with CSV_ERROR_SET_NULL a value, that was not passed
 * before.  Returns false if the scan ends here.  ERROR under on_error 'stop', or past
 * the reject limit.
 */
extern bool csv_skipping_add(CsvSkipping *skipping, const CsvSkipped *skipped);

/*
 * CsvBatchesCallbacks.changed: report that a file changed while it was read, after its
 * records are passed.  Reports each file once.  ERROR if it became shorter under on_error
 * 'stop'.
 */
extern void csv_skipping_changed(void *skipping, int file_number,
								 const char *filename, CsvFileChange change);

/* complete: all records have come; false, in the last call: no more are asked for */
extern void csv_skipping_end(CsvSkipping *skipping, bool complete);

/* ---- scans that other processes share ---- */

/* in shared memory */
typedef struct CsvSharedReport CsvSharedReport;

extern Size csv_shared_report_size(int nprocesses);

/* before processes come: they go on after everything that was reported */
extern void csv_skipping_begin_shared(const CsvSkipping *skipping,
									  CsvSharedReport *shared);

/* report together with others, from now on.  dsa: the parallel query's, for notes. */
extern void csv_skipping_share(CsvSkipping *skipping, CsvSharedReport *shared,
							   dsa_area *dsa);

/*
 * csv_skipping_fail(): CsvBatchesCallbacks.failed.  csv_skipping_hand_in(): .passed.
 * csv_skipping_end_pieces(): there are no more than npieces pieces.  The last two may
 * raise the scan's ERROR.
 */
extern void csv_skipping_fail(void *skipping, const ErrorData *error);
extern void csv_skipping_hand_in(void *skipping, uint64 piece);
extern void csv_skipping_end_pieces(CsvSkipping *skipping, uint64 npieces);

/* in the leader: report everything that is due, and then go on alone */
extern void csv_skipping_say(CsvSkipping *skipping);
extern void csv_skipping_unshare(CsvSkipping *skipping);

#endif							/* CSV_SKIPPING_H */
