#!/usr/bin/env bash
# CUDA programs on a real GPU (GPUSIM_CUDA_HOST=gpu), with a driver of ours in place of NVIDIA's: driver.c says how long its kernels take.
#   tests/cuda/host/run.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets GPUSIM_CACHE_DIR (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-cuda-host.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$root/tests/check.sh"
here=$build/tests/cuda/host
export LD_LIBRARY_PATH=$here

# with_us WAY COMMAND...: the program's output is `out`, what the driver saw `launched`, the report report.json
with_us() {
	local way=$1
	shift
	rm -f launched report.json
	GPUSIM_CUDA_HOST=gpu GPUSIM_REPORT=json,text GPUSIM_OUTPUT=report FAKE_DRIVER_LOG=launched "$@" "$here/program" "$way" >out 2>err
}
without_us() { rm -f launched && FAKE_DRIVER_LOG=launched "$here/program" "$1" >plain && mv launched plain-launched; }

changes_nothing() {
	without_us "$1" && with_us "$@" && diff plain out && diff plain-launched launched && [ "$(wc -l <launched)" = 11 ] && grep -q '^sum: 4000$' out
}

# Of spin, 10 blocks: 10, 20 and 30 us, and 10 again after the graph; 20 blocks: 4 us. What fails or is only recorded is no launch.
measured='[["_Z4spinm",[640,2,1],[64,2,1],256,4,4,70000,10000,30000],["_Z4spinm",[1280,2,1],[64,2,1],256,1,1,4000,4000,4000],["(graph)",[0,0,0],[0,0,0],0,1,1,7000,7000,7000],["step",[1024,1,1],[128,1,1],0,4,4,20000,5000,5000]]'
measures() {
	with_us "$@" || return 1
	jq -c '[.measured[] | [.kernel, .global, .local, .local_bytes, .launches, .measured, .total_ns, .least_ns, .most_ns]]' report.json >got
	[ "$(cat got)" = "$measured" ] || { cat got && return 1; }
	jq -e '([.not_modelled[] | [.kernel, .launches, .measured, .measured_ns]] == [["_Z4spinm", 5, 5, 74000], ["(graph)", 1, 1, 7000], ["_Z4spinm", 1, null, null]])' report.json &&
		grep -q 'not modelled: 5 launches of _Z4spinm (measured: mean 14.8 us)' err
}
by_schema() { with_us opened env LD_PRELOAD="$build/libgpusim.so" && python3 - "$root/docs/report.schema.json" report.json <<-'PYTHON'
	import json, jsonschema, sys
	jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
PYTHON
}

# Threads of step go through 5 instructions, then 3, then 6 in each of three rounds, and 1. Of these, branches that a thread does not take count for its
# warp alone: 25 of 27. The fourth launch is not counted, and is estimated from the others.
counts() {
	with_us "$@" || return 1
	jq -c '[.launches[] | [.kernel, .measured_ns, (.estimates[0] | .thread_instructions, .warp_instructions, (.flags | index("not_counted") != null))]]' report.json >got
	cat got
	[ "$(cat got)" = '[["step",5000,25600,864,false],["step",5000,25600,864,false],["step",5000,25600,864,false],["step",5000,25600,864,true]]' ]
}
# Each thread of the 32 warps loads and stores its word in three rounds. A warp's words are in 4 sectors, and the first round brings them into the cache.
traces() {
	with_us "$@" || return 1
	jq -c '.launches[0].estimates[0] | [.flags, .memory.requests, .memory.load_sectors, .memory.store_sectors, (.memory.l1_hit * 3 | round)]' report.json >got
	cat got
	[ "$(cat got)" = '[[],192,384,384,2]' ]
}
# Of 8 groups 2 are traced, by a twin of their own that counts nothing. Another counts all.
traces_some() {
	with_us opened env LD_PRELOAD="$build/libgpusim.so" GPUSIM_TRACE_ITEMS=256 GPUSIM_LOG=debug && grep -q 'step: 2 groups traced' err &&
		[ "$(grep -c 'a twin of step that traces' err)" = 1 ] && [ "$(grep -c 'a twin of step that counts' err)" = 3 ] &&
		jq -e '.launches[0].estimates[0] | [.thread_instructions, .warp_instructions, .memory.requests, .memory.load_sectors] == [25600, 864, 192, 384]' report.json
}
# What the PTX does that traces: the CPU executes it.
runs_traces() {
	FAKE_DRIVER_IMAGE=image with_us opened env LD_PRELOAD="$build/libgpusim.so" || return 1
	sed -i 's/\bstep\b/walk/' image
	env LD_LIBRARY_PATH="$build" POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable GPUSIM_REPORT=none LD_PRELOAD="$build/libgpusim.so" "$here/columns" image
}
# Nothing is counted, and nothing else changes, where there is no room for copies.
counts_nothing_without_room() {
	without_us opened && GPUSIM_SHADOW_MEMORY=1K with_us opened env LD_PRELOAD="$build/libgpusim.so" && diff plain out && diff plain-launched launched &&
		jq -e '[.not_modelled[] | select(.kernel == "step") | .reason] | any(startswith("there is no room to copy"))' report.json
}

