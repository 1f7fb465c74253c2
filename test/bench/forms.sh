#!/bin/bash
# Times values in other forms (dates by patterns, epochs, thousands separators,
# null_values, blanks) beside ISO dates and plain numbers.
#
#	forms.sh [RESULTS.csv]
#
# Of each form a file of ROWS (2000000) records with four columns of the same values is
# made in DIR (/tmp), which the server has to be able to write to.  The greatest of each
# column is asked for REPEAT (5) times; ENGINES ("cpu", and "cuda" where there is a GPU),
# CPU_THREADS (1) and MACHINE as in sql.sh.  "of plain" is the pace in values, that of
# the plain form being 1.
set -euo pipefail
export LC_ALL=C PGDATABASE=${PGDATABASE:-postgres}
results=${1:-/dev/null}
rows=${ROWS:-2000000} repeat=${REPEAT:-5} threads=${CPU_THREADS:-1}
machine=${MACHINE:-$(hostname)}
engines=${ENGINES:-cpu$([ ! -e /dev/nvidiactl ] || echo ' cuda')}
data=${DIR:-/tmp}/csv_bench_forms.$$.csv
date="date '1992-01-01' + ((i * 7919 + j * 104729) % 2556)::integer"
time="($date) + (i * 31 + j) % 86400 * interval '1 second'"
number='((i * 7919 + j * 104729) % 99999999 - 9999999)'
amount="round($number / 100.0, 2)"

# name|the plain form's|type|the value's text|options
forms="ISO date|ISO date|date|($date)::text|
DD/MM/YYYY|ISO date|date|to_char($date, 'DD/MM/YYYY')|date_format 'DD/MM/YYYY'
MM/DD/YYYY|ISO date|date|to_char($date, 'MM/DD/YYYY')|date_format 'MM/DD/YYYY'
YYYYMMDD|ISO date|date|to_char($date, 'YYYYMMDD')|date_format 'YYYYMMDD'
DD-Mon-YYYY|ISO date|date|to_char($date, 'DD-Mon-YYYY')|date_format 'DD-Mon-YYYY'
ISO timestamp|ISO timestamp|timestamp|($time)::text|
DD.MM.YYYY HH24:MI:SS|ISO timestamp|timestamp|to_char($time, 'DD.MM.YYYY HH24:MI:SS')|timestamp_format 'DD.MM.YYYY HH24:MI:SS'
epoch|ISO timestamp|timestamp|extract(epoch FROM $time)::bigint::text|timestamp_format 'epoch'
epoch_ms|ISO timestamp|timestamp|(extract(epoch FROM $time) * 1000)::bigint::text|timestamp_format 'epoch_ms'
numeric|numeric|numeric(12,2)|($amount)::text|
1,234.56|numeric|numeric(12,2)|to_char($amount, 'FM999,999,990.00')|thousands_separator ','
1.234,56|numeric|numeric(12,2)|translate(to_char($amount, 'FM999,999,990.00'), ',.', '.,')|thousands_separator '.', decimal_separator ','
bigint|bigint|bigint|($number)::text|
NA, 1 of 8|bigint|bigint|CASE WHEN i % 8 = 0 THEN 'NA' ELSE ($number)::text END|null_values '{NA}'
trim|bigint|bigint|concat(' ', $number, ' ')|trim 'true'"

ask()
{
	psql -XAtq -v ON_ERROR_STOP=1 "$@"
}

cleanup()
{
	ask -c 'SET client_min_messages = error; DROP SERVER IF EXISTS csv_bench_forms CASCADE' || true
	rm -f "$data"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

: >"$data"
chmod 666 "$data"
ask -c 'SET client_min_messages = error; DROP SERVER IF EXISTS csv_bench_forms CASCADE;
	CREATE EXTENSION IF NOT EXISTS csv_gpu_fdw;
	CREATE SERVER csv_bench_forms FOREIGN DATA WRAPPER csv_gpu_fdw'
echo 'machine,engine,form,plain,rows,runs,median_ms,values_per_second,of_plain' >"$results"
printf '%-6s %-22s %10s %14s %9s\n' engine form 'median ms' 'M values/s' 'of plain'
declare -A pace
while IFS='|' read -r name plain type text options; do
	texts='' columns=''
	for j in 1 2 3 4; do
		# a number of the text's own, not a letter of it
		texts+=${texts:+, }$(sed -E "s/\bj\b/$j/g" <<<"$text")
		columns+=${columns:+, }"c$j $type"
	done
	ask -c "COPY (SELECT $texts FROM generate_series(1::bigint, $rows) i) TO '$data' (FORMAT csv, DELIMITER ';')"
	sync "$data"
	ask -c "SET client_min_messages = error; DROP FOREIGN TABLE IF EXISTS csv_bench_forms;
		CREATE FOREIGN TABLE csv_bench_forms ($columns) SERVER csv_bench_forms
			OPTIONS (filename '$data', delimiter ';'${options:+, $options})"
	for engine in $engines; do
		queries='\timing on'
		for ((run = 0; run <= repeat; run++)); do
			queries+=$'\n'"SELECT max(c1), max(c2), max(c3), max(c4) FROM csv_bench_forms;"
		done
		settings="-c csv_gpu_fdw.engine=$engine -c csv_gpu_fdw.cpu_threads=$threads -c max_parallel_workers_per_gather=0"
		# the first one is not counted
		median=$(PGOPTIONS=$settings ask <<<"$queries" | awk '/^Time:/ && n++ { print $2 }' |
			sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
		values=$(awk "BEGIN { printf \"%.0f\", 4 * $rows / $median * 1000 }")
		pace[$engine,$name]=$values
		ratio=$(awk "BEGIN { printf \"%.2f\", $values / ${pace[$engine,$plain]} }")
		printf '%-6s %-22s %10.1f %14.1f %9s\n' "$engine" "$name" "$median" \
			"$(awk "BEGIN { print $values / 1e6 }")" "$ratio"
		echo "$machine,$engine,\"$name\",\"$plain\",$rows,$repeat,$median,$values,$ratio" >>"$results"
	done
done <<<"$forms"
