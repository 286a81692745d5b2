#!/usr/bin/env python3
"""What modelling costs on an H200: the suite, programs of many launches, and the programs of kernels/shapes in three sizes.
   tests/bench/modelling.py BUILD_DIR CSV [SECONDS [LIMIT [PATTERN]]]
Prints rows with a value and the aim. Appends them to CSV; BUILD_DIR/modelling.csv has every program. SECONDS (900) bounds the whole:
what does not fit is not run, and the last row says how much that was. LIMIT (60) bounds one run; a program that takes longer is
interrupted, and counts with what it took until then. PATTERN: only programs whose name matches, or name and size ("* small").
Processor time is that of the threads that model (modelled_ns of the JSON report), and "not seen before" means the first launch of a
kernel with these sizes and this number of instructions in a process that found no results of earlier ones."""
import csv
import math
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Runner, say, shape, shapes, suites  # noqa: E402

GPGPUSIM = 254e3  # thread instructions a second, on a machine like those that the aims are for
LENGTHS = (1000, 10000, 100000, 1000000)
LONG_LOOPS = ("series", "phases", "mixed", "gather", "chase", "nbody_tiled")  # a million trips take a CPU a second or so


class Measured:
    """One program without the library and with it."""

    def __init__(self, program, plain, under):
        self.program, self.plain, self.under = program, plain, under
        self.seen, self.new = set(), []
        for l in under.launches:
            e = l["estimates"][0]
            key = (l["kernel"], *l["global"], *l["local"], e["thread_instructions"])
            if key not in self.seen:
                self.seen.add(key)
                self.new.append((l["modelled_ns"] / 1e9, e["thread_instructions"], l["kernel"]))
        self.kernels = len({l["kernel"] for l in under.launches})
        self.modelled_s = sum(l["modelled_ns"] for l in under.launches) / 1e9
        self.instructions = sum(l["estimates"][0]["thread_instructions"] for l in under.launches)
        self.unmodelled = under.not_modelled if under.ended else 0
        self.perfect = sum("perfect_memory" in l["estimates"][0]["flags"] for l in under.launches)

    def is_long(self):
        """A program of a second or more. On a busy machine, its processor time says so sooner than its wall time."""
        return min(self.plain.wall, self.plain.cpu) >= 1

    def ratio(self):
        return self.under.wall / self.plain.wall

    def row(self):
        p = self.program
        worst = max(self.new, default=(0, 0, ""))
        seconds = [f"{s:.3f}" for s in (self.plain.wall, self.under.wall, self.plain.cpu, self.under.cpu)]
        return [p.group, p.name, p.size, *seconds, f"{self.ratio():.2f}", int(self.under.ended), len(self.under.launches), len(self.new),
                self.unmodelled, self.perfect, f"{self.modelled_s:.4f}", f"{worst[0]:.4f}", worst[2], self.instructions]


HEADER = ["group", "program", "size", "plain_s", "under_s", "plain_cpu_s", "under_cpu_s", "ratio", "ended", "launches", "new_launches",
          "not_modelled", "perfect_memory", "modelled_cpu_s", "worst_cpu_s", "worst_kernel", "thread_instructions"]


class Table:
    def __init__(self, path):
        self.path = path
        print("| modelling on an H200 | value | aim |\n|---|--:|--:|")

    def add(self, title, value, unit, aim=None, most=True, note=""):
        """A row. aim: the most that is wanted, or the least. None: there is no aim."""
        good = aim is None or (value <= aim if most else value >= aim)
        bold = "" if good else "**"
        wanted = "" if aim is None else f"{'<=' if most else '>='} {aim:g} {unit}"
        print(f"| {title} | {bold}{value:.4g} {unit}{bold}{note} | {wanted} |", flush=True)
        ratio = f"{value / aim:.4f}" if aim else ""
        with open(self.path, "a") as f:
            f.write(f"modelling,{title.replace(',', ';')},{unit},{'' if aim is None else f'{aim:g}'},{value:.6g},{ratio}\n")


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def single_launches(table, group, measured):
    new = [(*n, m.program) for m in measured for n in m.new]
    if not new:
        return
    times = sorted(n[0] for n in new)
    table.add(f"{group}: a launch not seen before, CPU time, median of {len(new)}", statistics.median(times), "s", 0.1)
    worst = max(new, key=lambda n: n[0])
    table.add(f"{group}: the worst, {worst[2]} of {worst[3]}", worst[0], "s", 1)
    dearest = {}
    for seconds, _, kernel, program in new:
        key = (program.name, kernel) if program.group == "set" else kernel
        dearest[key] = max(dearest.get(key, 0), seconds)
    table.add(f"{group}: the dearest launch of each of {len(dearest)} kernels, median", statistics.median(dearest.values()), "s")


def speed(table, title, pairs, aim):
    """pairs: seconds, thread instructions"""
    seconds, instructions = sum(p[0] for p in pairs), sum(p[1] for p in pairs)
    if seconds > 0:
        table.add(title, instructions / seconds / 1e6, "million/s", aim, most=False)


