#!/bin/bash
# servers.sh: times queries over CSV files on one server with all files, and on
# three servers with a share each, through postgres_fdw.
#
#	servers.sh DIRECTORY [RESULTS.csv]
#
# DIRECTORY has the files of: build/tpch 1 DIRECTORY.  The script makes the servers,
# and cuts the files lineitem.csv and orders.csv into FILES (24) files, by order, in
# DIR (/tmp); all goes away at the end.  For each query it prints medians in ms of
# REPEAT (5) runs, each in a session of its own whose connections are open; what has spent
# MAX_SECONDS (60) in a query has no further turn in it:
#
#	one		the server with all files
#	plain	the same query over the table of csv_gpu_distribute()
#	sums	each server sums, as docs/scale-out.md has it
#
# The engines are ENGINE (cpu), with CPU_THREADS (all processors) on the one server,
# and SHARE_THREADS (a third of that) on each of the three.  SETTINGS is SQL for all
# servers ("ALTER SYSTEM SET ..."), QUERIES chooses queries, and EXPLAIN=DIRECTORY
# puts plans there.  Different answers are an error, told at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$(realpath "${1:?usage: servers.sh DIRECTORY [RESULTS.csv]}")
results=$(realpath "${2:-/dev/null}")
explain=${EXPLAIN:+$(realpath "$EXPLAIN")}
. test/private.sh
# shellcheck source=test/bench/readers.sh
. test/bench/readers.sh
files=${FILES:-24}
repeat=${REPEAT:-5} max_seconds=${MAX_SECONDS:-60}
threads=${CPU_THREADS:-$processors}
share_threads=${SHARE_THREADS:-$(((threads + 2) / 3))}
data=$(mktemp -d "${DIR:-/tmp}/csv_bench_servers.XXXXXX")
trap 'rm -rf "$private" "$data"; private_cleanup' EXIT
status=0
chmod 755 "$data"
mkdir -p "$data"/{orders,lineitem} ${explain:+"$explain"}

for table in orders lineitem; do
	awk -F, -v directory="$data/$table" -v files="$files" \
		-v keys="$(tail -1 "$source/orders.csv" | cut -d, -f1)" \
		'{ print >sprintf("%s/%04d.csv", directory, ($1 - 1) * files / keys) }' "$source/$table.csv"
done

# tables SHARE SHARES: csv_gpu_fdw's, in the schema files
tables()
{
	echo "CREATE EXTENSION csv_gpu_fdw; CREATE SCHEMA files; SET search_path = files, public;
		CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;"
	awk -v data="$data" -v source="$source" -v share="$1" -v shares="$2" '
		/^CREATE/ { table = $3; sub("CREATE", "CREATE FOREIGN"); many = table ~ /orders|lineitem/ }
		/^\);/ { if (many) print ", share int OPTIONS (virtual '\''share'\'')"
			print ") SERVER csv OPTIONS (filename '\''" (many ? data "/" table "/*" : source "/" table) ".csv'\''" \
				(many ? ", share '\''" share "'\'', shares '\''" shares "'\''" : "") ");"
			next }
		{ print }' test/bench/tpch/tables.sql
	echo 'ANALYZE customer, lineitem, nation, orders, part, supplier;'
}

# start NUMBER THREADS: a server with the port 5432 + NUMBER
start()
{
	# shellcheck disable=SC2034
	private_settings="shared_preload_libraries = 'csv_gpu_fdw'
csv_gpu_fdw.engine = ${ENGINE:-cpu}
csv_gpu_fdw.cpu_threads = $2
work_mem = 256MB
max_worker_processes = $((processors + 8))
max_parallel_workers = $processors
max_parallel_workers_per_gather = $(($2 - 1))"
	private_start "$work/out/server$1" $((5432 + $1))
	[ -z "${SETTINGS-}" ] || quietly -c "$SETTINGS" -c 'SELECT pg_reload_conf()' >/dev/null
}

