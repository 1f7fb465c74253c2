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
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"
#include "utils/syscache.h"

#include "groups/results.h"
#include "query/operate.h"

static void
lookup_functions(CsvResults *results, int i)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(results->aggrefs[i]->aggfnoid));
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u",
			 results->aggrefs[i]->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	results->serialize[i] = form->aggserialfn;
	if (results->results[i].kind == CSV_RESULT_VARIANCE)
	{
		/* the state of floats is an array */
		if (OidIsValid(form->aggdeserialfn))
			fmgr_info(form->aggdeserialfn, &results->deserialize[i]);
		fmgr_info(form->aggfinalfn, &results->finish[i]);
	}
	ReleaseSysCache(tuple);
}

CsvResults *
csv_results_create(const CsvProgram *program, const ForeignScan *plan,
				   List *lists, ExprContext *econtext)
{
	CsvResults *results = palloc0(sizeof(CsvResults));
	int			n = list_length(lists);
	Bitmapset  *used = NULL;
	int			i = 0;
	ListCell   *cell;

	results->program = program;
	results->n = n;
	results->results = palloc0(sizeof(CsvResult) * n);
	results->aggrefs = palloc0(sizeof(Aggref *) * n);
	results->is_used = palloc0(sizeof(bool) * n);
	results->rooms = palloc0(sizeof(*results->rooms) * n);
	results->serialize = palloc0(sizeof(Oid) * n);
	results->deserialize = palloc0(sizeof(FmgrInfo) * n);
	results->finish = palloc0(sizeof(FmgrInfo) * n);
	pull_varattnos((Node *) plan->scan.plan.targetlist, INDEX_VAR, &used);
	pull_varattnos((Node *) plan->scan.plan.qual, INDEX_VAR, &used);
	foreach(cell, lists)
	{
		List	   *numbers = lfirst(cell);
		CsvResult  *result = &results->results[i];
		TargetEntry *entry = list_nth_node(TargetEntry, plan->fdw_scan_tlist,
										   i);

		result->kind = linitial_int(numbers);
		result->argument = lsecond_int(numbers);
		result->first = lthird_int(numbers);
		result->second = lfourth_int(numbers);
		result->shown = list_nth_int(numbers, 4);
		results->is_used[i] =
			bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, used);
		results->any_text |= result->argument >= 0 &&
			program->registers[result->argument].lane == CSV_LANE_TEXT;
		if (result->kind != CSV_RESULT_KEY)
		{
			results->aggrefs[i] = castNode(Aggref, entry->expr);
			lookup_functions(results, i);
		}
		i++;
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

/* from the evaluator or from the device */
static void
get_key(const CsvGroupPlace *place, int key, CsvValue *value)
{
	if (place->piece != NULL)
		csv_partial_key(csv_evaluator_query(place->evaluator), place->piece,
						place->group, (uint32_t) key, value);
	else
		csv_evaluator_key(place->evaluator, place->group, (uint32_t) key,
						  value);
}

static void
get_aggregate(const CsvGroupPlace *place, int aggregate,
			  CsvAggregateValue *value)
{
	if (place->piece != NULL)
		csv_partial_aggregate(csv_evaluator_query(place->evaluator),
							  place->layout, place->piece, place->group,
							  (uint32_t) aggregate, value);
	else
		csv_evaluator_aggregate(place->evaluator, place->group,
								(uint32_t) aggregate, value);
}

/* values that no lane holds; a device has none */
static const CsvExtra *
find_extra(const CsvGroupPlace *place, int aggregate)
{
	return place->piece != NULL ? NULL :
		csv_extras_find(place->extras, place->group, aggregate);
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
show(const CsvGroupPlace *place, const CsvResult *result, Datum numeric,
	 int scale)
{
	CsvAggregateValue most;

	if (result->shown < 0)
		return numeric;
	get_aggregate(place, result->shown, &most);
	return most.extreme.state == CSV_LANE_NULL ? numeric :
		csv_numeric_shown(numeric, scale, (int) most.extreme.value.integer);
}

/* wants_numeric: make a numeric, too, which may be in `room` */
static void
get_sum(const CsvResults *results, const CsvGroupPlace *place,
		const CsvResult *result, int aggregate, const CsvRegister *reg, void *room,
		bool wants_numeric, Sum *sum)
{
	const CsvExtra *extra = find_extra(place, aggregate);
	int			scale = reg->scale;

	if (results->program->aggregate[aggregate].kind ==
		CSV_AGGREGATE_SUM_SQUARES)
		scale *= 2;
	get_aggregate(place, aggregate, &sum->value);
	sum->count = sum->value.count;
	sum->nnans = 0;
	memset(sum->ninfinities, 0, sizeof(sum->ninfinities));
	sum->numeric = (Datum) 0;
	if (reg->lane == CSV_LANE_FLOAT)
	{
		if (sum->value.overflow)
			float_overflow_error();
		return;
	}
	if (wants_numeric)
		sum->numeric = show(place, result,
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

static Datum
call_as_aggregate(CsvResults *results, FmgrInfo *function, int nargs,
				  Datum first, Datum second, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, function, nargs, InvalidOid,
							 (Node *) results->caller, NULL);
	fcinfo->args[0].value = first;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = second;
	fcinfo->args[1].isnull = false;
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
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint64(&buffer, sum->count - sum->nnans - sum->ninfinities[0] -
				 sum->ninfinities[1]);
	send_numeric(&buffer, sum->numeric);
	if (squares != NULL)
		send_numeric(&buffer, squares->numeric);
	if (function == F_NUMERIC_SERIALIZE || function == F_NUMERIC_AVG_SERIALIZE)
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
variance_result(CsvResults *results, int i, Datum serialized,
				bool *isnull)
{
	Datum		state = call_as_aggregate(results,
										  &results->deserialize[i], 2,
										  serialized, (Datum) 0, isnull);

	return call_as_aggregate(results, &results->finish[i], 1, state,
							 (Datum) 0, isnull);
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
float_spread(const CsvGroupPlace *place, const CsvResult *result,
			 const Sum *sum)
{
	float8		spread;

	if (sum->count == 0 || !isfinite(sum->value.real))
		return sum->count == 0 ? 0.0 : get_float8_nan();
	spread = sum->count == 1 ? 0.0 :
		find_extra(place, result->second) != NULL ?
		get_float8_infinity() :
		place->piece != NULL ?
		csv_partial_spread(place->layout, place->piece, place->group,
						   (uint32_t) result->first,
						   (uint32_t) result->second, (uint64_t) sum->count) :
		csv_evaluator_spread(place->evaluator, place->group,
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
			  const CsvResult *result, const Sum *sum, Oid type)
{
	Datum		elements[2];

	if (type == FLOAT8ARRAYOID)
	{
		for (int i = 0; i < results->n; i++)
		{
			const CsvResult *other = &results->results[i];

			if (other->kind == CSV_RESULT_VARIANCE &&
				other->first == result->first)
				return float_state(sum, float_spread(place, other, sum));
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
datum_of_value(const CsvResults *results, int i, const CsvRegister *reg,
			   const CsvValue *value)
{
	return reg->type == NUMERICOID ?
		csv_numeric_of_decimal(value->value.decimal, reg->scale,
							   results->rooms[i]) :
		csv_datum_of_value(reg, value);
}

static Datum
key_result(const CsvResults *results, const CsvGroupPlace *place, int i,
		   const CsvRegister *reg, const CsvValue *key)
{
	bool		stands_in = reg->lane == CSV_LANE_DECIMAL &&
		!csv_decimal_fits(key->value.decimal);
	Datum		datum = stands_in ?
		csv_extras_key(place->extras, key->value.decimal) :
		datum_of_value(results, i, reg, key);

	return show(place, &results->results[i], datum,
				stands_in ? csv_numeric_scale(datum) : reg->scale);
}

/* the extreme may be in the lane, or beside it, or both */
static Datum
extreme_result(const CsvResults *results, const CsvGroupPlace *place, int i,
			   const CsvRegister *reg, CsvValue *value)
{
	int			number = results->results[i].first;
	const CsvExtra *extra = find_extra(place, number);
	bool		is_max = results->program->aggregate[number].kind ==
		CSV_AGGREGATE_MAX;
	Datum		datum;

	if (value->state == CSV_LANE_NULL)
		return extra->value;
	if (reg->lane == CSV_LANE_DECIMAL && reg->scaled)
	{
		int			unit = (int) csv_power_of_ten(CSV_PACKED_DIGITS);
		CsvInt128  *decimal = &value->value.decimal;
		int			scale = (int) ((is_max ? *decimal : -*decimal) % unit);

		scale += scale < 0 ? unit : 0;
		*decimal = (*decimal - (is_max ? scale : -scale)) / unit;
		datum = csv_numeric_shown(datum_of_value(results, i, reg, value),
								  reg->scale, scale);
	}
	else
		datum = datum_of_value(results, i, reg, value);
	return extra == NULL ? datum :
		csv_numeric_extreme(is_max, datum, extra->value);
}

Datum
csv_result(CsvResults *results, const CsvGroupPlace *place, int i,
		   bool *isnull)
{
	const CsvResult *result = &results->results[i];
	/* a count may have no argument, and does not need it */
	const CsvRegister *reg =
		&results->program->registers[Max(result->argument, 0)];
	const Aggref *aggref;
	CsvAggregateValue value;
	CsvValue	key;
	Sum			sum;
	Sum			squares;

	*isnull = false;
	switch (result->kind)
	{
		case CSV_RESULT_KEY:
			get_key(place, result->first, &key);
			*isnull = key.state == CSV_LANE_NULL;
			return *isnull ? (Datum) 0 : key_result(results, place, i, reg, &key);
		case CSV_RESULT_COUNT:
			get_aggregate(place, result->first, &value);
			return Int64GetDatum(value.count);
		case CSV_RESULT_EXTREME:
			get_aggregate(place, result->first, &value);
			*isnull = value.count == 0;
			return *isnull ? (Datum) 0 : extreme_result(results, place, i, reg,
														&value.extreme);
		default:
			break;
	}

	aggref = results->aggrefs[i];
	get_sum(results, place, result, result->first, reg, results->rooms[i],
			aggref->aggtype != INT8OID && aggref->aggtype != INT8ARRAYOID,
			&sum);
	if (result->kind == CSV_RESULT_VARIANCE && reg->lane == CSV_LANE_FLOAT)
	{
		Datum		state = float_state(&sum, float_spread(place, result, &sum));

		return aggref->aggsplit != AGGSPLIT_SIMPLE ? state :
			call_as_aggregate(results, &results->finish[i], 1, state,
							  (Datum) 0, isnull);
	}
	if (aggref->aggtype == INT8ARRAYOID || aggref->aggtype == FLOAT8ARRAYOID)
		return average_state(results, place, result, &sum, aggref->aggtype);
	*isnull = sum.count == 0;
	if (*isnull)
		return (Datum) 0;
	if (result->kind == CSV_RESULT_VARIANCE)
	{
		Datum		state;

		get_sum(results, place, result, result->second, reg, NULL, true, &squares);
		state = serialized_state(results->serialize[i], &sum, &squares);
		return aggref->aggsplit == AGGSPLIT_SIMPLE ?
			variance_result(results, i, state, isnull) : state;
	}
	if (aggref->aggtype == BYTEAOID)
		return serialized_state(results->serialize[i], &sum, NULL);
	return result->kind == CSV_RESULT_SUM ?
		sum_result(&sum, aggref->aggtype) :
		average_result(&sum, aggref->aggtype);
}
