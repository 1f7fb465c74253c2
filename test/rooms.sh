#!/bin/bash
# rooms.sh: may each file include what it includes?  Run by "make lint".
#
# A room is a folder.  The table below says which others it may look into; a
# room that is not named there may look into none.  settings.h and compat.h are
# for all rooms on the server's side.  Files must not include each other in a
# circle, be longer than most_lines, nor have a function longer than
# most_function_lines; generated tables are left out.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

most_lines=1200
most_function_lines=120
generated='src/reader/pow5.h'

declare -A may_include=(
	# the library
	[reader]=''
	[cpu]='reader'
	[query]='reader'
	[cuda]='reader query'
	# the server's side, from the ground up
	[table]='reader'
	[program]='reader query table'
	[batches]='reader query cuda table program'
	[groups]='reader query table program batches'
	[scan]='reader query table program batches groups'
	[plan]='reader query table program batches groups scan'
	[load]='reader table batches scan'
	[import]='reader table batches scan'
	[src]='reader query table program batches groups scan plan load import'
)

status=0

finding()
{
	echo "$*"
	status=1
}

# included FILE: the files of ours that it includes, as paths from the top
included()
{
	local name dir

	dir=$(dirname "$1")
	sed -n 's/^ *# *include "\([^"]*\)".*/\1/p' "$1" |
		while read -r name; do
			for path in "$dir/$name" "src/$name"; do
				if [ -f "$path" ]; then
					realpath --relative-to=. "$path"
					break
				fi
			done
		done
}

mapfile -t files < <(git ls-files 'src/*.[ch]' 'cuda/*.cu' 'cuda/*.cuh' 'cuda/*.h')
edges=$(mktemp) || exit 1
trap 'rm -f "$edges"' EXIT

for file in "${files[@]}"; do
	room=$(basename "$(dirname "$file")")
	while read -r other; do
		[ "${other%.*}" = "${file%.*}" ] || echo "${file%.*} ${other%.*}" >>"$edges"
		other_room=$(basename "$(dirname "$other")")
		case $other in
			src/settings.h | src/compat.h) continue ;;
		esac
		[ "$room" = "$other_room" ] ||
			[[ " ${may_include[$room]-} " == *" $other_room "* ]] ||
			finding "$file: $room may not look into $other_room ($other)"
	done < <(included "$file")
done

tsort "$edges" >/dev/null 2>"$edges.circles" ||
	finding "files that include each other in a circle:"$'\n'"$(cat "$edges.circles")"
rm -f "$edges.circles"

for file in "${files[@]}"; do
	case " $generated " in
		*" $file "*) continue ;;
	esac
	lines=$(wc -l <"$file")
	[ "$lines" -le $most_lines ] || finding "$file: $lines lines, more than $most_lines"
	long=$(awk -v most=$most_function_lines '
		/^\{/ { start = NR }
		/^\}/ && start { if (NR - start - 1 > most) printf "%d (%d lines) ", start, NR - start - 1; start = 0 }
	' "$file")
	[ -z "$long" ] || finding "$file: functions of more than $most_function_lines lines, at line $long"
done
exit $status
