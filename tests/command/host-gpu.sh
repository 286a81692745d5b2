#!/usr/bin/env bash
# Tests the library on a machine whose OpenCL device is a real GPU (or any other device: it runs on POCL, too).
#   tests/command/host-gpu.sh BUILD_DIR RESULTS_DIR [GPU] [PATTERN...]
# Runs the suite's cases plain and under the library, and leaves these files in RESULTS_DIR:
#   plain.csv, twin.csv, traced.csv   the suite's output plain, with counters, and with traces: checksums and device times
#   twin.profile, traced.profile      the runs under the library, for gpusim replay
# Fails if a checksum differs. If the checksum of a case differs between two runs without the library, the case has a race and
# is left out (frontier: several work-items write one cell). The last line counts "N passed, N failed, N skipped".
set -u
build=$(cd "$1" && pwd)
results=$2
gpu=${3:-h200}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- '*'
root=$(cd "$(dirname "$0")/../.." && pwd)
suite=$build/kernels/suite
mkdir -p "$results"
results=$(cd "$results" && pwd)
repeats=${GPUSIM_TEST_REPEATS:-5}

for way in plain again; do
	"$suite" -r "$repeats" "$root/kernels/cases.txt" "$@" >"$results/$way.csv" || exit 1
done
for way in twin traced; do
	memory=perfect
	[ $way = traced ] && memory=hierarchy
	GPUSIM_GPU=$gpu GPUSIM_MEMORY=$memory GPUSIM_RECORD=$results/$way.profile GPUSIM_REPORT=none LD_PRELOAD="$build/libgpusim.so" \
		"$suite" -r "$repeats" "$root/kernels/cases.txt" "$@" >"$results/$way.csv" 2>"$results/$way.log" || echo "FAIL $way: exit $?"
done

awk -F, -v rows=0 '
FILENAME ~ /again/ { again[$1] = $5; next }
FILENAME ~ /plain/ { if ($1 != "case") { sum[$1] = $5; ns[$1] = $7; order[++n] = $1 } next }
FILENAME ~ /twin/ { twin[$1] = $5; twin_ns[$1] = $7; next }
{ traced[$1] = $5; traced_ns[$1] = $7 }
END {
	printf "%-20s %12s %8s %8s\n", "case", "plain us", "counted", "traced"
	for (i = 1; i <= n; i++) {
		c = order[i]
		good = sum[c] == twin[c] && sum[c] == traced[c]
		race = sum[c] != again[c]
		printf "%-20s %12.1f %7.2fx %7.2fx %s\n", c, ns[c] / 1e3, twin_ns[c] / ns[c], traced_ns[c] / ns[c], race ? "has a race" : good ? "" : "DIFFERS"
		if (race) skipped++; else if (good) passed++; else failed++
		if (twin_ns[c] > 0) { logs += log(twin_ns[c] / ns[c]); rows++ }
	}
	if (rows) printf "kernel time with counters, geometric mean: %.2fx\n", exp(logs / rows)
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 }' "$results/again.csv" "$results/plain.csv" "$results/twin.csv" "$results/traced.csv"
