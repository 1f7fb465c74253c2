/*
 * channel.h
 *		A socket over which a session talks with csv_gpu_service.
 *
 * Waited for with the session's latch: a query can be cancelled meanwhile, and the
 * session ends with the server.
 */
#ifndef CSV_CHANNEL_H
#define CSV_CHANNEL_H

#include "wire/message.h"

typedef struct CsvChannel CsvChannel;

/*
 * For a socket that does not block, in the current memory context.  The socket is
 * the channel's, also where this raises an ERROR.
 */
extern CsvChannel *csv_channel_create(int socket);

/* raises no ERROR */
extern void csv_channel_free(CsvChannel *channel);

/* may be interrupted; false: there is nobody at the other end any more */
extern bool csv_channel_send(CsvChannel *channel, const void *message,
							 size_t nbytes, const CsvDescriptors *descriptors);

/*
 * Likewise; returns the message's bytes, 0 instead of false.  milliseconds: that it
 * waits at most, about, which is 0 with errno ETIMEDOUT; -1: as long as it takes.
 * It is 0 with errno EMFILE where this process has too many files open for the message's.
 */
extern size_t csv_channel_receive(CsvChannel *channel, void *message,
								  size_t room, CsvDescriptors *descriptors,
								  long milliseconds);

/* neither waits nor raises an ERROR; false: it could not be sent */
extern bool csv_channel_tell(CsvChannel *channel, const void *message,
							 size_t nbytes);

/* is there nothing to be received, and somebody at the other end? */
extern bool csv_channel_is_quiet(const CsvChannel *channel);

#endif							/* CSV_CHANNEL_H */
