#!/usr/bin/env bash
# Machine instructions of the suite on the h200 description against the counters of a real H200.
#   tests/machine/run.sh BUILD_DIR
# The small cases as they are, the large ones with fewer work-groups (kernels/large-cases.txt), scaled by their number.
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-machine.XXXXXX")
trap 'rm -rf "$work"' EXIT

run() { # NAME CASES PATTERN
	GPUSIM_GPU=h200 GPUSIM_MODEL=optimistic GPUSIM_MEMORY=perfect GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/$1 \
		LD_PRELOAD=$build/libgpusim.so "$build/kernels/suite" -r 1 "$2" "$3" >"$work/out"
}

run small "$root/kernels/cases.txt" '*-s' && run large "$root/kernels/large-cases.txt" '*-*' &&
	"$here/compare.py" "$root/tests/reference/h200-counters.csv" "$root/kernels/cases.txt" \
		"$root/kernels/cases.txt:-s:$work/small.json" "$root/kernels/large-cases.txt::$work/large.json" \
		--csv "$build/machine-h200.csv" --least 40
status=$?
[ $status = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed"
exit $status
