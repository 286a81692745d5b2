#!/usr/bin/env python3
"""Code that is written twice: runs of six or more equal lines in two places of product code. Part of make validate.
   tests/duplicates.py [ROOT]
Blank lines, lone braces, includes, comments and blanks in lines do not count. Fails when there are more than MOST."""
import os
import re
import sys

FOLDERS = ("models", "analysis", "annotator", "runtime", "interposer")
LINES = 6
MOST = 0  # such places that are known of


def without_comments(text):
    """The text with comments gone and its lines where they were."""
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def lines_of(path):
    """(number, text) of the lines that count."""
    with open(path) as f:
        text = without_comments(f.read())
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip()
        if re.search(r"\w", line) and not line.startswith("#include") and line not in ("else", "do", "break;", "return;", "#endif", "#else"):
            yield number, line


def sources(root):
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h", ".cl", ".def", ".js")):
                    yield os.path.join(folder, name)


def find(files):
    """Pairs of places with equal runs: (length, file, index, file, index), each run once, at its first line."""
    places = {}
    for file, lines in files.items():
        for i in range(len(lines) - LINES + 1):
            places.setdefault(tuple(text for _, text in lines[i:i + LINES]), []).append((file, i))
    for same in places.values():
        first = same[0]
        for other in same[1:]:
            if not follows(files, first, other) and not (first[0] == other[0] and other[1] - first[1] < LINES):
                yield (run_length(files, first, other),) + first + other


def follows(files, a, b):
    """Whether the lines before are equal, too: the run began earlier."""
    return a[1] > 0 and b[1] > 0 and files[a[0]][a[1] - 1][1] == files[b[0]][b[1] - 1][1]


def run_length(files, a, b):
    n = 0
    while a[1] + n < len(files[a[0]]) and b[1] + n < len(files[b[0]]) and files[a[0]][a[1] + n][1] == files[b[0]][b[1] + n][1]:
        n += 1
    return n


def main(root):
    files = {os.path.relpath(path, root): list(lines_of(path)) for path in sorted(sources(root))}
    found = sorted(find(files), reverse=True)
    for length, a, i, b, j in found:
        print(f"{a}:{files[a][i][0]}: {length} lines as in {b}:{files[b][j][0]}")
    verdict = "ok  " if len(found) <= MOST else "FAIL"
    print(f"{verdict} {len(found)} places of {LINES} or more equal lines, {MOST} are known of")
    print("1 passed, 0 failed" if len(found) <= MOST else "0 passed, 1 failed")
    return len(found) > MOST


sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
