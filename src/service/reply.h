/*
 * reply.h
 *		The answer to a message of a client.
 */
#ifndef CSV_REPLY_H
#define CSV_REPLY_H

#include "wire/message.h"

typedef struct CsvServiceReply
{
	size_t		nbytes;			/* 0: there is none */
	CsvDescriptors descriptors;
	bool		close;			/* the descriptors are not the program's own: close
								 * them after sending */
	CsvMessage	message;		/* of the same kind; at first zeros */
} CsvServiceReply;

static inline bool
csv_reply_done(CsvServiceReply *reply, uint32_t count)
{
	reply->message.done.count = count;
	reply->nbytes = sizeof(CsvDoneMessage);
	return true;
}

static inline void
csv_reply_with_file(CsvServiceReply *reply, int file, bool close)
{
	reply->descriptors.n = 1;
	reply->descriptors.files[0] = file;
	reply->close = close;
}

#endif							/* CSV_REPLY_H */
