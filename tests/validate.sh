#!/usr/bin/env bash
# make validate: the long tests. Registers against NVIDIA's assembler, every real program with cold caches, 2000 random kernels, then the guests under
# AddressSanitizer with UBSan and under ThreadSanitizer (in our code and the guests'; the driver is what the system has).
#   tests/validate.sh BUILD_DIR [STEP...]
# Steps are the functions below; without any named, all of them are done. Ends with "N passed, N failed" over all of them.
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

real_programs() {
	echo "== real programs"
	env -u POCL_CACHE_DIR -u GPUSIM_CACHE_DIR GPUSIM_TEST_KEEP="$TMPDIR/kept" "$root/tests/apps/run.sh" --all --cold 2>&1 |
		tee "$TMPDIR/apps"
	set -- $(tail -1 "$TMPDIR/apps" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
}

guest_programs() {
	echo "== guest programs"
	env -u POCL_CACHE_DIR -u GPUSIM_CACHE_DIR APPS_BUILD="$build/tests/guest" "$root/tests/apps/run.sh" --list "$root/tests/apps/guests" --all 2>&1 |
		tee "$TMPDIR/guests"
	set -- $(tail -1 "$TMPDIR/guests" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
}

# Their kernels by name. Those that run untouched must be known to (tests/apps/annotated.txt has what was last looked at).
annotated_kernels() {
	echo "== kernels of real programs"
	"$root/tests/apps/annotated.sh" "$TMPDIR/kept" | tee "$TMPDIR/annotated"
	grep ' untouched: ' "$TMPDIR/annotated" | grep -vxFf "$root/tests/apps/annotated.txt" >"$TMPDIR/log"
	verdict "every kernel is annotated, or known not to be" $((1 - $?)) "$TMPDIR/log"
}

# Other seeds than those of make test.
random_programs() {
	echo "== random programs"
	local which
	for which in "2000 1001" "200 3001 traced" "60 5001 divided 1" "40 6001 divided,relaxed 1"; do
		env -u POCL_CACHE_DIR -u GPUSIM_CACHE_DIR "$root/tests/generate/run.sh" "$build" $which 2>&1 | tee "$TMPDIR/random"
		set -- $(tail -1 "$TMPDIR/random" | tr -d ,)
		passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
	done
}

# Kernels with barriers in all sorts of places.
divided_kernels() {
	echo "== twins"
	env -u POCL_CACHE_DIR -u GPUSIM_CACHE_DIR "$root/tests/twins/run.sh" "$build" all 2>&1 | tee "$TMPDIR/twins"
	set -- $(tail -1 "$TMPDIR/twins" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3))
}

# The timing model alone: given exactly what every warp executes.
timing() {
	echo "== timing of exact warps: GPGPU-Sim's cycles (all in $build/timing.csv)"
	"$build/tests/oracle/timing" -o "$build/timing.csv" -m 2 -w 6 "$root/kernels/cases.txt" "$root/tests/reference" \
		"$root/tests/reference/gpgpusim.csv" '*-s' 2>&1 | tee "$TMPDIR/timing"
	set -- $(tail -1 "$TMPDIR/timing" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
}

# The analytical models on the same: no worse than their paper says.
analytical() {
	echo "== analytical models of exact warps: GPGPU-Sim's cycles and bank conflicts (all in $build/analytical.csv)"
	"$build/tests/oracle/analytical" -o "$build/analytical.csv" -m 6 -n 80 "$root/kernels/cases.txt" \
		"$root/tests/reference" "$root/tests/reference/gpgpusim.csv" '*-s' 2>&1 | tee "$TMPDIR/analytical"
	set -- $(tail -1 "$TMPDIR/analytical" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
}

# What a user gets: the suite under the library.
accuracy() {
	echo "== accuracy: the suite beside GPGPU-Sim and an H200 (tables and plots in $build/accuracy; docs/accuracy has the last ones)"
	"$root/tests/accuracy/run.sh" "$build" 2>&1 | tee "$TMPDIR/accuracy"
	set -- $(tail -1 "$TMPDIR/accuracy" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3))
}

# Sampling within launches and between them, beside simulating every group of every launch.
sampling() {
	echo "== sampling beside full simulation (table in $build/sampling-perfect.csv)"
	"$root/tests/command/sampling.sh" "$build" 2>&1 | tee "$TMPDIR/sampling"
	set -- $(tail -1 "$TMPDIR/sampling" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3))
}

# Models and microbenchmarks must agree.
tuner() {
	echo "== gpusim tune on simulated GPUs"
	"$root/tests/command/tune.sh" "$build" 2>&1 | tee "$TMPDIR/tune"
	set -- $(tail -1 "$TMPDIR/tune" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3))
}

