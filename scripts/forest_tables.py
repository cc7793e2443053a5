# SPDX-License-Identifier: Apache-2.0
"""The table of minimum spanning forests: how long each arm takes for each graph."""
from markdown_tables import origin, table
from result_file import rows_of
from result_names import ARMS, amount


def is_forests(data):
    """Whether it is a file of such rows alone."""
    return bool(data["benchmarks"]) and all(row["name"].startswith("spanning_forest/") for row in data["benchmarks"])


def milliseconds(row):
    assert row["time_unit"] == "ms", row
    return row["real_time"]


def forest_markdown(data):
    points = [(workload, keys, by_arm) for (_, workload), by_keys in rows_of(data).items() for keys, by_arm in by_keys.items()]
    arms = [arm for arm in ARMS if any(arm in by_arm for _, _, by_arm in points)]
    lines, words = [], []
    for graph, vertices, by_arm in points:
        one = next(iter(by_arm.values()))
        edges = round(one["items_per_second"] * milliseconds(one) / 1000)
        lines.append([f"`{graph}`", f"{vertices:,}", f"{edges:,}", *(amount(milliseconds(by_arm[arm])) if arm in by_arm else "-" for arm in arms)])
        own = min((milliseconds(row), arm) for arm, row in by_arm.items() if arm.startswith("warden_"))
        locks = min((milliseconds(row), arm) for arm, row in by_arm.items() if arm.startswith("lock_"))
        fastest = min(by_arm, key=lambda arm: milliseconds(by_arm[arm]))
        words.append(f"`{graph}`: `{fastest}` is fastest; `lock_tuned` takes {amount(milliseconds(by_arm['lock_tuned']) / own[0])} times as long as "
                     f"`{own[1]}`, the fastest lock, `{locks[1]}`, {amount(locks[0] / own[0])} times.")
    header = ["graph", "vertices", "edges", *(f"`{arm}`" for arm in arms)]
    return f"Milliseconds on {origin(data)}, verified:\n\n{table(header, lines)}\n\n" + "\n".join(f"- {line}" for line in words)


def self_test():
    rows = [{"name": f"spanning_forest/find/grid/{arm}/keys:10", "items_per_second": 40 / time * 1000, "real_time": time, "time_unit": "ms"}
            for arm, time in (("lock_tuned", 8.0), ("lock_checked", 6.0), ("atomics", 1.0), ("warden_deferred", 2.0))]
    context = {"device": "GPU", "toolkit": "13.0", "commit": "0" * 40, "simulated": "no"}
    data = {"context": context, "benchmarks": rows}
    assert is_forests(data) and not is_forests({"context": context, "benchmarks": [{"name": "contention/push/uniform/atomics/keys:1"}]})
    text = forest_markdown(data)
    assert "| `grid` | 10 | 40 | 8.00 | 6.00 | 1.00 | 2.00 |" in text, text
    assert "`atomics` is fastest; `lock_tuned` takes 4.00 times as long as `warden_deferred`, the fastest lock, `lock_checked`, 3.00 times." in text, text
