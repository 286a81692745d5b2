#!/usr/bin/env python3
"""One program's launches with and without sampling, and the table of several; for sampling.sh."""
import csv
import json
import math
import statistics
import sys


def launches(path):
    with open(path) as f:
        return [l["estimates"][0] for l in json.load(f)["launches"]]


def compare(program, sampled, full):
    a, b = launches(sampled), launches(full)
    assert len(a) == len(b) > 0
    total, truth = sum(e["cycles"] for e in a), sum(e["cycles"] for e in b)
    instructions = sum(e["warp_instructions"] for e in b)
    # What the engine extrapolates within a launch is not simulated, either.
    simulated = sum(e["warp_instructions"] * e["simulated_fraction"] for e in a)
    one = max(abs(x["cycles"] / y["cycles"] - 1) for x, y in zip(a, b))
    # A per mille is what rounding in the reports may make.
    outside = sum(not 0.999 * x["low_ns"] <= y["time_ns"] <= 1.001 * x["high_ns"] for x, y in zip(a, b))
    width = statistics.median((e["high_ns"] - e["low_ns"]) / 2 / e["time_ns"] for e in a)
    print(program, len(a), sum(e["simulated_fraction"] > 0 for e in a), abs(total / truth - 1), one, simulated / instructions,
          outside / len(a), width)


def mean(values, least):
    return math.exp(sum(math.log(max(v, least)) for v in values) / len(values))


def table(path, out):
    rows = [line.split() for line in open(path)]
    with open(out, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["program", "launches", "simulated_launches", "error", "worst_launch", "simulated_fraction",
                    "outside_band", "median_band"])
        w.writerows(rows)
    print(f"{'program':10} {'launches':>8} {'simulated':>9} {'error':>8} {'worst launch':>13} {'instructions':>13} {'outside band':>13} {'median band':>12}")
    for name, count, done, error, one, fraction, outside, width in rows:
        print(f"{name:10} {count:>8} {done:>9} {float(error):8.2%} {float(one):13.2%} {float(fraction):13.2%} {float(outside):13.2%} "
              f"{float(width):12.2%}")
    # An error of 0 would make the geometric mean 0: it counts as a hundredth of a percent.
    errors, fractions = [float(r[3]) for r in rows], [float(r[5]) for r in rows]
    error, worst, fraction = mean(errors, 1e-4), max(errors), mean(fractions, 1e-6)
    print(f"geometric means: error {error:.2%} (worst {worst:.2%}), {fraction:.2%} of the warp instructions simulated")
    verdicts = [("error at most 0.5%", error <= 0.005), ("worst at most 5%", worst <= 0.05),
                ("at most 3% simulated", fraction <= 0.03),
                ("at most 5% of any program's launches outside of their band", max(float(r[6]) for r in rows) <= 0.05)]
    for name, good in verdicts:
        print("PASS" if good else "FAIL", name)
    failed = sum(not good for _, good in verdicts)
    print(f"{len(verdicts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if sys.argv[1] == "--table":
    sys.exit(table(sys.argv[2], sys.argv[3]))
compare(*sys.argv[1:4])
