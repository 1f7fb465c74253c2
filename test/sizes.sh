#!/bin/bash
# sizes.sh: are files and functions short enough to be read at a sitting, and lines
# at a glance?  Run by "make lint".
#
# Prints the longest files and functions, and the number of lines beyond 80 columns, which
# must not grow.  Only messages may go beyond 100 columns.  A function begins with a brace in the first
# column, in the line after its head, and ends with the next such one.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
most_file_lines=1200
most_function_lines=120
most_wide_lines=5533
shown=5

# all but what is generated
mapfile -t files < <(printf '%s\n' src/*.[ch] src/*/*.[ch] cuda/*.cu cuda/*.cuh cuda/*.h |
	grep -vx src/reader/pow5.h)

# print WHAT LIMIT: the longest of what is read as "lines name"
print()
{
	sort -rn | awk -v what="$1" -v limit="$2" -v shown="$shown" '
		NR == 1 { print "longest " what ":" }
		NR <= shown || $1 > limit {
			printf("%6d  %s%s\n", $1, $2,
				($1 > limit ? ": more than " limit " lines" : ""))
		}
		$1 > limit { status = 1 }
		END { exit status }'
}

status=0
wc -l "${files[@]}" | grep -v ' total$' | print files $most_file_lines || status=1
awk '
	FNR == 1 { name = ""; start = 0 }
	/^{/ && name != "" { start = FNR }
	/^}/ {
		if (start)
			print FNR - start + 1, FILENAME ":" start ":" name
		name = ""
		start = 0
	}
	# a head: a name and its arguments, from the first column on
	!start && match($0, /[A-Za-z_][A-Za-z_0-9]*\(/) && /^[A-Za-z_]/ && !/;$/ {
		name = substr($0, RSTART, RLENGTH - 1)
	}
	!start && /;$/ { name = "" }
	' "${files[@]}" | print functions $most_function_lines || status=1
expand -t4 "${files[@]}" | awk -v most=$most_wide_lines '
	length > 80 { wide++ }
	length > 100 && !/"/ { print "more than 100 columns: " $0; status = 1 }
	END {
		printf("lines beyond 80 columns: %d\n", wide)
		if (wide > most) {
			print "  more than " most
			status = 1
		}
		exit status
	}' || status=1
exit $status
