#!/usr/bin/env python3
"""Compares estimates of the suite's kernels as OpenCL and as CUDA programs, on the same GPUs.

    tests/accuracy/cuda.py BUILD_DIR [--gpu h200,v100,gtx480] [--cases FILE PATTERN]... [--work FOLDER] [-o TABLE.csv]

Without --cases: all small cases, and medium ones that a CPU runs in seconds. What launches need before their first instruction is taken to be
the same for both: it depends on the API. The code of both is selected: machine code is of CUDA programs only. A case is alike if both kernels have the same PTX but for moves and integers (addresses are
computed in other ways). Of like cases times must agree within 3%, and so must loads and sectors that warps ask for, which must be the same where
both were counted as a whole (is_counted); of others too, unless the two texts show why not (reason_of). Ends with "N passed, N failed".
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

NEAR = 0.03
OVERHEAD_NS = 1456  # of CUDA on an H200
MEDIUM = ("matmul_tiled-m", "reduce-m", "stencil-m", "spmv-m", "transpose_pad1-m", "if_else-m", "mandelbrot-m", "gather-m")
RACES = ("frontier",)  # what it executes depends on the order of groups


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--gpu", default="h200,v100,gtx480")
    p.add_argument("--cases", nargs=2, action="append", metavar=("FILE", "PATTERN"))
    p.add_argument("--work", help="keeps what was compiled and reported here")
    p.add_argument("-o", dest="table")
    return p.parse_args()


def run(build, work, api, gpus, cases, patterns):
    """One process; returns (names of its cases, report)."""
    out = os.path.join(work, api)
    program = "kernels/suite" if api == "opencl" else "kernels/cuda/host"
    environment = dict(os.environ, LD_PRELOAD=os.path.join(build, "libgpusim.so"), GPUSIM_GPU=gpus, GPUSIM_REPORT="json", GPUSIM_OUTPUT=out,
                       GPUSIM_SET=f"launch_overhead_ns={OVERHEAD_NS},cuda_launch_overhead_ns={OVERHEAD_NS}", GPUSIM_CODE="selected",
                       GPUSIM_CACHE_DIR=os.path.join(work, "cache-" + api))
    said = subprocess.run([os.path.join(build, program), cases, *patterns], env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [line.split(",")[0] for line in said.splitlines()], json.load(open(out + ".json"))


# ---- PTX ----

def sections(path):
    """The sections of a pack: name and bytes (runtime/base/base.h)."""
    data = open(path, "rb").read()
    at = data.index(b"\n") + 1
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].split()
        if len(words) != 2 or words[0] == b"end" or not words[1].isdigit():
            return
        size = int(words[1])
        yield words[0].decode(), data[end + 1:end + 1 + size]
        at = end + 1 + size
        at += data[at:at + 1] == b"\n"


def opcodes(body):
    """How often each opcode is in the text of a function."""
    return collections.Counter(m.group(1) for m in re.finditer(r"^\t(?:@!?%\w+ )?\s*([a-z]\w*(?:\.\w+)*)[ \t;]", body, re.M))


def shares_places(body):
    """Whether two accesses to global memory have the same line and column: OpenCL's mapping to the source cannot tell them apart then, and takes
    the addresses of one for both (spmv: row[r] and row[r + 1])."""
    place, seen = None, set()
    for line in body.splitlines():
        if line.startswith("\t.loc"):
            place = line
        elif re.match(r"\t(?:@!?%\w+ )?\s*(ld|st|atom|red)\.global", line):
            if place and place in seen:
                return True
            seen.add(place)
    return False


def read_ptx(folder, places):
    """Opcodes by target and kernel, from the results of gpusim-cc in the cache. Kernels whose accesses share places are added to a set."""
    kernels = {}
    for path in (os.path.join(d, f) for d, _, files in os.walk(folder) for f in files):
        if not open(path, "rb").read(11) == b"gpusim-pack":
            continue
        for name, data in sections(path):
            if name != "ptx":
                continue
            text = data.decode(errors="replace")
            target = re.search(r"^\.target (\w+)", text, re.M)
            for m in re.finditer(r"\.entry (\w+)\(.*?\n\{(.*?)\n\}", text, re.S):
                which = target.group(1) if target else "", m.group(1)
                kernels[which] = opcodes(m.group(2))
                if shares_places(m.group(2)):
                    places.add(which)
    return kernels


def matters(opcode):
    """Whether an opcode is part of the comparison: not where it may compute an address, or only moves something."""
    first = opcode.split(".")[0]
    if first in ("mov", "cvta", "ret", "bra", "selp") or opcode.startswith("ld.param"):
        return False
    return not (first in ("add", "sub", "mul", "mad", "shl", "shr", "and", "or", "cvt", "bfe", "setp", "min", "max", "not", "neg", "abs", "rem", "div")
                and not re.search(r"\.f(16|32|64)\b", opcode))


def plain(opcode):
    """Without what says the same in other words: a vector of two words is one of 64 bits."""
    opcode = re.sub(r"\.(u|s|b|f)(8|16|32|64)\b", r".\2", opcode) if opcode.startswith(("ld.", "st.")) else opcode
    return opcode.replace(".v2.32", ".64")


def difference(a, b):
    """In words; empty: alike."""
    a, b = ({plain(o): sum(n for p, n in c.items() if plain(p) == plain(o)) for o in c if matters(o)} for c in (a, b))
    return " ".join(f"{o}:{a.get(o, 0)}/{b.get(o, 0)}" for o in sorted({*a, *b}) if a.get(o, 0) != b.get(o, 0))


def often(opcodes, pattern):
    return sum(n for o, n in opcodes.items() if re.match(pattern, o))


def other_instructions(own, other):
    """The share of instructions, of any kind, that only one of the two texts has."""
    return sum(abs(own.get(o, 0) - other.get(o, 0)) for o in {*own, *other}) / max(1, sum(own.values()))


def reason_of(own, other, executes_ptx):
    """Why times may differ: what the two compilers made of the kernel; empty: nothing that matters. Some GPUs execute PTX as it stands: moves and
    conversions of addresses (cvta), which machine code does not have, take time there."""
    said = []
    if executes_ptx and other_instructions(own, other) > NEAR:
        said.append("PTX is executed as it stands")
    if often(own, r"ld\.param") != often(other, r"ld\.param"):
        said.append("other parameters")  # of OpenCL, shared memory is one
    precise = r"(div|rcp|sqrt)\.rn\.f32"
    if often(own, precise) < often(other, precise):
        said.append("precise division and roots")
    if often(own, "call") != often(other, "call"):
        said.append("library functions")
    work = r"(ld\.global|ld\.shared|fma|xor|bar\.)"
    if often(own, work) != often(other, work):
        said.append(f"unrolled more by {'OpenCL' if often(own, work) > often(other, work) else 'CUDA'}")
    return " and ".join(said)


# ---- the table ----

COUNTS = ("registers_per_thread", "warp_instructions", "machine_instructions")
ASKED = ("load_requests", "load_sectors", "store_sectors")  # by warps, before any cache
TRAFFIC = ("load_requests", "transactions", "load_sectors", "store_sectors", "dram_bytes")
COLUMNS = ("case", "gpu", *(f"{k}_{api}" for k in ("ptx", *COUNTS, *TRAFFIC, "cycles") for api in ("opencl", "cuda")), "time_ratio", "flags_opencl",
           "flags_cuda", "verdict", "ptx_difference")


def off(a, b):
    return abs(b / a - 1) if a else float(bool(b))


def is_counted(e):
    """Whether what warps ask for was counted as a whole, not in a part of the launch."""
    return not {"sampled", "items_not_counted", "blocks_bounded"} & {*e["flags"]} and all(float(e["memory"][k]).is_integer() for k in ASKED)


def asks_otherwise(a, b, told_apart):
    """told_apart: both have the same branches, and it is known which access is which."""
    most = 0 if is_counted(a) and is_counted(b) and told_apart else NEAR
    return any(off(a["memory"][k], b["memory"][k]) > most for k in ASKED)


def executes_ptx(e):
    return e["machine_instructions"] == e["warp_instructions"]


def judge(case, unlike, reason, told_apart, a, b):
    apart = off(a["time_ns"], b["time_ns"])
    if case.rsplit("-", 1)[0] in RACES:
        return "races"
    if not unlike and asks_otherwise(a, b, told_apart):
        return "FAIL: like PTX, other requests"
    if apart <= NEAR:
        return "near"
    if a["low_ns"] <= b["time_ns"] <= a["high_ns"]:
        return "within the band"  # loops are recorded in other windows
    if not unlike and off(a["machine_instructions"] / a["warp_instructions"], b["machine_instructions"] / b["warp_instructions"]) > NEAR:
        return "assembled in another way"  # OpenCL's text stands for that of NVIDIA's front end (docs/machine.md)
    return reason or ("FAIL: PTX differs, but not in what is known to matter" if unlike else "FAIL: like PTX, another time")


def rows_of(name, a, b, targets, ptx, places):
    for x, y in zip(a["estimates"], b["estimates"]):
        arch = next(t["arch"] for t in targets if t["name"] == x["target"])
        own = ptx["opencl"].get((arch, a["kernel"]), {})
        other = next((c for (_, kernel), c in ptx["cuda"].items() if kernel == b["kernel"]), {})
        unlike = difference(own, other)
        # warps take the same ways through the same branches
        told_apart = often(own, "bra") == often(other, "bra") and (arch, a["kernel"]) not in places
        pairs = [(sum(own.values()), sum(other.values())), *((x[k], y[k]) for k in COUNTS), *((x["memory"][k], y["memory"][k]) for k in TRAFFIC),
                 (x["cycles"], y["cycles"])]
        yield (name, x["target"], *(v for pair in pairs for v in pair), f'{y["time_ns"] / x["time_ns"]:.3f}', " ".join(x["flags"]),
               " ".join(y["flags"]), judge(name, unlike, reason_of(own, other, executes_ptx(x) and executes_ptx(y)), told_apart, x, y), unlike)


def compare(o, work, cases, patterns):
    names, opencl = run(o.build, work, "opencl", o.gpu, cases, patterns)
    other_names, cuda = run(o.build, work, "cuda", o.gpu, cases, patterns)
    if names != other_names or not len(names) == len(opencl["launches"]) == len(cuda["launches"]):
        sys.exit("FAIL: not every case has a launch in both reports")
    places = set()
    ptx = {api: read_ptx(os.path.join(work, "cache-" + api), places) for api in ("opencl", "cuda")}
    for name, a, b in zip(names, opencl["launches"], cuda["launches"]):
        yield from rows_of(name, a, b, opencl["targets"], ptx, places)


def main():
    o = arguments()
    o.build = os.path.abspath(o.build)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sets = [(f, [p]) for f, p in o.cases or ()] or [("kernels/cases.txt", ["*-s"]), ("kernels/more-cases.txt", ["*-s"]), ("kernels/medium-cases.txt", MEDIUM)]
    rows = []
    with tempfile.TemporaryDirectory(prefix="gpusim-cuda-") as folder:
        work = os.path.abspath(o.work or folder)
        os.makedirs(work, exist_ok=True)
        for cases, patterns in sets:
            rows += compare(o, work, os.path.join(root, cases), patterns)
    if o.table:
        os.makedirs(os.path.dirname(os.path.abspath(o.table)), exist_ok=True)
        with open(o.table, "w") as f:
            f.writelines(",".join(str(v) for v in row) + "\n" for row in (COLUMNS, *rows))
    for r in rows:
        row = dict(zip(COLUMNS, r))
        both = lambda key: f'{row[key + "_opencl"]}/{row[key + "_cuda"]}'
        print(f'{row["case"]:20} {row["gpu"]:7} ptx {both("ptx"):9} registers {both("registers_per_thread"):6} instructions {both("machine_instructions"):19}'
              f' loads {both("load_requests"):17} x{row["time_ratio"]} {row["verdict"]} [{row["ptx_difference"]}]')
    failed = sum(r[COLUMNS.index("verdict")].startswith("FAIL") for r in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
