/*
 * devices.c
 *		csv_gpu_devices(): the GPUs that can be seen.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "batches/choose.h"

#ifdef CSV_WITH_CUDA
#include "../../cuda/csv_cuda.h"
#endif

PG_FUNCTION_INFO_V1(csv_gpu_devices);

/*
 * A row per visible GPU.  Without a GPU, without its driver, or in a build
 * without CUDA: no rows.  Creates no CUDA context.
 */
Datum
csv_gpu_devices(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
#ifdef CSV_WITH_CUDA
	{
		ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
		CsvCudaDevice devices[64];
		int			ndevices = csv_cuda_list_devices(csv_engine_session(),
													 devices,
													 lengthof(devices));

		for (int i = 0; i < Min(ndevices, lengthof(devices)); i++)
		{
			const CsvCudaDevice *device = &devices[i];
			Datum		values[7];
			bool		nulls[7] = {false};

			values[0] = Int32GetDatum(device->ordinal);
			values[1] = CStringGetTextDatum(device->name);
			values[2] = CStringGetTextDatum(psprintf("%d.%d",
													 device->capability_major,
													 device->capability_minor));
			values[3] = Int64GetDatum((int64) device->memory_total);
			values[4] = Int64GetDatum(device->memory_free);
			nulls[4] = device->memory_free < 0;
			values[5] = BoolGetDatum(device->usable);
			values[6] = CStringGetTextDatum(device->reason);
			nulls[6] = device->reason[0] == '\0';
			tuplestore_putvalues(result->setResult, result->setDesc, values,
								 nulls);
		}
	}
#endif
	return (Datum) 0;
}
