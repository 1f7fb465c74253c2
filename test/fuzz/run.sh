#!/bin/bash
# run.sh SECONDS PROGRAM...: each fuzzer for so long, from its corpus.  What it
# finds, and what its corpus grows to, stay under build/test/fuzz.
set -u
cd "$(dirname "$0")/../.." || exit 1

seconds=$1
shift
passed=0
failed=0
for program; do
	name=$(basename "$program")
	dir=build/test/fuzz/$name
	mkdir -p "$dir/found" "$dir/corpus"
	if "$program" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
		-artifact_prefix="$dir/found/" -print_final_stats=1 \
		"$dir/corpus" "test/fuzz/corpus/$name" >"$dir/log" 2>&1; then
		echo "$name: $(grep '^stat::number_of_executed_units' "$dir/log")"
		passed=$((passed + 1))
	else
		echo "$name:"
		tail -40 "$dir/log"
		failed=$((failed + 1))
	fi
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" = 0 ]
