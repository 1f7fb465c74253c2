/*
 * gpu_scan.h
 *		Scans on a GPU, for sessions.
 *
 * Each scan has a thread, and a socket to its session.  The scan chooses its device
 * anew for each file, until it has groups that must stay on a device.  The thread
 * reads the file, or bytes that the session writes to shared memory, and sends
 * batches.  The batches stay where the engine has left them: in blocks of memory that
 * the session maps, too.  The scan ends when the session closes the socket.
 */
#ifndef CSV_GPU_SCAN_H
#define CSV_GPU_SCAN_H

#include "wire/message.h"

/* start a scan, which owns the socket then; false: there is no memory, or no thread */
extern bool csv_scan_start(const CsvScanMessage *message, int socket);

/* the number of scans */
extern int	csv_scan_count(void);

#endif							/* CSV_GPU_SCAN_H */
