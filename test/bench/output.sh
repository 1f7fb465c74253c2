#!/bin/bash
# Times writing CSV files: COPY TO, COPY TO by csv_gpu_fdw.copy, csv_gpu_unload() and
# DuckDB, side by side in one run.
#
#	output.sh FILE [RESULTS.csv]
#
# FILE is made by: build/generate lineitem 2G > FILE.  Its rows are loaded into a plain
# table, and a table in DuckDB's memory, before the times are taken.  readers.sh says
# which server is used; here it must be able to write to DIR (/tmp).  Writers:
#
#	copy		PostgreSQL's COPY TO, which writes one file in the table's order
#	hook		the same with csv_gpu_fdw.copy
#	unload/N	csv_gpu_unload() with N processes
#	duckdb/N	DuckDB's COPY TO with N threads, where its library is found; a file for
#				each thread, where the work below allows it
#
# WRITERS ("copy hook unload/1 unload/N duckdb/1 duckdb/N", N being all processors)
# chooses.  They take turns, REPEAT (5) times, each time in a session of its own; a writer
# that has spent MAX_SECONDS (60) at a kind of work has no further turn in it.  The work:
#
#	plain		all rows
#	ordered		all rows to one file in the table's order
#	sorted		all rows to one file, ordered by two other columns
#	gzip, zstd, lz4		all rows to compressed files
#	ordered_gzip		all rows to one compressed file in order
#	keys		files by l_shipmode, of which there are seven
#	recode		from FILE itself: rows of seven years out of eight, with other delimiters
#
# WORK chooses.  "MB/s" are bytes before compression, which is to say the size of FILE; for
# recode, those that the first writer has written.  With VERIFY=yes, the sorted lines of
# each writer's files are compared with the first one's.
set -euo pipefail
# shellcheck source=test/bench/readers.sh
. "$(dirname "$0")/readers.sh"
results=${2:-/dev/null}
repeat=${REPEAT:-5} max_seconds=${MAX_SECONDS:-60}
work_kinds=${WORK:-plain ordered sorted gzip zstd lz4 ordered_gzip keys recode}
writers=${WRITERS:-copy hook unload/1 unload/$processors duckdb/1 duckdb/$processors}
output=$(mktemp -d "${DIR:-/tmp}/csv_bench_output.XXXXXX")
chmod 777 "$output"
make_tables "${1:?usage: output.sh FILE [RESULTS.csv]}"
trap 'drop_tables; rm -rf "$private" "$output"' EXIT
where="l_shipdate < DATE '1998-01-01'"

if ! has_duckdb; then
	echo 'no DuckDB: test/bench/get-duckdb.sh fetches it' >&2
	writers=$(tr ' ' '\n' <<<"$writers" | grep -v duckdb)
fi
quietly -c "SELECT records_loaded FROM csv_gpu_load('csv_bench.ours', 'csv_bench.target')" \
	-c 'VACUUM ANALYZE csv_bench.target' -c 'CHECKPOINT' >/dev/null

# takes_part WRITER WORK
takes_part()
{
	case $2:$1 in
		*:unload/*) ;;
		*gzip:copy | *gzip:hook | zstd:copy | zstd:hook | keys:copy | keys:hook | lz4:*) return 1 ;;
	esac
}

# suffix_of WORK
suffix_of()
{
	case $1 in
		*gzip) echo .gz ;;
		zstd) echo .zst ;;
		lz4) echo .lz4 ;;
	esac
}

# time_output WRITER WORK: prints milliseconds; the files are in $output/files
time_output()
{
	local writer=$1 kind=$2 from='TABLE csv_bench.target' options='' settings='' path
	local threads=${1#*/} duckdb_options='FORMAT csv, HEADER true' duckdb_from='TABLE li'

	path=$output/files/data.csv$(suffix_of "$kind")
	[ "$kind" != sorted ] || from='SELECT * FROM csv_bench.target ORDER BY l_partkey, l_orderkey'
	[ "$kind" != recode ] || from="SELECT * FROM csv_bench.ours WHERE $where"
	case $writer in
		copy | hook)
			[ "$writer" = copy ] || settings='SET csv_gpu_fdw.copy = on;'
			[ "$kind" != recode ] || options=", DELIMITER ';'"
			"${psql[@]}" <<SQL | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
