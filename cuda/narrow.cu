/*
 * narrow.cu
 *		Sums of known groups if all values are integers of 64 bits.
 *
 * Most sums are of such values: integers, dates, and numerics of up to 18 digits.
 * row.h, which knows every type, takes some 2,600 instructions for a row of TPC-H's
 * Q6.  Here a thread takes several rows at a time, and decodes a step only once for
 * them; its slots have 8 bytes; and nothing is written per row.
 *
 * A value that does not fit into 64 bits or into its type, or that is missing, is
 * counted as careful.  Then none of the results are of use, and csv_launch_sums must
 * do the work.
 */
#include <cub/warp/warp_reduce.cuh>

#include "query.cuh"

#define THREADS			CSV_QUERY_SUM_THREADS
#define ROWS			4		/* per thread at a time */
#define ALL_ROWS		((1u << ROWS) - 1)
#define ALL_LANES		UINT32_MAX

/* per slot and thread: the rows' values, and a bit for each NULL */
#define SLOT_BYTES		(ROWS * sizeof(int64_t) + 1)

/* ---- plans that fit ---- */

static bool
is_narrow_operand(const CsvPlan *plan, int32_t operand)
{
	const CsvConstant *constant;

	if (operand >= 0)			/* a slot, or CSV_NO_OPERAND */
		return true;
	constant = &plan->constants[-1 - operand];
	return !constant->undecided &&
		(constant->isnull || constant->lane == CSV_LANE_INT ||
		 (constant->lane == CSV_LANE_DECIMAL &&
		  constant->value.decimal == constant->value.integer));
}

static bool
is_narrow_step(const CsvPlan *plan, const CsvStep *step,
			   const CsvRowColumn *columns)
{
	switch (step->operation)
	{
		case CSV_OP_COLUMN:
			return columns[step->operand].kind == CSV_KIND_DECIMAL64 ||
				csv_lane_of_kind(columns[step->operand].kind) == CSV_LANE_INT;
		case CSV_OP_RESCALE:
			if (step->operand > 18)
				return false;
			break;
		case CSV_OP_ADD:
		case CSV_OP_SUBTRACT:
		case CSV_OP_MULTIPLY:
		case CSV_OP_NEGATE:
		case CSV_OP_INT_TO_DECIMAL:
		case CSV_OP_EQUAL:
		case CSV_OP_NOT_EQUAL:
		case CSV_OP_LESS:
		case CSV_OP_LESS_EQUAL:
		case CSV_OP_GREATER:
		case CSV_OP_GREATER_EQUAL:
		case CSV_OP_IS_NULL:
		case CSV_OP_IS_NOT_NULL:
		case CSV_OP_IS_TRUE:
		case CSV_OP_IS_FALSE:
		case CSV_OP_NOT:
		case CSV_OP_AND:
		case CSV_OP_OR:
		case CSV_OP_CHOOSE:
		case CSV_STEP_FILTER:
		case CSV_STEP_INPUT:
			break;
		default:
			return false;
	}
	return is_narrow_operand(plan, step->a) &&
		is_narrow_operand(plan, step->b) && is_narrow_operand(plan, step->c);
}

static size_t
shared_bytes(const CsvPlan *plan, uint32_t ngroups)
{
	return (size_t) plan->nslots * THREADS * SLOT_BYTES +
		(size_t) ngroups * csv_sum_pitch(*plan) * 4;
}

bool
csv_narrow_fits(const CsvPlan *plan, const CsvRowColumn *columns,
				uint32_t ncolumns, uint32_t ngroups, size_t max_shared_bytes)
{
	for (uint32_t i = 0; i < ncolumns; i++)
		if (columns[i].slow)
			return false;
	for (uint32_t i = 0; i < plan->nsteps; i++)
		if (!is_narrow_step(plan, &plan->steps[i], columns))
			return false;
	for (uint32_t i = 0; i < plan->naggregates; i++)
		if (plan->aggregate[i].kind != CSV_AGGREGATE_SUM ||
			plan->aggregate[i].lane == CSV_LANE_FLOAT)
			return false;
	return shared_bytes(plan, ngroups) <= max_shared_bytes;
}

