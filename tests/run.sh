#!/usr/bin/env bash
# make test: directions of includes, names in the documentation, unit tests, golden tests, traces, the fuzz corpus, counts of
# PTX, guest programs with and without the library, promises to users, gpusim explain and tune, random programs, programs with
# long loops and many launches, quick real programs, CUDA programs and lifted PTX.
#   tests/run.sh BUILD_DIR [--optimised | STEP...]
# Steps run in parallel, as many as there are processors (or JOBS). The output of a step is shown when it has ended, with the
# processor time that it took. The last line is "N passed, N failed, N skipped" over all steps.
# --optimised: the steps that otherwise do without the driver's optimiser, with it.
set -u
build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-tests.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'for pid in "${!running[@]}"; do kill -- -"$pid"; done 2>/dev/null; exit 130' INT TERM
for variable in $(env | sed -n 's/^\(GPUSIM_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
unset LD_PRELOAD OPENCL_LAYERS
export GPUSIM_TEST_ROOT=$root GPUSIM_TEST_CC=$build/gpusim-cc GPUSIM_TEST_LIB=$build/libgpusim.so GPUSIM_TEST_BIN=$build/gpusim
passed=0 failed=0 skipped=0
declare -A running=() # steps by process
set -m # a step is a process group, so an interrupt ends all of it

# The steps, by the names of the functions below. The longest come first, so that processors are busy until the end.
[ $# -gt 0 ] || set -- cuda guests unit traces behaviour lift golden random real estimates reports advice shapes cuda_api cache what_if traced profiles instructions twins explain fuzz tuner search docs cuda_host layers ptx correlate gpu_from scale accelsim task cluster

# Most of the time would go into the driver's optimiser. These steps do not depend on it: they test what our text computes and
# traces, on few work-items. make validate runs them with it. Not golden: POCL 3.1 aborts on declared.cl without its optimiser.
unoptimised="unit traces instructions lift cuda cuda_api"
[ "${1:-}" != --optimised ] || { set -- $unoptimised && unoptimised=; }

unit() {
	"$build/unit-tests" >unit.out 2>unit.err
	local code=$? counts
	cat unit.err unit.out
	# CUnit's row "tests TOTAL RAN PASSED FAILED INACTIVE"
	counts=$(awk '$1 == "tests" { print $4 + 0, $5 + 0 }' unit.out)
	case $code:$counts in 0:* | *\ [1-9]*) ;; *) counts="${counts% *} 1" ;; esac
	echo "${counts% *} passed, ${counts#* } failed"
}

# The directions of includes.
layers() { "$root/tests/layers.sh"; }

# Names in the documentation.
docs() { "$root/tests/docs.sh"; }

# Annotated text, block tables and counts.
golden() { "$root/tests/golden/run.sh" "$build"; }

# Events of single work-items.
traces() { "$root/tests/traces/run.sh" "$build"; }

# The oracle, which runs the kernels' PTX for tests, must count as GPGPU-Sim did on the same PTX.
ptx() { "$build/tests/oracle/run" "$root/kernels/cases.txt" "$root/tests/reference" -r "$root/tests/reference/gpgpusim.csv" '*-s'; }

# Single PTX instructions, lifted.
instructions() { "$root/tests/instructions/run.sh" "$build"; }

