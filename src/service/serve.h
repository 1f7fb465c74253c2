/*
 * serve.h
 *		Answers the messages of clients.
 *
 * One thread handles all messages, each immediately.  A client's pins and promised
 * room end with the client.
 */
#ifndef CSV_SERVE_H
#define CSV_SERVE_H

#include "sets.h"
#include "reply.h"

typedef struct CsvClient CsvClient;

/* the program begins */
extern void csv_service_begin(void);
extern void csv_service_set_limits(const CsvLimitsMessage *message);

/* would nothing be lost if the program ended? */
extern bool csv_service_is_empty(void);

/* has a client asked the program to end, and are all scans over? */
extern bool csv_service_is_retired(void);

/* NULL: no memory */
extern CsvClient *csv_client_create(void);
extern void csv_client_free(CsvClient *client);

/*
 * Do what a message says, and make the reply.  Takes the descriptors that are kept out
 * of `descriptors`.  False: the message is not valid, and the client must go.
 */
extern bool csv_client_handle(CsvClient *client, const CsvMessage *message,
							  size_t nbytes, CsvDescriptors *descriptors,
							  CsvServiceReply *reply);

#endif							/* CSV_SERVE_H */
