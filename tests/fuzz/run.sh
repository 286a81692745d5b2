#!/usr/bin/env bash
# Fuzzes the annotator for some time.
#   tests/fuzz/run.sh BUILD_DIR SECONDS
# Starts from tests/fuzz/corpus, from the kernels of the project and of the golden tests, and from random programs. New inputs
# stay in BUILD_DIR/fuzz/corpus, failures in BUILD_DIR/fuzz/found. A crash inside libclang is noted and the run goes on, because
# gpusim-cc does its work in a child process and survives it. Exits 1 for any failure of our own code.
set -u
build=$(cd "$1" && pwd)
seconds=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$build/fuzz
theirs=0 ours=0 runs=0
mkdir -p "$work/corpus" "$work/found" "$work/seeds"
rm -f "$work"/log.*

# The text that gpusim-cc would give to the annotator.
preprocess() { # FILE
	{ echo '#line 1 "program.cl"'; cat "$1"; } >"$work/source.cl"
	clang-19 -xcl -cl-std=CL1.2 -E -cl-no-stdinc -nostdlibinc -imacros opencl-c-base.h "$work/source.cl" 2>/dev/null |
		sed '1,/^# 1 "program.cl"/d'
}

make_seeds() {
	local file
	for file in "$root"/tests/golden/*.cl "$root"/kernels/*.cl; do
		preprocess "$file" >"$work/seeds/$(basename "$file")"
	done
	for seed in 11 12 13 14 15 16; do
		"$build/tests/generate/generate" $seed 1 "$work/seeds/random"
		preprocess "$work/seeds/random.cl" >"$work/seeds/random-$seed.cl"
		rm "$work/seeds/random.cl" "$work/seeds/random.c"
	done
}

# Whether the failure is libclang's or LLVM's: the innermost frame with a name decides. Frames of the sanitizers do not count.
# If libclang crashed and went on, it leaks memory.
is_theirs() { # LOG
	grep -q '^annotator: ' "$1" && return 1
	grep -q 'ERROR: LeakSanitizer' "$1" && grep -q '^libclang: crash detected' "$1" && return 0
	grep -E '^ *#[0-9]+ 0x' "$1" | grep -Em1 'libclang|libLLVM|/annotator/|/tests/fuzz/[a-z]|/runtime/' | grep -Eq 'libclang|libLLVM'
}

make_seeds
start=$(date +%s)
while left=$((start + seconds - $(date +%s))); [ $left -gt 0 ]; do
	runs=$((runs + 1))
	"$work/annotator" -max_total_time=$left -timeout=20 -rss_limit_mb=6000 -max_len=16384 -len_control=20 -reload=0 \
		-dict="$root/tests/fuzz/opencl.dict" -artifact_prefix="$work/found/" -print_final_stats=1 \
		"$work/corpus" "$root/tests/fuzz/corpus" "$work/seeds" >"$work/log.$runs" 2>&1 && break
	grep -q SUMMARY "$work/log.$runs" || { tail -3 "$work/log.$runs"; exit 1; } # it did not even start
	if is_theirs "$work/log.$runs"; then
		theirs=$((theirs + 1))
	else
		ours=$((ours + 1))
		grep -E '^annotator: |ERROR|SUMMARY|Test unit written' "$work/log.$runs"
		[ -n "${FUZZ_GO_ON:-}" ] || break
	fi
done
grep -hE 'stat::|DONE|Done ' "$work"/log.*
echo "$(($(date +%s) - start)) seconds, $runs runs, $ours findings, $theirs crashes of the parser"
[ $ours = 0 ]
