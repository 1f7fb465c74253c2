/*
 * gpu.h
 *		The state of the GPUs, which csv_gpu_service owns.
 */
#ifndef CSV_GPU_H
#define CSV_GPU_H

#include "wire/message.h"

/*
 * The state and name of a device; for CSV_ANY_DEVICE, of the device that is most
 * awake.  If the program does not run, the device is asleep if the driver knows it.
 * Starts nothing.
 */
extern CsvDeviceState csv_gpu_state(int device,
									char name[CSV_DEVICE_NAME_BYTES]);

/* true: csv_gpu_service runs, and has found no such device */
extern bool csv_gpu_is_missing(int device);

/* does the driver have a device, or does a program run that may have one? */
extern bool csv_gpu_may_be(void);

/* start the device, and the program, if necessary; does not wait */
extern void csv_gpu_wake(int device);

#endif							/* CSV_GPU_H */
