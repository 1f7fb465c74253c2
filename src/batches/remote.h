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

#include "batches/producer.h"
#include "batches/inlet.h"
#include "reader/place.h"

typedef struct CsvRemote
{
	CsvInlet   *inlet;			/* csv_inlet_reason(): of the last failure */
	CsvFilePlace place;			/* end of the last batch, where reading continues */
	double		read_seconds;

	/* of the open file */
	const CsvBatches *batches;
	bool		is_stream;
	const CsvRequest *request;	/* the last request; or NULL */

	/* of the current batch */
	CsvArray   *arrays;
	uint32		narrays;		/* capacity of `arrays` */
	CsvAnswer	answer;

	/* bytes of a stream that are in no batch yet: [rest_start, rest_end) */
	uint8_t    *rest;
	size_t		rest_start;
	size_t		rest_end;
	size_t		rest_room;
	size_t		passed;			/* bytes there that csv_gpu_service already has */
} CsvRemote;

/*
 * Opens a scan, in the current memory context; the deletion of the context also closes
 * it.  Returns NULL if no device is awake or, with the engine 'cuda', will be.
 */
extern CsvRemote *csv_remote_open(const CsvSettings *settings);

/* csv_remote_read() still works afterwards */
extern void csv_remote_close(CsvRemote *remote);

/* continues with the open file, from the reader's place; held groups stay */
extern void csv_remote_begin(CsvRemote *remote, const CsvBatches *batches);

/*
 * For a file, not a stream: the next batch has the records from this place up to
 * offset `end`, which must be behind the place.  More records are in the batch only if
 * it would otherwise have none.
 */
extern void csv_remote_go_to(CsvRemote *remote, const CsvFilePlace *place,
							 uint64 end);

/*
 * The next batch, which lives until the next call.  Returns CSV_OK, CSV_END,
 * CSV_NO_MEMORY, CSV_UNREADABLE with errno, CSV_FOOTER_TOO_LONG, or CSV_DEVICE_FAILED.
 * May be interrupted by an ERROR; the CsvRemote is useless afterwards.
 */
extern CsvStatus csv_remote_next(CsvRemote *remote, CsvBatch *batch);

/* a CsvReadFn for a stream's bytes from the place on */
extern size_t csv_remote_read(void *arg, uint8_t *buffer, size_t nbytes);

/*
 * Has a query evaluated over the batches that follow in the open file.  The request
 * must outlive its use.
 */
extern void csv_remote_ask(CsvRemote *remote, const CsvRequest *request);

/* when everything is read: the device's groups, as in CsvEngine.held_groups */
extern CsvStatus csv_remote_held(CsvRemote *remote, uint32_t first,
								 CsvPartialGroups *groups);

#endif							/* CSV_REMOTE_H */
