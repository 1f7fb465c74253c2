/*
 * remote.h
 *		Batches that csv_gpu_service makes of a file on a GPU.
 *
 * The session opens the file and reads its header; the program reads on from
 * there (service/scan.c).  A program's output, and whatever else is no plain file,
 * the session passes on.  Batches are in memory that both map.
 */
#ifndef CSV_REMOTE_H
#define CSV_REMOTE_H

#include "query/query.h"
#include "reader/place.h"
#include "table/option.h"

typedef struct CsvRemote CsvRemote;

/* a file, or the rest of one */
typedef struct CsvRemoteFile
{
	const CsvReaderOptions *reader;
	const CsvDialect *dialect;
	const CsvLayout *layout;	/* must outlive its use, as the request */
	CsvFilePlace place;			/* where it begins */
	bool		is_shared;		/* other processes read other pieces of it */
	int			file;			/* descriptor; -1: a stream */
	uint64		file_bytes;		/* the file is read up to there; 0: to its end */

	/* of a stream: bytes that were read already, and those that follow */
	const uint8_t *bytes;
	size_t		nbytes;
	CsvReadFn	read;
	void	   *read_arg;
} CsvRemoteFile;

/*
 * Begin; in the current memory context, with which it goes at the latest.  NULL if
 * there is no device that is awake; must_wait: or will be.
 */
extern CsvRemote *csv_remote_open(const CsvSettings *settings, bool must_wait);
extern void csv_remote_close(CsvRemote *remote);

/* go on with this file; groups that are held stay */
extern void csv_remote_begin(CsvRemote *remote, const CsvRemoteFile *file);

/*
 * Of a file that is one: the next batch is of the records from this place up to
 * offset `end`, which is beyond it; with more of them only if otherwise there would
 * be none.  is_last: the file is taken to end there.
 */
extern void csv_remote_go_to(CsvRemote *remote, const CsvFilePlace *place,
							 uint64 end, bool is_last);

/*
 * The next batch, which lives until the next call: CSV_OK, CSV_END, CSV_NO_MEMORY,
 * CSV_UNREADABLE with errno, CSV_FOOTER_TOO_LONG, or CSV_DEVICE_FAILED.  May be
 * interrupted, after which it is of no use any more.
 */
extern CsvStatus csv_remote_next(CsvRemote *remote, CsvBatch *batch);
extern const char *csv_remote_message(const CsvRemote *remote);

/* after CSV_END: how many bytes the file had; UINT64_MAX for a stream */
extern uint64 csv_remote_file_bytes(const CsvRemote *remote);

/* where reading goes on, behind the last batch; and the bytes of a stream there */
extern const CsvFilePlace *csv_remote_place(const CsvRemote *remote);
extern const uint8_t *csv_remote_rest(const CsvRemote *remote, size_t *nbytes);

/* have a query evaluated over batches to come */
extern void csv_remote_ask(CsvRemote *remote, const CsvRequest *request);

/* when all is read: groups that the device has held, as CsvEngine.held_groups */
extern CsvStatus csv_remote_held(CsvRemote *remote, uint32_t first,
								 CsvPartialGroups *groups);

extern double csv_remote_read_seconds(const CsvRemote *remote);

#endif							/* CSV_REMOTE_H */
