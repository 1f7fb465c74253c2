/*
 * ask.h
 *		Kept columns on GPUs, and their answers to queries.
 *
 * The columns that a query reads are copied to the device for the first query, and
 * stay there as long as nothing else needs the memory.  The device then decides for
 * all rows of a file at once which rows come back, and groups the others.  If there
 * are many rows, several devices are asked at once: then each has the columns of some
 * of the rows.
 */
#ifndef CSV_ASK_H
#define CSV_ASK_H

#include "wire/message.h"

/*
 * Start a thread that has devices answer a query over the columns in a memory file.
 * It owns the socket and the files then.  False: there is no memory, or no thread.
 */
extern bool csv_ask_start(const CsvAskMessage *message, int columns, int request,
						  int socket);

/* columns that are no longer kept; and does a device have any of them? */
extern void csv_devices_forget(uint64_t set);
extern bool csv_devices_have(uint64_t set);

#endif							/* CSV_ASK_H */
