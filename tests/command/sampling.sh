#!/usr/bin/env bash
# Compares sampling with full simulation: programs with many launches, each recorded once and replayed both ways.
#   tests/command/sampling.sh BUILD_DIR [MEMORY]
# Prints a table and its geometric means, and keeps it in BUILD_DIR/sampling-MEMORY.csv. Ends with "N passed, N failed" over
# these verdicts: the error is at most 0.5% in the geometric mean and at most 5% at worst; at most 3% of the warp instructions
# are simulated; at most 5% of a program's launches are outside of the band of their estimates.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
memory=${2:-perfect}
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-sampling.XXXXXX")
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480} GPUSIM_REPORT=json GPUSIM_CHECK=1000000
export GPUSIM_COUNTER_MEMORY=2G # so that every launch is counted, even if the machine is busy

for program in bfs kmeans lu align heat collatz; do
	# Twins in place of kernels need no copies of memory, whose time is bounded: launches beyond that would not be counted.
	GPUSIM_TWIN=direct GPUSIM_REPORT=none GPUSIM_MEMORY=$memory "$build/gpusim" record -o "$work/profile" -- \
		"$build/kernels/launches" -k "$here/../../kernels" $program >"$work/said" || exit 1
	GPUSIM_OUTPUT=$work/sampled "$build/gpusim" replay "$work/profile" --memory "$memory" || exit 1
	GPUSIM_OUTPUT=$work/all "$build/gpusim" replay "$work/profile" --memory "$memory" --sampling off --exact 1 || exit 1
	"$here/sampling.py" $program "$work/sampled.json" "$work/all.json" || exit 1
done >"$work/table"
python3 "$here/sampling.py" --table "$work/table" "$build/sampling-$memory.csv"
