#!/bin/bash
# tpch.sh: times the 22 queries of TPC-H (tpch/*.sql) over CSV files, through
# this extension and through others, side by side in one run.
#
#	tpch.sh DIRECTORY [RESULTS.csv]
#
# DIRECTORY has the files of: build/tpch 1 DIRECTORY.  SYSTEMS chooses among
#
#	ours		foreign tables of this extension
#	duckdb		DuckDB over the same files, where its library is found
#	file_fdw	PostgreSQL's own wrapper, with parallel query off
#	tables		plain tables, which COPY has filled
#
# ("ours duckdb").  QUERIES ("1 2 ... 22") are run REPEAT (3) times by each, in
# turn, each time in a session (for DuckDB: a process) of its own.  A run that
# takes more than TIMEOUT (60) seconds is ended, and its system has no further
# turn in that query.
#
# DuckDB has THREADS (all processors); PostgreSQL's systems have WORKERS (one
# less) as max_parallel_workers_per_gather, and ours has CPU_THREADS (THREADS)
# and ENGINE (cpu).  SETTINGS is SQL for all sessions of PostgreSQL; the default
# gives work_mem 256 MB, since DuckDB takes what it needs.  ANALYZE=no does
# without statistics, and EXPLAIN=DIRECTORY puts there how ours went about it.
#
# Prints a line a query as soon as it is known: the medians in ms, and how many
# times as long ours took as the others.  Then the geometric mean of all queries,
# and the sum.  A
# run that was ended counts with TIMEOUT, has a ">", and is 0 runs in the results.
# The answers are compared, numbers to ten digits; a difference is told of, and
# decides the exit status.
#
# The server is that of PGHOST, its user a superuser, and it can read the files.
set -euo pipefail
# shellcheck source=test/bench/readers.sh
. "$(dirname "$0")/readers.sh"
directory=$(realpath "${1:?usage: tpch.sh DIRECTORY [RESULTS.csv]}")
results=${2:-/dev/null}
repeat=${REPEAT:-3}
timeout=${TIMEOUT:-60}
threads=${THREADS:-$processors}
workers=${WORKERS:-$((threads - 1))}
definitions=$root/test/bench/tpch/tables.sql
tables=$(sed -n 's/^CREATE TABLE \(.*\) ($/\1/p' "$definitions")
scale=$(wc -l <"$directory/supplier.csv" | awk '{ print $1 / 10000 }')
fraction=$(awk "BEGIN { printf \"%.10f\", 0.0001 / $scale }")
status=0
[ -z "${EXPLAIN-}" ] || mkdir -p "$EXPLAIN"
systems=()
for system in ${SYSTEMS:-ours duckdb}; do
	if [ "$system" = duckdb ] && ! has_duckdb; then
		echo 'no DuckDB: test/bench/get-duckdb.sh fetches it' >&2
	else
		systems+=("$system")
	fi
done

drop_tables()
{
	local system

	for system in ours file_fdw tables; do
		echo "DROP SCHEMA IF EXISTS tpch_$system CASCADE;"
	done | quietly
	quietly -c 'DROP SERVER IF EXISTS tpch_ours, tpch_file_fdw'
}

make_tables()
{
	local table

	echo "CREATE SCHEMA tpch_$1; SET search_path = tpch_$1;"
	case $1 in
		tables)
			cat "$definitions"
			for table in $tables; do
				echo "COPY $table FROM '$directory/$table.csv' (FORMAT csv);"
			done
			;;
		*)
			echo "CREATE SERVER tpch_$1 FOREIGN DATA WRAPPER ${1/ours/csv_gpu_fdw};"
			awk -v server="tpch_$1" -v directory="$directory" '
				/^CREATE/ { table = $3; sub("CREATE", "CREATE FOREIGN") }
				/^\);/ { sub(";", " SERVER " server " OPTIONS (filename '\''" \
					directory "/" table ".csv'\'', format '\''csv'\'');") }
				{ print }' "$definitions"
			;;
	esac
	[ "${ANALYZE:-yes}" = no ] || echo "ANALYZE ${tables//$'\n'/, };"
}

duckdb_views()
{
	awk -v directory="$directory" '
		/^CREATE/ { table = $3; columns = "" }
		/^\t/ { sub(",$", ""); columns = columns "'\''" $1 "'\'': '\''" $2 "'\'', " }
		/^\);/ { print "CREATE TEMP VIEW " table " AS SELECT * FROM read_csv('\''" \
			directory "/" table ".csv'\'', auto_detect = false, header = false, delim = '\'','\'', " \
			"quote = '\''\"'\'', escape = '\''\"'\'', columns = {" columns "})" }' "$definitions"
}

