# SPDX-License-Identifier: Apache-2.0
"""Tables of a comparison for the documentation: arms by keys."""
from result_file import fail, rows_of
from result_names import ARMS, COLD, rate, short


def cell(row):
    return "-" if row is None else rate(row)


def columns(points):
    """The arms of these dictionaries by arm, in their order. No row is left out in silence."""
    present = {arm for by_arm in points for arm in by_arm}
    if unknown := present - set(ARMS):
        fail(f"{min(unknown)}: an arm that result_names.py does not name")
    return [arm for arm in ARMS if arm in present]


def markdown(by_keys):
    """A line for each number of keys, and one for the cold ones of them, where their rate is known."""
    arms = columns(by_keys.values())
    lines = ["| keys | " + " | ".join(f"`{a}`" for a in arms) + " |", "|---" * (len(arms) + 1) + "|"]
    for keys, by_arm in sorted(by_keys.items()):
        lines.append(f"| {short(keys)} | " + " | ".join(cell(by_arm.get(a)) for a in arms) + " |")
        if any(COLD in row for row in by_arm.values()):
            cold = (rate(by_arm[a], COLD) if COLD in by_arm.get(a, {}) else "-" for a in arms)
            lines.append("| the cold ones | " + " | ".join(cold) + " |")
    return "\n".join(lines)


def points_markdown(table):
    """A line for each operation, workload and number of keys."""
    arms = columns(by_arm for by_keys in table.values() for by_arm in by_keys.values())
    lines = ["| operation | workload | keys | " + " | ".join(f"`{a}`" for a in arms) + " |", "|---" * (len(arms) + 3) + "|"]
    for (operation, workload), by_keys in table.items():
        for keys, by_arm in sorted(by_keys.items()):
            lines.append(f"| `{operation}` | `{workload}` | {short(keys)} | " + " | ".join(cell(by_arm.get(a)) for a in arms) + " |")
    return "\n".join(lines)


def self_test():
    # A workload with one number of keys is one line, and its own table.
    rows = [{"name": f"contention/push/{workload}/{arm}/keys:{keys}", "items_per_second": rate}
            for workload, sizes in (("uniform", (32, 32768)), ("hot90", (32768,)))
            for keys in sizes
            for arm, rate in (("atomics", 4e9), ("warden_locks", 1e9), ("warden_runs", 3e9))]
    table = rows_of({"benchmarks": rows})
    assert list(table) == [("push", "uniform"), ("push", "hot90")], table
    assert markdown(table["push", "hot90"]).splitlines()[2:] == ["| 32K | 4.00 | 1.00 | 3.00 |"]
    del table["push", "uniform"][32]["atomics"]
    assert points_markdown(table).splitlines()[2:] == [
        "| `push` | `uniform` | 32 | - | 1.00 | 3.00 |", "| `push` | `uniform` | 32K | 4.00 | 1.00 | 3.00 |",
        "| `push` | `hot90` | 32K | 4.00 | 1.00 | 3.00 |"], points_markdown(table)
    # The cold keys' rate is a line of its own, where it is known.
    rows[-1][COLD] = 5e8
    assert markdown(rows_of({"benchmarks": rows})["push", "hot90"]).splitlines()[2:] == [
        "| 32K | 4.00 | 1.00 | 3.00 |", "| the cold ones | - | - | 0.500 |"]
    try:
        markdown({32: {"warden_new": rows[0]}})
    except SystemExit as error:
        assert str(error) == "tables.py: warden_new: an arm that result_names.py does not name", error
    else:
        raise AssertionError("an unknown arm was left out")
