#!/bin/bash
# stress.sh: hostile files through everything that reads them, in the server of
# PG_CONFIG.  Run by "make stress"; the last line is "stress: N passed, M failed".
#
# STRESS_FILES random ones (20000), from STRESS_SEED on, go through
# csv_gpu_sniff(), IMPORT FOREIGN SCHEMA, SELECT, csv_gpu_errors() and
# csv_gpu_load(): no backend may be lost, no error be internal, no memory be
# written that is not its own, and the counts agree.  A server built with
# assertions (configure --enable-cassert) sees most.  Folders of 50 with trouble
# are kept in build/stress/SEED, with what was run and printed;
# STRESS_SEED=SEED STRESS_FILES=50 repeats one.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. test/private.sh

files=${STRESS_FILES:-20000}
seed=${STRESS_SEED:-$((RANDOM * 32768 + RANDOM))}
folder_files=50
kept=build/stress
passed=0
failed=0
mkdir -p "$kept"

test/setup.sh build check || exit 1
private_install >"$kept/log" 2>&1 && private_start >>"$kept/log" 2>&1 ||
	{ cat "$kept/log"; die 'stress: the private server did not start'; }
cp build/test/hostile "$work/src/" && cp test/stress/stress.sql "$work/src/" || exit 1
chmod a+rx "$work/src/hostile"
"$run_bindir/pg_config" --configure | grep -q enable-cassert ||
	echo 'stress: this server was built without assertions'
echo "stress: $files files from seed $seed"

psql=("$run_bindir/psql" -X -q -d postgres)

prepare()
{
	as_server "${psql[@]}" -v ON_ERROR_STOP=1 -f "$work/src/stress.sql" </dev/null
}

# No statement takes so long, as the files are small; nor does one go on after.
read_folder()
{
	as_server env PGOPTIONS='-c statement_timeout=300s' \
		timeout -k 10 1800 "${psql[@]}" -f "$1/run.sql" </dev/null
}

# what is no trouble: a file's name that is no text
trouble='stress trouble|ERROR:|FATAL:|PANIC:|WARNING:|connection to server|server closed'
harmless='invalid byte sequence for encoding|without equivalent in encoding|is read as a pattern, but a file has exactly this name|name is not valid in encoding'

# troubles FILE: of a folder's output and of the server's log
troubles()
{
	grep -aE "$trouble|^TRAP:|terminated by signal|past chunk end|alloc set|leak" "$1" |
		grep -avE "$harmless"
}

prepare || die 'stress: the extension could not be created'
report_at=$((SECONDS + 60))
for ((done_files = 0; done_files < files; done_files += folder_files)); do
	n=$((files - done_files < folder_files ? files - done_files : folder_files))
	folder_seed=$((seed + done_files / folder_files))
	folder=$work/out/stress
	as_server "$work/src/hostile" "$folder" "$folder_seed" "$n" >"$work/run.sql" || exit 1
	cp "$work/run.sql" "$folder/run.sql"
	chmod a+r "$folder/run.sql"
	: >"$work/out/server.log"
	run_job read_folder "$folder" >"$work/output" 2>&1
	rc=$?
	grep -aE "$trouble|stress: " "$work/output" >"$work/warnings"
	{
		[ $rc = 0 ] || echo "psql ended with status $rc"
		troubles "$work/warnings"
		grep -aE 'TRAP:|terminated by signal|past chunk end|alloc set|PANIC:' "$work/out/server.log"
	} >"$work/troubles"
	if [ -s "$work/troubles" ]; then
		failed=$((failed + n))
		rm -rf "${kept:?}/$folder_seed"
		mkdir -p "$kept/$folder_seed"
		cp -R "$folder/." "$work/output" "$work/troubles" "$kept/$folder_seed/"
		cp "$work/out/server.log" "$kept/$folder_seed/"
		echo "trouble with $kept/$folder_seed, after $(grep -a 'stress: ' "$work/warnings" | tail -1):"
		head -5 "$work/troubles" | cut -c1-300
		# after a crash
		for ((i = 0; i < 60; i++)); do
			as_server "${psql[@]}" -c 'SELECT 1' >/dev/null 2>&1 </dev/null && break
			sleep 1
		done
		as_server "${psql[@]}" -c 'DROP SCHEMA IF EXISTS stress_import CASCADE' \
			-c 'DROP TABLE IF EXISTS stress.target' \
			-c 'DROP FOREIGN TABLE IF EXISTS stress.declared' >/dev/null 2>&1 </dev/null
	else
		passed=$((passed + n))
	fi
	cat "$work/warnings" >>"$kept/log"
	rm -rf "$folder"
	if [ $SECONDS -ge $report_at ]; then
		echo "$((passed + failed)) files in $SECONDS s"
		report_at=$((SECONDS + 60))
	fi
done

as_server "${psql[@]}" -c 'SELECT outcome, count(*) AS tables, sum(nrows) AS rows, sum(nskipped) AS skipped
	FROM stress.tally GROUP BY 1 ORDER BY 2 DESC' </dev/null
private_cleanup
echo "stress: $passed passed, $failed failed"
[ $failed = 0 ]
