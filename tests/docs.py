#!/usr/bin/env python3
"""Files, functions and structs that the documentation names in backquotes and the tree does not have; for docs.sh.
   docs.py ROOT FILE..."""
import fnmatch
import os
import re
import sys

SOURCE = (".c", ".h", ".def", ".cl", ".sh", ".py", ".js", ".css", ".html", ".md")
CODE = (".c", ".h", ".def", ".cl", ".sh", ".py", ".js")
EXACT = ("follow-one-launch.md", "glossary.md")  # pages of which every name must be one of the code's
EXAMPLES = {"program.cl"}  # a reader's own files
PLACEHOLDER = re.compile(r"[A-Z]{2,}")  # NAME in test_NAME.c: any that fits
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


class Tree:
    def __init__(self, root):
        self.root, self.paths, words = root, [], set()
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if not f.startswith(".") and not f.startswith("build")]
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), root)
                self.paths.append(path)
                if name.endswith(CODE) and not path.startswith("tests/golden/"):
                    words.add(path)
        self.top = {name for name in os.listdir(root) if not name.startswith("build")}
        text = "\n".join(open(os.path.join(root, path), errors="replace").read() for path in sorted(words))
        self.words = set(re.findall(r"\w+", text))
        self.functions = set(re.findall(r"\b(\w+)\s*\(", text))
        self.structs = set(re.findall(r"\b(?:struct|enum|union)\s+(\w+)\s*\{", text))

    def has_function(self, name):
        return name in self.functions or any(fnmatch.fnmatch(f, PLACEHOLDER.sub("*", name)) for f in self.functions)

    def has(self, name):
        """A path from the root, or the end of one; with * or a placeholder in it, any that fits."""
        if os.path.exists(os.path.join(self.root, name)):
            return True
        if PLACEHOLDER.search(name) and "/" not in name:
            return True
        name = PLACEHOLDER.sub("*", name.rstrip("/"))
        return any(fnmatch.fnmatch(path, name) or fnmatch.fnmatch(path, "*/" + name) for path in self.paths)


def braces(word):
    """a{b,c} as ab and ac."""
    match = re.search(r"\{([^{}]*)\}", word)
    if not match:
        return [word]
    return [w for part in match.group(1).split(",") for w in braces(word[:match.start()] + part + word[match.end():])]


def is_path(word, tree):
    if not re.fullmatch(r"[\w.*/-]+", word) or word.startswith("/"):
        return False
    return word.endswith(SOURCE) or "/" in word and word.split("/")[0] in tree.top


def missing(span, exact, tree):
    """What a text in backquotes names that is not there."""
    for match in re.finditer(r"\b(\w+)\(\)", span):
        if not tree.has_function(match.group(1)):
            yield "function " + match.group(0)
    for match in re.finditer(r"\b(?:struct|enum) (\w+)", span) if exact else ():
        if match.group(1) not in tree.structs:
            yield match.group(0)
    for word in span.split():
        word = word.strip(",;:()").rstrip(".")
        for path in braces(word):
            if is_path(path, tree) and path not in EXAMPLES and not tree.has(path):
                yield "file " + path
        if exact and NAME.fullmatch(word) and word not in tree.words:
            yield "name " + word


def main(root, files):
    tree, wrong = Tree(root), 0
    for file in files:
        fenced = False
        for number, line in enumerate(open(os.path.join(root, file)), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            for span in re.findall(r"`([^`]+)`", line):
                for name in missing(span, os.path.basename(file) in EXACT, tree):
                    print(f"{file}:{number}: no {name} in the tree")
                    wrong += 1
    return 1 if wrong else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
