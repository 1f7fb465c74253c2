#!/bin/bash
# check.sh: every test there is.  Run by "make check".
#
# All parts run, also after one has failed; PARTS names a choice of them, or
# "all check-versions", and TAP a pattern of files of test/t/.  EFFORT=N gives tests with
# random inputs N times as many; SEED=N repeats a run.  What needs a
# server spends much of its time waiting, so the other parts run beside it, and
# their output follows its.  As each part ends, a line says how many have, and about
# how many minutes are left.  A table of the parts with their seconds comes last;
# the last line of all is the sum, and decides the exit status.  The parts'
# outputs are kept under build/check/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh

ALL_PARTS='build regress regress-gpu tap setup-test unit unit-sanitize differential fuzz'
PARTS=${PARTS:-all}
PARTS=${PARTS/#all/$ALL_PARTS}
nparts=$(wc -w <<<"$PARTS")
logs=build/check
# what the same took the last time
last=build/check-seconds
same="$PARTS ${TAP-} ${EFFORT-1}"
began=$EPOCHSECONDS
server_ready=no

# finish: the sum, and out
finish()
{
	local part ok bad seconds passed=0 failed=0

	echo
	for part in setup $PARTS; do
		[ -f "$logs/$part.result" ] || continue
		read -r ok bad seconds <"$logs/$part.result"
		echo "$part: $ok passed, $bad failed (${seconds}s)"
		passed=$((passed + ok))
		failed=$((failed + bad))
	done
	echo "all of it: $((EPOCHSECONDS - began))s"
	echo "$((EPOCHSECONDS - began)) $same" >$last
	private_cleanup
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}

# result PART PASSED FAILED
result()
{
	echo "$2 $3 $SECONDS" >"$logs/$1.result"
	say_progress >&3
}

# Processor seconds of the parts, where there is no last time: rough, and enough for that.
declare -A usual=(
	[build]=290 [regress]=40 [regress-gpu]=60 [tap]=560 [setup-test]=10 [unit]=60
	[unit-sanitize]=120 [differential]=30 [fuzz]=110 [check-versions]=500
)

# say_progress: how many parts have ended, and about how long the others take
say_progress()
{
	local part ndone=0 left=0 seconds rest

	for part in $PARTS; do
		if [ -f "$logs/$part.result" ]; then
			ndone=$((ndone + 1))
		else
			left=$((left + usual[$part] / $(nproc)))
		fi
	done
	if read -r seconds rest 2>/dev/null <$last && [ "$rest" = "$same" ]; then
		left=$((seconds - (EPOCHSECONDS - began)))
	fi
	echo "check: $ndone of $nparts parts done, about $((left > 0 ? (left + 59) / 60 : 0)) minutes left"
}

# logged PART COMMAND...: with its output shown and kept
logged()
{
	local log=$logs/$1.log

	shift
	"$@" 2>&1 | tee "$log"
}

# count_lines REGEX FILE
count_lines()
{
	grep -cE "$1" "$2" || true
}

build()
{
	if run_job logged build private_make -s all; then
		result build 1 0
	else
		result build 0 1
	fi
}

# without a GPU, its program has the stand-in for one
start_server()
{
	[ -d /proc/driver/nvidia/gpus ] || local -x CSV_GPU_FDW_STAND_IN=1
	private_start 3>&-
}

# The private server, for the parts that need one; made once.
need_server()
{
	if [ $server_ready = no ]; then
		server_ready=failed
		private_install install-inject >"$logs/server.log" 2>&1 &&
			start_server >>"$logs/server.log" 2>&1 &&
			private_make -s build/test/hostile >>"$logs/server.log" 2>&1 &&
			install -D -m 755 build/test/hostile "$work/src/build/test/hostile" &&
			server_ready=yes ||
			cat "$logs/server.log"
	fi
	[ $server_ready = yes ]
}

# regress_with NAME OPTIONS...: with such settings
regress_with()
{
	local name=$1 tests ok bad rc

	shift
	tests=$(cd sql 2>/dev/null && ls -- *.sql 2>/dev/null | sed 's/\.sql$//')
	if [ -z "$tests" ]; then
		echo 'no files sql/*.sql'
		return
	fi
	if ! need_server; then
		result "$name" 0 1
		return
	fi

	# shellcheck disable=SC2086
	run_job logged "$name" as_server \
		env PGOPTIONS="-c csv_gpu_test.file_age=0.97 $*" "$pg_regress" --bindir="$run_bindir" \
		--inputdir="$work/src" --outputdir="$work/out" \
		--host="$PGHOST" --port="$PGPORT" --user=postgres \
		--encoding=UTF8 --no-locale --dbname=contrib_regression $tests
	rc=$?

	# as PostgreSQL 15 prints it, and as 16 and later do
	ok=$(count_lines '^((test)? +[a-z0-9_]+ +\.\.\. ok|ok [0-9]+)' "$logs/$name.log")
	bad=$(count_lines '^((test)? +[a-z0-9_]+ +\.\.\. FAILED|not ok [0-9]+)' "$logs/$name.log")
	if [ $rc != 0 ] && [ "$bad" = 0 ]; then
		bad=1
		tail -20 "$work/out/server.log"
	fi
	if [ -s "$work/out/regression.diffs" ]; then
		cp "$work/out/regression.diffs" "$logs/$name.diffs"
		rm -rf "$logs/$name.results"
		cp -R "$work/out/results" "$logs/$name.results"
		head -200 "$logs/$name.diffs"
		echo "(all of it: $logs/$name.diffs; actual outputs: $logs/$name.results/)"
	fi
	cp "$work/out/server.log" $logs/server.log
	result "$name" "$ok" "$bad"
}

regress()
{
	regress_with regress
}

# the same on the GPU, for which the tests have a stand-in (test/inject)
regress-gpu()
{
	regress_with regress-gpu -c csv_gpu_fdw.engine=cuda
}

# prove's lines of single tests are for the log, the rest is shown, each file with its number.  What takes
# longest begins: jobs, which wait for whole minutes, and then the later files.
# More run at once than there are processors, since they all wait at times.
prove_verbose()
{
	local tests

	mapfile -t tests < <({
		ls test/t/*_jobs.pl
		ls -r test/t/*.pl
	} | grep -e "${TAP-}" | awk '!seen[$0]++')
	as_server env PATH="$run_bindir:$PATH" TESTDIR="$work/out" TMPDIR="$work/out" \
		prove --verbose --timer --jobs $(($(nproc) + 1)) "${tests[@]}" 2>&1 |
		tee $logs/tap.log |
		awk -v of=${#tests[@]} '
			/^ *(ok [0-9]|# |1\.\.)/ { next }
			/^\[[0-9:]*\] test/ { $0 = $0 "(" ++n " of " of ")" }
			{ print; fflush() }'
	return "${PIPESTATUS[0]}"
}

tap()
{
	local ok bad rc

	if ! ls test/t/*.pl >/dev/null 2>&1; then
		echo 'no files test/t/*.pl'
		return
	fi
	if ! need_server; then
		result tap 0 1
		return
	fi
	run_job prove_verbose
	rc=$?
	ok=$(count_lines '^ok [0-9]+' $logs/tap.log)
	bad=$(count_lines '^not ok [0-9]+' $logs/tap.log)
	if [ $rc != 0 ] && [ "$bad" = 0 ]; then
		bad=1
	fi
	if [ $rc != 0 ]; then
		grep -aE '^ *#' $logs/tap.log | cut -c1-500 | tail -60
		rm -rf $logs/tap_log
		cp -R "$work/out/tmp_check/log" $logs/tap_log 2>/dev/null
		echo "(servers' logs: $logs/tap_log/)"
	fi
	result tap "$ok" "$bad"
}

# make_part TARGET: of test/test.mk; in a job already
make_part()
{
	local line rc

	logged "$1" private_make -s "$1"
	rc=$?
	line=$(grep -E "^$1: [0-9]+ passed, [0-9]+ failed$" "$logs/$1.log" | tail -1)
	if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
		if [ $rc != 0 ] && [ "${BASH_REMATCH[2]}" = 0 ]; then
			result "$1" "${BASH_REMATCH[1]}" 1
		else
			result "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
		fi
	else
		result "$1" 0 1
	fi
}

run_parts()
{
	local part

	for part; do
		echo
		echo "== $part"
		SECONDS=0
		case $part in
			build | regress | regress-gpu | tap) $part ;;
			*) make_part "$part" ;;
		esac
	done
}

exec 3>&1
mkdir -p $logs
rm -rf ${logs:?}/*
needs=build
serial=()
beside=()
for part in $PARTS; do
	case $part in
		build | regress | regress-gpu | tap) serial+=("$part") ;;
		setup-test | unit | unit-sanitize | differential | fuzz | check-versions)
			beside+=("$part")
			;;
		*) die "check: no part $part; there are $ALL_PARTS check-versions" ;;
	esac
	case $part in
		build | setup-test | regress | regress-gpu | check-versions) ;;
		tap) [ -n "${TAP-}" ] || needs='build check' ;;
		*) needs='build check' ;;
	esac
done
# shellcheck disable=SC2086
if ! test/setup.sh $needs; then
	result setup 0 1
	finish
fi

# what the others are linked with is made first, as two makes must not make it
for part in "${serial[@]}"; do
	if [ "$part" = build ]; then
		run_parts build
	else
		need_server
	fi
done
start_job run_parts "${beside[@]}" >$logs/beside.log 2>&1
beside_job=$!
for part in "${serial[@]}"; do
	[ "$part" = build ] || run_parts "$part"
done
run_job tail -s 0.1 -n +1 -f --pid=$beside_job $logs/beside.log
wait $beside_job
finish
