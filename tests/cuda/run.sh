#!/usr/bin/env bash
# CUDA programs under gpusim: one per feature, and the suite's kernels.
#   tests/cuda/run.sh BUILD_DIR [NAME...]
# Without names: all programs, some with the memory hierarchy, the suite, and some programs built by nvcc where it is found. A name is that of a
# program, or `suite`, `hierarchy`, `reports`, `lines`, `answers`,
# `numba`, `nvcc` (all programs built by it), or nvcc:PROGRAM. Ends with "N passed, N failed, N skipped". The caller sets POCL_CACHE_DIR and
# GPUSIM_CACHE_DIR (tests/run.sh).
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

# The architecture that nvcc compiles a program for: clusters began with sm_90.
arch_of() { [ "$1" = clusters ] && echo 90 || echo 75; }

# right NAME COMMAND...: a program of this folder must pass all its own checks, print what is expected of it, and have a report.
right() {
	local name=$1 expected=$root/tests/cuda/programs/$1.expected code
	shift
	rm -f report.json
	GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=report timeout 300 "$@" >out 2>err
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

# has_memory FILE: every launch has a model of memory, and those that load say where from.
has_memory() {
	jq -e '[.launches[].estimates[] | (.flags | index("perfect_memory") or index("not_traced") | not) and
		(.memory.load_requests == 0 or (.memory.l1_hit != null and .memory.load_sectors > 0))] | length > 0 and all' "$1" >/dev/null
}
by_hierarchy() {
	GPUSIM_MEMORY=hierarchy by_preload "$1" || return 1
	has_memory report.json || { jq -c '.launches[] | [.kernel, (.estimates[] | .flags, .memory.load_requests, .memory.l1_hit)]' report.json && return 1; }
}

