#!/usr/bin/env python3
"""Makes tables of what ncu printed.
   summarise.py RAW OUT
RAW has NAME.csv (what ncu printed, one run after the other) and NAME.launches (case,kernel,launches,checksum,local: what was launched, in
the same order) for NAME in times, warm, cold, and metrics: what was asked for. OUT gets ncu.csv and counters.csv, and has opencl.csv."""
import csv
import os
import statistics
import sys


def runs(path):
    """ncu's rows, by run. A run begins with the names of its columns; the row behind them has units."""
    found = []
    for cells in csv.reader(line for line in open(path, errors="replace") if line.startswith('"')):
        if cells[0] == "ID":
            names = cells
            found.append([])
        elif cells[0] and found:
            found[-1].append(dict(zip(names, cells)))
    return [row for run in found for row in run]


def number(text):
    try:
        return float(text.replace(",", ""))
    except (ValueError, AttributeError):
        return None


def launched(path):
    return [line.strip().split(",") for line in open(path) if line.count(",") == 4]


def by_case(raw, name):
    """case, kernel, checksum, local, rows of its launches. Kernels must agree; behind a disagreement nothing is taken."""
    rows, at = runs(f"{raw}/{name}.csv"), 0
    for case, kernel, launches, checksum, local in launched(f"{raw}/{name}.launches"):
        mine = rows[at:at + int(launches)]
        at += int(launches)
        if any(row["Kernel Name"].split("(")[0] != kernel for row in mine):
            print(f"error: {name}: rows do not belong to {case}", file=sys.stderr)
            return
        if mine and len(mine) == int(launches):
            yield case, kernel, checksum, local, mine


def times(raw, out, opencl):
    print("case,kernel,local,same_result,registers,first_ns,warm_ns,warm_min,warm_cycles,warm_mhz", file=out)
    for case, kernel, checksum, local, rows in by_case(raw, "times"):
        ns = [number(r["gpu__time_duration.sum"]) for r in rows]
        cycles = [number(r["sm__cycles_elapsed.max"]) for r in rows]
        later, later_cycles = ns[1:] or ns, cycles[1:] or cycles
        mhz = statistics.median(c * 1e3 / n for c, n in zip(later_cycles, later))
        same = {None: "", "00000000": ""}.get(opencl.get(case), "yes" if opencl.get(case) == checksum else "no")
        print(f"{case},{kernel},{local},{same},{number(rows[0]['launch__registers_per_thread']):.0f},{ns[0]:.0f},{statistics.median(later):.0f},{min(later):.0f},"
              f"{statistics.median(later_cycles):.0f},{mhz:.0f}", file=out)


def counters(raw, out):
    keys = None
    wanted = open(f"{raw}/metrics").read().strip().split(",")  # ncu prints attributes of the device, too, and other sums than were asked for
    for name in ("warm", "cold"):
        if not os.path.exists(f"{raw}/{name}.csv"):
            continue
        for case, kernel, _, _, rows in by_case(raw, name):
            row = rows[-1]
            if keys is None:
                keys = [k for k in wanted if k in row]
                print("case,kernel,caches," + ",".join(keys), file=out)
            values = [number(row.get(k)) for k in keys]
            print(f"{case},{kernel},{name}," + ",".join("" if v is None else f"{v:.10g}" for v in values), file=out)


def main():
    raw, out = sys.argv[1:]
    opencl = {row["case"]: row["checksum"] for row in csv.DictReader(open(f"{out}/opencl.csv"))}
    with open(f"{out}/ncu.csv", "w") as f:
        if os.path.exists(f"{raw}/times.csv"):
            times(raw, f, opencl)
    with open(f"{out}/counters.csv", "w") as f:
        counters(raw, f)


main()