# Inputs that fuzzing found and that were kept, once each through the fuzz target.
fuzz() {
	local before
	if "$build/tests/fuzz/replay" "$root"/tests/fuzz/corpus/* >fuzz.log 2>&1; then
		echo "$(wc -l <fuzz.log) passed, 0 failed"
	else
		before=$(grep -c "^$root/tests/fuzz/corpus/" fuzz.log)
		grep "^$root/tests/fuzz/corpus/" fuzz.log | tail -1 | sed 's/^/FAIL fuzz corpus: /'
		grep -E '^annotator: |ERROR' fuzz.log
		echo "$((before - 1)) passed, 1 failed"
	fi
}

# Guest programs must behave the same with and without us.
guests() { APPS_BUILD=$build/tests/guest "$root/tests/apps/run.sh" --list "$root/tests/apps/guests"; }

# Promises to users.
behaviour() { "$root/tests/command/behaviour.sh" "$build"; }
reports() { "$root/tests/command/reports.sh" "$build"; }
explain() { "$root/tests/command/explain.sh" "$build"; }
estimates() { "$root/tests/command/estimates.sh" "$build"; }
advice() { "$root/tests/command/advice.sh" "$build"; }
what_if() { "$root/tests/command/what_if.sh" "$build"; }
profiles() { "$root/tests/command/profiles.sh" "$build"; }
cache() { "$root/tests/command/cache.sh" "$build"; }
correlate() { "$root/tests/command/correlate.sh" "$build"; }
scale() { "$root/tests/command/scale.sh" "$build"; }
gpu_from() { "$root/tests/command/gpu_from.sh" "$build"; }
accelsim() { "$root/tests/command/accelsim.sh" "$build"; }
task() { "$root/tests/command/task.sh" "$build"; }
cluster() { "$root/tests/command/cluster.sh" "$build"; }
tuner() { "$root/tests/command/tune.sh" "$build" quick; }
search() { "$root/tests/command/search.sh" "$build" quick; }

# The CUDA runtime's entry points, and the ways to them.
cuda_api() { "$root/tests/cuda/api/run.sh" "$build"; }

# CUDA programs on a real GPU, with a driver of ours in its place
cuda_host() { "$root/tests/cuda/host/run.sh" "$build"; }

# Random kernels. make validate has a thousand others.
random() { "$root/tests/generate/run.sh" "$build" 30 1; }
traced() { "$root/tests/generate/run.sh" "$build" 8 101 traced 2; }

# Kernels with barriers in many different places.
twins() { "$root/tests/twins/run.sh" "$build" quick; }

# Programs with long loops and many launches.
shapes() { "$root/tests/shapes.sh" "$build"; }

# Real programs.
real() { "$root/tests/apps/run.sh" --quick; }

# CUDA programs, and the suite's kernels as CUDA kernels.
cuda() { "$root/tests/cuda/run.sh" "$build"; }

# Single PTX instructions, random PTX programs and the suite's kernels, lifted.
lift() { "$root/tests/lift/run.sh" "$build" 6 1; }

# step NAME: runs in a folder of its own, because programs leave files. Its output goes to .log. Steps that run the same
# programs share their caches.
step() {
	local caches=$TMPDIR/$1
	case " $unoptimised " in *" $1 "*) export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable ;; esac
	case $1 in behaviour | reports | profiles | estimates | advice | what_if | cache | tuner) caches=$TMPDIR/shared ;; esac
	mkdir -p "$TMPDIR/$1" "$caches"/{pocl,cache}
	cd "$TMPDIR/$1" || exit 1
	TMPDIR=$PWD POCL_CACHE_DIR=$caches/pocl GPUSIM_CACHE_DIR=$caches/cache "$1" >"../$1.log" 2>&1 </dev/null
	times >"../$1.times"
}

# The processor time of a step, in seconds.
processors() { awk -F'[ms ]' '{ s += $1 * 60 + $2 + $4 * 60 + $5 } END { printf "%d", s }' "$TMPDIR/$1.times" 2>/dev/null; }

# Shows the output of a step. Adds its last "N passed, N failed[, N skipped]" line to the sums.
finish() {
	local line
	echo "== $1 (at $SECONDS s, $(processors "$1") s of processors)"
	cat "$TMPDIR/$1.log"
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$TMPDIR/$1.log" | tail -1)
	set -- $(echo "${line:-0 passed, 1 failed}" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + ${5:-0}))
}

wait_for_one() {
	local ended
	wait -n -p ended "${!running[@]}"
	finish "${running[$ended]}"
	unset "running[$ended]"
}

for name; do
	[ ${#running[@]} -lt "${JOBS:-$(nproc)}" ] || wait_for_one
	step "$name" &
	running[$!]=$name
done
while [ ${#running[@]} -gt 0 ]; do wait_for_one; done
echo "== all"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
