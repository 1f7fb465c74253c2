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

#include "wire/message.h"
#include "wire/packed.h"

typedef struct CsvInlet CsvInlet;

/*
 * Returns a memory file with a request, or -1 with errno.  request: the query over the
 * layout's columns, or NULL.
 */
extern int	csv_request_file(const CsvDialectOptions *dialect,
							 const CsvReaderOptions *reader,
							 const CsvLayout *layout,
							 const CsvRequest *request);

/*
 * Makes csv_gpu_service start such a thread.  The message is sent with the thread's
 * end of a socket and with the request's file, if there is one (otherwise -1).
 * Returns NULL if csv_gpu_service starts no thread.  Allocated in the current memory
 * context; its deletion also closes the inlet.
 */
extern CsvInlet *csv_inlet_open(const void *message, size_t nbytes,
								int request);
extern void csv_inlet_close(CsvInlet *inlet);

/* false: the thread has ended */
extern bool csv_inlet_send(CsvInlet *inlet, const void *message, size_t nbytes,
						   const CsvDescriptors *with);

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

/* after CSV_END: as in CsvEndMessage */
extern uint64 csv_inlet_file_bytes(const CsvInlet *inlet);

/* a block that a message has announced; NULL: there is none of this number */
extern const CsvBlock *csv_inlet_block(const CsvInlet *inlet, uint32 number);

/*
 * csv_inlet_reason(): why the device has failed.  csv_inlet_fail(): it counts as
 * failed, for this reason; csv_inlet_misfit(): because its messages are wrong.
 */
extern const char *csv_inlet_reason(const CsvInlet *inlet);
extern CsvStatus csv_inlet_fail(CsvInlet *inlet, const char *reason);
extern CsvStatus csv_inlet_misfit(CsvInlet *inlet);

#endif							/* CSV_INLET_H */
