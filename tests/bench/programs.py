"""Programs that modelling is measured with, and how they run; for modelling.py and tests/accuracy/bounded.py."""
import fnmatch
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SIZES = ("small", "medium", "long")
# Cases of the suite whose large launches take a CPU minutes: kernels/large-cases.txt has the same with fewer groups.
CASES = (("cases.txt", "*-s", "small"), ("more-cases.txt", "*-s", "small"), ("large-cases.txt", "*", "large"))
# Programs of kernels/launches.c, with sizes that a CPU runs in a second.
LAUNCHES = (("bfs", 65536), ("kmeans", 65536), ("lu", 256), ("align", 512), ("heat", 512), ("collatz", 100000))


def say(text):
    print(text, file=sys.stderr, flush=True)


class Program:
    """A program, and its command. patience: how many times the usual limit of time it may take."""

    def __init__(self, name, size, group, command, patience=1):
        self.name, self.size, self.group, self.command, self.patience = name, size, group, command, patience

    def __str__(self):
        return f"{self.name} {self.size}"

    def matches(self, *patterns):
        """Shell patterns of its name, or of its name and size."""
        return any(fnmatch.fnmatch(text, p) for p in patterns for text in (self.name, str(self)))


def shape(build, root, name, size, length=None):
    command = [build + "/kernels/shapes", "-k", root + "/kernels/shapes", name, size]
    return Program(name, size if length is None else f"{length:.0e}".replace("+0", ""), "set",
                   command + ([] if length is None else [str(length)]))


def shapes(build, root, sizes):
    listed = subprocess.run([build + "/kernels/shapes", "-l"], check=True, capture_output=True, text=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    return [shape(build, root, name, size) for size in sizes for name in names]


def suites(build, root):
    """kernels/: all cases of a file in one process, each one launch; then programs of many launches."""
    suite = [build + "/kernels/suite", "-r", "1"]
    found = [Program(file.removesuffix(".txt"), size, "kernels/", [*suite, f"{root}/kernels/{file}", pattern], 3)
             for file, pattern, size in CASES]
    return found + [Program("launches", name, "kernels/", [build + "/kernels/launches", "-k", root + "/kernels", name, str(size)])
                    for name, size in LAUNCHES]


class Run:
    """One run: wall and processor seconds, standard output; of the library's report the launches, and the number of those that
    were not modelled."""

    def __init__(self, wall, cpu, output, ended):
        self.wall, self.cpu, self.output, self.ended = wall, cpu, output, ended
        self.launches, self.not_modelled = [], 0


class Runner:
    """Runs programs without the library and with it. Caches of compilers are warm, a cache of results is not: every run under the
    library begins with what runs of the optimistic model left there."""

    def __init__(self, build, limit_s):
        self.build, self.limit_s = build, limit_s
        self.work = tempfile.mkdtemp(prefix="gpusim-programs.")
        self.compiled, self.caches = self.work + "/compiled", self.work + "/cache"
        ours = ("LD_PRELOAD", "OPENCL_LAYERS")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("GPUSIM_") and k not in ours}
        self.environment["POCL_CACHE_DIR"] = self.work + "/pocl"
        for folder in ("/pocl", "/compiled"):
            os.mkdir(self.work + folder)

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def _run(self, program, settings):
        """A program that takes too long is interrupted. The library then reports what it knows, in a few seconds."""
        limit_s = self.limit_s * program.patience
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.work + "/stdout", "w") as out, open(self.work + "/stderr", "w") as err:
            begin = time.monotonic()
            child = subprocess.Popen(program.command, env={**self.environment, **settings}, stdout=out, stderr=err, cwd=self.work)
            for patience, end in ((limit_s, signal.SIGINT), (15, signal.SIGKILL)):
                try:
                    child.wait(patience)
                    break
                except subprocess.TimeoutExpired:
                    child.send_signal(end)
            code = child.wait()
            wall = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = wall < limit_s
        if code and ended:
            with open(self.work + "/stderr") as f:
                sys.exit(f"{program}: exit {code}: {f.read()[-2000:]}")
        with open(self.work + "/stdout") as f:
            return Run(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, f.read(), ended)

    def plain(self, program):
        return self._run(program, {})

    def _under(self, program, settings):
        return self._run(program, {"LD_PRELOAD": self.build + "/libgpusim.so", "GPUSIM_GPU": "h200", **settings})

    def warm(self, program, settings=None):
        """Compiles everything. The optimistic model takes no time."""
        ours = {"GPUSIM_CACHE_DIR": self.compiled, "GPUSIM_REPORT": "none", "GPUSIM_MODEL": "optimistic"}
        self._under(program, {**(settings or {}), **ours})

    def under(self, program, settings=None):
        report = self.work + "/report"
        for path in (self.caches, report + ".json"):
            if os.path.exists(path):
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        shutil.copytree(self.compiled, self.caches)
        ours = {"GPUSIM_CACHE_DIR": self.caches, "GPUSIM_REPORT": "json", "GPUSIM_OUTPUT": report}
        run = self._under(program, {**(settings or {}), **ours})
        if os.path.exists(report + ".json"):
            with open(report + ".json") as f:
                report = json.load(f)
            run.launches = [l for l in report["launches"] if l["estimates"]]
            run.not_modelled = sum(n["launches"] for n in report["not_modelled"])
        return run
