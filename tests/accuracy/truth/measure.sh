#!/usr/bin/env bash
# For a machine with an NVIDIA GPU: how long cases take there, with the SMs' clock beside every figure, and what hardware counts.
#   tests/accuracy/truth/measure.sh FOLDER [SECONDS]
# Takes at most SECONDS (default: 345). Needs gcc, python3, headers and library of OpenCL; nvcc for the microbenchmarks, ncu for counters.
# Without an NVIDIA GPU, TRUTH_QUICK=1 tries everything that needs none; TRUTH_ONLY=PATTERN takes only these cases. FOLDER gets:
#   opencl.csv    times by NVIDIA's OpenCL (opencl.c): first, warm, in a row, by the GPU's timer, cold; clocks before and after
#   chosen.csv    which local sizes the driver chooses where a launch has none
#   ncu.csv       the same code by Nsight Compute: first and later launches in a row, in ns and cycles of SMs
#   counters.csv  hardware counters of warm and of cold launches
#   micro.csv     microbenchmarks (micro_*.cu)
#   clocks.csv    clocks, power and why they were limited, every 100 ms
#   log.txt       machine, versions, what went wrong, how long each step took
#   raw.tar.gz    PTX that NVIDIA's OpenCL made, and what ncu printed
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
end=$((SECONDS + ${2:-345}))
root=$(cd "$(dirname "$0")/../../.." && pwd)
here=tests/accuracy/truth
work=$(mktemp -d)
raw=$work/raw
quick=${TRUTH_QUICK:+-q}
timing=gpu__time_duration.sum,sm__cycles_elapsed.max,launch__registers_per_thread
watcher=
trap '[ -z "$watcher" ] || kill "$watcher"; rm -rf "$work"' EXIT
PATH=$PATH:/usr/local/cuda/bin
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:/usr/local/cuda/targets/x86_64-linux/lib
cd "$root" || exit 1
mkdir -p "$raw/ptx"
: >"$out/opencl.csv"
exec 3>&1 4>"$out/log.txt" >&4 2>&4

# To the log and to the caller, wherever a command's own output goes.
say() {
	echo "$SECONDS s: $*" >&4
	echo "$SECONDS s: $*" >&3
}

# within SECONDS COMMAND...: no longer than that, nor than this script may take
within() {
	local left=$((end - SECONDS)) most=$1
	shift
	[ $left -gt 5 ] || { say "no time left for: $*" && return 1; }
	timeout -k 5 $((left < most ? left : most)) "$@"
	local code=$?
	[ $code = 0 ] || say "exit code $code: $*"
	return $code
}

describe_machine() {
	date -u +"%Y-%m-%d %H:%M:%S UTC"
	nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,clocks.applications.graphics,persistence_mode,ecc.mode.current --format=csv
	nvcc --version | tail -2
	ncu --version | tail -2
}

watch_clocks() {
	command -v nvidia-smi || return
	nvidia-smi --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active --format=csv,nounits -lms 100 >"$out/clocks.csv" 2>&1 &
	watcher=$!
}

