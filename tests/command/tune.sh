#!/usr/bin/env bash
# gpusim tune on simulated GPUs: it must measure the values that the simulation has, within 10%.
#   tests/command/tune.sh BUILD_DIR [quick]
# Prints for each key that it can measure: wanted, got, verdict. The simulated GPU differs from the base that the tuner is
# given. So a value that was only copied from the base does not pass as measured. quick: caches and copies of one GPU, and
# refused calls. Ends with "N passed, N failed". The caller sets TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-tune.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}
. "$here/../check.sh"

# tuned GPU SET ARGUMENTS...: runs the tuner on a GPU with some values set that it does not know. The result is in $GPU.gpu. Loops that
# find caches full are at places that only the simulation of every iteration knows.
tuned() {
	local gpu=$1 set=$2
	shift 2
	GPUSIM_REPORT=none "$gpusim" run --gpu "$gpu" --set "$set" --profiling simulated --identity target --memory hierarchy --trace all --twin direct \
		--sampling off --exact 1 -- "$gpusim" tune --base "$gpu" --log "$gpu.log" -o "$gpu.gpu" "$@"
}

# compared GPU SET KEY...: the keys must have been measured, with the simulation's values. Other measured keys are compared,
# too.
compared() {
	local gpu=$1 set=$2
	shift 2
	"$gpusim" show "$gpu" --set "$set" >wanted || return 1
	python3 - wanted "$gpu.gpu" "$@" <<'PYTHON'
import re, sys

def values(path):
    found = {}
    for line in open(path):
        match = re.match(r'(\w+)\s*= (\S+)\s+# (.*)', line)
        if match:
            found[match[1]] = match[2], match[3]
    return found

# An empty launch has cold caches of its own to wait for.
slack = {'launch_overhead_ns': 1000}
wanted, got, bad = values(sys.argv[1]), values(sys.argv[2]), 0
measured = [k for k, (_, text) in got.items() if 'measured 2' in text]
print('%-24s %14s %14s  %s' % ('key', 'wanted', 'got', 'verdict'))
for key in measured + [k for k in sys.argv[3:] if k not in measured]:
    want, have = float(wanted[key][0]), float(got[key][0])
    good = key in measured and abs(have - want) <= max(0.1 * want, slack.get(key, 0))
    bad += not good
    note = '' if key in measured else ': ' + got[key][1].split('(not measured: ')[-1].rstrip(')')
    print('%-24s %14g %14g  %s%s' % (key, want, have, 'ok' if good else 'WRONG', note))
print('%d keys measured, %d wrong or missing' % (len(measured), bad))
sys.exit(bad > 0 or not measured)
PYTHON
}

# all_of NAME GPU SET KEY...: does this as two checks, and shows the table.
all_of() {
	local name=$1 gpu=$2 set=$3
	shift 3
	check "$name: it ends well" tuned "$gpu" "$set" ${only:+--only "$only"}
	compared "$gpu" "$set" "$@" >table
	local code=$?
	cat table
	check "$name: the values come back" test $code = 0
	check "$name: it is a description" "$gpusim" show "./$gpu.gpu"
}

# refused EXPECTED CODE COMMAND...: the exit code is CODE, and one line says why.
refused() {
	local expected=$1 code=$2
	shift 2
	"$@" >out 2>err
	local got=$?
	cat err
	[ $got = "$code" ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -q "$expected" err
}

classes="logic int int_mul int_mad int_minmax fp32 fp32_fma fp32_minmax sfu move fp64 fp64_fma"
latencies() { for c in $classes "$@"; do echo "${c}_latency"; done; }
memory="shared_latency shared_banks shared_wide_splits l1_access_bytes const_latency l1_latency l1_bytes l2_latency l2_bytes dram_latency l1_sector_bytes
l1_line_bytes dram_gbps atomic_latency l2_atomic_cycles max_blocks_per_sm max_warps_per_sm shared_bytes_per_sm link_gbps link_latency_ns sm_count
max_threads_per_block clock_mhz launch_overhead_ns schedulers_per_sm warp_size"

if [ "${2:-}" = quick ]; then
	only=device,launch,l1,l2,dram,link
	all_of "a GTX 480 with other caches" gtx480 l1_latency=50,l1_bytes=8Ki,l2_latency=230,l2_bytes=384Ki,dram_latency=390,link_gbps=5 \
		l1_latency l1_bytes l2_latency l2_bytes dram_latency link_gbps link_latency_ns launch_overhead_ns
	check "no device is told" refused 'there is no OpenCL device' 1 env OCL_ICD_VENDORS="$work" "$gpusim" tune --base gtx480
	check "a device that is not there is told" refused 'there is no device 99' 1 "$gpusim" tune --base gtx480 --device 99
	check "no base is told" refused 'name a description to start from' 2 "$gpusim" tune
	check "an unknown base is told" refused "did you mean 'gtx480'" 1 "$gpusim" tune --base gtx48
	check "an unknown benchmark is told" refused "did you mean 'compute'" 2 "$gpusim" tune --base gtx480 --only computer
	check "an unknown option is told" refused "unexpected '--fast'" 2 "$gpusim" tune --base gtx480 --fast
else
	only=
	all_of gtx480 gtx480 clock_mhz=700 $memory $(latencies int_div int_rem fp32_div conv fp64_minmax fp64_div) int_mul_initiation \
		int_minmax_initiation int_div_initiation fp32_minmax_initiation fp32_div_initiation sfu_initiation fp64_initiation \
		fp64_minmax_initiation fp64_div_initiation barrier_initiation l1_ways
	all_of v100 v100 clock_mhz=1530 $memory $(latencies) $(for c in $classes conv; do echo "${c}_initiation"; done) \
		dram_access_bytes icnt_sm_flits l2_slice_bytes
	# Values that the base does not have, in every part of the machine.
	all_of "another GTX 480" gtx480 \
		fp32_latency=9,fp64_latency=14,sfu_latency=20,sfu_initiation=16,int_mad_latency=8,fp32_div_latency=60,shared_latency=50,l1_latency=60,l1_bytes=32Ki,l2_latency=260,l2_bytes=384Ki,dram_latency=420,dram_gbps=120,max_blocks_per_sm=6,max_warps_per_sm=40,shared_bytes_per_sm=64Ki,link_gbps=4,link_latency_ns=7000,barrier_latency=20,atomic_latency=200,l2_atomic_cycles=3,shared_wide_splits=1 \
		fp32_latency fp64_latency sfu_latency sfu_initiation int_mad_latency fp32_div_latency shared_latency l1_latency l1_bytes l2_latency \
		l2_bytes dram_latency dram_gbps max_blocks_per_sm max_warps_per_sm shared_bytes_per_sm link_gbps link_latency_ns barrier_latency atomic_latency \
		l2_atomic_cycles shared_wide_splits
	# Sizes that depend on one another, and the memory that a driver takes for each group.
	only=barrier,atomics,l2,l1,lines,limits
	all_of "another V100" v100 \
		l1_bytes=112Ki,l1_ways=224,shared_reserved_per_block=1280,barrier_latency=14,atomic_latency=300,l2_atomic_cycles=2 \
		l1_bytes l1_ways shared_reserved_per_block shared_bytes_per_sm barrier_latency atomic_latency l2_atomic_cycles
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
