/*
 * cuda_device.h
 *		For the unit tests of CUDA: is there a device, and engines on it.
 */
#ifndef CSV_TEST_CUDA_DEVICE_H
#define CSV_TEST_CUDA_DEVICE_H

#include "../../cuda/csv_cuda.h"
#include "reading.h"

static inline bool
have_device(void)
{
	static int	ndevices = -1;
	CsvCudaDevice device;

	if (ndevices < 0)
		ndevices = csv_cuda_list_devices(&device, 1);
	return ndevices > 0;
}

/* skip a test where there is none */
#define NEED_DEVICE() \
	do { \
		if (!have_device()) \
			skip(); \
	} while (0)

/* csv_cuda_engine.close() it */
static inline void *
open_cuda(CsvCudaOptions options)
{
	char		reason[256];
	void	   *cuda = csv_cuda_open(test_session(), &options, &csv_thread_memory,
									 reason, sizeof(reason));

	if (cuda == NULL)
		print_error("%s\n", reason);
	assert_non_null(cuda);
	return cuda;
}

#endif							/* CSV_TEST_CUDA_DEVICE_H */