/* ---- a thread's rows ---- */

typedef struct Slots
{
	int64_t    *values;			/* slot i, row k: [(i * ROWS + k) * THREADS] */
	uint8_t    *nulls;			/* [i * THREADS] */
} Slots;

/* an operand or a result */
typedef struct Values
{
	int64_t		of[ROWS];
	uint32_t	nulls;			/* a bit per row */
} Values;

static __device__ __forceinline__ Values
operand_values(const CsvPlan &plan, const Slots &slots, int32_t operand)
{
	Values		values;

	if (operand < 0)
	{
		const CsvConstant *constant = &plan.constants[-1 - operand];

#pragma unroll
		for (int k = 0; k < ROWS; k++)
			values.of[k] = constant->value.integer;
		values.nulls = constant->isnull ? ALL_ROWS : 0;
		return values;
	}
#pragma unroll
	for (int k = 0; k < ROWS; k++)
		values.of[k] = slots.values[(operand * ROWS + k) * THREADS];
	values.nulls = slots.nulls[operand * THREADS];
	return values;
}

template <typename Entry>
static __device__ __forceinline__ void
load_entries(const CsvRowColumn &column, const uint32_t *rows, Values *values)
{
#pragma unroll
	for (int k = 0; k < ROWS; k++)
		values->of[k] = ((const Entry *) column.values)[rows[k]];
}

/* entries of these kinds are as wide as their values; *bad: rows without a value */
static __device__ __forceinline__ Values
column_values(const CsvRowColumn &column, const uint32_t *rows, uint32_t *bad)
{
	Values		values;

	switch (column.kind)
	{
		case CSV_KIND_BOOL:
			load_entries<uint8_t>(column, rows, &values);
			break;
		case CSV_KIND_INT2:
			load_entries<int16_t>(column, rows, &values);
			break;
		case CSV_KIND_INT4:
		case CSV_KIND_DATE:
			load_entries<int32_t>(column, rows, &values);
			break;
		default:
			load_entries<int64_t>(column, rows, &values);
			break;
	}
	values.nulls = 0;
	if (column.status != NULL)
	{
#pragma unroll
		for (int k = 0; k < ROWS; k++)
		{
			uint8_t		status = column.status[rows[k]];

			values.nulls |= (uint32_t) (status == CSV_VALUE_NULL) << k;
			*bad |= (uint32_t) (status != CSV_VALUE_OK &&
								status != CSV_VALUE_NULL) << k;
		}
	}
	return values;
}

/* rows whose values are not NULL and not zero */
static __device__ __forceinline__ uint32_t
true_rows(const Values &values)
{
	uint32_t	rows = 0;

#pragma unroll
	for (int k = 0; k < ROWS; k++)
		rows |= (uint32_t) (values.of[k] != 0) << k;
	return rows & ~values.nulls;
}

static __device__ __forceinline__ Values
of_rows(uint32_t rows, uint32_t nulls)
{
	Values		values;

#pragma unroll
	for (int k = 0; k < ROWS; k++)
		values.of[k] = rows >> k & 1;
	values.nulls = nulls;
	return values;
}

static __device__ __forceinline__ Values
and_or(bool decisive, const Values &a, const Values &b)
{
	uint32_t	a_true = true_rows(a);
	uint32_t	b_true = true_rows(b);
	uint32_t	decided = decisive ? a_true | b_true :
		(~a_true & ~a.nulls) | (~b_true & ~b.nulls);

	return of_rows(decisive ? decided : a_true & b_true,
				   (a.nulls | b.nulls) & ~decided);
}

