#!/bin/bash
# lint.sh: looks for mistakes without running anything.  Run by "make lint".
# Every finding is an error.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
PG_CONFIG=${PG_CONFIG:-pg_config}
CPPCHECK=${CPPCHECK:-cppcheck}
CLANG_TIDY=${CLANG_TIDY:-clang-tidy}

test/setup.sh build lint || exit 1
status=0

failed()
{
	echo "lint: $1 has findings"
	status=1
}

"${MAKE:-make}" -s all >/dev/null || exit 1
test/format.sh --check || failed 'make format'
test/rooms.sh || failed test/rooms.sh
test/sizes.sh || failed test/sizes.sh

# the control file has the version; PGXN's have three parts
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" csv_gpu_fdw.control)
[ "$(grep -cF "\"version\": \"$version.0\"" META.json)" = 2 ] &&
	grep -qF "\"file\": \"csv_gpu_fdw--$version.sql\"" META.json &&
	grep -qF "($version.0)" debian/changelog ||
	failed "META.json or debian/changelog, beside version $version of csv_gpu_fdw.control,"

# The library, and the program that sessions share, with the lists of queue.h, which
# cppcheck does not find by itself.  Left out: the sign's shift is what every compiler
# does; equal values for two new variables are meant so.
queue=$(echo '#include <sys/queue.h>' | "${CC:-cc}" -E -M -x c - | grep -o '/[^ ]*/queue\.h')
"$CPPCHECK" --quiet --enable=warning,performance,portability --inline-suppr \
	--suppress=shiftTooManyBitsSigned --suppress=duplicateAssignExpression \
	--std=c11 -Isrc --include="$queue" --error-exitcode=1 \
	--template='{file}:{line}: {message} [{id}]' src/reader src/cpu src/query src/wire src/service test/bench test/stress ||
	failed "$CPPCHECK"

# shellcheck disable=SC2206
flags=(-Isrc -Ibuild -isystem "$("$PG_CONFIG" --includedir-server)" -D_GNU_SOURCE
	-Wcast-qual '-DCSV_VERSION=""' ${COMPRESSION_FLAGS-})
printf '%s\n' src/*.c src/*/*.c |
	xargs -P"$(nproc)" -n3 bash -c '
		tidy=$1; n=$2; flags=("${@:3:n}"); shift $((n + 2))
		"$tidy" --quiet "$@" -- "${flags[@]}" 2>/dev/null' \
		tidy "$CLANG_TIDY" "${#flags[@]}" "${flags[@]}" ||
	failed "$CLANG_TIDY"

if command -v shellcheck >/dev/null; then
	shellcheck --severity=warning -x test/*.sh test/*/*.sh .ci/run ||
		failed shellcheck
fi

[ $status = 0 ] && echo 'lint: nothing found'
exit $status
