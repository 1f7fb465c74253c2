/*
 * results.c
 *		Makes result columns of groups.
 *
 * A result is a value of the aggregate's type, or its transition state if another node
 * combines several states.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"
#include "utils/syscache.h"

#include "compat.h"
#include "groups/group_values.h"
#include "query/operate.h"

static void
lookup_functions(CsvResult *result)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(result->aggref->aggfnoid));
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u",
			 result->aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	result->serialize = form->aggserialfn;
	if (result->kind == CSV_RESULT_VARIANCE)
	{
		/* the state of floats is an array */
		if (OidIsValid(form->aggdeserialfn))
			fmgr_info(form->aggdeserialfn, &result->deserialize);
		fmgr_info(form->aggfinalfn, &result->finish);
	}
	ReleaseSysCache(tuple);
}

/* can values be made for many groups at a time? */
static bool
has_column(const CsvResult *result)
{
	const CsvRegister *reg = &result->reg;

	if (!result->is_used || result->shown >= 0 || reg->scaled)
		return false;
	switch (result->kind)
	{
		case CSV_RESULT_KEY:
		case CSV_RESULT_EXTREME:
			return reg->lane != CSV_LANE_TEXT && reg->lane != CSV_LANE_UUID;
		case CSV_RESULT_COUNT:
			return true;
		case CSV_RESULT_SUM:
			return reg->lane != CSV_LANE_FLOAT &&
				(result->type == INT8OID || result->type == NUMERICOID);
		default:
			return false;
	}
}

CsvResults *
csv_results_create(const CsvProgram *program, const ForeignScan *plan,
				   List *lists, ExprContext *econtext)
{
	CsvResults *results = palloc0(sizeof(CsvResults));
	Bitmapset  *used = NULL;
	ListCell   *cell;

	results->program = program;
	results->results = palloc0(sizeof(CsvResult) * list_length(lists));
	results->all_columns = true;
	pull_varattnos((Node *) plan->scan.plan.targetlist, INDEX_VAR, &used);
	pull_varattnos((Node *) plan->scan.plan.qual, INDEX_VAR, &used);
	foreach(cell, lists)
	{
		List	   *numbers = lfirst(cell);
		CsvResult  *result = &results->results[results->n];
		Expr	   *expr = list_nth_node(TargetEntry, plan->fdw_scan_tlist,
										 results->n++)->expr;

		result->kind = linitial_int(numbers);
		result->argument = lsecond_int(numbers);
		result->first = lthird_int(numbers);
		result->second = lfourth_int(numbers);
		result->shown = list_nth_int(numbers, 4);
		/* a count may have no argument, and does not need it */
		if (result->argument >= 0)
			result->reg = program->registers[result->argument];
		result->type = exprType((Node *) expr);
		result->is_used =
			bms_is_member(results->n - FirstLowInvalidHeapAttributeNumber, used);
		if (result->kind != CSV_RESULT_KEY)
		{
			result->aggref = castNode(Aggref, expr);
			lookup_functions(result);
		}
		result->has_column = has_column(result);
		results->all_columns &= result->has_column || !result->is_used;
		results->any_text |= result->reg.lane == CSV_LANE_TEXT;
	}

	/*
	 * The final functions of variances take a state that only they know, and ask their
	 * caller in whose memory it lives.
	 */
	results->caller = makeNode(AggState);
	results->caller->curaggcontext = econtext;
	return results;
}

/* ---- keys and aggregates of a group ---- */

static void
get_aggregate(const CsvResults *results, const CsvGroupPlace *place,
			  int aggregate, CsvAggregateValue *value)
{
	csv_partial_aggregate(results->query, results->layout, place->piece,
						  place->group, (uint32_t) aggregate, value);
}

/* values that no lane holds */
static const CsvExtra *
find_extra(const CsvGroupPlace *place, int aggregate)
{
	return place->extras == NULL ? NULL :
		csv_extras_find(place->extras, place->number, aggregate);
}

/* a sum of a group */
typedef struct Sum
{
	int64		count;			/* of values */
	int64		nnans;
	int64		ninfinities[2]; /* negative, positive */
	CsvAggregateValue value;
	Datum		numeric;		/* sum of the finite values */
} Sum;

