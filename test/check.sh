#!/bin/bash
# check.sh: every test there is.  Run by "make check".
#
# The parts run one after the other, also after one has failed; PARTS names a
# choice of them.  Each ends with a line "part: N passed, M failed"; the last
# line of all is the sum, and decides the exit status.  The parts' outputs are
# kept under build/check/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. test/private.sh

ALL_PARTS='build setup-test regress tap unit unit-sanitize differential fuzz'
PARTS=${PARTS:-$ALL_PARTS}
logs=build/check
summary=
passed=0
failed=0
server_ready=no

# finish: the sum, and out
finish()
{
	printf '\n%s' "$summary"
	private_cleanup
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}

# result PART PASSED FAILED
result()
{
	passed=$((passed + $2))
	failed=$((failed + $3))
	summary+="$1: $2 passed, $3 failed (${SECONDS}s)"$'\n'
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

# The private server, for the parts that need one; made once.
need_server()
{
	if [ $server_ready = no ]; then
		server_ready=failed
		private_install install-inject >"$logs/server.log" 2>&1 &&
			private_start >>"$logs/server.log" 2>&1 &&
			server_ready=yes ||
			cat "$logs/server.log"
	fi
	[ $server_ready = yes ]
}

regress()
{
	local tests ok bad rc

	tests=$(cd sql 2>/dev/null && ls -- *.sql 2>/dev/null | sed 's/\.sql$//')
	if [ -z "$tests" ]; then
		echo 'no files sql/*.sql'
		return
	fi
	if ! need_server; then
		result regress 0 1
		return
	fi

	# shellcheck disable=SC2086
	run_job logged regress as_server \
		env PGOPTIONS='-c csv_gpu_test.file_age=0.97' "$pg_regress" --bindir="$run_bindir" \
		--inputdir="$work/src" --outputdir="$work/out" \
		--host="$PGHOST" --port="$PGPORT" --user=postgres \
		--encoding=UTF8 --no-locale --dbname=contrib_regression $tests
	rc=$?

	# as PostgreSQL 15 prints it, and as 16 and later do
	ok=$(count_lines '^((test)? +[a-z0-9_]+ +\.\.\. ok|ok [0-9]+)' $logs/regress.log)
	bad=$(count_lines '^((test)? +[a-z0-9_]+ +\.\.\. FAILED|not ok [0-9]+)' $logs/regress.log)
	if [ $rc != 0 ] && [ "$bad" = 0 ]; then
		bad=1
		tail -20 "$work/out/server.log"
	fi
	if [ -s "$work/out/regression.diffs" ]; then
		cp "$work/out/regression.diffs" $logs/
		cp -R "$work/out/results" $logs/
		head -200 $logs/regression.diffs
		echo "(all of it: $logs/regression.diffs; actual outputs: $logs/results/)"
	fi
	cp "$work/out/server.log" $logs/server.log
	result regress "$ok" "$bad"
}

# prove's lines of single tests are for the log, the rest is shown
prove_verbose()
{
	as_server env PATH="$run_bindir:$PATH" \
		TESTDIR="$work/out" TESTDATADIR="$work/out/tmp_check" \
		TESTLOGDIR="$work/out/tmp_check/log" \
		PG_REGRESS="$pg_regress" PGPORT=65432 \
		PG_CONFIG="$run_bindir/pg_config" \
		prove --verbose -I "$pgxs_perl" -I test/perl -I test/t test/t/*.pl 2>&1 |
		tee $logs/tap.log |
		grep -vE '^ *(ok [0-9]|# |1\.\.)'
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
		rm -rf $logs/tap_log
		cp -R "$work/out/tmp_check/log" $logs/tap_log 2>/dev/null
		echo "(servers' logs: $logs/tap_log/)"
	fi
	result tap "$ok" "$bad"
}

# make_part TARGET: of test/test.mk
make_part()
{
	local line rc

	if ! grep -qsE "^([a-z-]+ )*$1( [a-z-]+)* *:" test/test.mk; then
		echo "no target $1 in test/test.mk"
		return
	fi
	run_job logged "$1" private_make -s "$1"
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

# a signal before the private server has its own traps
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

needs=
for part in $PARTS; do
	case $part in
		build | setup-test | regress) needs+=' build' ;;
		*) needs+=' build check' ;;
	esac
done
# shellcheck disable=SC2086
if ! test/setup.sh $needs; then
	result setup 0 1
	finish
fi

mkdir -p $logs
rm -rf ${logs:?}/*
for part in $PARTS; do
	echo
	echo "== $part"
	SECONDS=0
	case $part in
		build | regress | tap) $part ;;
		setup-test | unit | unit-sanitize | differential | fuzz) make_part "$part" ;;
		*) die "check: no part $part; there are $ALL_PARTS" ;;
	esac
done
finish
