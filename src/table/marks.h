/*
 * marks.h
 *		Marks within the members of a gzip file, at which threads can begin.
 *
 * A scan makes a mark each csv_mark_bytes of output: it saves the state of its
 * codec.  Later scans, of all sessions, begin pieces there.  Temporary files
 * have the states until the server restarts.
 *
 * Marks count if the file is the same or, if its table says that it grows, has
 * become longer.  Even so, a piece that begins at a mark only joins pieces that
 * arrived there, with the same CRC of all that its member had before.
 */
#ifndef CSV_MARKS_H
#define CSV_MARKS_H

#include <stdatomic.h>

#include "table/codec.h"

#define CSV_MOST_MARKS	1000	/* of a file; about 56 kB each */

extern int	csv_mark_bytes;		/* a variable for tests */

typedef struct CsvMark
{
	uint64_t	version;		/* of the state, and of the file's ends */
	CsvFileIdentity file;
	uint64_t	offset;			/* in the file; the codec has read up to it */
	uint64_t	member;			/* offset of its member */
	uint64_t	nbytes;			/* of its output; 0: not written yet */
	uint32_t	crc;			/* of these */
	uint32_t	state_bytes;
	off_t		state_at;
} CsvMark;

typedef struct CsvMarks
{
	int			file;			/* has the states */
	char		name[128];
	bool		may_add;
	atomic_bool is_wrong;		/* a scan did not arrive at a mark */
	CsvMark		now;			/* what new marks have */
	atomic_uint nslots;			/* in the file; threads add to it */
	int			nknown;
	CsvMark		known[CSV_MOST_MARKS];	/* by their offsets */
} CsvMarks;

/*
 * For a scan of the file fd up to this offset.  If it grows, it only becomes
 * longer.  NULL: the scan has no marks.
 */
extern CsvMarks *csv_marks_open(int fd, bool grows, uint64_t end);

/* no thread may use them any more; raises no ERROR; NULL may be passed */
extern void csv_marks_close(CsvMarks *marks);

/*
 * If the scan may, makes a mark at this offset of the file, where the codec has
 * delivered nbytes of this member.  Any thread may call it, also with NULL.
 */
extern void csv_marks_add(CsvMarks *marks, const CsvCodec *codec,
						  uint64_t offset, uint64_t member, uint64_t nbytes);

#endif							/* CSV_MARKS_H */
