#!/usr/bin/env bash
# Tests that estimates do not depend on threads or on the cache, and that modelling keeps to its budget: one check per promise.
#   tests/command/estimates.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-estimates.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C GPUSIM_GPU=gtx480,h200 GPUSIM_CACHE_DIR=$work/cache
. "$here/../check.sh"

# estimates FILE.json: every number that the models made, and nothing that depends on the run.
estimates() { sed -n '/"launches":\[/,/^"transfers"/p' "$1" | sed 's/"measured_ns":[^,]*,//g; s/"modelled_ns":[^,]*,//g'; }
# cost FILE.json FIELD
cost() { sed -n 's/.*"cost":{.*"'"$2"'":\([0-9]*\).*/\1/p' "$1"; }
# modelled NAME COMMAND...: runs it, and keeps its estimates in NAME.
modelled() {
	local name=$1
	shift
	GPUSIM_REPORT=json GPUSIM_OUTPUT=$name "$@" >"$name.out" 2>&1 && estimates "$name.json" >"$name" && [ -s "$name" ]
}

# Shrinking launches of two kernels, with traces.
recorded() { "$gpusim" record -o p -- "$build/kernels/launches" -k "$here/../../kernels" lu 48 >out && grep -q '94 launches' out; }

jobs_of_a_replay() {
	local n
	for n in 1 2 4; do
		GPUSIM_CACHE_SIZE=0 modelled "replay$n" "$gpusim" replay p --jobs $n || return 1
	done
	cmp replay1 replay2 && cmp replay1 replay4
}

# Which groups are traced depends on what is known by then, so there are no traces here.
jobs_of_a_program() {
	local n
	for n in 1 2 4; do
		GPUSIM_CACHE_SIZE=0 GPUSIM_MEMORY=perfect GPUSIM_JOBS=$n modelled "run$n" "$gpusim" run -- "$build/kernels/launches" -k \
			"$here/../../kernels" lu 48 || return 1
	done
	cmp run1 run2 && cmp run1 run4
}

# The second time nothing is simulated, and everything is the same as without a cache.
second_run_simulates_nothing() {
	modelled first "$gpusim" replay p && modelled second "$gpusim" replay p && cmp first second && cmp first replay1 &&
		[ "$(cost first.json simulated_launches)" -gt 0 ] && [ "$(cost first.json cached_launches)" = 0 ] &&
		[ "$(cost second.json simulated_launches)" = 0 ] &&
		[ "$(cost second.json cached_launches)" = "$(cost first.json simulated_launches)" ]
}

# A description or a model that differs has estimates of its own.
other_options_simulate() {
	modelled other "$gpusim" replay p --set l1_latency=77 && [ "$(cost other.json cached_launches)" = 0 ] &&
		modelled other "$gpusim" replay p --exact 1 && [ "$(cost other.json cached_launches)" = 0 ]
}

