#!/bin/bash
# run.sh SECONDS PROGRAM...: the fuzzers for so long, side by side, each from its
# corpus.  What it finds, and what its corpus grows to, stay under build/test/fuzz.
# EMULATOR runs programs of another architecture.
set -u
cd "$(dirname "$0")/../.." || exit 1

seconds=$1
shift
passed=0
failed=0

# fuzz PROGRAM: one of them; its exit status
fuzz()
{
	local name dir

	name=$(basename "$1")
	dir=build/test/fuzz/$name
	mkdir -p "$dir/found" "$dir/corpus"
	if ${EMULATOR-} "$1" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
		-artifact_prefix="$dir/found/" -print_final_stats=1 \
		"$dir/corpus" "test/fuzz/corpus/$name" >"$dir/log" 2>&1; then
		echo "$name: $(grep '^stat::number_of_executed_units' "$dir/log")"
	else
		echo "$name:"
		tail -40 "$dir/log"
		return 1
	fi
}

jobs=()
for program; do
	fuzz "$program" &
	jobs+=($!)
done
for job in "${jobs[@]}"; do
	if wait "$job"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" = 0 ]
