#!/bin/bash
# run.sh NAME PROGRAM...: run cmocka programs, as many at once as there are
# processors; the last line is "NAME: N passed, M failed".  A program that dies
# counts as one failure.  EMULATOR runs programs of another architecture.
name=$1
shift
passed=0
failed=0
export EMULATOR=${EMULATOR-}
log=build/test/$name.log
: >"$log"
printf '%s\n' "$@" |
	xargs -P"$(nproc)" -n1 bash -c '$EMULATOR "$1" >"$0.${1##*/}" 2>&1; echo $? >"$0.${1##*/}.status"' "$log"
for program; do
	program=$(basename "$program")
	status=$(<"$log.$program.status")
	cat "$log.$program" >>"$log"
	ok=$(grep -c '^\[       OK \]' "$log.$program")
	bad=0
	if [ "$status" -ne 0 ]; then
		# cmocka lists each failure twice: as it happens, and at the end
		bad=$(grep '^\[  FAILED  \] ' "$log.$program" | sort -u | grep -vc ' test(s)')
		[ "$bad" -gt 0 ] || bad=1
		tail -60 "$log.$program"
	fi
	rm -f "$log.$program" "$log.$program.status"
	echo "$program: $ok passed, $bad failed"
	passed=$((passed + ok))
	failed=$((failed + bad))
done
echo "$name: $passed passed, $failed failed"
[ $failed -eq 0 ]
