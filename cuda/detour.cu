/*
 * detour.cu
 *		What is irregular: read by the CPU engine.
 */
#include "call.h"

#include <string.h>

/*
 * A stretch of the input of some size, and if that does not hold a whole record,
 * everything.
 */
CsvStatus
csv_detour_parse(CsvCuda *cuda, const CsvInput *input, CsvBatch *batch)
{
	CsvInput	stretch = *input;
	CsvDetour  *detour = &cuda->detours[input->output];
	uint64_t	nbytes = input->nbytes / CSV_CPU_STRETCH_SHARE;
	double		copy_in_seconds = batch->copy_in_seconds;
	double		parse_seconds = batch->parse_seconds;
	CsvStatus	status;

	if (detour->engine == NULL)
	{
		CsvCpuOptions options;

		memset(&options, 0, sizeof(options));
		detour->engine = csv_cpu_open(&cuda->memory, &options);
		if (detour->engine == NULL)
			return CSV_NO_MEMORY;
	}
	if (!detour->configured)
	{
		TRY(csv_cpu_engine.configure(detour->engine, cuda->dialect,
									 cuda->layout));
		detour->configured = true;
	}
	if (nbytes < CSV_CPU_STRETCH_BYTES)
		nbytes = CSV_CPU_STRETCH_BYTES;
	if (nbytes < input->nbytes)
	{
		stretch.nbytes = nbytes;
		stretch.at_end = false;
	}
	memset(batch, 0, sizeof(*batch));
	status = csv_cpu_engine.parse(detour->engine, &stretch, batch);
	if (status == CSV_OK && batch->consumed == 0 &&
		stretch.nbytes < input->nbytes)
	{
		memset(batch, 0, sizeof(*batch));
		status = csv_cpu_engine.parse(detour->engine, input, batch);
	}
	if (status != CSV_OK)
		return status;
	batch->nbytes = input->nbytes;
	batch->copy_in_seconds += copy_in_seconds;
	batch->parse_seconds += parse_seconds;
	return CSV_OK;
}
