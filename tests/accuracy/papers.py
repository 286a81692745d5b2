#!/usr/bin/env python3
"""Tables of the papers on PPT and GATSim, from the task lists of kernels/tasks: what a paper gives, what gpusim says, and the difference.
   tests/accuracy/papers.py BUILD_DIR [PATTERN...]
PATTERN: only such lists. A row fails if gpusim's value is not the one that docs/task-lists.md has, to within BOUND: then either a model got
better, and both are to be changed, or it broke. Ends with "N passed, N failed"."""
import fnmatch
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BOUND = 0.02
INSTRUCTIONS = 0.012  # of a paper's count, which has three digits, and nn's also work-items past the last record

# GATSim, Table I: instructions and cycles of an invocation by GPGPU-Sim, GTX 480; gpusim's cycles.
GATSIM = {
    "layerforward": (120e6, 195e3, 159810),
    "adjust_weight": (72e6, 109e3, 81936),
    "bfs2": (1.06e6, 1.7e3, 2049),
    "pathfinder": (131e6, 163e3, 161783),
    "nn": (1.28e6, 1.8e3, 1789),
}
# PPT, Section 5.2: how much faster than a K6000 the projected Pascal is; gpusim's ratio; gpusim's ms on M2090, K40, K6000 and that Pascal.
PPT = {
    "sgemm": (2.5, 1.05, (4.116, 3.481, 2.769, 2.628)),
    "stencil": (1.5, 1.06, (14.11, 14.42, 12.46, 11.75)),
    "opt_stencil": (2.5, 1.52, (11.95, 6.859, 6.668, 4.377)),
}
PASCAL = ("k6000 --sm 16 --clock-mhz 900 --fp32-lanes 256 --fp64-lanes 128 --dram-gbps 1000 --dram-channels 12 --link-gbps 78.75").split()
failed = passed = 0


def verdict(name, good, text):
    global failed, passed
    passed, failed = passed + good, failed + (not good)
    print("%s %-28s %s" % ("PASS" if good else "FAIL", name, text), flush=True)


def near(value, expected, bound=BOUND):
    return abs(value / expected - 1) <= bound


def model(gpusim, work, name, gpus, *options):
    output = os.path.join(work, name)
    subprocess.run([gpusim, "task", "%s/kernels/tasks/%s.task" % (ROOT, name), "--gpu", ",".join(gpus), "--report", "json", "--output", output, *options],
                   check=True, stdout=subprocess.DEVNULL)
    with open(output + ".json") as f:
        return json.load(f)["launches"][0]["estimates"]


def gatsim(gpusim, work, name):
    instructions, cycles, expected = GATSIM[name]
    e = model(gpusim, work, "gatsim_" + name, ["gtx480"], "--memory", "perfect", "--trace", "all")[0]
    verdict(name + ", instructions", near(e["thread_instructions"], instructions, INSTRUCTIONS),
            "the paper's %d, the list's %d" % (instructions, e["thread_instructions"]))
    verdict(name + ", cycles", near(e["cycles"], expected),
            "the paper's %d, ours %.0f (%+.1f%%), expected %d" % (cycles, e["cycles"], 100 * (e["cycles"] / cycles - 1), expected))


def ppt(gpusim, work, name):
    paper, expected, times = PPT[name]
    scaled = os.path.join(work, "scaled.gpu")
    with open(scaled, "w") as f:
        subprocess.run([gpusim, "scale", *PASCAL], check=True, stdout=f)
    found = [e["time_ns"] / 1e6 for e in model(gpusim, work, "ppt_" + name, ["m2090", "k40", "k6000", "pascal_projected", scaled])]
    verdict(name + ", times", all(near(t, x) for t, x in zip(found, times)), "%s ms" % ", ".join("%.4g" % t for t in found))
    verdict(name + ", scale", found[3] == found[4], "the Pascal that gpusim scale makes: %.4g ms" % found[4])
    ratio = found[2] / found[3]
    verdict(name + ", speedup", near(ratio, expected), "the paper's %.1f, ours %.2f (%+.0f%%), expected %.2f" % (paper, ratio, 100 * (ratio / paper - 1), expected))


def main():
    gpusim = os.path.join(os.path.abspath(sys.argv[1]), "gpusim")
    patterns = sys.argv[2:] or ["*"]
    with tempfile.TemporaryDirectory() as work:
        for table, check in (GATSIM, gatsim), (PPT, ppt):
            for name in table:
                if any(fnmatch.fnmatch(name, p) for p in patterns):
                    check(gpusim, work, name)
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


sys.exit(main())
