#!/usr/bin/env bash
# make sanitize: runs unit tests, guest programs, cases of the suite, CUDA programs and the command under AddressSanitizer with UBSan (asan)
# and under ThreadSanitizer (tsan). Our code and the guests are instrumented. The driver is the system's.
#   tests/sanitize.sh BUILD_DIR [asan|tsan...]
# Each variant is built in its own folder below BUILD_DIR, which has the plain programs. Both variants run at the same time.
# Ends with "N passed, N failed, N skipped" over all. Takes up to an hour on two processors.
set -u
build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-sanitize.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
for variable in $(env | sed -n 's/^\(GPUSIM_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
export GPUSIM_TEST_ROOT=$root GPUSIM_TEST_LIB=$build/libgpusim.so GPUSIM_TEST_BIN=$build/gpusim
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
# Small cases of different kinds: arithmetic, memory, barriers, branches.
cases=(mandelbrot-s saxpy-s gather-s matmul_tiled-s reduce-s histogram-s four_way-s price-s)
[ $# -gt 0 ] || set -- asan tsan

verdict() { # NAME CODE
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
		echo "PASS $kind $1"
	else
		failed=$((failed + 1))
		echo "FAIL $kind $1 ($2)"
		head -60 log | sed 's/^/    /'
	fi
}

# quiet NAME CODE [EXPECTED]: the exit code must be the expected one, and log must not have a message of the sanitizer.
quiet() {
	local code=$2 expected=${3:-0}
	grep -Eq 'Sanitizer|runtime error:' log && code="$code, and the sanitizer says something"
	[ "$code" = "$expected" ] && code=0
	verdict "$1" "$code"
}

# under COMMAND...: runs with the library of this variant. gpusim-cc is the plain one: it is a separate process, and the unit
# tests test it. The sanitizers need addresses at their usual places (setarch -R).
under() { LD_PRELOAD="$runtime:$build/$kind/libgpusim.so" GPUSIM_CC=$build/gpusim-cc setarch -R timeout 900 "$@"; }

guest() { # NAME ARGUMENT...
	local expected
	"$build/tests/guest/$1" "${@:2}" >/dev/null 2>&1
	expected=$?
	GPUSIM_REPORT=json,csv GPUSIM_OUTPUT=report under "$build/$kind/tests/guest/$1" "${@:2}" >log 2>&1
	quiet "guest $*" $? $expected
}

guests() {
	local name
	for name in args ranges build queues binary transfers garbage fork printf builtin untouchable dlopen; do guest $name; done
	for name in return thread _exit unfinished atexit atexit-first detached; do guest exits $name; done
	guest signals query
	guest signals raise 15
	guest signals fork
	guest threads 1000
	guest many 20000
}

# checksums FILE: the suite's output without the times.
checksums() { cut -d, -f1-5 "$1"; }

# Every model, with and without the memory hierarchy. The results must be the same as without the library.
suite() {
	local memory model
	"$build/kernels/suite" -r 1 "$root/kernels/cases.txt" "${cases[@]}" >plain.csv 2>log || { verdict "suite, plain" $?; return; }
	for memory in perfect hierarchy; do
		for model in optimistic probabilistic occupancy full; do
			GPUSIM_GPU=gtx480,h200 GPUSIM_MEMORY=$memory GPUSIM_MODEL=$model GPUSIM_TRACE=all GPUSIM_REPORT=text,json,csv,html,trace \
				GPUSIM_OUTPUT=report under "$build/$kind/kernels/suite" -r 1 "$root/kernels/cases.txt" "${cases[@]}" >suite.csv 2>log
			quiet "suite, $memory memory, $model" $?
		done
		diff <(checksums plain.csv) <(checksums suite.csv) >log
		verdict "suite, $memory memory: the same results" $?
	done
}

# CUDA programs: their streams are threads, and kernels that fail use a signal handler. The programs are plain: they have no nvcc, and check themselves.
cuda() {
	local name
	for name in streams overlap graphs graph_nodes textures variables heap traps; do
		POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=report under "$build/tests/cuda/programs/$name" >log 2>&1
		quiet "CUDA program $name" $?
	done
}

# The command: it reads files again, and compiles a source.
commands() {
	GPUSIM_RECORD=profile GPUSIM_REPORT=none under "$build/$kind/kernels/launches" -k "$root/kernels" collatz 4096 8 >log 2>&1
	quiet "record" $?
	GPUSIM_REPORT=json GPUSIM_OUTPUT=again setarch -R "$build/$kind/gpusim" replay profile --gpu gtx480,h200 >log 2>&1
	quiet "replay" $?
	setarch -R "$build/$kind/gpusim" sweep profile --gpu gtx480 --vary sm_count=5,15 >log 2>&1
	quiet "sweep" $?
	GPUSIM_CC=$build/gpusim-cc setarch -R "$build/$kind/gpusim" explain "$root/kernels/memory.cl" --gpu h200 >log 2>&1
	quiet "explain" $?
}

# These suites have one thread, and simulate or compile a lot. ThreadSanitizer has nothing to see there, and makes simulations
# ten times as long. AddressSanitizer sees all suites.
one_thread=(rates optimistic "occupancy vector" "occupancy vector: grids" caches "dram and addresses" memory "memory of warps" footprints hazards oracle builtins target analysis gpusim-cc)

# gpusim-cc has one thread. Under ThreadSanitizer, LLVM needs more than 10 GB. As in tests/run.sh, the driver does not optimise.
unit() {
	local cc=$build/$kind/gpusim-cc without=()
	[ "$kind" = tsan ] && cc=$build/gpusim-cc && without=(--except "${one_thread[@]}")
	POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable GPUSIM_TEST_CC=$cc setarch -R "$build/$kind/unit-tests" "${without[@]}" >log 2>&1
	quiet "unit tests" $?
}

# variant KIND: builds and runs one variant. Its output goes to KIND.log.
variant() {
	local kind=$1 runtime passed=0 failed=0 switch targets begin=$SECONDS
	runtime=$(gcc -print-file-name="lib$kind.so")
	mkdir -p "$TMPDIR/$kind"/{pocl,cache}
	cd "$TMPDIR/$kind" || exit 1 # programs leave files
	export TMPDIR=$PWD POCL_CACHE_DIR=$PWD/pocl GPUSIM_CACHE_DIR=$PWD/cache
	switch=$(echo "$kind" | tr a-z A-Z)
	targets=$(cd "$root" && printf "$build/$kind/%s " unit-tests kernels/suite kernels/launches $(ls tests/guest/*.c | sed 's/\.c$//'))
	echo "== $kind"
	make -s -C "$root" -j$(((${JOBS:-$(nproc)} + 1) / 2)) O="$build/$kind" "$switch=1" all $targets >log 2>&1
	verdict "build ($((SECONDS - begin)) s)" $?
	if [ $failed = 0 ]; then
		unit
		guests
		suite
		cuda
		commands
	fi
	echo "$passed passed, $failed failed, 0 skipped, $((SECONDS - begin)) s"
}

passed=0 failed=0
for kind; do
	variant "$kind" >"$TMPDIR/$kind.log" 2>&1 </dev/null &
done
wait
for kind; do
	cat "$TMPDIR/$kind.log"
	set -- $(tail -1 "$TMPDIR/$kind.log" | grep -E '^[0-9]+ passed' | tr -d , || echo 0 passed 1 failed)
	passed=$((passed + $1)) failed=$((failed + $3))
done
echo "== all"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
