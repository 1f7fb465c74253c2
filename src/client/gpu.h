/*
 * gpu.h
 *		What there is to know of the GPUs, which csv_gpu_service owns.
 */
#ifndef CSV_GPU_H
#define CSV_GPU_H

#include "wire/message.h"

/*
 * A device, by its number (or the one that is most awake, for CSV_ANY_DEVICE); its
 * name, where there is one.  As long as no program runs, it is asleep if the machine's
 * driver knows it.  Starts none.
 */
extern CsvDeviceState csv_gpu_state(int device,
									char name[CSV_DEVICE_NAME_BYTES]);

/* Returns true if csv_gpu_service runs and has looked for this device in vain. */
extern bool csv_gpu_is_missing(int device);

/* does the machine's driver know one, or does a program run that may? */
extern bool csv_gpu_may_be(void);

/* have it start, and the program, if need be; nobody waits */
extern void csv_gpu_wake(int device);

#endif							/* CSV_GPU_H */
