/*
 * devices.cu
 *		Lists GPUs, without creating a context.
 *
 * Names, sizes and capabilities come from the driver (cuInit and cuDeviceGet*, reached
 * through the runtime, so that libcuda is not linked).  Free memory comes from NVML,
 * if that can be opened.
 */
#include "session.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- NVML ---- */

typedef struct NvmlMemory
{
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
} NvmlMemory;

typedef struct Nvml
{
	void	   *library;
	int			(*init) (void);
	int			(*shutdown) (void);
	int			(*count) (unsigned int *);
	int			(*by_index) (unsigned int, void **);
	int			(*by_bus) (const char *, void **);
	int			(*index) (void *, unsigned int *);
	int			(*name) (void *, char *, unsigned int);
	int			(*memory) (void *, NvmlMemory *);
	int			(*capability) (void *, int *, int *);
} Nvml;

static void
nvml_close(Nvml *nvml)
{
	if (nvml->shutdown != NULL)
		nvml->shutdown();
	if (nvml->library != NULL)
		dlclose(nvml->library);
	memset(nvml, 0, sizeof(*nvml));
}

static bool
nvml_open(Nvml *nvml)
{
	struct
	{
		void	  **function;
		const char *name;
	}			wanted[] = {
		{(void **) &nvml->count, "nvmlDeviceGetCount_v2"},
		{(void **) &nvml->by_index, "nvmlDeviceGetHandleByIndex_v2"},
		{(void **) &nvml->by_bus, "nvmlDeviceGetHandleByPciBusId_v2"},
		{(void **) &nvml->index, "nvmlDeviceGetIndex"},
		{(void **) &nvml->name, "nvmlDeviceGetName"},
		{(void **) &nvml->memory, "nvmlDeviceGetMemoryInfo"},
		{(void **) &nvml->capability, "nvmlDeviceGetCudaComputeCapability"},
		{(void **) &nvml->init, "nvmlInit_v2"},
	};

	memset(nvml, 0, sizeof(*nvml));
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (nvml->library == NULL)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
	{
		*wanted[i].function = dlsym(nvml->library, wanted[i].name);
		if (*wanted[i].function == NULL)
		{
			nvml_close(nvml);
			return false;
		}
	}
	if (nvml->init() != 0)
	{
		nvml_close(nvml);
		return false;
	}
	*(void **) &nvml->shutdown = dlsym(nvml->library, "nvmlShutdown");
	return true;
}

/* ---- the driver ---- */

typedef struct Driver
{
	CUresult	(*init) (unsigned int);
	CUresult	(*version) (int *);
	CUresult	(*count) (int *);
	CUresult	(*get) (CUdevice *, int);
	CUresult	(*name) (char *, int, CUdevice);
	CUresult	(*memory) (size_t *, CUdevice);
	CUresult	(*attribute) (int *, CUdevice_attribute, CUdevice);
	CUresult	(*bus) (char *, int, CUdevice);
} Driver;

static bool
driver_open(Driver *driver)
{
	struct
	{
		void	  **function;
		const char *name;
	}			wanted[] = {
		{(void **) &driver->init, "cuInit"},
		{(void **) &driver->version, "cuDriverGetVersion"},
		{(void **) &driver->count, "cuDeviceGetCount"},
		{(void **) &driver->get, "cuDeviceGet"},
		{(void **) &driver->name, "cuDeviceGetName"},
		{(void **) &driver->memory, "cuDeviceTotalMem"},
		{(void **) &driver->attribute, "cuDeviceGetAttribute"},
		{(void **) &driver->bus, "cuDeviceGetPCIBusId"},
	};

	memset(driver, 0, sizeof(*driver));
	csv_driver_started = true;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
	{
		cudaDriverEntryPointQueryResult found;

		if (cudaGetDriverEntryPointByVersion(wanted[i].name,
											 wanted[i].function, 12000,
											 cudaEnableDefault,
											 &found) != cudaSuccess ||
			found != cudaDriverEntryPointSuccess)
		{
			cudaGetLastError();
			return false;
		}
	}
	return driver->init(0) == CUDA_SUCCESS;
}

static void
judge(const CsvSession *session, CsvCudaDevice *device, int driver_version)
{
	if (device->capability_major * 10 + device->capability_minor < 75)
		snprintf(device->reason, sizeof(device->reason),
				 "compute capability %d.%d is below 7.5",
				 device->capability_major, device->capability_minor);
	else if (driver_version > 0 && driver_version / 1000 < CUDART_VERSION / 1000)
		snprintf(device->reason, sizeof(device->reason),
				 "the driver supports CUDA %d.%d, %d.0 is needed",
				 driver_version / 1000, driver_version % 1000 / 10,
				 CUDART_VERSION / 1000);
	else if (session->dead)
		snprintf(device->reason, sizeof(device->reason), "%.120s",
				 session->reason);
	device->usable = device->reason[0] == '\0';
}

