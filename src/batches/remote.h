/*
 * remote.h
 *		Batches that csv_gpu_service makes of a file on a GPU.
 *
 * The session opens the file and reads its header.  csv_gpu_service continues from
 * there (service/gpu_scan.c).  If the file is not a regular file, or is a program's
 * output, the session passes the bytes on.  Both processes map the memory of the
 * batches.
 */
#ifndef CSV_REMOTE_H
#define CSV_REMOTE_H

#include "query/query.h"
#include "reader/place.h"
#include "table/option.h"

typedef struct CsvRemote CsvRemote;

/* a file, or the rest of a file */
typedef struct CsvRemoteFile
{
	const CsvReaderOptions *reader;
	const CsvDialect *dialect;
	const CsvLayout *layout;	/* must outlive its use, like the request */
	CsvFilePlace place;			/* where reading begins */
	bool		is_shared;		/* other processes read other pieces of it */
	int			file;			/* descriptor; -1: a stream */
	uint64		file_bytes;		/* read up to this offset; 0: to the end */

	/* for a stream: bytes that were already read, and the bytes that follow */
	const uint8_t *bytes;
	size_t		nbytes;
	CsvReadFn	read;
	void	   *read_arg;
} CsvRemoteFile;

/*
 * Opens a scan, in the current memory context; the deletion of the context also closes
 * it.  Returns NULL if no device is awake or, if must_wait, will be.
 */
extern CsvRemote *csv_remote_open(const CsvSettings *settings, bool must_wait);
extern void csv_remote_close(CsvRemote *remote);

/* continues with this file; held groups stay */
extern void csv_remote_begin(CsvRemote *remote, const CsvRemoteFile *file);

/*
 * For a file, not a stream: the next batch has the records from this place up to
 * offset `end`, which must be behind the place.  More records are in the batch only if
 * it would otherwise have none.  is_last: the file ends at `end`.
 */
extern void csv_remote_go_to(CsvRemote *remote, const CsvFilePlace *place,
							 uint64 end, bool is_last);

/*
 * The next batch, which lives until the next call.  Returns CSV_OK, CSV_END,
 * CSV_NO_MEMORY, CSV_UNREADABLE with errno, CSV_FOOTER_TOO_LONG, or CSV_DEVICE_FAILED.
 * May be interrupted by an ERROR; the CsvRemote is useless afterwards.
 */
extern CsvStatus csv_remote_next(CsvRemote *remote, CsvBatch *batch);
extern const char *csv_remote_message(const CsvRemote *remote);

/* after CSV_END: the bytes that the file had; UINT64_MAX for a stream */
extern uint64 csv_remote_file_bytes(const CsvRemote *remote);

/* the end of the last batch, where reading continues; a stream's bytes from there */
extern const CsvFilePlace *csv_remote_place(const CsvRemote *remote);
extern const uint8_t *csv_remote_rest(const CsvRemote *remote, size_t *nbytes);

/* has a query evaluated over the batches that follow */
extern void csv_remote_ask(CsvRemote *remote, const CsvRequest *request);

/* when everything is read: the device's groups, as in CsvEngine.held_groups */
extern CsvStatus csv_remote_held(CsvRemote *remote, uint32_t first,
								 CsvPartialGroups *groups);

extern double csv_remote_read_seconds(const CsvRemote *remote);

#endif							/* CSV_REMOTE_H */
