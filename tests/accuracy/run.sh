#!/usr/bin/env bash
# Compares the suite under the library with measured values: GPGPU-Sim on the same kernels, and a real H200. Tables and plots go
# to BUILD_DIR/accuracy.
#   tests/accuracy/run.sh BUILD_DIR [--keep] [NAME...]
# NAME: only these comparisons. --keep: the results go to docs/accuracy, and the text of reports about accuracy goes to
# runtime/config/accuracy_measured.def (tests/accuracy/keep.py).
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
reference=tests/reference
cases=kernels/cases.txt
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-accuracy.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 keep='' made=()
shift
[ "${1:-}" = --keep ] && keep=1 && shift
wanted=" $* "
mkdir -p "$build/accuracy"
cd "$root" || exit 1 # the tables name their files

# run NAME CASES PATTERN...: makes a report of the suite under the library. The caller's variables are the settings.
run() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/$1 LD_PRELOAD=$build/libgpusim.so "$build/kernels/suite" -r 1 "${@:2}" >"$work/out"
}

# compare NAME OPTION...: compares the report of that name with truth, and checks the thresholds.
compare() {
	echo "-- $1"
	made+=("$1")
	if "$build/gpusim" correlate --split -o "$build/accuracy/$1" "${@:2}"; then
		passed=$((passed + 1))
	else
		echo "FAIL accuracy: $1"
		failed=$((failed + 1))
	fi
	sed -i "s#$work/[a-z]*\.csv#$reference/h200-truth#g" "$build/accuracy/$1"[-.]* # where such a table came from
}

is_wanted() { [ "$wanted" = '  ' ] || [ "${wanted#* "$1" }" != "$wanted" ]; }

# Truth is of one launch per process, so that caches of instructions and constants were empty. Some cases here are of one kernel.
gpgpusim() { # NAME MODEL SETTINGS CONFIG OPTION...
	is_wanted "$1" || return
	GPUSIM_GPU=gtx480 GPUSIM_MODEL=$2 GPUSIM_MEMORY=${GPUSIM_MEMORY:-perfect} GPUSIM_SET=icache_kept=0,const_kept=0${3:+,$3} run "$1" "$cases" '*-s' &&
		compare "$1" --config "$4" "$reference/gpgpusim.csv" --cases "$cases" --only '*-s' "${@:5}" "$work/$1.json"
}

# Truth is of launches that follow one of the same kernel: then L2 holds what a launch uses.
again=l2_kept=0
h200() { # NAME ONLY OPTION... -- PATTERN...
	local name=$1 only=$2 options=()
	shift 2
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	is_wanted "$name" || return
	"$here/truth/reference.py" "$reference/h200-truth" "$cases" times 'frontier-*' >"$work/times.csv" &&
		GPUSIM_GPU=h200 GPUSIM_MEMORY=hierarchy GPUSIM_SET=$again run "$name" "$cases" "$@" &&
		compare "$name" "$work/times.csv" "$reference/h200-counters.csv" --cases "$cases" --only "$only" "${options[@]}" "$work/$name.json"
}

# The same kernels as CUDA programs, beside what Nsight Compute shows: with NVIDIA's assembler, as by default where that is found, and with selected code.
has_assembler() { command -v ptxas >"$work/out" || [ -x /usr/local/cuda/bin/ptxas ]; }
run_cuda() { # NAME CASES PATTERN...
	GPUSIM_CODE=$code GPUSIM_GPU=h200 GPUSIM_MEMORY=hierarchy GPUSIM_SET=$again GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/$1 LD_PRELOAD=$build/libgpusim.so \
		"$build/kernels/cuda/host" "${@:2}" >"$work/out"
}
h200_cuda() { # CODE NAME-OF-SMALL NAME-OF-MEDIUM OPTION-FOR-SMALL...
	local more=kernels/more-cases.txt medium=kernels/medium-cases.txt code=$1
	is_wanted "$2" && run_cuda cuda-s "$cases" '*-s' && run_cuda cuda-more "$more" '*-s' &&
		compare "$2" "$reference/h200-cuda.csv" --cases "$cases" --only '*-s' --without "frontier-s=$order" "$work/cuda-s.json" --cases "$more" \
			--only '*-s' "$work/cuda-more.json" "${@:4}"
	is_wanted "$3" && run_cuda cuda-m "$medium" '*' &&
		compare "$3" "$reference/h200-cuda.csv" --cases "$medium" "$work/cuda-m.json"
}