/* compare; `operation` is a constant */
static __device__ __forceinline__ Values
compare(int operation, const Values &a, const Values &b)
{
	Values		values;

#pragma unroll
	for (int k = 0; k < ROWS; k++)
		values.of[k] = csv_order_satisfies(csv_int_compare(a.of[k], b.of[k]),
										   operation);
	values.nulls = a.nulls | b.nulls;
	return values;
}

/* integers, and decimals of 64 bits; `operation` is a constant */
static __device__ __forceinline__ Values
arithmetic(int operation, uint32_t bits, const Values &a, const Values &b,
		   uint32_t *bad)
{
	Values		values;

	values.nulls = a.nulls | b.nulls;
#pragma unroll
	for (int k = 0; k < ROWS; k++)
		*bad |= (uint32_t) (!csv_int_operate(operation, a.of[k], b.of[k], bits,
											 &values.of[k]) &&
							(values.nulls >> k & 1) == 0) << k;
	return values;
}

static __device__ Values
execute(const CsvPlan &plan, const CsvStep &step, const CsvRowColumn *columns,
		const uint32_t *rows, const Slots &slots, uint32_t *bad)
{
	uint32_t	bits = step.lane == CSV_LANE_INT ? step.bits : 64;
	Values		a;
	Values		b;

	if (step.operation == CSV_OP_COLUMN)
		return column_values(columns[step.operand], rows, bad);
	a = operand_values(plan, slots, step.a);
	if (step.operation == CSV_OP_CHOOSE)
	{
		uint32_t	chosen = true_rows(a);

		b = operand_values(plan, slots, step.b);
		a = operand_values(plan, slots, step.c);
#pragma unroll
		for (int k = 0; k < ROWS; k++)
			a.of[k] = (chosen >> k & 1) != 0 ? b.of[k] : a.of[k];
		a.nulls = (b.nulls & chosen) | (a.nulls & ~chosen);
		return a;
	}
	b = step.b == CSV_NO_OPERAND ? a : operand_values(plan, slots, step.b);
	switch (step.operation)
	{
		case CSV_OP_ADD:
			return arithmetic(CSV_OP_ADD, bits, a, b, bad);
		case CSV_OP_SUBTRACT:
			return arithmetic(CSV_OP_SUBTRACT, bits, a, b, bad);
		case CSV_OP_MULTIPLY:
			return arithmetic(CSV_OP_MULTIPLY, bits, a, b, bad);
		case CSV_OP_NEGATE:
			return arithmetic(CSV_OP_NEGATE, bits, a, b, bad);
		case CSV_OP_RESCALE:
			for (int k = 0; k < ROWS; k++)
				b.of[k] = (int64_t) csv_power_of_ten(step.operand);
			return arithmetic(CSV_OP_MULTIPLY, 64, a, b, bad);
		case CSV_OP_EQUAL:
			return compare(CSV_OP_EQUAL, a, b);
		case CSV_OP_NOT_EQUAL:
			return compare(CSV_OP_NOT_EQUAL, a, b);
		case CSV_OP_LESS:
			return compare(CSV_OP_LESS, a, b);
		case CSV_OP_LESS_EQUAL:
			return compare(CSV_OP_LESS_EQUAL, a, b);
		case CSV_OP_GREATER:
			return compare(CSV_OP_GREATER, a, b);
		case CSV_OP_GREATER_EQUAL:
			return compare(CSV_OP_GREATER_EQUAL, a, b);
		case CSV_OP_IS_NULL:
			return of_rows(a.nulls, 0);
		case CSV_OP_IS_NOT_NULL:
			return of_rows(~a.nulls, 0);
		case CSV_OP_IS_TRUE:
			return of_rows(true_rows(a), 0);
		case CSV_OP_IS_FALSE:
			return of_rows(~true_rows(a) & ~a.nulls, 0);
		case CSV_OP_NOT:
			return of_rows(~true_rows(a), a.nulls);
		case CSV_OP_AND:
			return and_or(false, a, b);
		case CSV_OP_OR:
			return and_or(true, a, b);
		default:				/* INT_TO_DECIMAL */
			return a;
	}
}