# The library finds drivers by files that a bare machine may not have.
find_opencl() {
	[ -z "$quick" ] && ! grep -qs nvidia /etc/OpenCL/vendors/*.icd || return 0
	mkdir "$work/vendors"
	echo libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
	export OCL_ICD_VENDORS=$work/vendors OPENCL_VENDOR_PATH=$work/vendors
}

build() {
	local cc="gcc -O2 -I. -Ibuild/include" jobs='' job
	$cc -o "$work/opencl" $here/opencl.c $here/device.c -ldl -lm && $cc -o "$work/driver" $here/driver.c -ldl -lm ||
		{ tail -20 "$out/log.txt" >&3 && exit 1; }
	command -v nvcc || return
	for micro in micro_sm micro_memory micro_control; do
		nvcc -std=c++17 -O3 -arch=sm_90 -I. -o "$work/$micro" $here/$micro.cu &
		jobs+=" $!"
	done
	for job in $jobs; do wait "$job"; done
}

micro() {
	echo "bench,what,a,b,c,value" >"$out/micro.csv"
	for micro in micro_memory micro_sm micro_control; do
		[ ! -x "$work/$micro" ] || within 60 "$work/$micro" $quick >>"$out/micro.csv"
	done
	say "$(wc -l <"$out/micro.csv") rows of microbenchmarks"
}

# opencl CASES KERNEL_FOLDER SECONDS [NAME...]
opencl() {
	within "$3" "$work/opencl" $quick -k "$2" -p "$raw/ptx" "$1" "${@:4}" >"$work/part"
	[ -s "$out/opencl.csv" ] || head -1 "$work/part" >"$out/opencl.csv"
	tail -n +2 "$work/part" >>"$out/opencl.csv"
	say "$(($(wc -l <"$work/part") - 1)) cases of $1 by OpenCL"
}

# Of these metrics, those that this ncu knows. The first lines were always there.
metrics() {
	local known
	cat >"$work/metrics" <<-'LIST'
		gpu__time_duration.sum
		sm__cycles_elapsed.max
		sm__cycles_active.avg
		smsp__inst_executed.sum
		smsp__thread_inst_executed.sum
		l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
		l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
		l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
		l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
		l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
		lts__t_sectors_op_read.sum
		lts__t_sectors_op_write.sum
		lts__t_sectors_op_read_lookup_hit.sum
		dram__bytes_read.sum
		dram__bytes_write.sum
		l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
		sm__warps_active.avg.pct_of_peak_sustained_active
		launch__registers_per_thread
	LIST
	cp "$work/metrics" "$work/more"
	cat >>"$work/more" <<-'LIST'
		l1tex__data_pipe_lsu_wavefronts.sum
		l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
		l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum
		l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum
		l1tex__m_xbar2l1tex_read_sectors.sum
		l1tex__m_l1tex2xbar_write_sectors.sum
		lts__t_sectors_op_atom.sum
		lts__t_sectors_op_red.sum
		lts__t_sectors_srcunit_tex.sum
		lts__t_sectors_srcunit_tex_lookup_hit.sum
		lts__t_sectors_srcnode_gpc.sum
		lts__t_sectors_srcunit_ltcfabric.sum
		smsp__inst_executed_pipe_lsu.sum
		smsp__inst_executed_pipe_alu.sum
		smsp__inst_executed_pipe_fma.sum
		smsp__inst_executed_pipe_xu.sum
		smsp__average_warp_latency_issue_stalled_long_scoreboard.ratio
		smsp__average_warp_latency_issue_stalled_lg_throttle.ratio
		smsp__average_warp_latency_issue_stalled_mio_throttle.ratio
		smsp__average_warp_latency_issue_stalled_short_scoreboard.ratio
		smsp__average_warp_latency_issue_stalled_barrier.ratio
		smsp__average_warp_latency_issue_stalled_no_instruction.ratio
		smsp__average_warp_latency_issue_stalled_math_pipe_throttle.ratio
		smsp__average_warp_latency_issue_stalled_drain.ratio
	LIST
	known=$(timeout 40 ncu --query-metrics 2>&1 | awk '{ print $1 }')
	if grep -qx smsp__inst_executed <<<"$known"; then
		while read -r metric; do
			grep -qx "${metric%%.*}" <<<"$known" || [[ $metric = launch__* ]] && echo "$metric" || echo "ncu does not know $metric" >&2
		done <"$work/more" | paste -sd,
	else
		echo "ncu did not tell what it knows" >&2
		paste -sd, <"$work/metrics"
	fi
}

# profile NAME METRICS CACHES PLAN SECONDS CASES: adds to raw/NAME.csv (ncu) and raw/NAME.launches (what was launched)
profile() {
	local name=$1
	within "$5" ncu --profile-from-start off --clock-control none --cache-control "$3" --print-units base --csv --page raw --metrics "$2" --log-file "$work/ncu" \
		"$work/driver" -p "$raw/ptx" -o "$out/opencl.csv" -w "$4" "$6" ${TRUTH_ONLY:-} >"$work/launched"
	# Where ncu was stopped, it has printed nothing, and the launches have no rows.
	if grep -q '^"ID"' "$work/ncu"; then
		cat "$work/ncu" >>"$raw/$name.csv"
		cat "$work/launched" >>"$raw/$name.launches"
	fi
	say "$(grep -c '^"[0-9]' "$work/ncu") launches of $6 profiled for $name"
	rm -f "$work/ncu"
}

profile_all() {
	command -v ncu || return
	local all classes=kernels/classes
	all=$(metrics)
	echo "$all" >"$raw/metrics"
	say "counters: $all"
	for set in nothing development test; do profile times $timing none PuuPPPP 90 $classes/$set.txt; done
	for set in development test; do profile warm "$all" none uuP 90 $classes/$set.txt; done
	for set in development test; do profile cold "$all" all P 90 $classes/$set.txt; done
}

# Cases with arguments in local memory are apart: should their addresses be wrong, no others are lost. The second launch of frontier
# finds nothing to do.
profile_suite() {
	command -v ncu || return
	for set in cases more-cases medium-cases; do
		grep -vE ' L:|^frontier' kernels/$set.txt >"$work/$set.txt"
		grep -E ' L:' kernels/$set.txt >"$work/$set-local.txt"
		for part in "$set" "$set-local"; do profile times $timing none PuuPPP 60 "$work/$part.txt"; done
	done
}

describe_machine
watch_clocks
find_opencl
build
say "built"
for set in nothing development test; do opencl kernels/classes/$set.txt kernels/classes 70 ${TRUTH_ONLY:-}; done
within 20 "$work/opencl" $quick -c >"$out/chosen.csv"
micro
profile_all
for set in cases more-cases medium-cases; do opencl kernels/$set.txt kernels 60 ${TRUTH_ONLY:-}; done
profile_suite
python3 $here/summarise.py "$raw" "$out"
tar -C "$raw" -czf "$out/raw.tar.gz" .
say "done: $(wc -l <"$out/opencl.csv") rows by OpenCL, $(wc -l <"$out/ncu.csv") by ncu, $(wc -l <"$out/counters.csv") of counters"
grep -iE 'error|fail|no time|exit code' "$out/log.txt" | head -40 >&3
[ "$(wc -l <"$out/opencl.csv")" -gt 20 ]
