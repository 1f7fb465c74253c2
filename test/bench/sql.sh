#!/bin/bash
# Times queries over a lineitem-like CSV file, through this extension and
# through what a user would pick instead, side by side in one run.
#
#	sql.sh FILE [RESULTS.csv]
#
# FILE is made by: build/generate lineitem 2G > FILE.  The server is that of
# PGHOST and PGPORT, and must be able to read FILE.  REPEAT (5) is how often
# each query is run; the engines (ENGINES="cpu cuda", cuda where there is a GPU)
# and file_fdw take turns.  PEERS=no leaves file_fdw and COPY out.
# Prints the median, the spread, and the ratio to the first peer.
set -euo pipefail
file=$(realpath "${1:?usage: sql.sh FILE [RESULTS.csv]}")
results=${2:-/dev/null}
repeat=${REPEAT:-5}
peers=${PEERS:-yes}
psql=(psql -XAtq -v ON_ERROR_STOP=1)

columns='l_orderkey bigint, l_partkey int, l_suppkey int, l_linenumber int,
	l_quantity numeric(15,2), l_extendedprice numeric(15,2),
	l_discount numeric(15,2), l_tax numeric(15,2),
	l_returnflag char(1), l_linestatus char(1),
	l_shipdate date, l_commitdate date, l_receiptdate date,
	l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(80)'

PGOPTIONS='-c client_min_messages=error' "${psql[@]}" <<SQL
DROP SCHEMA IF EXISTS csv_bench CASCADE;
CREATE SCHEMA csv_bench;
CREATE EXTENSION IF NOT EXISTS csv_gpu_fdw;
CREATE EXTENSION IF NOT EXISTS file_fdw;
DROP SERVER IF EXISTS csv_bench CASCADE;
DROP SERVER IF EXISTS csv_bench_file CASCADE;
CREATE SERVER csv_bench FOREIGN DATA WRAPPER csv_gpu_fdw;
CREATE SERVER csv_bench_file FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE csv_bench.ours ($columns)
	SERVER csv_bench OPTIONS (filename '$file', format 'csv');
CREATE FOREIGN TABLE csv_bench.file_fdw ($columns)
	SERVER csv_bench_file OPTIONS (filename '$file', format 'csv');
CREATE UNLOGGED TABLE csv_bench.target ($columns);
SQL

engines=${ENGINES:-cpu}
if [ -z "${ENGINES:-}" ] &&
	[ "$("${psql[@]}" -c 'select count(*) from csv_gpu_devices() where usable')" != 0 ]; then
	engines='cpu cuda'
fi

names=('count(*)' 'count(one column)' 'sums by group' 'all columns')
queries=(
	'SELECT count(*) FROM @'
	'SELECT count(l_comment) FROM @'
	'SELECT l_returnflag, sum(l_quantity), sum(l_extendedprice) FROM @ GROUP BY 1'
	'EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM @'
)

# run QUERY in a warm session of its own; prints milliseconds
once()
{
	local settings=$1 query=$2
	"${psql[@]}" <<SQL | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -1
$settings
SELECT 1 FROM csv_bench.ours LIMIT 1;
\\timing on
$query;
SQL
}

# median, least and greatest of the numbers on standard input
summary()
{
	sort -n | awk '{ v[NR] = $1 }
		END { printf "%.1f %.1f %.1f\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

bytes=$(stat -c %s "$file")
echo 'query,reader,median_ms,least_ms,greatest_ms,ratio_to_first,bytes' >"$results"
printf '%-20s %-10s %12s %12s %12s %8s\n' query reader 'median ms' least greatest ratio
for i in "${!queries[@]}"; do
	readers=()
	[ "$peers" = no ] || readers+=(file_fdw)
	for engine in $engines; do readers+=("$engine"); done
	declare -A times=()
	for ((run = 0; run < repeat; run++)); do
		for reader in "${readers[@]}"; do
			if [ "$reader" = file_fdw ]; then
				ms=$(once '' "${queries[$i]//@/csv_bench.file_fdw}")
			else
				ms=$(once "SET csv_gpu_fdw.engine = $reader;" "${queries[$i]//@/csv_bench.ours}")
			fi
			times[$reader]+="$ms"$'\n'
		done
	done
	first=
	for reader in "${readers[@]}"; do
		read -r median least greatest < <(printf '%s' "${times[$reader]}" | summary)
		first=${first:-$median}
		ratio=$(awk "BEGIN { printf \"%.1f\", $first / $median }")
		printf '%-20s %-10s %12s %12s %12s %7sx\n' "${names[$i]}" "$reader" \
			"$median" "$least" "$greatest" "$ratio"
		echo "${names[$i]},$reader,$median,$least,$greatest,$ratio,$bytes" >>"$results"
	done
	unset times
done

PGOPTIONS='-c client_min_messages=error' "${psql[@]}" <<SQL
DROP SERVER csv_bench CASCADE;
DROP SERVER csv_bench_file CASCADE;
DROP SCHEMA csv_bench CASCADE;
SQL
