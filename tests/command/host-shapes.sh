#!/usr/bin/env bash
# Runs the programs of kernels/shapes on a machine whose OpenCL device is a real GPU (or any other device: it runs on POCL, too).
#   tests/command/host-shapes.sh BUILD_DIR RESULTS_DIR [GPU [SIZES [PATTERN]]]
# SIZES: "small medium long", unless given. Each program runs without the library and twice under it; the second time counts, when
# the driver has compiled everything. RESULTS_DIR gets:
#   shapes.csv       program, size, launches; device time in ns without the library, then under it; the host's time from the first
#                    launch to the last result, both ways; launches in the report; launches without a memory model
#   reports.tar.gz   the JSON reports
#   shapes.wanted    what the cache lacks, if gpusim-cc cannot run there: `gpusim cache fill shapes.wanted` and `gpusim cache export
#                    shapes.cache` elsewhere, put shapes.cache into RESULTS_DIR, and run this again
# Fails if a checksum differs or a launch has no memory model. The last line counts "N passed, N failed, N skipped".
set -u
build=$(cd "$1" && pwd)
mkdir -p "$2"
results=$(cd "$2" && pwd)
gpu=${3:-h200} sizes=${4:-small medium long} pattern=${5:-*}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-host.XXXXXX")
trap 'rm -rf "$work"' EXIT
export GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}
mkdir -p "$GPUSIM_CACHE_DIR" "$work/reports"
[ ! -e "$results/shapes.cache" ] || "$build/gpusim" cache import "$results/shapes.cache" || exit 1

shape() { timeout "${GPUSIM_TEST_LIMIT:-120}" "$build/kernels/shapes" -k "$root/kernels/shapes" -t "$@"; }

under() { # NAME SIZE REPORTS
	GPUSIM_GPU=$gpu GPUSIM_REPORT=$3 GPUSIM_OUTPUT=$work/reports/$1-$2 LD_PRELOAD=$build/libgpusim.so shape "$1" "$2" 2>"$work/err"
}

# one NAME SIZE: a line of shapes.csv. Launches of a report are lines of their own.
one() {
	local plain with report=$work/reports/$1-$2.json launches=0 perfect=0
	shape "$1" "$2" >/dev/null
	plain=$(shape "$1" "$2") && under "$1" "$2" none >/dev/null && with=$(under "$1" "$2" json) || with=
	[ ! -e "$report" ] || {
		launches=$(grep -c '^{"seq"' "$report")
		perfect=$(grep -c '^{"seq".*"\(perfect_memory\|not_traced\)"' "$report")
	}
	echo "$plain $with $launches $perfect" | awk -v OFS=, -v name="$1" -v size="$2" '
		NF == 14 { print name, size, $3, $5, $11, $6, $12, $13, $14, $4 == $10 ? "same" : "DIFFERS" }
		NF != 14 { print name, size, 0, 0, 0, 0, 0, 0, 0, "FAILED" }'
}

for size in $sizes; do
	for name in $("$build/kernels/shapes" -l "$pattern" | cut -d' ' -f1); do
		echo "host-shapes: $name $size" >&2
		one "$name" "$size"
	done
done >"$results/shapes.csv"
tar -C "$work/reports" -czf "$results/reports.tar.gz" .
if [ -n "$(ls "$GPUSIM_CACHE_DIR/wanted" 2>/dev/null)" ]; then
	"$build/gpusim" cache wanted "$results/shapes.wanted"
fi

awk -F, '
BEGIN { printf "%-16s %-7s %8s %12s %9s %9s %8s\n", "program", "size", "launches", "plain us", "device", "host", "untraced" }
$10 == "FAILED" { printf "%-16s %-7s failed, or took too long\n", $1, $2; failed++; next }
{
	device = $4 > 0 ? $5 / $4 : 0
	host = $6 > 0 ? $7 / $6 : 0
	printf "%-16s %-7s %8d %12.1f %8.2fx %8.2fx %8d %s\n", $1, $2, $3, $4 / 1e3, device, host, $9, $10 == "same" ? "" : $10
	if ($8 == 0) { skipped++; next }
	if ($10 == "same" && $9 == 0) passed++; else failed++
	if (device > 0) { logs += log(device); host_logs += log(host); rows++ }
}
END {
	if (rows)
		printf "counting and tracing, geometric means: %.2fx of the device time (aim: 2x), %.2fx of the host time\n", \
			exp(logs / rows), exp(host_logs / rows)
	if (skipped) print "skipped: nothing was modelled; see shapes.wanted"
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 }' "$results/shapes.csv"