# session SYSTEM: the beginning of one, as SQL
session()
{
	echo "SET client_min_messages = error; SET statement_timeout = '${timeout}s';
		SET search_path = tpch_$1; SET max_parallel_workers_per_gather = $workers;
		${SETTINGS-SET work_mem = '256MB';}"
	case $1 in
		ours)
			echo "LOAD 'csv_gpu_fdw'; SET csv_gpu_fdw.engine = ${ENGINE:-cpu};
				SET csv_gpu_fdw.cpu_threads = ${CPU_THREADS:-$threads};"
			;;
		file_fdw) echo 'SET max_parallel_workers_per_gather = 0;' ;;
	esac
}

# time_query SYSTEM STATEMENT: prints milliseconds, and leaves what it returns in
# $private/answer; without a number if it took too long
time_query()
{
	local system=$1 statement=$2 output

	rm -f "$private/answer"
	if [ "$system" = duckdb ]; then
		output=$(timeout "$timeout" "$root/build/duckdb" "$threads" "${views[@]}" \
			"COPY ($statement) TO '$private/answer' (FORMAT csv, HEADER false)") ||
			[ $? = 124 ]
		echo "${output% *}"
		return
	fi
	output=$("${psql[@]}" --csv <<SQL 2>&1
$(session "$system")
\\o /dev/null
SELECT 1 FROM nation LIMIT 1;
\\o $private/answer
\\timing on
$statement;
SQL
	) || case $output in
		*'statement timeout'*) return 0 ;;
		*) echo "$output" >&2; return 1 ;;
	esac
	sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' <<<"$output"
}

trap 'drop_tables; rm -rf "$private"' EXIT
trap 'exit 130' INT TERM
quietly -c 'CREATE EXTENSION IF NOT EXISTS csv_gpu_fdw' \
	-c 'CREATE EXTENSION IF NOT EXISTS file_fdw'
drop_tables
for system in "${systems[@]}"; do
	[ "$system" = duckdb ] || make_tables "$system" | quietly
done
mapfile -t views < <(duckdb_views)

echo 'machine,scale,threads,query,system,runs,median_ms,least_ms,greatest_ms' >"$results"
printf '%-5s' query
printf ' %12s' "${systems[@]}"
for system in "${systems[@]:1}"; do
	printf ' %14s' "${systems[0]}/$system"
done
echo
declare -A times
for query in ${QUERIES:-$(seq 22)}; do
	query=$(printf 'q%02d' "$query")
	statement=$(sed "/^--/d; s/;\$//; s/0\\.0001/$fraction/" \
		"$root/test/bench/tpch/$query.sql")
	times=()
	answered=
	for ((run = 0; run < repeat; run++)); do
		for system in "${systems[@]}"; do
			[[ ${times[$system]-} != *'>'* ]] || continue
			ms=$(time_query "$system" "$statement")
			times[$system]+="${ms:->${timeout}000}"$'\n'
			[ -n "$ms" ] || continue
			compare_answer "$system" ${answered:+"$answered"} || status=1
			answered=${answered:-$system}
		done
	done
	printf '%-5s' "$query"
	for system in "${systems[@]}"; do
		# ended at TIMEOUT: that is the time
		if [[ ${times[$system]} == *'>'* ]]; then
			median=${timeout}000 least=$median greatest=$median runs=0
			printf ' %12s' ">$median"
		else
			read -r median least greatest runs < <(printf '%s' "${times[$system]}" | summary)
			printf ' %12s' "$median"
		fi
		echo "$machine,$scale,$threads,$query,$system,$runs,$median,$least,$greatest" |
			tee -a "$private/medians" >>"$results"
	done
	awk -F, -v query="$query" '$4 == query { if (!first) first = $7
		else printf " %14.2f", first / $7 } END { print "" }' "$private/medians"
	if [ -n "${EXPLAIN-}" ]; then
		printf '%s\nEXPLAIN (ANALYZE, VERBOSE) %s;\n' "$(session ours)" "$statement" |
			quietly >"$EXPLAIN/$query.txt" || true
	fi
done

# summary_line NAME PROGRAM: of each system's column, and their ratios
summary_line()
{
	awk -F, -v name="$1" -v systems="${systems[*]}" "$2"'
		END {
			n = split(systems, names, " ")
			printf "%-5s", name
			for (i = 1; i <= n; i++)
				printf " %12.2f", value(names[i])
			for (i = 2; i <= n; i++)
				printf " %14.2f", (value(names[i]) ? value(names[1]) / value(names[i]) : 0)
			print ""
		}' "$private/medians"
}
# shellcheck disable=SC2016
summary_line mean 'function value(s) { return exp(logs[s] / count[s]) }
	{ logs[$5] += log($7); count[$5]++ }'
# shellcheck disable=SC2016
summary_line sum 'function value(s) { return sum[s] }
	{ sum[$5] += $7 }'
exit $status
