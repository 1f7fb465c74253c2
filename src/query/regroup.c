/*
 * regroup.c
 *		Merges groups that are on disk: see regroup.h.
 *
 * The parts that wait are on a stack, so that few wait at a time.  The parts of a crew's
 * work take them from there in any order, and put smaller parts back.
 */
#include "regroup.h"

#include "../reader/arrays.h"
#include "../reader/crew.h"
#include "evaluator.h"
#include "groups.h"
#include "spilled.h"

/*
 * Of its share of memory, a thread takes this part for the groups that it merges.
 * Groups that wait for the caller are larger: they have all words, and perhaps rows.
 */
#define SHARE_DIVISOR	4

/* a thread needs no less than this */
#define LEAST_SHARE		(64 * 1024)

/* records between two looks at memory and interrupts */
#define RECORDS			64

/* a part that waits */
typedef struct RegroupTask
{
	CsvSpilledPart part;
	uint32_t	skip;			/* leading bits that its tags share */
} RegroupTask;

/* a part that is merged, or waits for the caller */
typedef struct RegroupSlot
{
	RegroupTask task;
	bool		is_end;			/* there was no part */
	CsvSpilledBlocks blocks;
	CsvEvaluator *evaluator;
	CsvSpilledParts smaller;	/* parts that it was divided into */
	CsvPartialGroups groups;
} RegroupSlot;

struct CsvRegroup
{
	CsvMemory	memory;
	const CsvEvaluator *like;
	CsvSpill   *spill;
	CsvGroupsMaker maker;
	CsvCrew		crew;
	size_t		share_bytes;
	atomic_bool failed;
	bool		merges_values;	/* parts are of values of COUNT_DISTINCT */
	bool		is_working;
	RegroupSlot *taken;			/* the caller has its groups; or NULL */

	/* the crew's mutex guards the stack, and the evaluators that no thread uses */
	CsvEvaluator *free_evaluators[CSV_MAX_THREADS + 1];
	uint32_t	nfree;
	RegroupTask *tasks;
	size_t		ntasks;
	uint32_t	capacity;
	RegroupSlot slots[CSV_CREW_PARTS];
};

CsvRegroup *
csv_regroup_create(const CsvMemory *memory, const CsvEvaluator *like,
				   uint32_t nthreads, const CsvGroupsMaker *maker)
{
	CsvRegroup *regroup = csv_alloc_zeros(memory, sizeof(CsvRegroup));

	if (regroup == NULL)
		return NULL;
	regroup->memory = *memory;
	regroup->like = like;
	regroup->spill = like->groups->spill;
	if (maker != NULL)
		regroup->maker = *maker;
	regroup->share_bytes = regroup->spill->limit_bytes / nthreads / SHARE_DIVISOR;
	if (regroup->share_bytes < LEAST_SHARE)
		regroup->share_bytes = LEAST_SHARE;
	atomic_init(&regroup->failed, false);
	csv_crew_init(&regroup->crew, nthreads);
	return regroup;
}

static void
clear_slot(CsvRegroup *regroup, RegroupSlot *slot)
{
	csv_spilled_free(regroup->spill, &slot->blocks);
	csv_free(&regroup->memory, slot->smaller.parts);
	csv_free(&regroup->memory, slot->groups.made);
	if (slot->evaluator != NULL)
		csv_evaluator_free(slot->evaluator);
	memset(slot, 0, sizeof(*slot));
}

void
csv_regroup_free(CsvRegroup *regroup)
{
	CsvMemory	memory = regroup->memory;

	atomic_store(&regroup->failed, true);	/* helpers give up */
	csv_crew_close(&regroup->crew);
	for (uint32_t i = 0; i < CSV_CREW_PARTS; i++)
		clear_slot(regroup, &regroup->slots[i]);
	for (uint32_t i = 0; i < regroup->nfree; i++)
		csv_evaluator_free(regroup->free_evaluators[i]);
	csv_free(&memory, regroup->tasks);
	csv_free(&memory, regroup);
}

/* ---- the stack of parts; the crew's mutex is held, or no thread works ---- */

/* push all parts that are not empty; false: no memory */
static bool
push_parts(CsvRegroup *regroup, const CsvSpilledParts *parts)
{
	size_t		nparts = parts->parts == NULL ? 0 : (size_t) 1 << parts->bits;

	if (!csv_grow(&regroup->memory, &regroup->tasks, &regroup->capacity,
				  regroup->ntasks + nparts, 64, sizeof(RegroupTask)))
		return false;
	for (size_t i = nparts; i-- > 0;)
		if (parts->parts[i].nbytes > 0)
		{
			RegroupTask *task = &regroup->tasks[regroup->ntasks++];

			task->part = parts->parts[i];
			task->skip = parts->skip + parts->bits;
		}
	return true;
}

