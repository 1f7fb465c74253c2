/*
 * gpu.c
 *		Asks for the state of a GPU.
 */
#include "postgres.h"

#include "storage/fd.h"
#include "utils/timestamp.h"

#include "client/connection.h"
#include "client/gpu.h"
#include "client/worker.h"

/* a directory for each device, and the device's model in a file there */
#define CSV_DRIVER_GPUS		"/proc/driver/nvidia/gpus"
#define CSV_DRIVER_MODEL	"Model:"

/* the least time between two starts of the program */
#define CSV_START_AGAIN_MILLISECONDS	10000

/* the driver's name for the device, or for the first device; false: there is none */
static bool
read_model(int device, char *name)
{
	DIR		   *directory = AllocateDir(CSV_DRIVER_GPUS);
	struct dirent *entry;
	char		path[MAXPGPATH] = "";
	char		line[256];
	FILE	   *file;

	if (device == CSV_ANY_DEVICE)
		device = 0;
	name[0] = '\0';
	while (directory != NULL &&
		   (entry = ReadDirExtended(directory, CSV_DRIVER_GPUS, LOG)) != NULL)
		if (entry->d_name[0] != '.' && device-- == 0)
			snprintf(path, sizeof(path), "%s/%s/information", CSV_DRIVER_GPUS,
					 entry->d_name);
	if (directory != NULL)
		FreeDir(directory);
	if (path[0] == '\0')
		return false;
	file = AllocateFile(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, CSV_DRIVER_MODEL, strlen(CSV_DRIVER_MODEL)) == 0)
		{
			const char *model = line + strlen(CSV_DRIVER_MODEL);

			model += strspn(model, " \t");
			strlcpy(name, model, Min(strcspn(model, "\n") + 1,
									 CSV_DEVICE_NAME_BYTES));
		}
	if (file != NULL)
		FreeFile(file);
	return true;
}

static bool
ask(int device, bool wake, CsvDeviceMessage *told)
{
	CsvDeviceMessage message;
	CsvMessage	answer;

	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_DEVICE;
	message.device = device;
	message.wake = wake;
	if (!csv_service_connect(false) ||
		!csv_service_ask(&message, sizeof(message), NULL, &answer, NULL))
		return false;
	*told = answer.device;
	told->name[CSV_DEVICE_NAME_BYTES - 1] = '\0';
	return true;
}

CsvDeviceState
csv_gpu_state(int device, char *name)
{
	char		ignored[CSV_DEVICE_NAME_BYTES];
	CsvDeviceMessage told;

	if (name == NULL)
		name = ignored;
	if (ask(device, false, &told))
	{
		strlcpy(name, told.name, CSV_DEVICE_NAME_BYTES);

		/* the program is still searching */
		if (told.state == CSV_DEVICE_STARTING && name[0] == '\0')
			(void) read_model(device, name);
		return told.state <= CSV_DEVICE_AWAKE ? told.state : CSV_DEVICE_NONE;
	}
	return read_model(device, name) ? CSV_DEVICE_ASLEEP : CSV_DEVICE_NONE;
}

bool
csv_gpu_is_missing(int device)
{
	CsvDeviceMessage told;

	return ask(device, false, &told) && told.state == CSV_DEVICE_NONE;
}

void
csv_gpu_wake(int device)
{
	static TimestampTz started = 0;
	TimestampTz now = GetCurrentTimestamp();
	CsvDeviceMessage told;

	if (ask(device, true, &told) || csv_worker_exists() ||
		!TimestampDifferenceExceeds(started, now, CSV_START_AGAIN_MILLISECONDS))
		return;
	started = now;
	(void) csv_worker_start();
}
