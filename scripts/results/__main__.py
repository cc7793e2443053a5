#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Result files: prints, joins and checks them, and writes tables and plots of the documentation.

    python3 scripts/results --tables FILE...         prints tables
    python3 scripts/results --choice FILE...         prints the arm to take at each number of keys
    python3 scripts/results --summary FILE...        prints the sentences that end ./warden bench
    python3 scripts/results --merge OUT IN...        joins files of one build on one device in a new file
    python3 scripts/results --report FOLDER OUT [AGAINST]   writes a page of HTML; needs matplotlib
    python3 scripts/results --publish OUT FILE       copies a file without host name and folders; refuses a dirty tree
    python3 scripts/results --check-baselines FILE   exit code 1 if a baseline is slower than required
    python3 scripts/results --write | --check        writes, or compares, tables and numbers of the documentation
    python3 scripts/results --plot | --check-plots   draws, or compares, docs/plots; drawing needs matplotlib
"""
import signal
import sys
import textwrap

import load
import pages
import plot
import report
from choice import CHOOSING, choice_table
from families import tables_of
from summary import sentences
from table import WIDTH


def print_tables(paths):
    for path in paths:
        for table in tables_of(load.load(path)):
            table.print()


def print_choice(paths):
    for path in paths:
        data = load.load(path)
        rows = [row for row in load.rows_of(data) if "sections" not in row.fields]
        rows = [row for row in rows if row.benchmark == rows[0].benchmark]
        if rows and rows[0].benchmark in CHOOSING and not load.is_simulated(data) and (table := choice_table(rows)):
            table.print()


def print_summary(paths):
    files = [load.load(path) for path in paths]
    of_contention = [data for data in files if any(row.benchmark == "contention" for row in load.rows_of(data)[:1])]
    lines = [line for text in sentences((of_contention or files)[0]) for line in textwrap.wrap(text, WIDTH)]
    if lines:
        print("", *lines, sep="\n")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the program silently
    try:
        match sys.argv[1:]:
            case ["--tables", *paths] if paths: print_tables(paths)
            case ["--choice", *paths] if paths: print_choice(paths)
            case ["--summary", *paths] if paths: print_summary(paths)
            case ["--merge", out, *inputs] if inputs: load.merge(out, inputs)
            case ["--report", folder, out, *against] if len(against) < 2: report.write(folder, out, *against)
            case ["--publish", out, path]: load.publish(out, path)
            case ["--check-baselines", path]: load.check_baselines(path)
            case ["--write"]: pages.documents(True)
            case ["--check"]: pages.documents(False)
            case ["--plot"]: plot.write()
            case ["--check-plots"]: plot.check()
            case _:
                print(__doc__, file=sys.stderr)
                sys.exit(2)
    except OSError as error:
        load.fail_of(error)
