/*
 * choose.c
 *		csv_gpu_service, as tests install it: another program takes its place that has
 *		a stand-in for the GPU (stand_in.c), where the environment says so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAND_IN	"csv_gpu_stand_in"

static __attribute__((constructor)) void
choose(void)
{
	char		path[4096];
	ssize_t		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char	   *name;

	if (getenv("CSV_GPU_FDW_STAND_IN") == NULL || n <= 0)
		return;
	path[n] = '\0';
	name = strrchr(path, '/') + 1;
	if ((size_t) (path + sizeof(path) - name) <= strlen(STAND_IN))
		return;
	strcpy(name, STAND_IN);
	execl(path, "csv_gpu_service", (char *) NULL);
}
