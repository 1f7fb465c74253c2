/*
 * device_copy.c
 *		Copies of resident columns on a GPU.
 */
#include "postgres.h"

#include "batches/device_copy.h"

#ifdef CSV_WITH_CUDA

#include "../../cuda/csv_cuda.h"

bool
csv_device_copy_exists(const void *copy)
{
	return copy != NULL && csv_cuda_columns_bytes(copy) > 0;
}

int
csv_device_copy_grouping(const void *copy, int number, uint32_t *places)
{
	return copy == NULL ? 0 :
		(int) csv_cuda_columns_grouping(copy, (uint32_t) number, places);
}

void
csv_device_copy_free(void *copy)
{
	if (copy != NULL)
		csv_cuda_columns_free(copy);
}

#else							/* there is none */

bool
csv_device_copy_exists(const void *copy)
{
	return false;
}

int
csv_device_copy_grouping(const void *copy, int number, uint32_t *places)
{
	return 0;
}

void
csv_device_copy_free(void *copy)
{
}

#endif
