/*
 * sample.h
 *		The beginning of a file, record by record.
 */
#ifndef CSV_SAMPLE_H
#define CSV_SAMPLE_H

#include "import/infer.h"

/* the beginning of a file, in the encoding that its source delivers */
typedef struct CsvSample
{
	const uint8_t *bytes;		/* after a byte-order mark */
	uint64		nbytes;
	bool		at_end;			/* this is all of the file */
	bool		prefers_tab;	/* the file's name says so */
	bool		is_utf16;		/* the source has converted it, by its mark */

	/* the file's last bytes, where they are not in the sample and somebody has read them */
	const uint8_t *tail;
	uint64		ntail;
	const char *marker;			/* what may begin comments; NULL: nothing does */
} CsvSample;

/* records of a sample that are looked at */
#define CSV_SAMPLE_RECORDS	1000

/* bytes, or fields, that are looked at between two looks for interrupts */
#define CSV_BYTES_TO_INTERRUPT	(1024 * 1024)

/* most bytes of a line that messages have */
#define CSV_SHOWN_LINE_BYTES	200

/* the beginning of the line there, so many bytes at most; in the current memory context */
extern char *csv_sample_line(const CsvSample *sample, uint64 start);

/* do these bytes stand anywhere in it? */
extern bool csv_sample_has(const CsvSample *sample, const char *bytes);

/* a scan of the sample's records from `start` on, and its end */
extern void csv_sample_begin(CsvScan *scan, uint64 start);
extern void csv_sample_end(CsvScan *scan);

/* the next record; false if no complete one is left */
extern bool csv_sample_next(CsvScan *scan, const CsvDialect *dialect,
							const CsvSample *sample);

/*
 * A field of the record, in *value, with a zero byte behind it; its length.  *quoted, if
 * it is not NULL, tells whether it was in quotes.
 */
extern uint32 csv_sample_value(const CsvScan *scan, const CsvDialect *dialect,
							   const CsvSample *sample, uint32 field,
							   char **value, bool *quoted);

#endif							/* CSV_SAMPLE_H */