/* the result's numeric with the greatest scale of its values */
static Datum
show(const CsvResults *results, const CsvGroupPlace *place,
	 const CsvResult *result, Datum numeric, int scale)
{
	CsvAggregateValue most;

	if (result->shown < 0)
		return numeric;
	get_aggregate(results, place, result->shown, &most);
	return most.extreme.state == CSV_LANE_NULL ? numeric :
		csv_numeric_shown(numeric, scale, (int) most.extreme.value.integer);
}

/* wants_numeric: make a numeric, too, which may be in `room` */
static void
get_sum(const CsvResults *results, const CsvGroupPlace *place,
		const CsvResult *result, int aggregate, void *room, bool wants_numeric,
		Sum *sum)
{
	const CsvExtra *extra = find_extra(place, aggregate);
	int			scale = result->reg.scale;

	if (results->program->aggregate[aggregate].kind ==
		CSV_AGGREGATE_SUM_SQUARES)
		scale *= 2;
	memset(sum, 0, sizeof(*sum));
	get_aggregate(results, place, aggregate, &sum->value);
	sum->count = sum->value.count;
	if (result->reg.lane == CSV_LANE_FLOAT)
	{
		if (sum->value.overflow)
			float_overflow_error();
		return;
	}
	if (wants_numeric)
		sum->numeric = show(results, place, result,
							csv_numeric_of_wide(sum->value.wide, scale, room),
							scale);
	if (extra == NULL)
		return;
	sum->numeric = sum->count == extra->count ? extra->value :
		DirectFunctionCall2(numeric_add, sum->numeric, extra->value);
	sum->nnans = extra->nnans;
	memcpy(sum->ninfinities, extra->ninfinities, sizeof(sum->ninfinities));
}

/* the sum with values that are not finite */
static Datum
whole_sum(const Sum *sum)
{
	const char *text = sum->nnans > 0 ||
		(sum->ninfinities[0] > 0 && sum->ninfinities[1] > 0) ? "NaN" :
		sum->ninfinities[0] > 0 ? "-Infinity" :
		sum->ninfinities[1] > 0 ? "Infinity" : NULL;

	return text == NULL ? sum->numeric :
		DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

static Datum
sum_result(const Sum *sum, Oid type)
{
	switch (type)
	{
		case INT8OID:
			return Int64GetDatum((int64) sum->value.wide.low);
		case FLOAT4OID:
			if (isinf((float4) sum->value.real) && !isinf(sum->value.real))
				float_overflow_error();
			return Float4GetDatum((float4) sum->value.real);
		case FLOAT8OID:
			return Float8GetDatum(sum->value.real);
		default:
			return whole_sum(sum);
	}
}

static Datum
average_result(const Sum *sum, Oid type)
{
	/* PostgreSQL's sum begins with 0, so that a sum of -0 is 0 */
	if (type == FLOAT8OID)
		return Float8GetDatum((sum->value.real + 0.0) / (float8) sum->count);
	return DirectFunctionCall2(numeric_div, whole_sum(sum),
							   NumericGetDatum(int64_to_numeric(sum->count)));
}

/* send a numeric as numeric.c serializes it in states */
static void
send_numeric(StringInfo buffer, Datum numeric)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send,
														   numeric));
	StringInfoData in;
	int			ndigits;

	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(sent), VARSIZE_ANY_EXHDR(sent));
	ndigits = (int16) pq_getmsgint(&in, 2);
	pq_sendint32(buffer, ndigits);
	pq_sendint32(buffer, (int32) (int16) pq_getmsgint(&in, 2)); /* weight */
	pq_sendint32(buffer, (uint16) pq_getmsgint(&in, 2));	/* sign */
	pq_sendint32(buffer, (int32) (int16) pq_getmsgint(&in, 2)); /* dscale */
	for (int i = 0; i < ndigits; i++)
		pq_sendint16(buffer, (uint16) pq_getmsgint(&in, 2));
}

static void
send_sum(StringInfo buffer, const Sum *sum, bool is_numeric)
{
	if (is_numeric || !CSV_SERIALIZES_INT128)
	{
		send_numeric(buffer, sum->numeric);
		return;
	}
	pq_sendint64(buffer, (uint64) (sum->value.wide.low >> 64));
	pq_sendint64(buffer, (uint64) sum->value.wide.low);
}

