/*
 * skipping.h
 *		Which records a scan has passed, and what is said of those it skipped, or has
 *		set values of to NULL.
 *
 * Records are passed in file order.  One that is read a second time, after a
 * rewind or because a device failed, is not reported and not counted again.
 */
#ifndef CSV_SKIPPING_H
#define CSV_SKIPPING_H

#include "scan/shared_report.h"

/*
 * Told of each skipped record, and each value that is NULL instead
 * (CSV_ERROR_SET_NULL), in order, instead of the usual report.  False:
 * it wants to know of no more, and the scan ends.
 */
typedef bool (*CsvSkippedFn) (void *arg, const CsvSkipped *skipped);

typedef struct CsvSkipping CsvSkipping;

/* in the current memory context; skipped: NULL for the usual report */
extern CsvSkipping *csv_skipping_create(const CsvTable *table,
										CsvSkippedFn skipped, void *arg);

/* has the scan been past this record (from 1) of this file (from 1)? */
extern bool csv_skipping_was_passed(const CsvSkipping *skipping,
									int file_number, int64 record);

/*
 * It is past this record, and all before it in the batch, before which there were
 * so many of the file.
 */
extern void csv_skipping_pass(CsvSkipping *skipping, int file_number,
							  int64 before, int64 record);

/*
 * While it looks ahead, the scan passes no record, and says nothing: it ends
 * before a skipped record that it has not passed.
 */
extern void csv_skipping_look_ahead(CsvSkipping *skipping, bool looks_ahead);

/* records passed, if the scan is past this one, too */
extern int64 csv_skipping_passed(const CsvSkipping *skipping, int file_number,
								 int64 before, int64 record);
extern int64 csv_skipping_skipped(const CsvSkipping *skipping);
extern int64 csv_skipping_set_null(const CsvSkipping *skipping);

/* is this record passed for the first time, when the scan passes it? */
extern bool csv_skipping_is_new(const CsvSkipping *skipping, int file_number,
								int64 record);

/* does anybody look at the bytes, or the message, of the next one? */
extern bool csv_skipping_shows_bytes(const CsvSkipping *skipping);
extern bool csv_skipping_needs_message(const CsvSkipping *skipping);

/*
 * A skipped record, or with CSV_ERROR_SET_NULL a value, which was not passed.  False:
 * the scan ends here.  ERROR under on_error 'stop', or past the reject limit.
 */
extern bool csv_skipping_add(CsvSkipping *skipping, const CsvSkipped *skipped);

/*
 * A file changed while it was read; its records are passed.  Said once of each file.
 * ERROR if it became shorter under on_error 'stop'.
 */
extern void csv_skipping_changed(CsvSkipping *skipping, int file_number,
								 const char *filename, CsvFileChange change);

/* complete: all records have come; else no more are asked for, and that comes last */
extern void csv_skipping_end(CsvSkipping *skipping, bool complete);

/* ---- where other processes share the scan ---- */

/* what was reported up to now, for others to go on from */
extern void csv_skipping_begin_shared(const CsvSkipping *skipping,
									  CsvSharedReport *shared);

/* report together with others, from now on */
extern void csv_skipping_share(CsvSkipping *skipping, CsvSharedReport *shared,
							   dsa_area *dsa);

/* the piece at hand has an ERROR; a piece is passed; there are no more than so many */
extern void csv_skipping_fail(CsvSkipping *skipping, const ErrorData *error);
extern void csv_skipping_hand_in(CsvSkipping *skipping, uint64 piece);
extern void csv_skipping_end_pieces(CsvSkipping *skipping, uint64 npieces);

/* in the leader: say what is due, and then go on alone */
extern void csv_skipping_say(CsvSkipping *skipping);
extern void csv_skipping_unshare(CsvSkipping *skipping);

#endif							/* CSV_SKIPPING_H */
