#!/usr/bin/env bash
# make test: unit tests, golden tests, traces, the fuzz corpus, counts of PTX, guest programs with and without the library,
# promises to users, gpusim explain and tune, random programs, quick real programs.
#   tests/run.sh BUILD_DIR
# Ends with "N passed, N failed" over all of them.
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-tests.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
for variable in $(env | sed -n 's/^\(GPUSIM_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
unset LD_PRELOAD OPENCL_LAYERS
export GPUSIM_TEST_ROOT=$root GPUSIM_TEST_CC=$build/gpusim-cc GPUSIM_TEST_LIB=$build/libgpusim.so GPUSIM_TEST_BIN=$build/gpusim
passed=0 failed=0 skipped=0
cd "$TMPDIR" || exit 1 # programs may leave files

# Takes the last "N passed, N failed[, N skipped]" line of a log into the sums.
add_counts() {
	local line
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -1)
	passed=$((passed + $(echo "${line:-0 passed}" | sed 's/ passed.*//')))
	failed=$((failed + $(echo "${line:-x, 1 failed}" | sed 's/.*, \([0-9]*\) failed.*/\1/')))
	case $line in *skipped*) skipped=$((skipped + $(echo "$line" | sed 's/.*, \([0-9]*\) skipped.*/\1/'))) ;; esac
}

unit_tests() {
	echo "== unit tests"
	"$build/unit-tests" >"$TMPDIR/unit" 2>"$TMPDIR/unit.err"
	local code=$? counts
	cat "$TMPDIR/unit.err" "$TMPDIR/unit"
	# CUnit's row "tests TOTAL RAN PASSED FAILED INACTIVE"
	counts=$(awk '$1 == "tests" { print $4, $5 }' "$TMPDIR/unit")
	passed=$((passed + ${counts% *}))
	failed=$((failed + ${counts#* }))
	[ $code = 0 ] || [ "${counts#* }" != 0 ] || failed=$((failed + 1))
}

golden() {
	echo "== golden: annotated text, block tables and counts"
	"$root/tests/golden/run.sh" "$build" 2>&1 | tee "$TMPDIR/golden"
	add_counts "$TMPDIR/golden"
}

traces() {
	echo "== traces: events of single work-items"
	"$root/tests/traces/run.sh" "$build" 2>&1 | tee "$TMPDIR/traces"
	add_counts "$TMPDIR/traces"
}

# What runs the kernels' PTX for the tests must count as GPGPU-Sim did on the same PTX.
counts_of_ptx() {
	echo "== counts of PTX: GPGPU-Sim's"
	"$build/tests/oracle/run" "$root/kernels/cases.txt" "$root/tests/reference" -r "$root/tests/reference/gpgpusim.csv" '*-s' 2>&1 |
		tee "$TMPDIR/counts"
	add_counts "$TMPDIR/counts"
}

# What fuzzing has found worth keeping, once through the fuzz target.
fuzz_corpus() {
	local before
	echo "== fuzz corpus"
	if "$build/tests/fuzz/replay" "$root"/tests/fuzz/corpus/* >"$TMPDIR/fuzz" 2>&1; then
		echo "$(wc -l <"$TMPDIR/fuzz") passed, 0 failed" | tee -a "$TMPDIR/fuzz"
	else
		before=$(grep -c "^$root/tests/fuzz/corpus/" "$TMPDIR/fuzz")
		grep "^$root/tests/fuzz/corpus/" "$TMPDIR/fuzz" | tail -1 | sed 's/^/FAIL fuzz corpus: /'
		grep -E '^annotator: |ERROR' "$TMPDIR/fuzz"
		echo "$((before - 1)) passed, 1 failed" | tee -a "$TMPDIR/fuzz"
	fi
	add_counts "$TMPDIR/fuzz"
}

guest_programs() {
	echo "== guest programs: the same with and without us"
	APPS_BUILD=$build/tests/guest "$root/tests/apps/run.sh" --list "$root/tests/apps/guests" 2>&1 | tee "$TMPDIR/guests"
	add_counts "$TMPDIR/guests"
}

promises() {
	echo "== promises to users"
	POCL_CACHE_DIR=$TMPDIR/pocl GPUSIM_CACHE_DIR=$TMPDIR/cache "$root/tests/behaviour.sh" "$build" 2>&1 | tee "$TMPDIR/behaviour"
	add_counts "$TMPDIR/behaviour"
}

reports() {
	echo "== reports"
	POCL_CACHE_DIR=$TMPDIR/pocl GPUSIM_CACHE_DIR=$TMPDIR/cache "$root/tests/reports.sh" "$build" 2>&1 | tee "$TMPDIR/reports"
	add_counts "$TMPDIR/reports"
}

explained() {
	echo "== gpusim explain"
	"$root/tests/explain.sh" "$build" 2>&1 | tee "$TMPDIR/explain"
	add_counts "$TMPDIR/explain"
}

profiles() {
	echo "== gpusim record, replay and sweep"
	POCL_CACHE_DIR=$TMPDIR/pocl GPUSIM_CACHE_DIR=$TMPDIR/cache "$root/tests/profiles.sh" "$build" 2>&1 | tee "$TMPDIR/profiles"
	add_counts "$TMPDIR/profiles"
}

correlated() {
	echo "== gpusim correlate"
	"$root/tests/correlate.sh" "$build" 2>&1 | tee "$TMPDIR/correlated"
	add_counts "$TMPDIR/correlated"
}

carried_cache() {
	echo "== gpusim cache"
	POCL_CACHE_DIR=$TMPDIR/pocl "$root/tests/cache.sh" "$build" 2>&1 | tee "$TMPDIR/carried"
	add_counts "$TMPDIR/carried"
}

tuner() {
	echo "== gpusim tune"
	POCL_CACHE_DIR=$TMPDIR/pocl GPUSIM_CACHE_DIR=$TMPDIR/cache "$root/tests/tune.sh" "$build" quick 2>&1 | tee "$TMPDIR/tune"
	add_counts "$TMPDIR/tune"
}

# Kernels, ten in a program: as many as fit into a minute.
random_programs() {
	echo "== random programs"
	"$root/tests/generate/run.sh" "$build" 80 1 2>&1 | tee "$TMPDIR/random"
	add_counts "$TMPDIR/random"
	echo "== random programs, traced"
	"$root/tests/generate/run.sh" "$build" 20 101 traced 2>&1 | tee "$TMPDIR/random"
	add_counts "$TMPDIR/random"
}

real_programs() {
	echo "== real programs"
	"$root/tests/apps/run.sh" --quick 2>&1 | tee "$TMPDIR/apps"
	add_counts "$TMPDIR/apps"
}

unit_tests
golden
traces
counts_of_ptx
fuzz_corpus
guest_programs
promises
reports
explained
profiles
carried_cache
correlated
tuner
random_programs
real_programs
echo "== all"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
