#!/usr/bin/env bash
# Measures many launches and many configurations:
#   - a program that launches one kernel 10,000 times, from start to end: without us, with perfect memory, with the hierarchy
#   - a sweep over 64 configurations of a profile of the suite, with one job and with one job per core
#   tests/bench/sampling.sh BUILD_DIR CSV [ROUNDS]
# Runs alternate. The least time of each counts. Appends to CSV.
set -eu
build=$(cd "$1" && pwd)
csv=$2 rounds=${3:-5}
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=$work/pocl GPUSIM_CACHE_DIR=$work/cache GPUSIM_REPORT=text GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
mkdir "$work/pocl"
cores=$(nproc)

# timed NAME COMMAND...: appends "NAME SECONDS" to the results.
timed() {
	local name=$1 begin=$EPOCHREALTIME
	shift
	"$@" >"$work/said" 2>&1 || {
		cat "$work/said" >&2
		return 1
	}
	awk -v name="$name" -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%s %.6f\n", name, b - a }' >>"$work/results"
}

sweep() {
	GPUSIM_CACHE_SIZE=0 "$build/gpusim" sweep "$work/profile" --gpu gtx480 --vary sm_count=4,8,15,30 --vary schedulers_per_sm=1,2 \
		--vary max_blocks_per_sm=2,4,8,16 --vary fp32_units=1,2 -o "$work/sweep" -j "$1"
}

program=("$build/kernels/launches" -k "$kernels" same)
"${program[@]}" 65536 1 >/dev/null # warms the caches before the measurement
for memory in perfect hierarchy; do
	GPUSIM_MEMORY=$memory LD_PRELOAD=$build/libgpusim.so "${program[@]}" 65536 1 >/dev/null 2>&1
done
for round in $(seq "$rounds"); do
	echo "launches: round $round of $rounds" >&2
	timed plain "${program[@]}"
	for memory in perfect hierarchy; do
		timed $memory env GPUSIM_MEMORY=$memory LD_PRELOAD="$build/libgpusim.so" "${program[@]}"
	done
done
echo "sweep: 64 configurations, twice" >&2
export GPUSIM_MEMORY=perfect # with the hierarchy it takes ten times as long
GPUSIM_REPORT=none "$build/gpusim" record -o "$work/profile" -- "$build/kernels/suite" "$kernels/cases.txt" '*-s' >"$work/said" 2>&1
timed one sweep 1
timed all sweep "$cores"

sort -k1,1 -k2,2g "$work/results" | awk -v csv="$csv" -v cores="$cores" '
	!($1 in least) { least[$1] = $2 }
	END {
		print "| many launches, many configurations | without us, or one job | with us, or all jobs | ratio |"
		print "|---|--:|--:|--:|"
		for (i = 1; i <= split("perfect hierarchy", memories, " "); i++) {
			m = memories[i]
			printf "| a program of 10,000 launches, memory %s (aim: 1.5x) | %.2f s | %.2f s | %.2fx |\n", m, least["plain"], \
				least[m], least[m] / least["plain"]
			printf "sampling,10000 launches with memory %s,s,%.3f,%.3f,%.3f\n", m, least["plain"], least[m], \
				least[m] / least["plain"] >>csv
		}
		printf "| a sweep of 64 configurations, %d jobs | %.1f s | %.1f s | %.2fx |\n", cores, least["one"], least["all"], \
			least["all"] / least["one"]
		printf "sampling,sweep of 64 with %d jobs,s,%.3f,%.3f,%.3f\n", cores, least["one"], least["all"], \
			least["all"] / least["one"] >>csv
	}'
