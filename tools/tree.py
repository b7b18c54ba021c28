# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the files of the tree, and how a check ends."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def files(*suffixes, under=""):
    """Paths relative to the root, sorted; build folders are left out."""
    found = []
    for folder, folders, names in os.walk(os.path.join(ROOT, under)):
        folders[:] = [f for f in folders
                      if f not in (".git", "dist", "__pycache__")
                      and not (folder == ROOT + "/" and f.startswith("build"))]
        for name in names:
            if name == ".git":  # of a second working tree
                continue
            if not suffixes or name.endswith(suffixes):
                path = os.path.join(folder, name)
                found.append(os.path.relpath(path, ROOT))
    return sorted(found)


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def lines(path):
    """(number, line) pairs, from 1."""
    return enumerate(text(path).splitlines(), 1)


def end(name, problems, checked):
    """Prints 'file:line: message' lines and one line of result; exits."""
    for problem in problems:
        print(problem)
    result = f"{len(problems)} problems" if problems else "passed"
    print(f"{name}: {result} ({checked})")
    sys.exit(1 if problems else 0)
