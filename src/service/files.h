/*
 * files.h
 *		Has the bytes of files in a device's memory, once for all scans.
 *
 * The narrow place is the host: 16 cores copy 35 GB/s out of the page cache, and the
 * wire takes 55, where the device reads a thousand.  So a file is copied to the device
 * once, and stays there as long as there is room: scans that come at the same time
 * share the copy, and those that come later find it.
 *
 * A file that is about to change, or has just changed, is none of these: what is
 * there is good as long as device, inode, size and times are the same, as with kept
 * columns.
 */
#ifndef CSV_FILES_H
#define CSV_FILES_H

#include "device.h"
#include "reader/reader.h"

typedef struct CsvDeviceFile CsvDeviceFile;

/*
 * For a scan: the bytes of an open file, which are read from the descriptor, by so
 * many threads at once.  The device has started.  NULL: it is none of these, or there
 * is no room.
 */
extern CsvDeviceFile *csv_device_file_open(CsvDevice *device, int descriptor,
										   uint32_t nthreads);
extern void csv_device_file_close(CsvDeviceFile *file);

/* devices on which a scan has had the file's bytes, which may have gone */
extern uint64_t csv_devices_with_file(int descriptor);

/* have an engine on the device read them; NULL: no longer */
extern void csv_device_file_use(const CsvDeviceFile *file, void *engine);

/* the file's size; less if fewer bytes could be read */
extern uint64_t csv_device_file_bytes(CsvDeviceFile *file);

/* so many seconds does a scan wait where no bytes come */
extern double csv_device_patience;

/*
 * As CsvOwnBytes.await(); interrupted: asked now and then.  What comes next is read
 * meanwhile.  Where no bytes come, CSV_DEVICE_FAILED with errno ETIMEDOUT.
 */
extern CsvStatus csv_device_file_await(CsvDeviceFile *file, uint64_t offset,
									   uint64_t *nbytes, bool *at_end,
									   bool (*interrupted) (void *arg),
									   void *arg);

#endif							/* CSV_FILES_H */
