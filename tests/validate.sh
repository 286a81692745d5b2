#!/usr/bin/env bash
# make validate: the long tests. Registers against NVIDIA's assembler, accuracy, sampling, long loops and many launches, every
# real program with cold caches, 1000 random kernels, duplicated code. Takes an hour or two on two processors. Sanitizers have a
# target of their own, make sanitize.
#   tests/validate.sh BUILD_DIR [STEP...]
# Steps are the functions below. Without names, all of them run. Ends with the time of each step, and "N passed, N failed, N
# skipped" over all.
set -u
build=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/.." && pwd)
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-validate.XXXXXX")
export TMPDIR POCL_CACHE_DIR=$TMPDIR/pocl GPUSIM_CACHE_DIR=$TMPDIR/cache
trap 'rm -rf "$TMPDIR"' EXIT
export GPUSIM_TEST_ROOT=$root GPUSIM_TEST_CC=$build/gpusim-cc GPUSIM_TEST_LIB=$build/libgpusim.so GPUSIM_TEST_BIN=$build/gpusim
passed=0 failed=0 skipped=0
cd "$TMPDIR" || exit 1 # programs may leave files

verdict() { # NAME CODE LOG
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
		echo "PASS $1"
	else
		failed=$((failed + 1))
		echo "FAIL $1 ($2)"
		head -60 "$3" | sed 's/^/    /'
	fi
}

# counted TITLE COMMAND...: a command that ends with "N passed, N failed[, N skipped]".
counted() {
	local line
	echo "== $1"
	"${@:2}" 2>&1 | tee "$TMPDIR/said"
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$TMPDIR/said" | tail -1)
	set -- $(echo "${line:-0 passed, 1 failed}" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + ${5:-0}))
}

# The same with fresh caches for the command.
counted_cold() { counted "$1" env -u POCL_CACHE_DIR -u GPUSIM_CACHE_DIR "${@:2}"; }

real_programs() { counted_cold "real programs" env GPUSIM_TEST_KEEP="$TMPDIR/kept" "$root/tests/apps/run.sh" --all --cold; }

# The guest programs that make test does not run.
guest_programs() { counted_cold "guest programs" env APPS_BUILD="$build/tests/guest" "$root/tests/apps/run.sh" --list "$root/tests/apps/guests" --long; }

# What make test does without the driver's optimiser.
optimised() { counted "tests that make test runs without the driver's optimiser" "$root/tests/run.sh" "$build" --optimised; }

# Kernels of the real programs by name. Kernels that run untouched must be known (tests/apps/annotated.txt has the last list
# that was checked).
annotated_kernels() {
	echo "== kernels of real programs"
	"$root/tests/apps/annotated.sh" "$TMPDIR/kept" | tee "$TMPDIR/annotated"
	grep ' untouched: ' "$TMPDIR/annotated" | grep -vxFf "$root/tests/apps/annotated.txt" >"$TMPDIR/log"
	verdict "every kernel is annotated, or known not to be" $((1 - $?)) "$TMPDIR/log"
}

# Other seeds than those of make test.
random_programs() { counted_cold "random programs" "$root/tests/generate/run.sh" "$build" 1000 1001; }
random_traced() { counted_cold "random programs, traced" "$root/tests/generate/run.sh" "$build" 100 3001 traced; }
random_divided() {
	counted_cold "random programs with barriers under conditions" "$root/tests/generate/run.sh" "$build" 60 5001 divided 1
	counted_cold "the same with inexact arithmetic" "$root/tests/generate/run.sh" "$build" 40 6001 divided,relaxed 1
}

# Kernels with barriers in many different places.
divided_kernels() { counted_cold "twins" "$root/tests/twins/run.sh" "$build" all; }

# The timing model alone, with exactly what every warp executes.
timing() {
	counted "timing of exact warps: GPGPU-Sim's cycles (all in $build/timing.csv)" "$build/tests/oracle/timing" -o "$build/timing.csv" \
		-m 2 -w 6 "$root/kernels/cases.txt" "$root/tests/reference" "$root/tests/reference/gpgpusim.csv" '*-s'
}

# The analytical models on the same input. They must not be worse than their paper says.
analytical() {
	counted "analytical models of exact warps: GPGPU-Sim's cycles and bank conflicts (all in $build/analytical.csv)" \
		"$build/tests/oracle/analytical" -o "$build/analytical.csv" -m 6 -n 80 "$root/kernels/cases.txt" \
		"$root/tests/reference" "$root/tests/reference/gpgpusim.csv" '*-s'
}

# CUDA programs as users write them, by nvcc, where there is one: results and times beside an H200's.
user_programs() { counted "CUDA programs beside an H200" "$root/tests/accuracy/programs.py" "$build" -o "$build/accuracy/programs.csv"; }

# What a user gets: the suite under the library.
accuracy() {
	counted "accuracy: the suite beside GPGPU-Sim and an H200 (tables and plots in $build/accuracy; docs/accuracy has the last ones)" \
		"$root/tests/accuracy/run.sh" "$build"
}