/* ---- sums ---- */

/*
 * Add each row's number to a counter of its group, for the rows in `counting`.
 * Groups' counters are `pitch` apart.  The sum of a warp's rows fits.
 */
template <bool one_group>
static __device__ __forceinline__ void
add(int32_t *counter, uint32_t pitch, const uint32_t *groups,
	uint32_t counting, const int32_t *numbers)
{
	if (one_group)
	{
		typedef cub::WarpReduce<int32_t> WarpReduce;
		__shared__ typename WarpReduce::TempStorage reduce[THREADS / 32];
		int32_t		sum = 0;

#pragma unroll
		for (int k = 0; k < ROWS; k++)
			sum += (counting >> k & 1) != 0 ? numbers[k] : 0;
		sum = WarpReduce(reduce[threadIdx.x / 32]).Sum(sum);
		if (threadIdx.x % 32 == 0 && sum != 0)
			atomicAdd(counter, sum);
	}
	else
	{
#pragma unroll
		for (int k = 0; k < ROWS; k++)
			if ((counting >> k & 1) != 0 && numbers[k] != 0)
				atomicAdd(counter + (size_t) groups[k] * pitch, numbers[k]);
	}
}

template <bool one_group>
static __device__ __forceinline__ void
add_values(int32_t *counter, uint32_t pitch, const uint32_t *groups,
		   uint32_t counting, const Values &values)
{
#pragma unroll
	for (int piece = 0; piece < 4; piece++)
	{
		int32_t		numbers[ROWS];

		/* 16 bits each; the last piece has the sign */
#pragma unroll
		for (int k = 0; k < ROWS; k++)
		{
			int64_t		rest = values.of[k] >> 16 * piece;

			numbers[k] = piece == 3 ? (int32_t) rest : (int32_t) (rest & 0xffff);
		}
		add<one_group>(counter + piece, pitch, groups, counting, numbers);
	}
}

/* add the rows that pass to their groups' counters: see csv_launch_sums */
template <bool one_group>
static __device__ __forceinline__ void
add_rows(const CsvPlan &plan, const Slots &slots, uint32_t passing,
		 const uint32_t *groups, int32_t *counters)
{
	const CsvStep *inputs = plan.steps + plan.first_output;
	uint32_t	pitch = csv_sum_pitch(plan);
	int32_t		ones[ROWS];
	int32_t		minus_ones[ROWS];
	uint64_t	all_count = 0;	/* inputs that count in all rows that pass */

#pragma unroll
	for (int k = 0; k < ROWS; k++)
	{
		ones[k] = 1;
		minus_ones[k] = -1;
	}
	add<one_group>(counters + 2 * plan.nwords, pitch, groups, passing, ones);
	for (uint32_t i = 0; i < plan.ninputs; i++)
	{
		uint32_t	counting = passing;

		if (inputs[i].b != CSV_NO_OPERAND)
			counting &= true_rows(operand_values(plan, slots, inputs[i].b));
		if (inputs[i].a != CSV_NO_OPERAND)
			counting &= ~operand_values(plan, slots, inputs[i].a).nulls;
		if (__all_sync(ALL_LANES, counting == passing))
			all_count |= (uint64_t) 1 << i;
		else
			add<one_group>(counters + 2 * i, pitch, groups,
						   passing & ~counting, minus_ones);
	}
	for (uint32_t i = 0; i < plan.naggregates; i++)
	{
		const CsvPlanAggregate aggregate = plan.aggregate[i];
		const CsvStep &input = inputs[aggregate.input];
		Values		values = operand_values(plan, slots, input.a);
		uint32_t	counting = passing & ~values.nulls;

		if (input.b != CSV_NO_OPERAND && (all_count >> aggregate.input & 1) == 0)
			counting &= true_rows(operand_values(plan, slots, input.b));
		add_values<one_group>(counters + 2 * aggregate.first_word, pitch, groups,
							  counting, values);
	}
}

