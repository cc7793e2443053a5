#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what all benchmark programs share, of one of them: its version, its numbers, and output that fails.

    benchmark_command.py PROGRAM [UNITTEST OPTIONS]     PROGRAM: several_gpus_sim
"""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import every_command  # noqa: E402


class BenchmarkTest(every_command.EveryCommand, unittest.TestCase):
    NAME = "several_gpus"
    PRINTS = ["--ops", "64", "--arms", "one_gpu", "--workloads", "uniform", "--operations", "push"]

    def test_a_result_file_that_fails(self):
        run = self.outcome(*self.PRINTS, "--benchmark_out=/dev/full")
        self.assertEqual((run.returncode, run.stderr), (1, "several_gpus: /dev/full: cannot be written\n"))

    def test_a_result_file_that_is_open(self):
        """It would be overwritten."""
        with tempfile.NamedTemporaryFile("a") as log:
            log.write("an old line\n")
            log.flush()
            for name in "/dev/stdout", log.name:
                run = self.outcome(*self.PRINTS, f"--benchmark_out={name}", stdout=log)
                self.assertEqual((run.returncode, run.stderr), (2, f"several_gpus: --benchmark_out={name} is open already; choose another name\n"))
                self.assertEqual(pathlib.Path(log.name).read_text(), "an old line\n")

    def test_every_row(self):
        """Each operation has a row of each arm on each workload, and all arms of one GPU run the same number of sections."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            run = self.outcome("--ops", "64", f"--benchmark_out={file}")
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            found = {row["name"]: row["operations"] for row in json.loads(file.read_text())["benchmarks"]}
        wanted = {f"several_gpus/{operation}/{workload}/{arm}/keys:1024": 64 * gpus for operation in ("push", "add", "update", "count", "transfer")
                  for workload in ("uniform", "zipf099") for arm, gpus in (("one_gpu_best", 1), ("one_gpu", 1), ("two_gpus", 2), ("two_gpus_on_chip", 2))
                  if arm in ("one_gpu", "two_gpus") or operation not in ("count", "transfer")}
        self.assertEqual(found, wanted)

    def test_the_timeline(self):
        """Rows have the ends of phases only if they are asked for."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            for options, wanted in ([], set()), (["--timeline"], {"send", "count", "gather", "sort", "pack", "exchange", "home", "arrive", "join", "remote"}):
                run = self.outcome("--ops", "64", "--arms", "two_gpus", "--workloads", "uniform", "--operations", "push,add,update", *options,
                                   f"--benchmark_out={file}")
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                for row in json.loads(file.read_text())["benchmarks"]:
                    self.assertEqual({name.removeprefix("seconds_to_") for name in row if name.startswith("seconds_to_")}, wanted)

    def test_partitions_of_a_log(self):
        """A number that the library refuses ends the point, so the option arrives there."""
        words = ("--ops", "64", "--arms", "two_gpus", "--workloads", "uniform", "--operations", "push", "--partitions")
        self.assertEqual(self.outcome(*words, "8").returncode, 0)
        run = self.outcome(*words, "24")
        self.assertEqual(run.returncode, 1)
        self.assertIn("deferred: 24 partitions; a log has a power of two, at most 512", run.stdout + run.stderr)

    def test_empty_lists(self):
        for option, wrong in ("--keys", ""), ("--keys", ","), ("--arms", ""), ("--workloads", ""), ("--workloads", ","), ("--operations", ""):
            run = self.outcome(option, wrong)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (2, "", 1), (option, wrong, run.stderr))
            self.assertTrue(run.stderr.startswith(f"several_gpus: {option}: "), run.stderr)


if __name__ == "__main__":
    BenchmarkTest.program = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
