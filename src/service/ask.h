/*
 * ask.h
 *		Kept columns on a GPU, and what it says of their rows.
 *
 * The columns that a query reads are copied to the device the first time, and stay
 * there as long as nothing else needs the memory.  The device then says of all rows
 * of a file at once which of them come out, and what the groups of the others are.
 */
#ifndef CSV_ASK_H
#define CSV_ASK_H

#include "device.h"
#include "query/query.h"
#include "wire/store.h"

/* what is asked */
typedef struct CsvColumnsQuestion
{
	uint64_t	set;			/* number of the columns */
	CsvStore   *store;
	const CsvRequest *request;
	const CsvLayout *layout;
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvColumnsQuestion;

/* the answer about rows from first_row on; one follows the other */
typedef struct CsvColumnsAnswer
{
	uint32_t	first_row;
	uint32_t	nrows;
	CsvAnswer  *answer;			/* in blocks of the device */
	struct CsvColumnsAnswer *next;
} CsvColumnsAnswer;

/*
 * Ask.  CSV_OK with no answers: the question is not one for it, or there is no
 * memory for the columns.  Else CSV_INTERRUPTED, or CSV_DEVICE_FAILED with a message
 * in `reason`.
 */
extern CsvStatus csv_device_ask(CsvDevice *device,
								 const CsvColumnsQuestion *question,
								 CsvColumnsAnswer **answers, char *reason,
								 size_t reason_size);
extern void csv_answers_free(CsvDevice *device, CsvColumnsAnswer *answers);

/* columns that are not kept any more; and are there any of these on a device? */
extern void csv_device_forget(uint64_t set);
extern bool csv_device_has(uint64_t set);

#endif							/* CSV_ASK_H */
