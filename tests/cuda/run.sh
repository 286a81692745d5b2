#!/usr/bin/env bash
# CUDA programs under gpusim: one per feature, and the suite's kernels.
#   tests/cuda/run.sh BUILD_DIR [NAME...]
# Without names: all programs, the suite, and the programs built by nvcc where it is found. A name is that of a program, or `suite`, or
# nvcc:PROGRAM. Ends with "N passed, N failed, N skipped". The caller sets POCL_CACHE_DIR and GPUSIM_CACHE_DIR (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-cuda.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$root/tests/check.sh"
skipped=0
nvcc=$(command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; })
export GPUSIM_MEMORY=perfect # quicker, and these tests do not depend on it

# has_launches FILE: the report has launches, and all of them have instructions.
has_launches() {
	jq -e '(.launches | length) > 0 and (.not_modelled | length) == 0 and
		([.launches[].estimates[] | .thread_instructions > 0 and .warp_instructions > 0 and .time_ns > 0 and
		(.flags | index("counts_disagree") | not)] | length > 0 and all)' "$1" >/dev/null
}

# right NAME COMMAND...: a program of this folder must pass all its own checks, print what is expected of it, and have a report.
right() {
	local name=$1 expected=$root/tests/cuda/programs/$1.expected code
	shift
	rm -f report.json
	GPUSIM_GPU=v100 GPUSIM_REPORT=json GPUSIM_OUTPUT=report timeout 300 "$@" >out 2>err
	code=$?
	cat out err
	[ $code = 0 ] && grep -q '^PASS' out && ! grep -q '^FAIL' out || return 1
	[ ! -f "$expected" ] || diff "$expected" out || return 1
	# a kernel that fails has no counts
	case $name in asserts | traps) return 0 ;; esac
	has_launches report.json || { echo "no launches, or some without instructions" && jq -c '.not_modelled, [.launches[].kernel]' report.json && return 1; }
}

preloaded() { LD_PRELOAD=$build/libgpusim.so "$@"; }
by_preload() { right "$1" env LD_PRELOAD="$build/libgpusim.so" "$build/tests/cuda/programs/$1"; }
by_command() { right "$1" "$build/gpusim" run -- "$build/tests/cuda/programs/$1"; }

# A program by nvcc, with a shared CUDA runtime, which need not be installed.
by_nvcc() {
	(cd "$root" && "$nvcc" -w -I. -std=c++17 -cudart shared -gencode arch=compute_75,code=compute_75 -o "$work/$1" "tests/cuda/programs/$1.cu") || return 1
	right "$1" "$build/gpusim" run -- "$work/$1"
}

# Without gpusim there is no CUDA runtime, and the program says so.
says_that_there_is_no_runtime() {
	"$build/tests/cuda/programs/early_exit" >out
	[ $? = 77 ] && grep -q '^SKIP' out
}

# The suite: the same results from CUDA kernels as from OpenCL kernels without gpusim. Where kernels use approximate functions, the results may
# differ, and where POCL does not join a product and a sum to one operation (or does it for mad), by one rounding. A ray may miss a sphere then.
tolerance() { # CASE
	case $1 in
	sfu_mix-s | nbody-s | price-s | fft-s | bilateral-s) echo 2e-4 ;;
	convolve1d-s | matvec4-s) echo 1e-6 ;;
	ray_spheres-s) echo 1e-2 ;;
	*) echo 0 ;;
	esac
}
racy="frontier-s"
suite_cases() { # FILE: its small cases
	sed -n 's/^\([a-z0-9_]*-s\) .*/\1/p' "$1"
}
run_suites() {
	mkdir -p opencl cuda
	for cases in cases more-cases; do
		"$build/kernels/suite" -n -d opencl "$root/kernels/$cases.txt" '*-s' >"opencl-$cases" || return 1
		GPUSIM_GPU=v100 GPUSIM_REPORT=json GPUSIM_OUTPUT=$cases preloaded "$build/kernels/cuda/host" -d cuda "$root/kernels/$cases.txt" '*-s' >"cuda-$cases" || return 1
		cut -d, -f1-4 "opencl-$cases" >a && cut -d, -f1-4 "cuda-$cases" | diff a - && has_launches $cases.json || return 1
	done
}
same_results() { "$build/tests/cuda/results" "$1" opencl cuda -a "$(tolerance "$2")" "$2"; } # CASES_FILE NAME
suite() {
	check "the suite's cases as CUDA kernels" run_suites
	for cases in cases more-cases; do
		for name in $(suite_cases "$root/kernels/$cases.txt"); do
			case " $racy " in *" $name "*) skipped=$((skipped + 1)) && echo "SKIP $name: its threads race" && continue ;; esac
			check "$name: the results of the OpenCL kernel" same_results "$root/kernels/$cases.txt" "$name"
		done
	done
}

# The runtime below the entry points, with text that was lifted by hand.
launches_by_hand() { GPUSIM_REPORT=none GPUSIM_MEMORY=hierarchy "$build/tests/cuda/direct" >out 2>&1 || { cat out && return 1; }; }

programs() {
	check "launches of kernels that were lifted by hand" launches_by_hand
	check "a program says that there is no CUDA runtime" says_that_there_is_no_runtime
	for program in $(cd "$root/tests/cuda/programs" && ls ptx/*.ptx | sed 's/.*\///; s/\.ptx$//'); do
		check "$program" by_preload "$program"
	done
	check "early_exit by gpusim run" by_command early_exit
}

with_nvcc() {
	if [ -z "$nvcc" ]; then
		skipped=$((skipped + 1))
		echo "SKIP programs by nvcc: there is no nvcc"
		return
	fi
	for program in $(cd "$root/tests/cuda/programs" && ls *.cu | sed 's/\.cu$//'); do
		check "$program by nvcc" by_nvcc "$program"
	done
}

if [ $# = 0 ]; then
	programs
	suite
	with_nvcc
fi
for name; do
	case $name in
	suite) suite ;;
	nvcc) with_nvcc ;;
	programs) programs ;;
	nvcc:*) check "${name#nvcc:} by nvcc" by_nvcc "${name#nvcc:}" ;;
	*) check "$name" by_preload "$name" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