# not_counted WAY REASON: nor where memory cannot be copied safely, for one of the reasons. Results are the same.
not_counted() {
	without_us "$1" && with_us "$1" env LD_PRELOAD="$build/libgpusim.so" && diff plain out && diff plain-launched launched && grep -q '^sum: 4000$' out &&
		jq -e --arg why "$2" '[.not_modelled[] | select(.kernel == "step") | .reason] | any(startswith($why))' report.json
}
# Another thread waits for the twin that runs, and there are no twins afterwards.
threads_see_no_twin() {
	with_us threads env LD_PRELOAD="$build/libgpusim.so" GPUSIM_LOG=info && cat out && grep -q '^read: 0, a twin ran: 1, spoilt: 0$' out &&
		grep -q '^sum: 4000$' out && grep -q 'several threads of the program use the GPU' err
}

# The program has to wait for a twin, whose memory it is to get back: it is told to stop, and the kernel has no other.
stops_twins() {
	without_us opened && FAKE_DRIVER_ENDLESS=1 with_us opened env LD_PRELOAD="$build/libgpusim.so" GPUSIM_LOG=info && diff plain out && grep -q 'step is not counted: its twin took too long' err &&
		[ "$(grep -c 'not counted: its twin took too long' err)" = 1 ] && grep -q '^sum: 4000$' out
}

# Without the option the driver is not called: the kernels of this program are no PTX.
is_not_the_default() {
	rm -f launched
	GPUSIM_REPORT=none FAKE_DRIVER_LOG=launched LD_PRELOAD=$build/libgpusim.so "$here/program" linked >out 2>&1
	cat out
	[ ! -e launched ]
}
# dlsym of the C library looks at its caller.
finds_next() { LD_PRELOAD="$build/libgpusim.so" "$here/lookup" >out && "$here/lookup" | diff out - && grep -q 'next: another' out; }

for way in opened linked; do
	check "$way: the program and the driver see the same with and without us" changes_nothing $way env LD_PRELOAD="$build/libgpusim.so"
	check "$way: times are those of the kernels" measures $way env LD_PRELOAD="$build/libgpusim.so"
	check "$way: what a kernel executes is counted" counts $way env LD_PRELOAD="$build/libgpusim.so"
	check "$way: what it accesses is traced" traces $way env LD_PRELOAD="$build/libgpusim.so"
done
check "of a larger launch some groups are traced" traces_some
check "windows and counts are those of the kernel" runs_traces
check "twins that take too many registers are built with fewer" traces opened env LD_PRELOAD="$build/libgpusim.so" FAKE_DRIVER_REGISTERS=1
check "without room for copies nothing is counted" counts_nothing_without_room
check "with pinned memory nothing is counted" not_counted pinned "the program has pinned or managed memory"
check "with memory of another process nothing is counted" not_counted shared "the program has memory that cannot be copied"
check "with memory of a context that has ended nothing is counted" not_counted ended "the program has memory that cannot be copied"
check "with memory of another GPU nothing is counted" not_counted gpus "the program has memory of another GPU"
check "another thread never sees what a twin writes" threads_see_no_twin
check "a twin that does not end is stopped" stops_twins
check "gpusim run leaves NVIDIA's libraries alone" measures opened "$build/gpusim" run --
check "the report is one of the schema" by_schema
check "programs run on the CPU by default" is_not_the_default
check "dlsym finds what it finds without us" finds_next
echo "$passed passed, $failed failed"
[ $failed = 0 ]
