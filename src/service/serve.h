/*
 * serve.h
 *		What clients ask, and what they are told.
 *
 * All of it is done at once, in one thread.  What a client holds (pins, room that
 * it was promised) is let go of with it.
 */
#ifndef CSV_SERVE_H
#define CSV_SERVE_H

#include "register.h"

typedef struct CsvService CsvService;
typedef struct CsvClient CsvClient;

/* NULL: no memory */
extern CsvService *csv_service_create(void);
extern void csv_service_free(CsvService *service);
extern void csv_service_set_limits(CsvService *service,
								   const CsvLimitsMessage *limits);

/* is there nothing that would be lost if the program ended? */
extern bool csv_service_is_empty(const CsvService *service);

/* has a client asked it to end? */
extern bool csv_service_is_retired(const CsvService *service);

extern CsvClient *csv_client_create(CsvService *service);
extern void csv_client_free(CsvClient *client);

typedef struct CsvServiceReply
{
	size_t		nbytes;			/* 0: there is none */
	CsvDescriptors descriptors;
	bool		close;			/* they are the client's now: close them here */
	CsvMessage	message;
} CsvServiceReply;

/*
 * Do what a message says, and make the reply.  It takes those of the descriptors
 * that are kept.  False: it is not as it should be, the client is to go.
 */
extern bool csv_client_handle(CsvClient *client, const CsvMessage *message,
							  size_t nbytes, CsvDescriptors *descriptors,
							  CsvServiceReply *reply);

#endif							/* CSV_SERVE_H */
