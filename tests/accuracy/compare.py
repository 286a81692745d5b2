#!/usr/bin/env python3
"""Estimates of the suite beside what GPGPU-Sim measured: a table, a CSV file and a picture.

  compare.py REFERENCE.csv CONFIG CASES.txt REPORT.json OUTPUT_PREFIX [--mean PERCENT] [--without CASE,...]
             [--warps COUNT:PERCENT:MOST]

The report is that of one run of the suite's -s cases, in the order of CASES.txt. Cases that are left out of the mean
are named with their figures all the same. Exits 1 when the mean absolute error of the cycles is above PERCENT, or when
fewer than COUNT cases have their warp instructions within PERCENT, or some case not within MOST percent.
"""
import csv
import json
import math
import sys


def read_reference(path, config):
    with open(path) as f:
        rows = csv.DictReader(line for line in f if not line.startswith("#"))
        return {row["case"]: row for row in rows if row["config"] == config}


def read_cases(path):
    with open(path) as f:
        names = [line.split()[0] for line in f if line.strip() and not line.startswith("#")]
    return [name for name in names if name.endswith("-s")]


def compare(reference, cases, launches):
    for case, launch in zip(cases, launches):
        truth, estimate = reference.get(case), launch["estimates"][0]
        if truth:
            yield {
                "case": case,
                "thread_instructions": estimate["thread_instructions"] / float(truth["thread_instructions"]) - 1,
                "warp_instructions": estimate["warp_instructions"] / float(truth["warp_instructions"]) - 1,
                "cycles": estimate["cycles"],
                "reference_cycles": float(truth["cycles"]),
                "error": estimate["cycles"] / float(truth["cycles"]) - 1,
                "registers": estimate["registers_per_thread"],
                "reference_registers": truth["registers"],
                "limiter": estimate["limiter"],
                "flags": " ".join(estimate["flags"]),
            }


def scatter(rows, title):
    """Estimate over truth, both logarithmic, with names; the diagonal and 10% on either side."""
    size, edge = 640, 60
    low = math.floor(min(math.log10(min(r["cycles"], r["reference_cycles"])) for r in rows))
    high = math.ceil(max(math.log10(max(r["cycles"], r["reference_cycles"])) for r in rows))

    def x(v):
        return edge + (math.log10(v) - low) / (high - low) * (size - 2 * edge)

    def y(v):
        return size - x(v)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {size} {size}" '
           'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="{size / 2}" y="24" text-anchor="middle" font-size="14">{title}</text>']
    for factor, dash in ((1, ""), (1.1, "4 4"), (1 / 1.1, "4 4")):
        a, b = 10 ** low, 10 ** high
        out.append(f'<line x1="{x(a):.1f}" y1="{y(a * factor):.1f}" x2="{x(b):.1f}" y2="{y(b * factor):.1f}" '
                   f'stroke="#888" stroke-dasharray="{dash}"/>')
    for e in range(low, high + 1):
        v = 10 ** e
        out.append(f'<text x="{x(v):.1f}" y="{size - edge + 16}" text-anchor="middle">1e{e}</text>'
                   f'<text x="{edge - 8}" y="{y(v) + 3:.1f}" text-anchor="end">1e{e}</text>')
    for r in rows:
        px, py = x(r["reference_cycles"]), y(r["cycles"])
        out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="#06c"/>')
        if abs(r["error"]) > 0.05:
            out.append(f'<text x="{px + 5:.1f}" y="{py + 3:.1f}">{r["case"]} {r["error"]:+.0%}</text>')
    out.append(f'<text x="{size / 2}" y="{size - 20}" text-anchor="middle">GPGPU-Sim, cycles</text>'
               f'<text x="16" y="{size / 2}" text-anchor="middle" transform="rotate(-90 16 {size / 2})">gpusim, cycles'
               '</text></svg>')
    return "\n".join(out)


def option(args, name):
    """Takes an option and its value out of args."""
    if name not in args:
        return None
    i = args.index(name)
    value = args[i + 1]
    del args[i:i + 2]
    return value


def warps_agree(rows, wanted):
    count, near, most = (float(x) for x in wanted.split(":"))
    errors = [abs(r["warp_instructions"]) * 100 for r in rows]
    within = sum(e <= near for e in errors)
    print(f"warp instructions: {within} of {len(rows)} within {near:g}%, worst {max(errors):.2f}%")
    return within >= count and max(errors) <= most


def main():
    args = sys.argv[1:]
    limit, warps, without = option(args, "--mean"), option(args, "--warps"), option(args, "--without")
    limit, without = float(limit) / 100 if limit else None, without.split(",") if without else []
    if len(args) != 5:
        sys.exit(__doc__)
    reference, config, cases, report, output = args
    with open(report) as f:
        launches = json.load(f)["launches"]
    rows = list(compare(read_reference(reference, config), read_cases(cases), launches))
    if not rows:
        sys.exit(f"no case of {config} in {report}")
    print(f"{'case':18} {'threads':>8} {'warps':>8} {'cycles':>10} {'GPGPU-Sim':>10} {'error':>7}  limiter, flags")
    for r in rows:
        print(f"{r['case']:18} {r['thread_instructions']:+8.2%} {r['warp_instructions']:+8.2%} {r['cycles']:10.0f} "
              f"{r['reference_cycles']:10.0f} {r['error']:+7.1%}  {r['limiter']} {r['flags']}")
    with open(output + ".csv", "w", newline="") as f:
        writer = csv.DictWriter(f, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    with open(output + ".svg", "w") as f:
        f.write(scatter(rows, config))
    errors = [abs(r["error"]) for r in rows]
    kept = [abs(r["error"]) for r in rows if r["case"] not in without]
    mean = sum(kept) / len(kept)
    print(f"{config}: mean {sum(errors) / len(errors):.2%}, worst {max(errors):.1%} of all {len(rows)} cases; "
          f"mean {mean:.2%}, worst {max(kept):.1%} without {', '.join(without) if without else 'none'}")
    if warps and not warps_agree([r for r in rows if r["case"] not in without], warps):
        return 1
    return 1 if limit is not None and mean > limit else 0


if __name__ == "__main__":
    sys.exit(main())
