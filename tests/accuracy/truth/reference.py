#!/usr/bin/env python3
"""Makes a table of truth of what measure.sh found, with the columns that `gpusim correlate` knows.
   reference.py RESULTS CASES [warm|cold] > tests/reference/NAME.csv
   reference.py RESULTS CASES times [PATTERN...] > ...
Only the cases of CASES are taken, so that the two halves of kernels/classes stay apart. Times: median_ns by events; duration_ns and
cycles_elapsed by Nsight Compute. Counters are of warm launches (default), or of cold ones: then times are as well.
With `times`, there are only times by events of warm launches; of cases like the patterns, whose later launches find nothing left to do, that of the first."""
import csv
import fnmatch
import os
import sys

# This table's name, and that of ncu.
COUNTERS = (
    ("warp_instructions", "smsp__inst_executed.sum"),
    ("thread_instructions", "smsp__thread_inst_executed.sum"),
    ("inst_fma", "smsp__inst_executed_pipe_fma.sum"),
    ("inst_alu", "smsp__inst_executed_pipe_alu.sum"),
    ("inst_xu", "smsp__inst_executed_pipe_xu.sum"),
    ("inst_lsu", "smsp__inst_executed_pipe_lsu.sum"),
    ("global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    ("global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    ("global_load_sector_hits", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"),
    ("global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    ("l2_read_sectors", "lts__t_sectors_op_read.sum"),
    ("l2_write_sectors", "lts__t_sectors_op_write.sum"),
    ("l2_read_hits", "lts__t_sectors_op_read_lookup_hit.sum"),
    ("dram_read_bytes", "dram__bytes_read.sum"),
    ("dram_write_bytes", "dram__bytes_write.sum"),
    ("shared_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
    ("warps_active_pct", "sm__warps_active.avg.pct_of_peak_sustained_active"),
)


def table(path):
    return list(csv.DictReader(open(path)))


def wanted_cases(path):
    return [line.split()[0] for line in open(path) if line.strip() and line[0] != "#"]


def times_by_events(folder):
    """By case. Warm launches that were measured again, beside launches that do nothing (warm.csv), are taken from there."""
    opencl = {row["case"]: row for row in table(f"{folder}/opencl.csv")}
    if os.path.exists(f"{folder}/warm.csv"):
        for row in table(f"{folder}/warm.csv"):
            if row["case"] in opencl:
                opencl[row["case"]] |= {"warm_ns": row["warm_ns"], "warm_min": row["warm_min"], "clock_after": row["clock_mhz"]}
    return opencl


def times(folder, cases, once):
    opencl = times_by_events(folder)
    print("case,kernel,global,local,median_ns,min_ns,clock_mhz")
    for o in (opencl[case] for case in wanted_cases(cases) if case in opencl):
        is_first = any(fnmatch.fnmatch(o["case"], pattern) for pattern in once)
        found = [o["first_ns"]] * 2 if is_first else [o["warm_ns"], o["warm_min"]]
        print(",".join([o["case"], o["kernel"], o["global"], o["local"], *found, o["clock_after"]]))


def main():
    folder, cases = sys.argv[1:3]
    if sys.argv[3:4] == ["times"]:
        times(folder, cases, sys.argv[4:])
        return
    caches = sys.argv[3] if len(sys.argv) > 3 else "warm"
    wanted = wanted_cases(cases)
    opencl = times_by_events(folder)
    ncu = {row["case"]: row for row in table(f"{folder}/ncu.csv")}
    counted = {row["case"]: row for row in table(f"{folder}/counters.csv") if row["caches"] == caches}
    names = [name for name, _ in COUNTERS]
    print("case,kernel,global,local,median_ns,min_ns,first_ns,row_ns,stamp_ns,clock_mhz,duration_ns,cycles_elapsed,first_duration_ns,"
          "registers_per_thread," + ",".join(names))
    for case in wanted:
        o, n, c = opencl.get(case), ncu.get(case, {}), counted.get(case, {})
        if not o:
            print(f"{case} was not measured", file=sys.stderr)
            continue
        cold = caches == "cold"
        duration = c.get("gpu__time_duration.sum", "") if cold else n.get("warm_ns", "")
        cycles = c.get("sm__cycles_elapsed.max", "") if cold else n.get("warm_cycles", "")
        values = [case, o["kernel"], o["global"], o["local"], o["cold_ns" if cold else "warm_ns"], o["cold_min" if cold else "warm_min"], o["first_ns"],
                  o["row_ns"], o["stamp_ns"], o["clock_after"], duration, cycles, n.get("first_ns", ""), n.get("registers", "")]
        print(",".join(values + [c.get(key, "") for _, key in COUNTERS]))


main()
