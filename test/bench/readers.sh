# shellcheck shell=bash
#
# readers.sh: sourced by the other scripts.  Those who read a lineitem-like
# file, each by a name:
#
#	file_fdw	PostgreSQL's own wrapper
#	copy		COPY into a table; takes part in loading only
#	duckdb/N	DuckDB with N threads, where its library is found
#	cpu/N		this extension's CPU engine with N threads
#	cuda		its CUDA engine
#	auto		the engine that it chooses itself
#
# PEERS chooses among the first three kinds, ENGINES among the others, and
# DUCKDB_THREADS and CPU_THREADS ("1" and all processors) are the Ns.
#
# The server is that of PGHOST and PGPORT, its user a superuser, and the server
# can read the file.

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
psql=(psql -XAtq -v ON_ERROR_STOP=1)
private=$(mktemp -d) || exit 1
file=
processors=$(nproc)
# shellcheck disable=SC2034
machine=${MACHINE:-$(hostname)}

columns='l_orderkey bigint, l_partkey int, l_suppkey int, l_linenumber int,
	l_quantity numeric(15,2), l_extendedprice numeric(15,2),
	l_discount numeric(15,2), l_tax numeric(15,2),
	l_returnflag char(1), l_linestatus char(1),
	l_shipdate date, l_commitdate date, l_receiptdate date,
	l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(80)'

# the same for DuckDB, whose char(n) and varchar(n) are varchar, as columns of a
# table and for read_csv()
duckdb_table=$(tr '\n\t' '  ' <<<"$columns" | sed -E 's/(var)?char\([0-9]+\)/varchar/g')
duckdb_columns=$(sed -E 's/, *l_/\nl_/g' <<<"$duckdb_table" |
	sed -E "s/^(\w+) (.*)$/'\1': '\2',/" | tr -d '\n')

quietly()
{
	PGOPTIONS='-c client_min_messages=error' "${psql[@]}" "$@"
}

drop_tables()
{
	quietly <<SQL
DROP SERVER IF EXISTS csv_bench CASCADE;
DROP SERVER IF EXISTS csv_bench_file CASCADE;
DROP SCHEMA IF EXISTS csv_bench CASCADE;
SQL
}

# make_tables FILE: its tables for all readers.  They go away at the end.
make_tables()
{
	file=$(realpath "$1")
	trap 'drop_tables; rm -rf "$private"' EXIT
	trap 'exit 130' INT TERM
	drop_tables
	quietly <<SQL
CREATE EXTENSION IF NOT EXISTS csv_gpu_fdw;
CREATE EXTENSION IF NOT EXISTS file_fdw;
CREATE SCHEMA csv_bench;
CREATE SERVER csv_bench FOREIGN DATA WRAPPER csv_gpu_fdw;
CREATE SERVER csv_bench_file FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE csv_bench.ours ($columns)
	SERVER csv_bench OPTIONS (filename '$file', format 'csv');
CREATE FOREIGN TABLE csv_bench.file_fdw ($columns)
	SERVER csv_bench_file OPTIONS (filename '$file', format 'csv');
CREATE UNLOGGED TABLE csv_bench.target ($columns)
	WITH (autovacuum_enabled = off);
CREATE TABLE csv_bench.logged ($columns) WITH (autovacuum_enabled = off);
CREATE TABLE csv_bench.keyed ($columns,
	PRIMARY KEY (l_orderkey, l_linenumber)) WITH (autovacuum_enabled = off);
SQL
}

has_duckdb()
{
	[ -x "$root/build/duckdb" ] &&
		"$root/build/duckdb" 1 'SELECT 1' >/dev/null 2>&1
}

has_cpu_threads()
{
	[ "$(quietly -c "LOAD 'csv_gpu_fdw'" -c "SELECT count(*) FROM pg_settings
		WHERE name = 'csv_gpu_fdw.cpu_threads'")" = 1 ]
}

has_gpu()
{
	[ "$(quietly -c 'SELECT count(*) FROM csv_gpu_devices() WHERE usable')" != 0 ]
}

