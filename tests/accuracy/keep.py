#!/usr/bin/env python3
"""Takes the comparisons of a build into the repository: docs/accuracy, and what README and reports say about accuracy.

  keep.py BUILD_DIR/accuracy REPOSITORY NAME...
  keep.py --check REPOSITORY    whether README and reports say what docs/accuracy has

The names are of the comparisons that were made now; others stay as they are.
"""
import csv
import os
import shutil
import subprocess
import sys

# Name, metric, what is compared; then for reports: targets and memory that it speaks for, and how ("" says nothing).
ROWS = [
    ("gtx480-1sm", "cycles", "GTX 480, 1 SM, perfect memory: GPGPU-Sim's cycles", "", "", ""),
    ("gtx480-15sm-1sched", "cycles", "GTX 480, 15 SMs, 1 scheduler, perfect memory: GPGPU-Sim's cycles", "", "", ""),
    ("gtx480-15sm", "cycles", "GTX 480, 15 SMs, 2 schedulers, perfect memory: GPGPU-Sim's cycles", "gtx480", "perfect",
     "With perfect memory, cycles are within {mean} of GPGPU-Sim 4's in the mean and {worst} at worst ({case}), over {cases} "
     "reference cases."),
    ("gtx480-15sm-occupancy", "cycles", "the same by the occupancy-vector model alone", "", "", ""),
    ("gtx480-1sm-probabilistic", "cycles", "GTX 480, 1 SM, perfect memory, by the probabilistic model alone", "", "", ""),
    ("gtx480-full", "cycles", "GTX 480 with caches, interconnect and DRAM: GPGPU-Sim's cycles", "gtx480", "hierarchy",
     "With the memory hierarchy, cycles are within {mean} of GPGPU-Sim 4's in the mean and {worst} at worst ({case}), over {cases} "
     "reference cases."),
    ("gtx480-warps", "warp_instructions", "the same, every launch traced: what warps execute", "", "", ""),
    ("h200-machine", "warp_instructions", "H200: machine instructions of warps, by hardware counters", "", "", ""),
    ("h200-small", "median_ns", "H200, small cases: measured time, mostly that of the launch", "", "", ""),
    ("h200-large", "median_ns", "H200, large cases: measured time", "h200", "hierarchy",
     "With the memory hierarchy, times of {cases} large reference cases are {mean} off those that a real H200 took, in the mean, and "
     "{worst} at worst ({case}); their logarithms correlate by {correlation}."),
    ("h200-classes", "median_ns", "H200, classes of kernels that are hard to time (`kernels/classes`, development half), below some 100 us", "", "", ""),
    ("h200-cuda-small", "median_ns", "H200, small cases as CUDA programs: time by Nsight Compute", "", "", ""),
    ("h200-cuda-small-selected", "median_ns", "the same with selected code (`GPUSIM_CODE=selected`)", "", "", ""),
    ("h200-cuda-medium", "median_ns", "H200, medium cases as CUDA programs: time by Nsight Compute", "", "", ""),
    ("h200-cuda-medium-selected", "median_ns", "the same with selected code (`GPUSIM_CODE=selected`)", "", "", ""),
]
ENDINGS = (".csv", "-summary.csv", ".svg", "-others.svg")


def summary(path, metric):
    """The row of all cases, and the comments, which tell when and with what."""
    with open(path) as f:
        lines = f.readlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    row = next(r for r in rows if r["metric"] == metric and r["half"] == "*")
    date = next(line.split(", ")[4] for line in lines if line.startswith("# estimates: ")).strip()
    return row, date


def figures(row):
    percent = {k: f"{abs(float(row[k])) * 100:.1f}%" for k in ("mean", "median", "worst")}
    sign = "+" if float(row["worst"]) > 0 else "-"
    correlation = f"{float(row['correlation']):.3f}" if row["correlation"] else "-"
    return {**percent, "signed": sign + percent["worst"], "case": row["worst_case"], "cases": row["cases"], "left_out": row["left_out"],
            "correlation": correlation}


