/*
 * gpus.h
 *		The part of the program that uses GPUs, as the rest of the program sees it.
 *
 * A build without CUDA does not have this part: csv_gpus is NULL.
 */
#ifndef CSV_GPUS_H
#define CSV_GPUS_H

#include "reply.h"

typedef struct CsvGpus
{
	/*
	 * As csv_client_handle(), for the messages DEVICE, DEVICES, ASK and SCAN.
	 * columns: for ASK, the memory file of the set; it is duplicated.
	 */
	bool		(*handle) (const CsvMessage *message, int columns,
						   CsvDescriptors *descriptors, CsvServiceReply *reply);
	void		(*set_limits) (const CsvLimitsMessage *limits);

	/* of the devices that were found, `most` at most; returns their number */
	int			(*statistics) (CsvStatistics *statistics, int most);

	/* the number of scans that are under way */
	int			(*count_scans) (void);

	/* has a device failed so that only another process can use it? */
	bool		(*any_is_lost) (void);

	/* columns that are no longer kept; and does a device have any of them? */
	void		(*forget) (uint64_t set);
	bool		(*have) (uint64_t set);
} CsvGpus;

#ifdef CSV_WITH_CUDA
extern const CsvGpus csv_all_gpus;
static const CsvGpus *const csv_gpus = &csv_all_gpus;
#else
static const CsvGpus *const csv_gpus = NULL;
#endif

#endif							/* CSV_GPUS_H */