static Datum
call_as_aggregate(CsvResults *results, FmgrInfo *function, int nargs,
				  Datum state, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, function, nargs, InvalidOid,
							 (Node *) results->caller, NULL);
	memset(fcinfo->args, 0, 2 * sizeof(NullableDatum));
	fcinfo->args[0].value = state;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/*
 * A transition state that only its function knows, as parallel workers hand it
 * over: the bytes of the function's aggserialfn.
 */
static Datum
serialized_state(Oid function, const Sum *sum, const Sum *squares)
{
	bool		is_numeric = function == F_NUMERIC_SERIALIZE ||
		function == F_NUMERIC_AVG_SERIALIZE;
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint64(&buffer, sum->count - sum->nnans - sum->ninfinities[0] -
				 sum->ninfinities[1]);
	send_sum(&buffer, sum, is_numeric);
	if (squares != NULL)
		send_sum(&buffer, squares, is_numeric);
	if (is_numeric)
	{
		pq_sendint32(&buffer, 0);	/* the greatest scale */
		pq_sendint64(&buffer, 0);	/* its number of values, for removing values */
		pq_sendint64(&buffer, sum->nnans);
		pq_sendint64(&buffer, sum->ninfinities[1]);
		pq_sendint64(&buffer, sum->ninfinities[0]);
	}
	return PointerGetDatum(pq_endtypsend(&buffer));
}

/* variances and standard deviations by the server's own final functions */
static Datum
variance_result(CsvResults *results, CsvResult *result, Datum serialized,
				bool *isnull)
{
	Datum		state = call_as_aggregate(results, &result->deserialize, 2,
										  serialized, isnull);

	return call_as_aggregate(results, &result->finish, 1, state, isnull);
}