# Damaged files count as missing.
damaged_files() {
	local f
	for f in "$GPUSIM_CACHE_DIR"/estimates/*; do
		printf 'x' | dd of="$f" bs=1 seek=400 conv=notrunc 2>dd.log
	done
	modelled damaged "$gpusim" replay p && cmp first damaged && [ "$(cost damaged.json cached_launches)" = 0 ]
}

cache_is_cleared() {
	ls "$GPUSIM_CACHE_DIR"/estimates/* >files && [ -s files ] && "$gpusim" cache clear | grep -q ': 0 files, 0 bytes' &&
		modelled cleared "$gpusim" replay p && cmp first cleared
}

# Every launch is simulated in full, which takes much longer than a second. Other programs may have the processors, so this allows for more.
budget() {
	local begin=$SECONDS
	GPUSIM_EXACT=1 GPUSIM_SAMPLING=off GPUSIM_CACHE_SIZE=0 GPUSIM_BUDGET=1 GPUSIM_REPORT=text,json GPUSIM_OUTPUT=budget "$gpusim" run -- \
		"$build/kernels/launches" -k "$here/../../kernels" lu 256 >out 2>text
	cat text
	[ $((SECONDS - begin)) -lt 20 ] && grep -q '510 launches' out && grep -q 'over budget: ' text && grep -q over_budget budget.json &&
		[ "$(grep -c '"seq":' budget.json)" = 510 ]
}

# gated WAY: three launches of which a user event may hold up two (tests/guest/gated.c). There is memory for two exact traces.
gated() {
	GPUSIM_EXACT=1 GPUSIM_TRACE=all GPUSIM_TRACE_MEMORY=${2:-64M} GPUSIM_CACHE_SIZE=0 GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=gated \
		"$gpusim" run -- "$build/tests/guest/gated" "$1" >out 2>text
	cat out text
	grep -q right out && [ "$(grep -c '"seq":' gated.json)" = 3 ]
}
# Launches of it, by number, that are not what GPUSIM_EXACT=1 asks for.
not_exact() { sed -n 's/.*"seq":\([0-9]*\),.*"not_exact".*/\1/p' gated.json | tr '\n' ' '; }

# With room for all of them, and where the third has to wait until the second thread lets the first two go.
exact_traces() { gated free 256M && [ "$(not_exact)" = "" ] && ! grep -q not_traced gated.json; }
exact_waits() { gated released && [ "$(not_exact)" = "" ] && ! grep -q not_traced gated.json; }

# Nobody but the thread that would wait can let them go. The launch is not held up for long, and takes the trace of another one.
exact_gives_up() {
	local begin=$SECONDS
	gated held && [ "$(not_exact)" = "2 " ] && [ $((SECONDS - begin)) -lt 60 ]
}

# No room for a whole trace, ever.
exact_cut() { gated free 64K && [ "$(not_exact)" != "" ]; }

# Kernels with one fault each: 32 lanes at one bank of local memory, atomics of all work-items on four words, nothing but waiting for
# the multiplication before.
write_faults() {
	cat >faults.cl <<'END'
__kernel void banks(__global float *out, int n) {
	__local float l[4096];
	int t = get_local_id(0);
	for (int i = 0; i < 16; i++)
		l[t * 16 + i] = (float)(t ^ i);
	barrier(CLK_LOCAL_MEM_FENCE);
	float s = 0;
	for (int i = 0; i < n; i++)
		s += l[(t * 32 + i) & 4095];
	out[get_global_id(0)] = s;
}
__kernel void counters(__global int *out, int n) {
	for (int i = 0; i < n; i++)
		atomic_add(&out[i & 3], 1);
}
__kernel void chain(__global float *out, int n) {
	float x = out[get_global_id(0)];
	for (int i = 0; i < n; i++)
		x = x * 0.5f + 1.0f;
	out[get_global_id(0)] = x;
}
END
	cat >faults.txt <<'END'
banks-s faults.cl banks 67584 256 f:67584:zero I:256
counters-s faults.cl counters 67584 256 i:64:fill:0 I:8
chain-s faults.cl chain 4224 32 f:4224:zero I:40000
END
}

# limiter GPU KERNEL
limiter() { sed -n 's/.*"kernel":"'"$2"'".*"target":"'"$1"'".*"limiter":"\([a-z0-9_]*\)".*/\1/p' faults.json | head -1; }

limiters() {
	write_faults
	GPUSIM_GPU=h200 modelled faults "$gpusim" run -- "$build/kernels/suite" -k "$work" -r 1 faults.txt || return 1
	echo "$(limiter h200 banks) $(limiter h200 counters) $(limiter h200 chain)"
	[ "$(limiter h200 banks)" = shared ] && [ "$(limiter h200 counters)" = atomics ] && [ "$(limiter h200 chain)" = dependency ]
}

# Twelve kernels at once, with 4 MB of counters each: some have them, the others few.
all_kernels_are_counted() {
	GPUSIM_COUNTER_MEMORY=32M GPUSIM_MEMORY=perfect GPUSIM_GPU=h200 modelled crowded "$gpusim" run -- "$build/tests/guest/crowded" || return 1
	[ "$(jq -c '[(.launches | length), (.not_modelled | length), ([.launches[].estimates[0].flags | index("items_not_counted")] | map(select(. != null)) | length > 2)]' crowded.json)" = \
		'[12,0,true]' ]
}

# On a description with an instruction cache, the first launch of a kernel fetches its code from DRAM, the next ones have it.
code_stays() {
	GPUSIM_GPU=gtx480 modelled again "$gpusim" run -- "$build/kernels/suite" -k "$here/../../kernels" -r 3 "$here/../../kernels/cases.txt" scan-s || return 1
	set -- $(sed -n 's/.*"seq":.*"cycles":\([0-9.]*\),.*/\1/p' again.json)
	echo "cycles $*"
	[ $# -ge 3 ] && awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a > b + 200 && b == c) }'
}

# The first time step reads a megabyte that was just copied, from DRAM; those after it find the memory of the step before in L2. Without that, all
# launches find their memory there.
memory_stays() {
	local way
	for way in l2_kept=1 l2_kept=0; do
		GPUSIM_GPU=h200 GPUSIM_SET=$way modelled "$way" "$gpusim" run -- "$build/kernels/launches" -k "$here/../../kernels" heat 512 4 || return 1
	done
	set -- $(sed -n 's/.*"seq":.*"time_ns":\([0-9.]*\),.*/\1/p' l2_kept=1.json l2_kept=0.json)
	echo "ns $*"
	# A launch that follows itself does not load what the one before has stored, which lies in one half of L2 alone: the way between the halves,
	# 180 cycles, is 1.3% of it.
	[ $# = 8 ] && awk -v a="$1" -v b="$2" -v c="$4" -v e="$5" -v f="$6" 'BEGIN { exit !(a > b * 1.02 && b == c && e == f && f <= b && f > b * 0.98) }'
}

# Where a border is wrapped around, lanes of a warp agree. Counters do not tell that, and a trace does, with perfect memory, too.
traced_paths() { # MEMORY TRACE
	GPUSIM_GPU=gtx480 GPUSIM_MEMORY=$1 GPUSIM_TRACE=$2 GPUSIM_TRACE_ITEMS=65536 GPUSIM_REPORT=json GPUSIM_OUTPUT=wraps "$gpusim" run -- "$build/kernels/suite" \
		-k "$here/../../kernels/classes" -r 1 "$here/../../kernels/classes/development.txt" boundary_wrap-s >/dev/null 2>&1
	sed -n 's/.*"warp_instructions":\([0-9]*\).*/\1/p' wraps.json | head -1
}
perfect_memory_takes_traces() {
	set -- "$(traced_paths hierarchy all)" "$(traced_paths perfect all)" "$(traced_paths perfect never)"
	echo "warp instructions: $*"
	[ -n "$1" ] && [ "$1" = "$2" ] && [ "$2" -lt "$3" ]
}

check 'with GPUSIM_TRACE=all, perfect memory takes paths of warps from traces' perfect_memory_takes_traces
check 'the limiter is the fault of a kernel' limiters
check 'no kernel goes without counters where memory for them is short' all_kernels_are_counted
check 'instructions stay in their cache from launch to launch' code_stays
check 'launches find in L2 what those before them used' memory_stays
check 'GPUSIM_EXACT=1 traces every launch as a whole' exact_traces
check 'GPUSIM_EXACT=1 waits for memory of traces' exact_waits
check 'and not where only the program could give it back' exact_gives_up
check 'a launch whose trace is cut is not exact' exact_cut
check 'a program with shrinking launches is recorded' recorded
check 'one, two and four threads give the same estimates of a profile' jobs_of_a_replay
check 'and of a program' jobs_of_a_program
check 'a second run simulates nothing, and its estimates are the same' second_run_simulates_nothing
check 'other options have estimates of their own' other_options_simulate
check 'damaged files in the cache count as missing' damaged_files
check 'gpusim cache clear removes estimates' cache_is_cleared
check 'GPUSIM_BUDGET bounds the time of modelling' budget
echo "$passed passed, $failed failed"
[ $failed = 0 ]
