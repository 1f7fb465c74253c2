#!/bin/bash
# Times readers over lineitem-like files of several sizes, and takes down how
# much memory their processes had.
#
#	scaling.sh [RESULTS.csv]
#
# SIZES ("256M 512M 1G 2G 4G 8G") are made one after the other in DIR (/tmp).
# Each query runs REPEAT (3) times a reader, in sessions of their own.
# QUERIES ("count all"; also q1 q6 groups distinct; with CPU_THREADS="1 2 4 8 16" and
# SIZES=2G: how threads scale).  PEERS (duckdb), ENGINES, DUCKDB_THREADS (all
# processors), CPU_THREADS and MACHINE as
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
	for query in ${QUERIES:-count all}; do
		for reader in "${readers[@]}"; do
			[ "$reader" != auto ] || continue
			times='' peak=0 own=
			for ((run = 0; run < repeat; run++)); do
				case $query:$reader in
					count:*) statement='SELECT count(*) FROM @' ;;
					all:duckdb/*) statement='SELECT count(COLUMNS(*)) FROM @' ;;
					q1:*) statement='SELECT l_returnflag, l_linestatus, sum(l_quantity),
						sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
						avg(l_discount), count(*) FROM @ GROUP BY 1, 2' ;;
					q6:*) statement="SELECT sum(l_extendedprice * l_discount) FROM @
						WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
						AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24" ;;
					groups:*) statement='SELECT count(*), sum(n) FROM (SELECT l_partkey,
						l_suppkey, count(*) n, sum(l_quantity) FROM @ GROUP BY 1, 2) g' ;;
					distinct:*) statement='SELECT count(DISTINCT l_partkey) FROM @' ;;
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
