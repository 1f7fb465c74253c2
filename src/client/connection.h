/*
 * connection.h
 *		This session's connection to csv_gpu_service.
 *
 * A session has at most one connection, made when it first needs it, and kept.  The
 * program may end at any time.  Then there is no connection, and a query runs without
 * the program.  An ERROR during the wait for an answer ends the connection.
 */
#ifndef CSV_CONNECTION_H
#define CSV_CONNECTION_H

#include "wire/message.h"

/*
 * Is there a connection?  Makes one if necessary.  start: if the program does not run,
 * have it started, and wait for it.  If this fails, raises a WARNING, once per
 * session.  May be interrupted.
 */
extern bool csv_service_connect(bool start);

/* may this process open the files that a connection and a scan need? */
extern bool csv_service_has_descriptors(void);

/*
 * The number of this connection; each connection has a new number, as the program's
 * promises hold for one connection only.  0: there is none.
 */
extern uint64 csv_service_connection(void);

/* was the connected program built with CUDA? */
extern bool csv_service_has_cuda(void);

/* waits a short time, or until this process's latch is set; may be interrupted */
extern void csv_service_pause(long milliseconds, uint32 wait_event);

/*
 * Ask, and wait for the answer, which has the same kind, and comes at once.  The
 * caller owns the descriptors that come with it; NULL: none are expected.  False: the
 * program does not run (any more).  May be interrupted.
 */
extern bool csv_service_ask(const void *message, size_t nbytes,
							const CsvDescriptors *with, CsvMessage *answer,
							CsvDescriptors *came);

/* send a message that has no answer; raises no ERROR */
extern void csv_service_tell(const void *message, size_t nbytes);

#endif							/* CSV_CONNECTION_H */
