/*
 * service.c
 *		In the program: each session's scans have what that has injected.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* struct ucred */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../src/service/outlet.h"
#include "inject.h"

extern void __real_csv_outlet_init(CsvOutlet *outlet, int socket,
								   bool may_fall_back);
extern void __wrap_csv_outlet_init(CsvOutlet *outlet, int socket,
								   bool may_fall_back);

/* a file of this name is on a file system that is gone */
#define HANGING_FILE	"/hang.csv"

extern double __wrap_csv_device_patience;
extern const uint64_t __wrap_csv_least_device_rows;
extern const uint32_t __wrap_csv_most_device_files;
extern uint64_t __wrap_csv_least_head_limit;

double		__wrap_csv_device_patience = 30;

/* so that all that is not tiny is asked of both devices */
const uint64_t __wrap_csv_least_device_rows = 100;

/* a session cannot scan 1024 files at once */
const uint32_t __wrap_csv_most_device_files = 64;

/* heads of files that are not large; a stand-in takes less memory than a GPU */
uint64_t	__wrap_csv_least_head_limit = UINT64_C(300) << 20;

static __attribute__((constructor)) void
set_least_head_limit(void)
{
	if (getenv("CSV_GPU_FDW_STAND_IN") != NULL)
		__wrap_csv_least_head_limit = UINT64_C(32) << 20;
}

extern ssize_t __real_pread(int file, void *bytes, size_t nbytes, off_t offset);
extern ssize_t __wrap_pread(int file, void *bytes, size_t nbytes, off_t offset);

ssize_t
__wrap_pread(int file, void *bytes, size_t nbytes, off_t offset)
{
	char		link[64];
	char		path[4096] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	if (readlink(link, path, sizeof(path) - 1) > 0 &&
		strlen(path) >= strlen(HANGING_FILE) &&
		strcmp(path + strlen(path) - strlen(HANGING_FILE), HANGING_FILE) == 0)
	{
		__wrap_csv_device_patience = 1;
		for (;;)
			pause();
	}
	return __real_pread(file, bytes, nbytes, offset);
}

/* the pair of sockets is of who made it */
void
__wrap_csv_outlet_init(CsvOutlet *outlet, int socket, bool may_fall_back)
{
	CsvInjected injected = {0, 0};
	struct ucred session = {0, 0, 0};
	socklen_t	size = sizeof(session);
	char		path[64];
	FILE	   *file;

	__real_csv_outlet_init(outlet, socket, may_fall_back);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &session, &size) != 0)
		return;
	snprintf(path, sizeof(path), CSV_INJECTED_FILE, (int) session.pid);
	file = fopen(path, "r");
	if (file != NULL)
	{
		if (fscanf(file, "%d %d", &injected.gpu_fault,
				   &injected.gpu_groups) != 2)
			injected.gpu_fault = 0;
		fclose(file);
	}
	csv_faults_set(&outlet->memory, &injected);
}
