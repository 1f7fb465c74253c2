/*
 * answer.h
 *		Queries over kept columns that a GPU answers, for sessions.
 */
#ifndef CSV_ANSWER_H
#define CSV_ANSWER_H

#include "wire/message.h"

/*
 * Start a thread that answers one, over columns in a memory file.  Socket and files
 * are its own then.  False: there is no memory, or no thread.
 */
extern bool csv_answer_start(const CsvAskMessage *message, int columns,
							 int request, int socket);

#endif							/* CSV_ANSWER_H */
