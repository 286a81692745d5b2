#!/usr/bin/env python3
"""Default options against GPUSIM_EXACT=1: how far each launch's time on an H200 is from that of a full simulation, for the suite,
programs of many launches, and the programs of kernels/shapes in their small and medium sizes.
   tests/accuracy/bounded.py BUILD_DIR [--keep] [--limit SECONDS] [PATTERN...]
Every program runs twice, because its traces differ. PATTERN: only programs with such names, or names and sizes ("* small"). LIMIT
(240) bounds one run; of a program that is interrupted, the launches count that both runs had. Prints a row per program, which
BUILD_DIR/accuracy/bounded.csv has, too; bounded-launches.csv has every launch. --keep: the rows go to docs/accuracy/bounded.csv, in place
of those of the same programs. Ends with "N passed, N failed" over the aims below.

A launch that has no memory model in the full simulation either, or whose trace was cut there, has no truth, and is left out; the table says
how many. One that is too large to be traced as a whole has: its groups are like ones that were. Programs
in KNOWN are worse than the aims for a reason that is given. They are shown, and count for nothing."""
import csv
import os
import statistics
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.dont_write_bytecode = True
sys.path.insert(0, ROOT + "/tests/bench")
from programs import Runner, say, shapes, suites  # noqa: E402

AIMS = {"kernels/": (0.01, 0.05), "set": (0.02, 0.08)}  # mean and worst error of times
INSIDE = 0.95  # share of launches with the truth in low_ns..high_ns
ROUNDING = 0.001  # of times in reports
EXACT = {"GPUSIM_EXACT": "1", "GPUSIM_SAMPLING": "off", "GPUSIM_TRACE": "all", "GPUSIM_TRACE_ITEMS": "1000000", "GPUSIM_TRACE_MEMORY": "4G",
         "GPUSIM_COUNTER_MEMORY": "2G"}
# Program or kernel: why its launches have no single truth, or which error is known.
KNOWN = {
    "frontier": "its work-items race, and execute another number of instructions each time",
}


class Launch:
    """One launch both ways."""

    def __init__(self, program, default, exact):
        self.program, self.kernel, self.seq = program, default["kernel"], default["seq"]
        self.e, self.truth = default["estimates"][0], exact["estimates"][0]
        same = all(default[k] == exact[k] for k in ("kernel", "global", "local"))
        if not same:
            sys.exit(f"{program}: launch {self.seq} is another one in the second run")
        self.same_work = self.e["thread_instructions"] == self.truth["thread_instructions"]
        cut = "not_exact" in self.truth["flags"] and exact["sampled_fraction"] == 1
        self.has_truth = not cut and "perfect_memory" not in self.truth["flags"] and "not_traced" not in self.truth["flags"]

    def error(self):
        return self.e["time_ns"] / self.truth["time_ns"] - 1

    def inside(self):
        return (1 - ROUNDING) * self.e["low_ns"] <= self.truth["time_ns"] <= (1 + ROUNDING) * self.e["high_ns"]

    def counts(self):
        return self.has_truth and self.same_work

    def known(self):
        return KNOWN.get(self.kernel) or KNOWN.get(self.program.name)

    def row(self):
        times = (self.e["time_ns"], self.e["low_ns"], self.e["high_ns"], self.truth["time_ns"])
        return [self.program.group, self.program.name, self.program.size, self.seq, self.kernel, *(f"{t:.1f}" for t in times),
                f"{self.error():.5f}", int(self.inside()), int(self.has_truth), " ".join(self.e["flags"])]


LAUNCHES_HEADER = ["group", "program", "size", "launch", "kernel", "time_ns", "low_ns", "high_ns", "exact_ns", "error", "inside",
                   "has_truth", "flags"]


PROGRAMS_HEADER = ["group", "program", "size", "launches", "left_out", "mean_error", "worst_error", "worst_kernel", "inside"]


def compare(runner, program):
    for settings in ({}, EXACT):
        runner.warm(program, settings)
    default, exact = runner.under(program), runner.under(program, EXACT)
    by_seq = {l["seq"]: l for l in exact.launches}
    launches = [Launch(program, l, by_seq[l["seq"]]) for l in default.launches if l["seq"] in by_seq]
    say(f"bounded: {program}: {len(default.launches)} launches, {len(exact.launches)} in full, {default.cpu:.1f} and {exact.cpu:.1f} s "
        f"of processors{'' if default.ended and exact.ended else ', interrupted'}")
    return launches


