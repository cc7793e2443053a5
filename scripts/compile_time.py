#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the user time of one nvcc compilation for sm_90, and what it parses.

    compile_time.py [--runs N] [--root DIR]... [FILE]

FILE is a path in each DIR, or an absolute one; by default templates/single_lock/after.cu. Several roots, such as
worktrees of two commits, are compiled in turn, so that other work on the machine slows all of them alike. A root is
by default the one of this script.
"""
import argparse
import collections
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-O3", "--generate-code=arch=compute_90,code=sm_90"]
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def output(root, file, *more):
    """Output of nvcc."""
    command = [NVCC, *FLAGS, f"-I{root / 'include'}", *more, root / file]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{root / file} does not compile")
    return done.stdout


def user_seconds(root, file, folder):
    """User time of one compilation, with all processes that nvcc starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output(root, file, "-c", "-o", f"{folder}/object.o")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def parsed_headers(root, file):
    """Number of headers of each folder of include/warden."""
    warden = root / "include/warden"
    paths = (pathlib.Path(p).resolve() for p in re.findall(r"[^\s\\]+", output(root, file, "-M")))
    folders = (p.parent.relative_to(warden).as_posix() for p in paths if p.is_relative_to(warden))
    return collections.Counter("public" if folder == "." else folder for folder in folders)


def parsed_lines(root, file):
    """Number of lines with text after preprocessing."""
    return sum(1 for line in output(root, file, "-E").splitlines() if line.strip() and not line.startswith("#"))


def main():
    own = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default="templates/single_lock/after.cu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--root", type=lambda text: pathlib.Path(text).resolve(), action="append")
    given = parser.parse_args()
    roots = given.root or [own]
    seconds = {root: [] for root in roots}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.runs):
            for root in roots:
                seconds[root].append(user_seconds(root, given.file, folder))
    for root in roots:
        median = statistics.median(seconds[root])
        print(f"{root}: {given.file}: {median:.2f} s user, median of {given.runs} "
              f"({min(seconds[root]):.2f} to {max(seconds[root]):.2f})")
        headers = parsed_headers(root, given.file)
        print(f"  {headers.total()} headers: " + ", ".join(f"{n} {folder}" for folder, n in sorted(headers.items())))
        print(f"  {parsed_lines(root, given.file)} lines after preprocessing")


if __name__ == "__main__":
    main()
