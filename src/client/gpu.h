/*
 * gpu.h
 *		The state of the GPUs, which csv_gpu_service owns.
 */
#ifndef CSV_GPU_H
#define CSV_GPU_H

#include "wire/message.h"

/*
 * The state of a device; for CSV_ANY_DEVICE, of the device that is most awake.  If the
 * program does not run, the device is asleep if the driver knows it.  Sets the name, of
 * CSV_DEVICE_NAME_BYTES bytes, unless it is NULL.  Starts nothing.
 */
extern CsvDeviceState csv_gpu_state(int device, char *name);

/* true: csv_gpu_service runs, and has found no such device */
extern bool csv_gpu_is_missing(int device);

/* start the device, and the program, if necessary; does not wait */
extern void csv_gpu_wake(int device);

#endif							/* CSV_GPU_H */