/* the transition state of averages and variances of floats */
static Datum
float_state(const Sum *sum, float8 spread)
{
	Datum		elements[3];

	elements[0] = Float8GetDatum((float8) sum->count);
	elements[1] = Float8GetDatum(sum->value.real + 0.0);
	elements[2] = Float8GetDatum(spread);
	return PointerGetDatum(construct_array(elements, 3, FLOAT8OID,
										   sizeof(float8), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/*
 * The sum of squared deviations from the mean of a result's values, as PostgreSQL
 * keeps it: NaN if a value was not finite.
 */
static float8
float_spread(const CsvResults *results, const CsvGroupPlace *place,
			 const CsvResult *result, const Sum *sum)
{
	float8		spread;

	if (sum->count == 0 || !isfinite(sum->value.real))
		return sum->count == 0 ? 0.0 : get_float8_nan();
	spread = sum->count == 1 ? 0.0 :
		find_extra(place, result->second) != NULL ?
		get_float8_infinity() :
		csv_partial_spread(results->layout, place->piece, place->group,
						   (uint32_t) result->first,
						   (uint32_t) result->second, (uint64_t) sum->count);
	if (isinf(spread))
		float_overflow_error();
	return spread;
}

/*
 * The transition state of an average, which is an array.  Averages do not need the sum
 * of squared deviations, if it is finite.  But PostgreSQL uses the same state for a
 * variance of the same values, if there is one.
 */
static Datum
average_state(const CsvResults *results, const CsvGroupPlace *place,
			  const CsvResult *result, const Sum *sum)
{
	Datum		elements[2];

	if (result->type == FLOAT8ARRAYOID)
	{
		for (int i = 0; i < results->n; i++)
		{
			const CsvResult *other = &results->results[i];

			if (other->kind == CSV_RESULT_VARIANCE &&
				other->first == result->first)
				return float_state(sum, float_spread(results, place, other, sum));
		}
		return float_state(sum, isfinite(sum->value.real) ? 0.0 :
						   get_float8_nan());
	}
	elements[0] = Int64GetDatum(sum->count);
	elements[1] = Int64GetDatum((int64) sum->value.wide.low);
	return PointerGetDatum(construct_array(elements, 2, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static Datum
datum_of_value(CsvResult *result, const CsvValue *value)
{
	return result->reg.type == NUMERICOID ?
		csv_numeric_of_decimal(value->value.decimal, result->reg.scale,
							   result->room) :
		csv_datum_of_value(&result->reg, value);
}

static Datum
key_result(const CsvResults *results, const CsvGroupPlace *place,
		   CsvResult *result, const CsvValue *key)
{
	bool		stands_in = result->reg.lane == CSV_LANE_DECIMAL &&
		!csv_decimal_fits(key->value.decimal);
	Datum		datum = stands_in ?
		csv_extras_key(place->extras, key->value.decimal) :
		datum_of_value(result, key);

	return show(results, place, result, datum,
				stands_in ? csv_numeric_scale(datum) : result->reg.scale);
}

/* the extreme may be in the lane, or beside it, or both */
static Datum
extreme_result(const CsvResults *results, const CsvGroupPlace *place,
			   CsvResult *result, int64 count, CsvValue *value)
{
	const CsvExtra *extra = find_extra(place, result->first);
	bool		is_max = results->program->aggregate[result->first].kind ==
		CSV_AGGREGATE_MAX;
	Datum		datum;

	if (extra != NULL && extra->count == count)
		return extra->value;
	if (result->reg.lane == CSV_LANE_DECIMAL && result->reg.scaled)
	{
		int			unit = (int) csv_power_of_ten(CSV_PACKED_DIGITS);
		CsvInt128  *decimal = &value->value.decimal;
		int			scale = (int) ((is_max ? *decimal : -*decimal) % unit);

		scale += scale < 0 ? unit : 0;
		*decimal = (*decimal - (is_max ? scale : -scale)) / unit;
		datum = csv_numeric_shown(datum_of_value(result, value),
								  result->reg.scale, scale);
	}
	else
		datum = datum_of_value(result, value);
	return extra == NULL ? datum :
		csv_numeric_extreme(is_max, datum, extra->value);
}

Datum
csv_result(CsvResults *results, const CsvGroupPlace *place, int i,
		   bool *isnull)
{
	CsvResult  *result = &results->results[i];
	CsvAggregateValue value;
	CsvValue	key;
	Sum			sum;
	Sum			squares;
	Datum		state;

	*isnull = false;
	switch (result->kind)
	{
		case CSV_RESULT_KEY:
			csv_partial_key(results->query, place->piece, place->group,
							(uint32_t) result->first, &key);
			*isnull = key.state == CSV_LANE_NULL;
			return *isnull ? (Datum) 0 : key_result(results, place, result, &key);
		case CSV_RESULT_COUNT:
			get_aggregate(results, place, result->first, &value);
			return Int64GetDatum(value.count);
		case CSV_RESULT_EXTREME:
			get_aggregate(results, place, result->first, &value);
			*isnull = value.count == 0;
			return *isnull ? (Datum) 0 :
				extreme_result(results, place, result, value.count, &value.extreme);
		default:
			break;
	}

	get_sum(results, place, result, result->first, result->room,
			result->type != INT8OID && result->type != INT8ARRAYOID, &sum);
	if (result->kind == CSV_RESULT_VARIANCE && result->reg.lane == CSV_LANE_FLOAT)
	{
		state = float_state(&sum, float_spread(results, place, result, &sum));
		return result->aggref->aggsplit != AGGSPLIT_SIMPLE ? state :
			call_as_aggregate(results, &result->finish, 1, state, isnull);
	}
	if (result->type == INT8ARRAYOID || result->type == FLOAT8ARRAYOID)
		return average_state(results, place, result, &sum);
	*isnull = sum.count == 0;
	if (*isnull)
		return (Datum) 0;
	if (result->kind == CSV_RESULT_VARIANCE)
	{
		get_sum(results, place, result, result->second, NULL, true, &squares);
		state = serialized_state(result->serialize, &sum, &squares);
		return result->aggref->aggsplit == AGGSPLIT_SIMPLE ?
			variance_result(results, result, state, isnull) : state;
	}
	if (result->type == BYTEAOID)
		return serialized_state(result->serialize, &sum, NULL);
	return result->kind == CSV_RESULT_SUM ? sum_result(&sum, result->type) :
		average_result(&sum, result->type);
}
