/*
 * connection.h
 *		This session's connection with csv_gpu_service.
 *
 * There is one at most, made when it is first needed, and kept.  The program may
 * end at any time: then there is none, and a query does without what it would
 * have had from it.  An ERROR while an answer is waited for ends the connection.
 */
#ifndef CSV_CONNECTION_H
#define CSV_CONNECTION_H

#include "wire/message.h"

/*
 * Is there a connection?  Where there is none, one is made.  start: if the program
 * does not run, have it started, and wait for it; where that fails, there is a
 * WARNING, once in a session.  May be interrupted.
 */
extern bool csv_service_connect(bool start);

/* may this process have the files open that a connection and a scan take? */
extern bool csv_service_has_descriptors(void);

/*
 * The number of this connection, another one each time: what the program has
 * promised on one does not hold on another.  0: there is none.
 */
extern uint64 csv_service_connection(void);

/* was the connected program built with CUDA? */
extern bool csv_service_has_cuda(void);

/*
 * Ask, and wait for the answer, which is of the same kind and comes at once.  Descriptors that come
 * with it are the caller's; NULL: none are expected.  False: there is no program
 * (any more).  May be interrupted.
 */
extern bool csv_service_ask(const void *message, size_t nbytes,
							const CsvDescriptors *with, CsvMessage *answer,
							CsvDescriptors *came);

/* say something to which there is no answer; raises no ERROR */
extern void csv_service_tell(const void *message, size_t nbytes);

#endif							/* CSV_CONNECTION_H */
