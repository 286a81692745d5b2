#!/usr/bin/env python3
"""Compares the CUDA programs of kernels/programs with what they print and take on an H200 (tests/reference/h200-programs.csv).

    tests/accuracy/programs.py BUILD_DIR [--half development|test|all] [--work FOLDER] [-o TABLE.csv] [--keep] [--mean PERCENT] [PROGRAM...]

Needs nvcc; without it, all programs are skipped. A row of the table is a kernel of a program with one grid and block: the sum of its
launches, estimated and measured. Those in the folder development are for looking at while models change, those in test only to judge models
when they are done: of these only the means are printed, unless -o asks for the rows. --keep: docs/accuracy has the rows of development, and
the means of what was compared. Ends with "N passed, N failed, N skipped".
"""
import argparse
import collections
import csv
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import keep

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "kernels/programs")
TRUTH = os.path.join(ROOT, "tests/reference/h200-programs.csv")
OUTPUT = os.path.join(ROOT, "tests/reference/h200-programs.txt")
LONG_NS = 20000


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--half", choices=("development", "test", "all"), default="development")
    p.add_argument("--work", help="keeps programs and reports here; programs that it has are not compiled again")
    p.add_argument("--mean", type=float, default=10, help="most error of long kernels in the mean, in percent")
    p.add_argument("-o", dest="table")
    p.add_argument("--keep", action="store_true")
    p.add_argument("programs", nargs="*")
    return p.parse_intermixed_args()


def half_of(program):
    """The folder that it is in."""
    return next(half for half in ("development", "test") if os.path.exists(os.path.join(SOURCES, half, program + ".cu")))


def truth():
    """program: list of its launches."""
    launches = collections.defaultdict(list)
    for row in csv.DictReader(line for line in open(TRUTH) if not line.startswith("#")):
        launches[row["program"]].append(row)
    return launches


def expected_output():
    said = collections.defaultdict(str)
    for line in open(OUTPUT):
        program, text = line.split(": ", 1)
        said[program] += text
    return said


