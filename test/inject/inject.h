/*
 * inject.h
 *		What tests do to the extension, and to the program that sessions share, from
 *		outside.
 *
 * The linker puts these functions in front of the project's own ones, of the
 * server's and of CUDA's (--wrap), in files that only tests install (test.mk).  What
 * ships has nothing of it.
 *
 * A session's settings are for the engines that are opened for it, in the program.
 * They get there by a file below the data directory, which both stand in.
 */
#ifndef CSV_INJECT_H
#define CSV_INJECT_H

#include "../../src/reader/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* of engines that are opened from now on */
typedef struct CsvInjected
{
	int			gpu_fault;		/* the call of parse in which the GPU fails, from
								 * 1: a kernel traps, which ends the session for
								 * good.  Negative: device memory runs out.  0:
								 * none */
	int			gpu_groups;		/* CsvCudaOptions.hold_from */
} CsvInjected;

/* of all engines of a process; in the program, each session has its own */
extern CsvInjected csv_injected;

/* of the session with this process id: printf-like, below the data directory */
#define CSV_INJECTED_FILE	"pg_stat_tmp/csv_gpu_test.%d"

/* the number of a device that breaks as it starts; likewise */
#define CSV_BROKEN_FILE		"pg_stat_tmp/csv_gpu_test.broken"

/* devices are looked for as long as this file is there */
#define CSV_LOOKING_FILE	"pg_stat_tmp/csv_gpu_test.looking"

/* faults.c: what is injected into an engine that is opened with this memory */
extern CsvInjected csv_faults_find(const CsvMemory *memory);

/* the same, from now on until the socket's owner has others; service.c sees to it */
extern void csv_faults_set(const CsvMemory *memory, const CsvInjected *injected);

/* an engine is open; does its call of parse that begins now fail?  It is closed. */
extern void csv_faults_open(const void *engine, int gpu_fault);
extern int	csv_faults_now(const void *engine);
extern void csv_faults_close(const void *engine);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_INJECT_H */