/* list devices that this process can no longer see through CUDA */
static int
list_by_nvml(const CsvSession *session, const Nvml *nvml, unsigned int skip,
			 CsvCudaDevice *devices, int max, int n)
{
	unsigned int count = 0;

	if (nvml->count(&count) != 0)
		return n;
	for (unsigned int i = 0; i < count; i++)
	{
		CsvCudaDevice device;
		NvmlMemory	memory;
		void	   *handle;

		memset(&device, 0, sizeof(device));
		if (i == skip || nvml->by_index(i, &handle) != 0 ||
			nvml->name(handle, device.name, sizeof(device.name)) != 0 ||
			nvml->memory(handle, &memory) != 0 ||
			nvml->capability(handle, &device.capability_major,
							 &device.capability_minor) != 0)
			continue;
		device.ordinal = (int) i;
		device.memory_total = memory.total;
		device.memory_free = (int64_t) memory.free;
		judge(session, &device, 0);
		if (n < max)
			devices[n] = device;
		n++;
	}
	return n;
}

static int
list_devices(const CsvSession *session, CsvCudaDevice *devices, int max)
{
	Driver		driver;
	Nvml		nvml;
	bool		has_nvml;
	int			count = 0;
	int			version = 0;
	int			n = 0;

	if (!driver_open(&driver) || driver.count(&count) != CUDA_SUCCESS)
		return 0;
	driver.version(&version);
	has_nvml = nvml_open(&nvml);
	for (int i = 0; i < count; i++)
	{
		CsvCudaDevice device;
		CUdevice	handle;
		NvmlMemory	memory;
		void	   *nvml_handle = NULL;
		size_t		total = 0;
		char		bus[32] = "";

		memset(&device, 0, sizeof(device));
		if (driver.get(&handle, i) != CUDA_SUCCESS)
			continue;
		device.ordinal = csv_driver_device >= 0 ? csv_driver_device : i;
		driver.name(device.name, sizeof(device.name), handle);
		driver.memory(&total, handle);
		device.memory_total = total;
		driver.attribute(&device.capability_major,
						 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle);
		driver.attribute(&device.capability_minor,
						 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle);
		device.memory_free = -1;
		if (has_nvml &&
			driver.bus(bus, sizeof(bus), handle) == CUDA_SUCCESS &&
			nvml.by_bus(bus, &nvml_handle) == 0 &&
			nvml.memory(nvml_handle, &memory) == 0)
			device.memory_free = (int64_t) memory.free;
		judge(session, &device, version);
		if (n < max)
			devices[n] = device;
		n++;

		/* other devices, if NVML numbers them as CUDA does */
		if (csv_driver_device >= 0 && nvml_handle != NULL)
		{
			unsigned int index;

			if (nvml.index(nvml_handle, &index) == 0 &&
				index == (unsigned int) csv_driver_device)
				n = list_by_nvml(session, &nvml, index, devices, max, n);
		}
	}
	if (has_nvml)
		nvml_close(&nvml);

	/* sort by number */
	for (int i = 1; i < n && i < max; i++)
		for (int j = i; j > 0 && devices[j].ordinal < devices[j - 1].ordinal; j--)
		{
			CsvCudaDevice swap = devices[j];

			devices[j] = devices[j - 1];
			devices[j - 1] = swap;
		}
	return n;
}

int
csv_cuda_list_devices(CsvSession *session, CsvCudaDevice *devices, int max)
{
	int			n;

	csv_cuda_settle(session);
	n = list_devices(session, devices, max);
	return n;
}

bool
csv_cuda_device_name(CsvSession *session, int device, char *name,
					 size_t name_size)
{
	Driver		driver;
	CUdevice	handle;
	bool		found = false;
	int			number;

	if (device < 0)
		return false;
	csv_cuda_settle(session);
	if (session->open && session->device == device)
	{
		snprintf(name, name_size, "%s", session->device_name);
		return true;
	}

	/*
	 * The caller is about to use this device, so let CUDA see only this device, unless
	 * it may not exist.
	 */
	number = device == 0 || csv_driver_device >= 0 ?
		csv_driver_narrow(device) : device;
	if (number >= 0 && driver_open(&driver) &&
		driver.get(&handle, number) == CUDA_SUCCESS)
		found = driver.name(name, (int) name_size, handle) == CUDA_SUCCESS;
	return found;
}
