/*
 * inlet.h
 *		Receives data from a thread of csv_gpu_service, over a socket and shared
 *		memory that only this session and the thread use.
 *
 * The data are checked before they are used: a wrong offset could crash the whole
 * server.
 */
#ifndef CSV_INLET_H
#define CSV_INLET_H

#include "client/channel.h"
#include "wire/packed.h"

typedef struct CsvInlet
{
	MemoryContext context;
	MemoryContextCallback callback;
	CsvChannel *channel;		/* NULL: closed */
	char		reason[CSV_REASON_BYTES];	/* why the device has failed */
	CsvDescriptors sent;		/* files that are closed once they are sent */
	CsvBlock   *mapped;			/* blocks that messages have announced */
	CsvBlocks	blocks;			/* the same */
	uint32		capacity;
	union
	{
		CsvBatchMessage batch;
		CsvMessage	other;
	}			message;		/* the last one; the end of a file, after CSV_END */
} CsvInlet;

/*
 * Returns a memory file with a request, or -1 with errno.  request: the query over the
 * layout's columns, or NULL.
 */
extern int	csv_request_file(const CsvDialectOptions *dialect,
							 const CsvReaderOptions *reader,
							 const CsvLayout *layout,
							 const CsvRequest *request);

/*
 * Makes csv_gpu_service start such a thread.  The message is sent with the
 * thread's end of a socket and with the request's file, if there is one (otherwise
 * -1), which is closed in any case.  Returns NULL if csv_gpu_service starts no
 * thread.  Allocated in the current memory context; its deletion also closes the
 * inlet.
 */
extern CsvInlet *csv_inlet_open(const void *message, size_t nbytes,
								int request);
extern void csv_inlet_close(CsvInlet *inlet);

/*
 * Waits for a message of this kind.  With a layout that is a CsvBatchMessage,
 * whose batch is unpacked, as csv_unpack() does; otherwise a CsvDataMessage, for
 * *room.  If another message comes, returns CSV_END for CSV_MESSAGE_END, or an
 * error: CSV_UNREADABLE with errno, CSV_FOOTER_TOO_LONG, or CSV_DEVICE_FAILED.
 */
extern CsvStatus csv_inlet_receive(CsvInlet *inlet, uint32 kind,
								   CsvDataMessage *room,
								   const CsvLayout *layout,
								   const CsvQuery *query, CsvArray *arrays,
								   CsvAnswer *answer, CsvBatch *batch);

/* the device counts as failed, for this reason; NULL: its messages are wrong */
extern CsvStatus csv_inlet_fail(CsvInlet *inlet, const char *reason);

#endif							/* CSV_INLET_H */
