/*
 * gpus.c
 *		Answers messages about GPUs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "ask.h"
#include "device.h"
#include "gpu_scan.h"
#include "gpus.h"
#include "wire/store.h"

/* is a device awake, or may the session wait for it?  Wakes the others. */
static bool
is_ready(int32_t number, bool may_wait)
{
	const char *name;
	CsvDeviceState state = csv_devices_state(number, &name);

	if (state == CSV_DEVICE_NONE)
		return false;
	csv_devices_wake(number);
	return may_wait || state == CSV_DEVICE_AWAKE;
}

static bool
handle_device(const CsvDeviceMessage *device, CsvServiceReply *reply)
{
	CsvDeviceMessage *answer = &reply->message.device;
	const char *name;

	answer->device = device->device;
	answer->state = csv_devices_state(device->device, &name);
	snprintf(answer->name, sizeof(answer->name), "%s", name);
	reply->nbytes = sizeof(*answer);
	if (device->wake && answer->state != CSV_DEVICE_AWAKE)
		csv_devices_count_starting(device->device);
	if (device->wake)
		csv_devices_wake(device->device);
	return true;
}

static bool
handle_devices(CsvServiceReply *reply)
{
	CsvListedMessage *answer = &reply->message.listed;
	CsvDeviceEntry entries[CSV_MOST_DEVICES];
	int			n = csv_device_list(entries, CSV_MOST_DEVICES);
	size_t		size = n < 0 ? 0 : sizeof(CsvDeviceEntry) * (size_t) n;
	int			file = csv_memory_file_create("csv_gpu_fdw devices");

	if (file < 0)
		return false;
	csv_reply_with_file(reply, file, true);
	if (write(file, entries, size) != (ssize_t) size ||
		!csv_memory_file_seal(file, true))
		return false;
	answer->nentries = n < 0 ? CSV_LATER : (uint32_t) n;
	reply->nbytes = sizeof(*answer);
	return true;
}

static bool
handle_ask(const CsvAskMessage *ask, int columns, CsvDescriptors *descriptors,
		   CsvServiceReply *reply)
{
	bool		started = false;

	if (is_ready(ask->device, ask->must_wait) &&
		(columns = fcntl(columns, F_DUPFD_CLOEXEC, 0)) >= 0)
	{
		started = csv_ask_start(ask, columns, descriptors->files[1],
								descriptors->files[0]);
		if (started)
			descriptors->n = 0;
		else
			close(columns);
	}
	return csv_reply_done(reply, started);
}

static bool
handle_scan(const CsvScanMessage *scan, CsvDescriptors *descriptors,
			CsvServiceReply *reply)
{
	bool		started = is_ready(scan->device, scan->must_wait) &&
		csv_scan_start(scan, descriptors->files[0]);

	if (started)
		descriptors->n = 0;
	return csv_reply_done(reply, started);
}

static bool
handle(const CsvMessage *message, int columns, CsvDescriptors *descriptors,
	   CsvServiceReply *reply)
{
	switch (message->kind)
	{
		case CSV_MESSAGE_DEVICE:
			return handle_device(&message->device, reply);
		case CSV_MESSAGE_DEVICES:
			return handle_devices(reply);
		case CSV_MESSAGE_ASK:
			return handle_ask(&message->ask, columns, descriptors, reply);
		default:
			return handle_scan(&message->scan, descriptors, reply);
	}
}

static void
set_limits(const CsvLimitsMessage *limits)
{
	csv_device_limit(limits->gpu_bytes);
	csv_device_choose(limits->device);
}

const CsvGpus csv_all_gpus = {
	.handle = handle,
	.set_limits = set_limits,
	.statistics = csv_device_statistics,
	.count_scans = csv_scan_count,
	.any_is_lost = csv_device_any_is_lost,
	.forget = csv_devices_forget,
	.have = csv_devices_have,
};
