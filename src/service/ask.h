/*
 * ask.h
 *		Kept columns on GPUs, and what these say of their rows.
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
	int32_t		device;			/* or CSV_ANY_DEVICE */
	bool		may_wait;		/* for it */
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
	CsvDevice  *device;			/* whose blocks it is in */
	uint32_t	first_row;
	uint32_t	nrows;
	CsvAnswer  *answer;
	struct CsvColumnsAnswer *next;
} CsvColumnsAnswer;

/*
 * Ask a device, or, if there are many rows, several at once: each has the columns of
 * some of the rows then.  CSV_OK with no answers: the question is not one for a device,
 * or there is no memory for the columns.  Else CSV_INTERRUPTED, or CSV_DEVICE_FAILED
 * with a message in `reason`.  *device: one that was asked; NULL: none.
 */
extern CsvStatus csv_devices_ask(const CsvColumnsQuestion *question,
								 CsvColumnsAnswer **answers, CsvDevice **device,
								 char *reason, size_t reason_size);
extern void csv_answers_free(CsvColumnsAnswer *answers);

/* a device is asked for no fewer rows, where there are several */
extern uint64_t csv_least_device_rows;

/* columns that are not kept any more; and are there any of these on one? */
extern void csv_devices_forget(uint64_t set);
extern bool csv_devices_have(uint64_t set);

#endif							/* CSV_ASK_H */
