#!/usr/bin/env python3
"""Machine instructions of estimates beside hardware counters.

  compare.py COUNTERS.csv FULL_CASES.txt CASES.txt:ENDING:REPORT.json... [--csv FILE] [--least N]

A report is that of one run of the cases of CASES.txt whose names have the ending, in their order. A case that has fewer
work-items than in FULL_CASES.txt is scaled up. Exits 1 when fewer than N cases are within 10%. Kernels are ranked by
name, and every other one is of the half called A, the rest of B.
"""
import csv
import json
import math
import sys

PIPES = ("fma", "alu", "xu", "lsu")


def read_cases(path, ending=""):
    with open(path) as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {row[0]: row for row in rows if row[0].endswith(ending)}


def items(case):
    return math.prod(int(n) for n in case[3].split(","))


def rows_of(counters, full, spec):
    path, ending, report = spec.split(":")
    cases = read_cases(path, ending)
    with open(report) as f:
        launches = json.load(f)["launches"]
    for (name, case), launch in zip(cases.items(), launches):
        if launch["kernel"] != case[2]:
            sys.exit(f"{report}: a launch of {launch['kernel']} where {name} was expected")
        scale = items(full[name]) / items(case)
        estimate, truth = launch["estimates"][0], counters[name]
        row = {"case": name, "kernel": case[2], "estimated": estimate["machine_instructions"] * scale,
               "measured": float(truth["warp_instructions"])}
        row["ratio"] = row["estimated"] / row["measured"]
        for pipe in PIPES:
            measured = float(truth["inst_" + pipe])
            row[pipe] = estimate["machine_by"][pipe] * scale / measured if measured else None
        row["registers"] = estimate["registers_per_thread"]
        row["registers_measured"] = int(truth["registers_per_thread"])
        yield row


def show(value):
    return f"{value:5.2f}" if value is not None else "    -"


def summary(name, rows):
    ratios = sorted(r["ratio"] for r in rows)
    within = sum(abs(r - 1) <= 0.1 for r in ratios)
    error = sum(abs(r - 1) for r in ratios) / len(ratios)
    print(f"{name:8} {len(rows):3} cases, {within:3} within 10%, mean error {error:5.1%}, "
          f"ratios {ratios[0]:.2f} to {ratios[-1]:.2f}")
    return within


def main():
    arguments = sys.argv[1:]
    options = {}
    while len(arguments) > 2 and arguments[-2].startswith("--"):
        options[arguments[-2]] = arguments[-1]
        arguments = arguments[:-2]
    with open(arguments[0]) as f:
        counters = {r["case"]: r for r in csv.DictReader(line for line in f if not line.startswith("#"))}
    full = read_cases(arguments[1])
    rows = [row for spec in arguments[2:] for row in rows_of(counters, full, spec)]
    kernels = sorted({row["kernel"] for row in rows})
    print(f"{'case':18} {'estimated':>14} {'measured':>14} ratio  " + " ".join(f"{p:>5}" for p in PIPES) + "  half")
    for row in rows:
        row["half"] = "AB"[kernels.index(row["kernel"]) % 2]
        print(f"{row['case']:18} {row['estimated']:14.0f} {row['measured']:14.0f} {row['ratio']:5.2f}"
              f"{' ' if abs(row['ratio'] - 1) <= 0.1 else '*'} " + " ".join(show(row[p]) for p in PIPES) + f"  {row['half']}")
    for half in "AB":
        summary("half " + half, [r for r in rows if r["half"] == half])
    within = summary("all", rows)
    missing = sorted(set(counters) - {r["case"] for r in rows})
    if missing:
        print("not run:", ", ".join(missing))
    if "--csv" in options:
        with open(options["--csv"], "w") as f:
            writer = csv.DictWriter(f, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    sys.exit(within < int(options.get("--least", 0)))


main()
