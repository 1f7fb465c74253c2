#!/bin/bash
# run.sh: the benchmarks, all or PARTS of "machine engine sql scaling tpch forms
# output", with the results in docs/results.  Run by "make bench".
#
# The server is that of PGHOST where that is set, with the extension installed, and
# csv_gpu_fdw.resident_memory for a file's columns; else one of our own is made, and
# gone afterwards.  MACHINE names this machine
# in the results; SQL_SIZE (2G) is the size of the file of
# sql.sh and output.sh, and TPCH_SCALE (1) the
# scale of tpch.sh's.  What else the scripts can be told, they say themselves.
set -euo pipefail
cd "$(dirname "$0")/../.."
export MACHINE=${MACHINE:-$(hostname)}
results=docs/results
parts=${PARTS:-machine engine sql scaling tpch forms output}
data=${DIR:-/tmp}/csv_bench.$$.csv

remove_data()
{
	rm -rf "$data"
}
trap remove_data EXIT

if [ -z "${PGHOST:-}" ]; then
	. test/private.sh
	private_install
	# workers for all processors; 8 are the default of both
	private_settings="csv_gpu_fdw.resident_memory = '64GB'
max_worker_processes = $(($(nproc) + 8))
max_parallel_workers = $(nproc)"
	private_start
	trap 'remove_data; private_cleanup' EXIT
	# shellcheck disable=SC2154
	export PATH=$run_bindir:$PATH
fi

mkdir -p "$results"
for part in $parts; do
	echo "== $part, to $results/$part-$MACHINE.csv"
	case $part in
		machine) test/bench/machine.sh | tee "$results/machine-$MACHINE.csv" ;;
		engine) test/bench/engine.sh "$results/engine-$MACHINE.csv" ;;
		sql)
			build/generate lineitem "${SQL_SIZE:-2G}" >"$data"
			sync "$data"
			test/bench/sql.sh "$data" "$results/sql-$MACHINE.csv"
			remove_data
			;;
		output)
			build/generate lineitem "${SQL_SIZE:-2G}" >"$data"
			sync "$data"
			test/bench/output.sh "$data" "$results/output-$MACHINE.csv"
			remove_data
			;;
		tpch)
			mkdir "$data"
			build/tpch "${TPCH_SCALE:-1}" "$data"
			sync "$data"/*
			test/bench/tpch.sh "$data" "$results/tpch-$MACHINE.csv"
			remove_data
			;;
		scaling) test/bench/scaling.sh "$results/scaling-$MACHINE.csv" ;;
		forms) test/bench/forms.sh "$results/forms-$MACHINE.csv" ;;
	esac
done
