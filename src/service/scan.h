/*
 * scan.h
 *		Scans on a GPU, for sessions.
 *
 * Each has a thread, and a socket of its own, at whose other end the session is.  With
 * a file comes the choice of the device, which holds until something of it (groups)
 * has to stay there.  It
 * reads the file, or what the session writes to memory that both have, and hands out
 * batches where the engine has left them: in blocks of memory that the session
 * maps, too.  It ends when the session closes the socket.
 */
#ifndef CSV_SCAN_THREAD_H
#define CSV_SCAN_THREAD_H

#include "wire/message.h"

/* start one, whose the socket is then; false: there is no memory, or no thread */
extern bool csv_scan_start(const CsvScanMessage *message, int socket);

/* how many there are */
extern int	csv_scan_count(void);

#endif							/* CSV_SCAN_THREAD_H */
