/*
 * host_answer.c
 *		A plan evaluated on the host: see host_answer.h.
 */
#include "host_answer.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/query/row.h"

/* what an answer points to, in the order of its members */
typedef struct Answer
{
	CsvAnswer	answer;
	uint32_t   *rows;
	uint8_t    *careful;
	uint64_t   *keys;
	uint32_t   *nulls;
	int64_t    *words;
	uint8_t    *texts;
	size_t		text_bytes;
} Answer;

static void
put_pair(Answer *out, uint8_t lane, CsvRowValue value, uint64_t *pair)
{
	if (lane == CSV_LANE_TEXT)
	{
		out->texts = realloc(out->texts, out->text_bytes + value.high + 1);
		memcpy(out->texts + out->text_bytes, csv_row_text(value), value.high);
		value.low = out->text_bytes;
		out->text_bytes += value.high;
	}
	pair[0] = value.low;
	pair[1] = value.high;
}

static void
add_row(const CsvPlan *plan, const CsvOutputs *outputs, uint32_t row,
		int64_t *words)
{
	for (uint32_t i = 0; i < plan->ninputs; i++)
		words[i] += outputs->counts[(size_t) i * outputs->nrows + row];
	for (uint32_t i = 0; i < plan->naggregates; i++)
	{
		const CsvPlanAggregate *aggregate = &plan->aggregate[i];
		uint32_t	column = (uint32_t) plan->inputs[aggregate->input].column;
		int64_t    *word = words + aggregate->first_word;
		CsvRowValue value = csv_row_read(outputs->values, column,
										 outputs->nrows, row);
		CsvAddend	addends[2];
		uint32_t	seen;
		uint32_t	n;

		if (outputs->counts[(size_t) aggregate->input * outputs->nrows +
							row] == 0)
			continue;
		if (aggregate->kind == CSV_AGGREGATE_MIN ||
			aggregate->kind == CSV_AGGREGATE_MAX)
		{
			uint32_t	kept = (uint32_t) word[0];

			if (kept == 0 ||
				csv_row_replaces(aggregate->kind, aggregate->lane,
								 csv_row_read(outputs->values, column,
											  outputs->nrows, kept - 1),
								 kept - 1, value, row))
				word[0] = row + 1;
			continue;
		}
		n = csv_addends(aggregate->kind, aggregate->lane, value, addends,
						&seen);
		for (uint32_t k = 0; k < n; k++)
			for (int j = 0; j < 4; j++)
			{
				int64_t		piece = (int64_t) (uint32_t)
					(addends[k].magnitude >> 32 * j);

				if (piece != 0)
					word[addends[k].place + (uint32_t) j] +=
						addends[k].negative ? -piece : piece;
			}
		if (aggregate->lane == CSV_LANE_FLOAT)
			word[CSV_FLOAT_SUM_WORDS] |= seen;
	}
}

/* from rows to groups, of which some thousands would take long */
static void
group_rows(const CsvPlan *plan, const CsvOutputs *outputs, Answer *out)
{
	uint32_t   *firsts = malloc(outputs->nrows * sizeof(uint32_t) + 4);
	uint32_t	n = plan->nkeys == 0 ? 1 : 0;

	out->words = calloc((size_t) outputs->nrows + 1,
						plan->nwords * sizeof(int64_t) + 1);
	out->keys = calloc((size_t) outputs->nrows + 1, plan->nkeys * 16 + 1);
	out->nulls = calloc((size_t) outputs->nrows + 1, sizeof(uint32_t));
	for (uint32_t row = 0; row < outputs->nrows; row++)
	{
		uint32_t	group = 0;

		if (outputs->fates[row] != CSV_FATE_PASSES)
			continue;
		while (plan->nkeys > 0 && group < n &&
			   (outputs->hashes[row] != outputs->hashes[firsts[group]] ||
				!csv_rows_have_equal_keys(plan, outputs, firsts[group], row)))
			group++;
		if (group == n)
			firsts[n++] = row;
		add_row(plan, outputs, row, out->words + (size_t) group * plan->nwords);
	}
	for (uint32_t group = 0; group < n; group++)
	{
		int64_t    *words = out->words + (size_t) group * plan->nwords;

		for (uint32_t key = 0; key < plan->nkeys; key++)
		{
			out->nulls[group] = outputs->nulls[firsts[group]];
			if ((out->nulls[group] >> key & 1) == 0)
				put_pair(out, plan->key_lanes[key],
						 csv_row_read(outputs->keys, key, outputs->nrows,
									  firsts[group]),
						 out->keys + ((size_t) group * plan->nkeys + key) * 2);
		}
		for (uint32_t i = 0; i < plan->naggregates; i++)
		{
			const CsvPlanAggregate *aggregate = &plan->aggregate[i];
			uint64_t   *pair = (uint64_t *) words + aggregate->first_word;

			if ((aggregate->kind == CSV_AGGREGATE_MIN ||
				 aggregate->kind == CSV_AGGREGATE_MAX) &&
				words[aggregate->input] != 0)
				put_pair(out, aggregate->lane,
						 csv_row_read(outputs->values, (uint32_t)
									  plan->inputs[aggregate->input].column,
									  outputs->nrows, (uint32_t) pair[0] - 1),
						 pair);
		}
	}
	free(firsts);
	out->answer.groups.ngroups = n;
	out->answer.groups.keys = out->keys;
	out->answer.groups.nulls = out->nulls;
	out->answer.groups.words = out->words;
	out->answer.groups.texts = out->texts;
}

