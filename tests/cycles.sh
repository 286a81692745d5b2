#!/usr/bin/env bash
# Prints the estimated cycles of every case of the suite on every GPU: one line per launch and GPU. If the models of two builds agree,
# their outputs are the same.
#   tests/cycles.sh BUILD_DIR [PATTERN] > before
#   ... change the code, build ...
#   tests/cycles.sh BUILD_DIR [PATTERN] | diff before - && echo "no estimate changed"
# PATTERN chooses cases of kernels/cases.txt by name (the small ones, '*-s').
set -u -o pipefail
build=$(cd "$1" && pwd) || exit 1
root=$(cd "$(dirname "$0")/.." && pwd)
pattern=${2:-*-s}
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-cycles.XXXXXX")
trap 'rm -rf "$work"' EXIT
gpus=$(for f in "$root"/models/gpus/*.gpu; do basename "$f" .gpu; done | paste -sd,)

for memory in perfect hierarchy; do
	# frontier executes another number of instructions each time: its work-items race for places.
	# Everything is traced and modelled, so that nothing depends on how busy the machine is.
	GPUSIM_GPU=$gpus GPUSIM_MEMORY=$memory GPUSIM_TRACE=all GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/report \
		LD_PRELOAD=$build/libgpusim.so "$build/kernels/suite" -r 1 "$root/kernels/cases.txt" "$pattern" >"$work/out" || exit 1
	jq -r --arg memory "$memory" '.launches[] | select(.kernel != "frontier") | . as $l | .estimates[] | "\($memory) \($l.seq) \($l.kernel) \(.target) \(.cycles)"' \
		"$work"/report*.json || exit 1
	rm -f "$work"/report*
done