private_install >&2
PATH=$run_bindir:$PATH
for share in 0 1 2; do
	start $((share + 1)) "$share_threads"
	tables $share 3 | quietly
done
start 0 "$threads"
{
	tables 0 1
	echo 'CREATE EXTENSION postgres_fdw;'
	for share in 0 1 2; do
		echo "CREATE SERVER n$share FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$((5433 + share))',
				dbname 'postgres', use_remote_estimate 'true', async_capable 'true', fetch_size '10000');
			CREATE USER MAPPING FOR CURRENT_USER SERVER n$share;
			SET search_path = public;
			IMPORT FOREIGN SCHEMA files LIMIT TO (customer, part, supplier) FROM SERVER n$share INTO public;"
		for table in customer part supplier; do
			echo "ALTER TABLE $table RENAME TO ${table}_$share;"
		done
	done
	echo "SELECT csv_gpu_distribute('files.' || t, t, '{n0,n1,n2}') FROM unnest('{orders,lineitem}'::text[]) t;"
} | quietly >/dev/null

# A line a query: its name, the query (or a file of tpch/), and how the sums of
# servers, "parts", become the answer, and what each server sums.
queries()
{
	cat <<'Q'
count|SELECT count(*) FROM lineitem|SELECT sum(n) FROM parts|SELECT count(*) n FROM lineitem_@
where|SELECT count(*) FROM lineitem WHERE l_quantity < 5|SELECT sum(n) FROM parts|SELECT count(*) n FROM lineitem_@ WHERE l_quantity < 5
q01|q01|SELECT a, b, sum(c), sum(d), sum(e), sum(f), sum(c) / sum(n), sum(d) / sum(n), sum(g) / sum(n), sum(n) FROM parts GROUP BY 1, 2 ORDER BY 1, 2|SELECT l_returnflag a, l_linestatus b, sum(l_quantity) c, sum(l_extendedprice) d, sum(l_extendedprice * (1 - l_discount)) e, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) f, sum(l_discount) g, count(*) n FROM lineitem_@ WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY 1, 2
q06|q06|SELECT sum(a) FROM parts|SELECT sum(l_extendedprice * l_discount) a FROM lineitem_@ WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24
q03|q03|SELECT * FROM parts ORDER BY b DESC, c LIMIT 10|SELECT l_orderkey a, sum(l_extendedprice * (1 - l_discount)) b, o_orderdate c, o_shippriority d FROM customer_@, orders_@, lineitem_@ WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY 1, 3, 4
q12|q12|SELECT a, sum(b), sum(c) FROM parts GROUP BY 1 ORDER BY 1|SELECT l_shipmode a, sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) b, sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) c FROM orders_@, lineitem_@ WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR GROUP BY 1
q14|q14|SELECT 100.00 * sum(a) / sum(b) FROM parts|SELECT sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) a, sum(l_extendedprice * (1 - l_discount)) b FROM lineitem_@, part_@ WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH
first|SELECT l_orderkey, l_linenumber, l_extendedprice FROM lineitem ORDER BY 3 DESC, 1, 2 LIMIT 10|SELECT * FROM parts ORDER BY 3 DESC, 1, 2 LIMIT 10|(SELECT l_orderkey, l_linenumber, l_extendedprice FROM lineitem_@ ORDER BY 3 DESC, 1, 2 LIMIT 10)
distinct|SELECT DISTINCT l_shipmode FROM lineitem|SELECT DISTINCT a FROM parts|SELECT l_shipmode a FROM lineitem_@ GROUP BY 1
values|SELECT count(DISTINCT l_suppkey) FROM lineitem|SELECT count(DISTINCT a) FROM parts|SELECT l_suppkey a FROM lineitem_@ GROUP BY 1
groups|SELECT count(*), max(q) FROM (SELECT sum(l_quantity) q FROM lineitem GROUP BY l_suppkey) g|SELECT count(*), max(q) FROM (SELECT sum(q) q FROM parts GROUP BY a) g|SELECT l_suppkey a, sum(l_quantity) q FROM lineitem_@ GROUP BY 1
join|SELECT o_orderpriority, sum(l_quantity) FROM orders JOIN lineitem ON o_orderkey = l_orderkey GROUP BY 1|SELECT a, sum(q) FROM parts GROUP BY 1|SELECT o_orderpriority a, sum(l_quantity) q FROM orders_@ JOIN lineitem_@ ON o_orderkey = l_orderkey GROUP BY 1
other|SELECT s_nationkey, count(*) FROM supplier JOIN lineitem ON s_suppkey = l_suppkey WHERE l_returnflag = 'R' GROUP BY 1|SELECT a, sum(n) FROM parts GROUP BY 1|SELECT s_nationkey a, count(*) n FROM supplier_@ JOIN lineitem_@ ON s_suppkey = l_suppkey WHERE l_returnflag = 'R' GROUP BY 1
point|SELECT sum(l_extendedprice) FROM lineitem WHERE l_orderkey = 1000|SELECT sum(a) FROM parts|SELECT sum(l_extendedprice) a FROM lineitem_@ WHERE l_orderkey = 1000
Q
}

