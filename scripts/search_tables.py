# SPDX-License-Identifier: Apache-2.0
"""The tables of breadth-first searches: how long each arm takes for each graph, what that is in arcs and levels, and what it did."""
from arm_times import inputs_of, times_markdown
from markdown_tables import table
from result_names import amount, rate


def search_lines(data):
    """A line for each arm and graph."""
    lines = []
    for one in inputs_of(data):
        for arm, row in one.rows.items():
            levels = round(row["levels"])
            lines.append([f"`{one.name}`", f"`{arm}`", rate(row), f"{levels:,}", amount(1000 * row["real_time"] / levels),
                          f"{round(row['levels_of_one_block']):,}", f"{round(row['levels_bottom_up']):,}",
                          f"{row['found'] / row['vertices']:.3f}"])
    return lines


def search_markdown(data):
    header = ["graph", "arm", "G arcs/s", "levels", "us a level", "of them by one block", "bottom-up", "found, of reached"]
    return f"{times_markdown(data, 'graph')}\n\nThe same by arcs and levels, and what the arms did:\n\n{table(header, search_lines(data))}"


def self_test():
    def row(arm, time, bottom_up, found):
        return {"name": f"breadth_first/find/rmat22/{arm}/keys:10", "items_per_second": 40 / time * 1000, "real_time": time, "time_unit": "ms",
                "levels": 8.0, "levels_of_one_block": 3.0, "levels_bottom_up": bottom_up, "found": found, "vertices": 10.0}

    context = {"device": "GPU", "toolkit": "13.0", "commit": "0" * 40, "simulated": "no"}
    lines = search_markdown({"context": context, "benchmarks": [row("top_down", 2.0, 0.0, 10.0), row("cull_none", 4.0, 0.0, 12.5)]}).splitlines()
    assert lines[2] == "| graph | vertices | arcs | `cull_none` | `top_down` |", lines[2]
    assert lines[4] == "| `rmat22` | 10 | 40 | 4.00 | 2.00 |", lines[4]
    assert lines[-2:] == ["| `rmat22` | `cull_none` | 0.00001 | 8 | 500 | 3 | 0 | 1.250 |",
                          "| `rmat22` | `top_down` | 0.00002 | 8 | 250 | 3 | 0 | 1.000 |"], lines
