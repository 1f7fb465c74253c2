/*
 * team.h
 *		Several threads evaluate one query.
 *
 * Each member has its own evaluator and takes whole batches.  When all batches are
 * evaluated, the groups of all members are put together.  Few groups are added to the
 * groups of the caller's evaluator, as if their rows had been run there.  Many groups
 * are divided by their hash, so that threads can merge them in parallel.  Merged
 * groups come out a piece at a time, like groups that a device holds
 * (CsvEngine.held_groups), while further groups are merged.
 *
 * The order of rows of different batches is lost.
 */
#ifndef CSV_TEAM_H
#define CSV_TEAM_H

#include "query.h"

typedef struct CsvTeam CsvTeam;

/*
 * A team of nmembers members, with the query and the limit of the caller's evaluator,
 * which must outlive the team.  NULL: no memory.  Any thread must be able to use
 * `memory`.
 */
extern CsvTeam *csv_team_create(const CsvMemory *memory,
								const CsvEvaluator *leader,
								uint32_t nmembers);
extern void csv_team_free(CsvTeam *team);

/* while no member runs: as csv_evaluator_set_query() */
extern void csv_team_set_query(CsvTeam *team, const CsvQuery *query);

/*
 * Evaluate a batch, as csv_evaluator_run(), in the thread of this member.  Rows with a
 * doubtful value are wanted.  The answer lives until the next run for that slot.
 * NULL: the caller must evaluate the batch, because groups take too much memory, and
 * there is no file for them yet (csv_spill_open()).
 */
extern const CsvAnswer *csv_team_run(CsvTeam *team, uint32_t member,
									 uint32_t slot, const CsvLayout *layout,
									 const CsvBatch *batch,
									 bool (*interrupted) (void *arg),
									 void *interrupted_arg);

/*
 * Evaluate up to CSV_BATCH_SLOTS batches with all members; the number of a batch is
 * its slot.  classes: NULL, or as for csv_evaluator_remember().  Returns the first
 * status that is not CSV_OK.
 */
typedef struct CsvTeamBatch
{
	const CsvBatch *batch;
	const CsvRowClasses *classes;
	const CsvAnswer *answer;	/* result, as from csv_team_run() */
} CsvTeamBatch;

extern CsvStatus csv_team_run_all(CsvTeam *team, const CsvLayout *layout,
								  CsvTeamBatch *batches, uint32_t nbatches,
								  bool (*interrupted) (void *arg),
								  void *interrupted_arg);

/* as csv_evaluator_forget() */
extern void csv_team_forget(CsvTeam *team);

/*
 * All batches are evaluated.  Either the members' groups are added to the caller's
 * evaluator, or they stay for csv_team_groups(), with the groups of the caller's
 * evaluator, or all members write them to the file.
 */
typedef enum CsvGather
{
	CSV_GATHER_CHOOSE,			/* many groups stay */
	CSV_GATHER_ADD,
	CSV_GATHER_STAY,
	CSV_GATHER_SPILL
} CsvGather;

/* maker: converts the groups that stay; NULL: they are not converted */
extern CsvStatus csv_team_finish(CsvTeam *team, CsvEvaluator *into,
								 CsvGather gather, const CsvGroupsMaker *maker,
								 bool (*interrupted) (void *arg),
								 void *interrupted_arg);

/* the next groups that have stayed, which live until the next call; none at the end */
extern CsvStatus csv_team_groups(CsvTeam *team, CsvPartialGroups *groups);

/* number of members that have evaluated a batch */
extern uint32_t csv_team_nactive(const CsvTeam *team);

/*
 * Set a byte in `flags` for each row of a batch that has a doubtful value, for
 * csv_evaluator_run().  False: no row has one, and flags are unchanged.
 */
extern bool csv_find_doubtful(const CsvBatch *batch, uint32_t ncolumns,
							  uint8_t *flags);

#endif							/* CSV_TEAM_H */
