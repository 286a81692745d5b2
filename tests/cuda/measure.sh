#!/usr/bin/env bash
# For a machine with an NVIDIA GPU and nvcc: how long kernels of kernels/cuda take, with warm caches.
#   tests/cuda/measure.sh FOLDER [SECONDS]
# Takes at most SECONDS (default: 220). Needs neither POCL nor LLVM, nor the network. FOLDER gets:
#   warm.csv      case,kernel,global,local,checksum,median_ns,min_ns of launches in a row, by CUDA events. `empty` does nothing: its time is
#                 what a stream needs per launch, and no case can be below it. The checksum of a clock-N row is the SM clock in MHz, as hex.
#   ncu.csv       case,kernel,median_ns,min_ns,first_ns,sm_mhz,registers by Nsight Compute: of LAUNCHES in a row the later ones, and the first
#   ncu-raw.csv   all of its rows
#   counters.csv  hardware counters of one launch of each small and medium case, as Nsight Compute prints them
#   clocks.csv    clocks, power and why they were limited, every 100 ms, with times; machine.txt: GPU, driver, versions
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
end=$((SECONDS + ${2:-220}))
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
PATH=$PATH:/usr/local/cuda/bin
cuda=$(dirname "$(dirname "$(command -v nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
launches=12 first_warm=4
cd "$root" || exit 1

watch_clocks() {
	nvidia-smi --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,clocks_event_reasons.active --format=csv,noheader,nounits -lms 100 >"$out/clocks.csv" 2>&1 &
	watcher=$!
	trap 'kill $watcher; rm -rf "$work"' EXIT
}

describe_machine() {
	nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,clocks.applications.graphics,persistence_mode,ecc.mode.current --format=csv
	nvcc --version | tail -2
	ncu --version | tail -2
	date -u +"%Y-%m-%d %H:%M:%S UTC"
}

# Kernels that are not of the suite: one does nothing, one finds out how fast the SMs run.
write_own_kernels() {
	cat >"$work/ptx/own.ptx" <<-'PTX'
		.version 6.4
		.target sm_70
		.address_size 64
		.visible .entry empty()
		{
			ret;
		}
		.visible .entry clock_rate(.param .u64 out)
		{
			.reg .pred %p;
			.reg .b64 %at, %from, %began, %now, %cycles, %ns, %mhz;
			ld.param.u64 %at, [out];
			cvta.to.global.u64 %at, %at;
			mov.u64 %began, %globaltimer;
			mov.u64 %from, %clock64;
		again:
			mov.u64 %now, %clock64;
			sub.u64 %cycles, %now, %from;
			setp.lt.u64 %p, %cycles, 400000;
			@%p bra again;
			mov.u64 %ns, %globaltimer;
			sub.u64 %ns, %ns, %began;
			mul.lo.u64 %mhz, %cycles, 1000;
			div.u64 %mhz, %mhz, %ns;
			st.global.u32 [%at], %mhz;
			ret;
		}
	PTX
}

# Threads of frontier race, and its second launch finds nothing to do.
write_cases() {
	local large='(fma_chain|fma_chain1|sfu_mix|int_hash|mandelbrot|nbody|copy|saxpy|strided1|strided32|matmul|matmul_tiled|transpose_pad1|scan|histogram|path_rows|if_else|four_way|price|kmeans_assign|collatz|sobel)-l '
	echo "empty own.cl empty 32 32" >"$work/small"
	grep -hE '^[a-z0-9_]+-s ' kernels/cases.txt kernels/more-cases.txt | grep -v '^frontier' >>"$work/small"
	{ grep -h '^copy-m ' kernels/cases.txt && grep -v '^#' kernels/medium-cases.txt; } >"$work/medium"
	grep -hE "^$large" kernels/cases.txt kernels/more-cases.txt >"$work/large"
	for set in small medium large; do
		awk '{ print } NR % 10 == 1 { print "clock-" NR " own.cl clock_rate 1 1 i:1:fill:0" }' "$work/$set" >"$work/$set.txt"
		cat "$work/$set" >>"$work/all.txt"
	done
	cat "$work/small" "$work/medium" >"$work/counted.txt"
}

# within SECONDS COMMAND...: no longer than that, nor than this script may take
within() {
	local left=$((end - SECONDS)) most=$1
	shift
	[ $left -gt 5 ] || { echo "no time left for: $*" && return 1; }
	timeout -k 5 $((left < most ? left : most)) "$@"
}

# Medians of each case's launches without the first ones, which find other caches.
summarise() { # RAW_CSV NAMES
	python3 - "$1" "$2" $launches $first_warm <<-'PYTHON'
		import csv, statistics, sys
		raw, names, each, first = sys.argv[1], [l.split()[0] for l in open(sys.argv[2])], int(sys.argv[3]), int(sys.argv[4])
		lines = [l for l in open(raw) if l.startswith('"')]
		rows = [r for r in csv.DictReader(lines) if r["ID"]]
		number = lambda r, key: float(r[key].replace(",", ""))
		column = lambda part: next(k for k in rows[0] if k.startswith(part))
		time, cycles, registers = column("gpu__time_duration"), column("sm__cycles_elapsed"), column("launch__registers")
		print("case,kernel,median_ns,min_ns,first_ns,sm_mhz,registers")
		for i, name in enumerate(names):
		    of = rows[i * each:(i + 1) * each]
		    if len(of) < each:
		        break
		    ns = [number(r, time) for r in of]
		    mhz = statistics.median(number(r, cycles) * 1e3 / number(r, time) for r in of[first:])
		    print(f'{name},{of[0]["Kernel Name"].split("(")[0]},{statistics.median(ns[first:]):.0f},{min(ns[first:]):.0f},{ns[0]:.0f},{mhz:.0f},{number(of[0], registers):.0f}')
	PYTHON
}

quiet="--clock-control none --cache-control none --print-units base --csv --page raw"
counters=smsp__inst_executed.sum,smsp__thread_inst_executed.sum,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
counters+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
counters+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_read_lookup_hit.sum,dram__bytes_read.sum,dram__bytes_write.sum
counters+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread

mkdir "$work/ptx" && cp kernels/cuda/ptx/*.ptx "$work/ptx" && write_own_kernels && write_cases
gcc -O2 -I. -o "$work/host" kernels/cuda/host.c -L"$cuda/lib64" -Wl,--no-as-needed -lcudart -lm || exit 1
describe_machine >"$out/machine.txt" 2>&1
watch_clocks
host="$work/host -k $work/ptx"
{
	echo "case,kernel,global,local,checksum,median_ns,min_ns"
	within 60 $host -w 200 -r 15 -u 30 "$work/small.txt"
	within 60 $host -w 40 -r 11 -u 30 "$work/medium.txt"
	within 60 $host -w 20 -r 7 -u 30 "$work/large.txt"
} >"$out/warm.csv" 2>"$out/errors.txt"
echo "$SECONDS s: $(grep -vc '^c[la]' "$out/warm.csv") cases timed by events"
within 90 ncu $quiet --metrics gpu__time_duration.sum,sm__cycles_elapsed.max,launch__registers_per_thread --log-file "$out/ncu-raw.csv" \
	$host -w $launches "$work/all.txt" >>"$out/errors.txt" 2>&1
summarise "$out/ncu-raw.csv" "$work/all.txt" >"$out/ncu.csv" 2>>"$out/errors.txt"
echo "$SECONDS s: $(($(wc -l <"$out/ncu.csv") - 1)) cases timed by ncu"
within 90 ncu $quiet --metrics $counters --log-file "$out/counters.csv" $host -w 1 "$work/counted.txt" >>"$out/errors.txt" 2>&1
echo "$SECONDS s: $(($(grep -c '^"[0-9]' "$out/counters.csv"))) launches counted"
grep -iE 'error|fail|no time' "$out/errors.txt" | head
awk -F, '/^clock-/ { print "SM clock: " strtonum("0x" $5) " MHz" }' "$out/warm.csv" 2>/dev/null | sort | uniq -c
[ "$(wc -l <"$out/ncu.csv")" -gt 20 ] && [ "$(wc -l <"$out/warm.csv")" -gt 20 ]