/* parts that others divide may still come */
static bool
may_begin(void *arg)
{
	CsvRegroup *regroup = arg;

	return regroup->ntasks > 0 || regroup->crew.njoined == regroup->crew.nbegun;
}

static void
begin_part(void *arg, uint32_t number)
{
	CsvRegroup *regroup = arg;
	RegroupSlot *slot = &regroup->slots[number % CSV_CREW_PARTS];

	slot->is_end = regroup->ntasks == 0;
	if (!slot->is_end)
		slot->task = regroup->tasks[--regroup->ntasks];
}

static CsvJoin
join_part(void *arg, uint32_t number)
{
	CsvRegroup *regroup = arg;
	RegroupSlot *slot = &regroup->slots[number % CSV_CREW_PARTS];

	if (slot->is_end)
		return CSV_JOIN_END;
	if (!push_parts(regroup, &slot->smaller))
		atomic_store(&regroup->failed, true);
	if (atomic_load(&regroup->failed))
		regroup->ntasks = 0;
	csv_crew_call(&regroup->crew);
	return CSV_JOIN_DONE;
}

/* ---- a part ---- */

static bool
give_up(CsvRegroup *regroup)
{
	return atomic_load(&regroup->failed) || csv_crew_interrupted(&regroup->crew);
}

/* groups for a part; false: no memory */
static bool
make_evaluator(CsvRegroup *regroup, RegroupSlot *slot)
{
	CsvGroups  *groups;

	slot->evaluator = csv_evaluator_create_like(&regroup->memory, regroup->like);
	if (slot->evaluator == NULL)
		return false;
	groups = slot->evaluator->groups;
	groups->spill = regroup->spill;
	groups->counts_later = regroup->merges_values;
	groups->skip = regroup->merges_values ? 0 : slot->task.skip;
	/* without keys, there is a group already */
	return csv_groups_reset(groups);
}

/* groups for a part of values, with counts of other such parts; false: no memory */
static bool
take_evaluator(CsvRegroup *regroup, RegroupSlot *slot)
{
	pthread_mutex_lock(&regroup->crew.mutex);
	if (regroup->nfree > 0)
		slot->evaluator = regroup->free_evaluators[--regroup->nfree];
	pthread_mutex_unlock(&regroup->crew.mutex);
	if (slot->evaluator == NULL && !make_evaluator(regroup, slot))
		return false;
	csv_groups_expect_values(slot->evaluator->groups, slot->task.skip);
	return true;
}

/* write the counts of values, as groups; false: failed */
static bool
write_counts(CsvRegroup *regroup, CsvEvaluator *evaluator)
{
	return csv_spill_write(regroup->spill, &regroup->spill->groups, NULL,
						   evaluator->groups);
}

/* a part of values is done; false: failed */
static bool
give_evaluator(CsvRegroup *regroup, RegroupSlot *slot)
{
	CsvGroups  *groups = slot->evaluator->groups;

	if (!csv_groups_count_values(groups) ||
		(csv_groups_bytes(groups) > regroup->share_bytes &&
		 !write_counts(regroup, slot->evaluator)))
		return false;
	pthread_mutex_lock(&regroup->crew.mutex);
	regroup->free_evaluators[regroup->nfree++] = slot->evaluator;
	slot->evaluator = NULL;
	pthread_mutex_unlock(&regroup->crew.mutex);
	return true;
}

/* must groups, or values, be divided, and can they be? */
static bool
is_too_large(const CsvRegroup *regroup, const RegroupSlot *slot)
{
	const CsvGroups *groups = slot->evaluator->groups;

	return slot->task.skip < 32 &&
		(regroup->merges_values ?
		 csv_groups_value_bytes(groups) > regroup->share_bytes :
		 csv_groups_bytes(groups) > regroup->share_bytes &&
		 groups->table.nrows > 1);
}

/* write groups, or values, to smaller parts; false: failed */
static bool
divide(CsvRegroup *regroup, RegroupSlot *slot)
{
	CsvSpilledParts *smaller = &slot->smaller;

	if (smaller->parts == NULL)
	{
		smaller->skip = slot->task.skip;
		smaller->bits = csv_spill_divide_bits(slot->task.part.all_bytes,
											  regroup->share_bytes);
		if (smaller->bits > 32 - smaller->skip)
			smaller->bits = 32 - smaller->skip;
	}
	return csv_spill_write(regroup->spill, regroup->merges_values ? NULL : smaller,
						   regroup->merges_values ? smaller : NULL,
						   slot->evaluator->groups);
}

/* add all blocks of a part; false: failed */
static bool
add_blocks(CsvRegroup *regroup, RegroupSlot *slot)
{
	if (!csv_spilled_find(regroup->spill, slot->task.part, &slot->blocks))
		return false;
	for (uint32_t i = 0; i < slot->blocks.nblocks; i++)
	{
		if (!csv_spilled_read(regroup->spill, &slot->blocks, i))
			return false;
		while (csv_spilled_has_more(&slot->blocks))
		{
			if (give_up(regroup) ||
				!csv_spilled_add(&slot->blocks, RECORDS, slot->evaluator->groups) ||
				(is_too_large(regroup, slot) && !divide(regroup, slot)))
				return false;
		}
	}
	return true;
}

