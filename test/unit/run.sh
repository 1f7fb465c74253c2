#!/bin/sh
# run.sh NAME PROGRAM...: run cmocka programs; the last line is
# "NAME: N passed, M failed".  A program that dies counts as one failure.
name=$1
shift
passed=0
failed=0
log=build/test/$name.log
: >"$log"
for program; do
	"$program" >"$log.one" 2>&1
	status=$?
	cat "$log.one" >>"$log"
	ok=$(grep -c '^\[       OK \]' "$log.one")
	bad=0
	if [ $status -ne 0 ]; then
		# cmocka lists each failure twice: as it happens, and at the end
		bad=$(grep '^\[  FAILED  \] ' "$log.one" | sort -u | grep -vc ' test(s)')
		[ "$bad" -gt 0 ] || bad=1
		tail -60 "$log.one"
	fi
	echo "$(basename "$program"): $ok passed, $bad failed"
	passed=$((passed + ok))
	failed=$((failed + bad))
done
rm -f "$log.one"
echo "$name: $passed passed, $failed failed"
[ $failed -eq 0 ]