# the names of the readers there are, peers first
find_readers()
{
	local peers engines threads n name

	peers=${PEERS-file_fdw copy duckdb}
	engines=${ENGINES-cpu $(has_gpu && echo cuda auto || true)}
	for name in $peers $engines; do
		if [ "$name" = duckdb ] && ! has_duckdb; then
			echo 'no DuckDB: test/bench/get-duckdb.sh fetches it' >&2
			continue
		fi
		case $name in
			duckdb | cpu)
				threads=${CPU_THREADS:-1 $processors}
				[ "$name" = cpu ] || threads=${DUCKDB_THREADS:-1 $processors}
				for n in $(tr ' ' '\n' <<<"$threads" | sort -nu); do
					[ "$name $n" = 'cpu 1' ] || [ "$name" = duckdb ] ||
						has_cpu_threads || continue
					echo "$name/$n"
				done
				;;
			*) echo "$name" ;;
		esac
	done
}

# once READER MODE SETUP STATEMENT: runs STATEMENT in a session of its own,
# with @ in it for the table, and leaves what it returns in $private/answer.
# MODE: in a "new" session; in a "warm" one, which has had a row of the table
# (so the GPU is awake); "again", where the same statement went before; or
# "resident", where it went before twice, and columns are kept.
# Prints milliseconds, the most memory of the process and its private memory
# at the end, in kB.
once()
{
	local reader=$1 mode=$2 setup=$3 statement=$4 table=csv_bench.ours before=

	rm -f "$private/answer"
	case $reader in
		duckdb/*)
			duckdb_once "$@"
			return
			;;
		file_fdw) table=csv_bench.file_fdw ;;
		cpu/*)
			setup+=" SET csv_gpu_fdw.engine = cpu;
				SET csv_gpu_fdw.cpu_threads = ${reader#*/};"
			;;
		cuda | auto) setup+=" SET csv_gpu_fdw.engine = $reader;" ;;
	esac
	statement=${statement//@/$table}
	case $mode in
		warm) before="SELECT 1 FROM $table LIMIT 1;" ;;
		again) before="$statement;" ;;
		resident)
			setup+=" SET csv_gpu_fdw.resident = on; SELECT csv_gpu_forget() \\g /dev/null"$'\n'
			before="$statement; $statement;"
			;;
	esac
	"${psql[@]}" --csv >"$private/output" <<SQL || return 1
SET client_min_messages = error;
LOAD 'csv_gpu_fdw';
SET csv_gpu_fdw.resident = off;
$setup
\\o /dev/null
$before
\\o $private/answer
\\timing on
$statement;
\\timing off
\\o
SELECT substring(status FROM 'VmHWM:\s+(\d+)'),
	substring(status FROM 'RssAnon:\s+(\d+)')
FROM pg_read_file('/proc/self/status', 0, 65536, true) AS status;
SQL
	sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p; s/^\([0-9]*\),\([0-9]*\)$/\1 \2/p' \
		"$private/output" | tr '\n' ' '
	echo
}

duckdb_once()
{
	local threads=${1#*/} mode=$2 setup=$3 statement=${4//@/li}
	local statements=("CREATE TEMP VIEW li AS SELECT * FROM read_csv('$file',
		auto_detect = false, header = false, delim = ',', quote = '\"',
		escape = '\"', columns = {$duckdb_columns})")

	case $statement in
		SELECT*)
			statement="COPY ($statement) TO '$private/answer'
				(FORMAT csv, HEADER false)"
			;;
	esac
	case $mode in
		warm) statements+=('SELECT 1 FROM li LIMIT 1') ;;
		again) statements+=("$statement") ;;
	esac
	[ -z "$setup" ] || statements+=("$setup")
	"$root/build/duckdb" "$threads" "${statements[@]}" "$statement"
}

# median, least and greatest of the numbers on standard input, and how many
summary()
{
	sort -n | awk '{ v[NR] = $1 }
		END { printf "%.2f %.2f %.2f %d\n", v[int((NR + 1) / 2)], v[1], v[NR], NR }'
}

# the same whoever computes it: char(n) without blanks, numbers to ten digits,
# and no quotes
plain_answer()
{
	sed -E 's/"//g; s/ +(,|$)/\1/g' "$1" | awk -F, -v OFS=, '{
		for (i = 1; i <= NF; i++)
			if ($i ~ /^-?[0-9]+\.?[0-9]*(e[-+]?[0-9]+)?$/)
				$i = sprintf("%.10g", $i)
		print }' | sort
}

# compare_answer NAME [OTHER]: $private/answer is NAME's; is it that of OTHER?
compare_answer()
{
	plain_answer "$private/answer" >"$private/plain.$1"
	cmp -s "$private/plain.$1" "$private/plain.${2:-$1}" && return
	echo "$1 answers otherwise than $2:" >&2
	diff "$private/plain.$2" "$private/plain.$1" | head -10 >&2 || true
	return 1
}