def whole_programs(table, measured):
    long = [m for m in measured if m.is_long()]
    short = [m for m in measured if not m.is_long() and m.kernels]
    cut = lambda of: f" ({sum(not m.under.ended for m in of)} interrupted)" if any(not m.under.ended for m in of) else ""
    if long:
        worst, mean = max(long, key=Measured.ratio), geometric([m.ratio() for m in long])
        table.add(f"{len(long)} programs of a second or more, against plain, geometric mean", mean, "x", 1.5, note=cut(long))
        table.add(f"the worst, {worst.program}", worst.ratio(), "x", 3, note=cut([worst]))
        mean = geometric([m.under.cpu / m.plain.cpu for m in long])
        table.add("the same in processor time, geometric mean", mean, "x", note=cut(long))
    if short:
        extra = {m: (m.under.wall - m.plain.wall) / m.kernels for m in short}
        worst = max(extra, key=extra.get)
        median = statistics.median(extra.values())
        table.add(f"{len(short)} shorter programs, additional time per kernel, median", median, "s", 0.5, note=cut(short))
        table.add(f"the worst, {worst.program}", extra[worst], "s", 0.5, note=cut([worst]))


def loop_lengths(table, flat):
    for name, by_length in flat.items():
        times = ", ".join(f"{'' if by_length[n][1] else '>'}{by_length[n][0]:.2f}" for n in LENGTHS if n in by_length)
        if 10000 in by_length and len(by_length) > 2:
            longest = max(by_length)
            ratio = by_length[longest][0] / by_length[10000][0]
            table.add(f"{name}: CPU s with 10^3; 10^4 ... trips: {times}; the longest against 10^4", ratio, "x", 1.5,
                      note="" if by_length[longest][1] else " at least")


class Bench:
    def __init__(self, build, path, seconds, limit_s, pattern):
        self.root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
        self.build, self.runner, self.pattern = build, Runner(build, limit_s), pattern
        self.deadline, self.path = time.monotonic() + seconds, path
        self.measured, self.flat, self.left_out = [], {}, 0

    def fits(self, program):
        """Whether there is time for it, and somebody asked for it."""
        if not program.matches(self.pattern):
            return False
        if time.monotonic() < self.deadline:
            return True
        self.left_out += 1
        return False

    def measure(self, program):
        """The better of two plain runs counts, because the first may compile. Long sizes find most of that done."""
        plain = self.runner.plain(program)
        if program.size != "long":
            plain = min(plain, self.runner.plain(program), key=lambda r: r.wall)
        self.runner.warm(program)
        m = Measured(program, plain, self.runner.under(program))
        say(f"modelling: {program}: {plain.wall:.2f} s, {m.under.wall:.2f} s with us, {m.modelled_s:.2f} s of modelling, "
            f"{len(m.under.launches)} launches{'' if m.under.ended else ', interrupted'}")
        if plain.output != m.under.output and m.under.ended and "suite" not in program.command[0]:
            sys.exit(f"{program}: other results under the library: {m.under.output}, not {plain.output}")
        return m

    def run_all(self):
        programs = shapes(self.build, self.root, ("small",)) + suites(self.build, self.root)
        for program in programs:
            if self.fits(program):
                self.measured.append(self.measure(program))
        for name in LONG_LOOPS:
            self.run_lengths(name)
        for program in shapes(self.build, self.root, ("medium", "long")):
            if self.fits(program):
                self.measured.append(self.measure(program))

    def run_lengths(self, name):
        for length in LENGTHS:
            program = shape(self.build, self.root, name, "small", length)
            if self.fits(program):
                run = self.runner.under(program)
                # An interrupted launch has no report: what the process took is nearly all of it.
                taken = sum(l["modelled_ns"] for l in run.launches) / 1e9 if run.ended else run.cpu
                self.flat.setdefault(name, {})[length] = taken, run.ended
                say(f"modelling: {name} with {length} trips: {taken:.2f} s{'' if run.ended else ', interrupted'}")

    def rows(self):
        table = Table(self.path)
        for group in ("kernels/", "set"):
            of = [m for m in self.measured if m.program.group == group]
            single_launches(table, group, of)
            pairs = [(m.modelled_s, m.instructions) for m in of]
            speed(table, f"{group}: thread instructions of launches over CPU time of modelling", pairs, 100)
            launches = sum(len(m.under.launches) for m in of)
            if launches:
                table.add(f"{group}: launches whose memory is perfect, of {launches}", sum(m.perfect for m in of), "", 0)
                table.add(f"{group}: launches without an estimate", sum(m.unmodelled for m in of), "", 0)
        large = [n[:2] for m in self.measured for n in m.new if n[1] >= 1e8]
        speed(table, "launches of 100 million thread instructions or more", large, GPGPUSIM * 1000 / 1e6)
        whole_programs(table, [m for m in self.measured if "suite" not in m.program.command[0]])
        loop_lengths(table, self.flat)
        if self.left_out:
            table.add("programs that were left out, because the time was over", self.left_out, "", 0)
        with open(self.build + "/modelling.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(HEADER)
            w.writerows(m.row() for m in self.measured)


def main(build, path, seconds="900", limit="60", pattern="*"):
    bench = Bench(os.path.abspath(build), path, float(seconds), float(limit), pattern)
    try:
        bench.run_all()
        bench.rows()
    finally:
        bench.runner.close()


main(*sys.argv[1:])
