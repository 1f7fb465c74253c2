/*
 * detour.cu
 *		The CPU engine reads irregular stretches of the input.
 */
#include "call.h"

#include <string.h>

/* copy an input from a file's bytes on the device to the host */
static CsvStatus
fetch_input(CsvCuda *cuda, CsvInput *input)
{
	CsvSession *session = cuda->session;
	CsvOutput  *output = &cuda->outputs[input->output];
	CsvWork		work = {};
	CsvStatus	status = CSV_DEVICE_FAILED;

	work.session = session;
	work.interrupted = input->interrupted;
	work.interrupted_arg = input->interrupted_arg;
	work.message = cuda->message;
	csv_session_enter(session);
	if (csv_session_check(session, work.message))
		status = csv_file_fetch(&work, cuda, input, input->nbytes,
								&output->bytes);
	if (status == CSV_OK)
		status = csv_work_wait(&work);
	csv_session_leave(session);
	input->bytes = output->bytes + CSV_MARGIN;
	return status;
}

/* the CPU engine's batch of the first nbytes bytes of the input */
static CsvStatus
parse_stretch(CsvCuda *cuda, const CsvInput *input, uint64_t nbytes,
			  CsvBatch *batch)
{
	CsvInput	stretch = *input;

	if (nbytes < input->nbytes)
	{
		stretch.nbytes = nbytes;
		stretch.at_end = false;
	}
	if (stretch.bytes == NULL)
		TRY(fetch_input(cuda, &stretch));
	memset(batch, 0, sizeof(*batch));
	TRY(csv_cpu_engine.parse(cuda->detours[input->output].engine, &stretch,
							 batch));
	batch->nbytes = input->bytes != NULL ? input->nbytes : stretch.nbytes;
	return CSV_OK;
}

/*
 * Parse a stretch of the input.  If it does not hold a whole record, parse all of the
 * input.
 */
CsvStatus
csv_detour_parse(CsvCuda *cuda, const CsvInput *input, CsvBatch *batch)
{
	CsvDetour  *detour = &cuda->detours[input->output];
	uint64_t	nbytes = input->nbytes / CSV_CPU_STRETCH_SHARE;
	double		copy_in_seconds = batch->copy_in_seconds;
	double		parse_seconds = batch->parse_seconds;

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
	TRY(parse_stretch(cuda, input, nbytes, batch));
	if (batch->consumed == 0 && nbytes < input->nbytes)
		TRY(parse_stretch(cuda, input, input->nbytes, batch));
	batch->copy_in_seconds += copy_in_seconds;
	batch->parse_seconds += parse_seconds;
	return CSV_OK;
}