# traffic KERNEL LOADS SECTORS STORED: of the launch of that kernel
traffic() {
	jq -c --arg kernel "$1" '.launches[] | select(.kernel == $kernel) | .estimates[0].memory | [.load_requests, .load_sectors, .store_sectors]' traffic.json >out
	[ "$(cat out)" = "[$2,$3,$4]" ] || { echo "$1: not [$2,$3,$4]" && cat out && return 1; }
}
# 131072 threads copy words: 4096 warps load and store 32 words each, which are 4 sectors. Of strided loads, 16 by each of 15360 threads, every lane
# has a sector of its own. Without GPUSIM_GPU the GPU is an H200.
traffic_of_warps() {
	env -u GPUSIM_GPU GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=traffic LD_PRELOAD="$build/libgpusim.so" \
		"$build/kernels/cuda/host" "$root/kernels/cases.txt" copy-s strided32-s >/dev/null || return 1
	traffic copy 4096 16384 16384 && traffic strided 7680 245760 1920 && has_memory traffic.json &&
		[ "$(jq -r '[.targets[].name] | join(" ")' traffic.json)" = h200 ]
}
# Fetches of textures and surfaces lie among the others: 64 threads store a word each, which are 8 sectors, and 6 warps 21 words each, which lie in
# 3 or 4 sectors. A warp of the first reads 24 neighbouring words and one of the second 16 of a texture, 5 sectors. A row of 84 bytes of a surface is in
# 3 lines of 32 bytes by 4 rows: 8 warps read and write one, 6 warps read five and store 9 lines, 18 warps write one. A surface of one row has rows.
traffic_of_textures() {
	for program in textures surfaces; do
		env -u GPUSIM_GPU GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=traffic LD_PRELOAD="$build/libgpusim.so" \
			"$build/tests/cuda/programs/$program" >/dev/null || return 1
		case $program in
		textures) traffic sample_1d 0 0 8 && jq -e '.launches[] | select(.kernel == "sample_1d") | .estimates[0].memory.transactions <= 13' traffic.json ;;
		surfaces)
			traffic sum_slices 0 0 21 &&
				jq -e '[.launches[] | [.kernel, .estimates[0].memory.transactions]] == [["move_left", 48], ["sum_slices", 99], ["fill_layers", 54], ["invert", 2]]' traffic.json
			;;
		esac >/dev/null || return 1
	done
}
# Each of 8 blocks copies a row of 1 KiB to shared memory and one back, by one thread: 8 requests of 32 sectors.
traffic_of_bulk_copies() {
	env -u GPUSIM_GPU GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=traffic LD_PRELOAD="$build/libgpusim.so" \
		"$build/tests/cuda/programs/clusters" >/dev/null && traffic carry 8 256 256
}
# Functions that are called by their addresses count like others. By hand, of the PTX, where t is 0 to 63 and n is t % 6: 36 instructions of the
# kernel, 5 of each function that it calls, and in fold 6 if n is 0, else 8, and 12 in each iteration, with those of the function that it calls.
counts_functions_by_address() {
	GPUSIM_GPU=v100 GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=address LD_PRELOAD="$build/libgpusim.so" \
		"$build/tests/cuda/programs/function_pointers" >/dev/null || return 1
	jq -c '.launches[] | [.kernel, (.estimates[] | .thread_instructions, .flags)]' address.json >out
	[ "$(cat out)" = '["by_table",5306,[]]' ] || { cat out && return 1; }
}
# A program that ends soon needs one of the two texts of its kernel, the one that traces. All 2097152 threads are counted in it, once: 16 instructions each.
builds_one_text() {
	rm -rf one && mkdir one one/pocl one/cache
	POCL_CACHE_DIR=$work/one/pocl GPUSIM_CACHE_DIR=$work/one/cache GPUSIM_GPU=h200 GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=one/copy \
		LD_PRELOAD="$build/libgpusim.so" "$build/kernels/cuda/host" "$root/kernels/cases.txt" copy-m >/dev/null || return 1
	[ "$(find one/pocl -name program.bc | wc -l)" = 1 ] && jq -e '.launches[0].estimates[0].thread_instructions == 16 * 2097152' one/copy.json
}
# Blocks below the diagonal execute 5 instructions, the others 40: 32 x (1128 x 5 + 1176 x 40) in all. If a fifth of the blocks have counters, these stand
# for all of them, about.
counts_a_triangle() { # ERROR: most, in percent
	GPUSIM_GPU=h200 GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json GPUSIM_OUTPUT=triangle LD_PRELOAD="$build/libgpusim.so" "$build/tests/cuda/programs/triangle" >/dev/null &&
		jq -e --argjson most "$1" '.launches[0].estimates[0] | 100 * (.thread_instructions / 1685760 - 1 | fabs) <= $most and
			.warp_instructions < .thread_instructions / 27 and (.flags == ["items_not_counted"]) == ($most > 0)' triangle.json >/dev/null ||
		{ jq -c '.launches[0].estimates[0] | [.thread_instructions, .warp_instructions, .flags]' triangle.json && return 1; }
}
counts_some_of_a_triangle() { GPUSIM_COUNTER_MEMORY=512K counts_a_triangle 4; }
# A large kernel begins with the text that traces even if nothing is traced, because that is built sooner: its program calls what traces.
begins_with_what_traces() {
	rm -rf one && mkdir one one/pocl one/cache
	POCL_CACHE_DIR=$work/one/pocl GPUSIM_CACHE_DIR=$work/one/cache by_preload switches || return 1
	[ "$(find one/pocl -name program.bc -exec grep -lF warp_access {} + | wc -l)" -ge 1 ] || { find one/pocl -name program.bc && return 1; }
}
memory_below_l1() {
	for program in memory shared_memory divergence structs; do
		check "$program with the memory hierarchy" by_hierarchy "$program"
	done
	check "requests and sectors of copies on an H200" traffic_of_warps
	check "sectors of kernels that read textures and surfaces" traffic_of_textures
	check "sectors of bulk copies" traffic_of_bulk_copies
	check "instructions of functions that are called by address" counts_functions_by_address
	check "instructions of a triangle of blocks" counts_a_triangle 0
	check "instructions of a triangle of blocks, of which few are counted" counts_some_of_a_triangle
	check "a short program needs one text of its kernel" builds_one_text
	check "a large kernel begins with the text that traces" begins_with_what_traces
}

