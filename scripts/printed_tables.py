# SPDX-License-Identifier: Apache-2.0
"""Tables of results for people: in 100 columns, and of a comparison one quantity each."""
import contextlib
import io
import itertools
import textwrap

from allocation_tables import allocation_tables, is_allocation
from bounds_tables import bounds_tables, is_bounds
from counted_tables import counted_benchmark, counted_tables
from deferred_tables import deferred_tables, is_deferred
from pair_tables import is_pair_times, pair_tables
from result_file import rows_of
from result_names import ARMS, COLD, COUNTS, amount, is_simulated, short, unit_of
from sections_tables import sections_tables
from transport_tables import is_transport, transport_tables

WIDTH = 100
BETWEEN = "  "
# Of what warps wait for, in a table that begins with five columns of names.
REASONS = 2


def prefixed(value):
    """Three digits and a prefix: arms differ by many powers of ten."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("K", 1e3)):
        # What would be rounded up to 1,000 has the next prefix.
        if value >= 0.9995 * size:
            return f"{value / size:.{2 if value < 9.995 * size else 1 if value < 99.95 * size else 0}f}{prefix}"
    return f"{value:.0f}"


def quantities(data):
    """(what it is, its counter, how it is written), in the order of the tables."""
    unit = unit_of(data)
    if is_simulated(data):
        return [(f"{count.replace('_', ' ')} for each {unit}", count, amount) for count in COUNTS]
    return [(f"{unit}s/s", "items_per_second", prefixed), (f"{unit}s/s for the cold keys alone", COLD, prefixed)]


# A column is its texts from top to bottom; a group is (its title, its columns).

def column_width(column):
    return max(map(len, column))


def group_width(group):
    title, columns = group
    return max(len(title), sum(map(column_width, columns)) + len(BETWEEN) * (len(columns) - 1))


def split(group, room):
    """The group in parts of nearly as many columns, each of which has room if it can."""
    title, columns = group
    for count in range(1, len(columns) + 1):
        ends = [len(columns) * part // count for part in range(count + 1)]
        parts = [(title, columns[begin:end]) for begin, end in zip(ends, ends[1:])]
        if all(group_width(part) <= room for part in parts):
            break
    return parts


def packed(groups, room):
    """Rows of groups that stand side by side; only a group that is too wide for a row of its own is split."""
    rows = []
    for part in itertools.chain.from_iterable(split(group, room) for group in groups):
        if not rows or sum(group_width(other) + len(BETWEEN) for other in rows[-1]) + group_width(part) > room:
            rows.append([])
        rows[-1].append(part)
    return rows


def print_table(title, names, groups):
    """`names`: the columns that say what a line is, repeated where one table is not wide enough. Groups without titles have no line
    for them."""
    first = sum(map(column_width, names)) + len(BETWEEN) * len(names)
    for row in packed(groups, WIDTH - first) or [[]]:
        print("\n" + textwrap.fill(title, WIDTH))
        titles = " " * first + BETWEEN.join(f"{group[0]:<{group_width(group)}}" for group in row)
        if titles.strip():
            print(titles.rstrip())
        for i in range(len(names[0])):
            cells = [f"{column[i]:<{column_width(column)}}" for column in names]
            for group in row:
                text = BETWEEN.join(f"{column[i]:>{column_width(column)}}" for column in group[1])
                cells.append(f"{text:>{group_width(group)}}")
            print(BETWEEN.join(cells).rstrip())


def print_lines(title, header, lines, names=1):
    """The first `names` columns say what a line is."""
    columns = [[text.replace("`", "") for text in column] for column in zip(header, *lines)]
    print_table(title.replace("`", ""), columns[:names], [("", columns[names:])])


def print_comparison(data):
    """Arms from top to bottom, numbers of keys from left to right below their workload.

    An arm that a table would say nothing of, or nothing but zeros, is left out of it.
    """
    by_operation = {}
    for (operation, workload), by_keys in rows_of(data).items():
        by_operation.setdefault(operation, {})[workload] = by_keys
    for (what, counter, written), (operation, by_workload) in itertools.product(quantities(data), by_operation.items()):
        rows = [row for by_keys in by_workload.values() for by_arm in by_keys.values() for row in by_arm.items()]
        there = {arm for arm, row in rows if counter in row}
        arms = [arm for arm in ARMS if any(of == arm and row.get(counter) for of, row in rows)]
        if not there:
            continue
        title = f"{operation}: {what}"
        if not arms:
            print(f"\n{title}: none")
            continue
        groups = []
        for workload, by_keys in by_workload.items():
            columns = [[short(keys), *(written(by_arm[arm][counter]) if counter in by_arm.get(arm, {}) else "-" for arm in arms)]
                       for keys, by_arm in sorted(by_keys.items())]
            groups.append((workload, [column for column in columns if set(column[1:]) != {"-"}]))
        print_table(title + (" (arms without any are left out)" if there > set(arms) else ""), [["keys", *arms]],
                    [group for group in groups if group[1]])


def print_tables(data):
    """What a result file holds; `data` as it is loaded."""
    if is_transport(data):
        for title, header, lines in transport_tables(data):
            print_lines(title, header, lines, names=header.index("servers") + 1)
    elif is_bounds(data):
        for title, header, lines in bounds_tables(data):
            # As many reasons to wait as there is room for.
            lines = [[*cells, ", ".join(waits.split(", ")[:REASONS])] for *cells, waits in lines]
            print_lines(title, header, lines, names=header.index("L2 %"))
    elif is_deferred(data):
        for title, header, lines in deferred_tables(data):
            print_lines(title, header, lines, names=next(i for i, what in enumerate(header, 1) if what in ("bytes", "keys")))
    elif is_allocation(data):
        for title, header, lines in allocation_tables(data):
            print_lines(title, header, lines, names=next((i for i, what in enumerate(header) if what in ARMS), 1))
    elif is_pair_times(data):
        for title, header, lines in pair_tables(data):
            print_lines(title, header, lines)
    # The simulated device has no gaps: such a file holds what it counts of every comparison.
    elif counted_benchmark(data) and (tables := counted_tables(data)):
        for title, header, lines in tables:
            header, *lines = zip(header, *lines)  # arms from top to bottom
            print_lines(title, header, lines)
    else:
        print_comparison(data)
        for title, header, lines in sections_tables(data):
            print_lines(title, header, lines, names=2)


def self_test():
    def printed(data):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            print_tables(data)
        assert all(len(line) <= WIDTH for line in text.getvalue().splitlines()), text.getvalue()
        return text.getvalue()

    def row(point, arm, keys, **counters):
        return {"name": f"contention/{point}/{arm}/keys:{keys}", **counters}

    assert [prefixed(value) for value in (1.36e9, 299.3e9, 999.4e6, 999.6e6, 9.996e6, 99.96e3, 12.2e3, 999.4)] == [
        "1.36G", "299G", "999M", "1.00G", "10.0M", "100K", "12.2K", "999"]
    # Arms from top to bottom, and workloads side by side; a title that is wider than its columns makes room.
    rows = [row("push/uniform", "warden_runs", 1024, items_per_second=2e9), row("push/uniform", "atomics", 1, items_per_second=3e6),
            row("push/uniform", "atomics", 1024, items_per_second=4e9), row("push/facebook", "atomics", 4039, items_per_second=5e9)]
    assert printed({"context": {}, "benchmarks": rows}) == """
