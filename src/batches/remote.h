/*
 * remote.h
 *		An engine for readers: a GPU, which csv_gpu_service has.
 *
 * csv_gpu_service reads regular files by itself (service/gpu_scan.c).  Bytes of a
 * stream, such as a program's output, go to memory that both processes map.  What
 * a batch points to is in such memory, too.
 */
#ifndef CSV_REMOTE_H
#define CSV_REMOTE_H

#include "table/source.h"

/* the state of csv_remote_engine */
typedef struct CsvRemote CsvRemote;

/*
 * Waits for csv_gpu_service may be interrupted by an ERROR; the state is useless
 * afterwards.  Once a call has returned CSV_DEVICE_FAILED, each call does.
 */
extern const CsvEngine csv_remote_engine;

/*
 * Opens the engine, in the current memory context; the deletion of the context also
 * closes it.  Returns NULL if no device is awake or, with the engine 'cuda', will be.
 */
extern CsvRemote *csv_remote_open(const CsvTable *table);

/*
 * The reader goes on with a GPU, from its place in the source's open file; held groups
 * stay.  is_shared: other processes read other parts of the file.
 */
extern CsvStatus csv_remote_use(CsvRemote *remote, CsvReader *reader,
								CsvSource *source, bool is_shared, bool grows);

#endif							/* CSV_REMOTE_H */