SET client_min_messages = error; LOAD 'csv_gpu_fdw'; $settings
SET max_parallel_workers_per_gather = $((processors - 1)); SET work_mem = '1GB'; SET csv_gpu_fdw.engine = cpu;
SET csv_gpu_fdw.resident = off;
\\timing on
COPY ($from) TO '$path' (FORMAT csv, HEADER$options);
SQL
			;;
		unload/*)
			case $kind in
				ordered* | sorted) options=', ordered => true' ;;
				keys) options=", partition_by => '{l_shipmode}'" path=$output/files ;;
				recode) options=", delimiter => ';'" ;;
			esac
			"${psql[@]}" <<SQL | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
SET client_min_messages = error; LOAD 'csv_gpu_fdw';
SET max_parallel_workers_per_gather = $((threads - 1)); SET work_mem = '1GB';
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET csv_gpu_fdw.engine = cpu; SET csv_gpu_fdw.resident = off; SET csv_gpu_fdw.cpu_threads = $threads;
\\timing on
SELECT sum(records) FROM csv_gpu_unload(\$\$$from\$\$, '$path'$options) \\g /dev/null
SQL
			;;
		duckdb/*)
			case $kind in
				*gzip) duckdb_options+=', COMPRESSION gzip' ;;
				zstd) duckdb_options+=', COMPRESSION zstd' ;;
			esac
			case $kind in
				keys) duckdb_options+=', PARTITION_BY (l_shipmode), OVERWRITE_OR_IGNORE true' ;;
				ordered* | sorted) ;;
				*) [ "$threads" = 1 ] || duckdb_options+=', PER_THREAD_OUTPUT true' ;;
			esac
			[ "$kind" != sorted ] || duckdb_from='SELECT * FROM li ORDER BY l_partkey, l_orderkey'
			if [ "$kind" = recode ]; then
				duckdb_from="SELECT * FROM li WHERE $where"
				duckdb_options+=", DELIMITER ';'"
			fi
			# a directory, if there will be more than one file
			[[ $duckdb_options != *PER_THREAD* && $kind != keys ]] || path=$output/files/duckdb
			"$root/build/duckdb" "$threads" \
				"CREATE TEMP $([ "$kind" = recode ] && echo VIEW || echo TABLE) li AS
				SELECT * FROM read_csv('$file', auto_detect = false, header = false, delim = ',',
				quote = '\"', escape = '\"', columns = {$duckdb_columns})" \
				"COPY ($duckdb_from) TO '$path' ($duckdb_options)" | cut -d' ' -f1
			;;
	esac
}

# lines of all files, sorted, without headers and padding
all_lines()
{
	find "$output/files" -type f -print0 | xargs -0 -n 1 sh -c 'case $0 in
		*.gz) gzip -dc "$0" ;; *.zst) zstd -qdc "$0" ;; *.lz4) lz4 -qdc "$0" ;; *) cat "$0" ;; esac' |
		grep -v '^l_orderkey' | sed -E 's/ +([,;])/\1/g' | sort | md5sum
}

echo 'machine,work,writer,runs,median_ms,least_ms,greatest_ms,bytes,times_as_fast_as_first' >"$results"
printf '%-13s %-10s %4s %10s %10s %10s %9s %9s\n' work writer runs 'median ms' least greatest MB/s ratio
for kind in $work_kinds; do
	declare -A times=() spent=()
	bytes=$(stat -c %s "$file")
	[ "$kind" != recode ] || bytes=
	lines=
	for ((run = 0; run < repeat; run++)); do
		for writer in $writers; do
			takes_part "$writer" "$kind" || continue
			[ "${spent[$writer]:-0}" -lt $((max_seconds * 1000)) ] || continue
			rm -rf "$output/files"
			mkdir -m 777 "$output/files"
			ms=$(time_output "$writer" "$kind")
			times[$writer]+=$ms$'\n'
			spent[$writer]=$((${spent[$writer]:-0} + ${ms%.*}))
			: "${bytes:=$(find "$output/files" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')}"
			if [ "${VERIFY:-no}" = yes ] && [ $run = 0 ] && [ "$kind" != keys ]; then
				: "${lines:=$(all_lines)}"
				[ "$(all_lines)" = "$lines" ] || echo "$writer writes other rows: $kind" >&2
			fi
		done
	done
	first=
	for writer in $writers; do
		takes_part "$writer" "$kind" || continue
		read -r median least greatest runs < <(printf '%s' "${times[$writer]}" | summary)
		first=${first:-$median}
		pace=$(awk "BEGIN { printf \"%.0f\", $bytes / $median / 1000 }")
		ratio=$(awk "BEGIN { printf \"%.2f\", $first / $median }")
		printf '%-13s %-10s %4s %10s %10s %10s %9s %8sx\n' "$kind" "$writer" "$runs" \
			"$median" "$least" "$greatest" "$pace" "$ratio"
		echo "$machine,$kind,$writer,$runs,$median,$least,$greatest,$bytes,$ratio" >>"$results"
	done
	unset times spent
done