CsvAnswer *
host_answer(const CsvPlan *plan, const CsvLayout *layout,
			const CsvBatch *batch)
{
	Answer	   *out = calloc(1, sizeof(Answer));
	CsvSelection *selection = &out->answer.selection;
	size_t		n = batch->nrows;
	CsvRowColumn *columns = calloc(layout->ncolumns + 1, sizeof(CsvRowColumn));
	uint64_t   *words = malloc((plan->nslots + 1) * 2 * sizeof(uint64_t));
	uint8_t    *states = malloc(plan->nslots + 1);
	CsvSlots	slots = {words, states, 1};
	CsvOutputs	outputs = {batch->nrows, malloc(n + 1),
		malloc(plan->nkeys * n * 16 + 1), malloc(n * 4 + 1), malloc(n * 4 + 1),
	malloc(plan->nvalues * n * 16 + 1), malloc(plan->ninputs * n + 1),
	malloc(plan->nfolds * n * 32 + 1), 32};

	/* a copy elsewhere must do */
	uint8_t    *block = malloc(plan->nbytes);
	CsvPlan		moved = csv_plan_at(plan, memcpy(block, plan->block,
												 plan->nbytes));

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		const CsvArray *array = &batch->arrays[i];

		columns[i].values = array->values;
		columns[i].status = array->all_ok ? NULL : array->status;
		columns[i].slow = !array->all_ok;
		columns[i].stride = array->stride;
		columns[i].kind = layout->columns[i].kind;
		columns[i].precision = layout->columns[i].precision;
		columns[i].scale = layout->columns[i].scale;
	}
	out->rows = malloc(n * 4 + 4);
	out->careful = malloc(n + 1);
	selection->rows = out->rows;
	selection->careful = out->careful;
	for (uint32_t row = 0; row < batch->nrows; row++)
	{
		CsvRowState state = csv_row_begin(columns, layout->ncolumns, row);

		for (uint32_t i = 0; i < moved.nsteps; i++)
			csv_row_step(&moved, &moved.steps[i], columns, row, &slots,
						 &outputs, &state);
		csv_row_end(&moved, row, &outputs, &state);
		selection->ndropped += state.fate == CSV_FATE_DROPPED;
		selection->any_careful |= state.fate == CSV_FATE_CAREFUL;
		if (state.fate == CSV_FATE_DROPPED ||
			(state.fate == CSV_FATE_PASSES && plan->aggregates))
			continue;
		out->rows[selection->nrows] = row;
		out->careful[selection->nrows++] = state.fate == CSV_FATE_CAREFUL;
	}
	if (plan->aggregates)
		group_rows(&moved, &outputs, out);
	free(columns);
	free(words);
	free(states);
	free(outputs.fates);
	free(outputs.keys);
	free(outputs.nulls);
	free(outputs.hashes);
	free(outputs.values);
	free(outputs.counts);
	free(outputs.folded);
	free(block);
	return &out->answer;
}

void
host_answer_free(CsvAnswer *answer)
{
	Answer	   *out = (Answer *) answer;

	free(out->rows);
	free(out->careful);
	free(out->keys);
	free(out->nulls);
	free(out->words);
	free(out->texts);
	free(out);
}
