#!/usr/bin/env python3
"""Which folder includes which, against the table in tests/layers.txt; for layers.sh.
   layers.py ROOT TABLE directions|rooted|circles|sizes|structs"""
import os
import re
import sys

TREES = ("models", "analysis", "annotator", "runtime", "interposer")
TESTS = ("tests/models", "tests/analysis", "tests/annotator", "tests/runtime", "tests/oracle", "tests/fuzz")
SOURCE = (".c", ".h", ".cl", ".def")
MOST_FILES = 25
STRUCT = re.compile(r'(?:static )?(?:const )?struct (\w+) \{')
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


class Table:
    def __init__(self, path):
        self.uses, self.added, self.belongs = {}, {}, {}
        self.generated, self.cases = set(), set()
        for number, line in enumerate(open(path), 1):
            line = line.split("#")[0].strip()
            if line:
                self.read(line, number, path)

    def read(self, line, number, path):
        left, arrow, right = (part.strip() for part in line.partition("->"))
        if arrow and left.endswith("/**"):
            self.added[left[:-3]] = right.split()
        elif arrow:
            self.uses[left] = right.split()
        elif " belongs to " in line:
            file, folder = line.split(" belongs to ")
            self.belongs[file] = folder
        elif line.endswith(" is generated"):
            self.generated.add(line.split()[0])
        elif line.endswith(" holds cases"):
            self.cases.add(line.split()[0])
        else:
            sys.exit(f"{path}:{number}: what does this say? {line}")

    def folder(self, path):
        return self.belongs.get(path) or os.path.dirname(path)

    def rule(self, path):
        """The most specific folder of the table that the file is in."""
        folder = self.folder(path)
        while folder and folder not in self.uses:
            folder = os.path.dirname(folder)
        return folder

    def line(self, rule):
        return self.uses[rule] + [use for tree, more in self.added.items() if within(rule, tree) for use in more]

    def allowed(self, rule):
        """What a rule's files may include, less their own folder: their line's and, in the same tree, those folders' lines'."""
        found, todo = set(), self.line(rule)
        while todo:
            use = todo.pop()
            if use in found:
                continue
            found.add(use)
            if use in self.uses and use.split("/")[0] == rule.split("/")[0]:
                todo += self.line(use)
        return found

    def may(self, path, target):
        rule = self.rule(path)
        if rule == self.rule(target):
            return True
        return any(within(target, use) or within(self.folder(target), use) for use in self.allowed(rule))


class Tree:
    def __init__(self, root, table):
        self.root, self.table = root, table
        self.files = sorted(self.find())

    def find(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if not f.startswith(".")]
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if name.endswith(SOURCE) and path.split("/")[0] in TREES + ("tests", "kernels"):
                    yield path

    def includes(self, parts):
        """path, line, included file; of the files in the folders `parts`."""
        for path in self.files:
            if any(within(path, part) for part in parts):
                with open(os.path.join(self.root, path)) as f:
                    for number, line in enumerate(f, 1):
                        match = INCLUDE.match(line)
                        if match and match.group(1) not in self.table.generated:
                            yield path, number, match.group(1)

    def rooted(self, target):
        return os.path.exists(os.path.join(self.root, target))

    # The checks: each yields what is wrong.

    def unrooted(self):
        for path, line, target in self.includes(TREES + TESTS):
            if not self.rooted(target):
                yield f'{path}:{line}: "{target}" is no path from the root of the repository'

    def wrong_directions(self):
        table = self.table
        for path, line, target in self.includes(TREES):
            if not self.rooted(target):
                continue
            rule = table.rule(path)
            if not rule:
                yield f"{path}:{line}: tests/layers.txt has no line for {os.path.dirname(path)}"
            elif not table.may(path, target):
                allowed = sorted(table.allowed(rule))
                yield f"{path}:{line}: {rule} must not include {target}: {rule} may use {' '.join(allowed) or 'nothing'}, nothing else"

    def circles(self):
        edges = {}  # folder: {folder it includes: first place}
        for path, line, target in self.includes(TREES):
            source, goal = self.table.folder(path), self.table.folder(target)
            if source != goal and self.rooted(target):
                edges.setdefault(source, {}).setdefault(goal, f"{path}:{line}")
        seen = set()
        for start in sorted(edges):
            way = self.way_back(edges, start, seen)
            if way:
                seen.update(way)
                steps = ", ".join(f"{a} includes {b} ({edges[a][b]})" for a, b in zip(way, way[1:]))
                yield f"{edges[way[0]][way[1]]}: circle: {steps}"

    @staticmethod
    def way_back(edges, start, seen):
        """The shortest circle through `start`, as the folders on it, from start to start."""
        ways, reached = [[start]], set()
        for way in ways:
            for goal in edges.get(way[-1], {}):
                if goal == start:
                    return way + [goal]
                if goal not in reached | seen:
                    reached.add(goal)
                    ways.append(way + [goal])
        return None

    def large_folders(self):
        counts = {}
        for path in self.files:
            folder = os.path.dirname(path)
            counts[folder] = counts.get(folder, 0) + 1
        for folder, count in sorted(counts.items()):
            if count > MOST_FILES and folder not in self.table.cases:
                yield f"{folder}: {count} source files; at most {MOST_FILES} are easy to find one's way in"

    def repeated_structs(self):
        first = {}
        for path in self.files:
            if path.endswith((".c", ".h")) and path.split("/")[0] in TREES:
                with open(os.path.join(self.root, path)) as f:
                    for number, line in enumerate(f, 1):
                        match = STRUCT.match(line)
                        if match and first.setdefault(match.group(1), path) != path:
                            yield f"{path}:{number}: {first[match.group(1)]} has another struct {match.group(1)}"


def main(root, path, check):
    tree = Tree(root, Table(path))
    checks = {"directions": tree.wrong_directions, "rooted": tree.unrooted, "circles": tree.circles,
              "sizes": tree.large_folders, "structs": tree.repeated_structs}
    wrong = list(checks[check]())
    for line in wrong:
        print(line)
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
