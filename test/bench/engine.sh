#!/bin/bash
# Times the engines by themselves on files of all shapes, with what does less
# beside them: loops that look at one byte at a time, and cut and wc.
#
#	engine.sh [RESULTS.csv]
#
# SHAPES (all; see generate.c) of SIZE (128M; 512M for a GPU) are made one after
# the other in DIR (/tmp).  ENGINE ("cpu cuda", where there is a GPU), REPEAT,
# CHUNK_MB (for a GPU: 512) and FIELDS as in engine.c; MACHINE is the name in the
# results.
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
			printf "%s,%s,%s,0,tool,%s,,,,%d,%.3f,%.3f,%.3f,,\n", ENVIRON["MACHINE"],
				shape, bytes, name, NR, median, v[1], v[NR] >>results
		}'
}

# time_shape ENGINE SHAPE SIZE
time_shape()
{
	local engine=$1 shape=$2 file=$directory/$2 layout=lineitem last=16

	case $shape in
		tiny) layout=tiny ;;
		wide) layout=wide last=1000 ;;
	esac
	"$root/build/generate" "$shape" "$3" >"$file"
	ENGINE=$engine "$root/build/engine" "$layout" "$file" "$results"
	if [ "$engine" = cpu ]; then
		time_tool cut "$file" cut -d, "-f$last"
		time_tool wc "$file" wc -l
	fi
	rm "$file"
}

[ "$results" = /dev/null ] || rm -f "$results"
shapes=${SHAPES:-lineitem quoted unquoted tiny wide long giant bad stray}
for engine in ${ENGINE:-cpu cuda}; do
	[ "$engine" != cuda ] || [ -e /dev/nvidiactl ] || continue
	for shape in $shapes; do
		if [ "$engine" = cuda ]; then
			CHUNK_MB=${CHUNK_MB:-512} time_shape cuda "$shape" "${SIZE:-512M}"
		else
			time_shape cpu "$shape" "${SIZE:-128M}"
		fi
	done
done
