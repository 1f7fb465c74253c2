/*
 * footer.c
 *		Finds where a file's footer begins.
 *
 * The CPU engine reads the records, without any column, and with any number of fields.
 * Its batch has two lists of where records begin: good records and bad records.  Both
 * lists are read from the end.
 */
#include "footer.h"

#include <string.h>

/* the number of bytes before the last footer_rows records of a batch of nbytes */
static uint64_t
count_back(const CsvBatch *batch, uint32_t footer_rows, uint64_t nbytes)
{
	uint32_t	nrows = batch->nrows;
	uint32_t	nerrors = batch->nerrors;
	uint64_t	data_bytes = nbytes;

	for (uint32_t i = 0; i < footer_rows && nrows + nerrors > 0; i++)
	{
		if (nerrors == 0 ||
			(nrows > 0 &&
			 CSV_ROW_OFFSET(batch->row_offsets[nrows - 1]) > batch->errors[nerrors - 1].offset))
			data_bytes = CSV_ROW_OFFSET(batch->row_offsets[--nrows]);
		else
			data_bytes = batch->errors[--nerrors].offset;
	}
	return data_bytes;
}

CsvStatus
csv_footer_find(const CsvMemory *memory, const CsvDialect *dialect,
				const CsvInput *input, bool has_all, uint64_t *data_bytes)
{
	CsvInput	whole = *input;
	CsvCpuOptions options;
	CsvLayout	layout;
	CsvBatch	batch;
	CsvStatus	status;
	void	   *engine;

	memset(&options, 0, sizeof(options));
	engine = csv_cpu_open(memory, &options);
	if (engine == NULL)
		return CSV_NO_MEMORY;
	memset(&layout, 0, sizeof(layout));
	layout.nfields = 1;
	layout.pad = true;
	layout.want_positions = true;
	layout.encoding = CSV_ENCODING_OTHER;
	layout.decimal_separator = '.';
	whole.at_end = true;
	whole.output = 0;
	memset(&batch, 0, sizeof(batch));

	/* the CPU engine consumes all of an input that ends a file */
	status = csv_cpu_engine.configure(engine, dialect, &layout);
	if (status == CSV_OK)
		status = csv_cpu_engine.parse(engine, &whole, &batch);
	if (status == CSV_OK)
		*data_bytes = count_back(&batch, dialect->opt.footer_rows, input->nbytes);
	if (status == CSV_OK &&
		(input->nbytes - *data_bytes > CSV_FOOTER_BYTES ||
		 (batch.nrecords < dialect->opt.footer_rows && !has_all)))
		status = CSV_FOOTER_TOO_LONG;
	csv_cpu_engine.close(engine);
	return status;
}