def figures(launches):
    """Mean over kernels of the mean over launches, so that a program of a thousand launches weighs as much as one of ten; worst launch;
    share inside of the band."""
    by_kernel = {}
    for l in launches:
        by_kernel.setdefault((l.program.name, l.program.size, l.kernel), []).append(abs(l.error()))
    worst = max(launches, key=lambda l: abs(l.error()))
    return statistics.mean(map(statistics.mean, by_kernel.values())), worst, sum(l.inside() for l in launches) / len(launches)


def program_row(program, found):
    """Prints a program's row, and returns it."""
    launches = [l for l in found if l.counts()]
    left_out = len(found) - len(launches)
    if not launches:
        print(f"{str(program):34} {0:8} {'-':>8} {'-':>9} {'-':22} {'-':>8} {left_out:9}", flush=True)
        return [program.group, program.name, program.size, 0, left_out, "", "", "", ""]
    mean, worst, inside = figures(launches)
    print(f"{str(program):34} {len(launches):8} {mean:8.2%} {worst.error():+9.2%} {worst.kernel[:22]:22} {inside:8.1%} {left_out:9}",
          flush=True)
    return [program.group, program.name, program.size, len(launches), left_out, f"{mean:.5f}", f"{worst.error():.5f}", worst.kernel,
            f"{inside:.4f}"]


def verdicts(launches):
    failed = passed = 0
    for group, (mean_aim, worst_aim) in AIMS.items():
        counted = [l for l in launches if l.program.group == group and l.counts() and not l.known()]
        if not counted:
            continue
        mean, worst, inside = figures(counted)
        where = f"{worst.kernel} of {worst.program}"
        for text, good in ((f"mean error {mean:.2%}, aim {mean_aim:.0%}", mean <= mean_aim),
                           (f"worst {worst.error():+.2%} ({where}), aim {worst_aim:.0%}", abs(worst.error()) <= worst_aim),
                           (f"{inside:.1%} of launches inside of the band, aim {INSIDE:.0%}", inside >= INSIDE)):
            print("PASS" if good else "FAIL", f"{group}: {text}")
            passed, failed = passed + good, failed + (not good)
    for name in sorted({l.kernel for l in launches if l.known()} | {l.program.name for l in launches if l.program.name in KNOWN}):
        if name in KNOWN:
            print(f"known: {name}: {KNOWN[name]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def write(path, header, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(header)
        w.writerows(rows)


def merged(path, rows):
    """Rows of a table that is kept, with new ones in place of those of the same programs. Programs that it does not have come last."""
    new = {tuple(r[:3]): r for r in rows}
    kept = []
    if os.path.exists(path):
        with open(path, newline="") as f:
            kept = list(csv.reader(f))[1:]
    return [new.pop(tuple(r[:3]), r) for r in kept] + list(new.values())


def main(build, *options):
    options, keep, limit = list(options), "--keep" in options, 240.0
    if "--limit" in options:
        at = options.index("--limit")
        limit = float(options[at + 1])
        del options[at:at + 2]
    patterns = [o for o in options if o != "--keep"] or ["*"]
    build = os.path.abspath(build)
    runner, launches, rows = Runner(build, limit), [], []
    print(f"{'program':34} {'launches':>8} {'mean':>8} {'worst':>9} {'of':22} {'inside':>8} {'left out':>9}")
    try:
        for program in suites(build, ROOT) + shapes(build, ROOT, ("small", "medium")):
            if program.matches(*patterns):
                found = compare(runner, program)
                rows.append(program_row(program, found))
                launches += found
    finally:
        runner.close()
    write(build + "/accuracy/bounded-launches.csv", LAUNCHES_HEADER, [l.row() for l in launches])
    write(build + "/accuracy/bounded.csv", PROGRAMS_HEADER, rows)
    if keep:
        table = ROOT + "/docs/accuracy/bounded.csv"
        write(table, PROGRAMS_HEADER, merged(table, rows))
    return verdicts(launches)


sys.exit(main(*sys.argv[1:]))
