#!/usr/bin/env bash
# The suite under the library against GPGPU-Sim on the same kernels, perfect memory; tables in BUILD_DIR/accuracy-*.
#   tests/accuracy/run.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-accuracy.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() { # MODEL SETTINGS CONFIG PERCENT [OPTION...]
	echo "-- model $1, $3, memory: ${memory:-perfect}"
	if GPUSIM_GPU=gtx480 GPUSIM_MODEL=$1 GPUSIM_SET=$2 GPUSIM_MEMORY=${memory:-perfect} GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/report \
		LD_PRELOAD=$build/libgpusim.so "$build/kernels/suite" -r 1 "$root/kernels/cases.txt" '*-s' >"$work/out" &&
		"$here/compare.py" "$root/tests/reference/gpgpusim.csv" "$3" "$root/kernels/cases.txt" "$work/report.json" \
			"$build/accuracy-$1-$3" --mean "$4" "${@:5}"; then
		passed=$((passed + 1))
	else
		echo "FAIL accuracy of $1 on $3: the mean is to be at most $4%"
		failed=$((failed + 1))
	fi
}

check full sm_count=1 gtx480_pm_1sm 4
check full schedulers_per_sm=1 gtx480_pm_15sm_1sched 4
check full schedulers_per_sm=2 gtx480_pm_15sm_2sched 4
check occupancy schedulers_per_sm=2 gtx480_pm_15sm_2sched 4
check probabilistic sm_count=1 gtx480_pm_1sm 6
# What warps execute, from traces. In nbody and frontier that depends on the order in which work-items run.
memory=hierarchy GPUSIM_TRACE=all check full sm_count=15 gtx480_full 10 --warps 23:1:4 --without nbody-s,frontier-s
echo "$passed passed, $failed failed"
[ $failed = 0 ]
