/*
 * shared_report.h
 *		Reports skipped records if several processes share a scan.
 *
 * Each process notes the records that it skips in the piece that it reads, and hands
 * the notes in when it has passed the piece.  Notes are put in order.  When all pieces
 * up to some point are passed, their notes are due, and the leader reports them.  If
 * an ERROR is due, the process that handed in the last missing notes raises it, and
 * reports the due notes before it.
 */
#ifndef CSV_SHARED_REPORT_H
#define CSV_SHARED_REPORT_H

#include "utils/dsa.h"

#include "scan/report.h"

/* in shared memory */
typedef struct CsvSharedReport CsvSharedReport;

/* a process's part in it */
typedef struct CsvReporter CsvReporter;

/* how far a scan has come, in the order of the files */
typedef struct CsvScanPoint
{
	int			file_number;	/* from 1; 0: before the first file */
	int64		record;
} CsvScanPoint;

static inline bool
csv_is_passed(const CsvScanPoint *point, int file_number, int64 record)
{
	return file_number < point->file_number ||
		(file_number == point->file_number && record <= point->record);
}

extern Size csv_shared_report_size(int nprocesses);

/*
 * Set up, to go on after the records that were reported up to a point: a repeated scan
 * reports nothing twice.
 */
extern void csv_shared_report_init(CsvSharedReport *shared, int nprocesses);
extern void csv_shared_report_begin(CsvSharedReport *shared,
									const CsvReport *report,
									const CsvScanPoint *point,
									int64 npassed);

/* Join, in the current memory context.  dsa: the parallel query's, for notes. */
extern CsvReporter *csv_reporter_create(CsvSharedReport *shared, dsa_area *dsa,
										const CsvTable *table);

/* the point up to which records were reported before the scan began */
extern const CsvScanPoint *csv_reporter_point(const CsvReporter *reporter);

/* must the next skipped record's message be made? */
extern bool csv_reporter_needs_message(const CsvReporter *reporter);

/* note a skipped record of the piece; false: the scan need not go on */
extern bool csv_reporter_add(CsvReporter *reporter, const CsvSkipped *skipped);

/* note that the file of the piece has changed, after its records */
extern void csv_reporter_changed(CsvReporter *reporter, const char *filename,
								 CsvFileChange change);

/* note that reading the piece has failed with this ERROR */
extern void csv_reporter_fail(CsvReporter *reporter, const ErrorData *error);

/* the piece has got to this point, nrecords further */
extern void csv_reporter_pass(CsvReporter *reporter, int file_number,
							  int64 record, int64 nrecords);

/* The piece is passed: hand in its notes.  May raise the scan's ERROR. */
extern void csv_reporter_hand_in(CsvReporter *reporter, uint64 piece);

/* There are no more than npieces pieces.  May raise the ERROR of a whole scan. */
extern void csv_reporter_end(CsvReporter *reporter, uint64 npieces);

/*
 * In the leader: report everything that is due.  *report, *point and *npassed then
 * include all that was reported.  Returns true if that was the last.
 */
extern bool csv_reporter_say(CsvReporter *reporter, CsvReport *report,
							 CsvScanPoint *point, int64 *npassed);

#endif							/* CSV_SHARED_REPORT_H */
