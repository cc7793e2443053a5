#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the machine code (SASS) of each kernel of two builds, without names.

    compare_sass.py [--cuobjdump PROGRAM] [--brief] BEFORE AFTER     folders of builds, or single files

Objects (*.o) with device code are compared by their paths in the build folder; executables and libraries, if there are
no objects. A kernel is its list of instructions: predicates, opcodes, registers, addresses and constants, but no names
of functions and labels. Kernels with equal instructions are matched in any order. Objects that are in one folder alone
are matched with those of the other that have the same kernels, because a source may have been renamed.

Exit code 1 if a kernel differs, 2 if nothing can be compared.
"""
import argparse
import collections
import hashlib
import pathlib
import re
import shutil
import sys

from machine_code import demangled, dump, kernels_in, of_all, runs, shortened

# Names of functions, variables and labels in an instruction.
NAME = re.compile(r"\.L_x?_?\d+|\$?\b_Z[\w$.]+|\$\w[\w$.]*|__\w+")


def code_of(kernel):
    """Architecture, number of instructions, and hash, with names numbered in order of first use."""
    numbers, code = {}, hashlib.sha256()
    for text in kernel.instructions:
        code.update(NAME.sub(lambda match: f"name{numbers.setdefault(match[0], len(numbers))}", text).encode() + b"\n")
    return kernel.architecture, len(kernel.instructions), code.hexdigest()


class Object:
    """The kernels of one file."""

    def __init__(self, kernels):
        self.names = collections.defaultdict(list)  # code -> names of kernels
        for kernel in kernels:
            self.names[code_of(kernel)].append(kernel.name)
        self.counts = collections.Counter({code: len(names) for code, names in self.names.items()})


def compared(before, after):
    """Numbers of equal, changed, added, removed kernels, then [(name, length)] of new and gone ones."""
    equal = before.counts & after.counts
    gone, new = ([(name, code[1]) for code, count in (side.counts - equal).items() for name in side.names[code][:count]]
                 for side in (before, after))
    changed = min(len(gone), len(new))
    return equal.total(), changed, len(new) - changed, len(gone) - changed, new, gone


def matched(before, after):
    """[(label, object before, object after)] by path, then by equal kernels, then by folder."""
    pairs = [(path, before[path], after[path]) for path in sorted(before.keys() & after.keys())]
    gone, new = ({path: one[path] for path in sorted(one.keys() - other.keys())}
                 for one, other in ((before, after), (after, before)))
    for same in (lambda path, other: gone[path].counts == new[other].counts,
                 lambda path, other: pathlib.PurePath(path).parent == pathlib.PurePath(other).parent):
        for path in [*gone]:
            if other := next((other for other in new if same(path, other)), None):
                pairs.append((f"{path} -> {other}", gone.pop(path), new.pop(other)))
    return pairs + [(f"{path} -> none", kernels, Object([])) for path, kernels in gone.items()] + [
        (f"none -> {path}", Object([]), kernels) for path, kernels in new.items()]


def files_in(path):
    """Path in the build -> file."""
    if path.is_file():
        return {path.name: path}
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink()]
    objects = [file for file in files if file.suffix == ".o"]
    programs = [file for file in files if file.stat().st_mode & 0o111 and ".so" not in file.suffixes]
    return {str(file.relative_to(path)): file for file in objects or programs}


def read(cuobjdump, path):
    files = {name: file for name, file in files_in(path).items() if b".nv_fatbin" in file.read_bytes()}
    found = of_all(lambda name: Object(kernels_in(dump(cuobjdump, ["-sass"], files[name]))), [*files])
    return {name: kernels for name, kernels in found if kernels.names}


def report(pairs, brief=False):
    """Prints a line per object, and the kernels that differ. Returns the number of those."""
    results = [(label, *compared(before, after)) for label, before, after in pairs]
    totals = [sum(column) for column in [*zip(*results)][1:5]] or [0] * 4
    readable = demangled(sorted({name for result in results for name, _ in result[5] + result[6]}))
    for label, *counts, new, gone in results:
        if not brief or any(counts[1:]):
            print(f"{label}: {counts[0]} equal, {counts[1]} changed, {counts[2]} added, {counts[3]} removed")
        for sign, kernels in (("-", gone), ("+", new)):
            for name, length in sorted(kernels):
                print(f"  {sign} {shortened(readable[name])}: {length} instructions")
    print(f"{len(pairs)} objects: {totals[0]} kernels equal, {totals[1]} changed, {totals[2]} added, "
          f"{totals[3]} removed")
    return sum(totals[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--cuobjdump", default=shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump")
    parser.add_argument("--brief", action="store_true", help="print objects with differences alone")
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    if not runs(options.cuobjdump):
        parser.error(f"no cuobjdump ({options.cuobjdump}); name one by --cuobjdump")
    before, after = (read(options.cuobjdump, path) for path in (options.before, options.after))
    for path, found in ((options.before, before), (options.after, after)):
        if not found:
            parser.error(f"{path}: no object or executable with device code")
    sys.exit(1 if report(matched(before, after), options.brief) else 0)


if __name__ == "__main__":
    main()