# session SYSTEM: the beginning of one, as SQL
session()
{
	local path=public,files

	[ "$1" != one ] || path=files
	echo "SET client_min_messages = error; SET search_path = $path;"
}

# time_query SYSTEM STATEMENT: prints milliseconds, and leaves what it returns in
# $private/answer
time_query()
{
	"${psql[@]}" --csv <<SQL | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
$(session "$1")
\o /dev/null
SELECT 1 FROM files.supplier LIMIT 1;
SELECT 1 FROM public.supplier_0 LIMIT 1;
SELECT 1 FROM public.supplier_1 LIMIT 1;
SELECT 1 FROM public.supplier_2 LIMIT 1;
\o $private/answer
\timing on
$2;
SQL
}

echo 'machine,threads,query,system,runs,median_ms,least_ms,greatest_ms' >"$results"
printf '%-9s %9s %9s %9s %11s %11s\n' query one plain sums one/plain one/sums
while IFS='|' read -r query statement outer inner; do
	[[ " ${QUERIES:-$query} " == *" $query "* ]] || continue
	[[ $statement != q* ]] ||
		statement=$(sed '/^--/d; s/;$//' "test/bench/tpch/$statement.sql")
	declare -A statements=([one]=$statement [plain]=$statement
		[sums]="WITH parts AS MATERIALIZED (${inner//@/0} UNION ALL ${inner//@/1} UNION ALL ${inner//@/2}) $outer") times=() spent=()
	for ((run = 0; run < repeat; run++)); do
		for system in one plain sums; do
			[ "${spent[$system]:-0}" -lt $((max_seconds * 1000)) ] || continue
			ms=$(time_query $system "${statements[$system]}")
			times[$system]+=$ms$'\n'
			spent[$system]=$((${spent[$system]:-0} + ${ms%.*}))
			compare_answer $system one || status=1
		done
	done
	line=$(printf '%-9s' "$query")
	for system in one plain sums; do
		read -r median least greatest runs < <(printf '%s' "${times[$system]}" | summary)
		echo "$machine,$threads/$share_threads,$query,$system,$runs,$median,$least,$greatest" >>"$results"
		line+=" $median"
		[ -z "$explain" ] ||
			printf '%s\nEXPLAIN (ANALYZE, VERBOSE) %s;\n' "$(session $system)" "${statements[$system]}" |
			quietly >"$explain/$query.$system.txt"
	done
	awk '{ printf "%-9s %9.1f %9.1f %9.1f %11.2f %11.2f\n", $1, $2, $3, $4, $2 / $3, $2 / $4 }' <<<"$line"
done < <(queries)
exit $status
