/*
 * inlet.h
 *		What a thread of csv_gpu_service sends to this session, over a socket that is
 *		the two's alone, and memory that both map.
 *
 * What it sends is looked at before it is used: a wrong offset would be the end of
 * the whole server.
 */
#ifndef CSV_INLET_H
#define CSV_INLET_H

#include "wire/batch.h"
#include "wire/message.h"

typedef struct CsvInlet CsvInlet;

/*
 * A memory file with a request; -1 with errno.  request: NULL, or what is
 * asked of the layout's columns.
 */
extern int	csv_request_file(const CsvDialectOptions *dialect,
							 const CsvReaderOptions *reader,
							 const CsvLayout *layout,
							 const CsvRequest *request);

/*
 * Have the program start such a thread: the message goes with the thread's end of a
 * socket, and a request's file, if there is one (else -1).  NULL: it does not.  In
 * the current memory context, with which it goes at the latest.
 */
extern CsvInlet *csv_inlet_open(const void *message, size_t nbytes,
								int request);
extern void csv_inlet_close(CsvInlet *inlet);

/* false: the thread is gone */
extern bool csv_inlet_send(CsvInlet *inlet, const void *message, size_t nbytes,
						   const CsvDescriptors *with);

/*
 * Wait for a CsvBatchMessage of this kind, which lasts until the next call.
 * CSV_END: CSV_MESSAGE_END came; or why it is none: CSV_NO_MEMORY, CSV_UNREADABLE
 * with errno, CSV_FOOTER_TOO_LONG, CSV_DEVICE_FAILED.  Other messages are for `other`
 * (or NULL), which says whether it knows them.
 */
extern CsvStatus csv_inlet_receive(CsvInlet *inlet, uint32 kind,
								   bool (*other) (void *arg,
												  const CsvMessage *message,
												  size_t nbytes),
								   void *arg, const CsvBatchMessage **batch);

/* with CSV_END: as in CsvEndMessage */
extern uint64 csv_inlet_file_bytes(const CsvInlet *inlet);

/* memory that messages have spoken of so far */
extern const CsvWireBlocks *csv_inlet_blocks(const CsvInlet *inlet);

/* the device has failed, for this reason; where something contradicts itself */
extern const char *csv_inlet_reason(const CsvInlet *inlet);
extern CsvStatus csv_inlet_fail(CsvInlet *inlet, const char *reason);

#endif							/* CSV_INLET_H */
