#!/bin/bash
# format.sh [--check]: what of the style a program can do safely.
#
# Takes off trailing blanks and carriage returns, turns indentation by spaces
# into tabs of four, and sees to one line break at the end of the file.  With
# --check it changes nothing, and fails where it would.  Where pg_bsd_indent
# is at hand (it comes with PostgreSQL's source), run that for the rest.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

tidy()
{
	sed -e 's/\r$//' -e 's/[ \t]*$//' "$1" |
		awk '
		{
			width = 0
			for (i = 1; i <= length($0); i++)
			{
				c = substr($0, i, 1)
				if (c == "\t")
					width = int(width / 4) * 4 + 4
				else if (c == " ")
					width++
				else
					break
			}
			indent = ""
			for (n = 0; n + 4 <= width; n += 4)
				indent = indent "\t"
			for (; n < width; n++)
				indent = indent " "
			lines[NR] = indent substr($0, i)
			if (i <= length($0))
				last = NR
		}
		END {
			for (n = 1; n <= last; n++)
				print lines[n]
		}'
}

status=0
while IFS= read -r file; do
	tidied=$(tidy "$file")
	diff=$(diff "$file" - <<<"$tidied") && continue
	if [ "${1:-}" = --check ]; then
		echo "$file: not as \"make format\" leaves it"
		sed -n '2,5p' <<<"$diff"
		status=1
	else
		echo "$tidied" >"$file"
		echo "$file"
	fi
done < <(find src cuda test \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print | sort)
exit $status
