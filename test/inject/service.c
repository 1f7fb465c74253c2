/*
 * service.c
 *		In the program: each session's scans have what that has injected.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* struct ucred */
#endif
#include <stdio.h>
#include <sys/socket.h>

#include "../../src/service/outlet.h"
#include "inject.h"

extern void __real_csv_outlet_init(CsvOutlet *outlet, CsvDevice *device,
								   int socket, bool may_fall_back);
extern void __wrap_csv_outlet_init(CsvOutlet *outlet, CsvDevice *device,
								   int socket, bool may_fall_back);

/* the pair of sockets is of who made it */
void
__wrap_csv_outlet_init(CsvOutlet *outlet, CsvDevice *device, int socket,
					   bool may_fall_back)
{
	CsvInjected injected = {0, 0};
	struct ucred session = {0, 0, 0};
	socklen_t	size = sizeof(session);
	char		path[64];
	FILE	   *file;

	__real_csv_outlet_init(outlet, device, socket, may_fall_back);
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
