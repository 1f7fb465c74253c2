/*
 * device_copy.h
 *		Copies of resident columns on a GPU, for those who keep them: NULL as long
 *		as there is none.
 */
#ifndef CSV_DEVICE_COPY_H
#define CSV_DEVICE_COPY_H

/* is something on the device? */
extern bool csv_device_copy_exists(const void *copy);

/* by which columns it knows groups, as csv_cuda_columns_grouping() */
extern int	csv_device_copy_grouping(const void *copy, int number,
									 uint32_t *places);
extern void csv_device_copy_free(void *copy);

#endif							/* CSV_DEVICE_COPY_H */
