#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ./warden tune: what it refuses, and the program that it runs.

    driver_tune.py WARDEN [UNITTEST OPTIONS]
"""
import driver
from driver import GPU


class Tune(driver.DriverTest):
    def test_bad_values(self):
        for option in ("--device", "--out", "--prebuilt"):
            self.refused(2, f"^warden: {option} needs a value$", "tune", option)
        self.refused(2, "^warden: --device tpu: gpu or sim$", "tune", "--device", "tpu")
        self.refused(2, "^warden: --out no/x.txt: ", "tune", "--out", "no/x.txt")

    def test_without_gpu_or_nvcc(self):
        self.assertEqual(self.refused(3, "^warden: no CUDA GPU to measure; .*--device sim", "tune"), "")
        self.stub(GPU)
        self.assertEqual(self.refused(3, "^warden: no nvcc; install the CUDA toolkit", "tune"), "")

    def test_runs_the_program(self):
        (self.here / "bin").mkdir()
        self.refused(2, "no program tune_sim there$", "tune", "--device", "sim", "--prebuilt", "bin")
        for program in ("tune", "tune_sim"):
            (self.here / "bin" / program).write_text(f"#!{self.path}/bash\necho \"${{0##*/}} $*\"; exit 4\n")
            (self.here / "bin" / program).chmod(0o755)
        self.stub(GPU)
        for program, options in (("tune", []), ("tune_sim", ["--device", "sim"])):
            done = self.warden("tune", "--prebuilt", "bin", "--out", "table", *options)
            self.assertEqual((done.returncode, done.stderr), (4, ""))
            self.assertIn(f"\n{program} --out {self.here}/table\n", done.stdout)


if __name__ == "__main__":
    driver.main()