# Sampling within launches and between them, compared with the simulation of every group of every launch.
sampling() { counted "sampling beside full simulation (table in $build/sampling-perfect.csv)" "$root/tests/command/sampling.sh" "$build"; }

# Default options compared with the simulation of every group and all of time, for long loops and many launches, too.
bounded() { counted "estimates at a bounded cost beside full simulation (table in $build/accuracy/bounded.csv)" "$root/tests/accuracy/bounded.py" "$build"; }

# The suite's kernels as OpenCL and as CUDA programs, on the same GPUs.
cuda_estimates() {
	counted "estimates of CUDA programs beside those of OpenCL programs (table in $build/accuracy/cuda.csv)" \
		"$root/tests/accuracy/cuda.py" "$build" -o "$build/accuracy/cuda.csv"
}

# CUDA programs, and the same as nvcc builds them, where there is one. make test has a few of those, builds kernels without the
# driver's optimiser, and has fewer launches.
cuda_programs() { counted "CUDA programs, the same by nvcc, and Python's" "$root/tests/cuda/run.sh" "$build" programs hierarchy reports nvcc numba; }

# Models and microbenchmarks must agree.
tuner() {
	counted "gpusim tune on simulated GPUs" "$root/tests/command/tune.sh" "$build"
	counted "gpusim tune --cuda on simulated GPUs" "$root/tests/command/search.sh" "$build"
}

package() { counted "the Debian package" "$root/tests/command/package.sh" "$build"; }

html() { counted "the HTML report in Chromium (pictures in $build/html)" "$root/tests/command/html.sh" "$build"; }

# The csv report as a spreadsheet reads it.
spreadsheet() {
	echo "== the csv report in LibreOffice"
	GPUSIM_REPORT=csv GPUSIM_OUTPUT=$TMPDIR/sheet LD_PRELOAD=$build/libgpusim.so "$build/kernels/demo" 1 >/dev/null 2>&1
	soffice --headless -env:UserInstallation="file://$TMPDIR/office" --convert-to html --outdir "$TMPDIR" "$TMPDIR/sheet.csv" >"$TMPDIR/log" 2>&1
	[ "$(grep -c '<tr' "$TMPDIR/sheet.html")" = "$(wc -l <"$TMPDIR/sheet.csv")" ] && grep -q saxpy "$TMPDIR/sheet.html"
	verdict "the csv report opens in LibreOffice" $? "$TMPDIR/log"
}

# Code that occurs twice.
duplicates() { counted "equal lines in two places" "$root/tests/duplicates.py"; }

# What papers give of kernels that are written as task lists.
papers() { counted "tables of the papers on PPT and GATSim" "$root/tests/accuracy/papers.py" "$build"; }
task_from() { counted "task lists of recorded programs" "$root/tests/command/task_from.sh" "$build"; }
round_trip() {
	counted "traces for Accel-Sim and back" "$root/tests/command/round_trip.sh" "$build"
	counted "the same for an RTX 3070, which slices L2 by addresses" "$root/tests/command/round_trip.sh" "$build" rtx3070 gather-s matmul-s scan-s
	counted "traces of medium cases as Accel-Sim reads them" "$root/tests/command/exported.sh" "$build"
	counted "the same for an RTX 2060, whose schedulers take turns" "$root/tests/command/round_trip.sh" "$build" rtx2060 mandelbrot-s price-s matmul_tiled-s
}

energy() { counted "energies of kernels against an H200's" "$root/tests/accuracy/truth/energy/compare.sh" "$build"; }
mpi() { counted "MPI programs on SimGrid" "$root/tests/mpi/run.sh" "$build"; }
slurm() { counted "a sweep in a Slurm of one node" "$root/tests/command/slurm.sh" "$build"; }

registers() { counted "registers per thread against NVIDIA's assembler" "$root/tests/command/registers.sh" "$build"; }

# $processors: the processor time, in seconds, of all child processes that have ended.
look_at_processors() {
	times >"$TMPDIR/times"
	processors=$(awk -F'[ms ]' '{ s += $1 * 60 + $2 + $4 * 60 + $5 } END { printf "%d", s }' "$TMPDIR/times")
}

[ $# -gt 0 ] || set -- duplicates registers round_trip task_from papers package html spreadsheet energy timing analytical accuracy user_programs sampling bounded cuda_estimates cuda_programs tuner real_programs annotated_kernels guest_programs optimised mpi slurm \
	random_programs random_traced random_divided divided_kernels
for step; do
	look_at_processors
	begin=$SECONDS used=$processors
	$step
	look_at_processors
	printf '%-18s %5d s, %5d s of processors\n' "$step" $((SECONDS - begin)) $((processors - used)) >>"$TMPDIR/durations"
done
echo "== how long each took ($SECONDS s in all)"
cat "$TMPDIR/durations"
echo "== all"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
