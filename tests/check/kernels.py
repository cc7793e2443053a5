#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ./warden check on a classic kernel of this folder: silent as it is, found with -DFAULT.

    kernels.py BUILD NAME      BUILD is the folder with the target warden_check

A finding must name a line that the source marks with "// fault".
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def check(build, source, *options):
    command = [str(ROOT / "warden"), "check", "--prebuilt", build, source.name, *options]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stdout + done.stderr


def main(build, name):
    source = HERE / f"{name}.cu"
    code, _, text = check(build, source)
    if code != 0 or text != f"{source.name}: no finding under 20 schedules\n":
        sys.exit(f"{source.name}: exit code {code} and\n{text}")
    code, output, text = check(build, source, "--define", "FAULT")
    lines = source.read_text().splitlines()
    faults = {f"{source.name}:{i}" for i, line in enumerate(lines, 1) if line.endswith("// fault")}
    # The first paragraph has a line for each finding.
    findings = output.partition("\n\n")[0].splitlines()
    if code != 1 or not findings:
        sys.exit(f"{source.name} with its fault: exit code {code} and\n{text}")
    for finding in findings:
        if not faults & set(re.findall(r"[\w.]+:\d+", finding)):
            sys.exit(f"{source.name}: of {sorted(faults)} there is none in\n{finding}\n{text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