# Thousands of launches: each has an estimate, and few are simulated. Launches of one kernel with the same sizes and counts are alike; the loop of the
# other is of 50 lengths, and takes longer the longer it is.
many_launches() {
	GPUSIM_MEMORY=hierarchy GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=many LD_PRELOAD=$build/libgpusim.so \
		"$build/tests/cuda/programs/many_launches" $((many / 2)) >out 2>err && has_launches many.json &&
		jq -e --argjson many $many '(.launches | length) == $many and .cost.simulated_launches + .cost.cached_launches <= 200 and
			([.launches[] | select(.kernel == "add_one") | .estimates[0].time_ns] | max / min < 1.02) and
			([.launches[] | select(.kernel == "spin") | .estimates[0].time_ns] | .[49] > .[25] and .[25] > .[1])' many.json >/dev/null
}

# A profile that was recorded for one GPU has the estimates of a run on two, and a sweep a row per value and kernel.
modelled_numbers() { jq -c '.launches[] | del(.measured_ns, .modelled_ns)' "$1"; }
replayed_as_run() {
	"$build/gpusim" record -o profile --gpu h200 -- "$build/tests/cuda/programs/$1" >out 2>err &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=run "$build/gpusim" run --gpu h200,v100 -- "$build/tests/cuda/programs/$1" >out 2>err &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=again "$build/gpusim" replay profile --gpu h200,v100 2>err || { cat out err && return 1; }
	modelled_numbers run.json >a && modelled_numbers again.json >b && [ -s a ] && cmp a b
}
swept() {
	"$build/gpusim" sweep profile --gpu h200 --vary sm_count=2,132 -o sweep >out 2>&1 &&
		[ "$(grep -c '^h200,2,' sweep.csv)" -gt 1 ] && [ "$(grep -c '^h200,2,' sweep.csv)" = "$(grep -c '^h200,132,' sweep.csv)" ]
}
# Names of templates have commas and spaces.
names_with_spaces() {
	"$build/gpusim" record -o named --gpu h200 -- "$build/tests/cuda/programs/templates" >out 2>err &&
		"$build/gpusim" sweep named --gpu h200 --vary sm_count=2,132 -o named >out 2>&1 && "$build/gpusim" compare-models named --json >models.json 2>err || return 1
	cat named.csv models.json
	[ "$(grep -cE '^h200,(2|132),"span<(int, 4|double, 8|unsigned char, 16)>",[1-9][0-9]{3}[.0-9]*,launch$' named.csv)" = 6 ] &&
		jq -e '[.kernels[] | select(.kernel == "span<int, 4>") | .time_ns.full] | length == 1 and .[0] > 1000' models.json
}

# Events around 50 launches in a row, on the GPU's clock: a launch takes as long as its estimate, and calls and gaps take a little.
events_show_the_gpu() {
	GPUSIM_PROFILING=simulated GPUSIM_MEMORY=hierarchy GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=virtual LD_PRELOAD=$build/libgpusim.so \
		"$build/kernels/cuda/host" -w 50 -r 5 "$root/kernels/cases.txt" nbody-s >out || return 1
	jq --argjson shown "$(cut -d, -f7 out)" -e '.launches[-1].estimates[0].time_ns as $ns | $shown > $ns * 0.99 and $shown < $ns * 1.2' virtual.json
}
# Two streams, in simulated time: beside each other, in order by an event, and around the default stream.
streams_overlap() {
	GPUSIM_PROFILING=simulated GPUSIM_GPU=h200 GPUSIM_REPORT=none LD_PRELOAD=$build/libgpusim.so "$build/tests/cuda/programs/overlap" times >out 2>&1 ||
		{ cat out && return 1; }
}
launches_in_reports() {
	check "launches of two streams overlap" streams_overlap
	check "$many launches have estimates at a bounded cost" many_launches
	check "a profile of a CUDA program is replayed as it ran" replayed_as_run divergence
	check "a profile of a CUDA program is swept" swept
	check "kernels whose names have spaces are swept and compared" names_with_spaces
	check "events show the GPU's times" events_show_the_gpu
	check "launches wait for pages of managed memory" waits_for_pages
}

