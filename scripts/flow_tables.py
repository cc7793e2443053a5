# SPDX-License-Identifier: Apache-2.0
"""The tables of maximum flows: how long each arm takes for each network, and what it went through."""
from arm_times import inputs_of, times_markdown
from markdown_tables import table

# counter -> what it counts, for the arms that work in rounds.
FACTS = {"rounds": "rounds", "rounds_back": "of them back", "searches": "searches", "levels": "levels of these", "pushes": "pushes", "relabels": "relabels"}
SEQUENTIAL = "boost_"


def facts_lines(data):
    """A line for the arms that went through the same with a network."""
    lines = []
    for one in inputs_of(data):
        arms_by_facts = {}
        for arm, row in one.rows.items():
            if FACTS.keys() <= row.keys():
                arms_by_facts.setdefault(tuple(round(row[fact]) for fact in FACTS), []).append(f"`{arm}`")
        lines += [[f"`{one.name}`", ", ".join(arms), *(f"{count:,}" for count in facts)] for facts, arms in arms_by_facts.items()]
    return lines


def flow_markdown(data):
    parts = [times_markdown(data, "network")]
    sequential = sorted({arm for one in inputs_of(data) for arm in one.rows if arm.startswith(SEQUENTIAL)})
    if sequential:
        host = data["context"].get("host_cpu", "the host")
        parts.append(f"{' and '.join(f'`{arm}`' for arm in sequential)}: sequential, on one core ({host}), once each.")
    if lines := facts_lines(data):
        parts.append("What the arms went through:\n\n" + table(["network", "arms", *FACTS.values()], lines))
    return "\n\n".join(parts)


def self_test():
    def row(arm, time, rounds):
        facts = {} if rounds is None else {**dict.fromkeys(FACTS, 1.0), "rounds": rounds}
        return {"name": f"max_flow/find/washington_512x512/{arm}/keys:10", "items_per_second": 40 / time * 1000, "real_time": time, "time_unit": "ms", **facts}

    context = {"device": "GPU", "toolkit": "13.0", "commit": "0" * 40, "simulated": "no", "host_cpu": "a CPU"}
    rows = [row("atomics", 390.0, 8615.0), row("warden_regions", 700.0, 1219.0), row("warden", 535.0, 8615.0), row("boost_push_relabel", 1070.0, None)]
    lines = flow_markdown({"context": context, "benchmarks": rows}).splitlines()
    assert lines[2].startswith("| network | vertices | edges | `atomics` | `warden` | `warden_regions` | `boost_push_relabel` | HIPR"), lines[2]
    assert "Beside `warden`, Warden's fastest arm: `atomics` takes 0.73 times as long, `boost_push_relabel` 2.00, HIPR" in lines[6], lines[6]
    assert lines[8] == "`boost_push_relabel`: sequential, on one core (a CPU), once each.", lines[8]
    assert lines[-2:] == ["| `washington_512x512` | `atomics`, `warden` | 8,615 | 1 | 1 | 1 | 1 | 1 |",
                          "| `washington_512x512` | `warden_regions` | 1,219 | 1 | 1 | 1 | 1 | 1 |"], lines
    assert "sequential" not in flow_markdown({"context": context, "benchmarks": rows[:3]})
