# SPDX-License-Identifier: Apache-2.0
"""Gaps of Warden's sections over those under locks, beside what is known of them."""
from known_figures import known_of
from markdown_tables import table
from result_file import rows_of
from result_names import is_wardens, short


def ratio_lines(data):
    """header, and a line for each workload of which something is known, by Warden's arm with the shortest mean gap."""
    known = known_of(data)
    lines, locks = [], []
    for (_, workload), by_keys in rows_of(data).items():
        if not any(workload in by_workload for by_workload in known.values()):
            continue
        for keys, by_arm in sorted(by_keys.items()):
            gaps = {arm: row["mean_gap"] for arm, row in by_arm.items() if "mean_gap" in row}
            own = min((arm for arm in gaps if is_wardens(arm)), key=gaps.get, default=None)
            if own is not None:
                locks += [arm for arm in gaps if arm.startswith("lock_") and arm not in locks]
                lines.append((workload, keys, own, gaps))
    cells = [[f"`{workload}`", short(keys), f"`{own}`", *(ratio(gaps[own] / gaps[lock]) if lock in gaps else "-" for lock in locks),
              *(ratio(by_workload[workload]) if workload in by_workload else "-" for by_workload in known.values())]
             for workload, keys, own, gaps in lines]
    return ["workload", "keys", "arm", *(f"over `{lock}`" for lock in locks), *known], cells


def ratio(value):
    return f"{value:.2g}"


def ratios_markdown(data):
    """Nothing if nothing is known of these workloads."""
    header, lines = ratio_lines(data)
    return "Mean gap of Warden's arm with the shortest one, over that of locks:\n\n" + table(header, lines) if lines else ""


def self_test():
    def row(workload, arm, gap):
        return {"name": f"handover/nanoseconds/{workload}/{arm}/keys:1000", "mean_gap": gap}

    rows = [row("mst_rmat", "lock_as_written", 5000.0), row("mst_rmat", "lock_tuned", 200.0), row("mst_rmat", "warden_locks", 50.0),
            row("mst_rmat", "warden_runs", 10.0), row("uniform", "lock_tuned", 2.0), row("uniform", "warden_runs", 1.0), row("mst_r4", "lock_tuned", 4.0)]
    text = ratios_markdown({"benchmarks": rows})
    assert text.splitlines()[2:] == ["| workload | keys | arm | over `lock_as_written` | over `lock_tuned` | [Wang 2020, table 4.2] |",
                                     "| --- | --- | --- | --- | --- | --- |", "| `mst_rmat` | 1000 | `warden_runs` | 0.002 | 0.05 | 0.14 |"], text
    assert ratios_markdown({"benchmarks": rows[4:]}) == ""
