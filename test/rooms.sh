#!/bin/bash
# rooms.sh: may each file include what it includes, and does each name mean one
# thing?  Run by "make lint".
#
# A room is a folder.  The first table below says which others it may look into; a
# room that is not named there may look into none.  The second says how many lines it may
# have.  A commit that raises such a number says why.  settings.h and compat.h are
# for all rooms on the server's side.  Files must not include each other in a
# circle, nor call each other, as far as they are built.  csv_cuda.h has the layers
# of cuda/.
#
# Our settings are looked at where the options of tables are resolved, and in client/
# and output/ settings that are of no table.  No two types have one name, not even in files of their
# own.  Prints which rooms each room does look into.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

declare -A may_include=(
	# the library
	[reader]=''
	[cpu]='reader'
	[query]='reader'
	[wire]='reader query'
	[cuda]='reader query'
	# the program that sessions share
	[service]='reader query wire cuda'
	# the server's side, from the ground up
	[table]='reader query wire'
	[client]='wire table'
	[program]='reader query table'
	[batches]='reader query wire cuda table client program'
	[groups]='reader query table program batches'
	[scan]='reader query table program batches groups'
	[plan]='reader query table program batches groups scan'
	[output]='reader table scan plan'
	[load]='reader query wire table program scan plan output'
	[import]='reader table scan'
	[src]='reader query table program batches groups scan plan output load import'
)

declare -A most_lines=(
	[reader]=9009 [cpu]=5301 [query]=11591 [wire]=2317 [cuda]=10792 [service]=4927
	[table]=11091 [client]=1604 [program]=1123 [batches]=4994 [groups]=1900 [scan]=8324
	[plan]=5493 [output]=7432 [load]=10723 [import]=10895 [src]=884
)

# of all rooms; and of the tests, without their data
most_in_rooms=108400
most_in_tests=53424

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

files=(src/*.[ch] src/*/*.[ch] cuda/*.cu cuda/*.cuh cuda/*.h)
edges=
declare -A includes=()

for file in "${files[@]}"; do
	room=$(basename "$(dirname "$file")")
	while read -r other; do
		[ "${other%.*}" = "${file%.*}" ] || edges+="${file%.*} ${other%.*}"$'\n'
		other_room=$(basename "$(dirname "$other")")
		case $other in
			src/settings.h | src/compat.h) continue ;;
		esac
		[ "$room" != "$other_room" ] || continue
		[[ " ${includes[$room]-} " == *" $other_room "* ]] ||
			includes[$room]="${includes[$room]-}${includes[$room]+ }$other_room"
		[[ " ${may_include[$room]-} " == *" $other_room "* ]] ||
			finding "$file: $room may not look into $other_room ($other)"
	done < <(included "$file")
done

echo 'rooms, their lines, and those they look into:'
for room in reader cpu query wire cuda service table client program batches groups scan plan output load import src; do
	mapfile -t in_room < <(printf '%s\n' "${files[@]}" | grep -E "^(src/)?$room/[^/]*$")
	lines=$(cat "${in_room[@]}" | wc -l)
	printf '%9s %6d  %s\n' "$room" "$lines" "${includes[$room]-}"
	[ "$lines" -le "${most_lines[$room]}" ] ||
		finding "$room: more than ${most_lines[$room]} lines"
done
lines=$(cat "${files[@]}" | wc -l)
printf '%9s %6d\n' 'all' "$lines"
[ "$lines" -le "$most_in_rooms" ] || finding "all rooms: more than $most_in_rooms lines"
lines=$(git ls-files test | grep -vE '^test/(data/|fuzz/.*corpus)' | xargs cat | wc -l)
printf '%9s %6d\n' 'test' "$lines"
[ "$lines" -le "$most_in_tests" ] || finding "test: more than $most_in_tests lines"

# in cuda/, kernels know nothing of the host calls above them
while read -r file; do
	finding "$file: kernels may not look into host calls"
done < <(grep -l __global__ cuda/*.cu |
	xargs grep -lE '#include "(work|evaluate|call)\.h"')

circles=$(tsort <<<"$edges" 2>&1 >/dev/null) ||
	finding "files that include each other in a circle:"$'\n'"$circles"

# called FILE...: pairs of objects, of which the first calls the second
called()
{
	nm -A "$@" | awk -F: '
		{ n = split($2, symbol, " "); file = $1; type = symbol[n - 1]; name = symbol[n] }
		type == "U" { uses[file, name] }
		type ~ /^[TDBR]$/ { in_file[name] = file }
		END {
			for (use in uses) {
				split(use, part, SUBSEP)
				if (part[2] in in_file && in_file[part[2]] != part[1])
					print part[1], in_file[part[2]]
			}
		}'
}

objects=()
for file in "${files[@]}"; do
	[ ! -f "build/obj/${file%.*}.o" ] || objects+=("build/obj/${file%.*}.o")
done
mapfile -t objects < <(printf '%s\n' "${objects[@]}" | sort -u)
circles=$(called "${objects[@]}" | tsort 2>&1 >/dev/null) ||
	finding "files that call each other in a circle:"$'\n'"$circles"

while read -r place; do
	finding "$place: a setting is looked at outside of csv_table_get()"
done < <(grep -n "\<csv_settings\>" "${files[@]}" |
	grep -vE '^src/(settings\.[ch]|table/option(_list)?\.c|client/(worker|views)\.c|output/writer\.c):')

# "typedef struct X X;" declares what "struct X" defines
while read -r name; do
	finding "types of one name: $name"
	grep -nE "^(typedef )?(struct|union|enum) $name\$" "${files[@]}"
done < <(sed -nE 's/^(typedef )?(struct|union|enum) ([A-Za-z]+)$/\3/p' "${files[@]}" |
	sort | uniq -d)

exit $status
