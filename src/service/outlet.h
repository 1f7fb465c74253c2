/*
 * outlet.h
 *		What a thread sends to a session: over their own socket, and in memory that
 *		both map.
 *
 * A message refers to blocks of memory, of the device or of the outlet.  Each block
 * goes to the session before the first message that refers to it.
 */
#ifndef CSV_OUTLET_H
#define CSV_OUTLET_H

#include "../../cuda/csv_cuda.h"
#include "device.h"
#include "wire/message.h"
#include "wire/packed.h"
#include "wire/request.h"

/* memory that the outlet made */
typedef struct CsvOwnBlock
{
	CsvCudaBlock block;
	size_t		used;
	struct CsvOwnBlock *next;
} CsvOwnBlock;

typedef struct CsvOutlet
{
	CsvDevice  *device;			/* whose blocks messages refer to; at first NULL */
	int			socket;
	bool		may_fall_back;	/* after a failure the session reads on the CPU */
	CsvMemory	memory;			/* csv_thread_memory */

	/* blocks that messages refer to; the session has nsent of them */
	CsvCudaBlock *blocks;
	uint32_t	nblocks;
	uint32_t	nsent;
	uint32_t	capacity;
	CsvOwnBlock *copies;		/* for bytes that are in no block */
	CsvOwnBlock *room;			/* for an input; NULL: not needed yet */
	uint32_t	nmade;			/* blocks that the outlet ever made */
	CsvBatchMessage reply;
} CsvOutlet;

/* takes the socket */
extern void csv_outlet_init(CsvOutlet *outlet, int socket, bool may_fall_back);
extern void csv_outlet_free(CsvOutlet *outlet);

/*
 * Memory for an input of nbytes bytes, with CSV_MARGIN bytes more on each side.  The
 * same memory as before, if there is enough of it.  NULL: there is no memory.
 */
extern uint8_t *csv_outlet_room(CsvOutlet *outlet, size_t nbytes);

/* the session no longer uses copies that earlier messages have made */
extern void csv_outlet_begin(CsvOutlet *outlet);

/*
 * The number of a block that the next message refers to.  CSV_MOST_BLOCKS: there is no
 * memory.
 */
extern uint32_t csv_outlet_use(CsvOutlet *outlet, const CsvCudaBlock *block);

/*
 * Send a message after its blocks; or a batch, in outlet->reply, or the failure that
 * there is no memory for it.  False: the session is gone, or there is no memory.
 */
extern bool csv_outlet_send(CsvOutlet *outlet, const void *message,
							size_t nbytes);
extern bool csv_outlet_send_batch(CsvOutlet *outlet, uint32_t kind,
								  const CsvBatch *batch, uint32_t ncolumns,
								  const CsvQuery *query);
extern bool csv_outlet_send_failure(CsvOutlet *outlet, CsvFailure failure,
									int error, const char *reason);

/* 0: the session has closed the socket, or has sent an invalid message */
extern size_t csv_outlet_receive(CsvOutlet *outlet, CsvMessage *message,
								 CsvDescriptors *descriptors);

/* in any thread: has the session closed the socket? */
extern bool csv_outlet_is_left(void *outlet);

/* the request in a memory file; NULL: it has none */
extern CsvWireRequest *csv_outlet_read_request(CsvOutlet *outlet, int file);

#endif							/* CSV_OUTLET_H */