def compiled(program, work):
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    out, source = os.path.join(work, program), os.path.join(SOURCES, half_of(program), program + ".cu")
    if os.path.exists(out) and os.path.getmtime(out) > os.path.getmtime(source):
        return out
    subprocess.run([nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-cudart", "shared", "-o", out, source], check=True)
    return out


def run(build, program, work):
    """(what it prints, its report)"""
    out = os.path.join(work, program)
    environment = dict(os.environ, GPUSIM_GPU="h200", GPUSIM_REPORT="json", GPUSIM_OUTPUT=out)
    said = subprocess.run([os.path.join(build, "gpusim"), "run", "--", out], env=environment, stdout=subprocess.PIPE, text=True)
    return said.stdout, json.load(open(out + ".json"))


def across(values):
    return "x".join(str(v) for v in values)


def matched(report, launches):
    """Pairs of an estimated launch and a measured one. Launches are in the order of the program."""
    ours = sorted(report["launches"], key=lambda l: l["seq"])
    if len(ours) != len(launches):
        raise ValueError(f"{len(ours)} launches here, {len(launches)} on the GPU")
    for mine, real in zip(ours, launches):
        grid = across(g // l for g, l in zip(mine["global"], mine["local"]))
        if (grid, across(mine["local"])) != (real["grid"], real["block"]):
            raise ValueError(f"launch {mine['seq']} is {mine['kernel']} {grid} here, {real['kernel']} {real['grid']} on the GPU")
        yield mine, real


def rows_of(program, report, launches):
    sums = {}
    for mine, real in matched(report, launches):
        estimate = mine["estimates"][0]
        row = sums.setdefault((real["kernel"], real["grid"], real["block"]), dict(launches=0, estimate_ns=0, truth_ns=0, ours=0, theirs=0))
        row["launches"] += 1
        row["estimate_ns"] += estimate["time_ns"]
        row["truth_ns"] += float(real["ns"])
        row["ours"] += estimate.get("machine_instructions") or 0
        row["theirs"] += float(real["warp_instructions"])
        row["limiter"] = estimate["limiter"]
        row["registers"] = f'{estimate["registers_per_thread"]}/{real["registers"]}'
    codes = {k["name"]: k["estimates"][0].get("code", "") for k in report["kernels"]}
    for (kernel, grid, block), row in sums.items():
        yield dict(program=program, half=half_of(program), kernel=kernel, grid=grid, block=block, launches=row["launches"],
                   estimate_ns=round(row["estimate_ns"] / row["launches"]), truth_ns=round(row["truth_ns"] / row["launches"]),
                   error=round(row["estimate_ns"] / row["truth_ns"] - 1, 4), instructions_error=round(row["ours"] / row["theirs"] - 1, 4),
                   registers=row["registers"], code=codes.get(kernel, ""), limiter=row["limiter"])


def summary(rows):
    errors = [r["error"] for r in rows]
    if not errors:
        return "no kernels"
    worst = max(rows, key=lambda r: abs(r["error"]))
    return (f"{len(errors)} kernels, mean {statistics.mean(map(abs, errors)):.1%}, median {statistics.median(map(abs, errors)):.1%}, "
            f"bias {statistics.mean(errors):+.1%}, worst {worst['error']:+.1%}" + (f" ({worst['program']}, {worst['kernel']})" if worst["half"] != "test" else ""))


def write_table(path, rows):
    with open(path, "w") as f:
        out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def means(half, size, rows):
    errors = [r["error"] for r in rows]
    return dict(half=half, size=size, kernels=len(errors), mean=round(statistics.mean(map(abs, errors)), 4), median=round(statistics.median(map(abs, errors)), 4),
                bias=round(statistics.mean(errors), 4), worst=max(errors, key=abs), date=datetime.date.today().isoformat(), version=keep.version(ROOT))


def keep_tables(rows):
    folder = os.path.join(ROOT, "docs/accuracy")
    path = os.path.join(folder, "programs-summary.csv")
    known = {(r["half"], r["size"]): r for r in csv.DictReader(open(path))} if os.path.exists(path) else {}
    for half in ("development", "test"):
        for size, of in (("long", [r for r in rows if r["truth_ns"] >= LONG_NS]), ("short", [r for r in rows if r["truth_ns"] < LONG_NS])):
            own = [r for r in of if r["half"] == half]
            if own:
                known[half, size] = means(half, size, own)
    write_table(path, list(known.values()))
    if any(r["half"] == "development" for r in rows):
        write_table(os.path.join(folder, "programs.csv"), [r for r in rows if r["half"] == "development"])
    keep.write_page(folder, ROOT, ())


def main():
    a = arguments()
    if not (shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")):
        print("0 passed, 0 failed, 1 skipped")
        return 0
    work = a.work or tempfile.mkdtemp(prefix="gpusim-programs.")
    os.makedirs(work, exist_ok=True)
    known, said = truth(), expected_output()
    passed, failed, rows = 0, 0, []
    for program in a.programs or [p for p in known if a.half in ("all", half_of(p))]:
        try:
            compiled(program, work)
            output, report = run(os.path.abspath(a.build), program, work)
            rows += rows_of(program, report, known[program])
            if output != said[program]:
                raise ValueError(f"prints {output!r}, and {said[program]!r} on the GPU")
            passed += 1
        except (ValueError, OSError, KeyError, IndexError, subprocess.CalledProcessError) as e:
            failed += 1
            print(f"FAIL {program}: {e}")
    failed_programs = failed
    for r in rows:
        if r["half"] != "test":
            print(f'{r["program"]:18} {r["kernel"]:24} {r["launches"]:4} x {r["truth_ns"] / 1e3:9.2f} us, estimated {r["estimate_ns"] / 1e3:9.2f} us {r["error"]:+7.1%}'
                  f'   instructions {r["instructions_error"]:+7.1%}, registers {r["registers"]}, {r["code"]}, {r["limiter"]}')
    for half in ("development", "test"):
        own = [r for r in rows if r["half"] == half]
        long = [r for r in own if r["truth_ns"] >= LONG_NS]
        if own:
            print(f"{half}, 20 us and longer: {summary(long)}")
            print(f"{half}, shorter: {summary([r for r in own if r not in long])}")
            near = statistics.mean(abs(r["error"]) for r in long) * 100 <= a.mean if long else True
            passed, failed = passed + near, failed + (not near)
    if a.table:
        write_table(a.table, rows)
    if a.keep and not a.programs and not failed_programs:
        keep_tables(rows)
    if not a.work:
        shutil.rmtree(work)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
