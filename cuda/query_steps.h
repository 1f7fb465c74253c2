/*
 * query_steps.h
 *		A query's steps on the device, for the rows of a batch or of columns that
 *		stay.
 *
 * The caller gives columns, rows and limits in a CsvAsk.  The steps:
 *
 *	1. csv_ask_place	lays out memory for the rows, and reserves it.
 *	2. csv_ask_rows		copies plan and columns there, evaluates rows, and counts
 *						the rows that come out and the groups.
 *	3. csv_ask_groups	lays out groups, with room for texts, and makes them.
 *	4. csv_ask_fetch	launches copies of the answer to the host.
 *
 * After each step the caller may stop; then there is no answer.
 */
#ifndef CSV_CUDA_QUERY_STEPS_H
#define CSV_CUDA_QUERY_STEPS_H

#include "query.cuh"
#include "work.h"

/* a query as a device evaluates it */
typedef struct CsvDeviceQuery
{
	CsvPlan		plan;
	uint32_t	ntexts;			/* keys and extremes that are texts */
	uint32_t	longest_text;	/* of its constants */
} CsvDeviceQuery;

typedef struct CsvAsk
{
	CsvWork    *work;
	const CsvDeviceQuery *query;
	const CsvRowColumn *columns;	/* on the host, but their arrays on the device */
	uint32_t	ncolumns;
	uint32_t	nrows;			/* at least one */
	size_t		longest_text;	/* of the columns' */
	size_t		most_text_bytes;	/* of all groups */
	CsvQueryCounts *staged;		/* pinned */

	/* results */
	CsvQueryView view;
	CsvQueryCounts counts;
	uint8_t    *extra;			/* see csv_ask_groups */
} CsvAsk;

/*
 * Make a query, whose plan comes from `memory`, for csv_plan_free(); false as in
 * csv_plan_make().
 */
extern bool csv_device_query_make(CsvDeviceQuery *made,
								  const CsvSession *session,
								  const CsvMemory *memory,
								  const CsvQuery *query,
								  const CsvLayout *layout, bool outputs_last);

/* describe a column, without its place */
extern void csv_ask_describe(CsvRowColumn *described, const CsvColumn *column,
							 uint32_t stride, bool slow);

/* reserve memory for a query; false: none is left, as parsing comes first */
extern bool csv_ask_reserve(const CsvAsk *ask, CsvDeviceMemory which,
							size_t nbytes);

/* false: no memory for ask->nrows rows */
extern bool csv_ask_place(CsvAsk *ask);
extern CsvStatus csv_ask_rows(CsvAsk *ask);

/* is it worth copying ngroups groups of nrows rows to the host? */
extern bool csv_groups_may_travel(uint32_t ngroups, uint32_t nrows);

/*
 * Then ask->extra is device memory of extra_bytes bytes for the caller.  *good: there
 * was enough memory, and room for texts.
 */
extern CsvStatus csv_ask_groups(CsvAsk *ask, size_t extra_bytes, bool *good);

/*
 * Copy an answer, except its columns, into a block of host memory.  Either all groups
 * come with it (ngroups) or none.  `held`, on the device or NULL, says for each of
 * these groups where it is held.  The answer is there when the caller has waited for
 * the device.
 */
extern size_t csv_ask_answer_bytes(const CsvAsk *ask, uint32_t ngroups);
extern CsvStatus csv_ask_fetch(const CsvAsk *ask, uint32_t ngroups,
							   const uint32_t *held, uint8_t *block,
							   CsvAnswer *answer);

/* single steps, for callers that launch something else (resident.cu) */
extern CsvStatus csv_ask_upload(const CsvAsk *ask);
extern CsvStatus csv_ask_count(CsvAsk *ask);

#endif							/* CSV_CUDA_QUERY_STEPS_H */
