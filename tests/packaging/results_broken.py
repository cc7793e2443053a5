#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that scripts/results refuses broken result files, and says in one line what is wrong."""
import json
import subprocess
import sys
import unittest

from results_tables import ResultsTest, file, rate
import families
import load

NAME = "contention/push/uniform/sort/keys:32"
FORM = 'not a result file; expected JSON with an object "context" and a list "benchmarks"'
REMEDY = "measure again, or leave out this file"
RATE = "expected a number above 0"


def entry(**values):
    """A file of one row with these counters."""
    return file((NAME, values))


# Text of the error -> contents of files.
BROKEN = {
    FORM: [b"", b"\xff\xfe", b"[" * 100_000, b"9" * 5000, [1, 2], "text", None, {}, file() | {"context": []},
           file() | {"benchmarks": None}, file() | {"benchmarks": {"name": NAME}}],
    "context: device is missing; expected a text": [{"context": {}, "benchmarks": []}],
    "context: device is null; expected a text": [file(device=None)],
    "context: commit is 7; expected a text": [file(commit=7), file(commit=7, simulated="yes")],
    'context: date is ""; expected a text': [file(date="")],
    'context: date is "\\ud800"; expected a text': [file(date="\ud800")],
    "context: toolkit is []; expected a text": [file(toolkit=[])],
    "row 2 has no name": [file() | {"benchmarks": [{"name": NAME}, row]} for row in (1, None, {}, {"name": 7}, {"name": ""})],
    f"row 1, zzz: unknown form of a name; {load.EXAMPLE}": [file(("zzz", {}))],
    f"row 1, a/b/c/d/keys:{'9' * 5000}: unknown form of a name; {load.EXAMPLE}": [file((f"a/b/c/d/keys:{'9' * 5000}", {}))],
    **{f"row 1, {NAME}: items_per_second is {text}; {RATE}": [entry(items_per_second=value)] for text, value in (
        ("NaN", float("nan")), ("Infinity", float("inf")), ("-Infinity", -float("inf")), ("null", None), ("0", 0), ("-1", -1), ('"4e9"', "4e9"),
        ("true", True), ("1e+300", 1e300), ("1" + 39 * "0", 10**400))},
    **{f"row 1, {NAME}: {counter} is 0; {RATE}": [entry(**{counter: 0})] for counter in ("slowest_per_second", "bytes", "operations", "levels")},
    f"row 1, {NAME}: real_time is -1; expected a number from 0 on": [entry(real_time=-1)],
    f"row 1, {NAME}: messages is NaN; expected a number": [entry(messages=float("nan"))],
    f'row 1, {NAME}: messages is "many"; expected a number': [entry(messages="many")]}


class Broken(ResultsTest):
    def test_what_is_said(self):
        path = self.results / "a.json"
        for problem, files in BROKEN.items():
            for contents in files:
                path.write_bytes(contents if isinstance(contents, bytes) else json.dumps(contents).encode())
                with self.subTest(problem):
                    self.assertEqual(self.error(load.load, path), f"results: {path}: {problem}: {REMEDY}")

    def test_what_is_not_broken(self):
        for data in (file(), file(simulated="yes", toolkit=None), entry(real_time=0, minimum_gap=-32.0, label=""),
                     entry(error_occurred=True, error_message="interrupted")):
            self.assertEqual(load.load(self.put("a", data)), data)

    def run_main(self, *arguments):
        """Exit code and stderr. A hang fails."""
        done = subprocess.run([sys.executable, load.ROOT / "scripts/results", *arguments], capture_output=True, text=True, timeout=30,
                              cwd=self.results)
        return done.returncode, done.stderr

    def test_every_mode(self):
        path = self.put("a", file(*(rate(f"contention/push/uniform/{arm}/keys:32", float("nan")) for arm in ("sort", "atomics"))))
        for mode in (["--tables", path], ["--choice", path], ["--summary", path], ["--merge", "out", path], ["--publish", "out", path],
                     ["--check-baselines", path], ["--report", path.parent, "out"]):
            with self.subTest(mode):
                self.assertEqual(self.run_main(*mode), (1, f"results: {path}: row 1, {NAME}: items_per_second is NaN; {RATE}: {REMEDY}\n"))
        self.assertFalse((self.results / "out").exists())

    def test_files_and_folders(self):
        path = self.put("a", file())
        (self.results / "b/c.json").mkdir(parents=True)
        for mode, problem in ((["--tables", "none"], "none: no such file or folder"), (["--report", "none", "out"], "none: no such file or folder"),
                              (["--report", path, "out"], f"{path}: not a folder"), (["--report", "b", "out"], "b/c.json: is a folder"),
                              (["--publish", "none/out", path], "none/out: no such file or folder")):
            with self.subTest(mode):
                self.assertEqual(self.run_main(*mode), (1, f"results: {problem}\n"))

    def test_no_rows(self):
        """As an interrupt before the first row leaves a file."""
        path = self.put("a", file())
        for mode in "--tables", "--choice", "--summary":
            self.assertEqual(self.run_main(mode, path), (0, ""), mode)

    def test_counters_that_a_table_needs(self):
        for name, values, counter in (("answers/rate/uniform/atomics/keys:1", {"median": 7}, "p99"),
                                      ("allocation/copy/1M/copy/keys:1", {"items_per_second": 1e9, "bytes": 8}, "operations"),
                                      (NAME, {"items_per_second": 1e9, "slowest_per_second": 1e9}, "fastest_per_second"),
                                      (NAME, {"memory_bytes": 7, "sections": 1}, "bytes")):
            self.assertEqual(self.error(families.tables_of, file((name, values))), f"results: {name}: no {counter}; measure again")
        table, = families.tables_of(file(("max_flow/find/small/atomics/keys:82", {"real_time": 0})))
        self.assertEqual(table.lines, [["small", "82", "0.00"]], "no measured value, so no mark")


if __name__ == "__main__":
    unittest.main(verbosity=2)