# What NVIDIA's OpenCL made of the kernels (tests/reference/nvidia), launched by CUDA's driver API as it was when counters were read. Its assembler's code has
# the same registers and machine instructions, by pipe. The truth of mandelbrot-l is of more work-groups, which are not alike.
run_driver() { # NAME CASES PATTERN
	GPUSIM_OUTPUT=$work/$1 "$build/gpusim" run -- "$build/tests/accuracy/truth/driver" -b 0 -p "$reference/nvidia" -o "$reference/h200-truth/opencl.csv" "$2" "$3" >"$work/out"
}
h200_nvidia() {
	is_wanted h200-nvidia && has_assembler || return
	export GPUSIM_GPU=h200 GPUSIM_MODEL=optimistic GPUSIM_MEMORY=perfect GPUSIM_REPORT=json
	run_driver nvidia-small "$cases" '*-s' && run_driver nvidia-large kernels/large-cases.txt '*' &&
		compare h200-nvidia "$reference/h200-counters.csv" --full "$cases" --cases "$cases" --only '*-s' "$work/nvidia-small.json" \
			--cases kernels/large-cases.txt --only '*' "$work/nvidia-large.json" --metric warp_instructions --within registers_per_thread:0:57 \
			--within warp_instructions:3:55 --within inst_fma:3:55 --within inst_alu:3:53 --within inst_lsu:3:56
	unset GPUSIM_GPU GPUSIM_MODEL GPUSIM_MEMORY GPUSIM_REPORT 'made[-1]'
}

# Kernels of classes that are hard to time. The other half of them is looked at only when models are done.
h200_classes() {
	is_wanted h200-classes || return
	"$here/truth/reference.py" "$reference/h200-truth" kernels/classes/development.txt >"$work/classes.csv" &&
		GPUSIM_GPU=h200 GPUSIM_MEMORY=hierarchy GPUSIM_SET=$again run classes kernels/classes/development.txt '*-[sm]' &&
		compare h200-classes "$work/classes.csv" --cases kernels/classes/development.txt --only '*-[sm]' "$work/classes.json"
}

# Machine instructions: the large cases with fewer work-groups (kernels/large-cases.txt). Counts are scaled by the number of
# groups.
h200_machine() {
	is_wanted h200-machine || return
	export GPUSIM_GPU=h200 GPUSIM_MODEL=optimistic GPUSIM_MEMORY=perfect
	run machine-small "$cases" '*-s' && run machine-large kernels/large-cases.txt '*' &&
		compare h200-machine "$reference/h200-counters.csv" --full "$cases" --cases "$cases" --only '*-s' "$work/machine-small.json" \
			--cases kernels/large-cases.txt --only '*' "$work/machine-large.json" --metric warp_instructions \
			--within warp_instructions:10:40
	unset GPUSIM_GPU GPUSIM_MODEL GPUSIM_MEMORY
}

gpgpusim gtx480-1sm full sm_count=1 gtx480_pm_1sm --mean 4
gpgpusim gtx480-15sm-1sched full schedulers_per_sm=1 gtx480_pm_15sm_1sched --mean 4
gpgpusim gtx480-15sm full schedulers_per_sm=2 gtx480_pm_15sm_2sched --mean 4
gpgpusim gtx480-15sm-occupancy occupancy schedulers_per_sm=2 gtx480_pm_15sm_2sched --mean 4
gpgpusim gtx480-1sm-probabilistic probabilistic sm_count=1 gtx480_pm_1sm --mean 6
GPUSIM_MEMORY=hierarchy gpgpusim gtx480-full full sm_count=15 gtx480_full --mean 10
# Descriptions that gpusim gpu-from makes of the simulator's configurations. They are not kept.
derived() { # NAME CONFIG-FOLDER TRUTH OPTION...
	is_wanted "$1" || return
	"$build/gpusim" gpu-from "tests/command/configs/$2/gpgpusim.config" -o "$work/$1.gpu" &&
		GPUSIM_GPU=$work/$1.gpu GPUSIM_MODEL=full GPUSIM_MEMORY=hierarchy GPUSIM_SET=icache_kept=0,const_kept=0 run "$1" "$cases" '*-s' &&
		compare "$1" --config "$3" "$reference/gpgpusim.csv" --cases "$cases" --only '*-s' "${@:4}" "$work/$1.json"
	unset 'made[-1]'
}
derived gtx480-from gtx480 gtx480_full --mean 10
derived qv100-from qv100 qv100_full --mean 10
# What warps execute, from traces of all launches.
order='what it executes depends on the order of work-items'
GPUSIM_MEMORY=hierarchy GPUSIM_TRACE=all gpgpusim gtx480-warps full sm_count=15 gtx480_full --metric warp_instructions --worst 4 \
	--without "nbody-s=$order" --without "frontier-s=$order" --within warp_instructions:1:23
h200_machine
# No time may be far off: an extrapolation that fails is off by a factor.
h200 h200-small '*-s' --within median_ns:60:27 -- '*-s'
# The two largest would take a CPU many minutes. They are among the cases that are not run.
h200 h200-large '*-[lm]' --within median_ns:60:28 --within load_requests:5:20 --within warp_instructions:10:26 -- '*-l' '*-m'
has_assembler && h200_cuda auto h200-cuda-small h200-cuda-medium --within median_ns:15:48 --within warp_instructions:3:47 --within registers_per_thread:0:52
h200_cuda selected h200-cuda-small-selected h200-cuda-medium-selected
h200_nvidia
h200_classes
[ -z "$keep" ] || "$here/keep.py" "$build/accuracy" "$root" "${made[@]}" || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ $failed = 0 ]
