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

# with_us WAY COMMAND...: the program's output is `out`, what the driver saw `log`, the report report.json
with_us() {
	local way=$1
	shift
	rm -f log report.json
	GPUSIM_CUDA_HOST=gpu GPUSIM_REPORT=json,text GPUSIM_OUTPUT=report FAKE_DRIVER_LOG=log "$@" "$here/program" "$way" >out 2>err
}
without_us() { rm -f log && FAKE_DRIVER_LOG=log "$here/program" "$1" >plain && mv log plain-log; }

changes_nothing() {
	without_us "$1" && with_us "$@" && diff plain out && diff plain-log log && [ "$(wc -l <log)" = 7 ]
}

# Of spin, 10 blocks: 10, 20 and 30 us, and 10 again after the graph; 20 blocks: 4 us. What fails or is only recorded is no launch.
measured='[["_Z4spinm",[640,2,1],[64,2,1],256,4,4,70000,10000,30000],["_Z4spinm",[1280,2,1],[64,2,1],256,1,1,4000,4000,4000],["(graph)",[0,0,0],[0,0,0],0,1,1,7000,7000,7000]]'
measures() {
	with_us "$@" || return 1
	jq -c '[.measured[] | [.kernel, .global, .local, .local_bytes, .launches, .measured, .total_ns, .least_ns, .most_ns]]' report.json >got
	[ "$(cat got)" = "$measured" ] || { cat got && return 1; }
	jq -e '.launches == [] and ([.not_modelled[] | [.kernel, .launches, .measured, .measured_ns]] == [["_Z4spinm", 5, 5, 74000], ["(graph)", 1, 1, 7000]])' report.json &&
		grep -q 'not modelled: 5 launches of _Z4spinm (measured: mean 14.8 us)' err
}
by_schema() { with_us opened env LD_PRELOAD="$build/libgpusim.so" && python3 - "$root/docs/report.schema.json" report.json <<-'PYTHON'
	import json, jsonschema, sys
	jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
PYTHON
}

# Without the option the driver is not called: the kernels of this program are no PTX.
is_not_the_default() {
	rm -f log
	GPUSIM_REPORT=none FAKE_DRIVER_LOG=log LD_PRELOAD=$build/libgpusim.so "$here/program" linked >out 2>&1
	cat out
	[ ! -e log ]
}
# dlsym of the C library looks at its caller.
finds_next() { LD_PRELOAD="$build/libgpusim.so" "$here/lookup" >out && "$here/lookup" | diff out - && grep -q 'next: another' out; }

for way in opened linked; do
	check "$way: the program and the driver see the same with and without us" changes_nothing $way env LD_PRELOAD="$build/libgpusim.so"
	check "$way: times are those of the kernels" measures $way env LD_PRELOAD="$build/libgpusim.so"
done
check "gpusim run leaves NVIDIA's libraries alone" measures opened "$build/gpusim" run --
check "the report is one of the schema" by_schema
check "programs run on the CPU by default" is_not_the_default
check "dlsym finds what it finds without us" finds_next
echo "$passed passed, $failed failed"
[ $failed = 0 ]
