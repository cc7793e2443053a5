#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build by ctest: a line a group, and the whole output of those that fail.

    run_tests.py FOLDER usual [--gpu] [--all] [--filter REGEX] [--tally FILE]
    run_tests.py FOLDER remaining [--gpu] [--filter REGEX] [--tally FILE]

`usual` are the tests without the label "remaining", and those of the GPU only with --gpu. `remaining` are the others: first
`usual` and then `remaining` runs every test once. Without --gpu and --all the tests of the GPU are counted as skipped.
With --tally a line "PASSED FAILED SKIPPED" is appended to FILE, otherwise it is printed in words. Exit code 1 if a test
fails.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

GROUPS = ("sim", "races", "check", "profiles", "more_seeds", "gpu", "templates", "refused", "mutation", "untouched", "driver", "consumer")
START = re.compile(r"^ +Start +\d+: (\S+)$")
# " 3/12 Test  #7: sim.message.0 ......   Passed    0.02 sec", or ***Failed, ***Skipped, ***Timeout, ***Not Run, ***Exception: SegFault
# The regular expression that an output lacks stands there, too, and may take more than one line.
END = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\s*(Passed|\*\*\*.*?) +(\d+\.\d+) sec\s*$", re.S)
END_BEGUN = re.compile(r"^ *\d+/\d+ Test +#\d+: \S+ \.*\*\*\*(?!.* \d+\.\d+ sec\s*$)")
SUMMARY = re.compile(r"^\d+% tests passed, \d+ tests failed out of \d+$")

Count = collections.namedtuple("Count", "passed failed skipped", defaults=(0, 0, 0))


def group_of(name):
    first = name.split(".")[0]
    return first if first in GROUPS else "packaging" if not first.endswith("_command") else "apps"


def plus(a, b):
    return Count(*map(sum, zip(a, b)))


class Groups:
    """Results of the tests of each group."""

    def __init__(self, names):
        self.left = collections.Counter(map(group_of, names))
        self.all = len(names)
        self.done = 0
        self.width = max(map(len, self.left), default=0)
        self.counts = collections.defaultdict(Count)
        self.seconds = collections.Counter()
        self.complete = []
        self.on_terminal = sys.stdout.isatty()

    def clear(self):
        if self.on_terminal:
            print("\r\033[K", end="")

    def progress(self, name):
        if self.on_terminal:
            print(f"\r\033[K{self.done}/{self.all} {name}", end="", flush=True)

    def line(self, group, count, seconds):
        self.clear()
        print(f"{group:{self.width}} {count.passed:5} passed {count.failed:4} failed {count.skipped:4} skipped {seconds:6.0f} s",
              flush=True)

    def ended(self, name, count, seconds):
        group = group_of(name)
        self.counts[group] = plus(self.counts[group], count)
        self.seconds[group] += seconds
        self.left[group] -= 1
        self.done += 1
        if self.left[group] == 0:
            self.complete.append(group)

    def tell(self):
        """The lines of groups that have ended; not while a failed test's output is printed."""
        for group in self.complete:
            self.line(group, self.counts[group], self.seconds[group])
        self.complete = []

    def total(self):
        sum_of_all = Count()
        for count in self.counts.values():
            sum_of_all = plus(sum_of_all, count)
        return sum_of_all


def tests_of(folder):
    done = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"run_tests.py: {done.stderr.strip() or done.stdout.strip()}")
    tests = []
    for number, test in enumerate(json.loads(done.stdout)["tests"], 1):
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        tests.append((number, test["name"], "remaining" in (labels[0] if labels else [])))
    return tests


def selected(tests, part, gpu, wanted):
    """Pairs of number and name."""
    for number, name, remains in tests:
        if group_of(name) == "gpu":
            remains = not gpu
        # A number of seeds asked for holds for the usual tests; there are no more after it.
        if group_of(name) == "more_seeds" and "WARDEN_SEEDS" in os.environ:
            continue
        if remains == (part == "remaining") and re.search(wanted, name):
            yield number, name


def run(folder, tests):
    """The groups after ctest has run these tests."""
    groups = Groups([name for _, name in tests])
    missing = {name for _, name in tests}
    numbers = ",".join(str(number) for number, _ in tests)
    first = tests[0][0]
    command = ["ctest", "--test-dir", folder, "-I", f"{first},{first},,{numbers}", "-j", str(os.cpu_count()), "--output-on-failure"]
    ctest = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    failing = False  # the lines that follow are a failed test's
    for line in ctest.stdout:
        while END_BEGUN.match(line) and not END.match(line):
            if not (more := ctest.stdout.readline()):
                break
            line += more
        line = line.rstrip("\n")
        if started := START.match(line):
            failing = False
            groups.tell()
            groups.progress(started[1])
        elif ended := END.match(line):
            groups.tell()
            name, result, seconds = ended.groups()
            skipped, passed = result.startswith("***Skipped"), result == "Passed"
            failing = not (skipped or passed)
            if failing:
                groups.clear()
                print(f"---- {name}: {result.lstrip('*')}", flush=True)
            if name in missing:
                missing.remove(name)
                groups.ended(name, Count(int(passed), int(failing), int(skipped)), float(seconds))
        elif SUMMARY.match(line):
            failing = False
        elif failing:
            groups.clear()
            print(line, flush=True)
    code = ctest.wait()
    groups.clear()
    # Whatever became of ctest: what it did not tell about has not passed.
    for name in sorted(missing):
        print(f"---- {name}: not run; ctest ended with code {code}", flush=True)
        groups.ended(name, Count(0, 1, 0), 0)
    groups.tell()
    return groups


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("part", choices=("usual", "remaining"))
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--tally", type=pathlib.Path)
    a = parser.parse_args()
    try:
        re.compile(a.filter)
    except re.error as error:
        parser.error(f"--filter {a.filter}: {error}")
    known = tests_of(a.folder)
    tests = list(selected(known, a.part, a.gpu, a.filter))
    of_gpu = []
    if a.part == "usual" and not a.gpu and not a.all:
        of_gpu = [name for _, name, _ in known if group_of(name) == "gpu" and re.search(a.filter, name)]
    total = Count()
    if tests:
        groups = run(a.folder, tests)
        total = groups.total()
    if of_gpu:
        (groups if tests else Groups(of_gpu)).line("gpu", Count(skipped=len(of_gpu)), 0)
        total = plus(total, Count(skipped=len(of_gpu)))
    if a.tally:
        with a.tally.open("a") as file:
            print(*total, file=file)
    else:
        print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    sys.exit(1 if total.failed else 0)


if __name__ == "__main__":
    main()
