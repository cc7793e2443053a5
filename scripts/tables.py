#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads result files: prints, joins and checks them, and writes the tables in the documentation.

    tables.py --print FILE...            arms x keys, or what another kind of file holds, for people, then what that shows
    tables.py --tables FILE...           the tables alone
    tables.py --words FILE...            what they show alone
    tables.py --merge OUT IN...          joins the files of partial runs of one build on one device
    tables.py --publish OUT FILE         the same file without host name and paths; refuses a dirty tree
    tables.py --check-baselines FILE     exit code 1 if a baseline is weaker than it should be
    tables.py --write | --check          writes, or compares, the tables between <!-- results:... --> marks and what stands with the
                                         plots between <!-- plot:... -->
    tables.py --self-test
"""
import json
import os
import pathlib
import re
import signal
import sys
import tempfile

import allocation_tables
import arm_choice
import arm_tables
import arm_times
import bar_layout
import bounds_tables
import closing_words
import counted_tables
import deferred_tables
import factorization_tables
import flow_tables
import gap_ratios
import markdown_tables
import pair_tables
import plot_layout
import plot_list
import plot_words
import printed_tables
import result_file
import result_names
import result_words
import search_tables
import sections_tables
import transport_tables
from result_file import fail, load, published, rows_of
from result_names import rate

ROOT = pathlib.Path(__file__).resolve().parent.parent
# lock_tuned with this choice is lock_as_written: the same kernel on the same grid.
AS_WRITTEN = "independent fullx256"


def check_baselines(path):
    problems = []
    reference = json.loads((ROOT / "results/reference.json").read_text())["push/uniform"]
    table = rows_of(load(path))
    for (operation, workload), by_keys in table.items():
        for keys, arms in by_keys.items():
            if not {"lock_tuned", "lock_as_written"} <= arms.keys():
                continue
            tuned, written = (arms[a]["items_per_second"] for a in ("lock_tuned", "lock_as_written"))
            if tuned < written and arms["lock_tuned"].get("label") != AS_WRITTEN:
                problems.append(f"{operation}/{workload}/keys:{keys}: lock_tuned {tuned:.3g} < lock_as_written {written:.3g}")
    for arm, share in (("lock_tuned", 1.0), ("atomics", 0.9)):
        for keys, value in reference[arm].items():
            row = table.get(("push", "uniform"), {}).get(int(keys), {}).get(arm)
            if row is None:
                problems.append(f"push/uniform/{arm}/keys:{keys} is missing")
            elif row["items_per_second"] < share * value * 1e9:
                problems.append(f"push/uniform/{arm}/keys:{keys}: {rate(row)} G/s, below {share * value:.3g}")
    print("\n".join(problems) or "baselines are as strong as they should be")
    sys.exit(1 if problems else 0)


# Option of a mark -> the part of a row's name that it selects by.
ROW_OPTIONS = {"operations": 1, "workloads": 2, "arms": 3, "keys": 4}


def selected(data, options):
    """The same file with the rows that the options select."""
    rows = data["benchmarks"]
    for option, part in ROW_OPTIONS.items():
        if option in options:
            wanted = [f"keys:{keys}" for keys in options[option]] if option == "keys" else options[option]
            if missing := set(wanted) - {(row["name"] + "/" * part).split("/")[part] for row in rows}:
                fail(f"{option}: no row with {min(missing)}")
            rows = [row for row in rows if row["name"].split("/")[part] in wanted]
    return {**data, "benchmarks": rows}


def with_columns(text, wanted):
    """The Markdown tables of `text` with these columns alone, named by their header or arm; "_" stands for a space."""
    lines, chosen = [], []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")] if line.startswith("|") else []
        if cells and not chosen:
            names = [cell.strip("`").replace(" ", "_") for cell in cells]
            if missing := set(wanted) - set(names):
                fail(f"columns: no column {min(missing)}; there are {', '.join(names)}")
            chosen = [names.index(name) for name in wanted]
        elif not cells:
            chosen = []
        lines.append("| " + " | ".join(cells[i] for i in chosen) + " |" if cells else line)
    return "\n".join(lines)


def marked(name, options):
    """The text of a mark: tables, each after one line that names it."""
    for option in options.keys() - ROW_OPTIONS.keys() - {"columns"}:
        fail(f"results:{name}: unknown option {option}")
    blocks = [block for block in generated(name, options).split("\n\n")
              if block.startswith("|") or not ("\n" in block or block[0] == "-" or block[-1] == "." or "is fastest" in block)]
    text = "\n\n".join(blocks)
    if "columns" in options:
        text = with_columns(text, options["columns"])
    return re.sub("`([a-z_]+)`", lambda m: result_names.LABELS.get(m[1], m[0]), text)


def options_of(text):
    return {name: values.split(",") for name, values in (option.split("=") for option in text.split())}


def generated(name, options):
    """`name` is <benchmark>/<operation>/<workload>, or <benchmark> alone for all its points in one table.

    Nothing for a benchmark without a published file.
    """
    benchmark, *point = name.split("/")
    path = published(benchmark)
    if path is None:
        return ""
    data = load(path)
    if point:
        options = {"operations": point[:1], "workloads": point[1:], **options}
    data = selected(data, options)
    if transport_tables.is_transport(data):
        return transport_tables.transport_markdown(data)
    if bounds_tables.is_bounds(data):
        return bounds_tables.bounds_markdown(data)
    if deferred_tables.is_deferred(data):
        return deferred_tables.deferred_markdown(data)
    if allocation_tables.is_allocation(data):
        return allocation_tables.allocation_markdown(data)
    if counted_tables.counted_benchmark(data):
        return counted_tables.counted_markdown(data)
    if pair_tables.is_pair_times(data):
        return pair_tables.pair_markdown(data)
    if arm_times.is_of(data, "spanning_forest"):
        return arm_times.times_markdown(data, "graph")
    if arm_times.is_of(data, "max_flow"):
        return flow_tables.flow_markdown(data)
    if arm_times.is_of(data, "matrix_factorization"):
        return factorization_tables.factorization_markdown(data)
    if arm_times.is_of(data, "breadth_first"):
        return search_tables.search_markdown(data)
    if sections_tables.is_by_sections(data):
        return sections_tables.sections_markdown(data)
    table = rows_of(data)
    what = f"G {result_names.unit_of(data)}s/s on {markdown_tables.origin(data)}:"
    if point:
        operation, workload = point
        by_keys = table[(operation, workload)]
        return f"`{operation}`, `{workload}`, {what}\n\n{arm_tables.markdown(by_keys)}"
    return f"`{benchmark}`, {what}\n\n{arm_tables.points_markdown(table)}"


def shown(name, page):
    """The plot of that name; the pictures are drawn by plots.py. Nothing for a benchmark without a published file."""
    plot = plot_list.plot_named(name)
    folder = os.path.relpath(ROOT / "docs/plots", page.parent)
    return plot_words.plot_markdown(plot, plot_list.results_of(plot), folder).split("\n\n")[0]


def print_files(paths, tables=True, words=True):
    for path in paths if tables else []:
        printed_tables.print_tables(load(path))
    if words:
        closing_words.print_words([load(path) for path in paths])


def documents(write):
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()
        new = re.sub(r"<!-- results:(\S+)((?: \w+=\S+)*) -->.*?<!-- /results -->",
                     lambda m: f"<!-- results:{m[1]}{m[2]} -->\n{marked(m[1], options_of(m[2]))}\n<!-- /results -->", text, flags=re.S)
        new = re.sub(r"<!-- plot:(\S+) -->.*?<!-- /plot -->", lambda m: f"<!-- plot:{m[1]} -->\n{shown(m[1], path)}\n<!-- /plot -->",
                     new, flags=re.S)
        if new != text:
            stale.append(path.name)
            if write:
                path.write_text(new)
    if stale and not write:
        fail(f"out of date, run scripts/tables.py --write: {', '.join(stale)}")
    print("tables written: " + ", ".join(stale) if stale else "tables are up to date")


def self_test():
    for module in (result_file, result_names, result_words, arm_tables, transport_tables, bounds_tables, counted_tables,
                   deferred_tables, allocation_tables, arm_times, factorization_tables, flow_tables, search_tables, sections_tables, gap_ratios, pair_tables, printed_tables, arm_choice,
                   closing_words, plot_layout, bar_layout, plot_list, plot_words):
        module.self_test()
    with tempfile.TemporaryDirectory() as folder:
        weak = pathlib.Path(folder) / "weak"
        weak.write_text(json.dumps({"context": {}, "benchmarks": [{"name": "contention/push/uniform/atomics/keys:32", "items_per_second": 4e9}]}))
        assert result_file.refused(check_baselines, weak), "weak baselines must be refused"
    print("self-test passed")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    arguments = sys.argv[1:]
    try:
        match arguments:
            case ["--print", *paths] if paths: print_files(paths)
            case ["--tables", *paths] if paths: print_files(paths, words=False)
            case ["--words", *paths] if paths: print_files(paths, tables=False)
            case ["--merge", out, *inputs] if inputs: result_file.merge(out, inputs)
            case ["--publish", out, path]: result_file.publish(out, path)
            case ["--check-baselines", path]: check_baselines(path)
            case ["--write"]: documents(True)
            case ["--check"]: documents(False)
            case ["--self-test"]: self_test()
            case _:
                print(__doc__, file=sys.stderr)
                sys.exit(2)
    except (OSError, KeyError) as e:
        fail(f"{type(e).__name__}: {e}")
