#!/bin/bash
# estimates.sh: times joins and subqueries whose outer side has more rows than the planner
# expects, over a file, over a plain table, and over a plain table with an index.
#
#	estimates.sh FILE
#
# FILE is lineitem-like (build/generate lineitem SIZE).  10 outer rows are expected, and
# ROWS ("10 100 1000 10000") come.  Prints medians of REPEAT (3) runs in ms.  A run that
# takes more than TIMEOUT (20) seconds is ended.
#
# The server is that of PGHOST, its user a superuser, and it can read the file.
set -euo pipefail
# shellcheck source=test/bench/readers.sh
. "$(dirname "$0")/readers.sh"
repeat=${REPEAT:-3}
timeout=${TIMEOUT:-20}
declare -A queries=(
	[join]='SELECT count(*), sum(l_quantity) FROM few(@rows) k JOIN @table ON l_partkey = k'
	[exists]='SELECT count(*) FROM few(@rows) k WHERE EXISTS
		(SELECT FROM @table WHERE l_partkey = k AND l_suppkey <> k)'
	[aggregate]='SELECT sum(s) FROM
		(SELECT (SELECT sum(l_quantity) FROM @table WHERE l_partkey = k) s FROM few(@rows) k) x'
	[first_row]='SELECT count((SELECT l_comment FROM @table WHERE l_partkey = k
		ORDER BY l_orderkey, l_linenumber LIMIT 1)) FROM few(@rows) k'
)

# time_query TABLE STATEMENT: prints milliseconds, or nothing if it took too long
time_query()
{
	local output

	output=$("${psql[@]}" <<SQL 2>/dev/null
LOAD 'csv_gpu_fdw';
SET search_path = csv_bench; SET statement_timeout = '${timeout}s';
SET max_parallel_workers_per_gather = $((processors - 1));
SELECT 1 FROM $1 LIMIT 1;
\\timing on
$2;
SQL
	) && sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' <<<"$output"
}

make_tables "$1"
quietly <<'SQL'
SET search_path = csv_bench;
CREATE FUNCTION few(n int) RETURNS SETOF int ROWS 10 LANGUAGE plpgsql AS
	$$ BEGIN RETURN QUERY SELECT i * 7 FROM generate_series(1, n) i; END $$;
CREATE TABLE plain AS SELECT * FROM ours;
CREATE TABLE indexed AS SELECT * FROM ours;
CREATE INDEX ON indexed (l_partkey);
SQL
quietly -c 'VACUUM ANALYZE csv_bench.plain, csv_bench.indexed' -c 'ANALYZE csv_bench.ours'

printf '%-10s %6s' query rows
printf ' %10s' file plain indexed
echo
for query in join exists aggregate first_row; do
	for rows in ${ROWS:-10 100 1000 10000}; do
		printf '%-10s %6d' "$query" "$rows"
		for table in ours plain indexed; do
			statement=${queries[$query]//@rows/$rows}
			times=
			for ((run = 0; run < repeat; run++)); do
				ms=$(time_query "$table" "${statement//@table/$table}") || break
				times+=$ms$'\n'
			done
			if ((run == repeat)); then
				printf ' %10s' "$(printf '%s' "$times" | summary | cut -d' ' -f1)"
			else
				printf ' %10s' ">${timeout}000"
			fi
		done
		echo
	done
done
