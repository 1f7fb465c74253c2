/*
 * settings.h
 *		The settings of this extension.
 *
 * csv_table_get() copies the settings into the CsvTable, once for each scan.  All
 * other code reads that copy, so a setting does not change during a scan.  Rows and
 * errors must be the same with any value: only options of tables may change them.
 */
#ifndef CSV_SETTINGS_H
#define CSV_SETTINGS_H

typedef enum CsvEngineChoice
{
	CSV_ENGINE_AUTO,
	CSV_ENGINE_CUDA,
	CSV_ENGINE_CPU
} CsvEngineChoice;

/* csv_gpu_fdw.NAME */
typedef struct CsvSettings
{
	int			engine;			/* CsvEngineChoice; except auto, overrides options */
	int			device;
	int			gpu_memory_limit;	/* MB; 0: half of the free memory */
	int			cpu_threads;	/* that share the CPU engine's work */
	int			planned_threads;	/* in a CsvTable: as the planner expects */
	bool		enable_pushdown;
	bool		sampled_statistics;
	bool		resident;		/* use and make resident columns; in a CsvTable: and
								 * there is memory for them */
	int64		resident_memory;	/* bytes, of all sessions; 0: off */
} CsvSettings;

/* the current settings */
extern CsvSettings csv_settings;

/* when the module is loaded */
extern void csv_settings_define(void);

#endif							/* CSV_SETTINGS_H */
