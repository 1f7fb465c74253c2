/*
 * channel.h
 *		A socket between a session and csv_gpu_service.
 *
 * The session waits for it with its latch, so a query can be cancelled meanwhile, and
 * the session ends with the server.
 */
#ifndef CSV_CHANNEL_H
#define CSV_CHANNEL_H

#include "wire/message.h"

typedef struct CsvChannel CsvChannel;

/*
 * For a socket that does not block, in the current memory context.  Owns the socket,
 * even if this raises an ERROR.
 */
extern CsvChannel *csv_channel_create(int socket);

/* raises no ERROR */
extern void csv_channel_free(CsvChannel *channel);

/* may be interrupted; false: the other end is closed */
extern bool csv_channel_send(CsvChannel *channel, const void *message,
							 size_t nbytes, const CsvDescriptors *descriptors);

/*
 * Receive a message; may be interrupted.  Returns its bytes; 0: the other end is
 * closed.  It waits about `milliseconds` at most, then returns 0 with errno ETIMEDOUT;
 * -1: no limit.  It returns 0 with errno EMFILE if this process may not open the
 * message's files.
 */
extern size_t csv_channel_receive(CsvChannel *channel, void *message,
								  size_t room, CsvDescriptors *descriptors,
								  long milliseconds);

/* neither waits nor raises an ERROR; false: it could not be sent */
extern bool csv_channel_tell(CsvChannel *channel, const void *message,
							 size_t nbytes);

/* is the other end open, and is there nothing to receive? */
extern bool csv_channel_is_quiet(const CsvChannel *channel);

#endif							/* CSV_CHANNEL_H */
