/*
 * shared_report.h
 *		What is said of skipped records where several processes share a scan.
 *
 * Each process notes the records that it skips in the piece that it reads, and
 * hands the note in when it has passed the piece.  Notes are put in order; what
 * comes from all pieces up to some point is due then.  The leader says it, but
 * where an ERROR is due: whoever has handed in the last note that was missing
 * raises that, and says what is due before.
 */
#ifndef CSV_SHARED_REPORT_H
#define CSV_SHARED_REPORT_H

#include "utils/dsa.h"

#include "scan/report.h"

/* in shared memory */
typedef struct CsvSharedReport CsvSharedReport;

/* a process's part in it */
typedef struct CsvReporter CsvReporter;

/* where a scan has come to, in the order of the files */
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
 * Set up, to go on from what has been reported of the records up to a point (a
 * scan that is repeated repeats nothing).
 */
extern void csv_shared_report_init(CsvSharedReport *shared, int nprocesses);
extern void csv_shared_report_begin(CsvSharedReport *shared,
									const CsvReport *report,
									const CsvScanPoint *point,
									int64 npassed);

/*
 * Join, in the current memory context.  dsa: of the parallel query, for notes.
 */
extern CsvReporter *csv_reporter_create(CsvSharedReport *shared, dsa_area *dsa,
										const CsvTable *table);

/* the point up to which records had been reported before the scan began */
extern const CsvScanPoint *csv_reporter_point(const CsvReporter *reporter);

/* must the next skipped record's message be made? */
extern bool csv_reporter_needs_message(const CsvReporter *reporter);

/* note a skipped record of the piece; false: the scan need not go on */
extern bool csv_reporter_add(CsvReporter *reporter, const CsvSkipped *skipped);

/* note that the file of the piece has changed, after its records */
extern void csv_reporter_changed(CsvReporter *reporter, const char *filename,
								 CsvFileChange change);

/* note that the piece cannot be read on, for this ERROR */
extern void csv_reporter_fail(CsvReporter *reporter, const ErrorData *error);

/* the piece has got to this point, nrecords further */
extern void csv_reporter_pass(CsvReporter *reporter, int file_number,
							  int64 record, int64 nrecords);

/*
 * The piece is passed: hand in what was noted.  May raise the scan's ERROR.
 */
extern void csv_reporter_hand_in(CsvReporter *reporter, uint64 piece);

/*
 * There are no pieces beyond these.  May raise the ERROR of a whole scan.
 */
extern void csv_reporter_end(CsvReporter *reporter, uint64 npieces);

/*
 * In the leader: say what is due.  *report, *point and *npassed become those of
 * all that was said.  True if that was the last.
 */
extern bool csv_reporter_say(CsvReporter *reporter, CsvReport *report,
							 CsvScanPoint *point, int64 *npassed);

#endif							/* CSV_SHARED_REPORT_H */