push: sections/s
             uniform       facebook
keys             1     1K      4039
atomics      3.00M  4.00G     5.00G
warden_runs      -  2.00G         -
""", printed({"context": {}, "benchmarks": rows})
    rows[-1][COLD] = 5e5
    assert printed({"context": {}, "benchmarks": rows}).endswith("""
push: sections/s for the cold keys alone
         facebook
keys         4039
atomics      500K
"""), printed({"context": {}, "benchmarks": rows})
    # Counts: a table for each, atomics and retries first; arms that have none of what is counted are left out.
    rows = [row("push/uniform", arm, 1, global_atomics=atomics, lock_retries=retries, sectors=1.5, messages=0.0)
            for arm, atomics, retries in (("lock_tuned", 43171.96, 2.0), ("atomics", 1.0, 0.0))]
    text = printed({"context": {"simulated": "yes"}, "benchmarks": rows})
    assert [line for line in text.splitlines() if ":" in line] == [
        "push: global atomics for each section", "push: lock retries for each section (arms without any are left out)",
        "push: sectors for each section", "push: messages for each section: none"], text
    assert text.splitlines()[3:6] == ["keys              1", "lock_tuned    43172", "atomics        1.00"] and text.count("atomics ") == 3, text
    # What is too wide is split evenly, or begins a new table, with the names beside each part.
    wide = [row("push/uniform", "atomics", keys, items_per_second=1e6) for keys in range(1, 21)]
    text = printed({"context": {}, "benchmarks": [*wide, row("push/zipf099", "atomics", 1, items_per_second=1e6)]})
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("keys")] == [
        [str(keys) for keys in range(1, 11)], [*(str(keys) for keys in range(11, 21)), "1"]], text
    assert [group[0] for group in itertools.chain(*packed([("a", [["x" * 40]] * 2), ("b", [["y" * 30]])], 82))] == ["a", "b"]
    # Other tables keep their lines, or have their arms from top to bottom, too.
    sent = {"name": "transport/block/windows/in_band/bytes:16/servers:4", **{count: 1.0 for count in COUNTS}}
    lines = printed({"context": {"simulated": "yes"}, "benchmarks": [sent]}).splitlines()
    assert [line.split() for line in lines[2:]] == [
        "send receive readiness bytes servers global atomics lock retries sectors messages".split(),
        "block windows in_band 16 4 1.00 1.00 1.00 1.00".split()], lines
    counts = {"global_atomics": 1.25, "lock_retries": 0.0, "messages": 1.0, "sections": 64.0}
    lines = printed({"context": {"simulated": "yes"}, "benchmarks": [{"name": "deferred/small/block/on_chip/keys:4096", **counts}]}).splitlines()
    assert [line.split() for line in lines[2:]] == ["send records keys global atomics lock retries messages".split(),
                                                    "block on_chip 4K 1.25 0.00 1.00".split()], lines
    bound = {"name": "bounds/transport/ceiling_copy/windows/in_band/bytes:16/servers:132", "l2_percent": 62.0,
             **{f"stall_{reason}_percent": 30.0 - i for i, reason in enumerate(("short_scoreboard", "branch_resolving", "dispatch_stall"))}}
    assert printed({"context": {}, "benchmarks": [bound]}).endswith("30 % short scoreboard, 29 % branch resolving\n")
    gaps = {"mean_gap": 500.25, "minimum_gap": 0.0}
    lines = printed({"context": {}, "benchmarks": [{"name": f"handover/cycles/uniform/{arm}/keys:{keys}", **gaps}
                                                   for arm in ("lock_tuned", "warden_runs") for keys in (1, 32)]}).splitlines()
    assert [line.split() for line in lines[-3:]] == [
        ["keys", "1", "32"], ["lock_tuned", *["500", "(0)"] * 2], ["warden_runs", *["500", "(0)"] * 2]], lines
