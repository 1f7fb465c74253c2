/*
 * settings.h
 *		What the user has set.
 *
 * csv_table_get() copies the settings into the CsvTable, once for each scan.
 * All else reads that copy, so a setting does not change during a scan.
 */
#ifndef CSV_SETTINGS_H
#define CSV_SETTINGS_H

typedef enum CsvEngineChoice
{
	CSV_ENGINE_AUTO,
	CSV_ENGINE_CUDA,
	CSV_ENGINE_CPU
} CsvEngineChoice;

/* how csv_gpu_load() puts rows into a table */
typedef enum CsvLoadMethod
{
	CSV_LOAD_AUTO,				/* by pages where that may be */
	CSV_LOAD_INSERT,			/* through the table access method */
	CSV_LOAD_PAGES				/* by pages; ERROR where that may not be */
} CsvLoadMethod;

/* csv_gpu_fdw.NAME */
typedef struct CsvSettings
{
	int			engine;			/* CsvEngineChoice; other than auto it overrides
								 * options */
	int			device;
	int			gpu_memory_limit;	/* MB; 0: half of what is free */
	int			io_threads;		/* that read a file ahead */
	int			cpu_threads;	/* that share the CPU engine's work */
	int			planned_threads;	/* of a table: what the planner reckons with */
	bool		enable_pushdown;
	bool		resident;		/* use and make resident columns; of a table: and
								 * there is memory for them */
	int64		resident_memory;	/* bytes, of all sessions; 0: off */
	int			load_method;	/* CsvLoadMethod */
} CsvSettings;

/* as they are now */
extern CsvSettings csv_settings;

#endif							/* CSV_SETTINGS_H */
