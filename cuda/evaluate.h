/*
 * evaluate.h
 *		A query's steps on the device, whatever its rows are: a batch's, or those
 *		of columns that stay.
 *
 * The caller gives columns, rows and limits in a CsvAsk.  Then, in turn:
 *
 *	1. csv_ask_place	lays out what rows take, and reserves it.
 *	2. csv_ask_rows		copies plan and columns there, evaluates rows, and learns
 *						how many come out, and how many groups there are.
 *	3. csv_ask_groups	lays out groups, with room for texts, and makes them.
 *	4. csv_ask_fetch	has the answer copied to the host.
 *
 * After each the caller may have enough of it: then there is no answer.
 */
#ifndef CSV_CUDA_EVALUATE_H
#define CSV_CUDA_EVALUATE_H

#include "query.cuh"
#include "work.h"

/* a query as a device evaluates it */
typedef struct CsvDeviceQuery
{
	CsvPlan		plan;
	uint32_t	ntexts;			/* keys and extremes */
	uint32_t	longest_text;	/* of its constants */
} CsvDeviceQuery;

typedef struct CsvAsk
{
	CsvWork    *work;
	const CsvDeviceQuery *query;
	const CsvRowColumn *columns;	/* the host's, but their arrays */
	uint32_t	ncolumns;
	uint32_t	nrows;			/* at least one */
	size_t		longest_text;	/* of the columns' */
	size_t		most_text_bytes;	/* of all groups */
	CsvQueryCounts *staged;		/* pinned */

	/* what is found */
	CsvQueryView view;
	CsvQueryCounts counts;
	uint8_t    *extra;			/* see csv_ask_groups */
} CsvAsk;

/*
 * Make a query, whose plan comes from `memory`, for csv_plan_free(); false as of
 * csv_plan_make().
 */
extern bool csv_device_query_make(CsvDeviceQuery *made,
								  const CsvSession *session,
								  const CsvMemory *memory,
								  const CsvQuery *query,
								  const CsvLayout *layout, bool outputs_last);

/* a column but for where it is */
extern void csv_ask_describe(CsvRowColumn *described, const CsvColumn *column,
							 uint32_t stride, bool slow);

/* room for a query, if there is so much: what parsing needs comes first */
extern bool csv_ask_reserve(const CsvAsk *ask, CsvDeviceMemory which,
							size_t nbytes);

/* false: no memory for so many rows */
extern bool csv_ask_place(CsvAsk *ask);
extern CsvStatus csv_ask_rows(CsvAsk *ask);

/* are so many groups of so many rows worth the way to the host? */
extern bool csv_groups_may_travel(uint32_t ngroups, uint32_t nrows);

/*
 * ask->extra is extra_bytes of the device's for the caller then.  *good: there
 * was memory for all, and texts had room.
 */
extern CsvStatus csv_ask_groups(CsvAsk *ask, size_t extra_bytes, bool *good);

/*
 * An answer but for its columns, into a block of host memory.  ngroups groups
 * come with it, all or none, of which `held`, on the device or NULL, says where
 * they are held.  It is there when the device has been waited for.
 */
extern size_t csv_ask_answer_bytes(const CsvAsk *ask, uint32_t ngroups);
extern CsvStatus csv_ask_fetch(const CsvAsk *ask, uint32_t ngroups,
							   const uint32_t *held, uint8_t *block,
							   CsvAnswer *answer);

/* steps of those above, for who launches something else: see resident.cu */
extern CsvStatus csv_ask_upload(const CsvAsk *ask);
extern CsvStatus csv_ask_count(CsvAsk *ask);

#endif							/* CSV_CUDA_EVALUATE_H */
