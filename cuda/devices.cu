/*
 * devices.cu
 *		Lists GPUs, without creating a context.
 *
 * Names, sizes and capabilities come from the driver (cuInit and cuDeviceGet*, reached
 * through the runtime, so that libcuda is not linked).  Free memory comes from NVML,
 * if that can be opened.
 */
#include "csv_cuda.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA sees only device 0 */
static bool is_narrowed;

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
judge(CsvCudaDevice *device, int driver_version)
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
	device->usable = device->reason[0] == '\0';
}

/* list the devices behind the first, which this process cannot see through CUDA */
static int
list_by_nvml(const Nvml *nvml, CsvCudaDevice *devices, int max, int n)
{
	unsigned int count = 0;

	if (nvml->count(&count) != 0)
		return n;
	for (unsigned int i = 1; i < count; i++)
	{
		CsvCudaDevice device;
		NvmlMemory	memory;
		void	   *handle;

		memset(&device, 0, sizeof(device));
		if (nvml->by_index(i, &handle) != 0 ||
			nvml->name(handle, device.name, sizeof(device.name)) != 0 ||
			nvml->memory(handle, &memory) != 0 ||
			nvml->capability(handle, &device.capability_major,
							 &device.capability_minor) != 0)
			continue;
		device.ordinal = (int) i;
		device.memory_total = memory.total;
		device.memory_free = (int64_t) memory.free;
		judge(&device, 0);
		if (n < max)
			devices[n] = device;
		n++;
	}
	return n;
}

int
csv_cuda_list_devices(CsvCudaDevice *devices, int max)
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
		device.ordinal = i;
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
		judge(&device, version);
		if (n < max)
			devices[n] = device;
		n++;

		/* other devices, if NVML numbers them as CUDA does */
		if (is_narrowed && nvml_handle != NULL)
		{
			unsigned int index;

			if (nvml.index(nvml_handle, &index) == 0 && index == 0)
				n = list_by_nvml(&nvml, devices, max, n);
		}
	}
	if (has_nvml)
		nvml_close(&nvml);
	return n;
}

/* CUDA reads the environment at its first call */
void
csv_cuda_see_first(void)
{
	if (getenv("CUDA_VISIBLE_DEVICES") != NULL)
		return;
	setenv("CUDA_VISIBLE_DEVICES", "0", 1);
	is_narrowed = true;
}