# What launches wait for pages, in ns: with 4 MiB of the processor's, none, eight pages (which come with those around them, 64 KB), 4 MiB that nobody has
# used, and none again. All SMs ask: 125000, and 62000 for each of two blocks of 2 MiB, at 10.5 GB/s; 62000 for one. Where the system does not say which
# pages were used, all launches have a flag instead. A replay knows the same.
managed_pages='[.launches[].estimates[0] | .cycles_by.pages / 1.958 | round] == [648458, 0, 193242, 648458, 0] or
	([.launches[].estimates[0].flags | index("managed_memory") != null] | all)'
waits_for_pages() {
	GPUSIM_RECORD=managed.profile GPUSIM_MEMORY=hierarchy GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=managed LD_PRELOAD=$build/libgpusim.so \
		"$build/tests/cuda/programs/managed" >out 2>err &&
		GPUSIM_REPORT=json GPUSIM_MEMORY=hierarchy GPUSIM_OUTPUT=again "$build/gpusim" replay managed.profile 2>err || { cat out err && return 1; }
	jq -c '[.launches[].estimates[0] | .cycles_by.pages / 1.958, .flags, .limiter]' managed.json again.json
	jq -e "$managed_pages" managed.json && jq -e "$managed_pages" again.json
}

# Lines of the source, where nvcc wrote their numbers: the loop's sum has most of the cycles and all loads.
shows_lines() {
	cat >lines.cu <<-'CUDA'
		__global__ void lines(float *a, int n)
		{
			float s = 0;
			for (int k = 0; k < n; k++)
				s += a[(threadIdx.x * 32 + k) % 1024];
			a[threadIdx.x] = s;
		}
		int main()
		{
			float *a;
			cudaMalloc(&a, 4096);
			lines<<<4, 64>>>(a, 400);
			return cudaDeviceSynchronize();
		}
	CUDA
	"$nvcc" -w -lineinfo -cudart shared -gencode arch=compute_75,code=compute_75 -o lines lines.cu &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=lines GPUSIM_MEMORY=hierarchy "$build/gpusim" run --gpu h200 -- ./lines &&
		"$build/gpusim" annotate lines.json >out && cat out &&
		awk '/s \+= a\[/ { sum = $1 + 0 } /for \(int k/ { loop = $1 + 0 } END { exit !(sum > 50 && loop < sum) }' out
}

# A program by nvcc, with a shared CUDA runtime, which need not be installed.
by_nvcc() {
	(cd "$root" && "$nvcc" -w -I. -std=c++17 -cudart shared -gencode "arch=compute_$(arch_of "$1"),code=compute_$(arch_of "$1")" -o "$work/$1" "tests/cuda/programs/$1.cu") || return 1
	right "$1" "$build/gpusim" run -- "$work/$1"
}

