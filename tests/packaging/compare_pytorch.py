#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/compare_pytorch.py: without PyTorch, and, where PyTorch is installed, on the CPU in place of a GPU."""
import contextlib
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "compare_pytorch.py"
HAS_PYTORCH = importlib.util.find_spec("torch") is not None


class WithoutPyTorch(unittest.TestCase):
    def test_says_what_is_missing_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text("raise ModuleNotFoundError\n", encoding="utf-8")
            result = subprocess.run([sys.executable, SCRIPT], env={"PYTHONPATH": folder}, capture_output=True, text=True,
                                    check=False, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr, "compare_pytorch.py: no PyTorch; install it with: pip install torch\n")


class Event:
    """Takes the place of a CUDA event."""
    def __init__(self, enable_timing):
        self.seconds = 0.0

    def record(self):
        self.seconds = time.perf_counter()

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return (end.seconds - self.seconds) * 1e3


@unittest.skipUnless(HAS_PYTORCH, "no PyTorch")
class OnTheCpu(unittest.TestCase):
    def setUp(self):
        import torch
        self.torch = torch
        text = SCRIPT.read_text(encoding="utf-8").replace('"cuda"', '"cpu"')
        self.script = types.ModuleType("compare_pytorch")
        self.script.__doc__ = "Measures."
        self.script.__file__ = str(SCRIPT)
        exec(compile(text, SCRIPT, "exec"), self.script.__dict__)

    def run_script(self, *arguments):
        cuda = self.torch.cuda
        output = io.StringIO()
        with unittest.mock.patch.multiple(cuda, is_available=lambda: True, Event=Event, get_device_name=lambda: "CPU"), \
                unittest.mock.patch.object(sys, "argv", ["compare_pytorch.py", *arguments]), \
                contextlib.redirect_stdout(output):
            return self.script.main(), output.getvalue()

    def test_measures_and_checks_all_operations(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "rates.json")
            code, output = self.run_script("--rows", "12", "--records", "6", "--repetitions", "2", "--out", str(file))
            rows = json.loads(file.read_text(encoding="utf-8"))["benchmarks"]
        self.assertEqual(code, 0, output)
        self.assertEqual(len(output.splitlines()), 24)
        self.assertEqual(len(rows), 24)
        for row in rows:
            self.assertEqual(row["runs"], 2)
            self.assertLessEqual(row["slowest_per_second"], row["items_per_second"])
            self.assertLess(row["slowest_per_second"], row["fastest_per_second"])
            self.assertLessEqual(row["items_per_second"], row["fastest_per_second"])
        self.assertIn("pytorch/scatter8/zipf099/sparse_adagrad/keys:64/sections:4096", [row["name"] for row in rows])

    def test_finds_a_lost_row_and_a_lost_step(self):
        point = self.script.Point(1 << 10, 64, 8, None, 2)
        sums = point.out().index_add(0, point.ids, point.values)
        self.assertTrue(point.is_right(sums))
        self.assertFalse(point.is_right(point.out().index_add(0, point.ids[1:], point.values[1:])))
        _, column, sizes = next(point.sums())
        self.assertTrue(point.has_moved(-0.1 * column.sign(), column, sizes, 0.1))
        self.assertFalse(point.has_moved(-0.05 * column.sign(), column, sizes, 0.1))
        # The optimizer adds to what it divides by, which is much for tiny gradients alone.
        tiny = 1e-7 * column.sign()
        self.assertTrue(point.has_moved(-0.0999 * column.sign(), tiny, tiny.abs(), 0.1))
        self.assertFalse(point.has_moved(-0.0998 * column.sign(), 1e3 * tiny, 1e3 * tiny.abs(), 0.1))


if __name__ == "__main__":
    unittest.main()