/* the groups of a whole part, for the caller; false: no memory */
static bool
hand_out(CsvRegroup *regroup, RegroupSlot *slot)
{
	if (csv_evaluator_groups(slot->evaluator, 0, UINT32_MAX, &slot->groups) != CSV_OK)
		return false;
	if (regroup->maker.function != NULL && slot->groups.ngroups > 0)
		slot->groups.made = regroup->maker.function(regroup->maker.arg,
													&regroup->memory, &slot->groups);
	return true;
}

static void
merge_part(void *arg, uint32_t number)
{
	CsvRegroup *regroup = arg;
	RegroupSlot *slot = &regroup->slots[number % CSV_CREW_PARTS];
	bool		done;

	if (slot->is_end || give_up(regroup))
		return;
	done = (regroup->merges_values ? take_evaluator(regroup, slot) :
			make_evaluator(regroup, slot)) && add_blocks(regroup, slot);
	csv_spilled_free(regroup->spill, &slot->blocks);
	if (done && slot->smaller.parts != NULL)
		done = divide(regroup, slot);
	else if (done && !regroup->merges_values)
		done = hand_out(regroup, slot);
	if (done && regroup->merges_values)
		done = give_evaluator(regroup, slot);
	if (!done)
		atomic_store(&regroup->failed, true);
}

/* ---- the caller ---- */

static bool
begin_work(CsvRegroup *regroup, const CsvSpilledParts *parts)
{
	CsvCrewWork work = {
		.nparts = UINT64_MAX,.most = regroup->crew.nthreads + 1,
		.may_begin = may_begin,.begin = begin_part,.work = merge_part,
		.join = join_part,.arg = regroup
	};

	if (!push_parts(regroup, parts))
		return false;
	csv_crew_start_work(&regroup->crew, &work);
	regroup->is_working = true;
	return true;
}

/* values are merged: begin with groups; false: failed */
static bool
begin_groups(CsvRegroup *regroup)
{
	while (regroup->nfree > 0)
	{
		CsvEvaluator *evaluator = regroup->free_evaluators[--regroup->nfree];
		bool		written = write_counts(regroup, evaluator);

		csv_evaluator_free(evaluator);
		if (!written)
			return false;
	}
	regroup->merges_values = false;
	return begin_work(regroup, &regroup->spill->groups);
}

/* drops what the caller has had; true: the next part is taken */
static bool
take_part(CsvRegroup *regroup, RegroupSlot **slot)
{
	uint32_t	number;

	if (regroup->taken != NULL)
		clear_slot(regroup, regroup->taken);
	regroup->taken = NULL;
	if (!csv_crew_next(&regroup->crew, &number))
		return false;
	*slot = &regroup->slots[number % CSV_CREW_PARTS];
	regroup->taken = *slot;
	return true;
}

CsvStatus
csv_regroup_next(CsvRegroup *regroup, CsvPartialGroups *groups,
				 bool (*interrupted) (void *arg), void *interrupted_arg)
{
	RegroupSlot *slot;
	CsvStatus	status = CSV_OK;

	memset(groups, 0, sizeof(*groups));
	csv_crew_begin(&regroup->crew, interrupted, interrupted_arg);
	if (!regroup->is_working)
	{
		regroup->merges_values = regroup->spill->values.parts != NULL;
		if (!begin_work(regroup, regroup->merges_values ? &regroup->spill->values :
						&regroup->spill->groups))
			return CSV_NO_MEMORY;
	}
	for (;;)
	{
		if (take_part(regroup, &slot))
			*groups = slot->groups;
		else if (regroup->merges_values && !atomic_load(&regroup->failed))
		{
			if (!begin_groups(regroup))
				return CSV_NO_MEMORY;
			continue;
		}
		if (csv_crew_was_interrupted(&regroup->crew))
			status = CSV_INTERRUPTED;
		else if (atomic_load(&regroup->failed))
			status = CSV_NO_MEMORY;
		if (status != CSV_OK || groups->ngroups > 0 || regroup->taken == NULL)
			break;
	}
	/* no interrupts while the caller does something else */
	csv_crew_begin(&regroup->crew, NULL, NULL);
	return status;
}

bool
csv_regroup_attached(const CsvRegroup *regroup, uint32_t i, uint32_t *group,
					 const uint8_t **bytes)
{
	const CsvGroups *groups = regroup->taken == NULL ? NULL :
		regroup->taken->evaluator->groups;

	if (groups == NULL || i >= groups->nattached)
		return false;
	*group = groups->attached[i].group;
	*bytes = groups->attached[i].bytes;
	return true;
}
