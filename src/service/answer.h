/*
 * answer.h
 *		Queries over kept columns that a GPU answers, for sessions.
 */
#ifndef CSV_ANSWER_H
#define CSV_ANSWER_H

#include "device.h"

/*
 * Start a thread that answers one, for a set of columns by its number, which are in
 * a memory file.  Socket and file are its own then.  False: there is no memory, or no
 * thread.
 */
extern bool csv_answer_start(CsvDevice *device, uint64_t set, int columns,
							 int request, int socket);

#endif							/* CSV_ANSWER_H */
