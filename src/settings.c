/*
 * settings.c
 *		The settings of this extension, as PostgreSQL knows them.
 */
#include "postgres.h"

#include <limits.h>
#include <unistd.h>

#include "utils/guc.h"

#include "settings.h"

CsvSettings csv_settings;

/* the setting; csv_settings has its bytes */
static char *resident_memory = NULL;

/* settings without effect, for configurations that have them */
static int	io_threads = 8;
static char *load_method = NULL;

/* 'auto' is this part of the machine's memory */
#define CSV_AUTO_SHARE	8

static const struct config_enum_entry engine_choices[] = {
	{"auto", CSV_ENGINE_AUTO, false},
	{"cuda", CSV_ENGINE_CUDA, false},
	{"cpu", CSV_ENGINE_CPU, false},
	{NULL, 0, false}
};

/* bytes; -1: the value is not valid */
static int64
parse_resident_memory(const char *value, const char **hint)
{
	int			megabytes;

	if (pg_strcasecmp(value, "off") == 0)
		return 0;
	if (pg_strcasecmp(value, "auto") == 0)
	{
		long		npages = sysconf(_SC_PHYS_PAGES);
		long		page = sysconf(_SC_PAGESIZE);

		return npages > 0 && page > 0 ?
			(int64) npages / CSV_AUTO_SHARE * page : 0;
	}
	if (!parse_int(value, &megabytes, GUC_UNIT_MB, hint) || megabytes < 0)
		return -1;
	return (int64) megabytes * 1024 * 1024;
}

static bool
check_resident_memory(char **value, void **extra, GucSource source)
{
	const char *hint = NULL;

	if (parse_resident_memory(*value, &hint) >= 0)
		return true;
	GUC_check_errdetail("It is \"off\", \"auto\", or an amount of memory, in megabytes unless it has a unit.");
	if (hint != NULL)
		GUC_check_errhint("%s", _(hint));
	return false;
}

static void
assign_resident_memory(const char *value, void *extra)
{
	const char *hint;

	csv_settings.resident_memory = Max(parse_resident_memory(value, &hint), 0);
}

void
csv_settings_define(void)
{
	DefineCustomEnumVariable("csv_gpu_fdw.engine",
							 "Selects the engine that reads CSV files.",
							 "Other than auto, it overrides the options of servers and tables.",
							 &csv_settings.engine, CSV_ENGINE_AUTO, engine_choices,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_fdw.device",
							"Selects one GPU, by its number in csv_gpu_devices().",
							"-1 means all of them.",
							&csv_settings.device, -1, -1, 1023,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_fdw.gpu_memory_limit",
							"Limits the memory that all sessions take on each GPU.",
							"0 means half of what is free.",
							&csv_settings.gpu_memory_limit, 0, 0, INT_MAX / 2,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_fdw.io_threads",
							"Has no effect any more.", NULL,
							&io_threads, 8, 1, 64,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable("csv_gpu_fdw.enable_pushdown",
							 "Lets engines filter and aggregate.",
							 "If it is off, engines deliver only rows. Results are the same.",
							 &csv_settings.enable_pushdown, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("csv_gpu_fdw.sampled_statistics",
							 "Uses a sample of files that ANALYZE has not seen.",
							 NULL,
							 &csv_settings.sampled_statistics, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("csv_gpu_fdw.cpu_threads",
							"Sets the number of threads that share the CPU engine's work.",
							"0: as many as the cores, max_parallel_workers_per_gather and max_parallel_workers allow.",
							&csv_settings.cpu_threads, 0, 0, 64,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("csv_gpu_fdw.resident_memory",
							   "Sets how much memory all sessions take to keep columns of files from query to query.",
							   "An amount, off, or auto: an eighth of the machine's memory.",
							   &resident_memory, "off",
							   PGC_SIGHUP, 0, check_resident_memory,
							   assign_resident_memory, NULL);
	DefineCustomBoolVariable("csv_gpu_fdw.resident",
							 "Lets queries use and make resident columns.",
							 "Where csv_gpu_fdw.resident_memory has memory for them.",
							 &csv_settings.resident, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("csv_gpu_fdw.load_method",
							   "Has no effect any more.", NULL,
							   &load_method, "auto",
							   PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}
