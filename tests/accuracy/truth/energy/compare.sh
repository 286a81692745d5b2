#!/usr/bin/env bash
# The table of docs/energy.md: energies of 24 kernels of the suite, estimated on POCL, against what an H200 took. About two minutes.
#   tests/accuracy/truth/energy/compare.sh BUILD_DIR
# Ends with "N passed, N failed". It fails where the mean error is more than 20%.
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-energy.XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$root/tests/check.sh"
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}
# Each launch three times, as in a loop on the GPU: the third finds in caches what others left.
estimated() {
	# shellcheck disable=SC2046
	gcc -O2 -fPIC -shared -o "$work/loop.so" "$here/loop.c" -ldl -lpthread &&
		LOOP_COUNT=3 GPUSIM_GPU=h200 GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/run LD_PRELOAD="$work/loop.so $build/libgpusim.so" \
			"$build/kernels/suite" -n "$root/kernels/medium-cases.txt" $(cat "$here/cases.txt") >/dev/null
}
compared() { python3 "$here/energy.py" table "$root/tests/reference/h200-truth/energy-suite.csv" "$work/run.json" | tee "$work/table"; [ "${PIPESTATUS[0]}" = 0 ]; }
keys() { # the description has what the measurements say
	python3 "$here/energy.py" keys "$root/tests/reference/h200-truth/energy-micro.csv" 132 | sed -n 's/ *#.*//; s/ = /=/p' | while IFS== read -r key value; do
		grep -q "^$key = $value " "$root/models/gpus/h200.gpu" || echo "$key: not $value"
	done >"$work/differ"
	cat "$work/differ"
	[ ! -s "$work/differ" ]
}
check "energies of the H200's description are what its measurements say" keys
check "24 kernels are modelled" estimated
check "their energies are within 20% in the mean" compared
cat "$work/table"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