def version(root):
    commit = subprocess.run(["git", "-C", root, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return commit or "unknown"


def kept_versions(path):
    """NAME -> the version that made it, as the page has it."""
    try:
        with open(path) as f:
            cells = [line.split("|") for line in f if line.startswith("| [")]
    except FileNotFoundError:
        return {}
    return {c[1].split("]")[0].strip(" ["): c[-2].strip() for c in cells}


def write_page(folder, root, made):
    page = os.path.join(folder, "README.md")
    versions = kept_versions(page)
    out = ["# How far estimates are from what was measured", "",
           "`tests/accuracy/run.sh BUILD_DIR --keep` writes this page. `make validate` makes the same tables in its build folder.", "",
           "The measured values (truth) are in `tests/reference`. The cases are in `kernels/cases.txt`, which says what each measures. An error is",
           "(estimate - truth) / truth. No case is left out of the mean unless the table says so. The CSV files have every case, with every counter",
           "that both sides have. The last column is the commit that was measured.", "",
           "| comparison | of what | cases | left out | mean | median | worst | correlation of logarithms | date | version |",
           "|---|---|---|---|---|---|---|---|---|---|"]
    for name, metric, what, *_ in ROWS:
        path = os.path.join(folder, name + "-summary.csv")
        if not os.path.exists(path):
            continue
        row, date = summary(path, metric)
        f = figures(row)
        by = version(root) if name in made else versions.get(name, "unknown")
        out.append(f"| [{name}]({name}.csv) | {what}, [plot]({name}.svg), [others]({name}-others.svg) | {f['cases']} | {f['left_out']} | "
                   f"{f['mean']} | {f['median']} | {f['signed']} {f['case']} | {f['correlation']} | {date} | {by} |")
    out += ["", "An H200's counters were taken with cold caches, one launch each. Its times are medians of up to 21 launches with clocks up, so that caches were as",
            "warm as the launch before left them (frontier: the first launch, because later ones find nothing left to do). Estimates have warm caches. Sectors of L2",
            "and DRAM of small cases therefore do not compare. Until 2026-11-17, h200-small and h200-large were compared with times of an H200 whose clocks were",
            "not brought up, which are up to 26% longer for large cases."]
    if os.path.exists(os.path.join(folder, "bounded.csv")):
        out += ["", "[bounded](bounded.csv) compares default options with `GPUSIM_EXACT=1`, by program (`tests/accuracy/bounded.py --keep`)."]
    out += programs_text(folder)
    with open(page, "w") as f:
        f.write("\n".join(out) + "\n")


def programs_text(folder):
    """Of kernels/programs (programs.py --keep)."""
    path = os.path.join(folder, "programs-summary.csv")
    if not os.path.exists(path):
        return []
    lines = ["", "[programs](programs.csv): the kernels of 151 CUDA programs as users write them (`kernels/programs`), default options, time by Nsight Compute on an",
             "H200. Programs of development were looked at while models changed, those of test were not. `long` is 20 us and longer.", "",
             "| set | size | kernels | mean | median | bias | worst | date | version |", "|---|---|---|---|---|---|---|---|---|"]
    for r in csv.DictReader(open(path)):
        mean, median, bias, worst = (float(r[k]) for k in ("mean", "median", "bias", "worst"))
        lines.append(f"| {r['half']} | {r['size']} | {r['kernels']} | {mean:.1%} | {median:.1%} | {bias:+.1%} | {worst:+.1%} | {r['date']} | {r['version']} |")
    return lines


README_BEGIN = "<!-- Written by tests/accuracy/keep.py. -->\n"
README_END = "<!-- Until here. -->\n"


def readme(folder, root):
    """README with the figures of docs/accuracy."""
    paths = {name: (os.path.join(folder, name + "-summary.csv"), metric) for name, metric, *_ in ROWS}
    f = {name: figures(summary(path, metric)[0]) for name, (path, metric) in paths.items() if os.path.exists(path)}
    full, perfect, h200 = f["gtx480-full"], f["gtx480-15sm"], f["h200-large"]
    text = (f"On {full['cases']} reference kernels for a GTX 480, cycles are within {full['mean']} of GPGPU-Sim's in the mean, {full['worst']} at "
            f"worst (perfect memory: {perfect['mean']} and {perfect['worst']}).\n"
            f"On {h200['cases']} large cases, times are {h200['mean']} off those of a real H200 in the mean, {h200['worst']} at worst; "
            "[docs/accuracy](docs/accuracy/README.md) has every case.\n")
    with open(os.path.join(root, "README.md")) as page:
        before, _, rest = page.read().partition(README_BEGIN)
    return before + README_BEGIN + text + README_END + rest.partition(README_END)[2]


def definitions(folder):
    lines = ["/* What docs/accuracy says, for readers of a report; written by tests/accuracy/keep.py. */"]
    for name, metric, _, targets, memory, text in ROWS:
        path = os.path.join(folder, name + "-summary.csv")
        if text and os.path.exists(path):
            row, date = summary(path, metric)
            lines.append(f'ACCURACY("{targets}", "{memory}",\n         "{text.format(**figures(row))} (measured {date})")')
    return "\n".join(lines) + "\n"


def followers(folder, root):
    """Files that say what docs/accuracy has: path, text."""
    return [(os.path.join(root, "runtime/config/accuracy_measured.def"), definitions(folder)),
            (os.path.join(root, "README.md"), readme(folder, root))]


def check(root):
    wrong = []
    for path, text in followers(os.path.join(root, "docs/accuracy"), root):
        with open(path) as f:
            if f.read() != text:
                wrong.append(os.path.relpath(path, root))
    if wrong:
        sys.exit(f"keep.py: other figures than in docs/accuracy: {', '.join(wrong)}")


def main():
    if sys.argv[1] == "--check":
        return check(sys.argv[2])
    made_in, root, *made = sys.argv[1:]
    folder = os.path.join(root, "docs/accuracy")
    os.makedirs(folder, exist_ok=True)
    unknown = set(made) - {row[0] for row in ROWS}
    if unknown:
        sys.exit(f"keep.py: {', '.join(sorted(unknown))}: not in its table")
    for name in made:
        for ending in ENDINGS:
            shutil.copy(os.path.join(made_in, name + ending), os.path.join(folder, name + ending))
    write_page(folder, root, made)
    for path, text in followers(folder, root):
        with open(path, "w") as f:
            f.write(text)
    print("kept:", ", ".join(made))


if __name__ == "__main__":
    main()