template <bool one_group>
static __global__ void __launch_bounds__(THREADS)
narrow_kernel(const __grid_constant__ CsvQueryView view, uint32_t block_rows)
{
	extern __shared__ int64_t words[];
	const CsvPlan &plan = view.plan;
	const uint32_t nslots = plan.nslots;
	uint8_t    *nulls = (uint8_t *) (words + (size_t) nslots * ROWS * THREADS);
	int32_t    *counters = (int32_t *) (nulls + (size_t) nslots * THREADS);
	uint32_t	ncounters = view.ngroups * csv_sum_pitch(plan);
	uint32_t	end = min((blockIdx.x + 1) * block_rows, view.nrows);
	Slots		slots = {words + threadIdx.x, nulls + threadIdx.x};
	uint32_t	ncareful = 0;

	for (uint32_t i = threadIdx.x; i < ncounters; i += THREADS)
		counters[i] = 0;
	__syncthreads();
	for (uint32_t first = blockIdx.x * block_rows + threadIdx.x;
		 first - threadIdx.x < end; first += ROWS * THREADS)
	{
		uint32_t	rows[ROWS];
		uint32_t	groups[ROWS];
		uint32_t	passing = 0;
		uint32_t	bad = 0;

		/* places without a row also run, with the last row's values */
#pragma unroll
		for (int k = 0; k < ROWS; k++)
		{
			rows[k] = first + k * THREADS;
			passing |= (uint32_t) (rows[k] < end) << k;
			rows[k] = min(rows[k], end - 1);
			groups[k] = one_group ? 0 : view.classes[rows[k]];
		}
		for (uint32_t i = 0; i < plan.first_output; i++)
		{
			const CsvStep step = plan.steps[i];

			if (step.operation == CSV_STEP_FILTER)
			{
				passing &= true_rows(operand_values(plan, slots, step.a));
				if (!__any_sync(ALL_LANES, passing != 0))
					break;
			}
			else
			{
				uint32_t	unfit = 0;
				Values		values = execute(plan, step, view.columns, rows,
											 slots, &unfit);

				bad |= unfit & passing;
#pragma unroll
				for (int k = 0; k < ROWS; k++)
					slots.values[(step.result * ROWS + k) * THREADS] =
						values.of[k];
				slots.nulls[step.result * THREADS] = (uint8_t) values.nulls;
			}
		}
		if (!one_group)
		{
#pragma unroll
			for (int k = 0; k < ROWS; k++)
				if ((passing >> k & 1) != 0 && groups[k] == CSV_UNKNOWN_CLASS)
				{
					bad |= 1u << k;
					passing &= ~(1u << k);
				}
		}
		ncareful += __popc(bad);
		if (__any_sync(ALL_LANES, passing != 0))
			add_rows<one_group>(plan, slots, passing, groups, counters);
	}
	if (ncareful > 0)
		atomicAdd(&view.counts->ncareful, ncareful);
	__syncthreads();
	csv_flush_sums(view, counters);
}

void
csv_launch_narrow(const CsvQueryView *view, cudaStream_t stream)
{
	uint32_t	nblocks = (view->nrows - 1) / CSV_QUERY_SUM_ROWS + 1;
	size_t		nbytes = shared_bytes(&view->plan, view->ngroups);
	void		(*kernel) (const CsvQueryView, uint32_t) =
		view->classes == NULL ? narrow_kernel<true> : narrow_kernel<false>;

	csv_sums_clear(view, stream);
	cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
						 (int) nbytes);
	kernel<<<nblocks, THREADS, nbytes, stream>>>(*view, CSV_QUERY_SUM_ROWS);
}
