/*
 * files.h
 *		Copies the bytes of files to a device's memory, and keeps them for all scans.
 *
 * The host is the bottleneck: 16 cores copy 35 GB/s from the page cache, and the bus
 * takes 55 GB/s, while the device reads 1000 GB/s.  So a file is copied to the device
 * once, and stays there as long as there is room.  Scans at the same time share the
 * copy, and later scans find it.
 *
 * A file that has just changed, or may change unnoticed, does not stay, and of a file for
 * which there is too little room only its first bytes do.  A window slides over the
 * other bytes, for one scan.  As with kept columns, a copy is valid as long as the file's
 * device, inode, size and times are the same.
 */
#ifndef CSV_FILES_H
#define CSV_FILES_H

#include "device.h"
#include "reader/reader.h"

typedef struct CsvDeviceFile CsvDeviceFile;

/*
 * The bytes of an open file, for a scan, whose engine on the device reads them from
 * an offset up to file_bytes; threads read them from the descriptor.  grows: bytes are
 * only appended to the file.  NULL: the file is small, or there is no room.
 */
extern CsvDeviceFile *csv_device_file_open(CsvDevice *device, void *engine,
										   int descriptor, uint64_t from,
										   uint64_t file_bytes, bool grows);
extern void csv_device_file_close(CsvDeviceFile *file, void *engine);

/* devices that have the file's bytes, or had them for an earlier scan */
extern uint64_t csv_devices_with_file(int descriptor);

/* does the whole file stay, or do bytes of it pass through a window? */
extern bool csv_device_file_stays(const CsvDeviceFile *file);

/*
 * As CsvOwnBytes.await(); calls `interrupted` now and then.  Bytes before the offset may
 * go, if they do not stay.  Meanwhile threads copy the bytes that come next;
 * in_order: the scan will want these.  If no bytes come: CSV_DEVICE_FAILED with errno
 * ETIMEDOUT; if a record is longer than the memory for it: with errno ENOMEM.
 */
extern CsvStatus csv_device_file_await(CsvDeviceFile *file, uint64_t offset,
									   uint64_t *nbytes, bool *at_end,
									   bool in_order,
									   bool (*interrupted) (void *arg),
									   void *arg);

/* read to the host; fewer bytes only where the file ends; -1 with errno */
extern ssize_t csv_read_at(int file, uint64_t offset, uint8_t *bytes,
						   size_t nbytes);

#endif							/* CSV_FILES_H */
