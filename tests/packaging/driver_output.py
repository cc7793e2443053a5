#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what ./warden prints: its version, and output that fails.

    driver_output.py WARDEN [UNITTEST OPTIONS]
"""
import subprocess

import driver
import every_command


class Output(driver.DriverTest):
    def test_version(self):
        done = self.warden("--version")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, every_command.version() + "\n", ""))

    def test_an_argument_too_many(self):
        for option in "--version", "--help":
            self.refused(2, f"^warden: unexpected x after {option}$", option, "x")

    def test_standard_output_that_fails(self):
        for arguments in ["--help"], ["--version"], ["doctor"]:
            with open("/dev/full", "w") as full:
                done = subprocess.run([self.home / "warden", *arguments], cwd=self.here, env=self.environment(), stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=50)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), f"{arguments}: {done.stderr}")
            self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    driver.main()
