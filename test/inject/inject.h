/*
 * inject.h
 *		What tests do to the extension from outside.
 *
 * The linker puts these functions in front of the extension's own ones, of the
 * server's and of CUDA's (--wrap), in a library that only tests install
 * (INJECT_WRAPS in test.mk).  What ships has nothing of it.
 */
#ifndef CSV_INJECT_H
#define CSV_INJECT_H

#include <stdint.h>

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

extern CsvInjected csv_injected;

#ifdef __cplusplus
}
#endif

#endif							/* CSV_INJECT_H */
