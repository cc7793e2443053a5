#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the values for Hopper in the library and in the documentation are those of the measured table.

    tuning_values.py SOURCES
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
table = dict(line.split(" ", 1) for line in (root / "results/h100/tuning.txt").read_text().splitlines() if line[0] != "#")
measured = {key: int(value) for key, value in table.items() if value.isdigit()}
literal = re.search(r"hopper\{(.*?)\}", (root / "runtime/tuning_table.cpp").read_text(), re.DOTALL)[1]
library = {key: int(value) for key, value in re.findall(r"\.(\w+) = (\d+)", literal)}
page = {key: int(value.replace(",", "")) for key, value in
        re.findall(r"^\| `(\w+)`: [^|]*\|[^|]*\| ([\d,]+) \|", (root / "docs/tuning-table.md").read_text(), re.MULTILINE)}
for name, values in (("runtime/tuning_table.cpp", library), ("docs/tuning-table.md", page)):
    if values != measured:
        sys.exit(f"{name}: the values for Hopper are {values}, and measured were {measured}: write the latter")
