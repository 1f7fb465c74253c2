/*
 * answer.h
 *		Queries over kept columns that GPUs answer, for sessions.
 */
#ifndef CSV_ANSWER_H
#define CSV_ANSWER_H

#include "wire/message.h"

/*
 * Start a thread that answers a query over the columns in a memory file.  It owns the
 * socket and the files then.  False: there is no memory, or no thread.
 */
extern bool csv_answer_start(const CsvAskMessage *message, int columns,
							 int request, int socket);

#endif							/* CSV_ANSWER_H */