html() {
	echo "== the HTML report in Chromium (pictures in $build/html)"
	"$root/tests/command/html.sh" "$build" 2>&1 | tee "$TMPDIR/html"
	set -- $(tail -1 "$TMPDIR/html" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3))
}

# The csv report as a spreadsheet reads it.
spreadsheet() {
	GPUSIM_REPORT=csv GPUSIM_OUTPUT=$TMPDIR/sheet LD_PRELOAD=$build/libgpusim.so "$build/kernels/demo" 1 >/dev/null 2>&1
	soffice --headless -env:UserInstallation="file://$TMPDIR/office" --convert-to html --outdir "$TMPDIR" "$TMPDIR/sheet.csv" >"$TMPDIR/log" 2>&1
	[ "$(grep -c '<tr' "$TMPDIR/sheet.html")" = "$(wc -l <"$TMPDIR/sheet.csv")" ] && grep -q saxpy "$TMPDIR/sheet.html"
	verdict "the csv report opens in LibreOffice" $? "$TMPDIR/log"
}

registers() {
	echo "== registers per thread against NVIDIA's assembler"
	"$root/tests/command/registers.sh" "$build" 2>&1 | tee "$TMPDIR/registers"
	set -- $(tail -1 "$TMPDIR/registers" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + ${5:-0}))
}

# sanitized KIND LIBRARY GUEST ARGUMENTS...: the exit code must be the plain one, and the sanitizer must say nothing.
sanitized() {
	local kind=$1 runtime=$2 name=$3 code expected
	shift 3
	"$build/tests/guest/$name" "$@" >/dev/null 2>&1
	expected=$?
	# gpusim-cc is the plain one: it is a process of its own, and its tests have a sanitizer of their own
	env LD_PRELOAD="$runtime:$build/$kind/libgpusim.so" GPUSIM_CC="$build/gpusim-cc" GPUSIM_REPORT=json,csv \
		GPUSIM_OUTPUT="$TMPDIR/report" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		setarch -R timeout 300 "$build/$kind/tests/guest/$name" "$@" >"$TMPDIR/log" 2>&1
	code=$?
	grep -Eq 'Sanitizer|runtime error:' "$TMPDIR/log" && code="$code, and it says something"
	[ "$code" = "$expected" ] && code=0
	verdict "$kind $name $*" "$code" "$TMPDIR/log"
}

under_sanitizer() {
	local kind=$1 switch=$2 runtime
	runtime=$(gcc -print-file-name="lib$kind.so")
	echo "== guests under $kind"
	make -s -C "$root" O="$build/$kind" "$switch=1" all programs >"$TMPDIR/make" 2>&1 || { verdict "$kind build" 1 "$TMPDIR/make"; return; }
	local guest ending
	for guest in args ranges build queues binary transfers garbage fork printf builtin untouchable dlopen; do
		sanitized "$kind" "$runtime" $guest
	done
	for ending in return thread _exit unfinished atexit atexit-first detached; do
		sanitized "$kind" "$runtime" exits $ending
	done
	sanitized "$kind" "$runtime" signals query
	sanitized "$kind" "$runtime" signals raise 15
	sanitized "$kind" "$runtime" signals fork
	sanitized "$kind" "$runtime" threads 1000
	sanitized "$kind" "$runtime" many 20000
}

unit_tests_under_asan() {
	make -s -C "$root" O="$build/asan" ASAN=1 all "$build/asan/unit-tests" >"$TMPDIR/make" 2>&1 &&
		GPUSIM_TEST_CC=$build/asan/gpusim-cc ASAN_OPTIONS=detect_leaks=0 "$build/asan/unit-tests" >"$TMPDIR/log" 2>&1
	verdict "unit tests under asan" $? "$TMPDIR/log"
}

guests_under_asan() { under_sanitizer asan ASAN; }
guests_under_tsan() { under_sanitizer tsan TSAN; }

[ $# -gt 0 ] || set -- registers html spreadsheet timing analytical accuracy sampling tuner real_programs annotated_kernels guest_programs \
	random_programs divided_kernels guests_under_asan unit_tests_under_asan guests_under_tsan
for step; do
	$step
done
echo "== all"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
