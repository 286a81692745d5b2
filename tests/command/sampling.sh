#!/usr/bin/env bash
# Sampling against full simulation: programs of many launches, each recorded once and replayed both ways.
#   tests/command/sampling.sh BUILD_DIR [MEMORY]
# Prints a table and its geometric means, keeps it in BUILD_DIR/sampling-MEMORY.csv, and ends with "N passed, N failed" over the
# verdicts: error in the geometric mean at most 0.5% and 5% at worst, at most 3% of the warp instructions simulated, and
# at most 5% of a program's launches outside of the band that their estimates have.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
memory=${2:-perfect}
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-sampling.XXXXXX")
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480} GPUSIM_REPORT=json GPUSIM_CHECK=1000000
export GPUSIM_COUNTER_MEMORY=2G # no launch goes uncounted because the machine has other things to do

for program in bfs kmeans lu align heat collatz; do
	GPUSIM_REPORT=none GPUSIM_MEMORY=$memory "$build/gpusim" record -o "$work/profile" -- \
		"$build/kernels/launches" -k "$here/../../kernels" $program >"$work/said" || exit 1
	GPUSIM_OUTPUT=$work/sampled "$build/gpusim" replay "$work/profile" --memory "$memory" || exit 1
	GPUSIM_OUTPUT=$work/all "$build/gpusim" replay "$work/profile" --memory "$memory" --sampling off --exact 1 || exit 1
	"$here/sampling.py" $program "$work/sampled.json" "$work/all.json" || exit 1
done >"$work/table"
python3 "$here/sampling.py" --table "$work/table" "$build/sampling-$memory.csv"
