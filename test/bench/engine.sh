#!/bin/bash
# Times the engines by themselves on files of all shapes, with what does less
# beside them: loops that look at one byte at a time, and cut and wc.
#
#	engine.sh [RESULTS.csv]
#
# SHAPES (all; see generate.c) of SIZE (128M) are made one after the other in
# DIR (/tmp).  REPEAT, ENGINE, CHUNK_MB and FIELDS as in engine.c; MACHINE is
# the name in the results.
set -euo pipefail
export LC_ALL=C MACHINE=${MACHINE:-$(hostname)}
root=$(realpath "$(dirname "$0")/../..")
results=${1:-/dev/null}
repeat=${REPEAT:-7}
directory=$(mktemp -d "${DIR:-/tmp}/csv_bench.XXXXXX")
trap 'rm -rf "$directory"' EXIT
trap 'exit 130' INT TERM

# time_tool NAME FILE COMMAND...: as a line of build/engine's
time_tool()
{
	local name=$1 file=$2 shape bytes start speeds=()
	shift 2
	shape=$(basename "$file")
	bytes=$(stat -c %s "$file")
	for ((run = -1; run < repeat; run++)); do
		start=${EPOCHREALTIME/./}
		"$@" "$file" >/dev/null
		[ $run -lt 0 ] ||
			speeds+=("$(awk "BEGIN { print $bytes / (${EPOCHREALTIME/./} - $start) / 1e3 }")")
	done
	printf '%s\n' "${speeds[@]}" | sort -n |
		awk -v shape="$shape" -v bytes="$bytes" -v name="$name" -v results="$results" '
		{ v[NR] = $1 }
		END {
			median = v[int((NR + 1) / 2)]
			printf "%-10s %-6s %-14s %-8s %10s %9s %10.2f\n", shape, "tool", name,
				"", "", "", median
			printf "%s,%s,%s,tool,%s,,,,%d,%.3f,%.3f,%.3f,,\n", ENVIRON["MACHINE"],
				shape, bytes, name, NR, median, v[1], v[NR] >>results
		}'
}

[ "$results" = /dev/null ] || rm -f "$results"
for shape in ${SHAPES:-lineitem quoted unquoted tiny wide long giant bad stray}; do
	file=$directory/$shape
	case $shape in
		tiny) layout=tiny last=16 ;;
		wide) layout=wide last=1000 ;;
		*) layout=lineitem last=16 ;;
	esac
	"$root/build/generate" "$shape" "${SIZE:-128M}" >"$file"
	"$root/build/engine" "$layout" "$file" "$results"
	case ${ENGINE:-cpu} in
		cpu)
			time_tool cut "$file" cut -d, "-f$last"
			time_tool wc "$file" wc -l
			;;
	esac
	rm "$file"
done
