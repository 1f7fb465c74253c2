#!/bin/bash
# Times readers over lineitem-like files of several sizes, and takes down how
# much memory their processes had.
#
#	scaling.sh [RESULTS.csv]
#
# SIZES ("256M 512M 1G 2G 4G 8G") are made one after the other in DIR (/tmp).
# Each query runs REPEAT (3) times a reader, in sessions of their own.  PEERS
# (duckdb), ENGINES, DUCKDB_THREADS (all processors), CPU_THREADS and MACHINE as
# in sql.sh.
#
# peak_kb is the most memory that the process had, shared memory that it has
# touched included; private_kb is what it had for itself at the end.
set -euo pipefail
export PEERS=${PEERS-duckdb} DUCKDB_THREADS=${DUCKDB_THREADS:-$(nproc)}
# shellcheck source=test/bench/readers.sh
. "$(dirname "$0")/readers.sh"
results=${1:-/dev/null}
repeat=${REPEAT:-3}
data=${DIR:-/tmp}/csv_bench_scaling.$$.csv

: >"$data"
make_tables "$data"
trap 'drop_tables; rm -rf "$private" "$data"' EXIT
mapfile -t readers < <(find_readers)

echo 'machine,bytes,query,reader,runs,median_ms,least_ms,greatest_ms,peak_kb,private_kb' >"$results"
printf '%6s %-6s %-10s %10s %10s %10s %10s %10s %10s\n' size query reader \
	'median ms' least greatest 'ms a GB' 'peak MB' 'private MB'
for size in ${SIZES:-256M 512M 1G 2G 4G 8G}; do
	"$root/build/generate" lineitem "$size" >"$data"
	sync "$data"
	bytes=$(stat -c %s "$data")
	for query in count all; do
		for reader in "${readers[@]}"; do
			[ "$reader" != auto ] || continue
			times='' peak=0 own=
			for ((run = 0; run < repeat; run++)); do
				case $query:$reader in
					count:*) statement='SELECT count(*) FROM @' ;;
					all:duckdb/*) statement='SELECT count(COLUMNS(*)) FROM @' ;;
					all:*) statement='EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM @' ;;
				esac
				read -r ms kb own < <(once "$reader" warm '' "$statement")
				times+="$ms"$'\n'
				[ "${kb:-0}" -le "$peak" ] || peak=$kb
			done
			read -r median least greatest runs < <(printf '%s' "$times" | summary)
			printf '%6s %-6s %-10s %10s %10s %10s %10.1f %10.1f %10s\n' "$size" \
				"$query" "$reader" "$median" "$least" "$greatest" \
				"$(awk "BEGIN { print $median / $bytes * 1e9 }")" \
				"$(awk "BEGIN { print $peak / 1024 }")" \
				"$([ -z "$own" ] || awk "BEGIN { printf \"%.1f\", $own / 1024 }")"
			echo "$machine,$bytes,$query,$reader,$runs,$median,$least,$greatest,$peak,$own" >>"$results"
		done
	done
done
