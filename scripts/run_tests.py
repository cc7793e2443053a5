#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build by ctest: the output of those that fail, and then a line per group.

    run_tests.py FOLDER usual|remaining --tally FILE [--gpu] [--all] [--filter REGEX]

`usual` are the tests without the label "remaining", and those of the GPU only with --gpu. `remaining` are the others:
first `usual` and then `remaining` runs every test once. Without --gpu and --all the tests of the GPU are counted as
skipped. A line "PASSED FAILED SKIPPED" is appended to FILE. Exit code 1 if a test fails.
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

GROUPS = ("sim", "races", "check", "profiles", "more_seeds", "gpu", "templates", "refused", "mutation", "untouched",
          "driver", "consumer")
# Lines of ctest that are not shown: the start of a test, and tests that pass or are skipped.
START = re.compile(r" +Start +\d+: (\S+)$")
QUIET = re.compile(r"Test project |Internal ctest |\s*$| *\d+/\d+ Test +#\d+: \S+ \.*(   Passed|\*\*\*Skipped) ")
SUMMARY = re.compile(r"\d+% tests passed, \d+ tests failed out of \d+$")
RESULTS = ("passed", "failed", "skipped")


def group_of(name):
    first = name.split(".")[0]
    return first if first in GROUPS else "packaging" if not first.endswith("_command") else "apps"


def tests_of(folder):
    """(number, name, True if it has the label "remaining") of each test."""
    done = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"run_tests.py: {done.stderr.strip() or done.stdout.strip()}")
    labels = {"name": "LABELS", "value": ["remaining"]}
    return [(number, test["name"], labels in test.get("properties", []))
            for number, test in enumerate(json.loads(done.stdout)["tests"], 1)]


def selected(tests, part, gpu, wanted):
    """Name -> number."""
    chosen = {}
    for number, name, remains in tests:
        if group_of(name) == "gpu":
            remains = not gpu
        # A number of seeds asked for holds for the usual tests; there are no more after it.
        if group_of(name) == "more_seeds" and "WARDEN_SEEDS" in os.environ:
            continue
        if remains == (part == "remaining") and re.search(wanted, name):
            chosen[name] = number
    return chosen


def show(lines, number_of_tests):
    """Prints what ctest says about tests that fail, and on a terminal the test that started last."""
    clear, started = "\r\033[K" if sys.stdout.isatty() else "", 0
    for line in itertools.takewhile(lambda line: not SUMMARY.match(line), lines):
        if start := START.match(line):
            started += 1
            if clear:
                print(f"{clear}{started}/{number_of_tests} {start[1]}", end="", flush=True)
        elif not QUIET.match(line):
            print(f"{clear}{line}", end="", flush=True)
    print(clear, end="", flush=True)


def result_of(case):
    """The result of a test by its element in ctest's file."""
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message").startswith("SKIP_"):
        return "skipped"
    return "passed" if case.get("status") == "run" else "failed"


def run(folder, tests):
    """Runs the tests. Returns name -> (result, seconds)."""
    numbers, first = ",".join(map(str, tests.values())), next(iter(tests.values()))
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "results.xml"
        command = ["ctest", "--test-dir", folder, "-I", f"{first},{first},,{numbers}", "-j", str(os.cpu_count()),
                   "--output-on-failure", "--output-junit", file]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace") as ctest:
            show(ctest.stdout, len(tests))
            ctest.communicate()
        cases = xml.etree.ElementTree.parse(file).iter("testcase") if file.exists() else []
        results = {case.get("name"): (result_of(case), float(case.get("time"))) for case in cases}
    # A test without a result has not passed.
    for name in sorted(tests.keys() - results.keys()):
        print(f"{name}: not run; ctest ended with code {ctest.returncode}")
        results[name] = "failed", 0
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("part", choices=("usual", "remaining"))
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--tally", type=argparse.FileType("a"), required=True)
    a = parser.parse_args()
    try:
        re.compile(a.filter)
    except re.error as error:
        parser.error(f"--filter {a.filter}: {error}")
    known = tests_of(a.folder)
    results = run(a.folder, tests) if (tests := selected(known, a.part, a.gpu, a.filter)) else {}
    if a.part == "usual" and not a.gpu and not a.all:
        results |= {name: ("skipped", 0) for _, name, _ in known
                    if group_of(name) == "gpu" and re.search(a.filter, name)}
    groups, seconds = collections.defaultdict(collections.Counter), collections.Counter()
    for name, (result, time) in results.items():
        groups[group_of(name)][result] += 1
        seconds[group_of(name)] += time
    for group, count in groups.items():
        counts = " ".join(f"{count[result]:5} {result}" for result in RESULTS)
        print(f"{group:{max(map(len, groups))}} {counts} {seconds[group]:6.0f} s")
    total = sum(groups.values(), collections.Counter())
    print(*(total[result] for result in RESULTS), file=a.tally)
    sys.exit(1 if total["failed"] else 0)


if __name__ == "__main__":
    main()
