/*
 * outlet.h
 *		What a thread sends to a session, over a socket that is the two's alone, and
 *		memory that both map.
 *
 * A message speaks of blocks of memory: the device's, and some of the outlet's own.
 * Each goes to the session before the first message that speaks of it.
 */
#ifndef CSV_OUTLET_H
#define CSV_OUTLET_H

#include "device.h"
#include "wire/batch.h"
#include "wire/message.h"
#include "wire/request.h"

/* memory of the outlet's own */
typedef struct CsvOwnBlock
{
	CsvDeviceBlock block;
	size_t		used;
	struct CsvOwnBlock *next;
} CsvOwnBlock;

typedef struct CsvOutlet
{
	CsvDevice  *device;			/* whose blocks messages speak of; or NULL */
	int			socket;
	bool		may_fall_back;	/* where it fails, the session reads on the CPU */
	CsvMemory	memory;			/* malloc()'s */
	CsvWireFinder finder;

	/* blocks that the session knows */
	uint32_t   *known;
	uint32_t	nknown;
	uint32_t	capacity;
	CsvDeviceBlock *used;		/* of the message at hand */
	uint32_t	nused;
	uint32_t	most_used;
	CsvOwnBlock *copies;		/* of what is in no block */
	uint32_t	nblocks;		/* of its own, ever made */
	CsvBatchMessage reply;
} CsvOutlet;

/* takes the socket; `finder` points to the outlet, which must not move */
extern void csv_outlet_init(CsvOutlet *outlet, CsvDevice *device, int socket,
							bool may_fall_back);
extern void csv_outlet_free(CsvOutlet *outlet);

/* a block for the outlet's own use; NULL: there is no memory */
extern CsvOwnBlock *csv_outlet_make_block(CsvOutlet *outlet, size_t nbytes);
extern void csv_outlet_free_block(CsvOwnBlock *own);

/* the message to come speaks of no block so far; now of this one, too */
extern void csv_outlet_begin(CsvOutlet *outlet);
extern bool csv_outlet_use(CsvOutlet *outlet, const CsvDeviceBlock *block);

/*
 * Send a message, with the blocks that it speaks of; or outlet->reply, of which
 * nbytes follow its head.  False: the session is gone, or there is no memory.
 */
extern bool csv_outlet_send(CsvOutlet *outlet, const void *message,
							size_t nbytes);
extern bool csv_outlet_send_reply(CsvOutlet *outlet, uint32_t kind,
								  size_t nbytes);
extern bool csv_outlet_send_failure(CsvOutlet *outlet, CsvFailure failure,
									int error, const char *reason);

/* 0: the session has closed the socket, or sends what is no message */
extern size_t csv_outlet_receive(CsvOutlet *outlet, CsvMessage *message,
								 CsvDescriptors *descriptors);

/* in any thread: has the session closed the socket? */
extern bool csv_outlet_is_left(void *outlet);

/* a request that a memory file has; NULL: it has none */
extern CsvWireRequest *csv_outlet_read_request(CsvOutlet *outlet, int file);

#endif							/* CSV_OUTLET_H */
