/*
 * ask.h
 *		Kept columns on GPUs, and their answers to queries.
 *
 * The columns that a query reads are copied to the device for the first query, and
 * stay there as long as nothing else needs the memory.  The device then decides for
 * all rows of a file at once which rows come back, and groups the others.
 */
#ifndef CSV_ASK_H
#define CSV_ASK_H

#include "device.h"
#include "query/query.h"
#include "wire/store.h"

/* a query over kept columns */
typedef struct CsvColumnsQuestion
{
	int32_t		device;			/* or CSV_ANY_DEVICE */
	bool		may_wait;		/* for the device to start */
	uint64_t	set;			/* the columns' number */
	CsvStore   *store;
	const CsvRequest *request;
	const CsvLayout *layout;
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvColumnsQuestion;

/* The answer for nrows rows from first_row on.  The answers follow each other. */
typedef struct CsvColumnsAnswer
{
	CsvDevice  *device;			/* whose blocks have the answer */
	uint32_t	first_row;
	uint32_t	nrows;
	CsvAnswer  *answer;
	struct CsvColumnsAnswer *next;
} CsvColumnsAnswer;

/*
 * Ask a device, or, if there are many rows, several devices at once: then each has the
 * columns of some of the rows.  CSV_OK without answers: devices cannot answer the
 * question, or there is no memory for the columns.  Otherwise CSV_INTERRUPTED, or
 * CSV_DEVICE_FAILED with a message in `reason`.  *device: a device that was asked;
 * NULL: none was.
 */
extern CsvStatus csv_devices_ask(const CsvColumnsQuestion *question,
								 CsvColumnsAnswer **answers, CsvDevice **device,
								 char *reason, size_t reason_size);
extern void csv_answers_free(CsvColumnsAnswer *answers);

/* with several devices, each is asked for at least this many rows */
extern uint64_t csv_least_device_rows;

/* columns that are no longer kept; and does a device have any of them? */
extern void csv_devices_forget(uint64_t set);
extern bool csv_devices_have(uint64_t set);

#endif							/* CSV_ASK_H */
