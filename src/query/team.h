/*
 * team.h
 *		Several threads evaluate one query.
 *
 * Each member has an evaluator of its own and takes whole batches.  What they have
 * come to is put together when all batches are evaluated: few groups are added to
 * those of the caller's evaluator, as if their rows had been run there.  Many are
 * shared out by their hash, so that threads can merge them side by side; they come
 * out a piece at a time, as those that a device holds (CsvEngine.held_groups),
 * while further ones are merged.
 *
 * The order of rows of different batches is lost.
 */
#ifndef CSV_TEAM_H
#define CSV_TEAM_H

#include "query.h"

typedef struct CsvTeam CsvTeam;

/*
 * Of so many members, with the query of the caller's own evaluator, which must
 * outlive the team.  NULL: no memory.  Memory has to be usable in any thread.
 */
extern CsvTeam *csv_team_create(const CsvMemory *memory,
								const CsvEvaluator *leader,
								uint32_t nmembers);
extern void csv_team_free(CsvTeam *team);

/* while no member runs: as csv_evaluator_set_query() */
extern void csv_team_set_query(CsvTeam *team, const CsvQuery *query);

/*
 * Groups of all members together take so many bytes, about; 0: no limit.  Beyond
 * it, they come with answers, to be added to the caller's, and members evaluate
 * nothing more.
 */
extern void csv_team_limit(CsvTeam *team, size_t limit_bytes);

/*
 * Evaluate a batch, as csv_evaluator_run(), in a thread that is this member.  Rows
 * with a doubtful value are wanted.  The answer lives until the next run for that
 * slot.  NULL: the caller is to evaluate the batch, see csv_team_limit().
 */
extern const CsvAnswer *csv_team_run(CsvTeam *team, uint32_t member,
									 uint32_t slot, const CsvLayout *layout,
									 const CsvBatch *batch,
									 bool (*interrupted) (void *arg),
									 void *interrupted_arg);

/*
 * The same of many batches, up to CSV_BATCH_SLOTS, by all members; a batch's number
 * is its slot.  classes: NULL, or as for csv_evaluator_remember().  The first status
 * that is not CSV_OK.
 */
typedef struct CsvTeamBatch
{
	const CsvBatch *batch;
	const CsvRowClasses *classes;
	const CsvAnswer *answer;	/* comes back, as from csv_team_run() */
} CsvTeamBatch;

extern CsvStatus csv_team_run_all(CsvTeam *team, const CsvLayout *layout,
								  CsvTeamBatch *batches, uint32_t nbatches,
								  bool (*interrupted) (void *arg),
								  void *interrupted_arg);

/* as csv_evaluator_forget() */
extern void csv_team_forget(CsvTeam *team);

/* an evaluator that an answer came with: add its groups, and let go of it */
extern CsvStatus csv_team_absorb(CsvTeam *team, CsvEvaluator *into,
								 const CsvAnswer *answer);

/*
 * All batches are evaluated.  Either what the members have is added to the
 * caller's evaluator, or it stays, for csv_team_groups(), and what the caller's
 * evaluator has goes there, too.
 */
typedef enum CsvGather
{
	CSV_GATHER_CHOOSE,			/* many stay */
	CSV_GATHER_ADD,
	CSV_GATHER_STAY
} CsvGather;

/* maker: for groups that stay; NULL: nothing is made of them */
extern CsvStatus csv_team_finish(CsvTeam *team, CsvEvaluator *into,
								 CsvGather gather, const CsvGroupsMaker *maker,
								 bool (*interrupted) (void *arg),
								 void *interrupted_arg);

/* The next groups that have stayed; none, if there are no more.  They live until
 * the next call.
 */
extern CsvStatus csv_team_groups(CsvTeam *team, CsvPartialGroups *groups);

/* members that have evaluated something */
extern uint32_t csv_team_nactive(const CsvTeam *team);

/*
 * The rows of a batch of which a value is doubtful, for csv_evaluator_run(): a
 * byte each, in `flags`; false: there are none, and flags are as they were.
 */
extern bool csv_find_doubtful(const CsvBatch *batch, uint32_t ncolumns,
							  uint8_t *flags);

#endif							/* CSV_TEAM_H */
