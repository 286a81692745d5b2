#!/usr/bin/env bash
# For a machine with an NVIDIA GPU, nvcc and Nsight Compute: what every launch of the programs of kernels/programs takes.
#   tests/accuracy/truth/programs.sh RESULTS [PROGRAM...]
# RESULTS gets:
#   launches.csv     program,launch,kernel,grid,block,ns,mhz,registers,warp_instructions,thread_instructions of each launch, in order
#   counters.csv     program,launch and hardware counters of memory, in a second run of each program
#   output/PROGRAM   what the program prints on this GPU
#   machine.txt      GPU, driver and versions
# A program's second run is measured, so that clocks are up and the driver is loaded. Nsight Compute waits between launches; caches stay as they are.
set -u
out=$(mkdir -p "$1/output" && cd "$1" && pwd)
shift
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$PATH:/usr/local/cuda/bin
cd "$root/kernels/programs" || exit 1
[ $# -gt 0 ] || set -- $(ls */*.cu | sed 's/.*\///; s/\.cu$//')

options="--clock-control none --cache-control none --print-units base --csv --page raw"
once=gpu__time_duration.sum,sm__cycles_elapsed.max,launch__registers_per_thread,smsp__inst_executed.sum,smsp__thread_inst_executed.sum
counters=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
counters+=,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_read_lookup_hit.sum,lts__t_sectors_op_write.sum
counters+=,dram__bytes_read.sum,dram__bytes_write.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,sm__warps_active.avg.pct_of_peak_sustained_active
counters+=,smsp__issue_active.avg.pct_of_peak_sustained_active,l1tex__throughput.avg.pct_of_peak_sustained_active,lts__throughput.avg.pct_of_peak_sustained_elapsed

nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv >"$out/machine.txt"
nvcc --version | tail -1 >>"$out/machine.txt"
ncu --version | tail -1 >>"$out/machine.txt"

build() { nvcc -O3 -std=c++17 -arch=sm_90 -cudart shared -o "$work/$1" */"$1.cu" 2>"$work/$1.err" || cat "$work/$1.err"; }
export work && export -f build
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'build {}'

printf '%s\n' "$@" | xargs -P 4 -I{} sh -c 'timeout 60 "$work/{}" >"$0/output/{}" || echo "{}: ends with $?"' "$out"
# One run of Nsight Compute for all programs: its start takes longer than most of them.
printf 'timeout 60 %s >/dev/null\n' "${@/#/$work/}" >"$work/all"
ncu $options --target-processes all --metrics $once --log-file "$work/once" sh "$work/all" >"$work/said" 2>&1 || head -5 "$work/said"
[ -n "${PROGRAMS_QUICK:-}" ] || ncu $options --target-processes all --metrics $counters --log-file "$work/counters" sh "$work/all" >"$work/said" 2>&1 || head -5 "$work/said"
python3 - "$work" "$out" "$counters" "$@" <<'PYTHON'
import csv, os, re, sys
work, out, wanted, programs = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4:]


def rows(path):
    """program: rows of its launches"""
    of = {p: [] for p in programs}
    lines = [l for l in open(path) if l.startswith('"')] if os.path.exists(path) else []
    for r in csv.DictReader(lines):
        if r["ID"]:
            of[os.path.basename(r["Process Name"])].append(r)
    return of


def number(row, name):
    value = row[name].replace(",", "")
    return float(value) if re.fullmatch(r"[-+.0-9eE]+", value) else float("nan")


def size(text):
    return "x".join(re.findall(r"\d+", text))


with open(out + "/launches.csv", "w") as f:
    f.write("program,launch,kernel,grid,block,ns,mhz,registers,warp_instructions,thread_instructions\n")
    for p, launches in rows(f"{work}/once").items():
        for i, r in enumerate(launches):
            ns = number(r, "gpu__time_duration.sum")
            name = re.sub(r"^void |\(anonymous namespace\)::|<unnamed>::", "", r["Kernel Name"]).split("(")[0].split("<")[0]
            f.write(f'{p},{i},{name},{size(r["Grid Size"])},{size(r["Block Size"])},{ns:.0f},{number(r, "sm__cycles_elapsed.max") * 1e3 / ns:.0f},'
                    f'{number(r, "launch__registers_per_thread"):.0f},{number(r, "smsp__inst_executed.sum"):.0f},{number(r, "smsp__thread_inst_executed.sum"):.0f}\n')
with open(out + "/counters.csv", "w") as f:
    head = False
    for p, launches in rows(f"{work}/counters").items():
        for i, r in enumerate(launches):
            keys = [k for k in r if k in wanted]
            if not head:
                head = f.write("program,launch," + ",".join(keys) + "\n")
            f.write(f"{p},{i}," + ",".join(r[k].replace(",", "") for k in keys) + "\n")
PYTHON
wc -l "$out/launches.csv" "$out/counters.csv"