# What the runtime and the driver answer to about 1,400 questions and mistakes, beside what they answer on an H200. known.txt has the lines that differ.
answers_of_an_h200() {
	"$nvcc" -w -std=c++17 -arch=sm_90 -o answers "$root"/tests/cuda/answers/*.cu || return 1
	(ulimit -c 0 && GPUSIM_GPU=h200 GPUSIM_REPORT=none POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable timeout 300 "$build/gpusim" run -- ./answers) >ours 2>err
	diff "$root/tests/cuda/answers/h200.txt" ours | grep '^[<>]' >differ
	diff "$root/tests/cuda/answers/known.txt" differ
}

# A toolkit's folders as Numba looks for them: distributions and versions have them in different places.
toolkit_for_numba() { # FOLDER
	local nvvm device runtime
	nvvm=$(ls -d "${nvcc%/bin/nvcc}"/{nvvm/lib64,lib,lib64}/libnvvm.so 2>/dev/null | head -1)
	device=$(ls -d "${nvcc%/bin/nvcc}"/nvvm/libdevice 2>/dev/null)
	runtime=$(ls -d "${nvcc%/bin/nvcc}"/{lib64,lib}/libcudart.so 2>/dev/null | head -1)
	[ -n "$nvcc" ] && [ -n "$nvvm" ] && [ -n "$device" ] && [ -n "$runtime" ] || return 1
	mkdir -p "$1/nvvm/lib64" "$1/lib64" && ln -sf "$nvvm" "$1/nvvm/lib64/" && ln -sfn "$device" "$1/nvvm/libdevice" && ln -sf "$runtime" "$1/lib64/"
}
runs_numba() { GPUSIM_GPU=h200 CUDA_HOME=$PWD/toolkit right numba "$build/gpusim" run -- /usr/bin/python3 "$root/tests/cuda/numba_programs.py"; }
numba() {
	if /usr/bin/python3 -c 'import numba.cuda' 2>err && toolkit_for_numba "$PWD/toolkit"; then
		check "a Python program by Numba" runs_numba
	else
		skipped=$((skipped + 1))
		echo "SKIP a Python program by Numba: python3-numba or a CUDA toolkit is missing"
	fi
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

# A kernel that stores where there is no memory ends with an error, and a line names it. The driver has built it in the process, and its compiler has
# set handlers.
says_which_kernel_stored() {
	rm -rf one && mkdir one one/pocl one/cache
	POCL_CACHE_DIR=$work/one/pocl GPUSIM_CACHE_DIR=$work/one/cache GPUSIM_REPORT=none preloaded "$build/tests/cuda/programs/traps" far >out 2>err &&
		grep -q '^PASS' out && grep -q '^gpusim: error: kernel trap_at accessed memory where there is none, at 0x[0-9a-f]*$' err || { cat out err && return 1; }
}

programs() {
	check "launches of kernels that were lifted by hand" launches_by_hand
	check "a program says that there is no CUDA runtime" says_that_there_is_no_runtime
	for program in $(cd "$root/tests/cuda/programs" && ls ptx/*.ptx | sed 's/.*\///; s/\.ptx$//'); do
		check "$program" by_preload "$program"
	done
	check "early_exit by gpusim run" by_command early_exit
	check "a kernel that stores far away ends with an error and a line" says_which_kernel_stored
}

# What nvcc writes into a program around its kernels is the same for all of them. These need it most: a cooperative launch, clusters, names of C++,
# variables and textures that are registered.
few_by_nvcc="cooperative clusters templates variables textures"
with_nvcc() { # PROGRAM...
	if [ -z "$nvcc" ]; then
		skipped=$((skipped + 1))
		echo "SKIP programs by nvcc: there is no nvcc"
		return
	fi
	for program; do
		check "$program by nvcc" by_nvcc "$program"
	done
	check "lines of a source by nvcc -lineinfo" shows_lines
	check "answers of an H200" answers_of_an_h200
}

many=20000
if [ $# = 0 ]; then
	many=4000 # make validate has the others
	# quicker, and they test what kernels compute and access; make validate lets the driver optimise
	POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable programs
	POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable memory_below_l1
	launches_in_reports
	suite
	with_nvcc $few_by_nvcc
fi
for name; do
	case $name in
	suite) suite ;;
	nvcc) with_nvcc $(cd "$root/tests/cuda/programs" && ls *.cu | sed 's/\.cu$//') ;;
	lines) check "lines of a source by nvcc -lineinfo" shows_lines ;;
	answers) check "answers of an H200" answers_of_an_h200 ;;
	numba) numba ;;
	programs) programs ;;
	hierarchy) memory_below_l1 ;;
	reports) launches_in_reports ;;
	nvcc:*) check "${name#nvcc:} by nvcc" by_nvcc "${name#nvcc:}" ;;
	*) check "$name" by_preload "$name" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
