#!/bin/bash
# Times queries over a lineitem-like CSV file, through this extension and
# through what a user would pick instead, side by side in one run.
#
#	sql.sh FILE [RESULTS.csv]
#
# FILE is made by: build/generate lineitem 2G > FILE.  readers.sh says who reads
# it, and on which server.  Within a query the readers take turns, REPEAT (5)
# times; one that has spent MAX_SECONDS (60) in a query has no further turn in
# it.  QUERIES chooses, and PEERS, ENGINES, DUCKDB_THREADS and CPU_THREADS do (see
# readers.sh); MACHINE is the name in the results.
#
# Prints the median, the spread, and how many times as fast as the first reader
# each one is.  What readers answer to a query must be the same.
set -euo pipefail
# shellcheck source=test/bench/readers.sh
. "$(dirname "$0")/readers.sh"
make_tables "${1:?usage: sql.sh FILE [RESULTS.csv]}"
results=${2:-/dev/null}
repeat=${REPEAT:-5}
max_seconds=${MAX_SECONDS:-60}
mapfile -t all_readers < <(find_readers)

declare -A statements=(
	[count]='SELECT count(*) FROM @'
	[count_new]='SELECT count(*) FROM @'
	[count_again]='SELECT count(*) FROM @'
	[count_column]='SELECT count(l_comment) FROM @'
	[sums]='SELECT l_returnflag, sum(l_quantity), sum(l_extendedprice)
		FROM @ GROUP BY 1 ORDER BY 1'
	[all]='EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM @'
	[first_rows]='SELECT * FROM @ LIMIT 10'
	[load]='INSERT INTO csv_bench.target SELECT * FROM @'
	[q1]="SELECT l_returnflag, l_linestatus, sum(l_quantity),
			sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
			sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
			CAST(avg(l_quantity) AS numeric(15,2)),
			CAST(avg(l_extendedprice) AS numeric(15,2)),
			CAST(avg(l_discount) AS numeric(15,2)), count(*)
		FROM @ WHERE l_shipdate <= DATE '1998-09-02'
		GROUP BY 1, 2 ORDER BY 1, 2"
	[groups_4]='SELECT count(*), sum(l_quantity)
		FROM @ GROUP BY l_shipinstruct ORDER BY 1, 2'
	[groups_10k]='SELECT count(*), sum(n), max(q) FROM (
		SELECT l_suppkey, count(*) AS n, sum(l_quantity) AS q
		FROM @ GROUP BY l_suppkey) AS g'
	[groups_10m]='SELECT count(*), sum(n), max(q) FROM (
		SELECT l_partkey, l_discount, l_tax, count(*) AS n, sum(l_quantity) AS q
		FROM @ GROUP BY l_partkey, l_discount, l_tax) AS g'
	[q6]="SELECT sum(l_extendedprice * l_discount) FROM @
		WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
			AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"
)
for query in q1 q6; do
	statements[${query}_again]=${statements[$query]}
	statements[${query}_resident]=${statements[$query]}
done
queries=${QUERIES:-count count_new count_again count_column sums all q1 q1_again \
	q1_resident q6 q6_again q6_resident groups_4 groups_10k groups_10m first_rows \
	load load_unlogged load_logged load_key load_new_key}

# The tables that rows are loaded into.  Those of load_* are loaded by
# csv_gpu_load().  That of load_new_* is emptied in the same transaction.  DuckDB loads
# a table of its own: for load_logged and load_key in a file, else in memory.
declare -A targets=(
	[load]=csv_bench.target
	[load_unlogged]=csv_bench.target
	[load_logged]=csv_bench.logged
	[load_key]=csv_bench.keyed
	[load_new_key]=csv_bench.keyed
)

# takes_part READER QUERY
takes_part()
{
	case $2:$1 in
		load*:copy) ;;
		load_logged:duckdb/* | load_key:duckdb/*) ;;
		*:copy | load_*:duckdb/*) return 1 ;;
		count_new:auto | count_new:c* | *_again:c* | *_resident:c[pu]*) ;;
		count_new:* | *_again:* | *_resident:* | *:auto) return 1 ;;
	esac
}

# time_query READER QUERY: prints milliseconds
time_query()
{
	local reader=$1 query=$2 setup='' mode=warm statement=${statements[$2]-}
	local target=${targets[$2]-}

	case $query:$reader in
		count_new:*) mode=new ;;
		*_again:*) mode=again ;;
		*_resident:*) mode=resident ;;
		all:duckdb/*) statement='SELECT count(COLUMNS(*)) FROM @' ;;
		load:duckdb/*)
			statement='CREATE TEMP TABLE target AS SELECT * FROM @'
			;;
		load*:copy)
			statement="COPY $target FROM '$file' (FORMAT csv)"
			;;
		load_*:file_fdw)
			statement="INSERT INTO $target SELECT * FROM @"
			;;
		load_*:*)
			statement="SELECT * FROM csv_gpu_load('@', '$target')"
			;;
	esac
	[ -z "$target" ] || setup="TRUNCATE $target;"
	[ "$query" != load_new_key ] || setup="BEGIN; $setup"
	case $query:$reader in
		# a table of its own, in a file
		load_*:duckdb/*)
			setup="ATTACH IF NOT EXISTS '$private/duckdb' AS own;
				CREATE OR REPLACE TABLE own.target ($duckdb_table"
			[ "$query" != load_key ] || setup+=', PRIMARY KEY (l_orderkey, l_linenumber)'
			setup+=')'
			statement='INSERT INTO own.target SELECT * FROM @'
			;;
		*:duckdb/*) setup= ;;
	esac
	once "$reader" $mode "$setup" "$statement" | cut -d' ' -f1
}

# a query whose result is the same whoever computes it
has_answer()
{
	case $1 in
		all | first_rows | load*) return 1 ;;
	esac
}

bytes=$(stat -c %s "$file")
echo 'machine,bytes,query,reader,runs,median_ms,least_ms,greatest_ms,ratio_to_first' >"$results"
printf '%-13s %-10s %4s %12s %12s %12s %9s\n' query reader runs 'median ms' least greatest ratio
for query in $queries; do
	readers=()
	for reader in "${all_readers[@]}"; do
		! takes_part "$reader" "$query" || readers+=("$reader")
	done
	declare -A times=() spent=()
	for ((run = 0; run < repeat; run++)); do
		for reader in "${readers[@]}"; do
			[ "${spent[$reader]:-0}" -lt $((max_seconds * 1000)) ] || continue
			ms=$(time_query "$reader" "$query")
			times[$reader]+="$ms"$'\n'
			spent[$reader]=$((${spent[$reader]:-0} + ${ms%.*}))
			has_answer "$query" || continue
			[ -e "$private/answer.$query" ] ||
				cp "$private/answer" "$private/answer.$query"
			if ! cmp -s "$private/answer" "$private/answer.$query"; then
				echo "$reader answers $query otherwise than ${readers[0]}:" >&2
				diff "$private/answer.$query" "$private/answer" >&2
				exit 1
			fi
		done
	done
	first=
	for reader in "${readers[@]}"; do
		read -r median least greatest runs < <(printf '%s' "${times[$reader]}" | summary)
		first=${first:-$median}
		ratio=$(awk "BEGIN { printf \"%.2f\", $first / $median }")
		printf '%-13s %-10s %4s %12s %12s %12s %8sx\n' "$query" "$reader" "$runs" \
			"$median" "$least" "$greatest" "$ratio"
		echo "$machine,$bytes,$query,$reader,$runs,$median,$least,$greatest,$ratio" >>"$results"
	done
	unset times spent
done
