# SPDX-License-Identifier: Apache-2.0
"""Tables of a comparison by numbers of sections of a run: rows whose names end in /sections:N."""
from arm_tables import columns
from markdown_tables import origin, table
from result_file import rows_by_sections
from result_names import COUNTS, amount, is_simulated, rate, short, unit_of


def is_by_sections(data):
    """Whether it is a file of such rows alone."""
    return bool(data["benchmarks"]) and all("/sections:" in row["name"] for row in data["benchmarks"])


def sections_tables(data):
    """(title, header, lines) for each operation, workload and quantity: a line for each number of keys and of sections."""
    unit, tables = unit_of(data), []
    quantities = [(f"{count.replace('_', ' ')} for each {unit}", count) for count in COUNTS] if is_simulated(data) else [
        (f"G {unit}s/s", "items_per_second")]
    for (operation, workload), by_size in rows_by_sections(data).items():
        arms = columns(by_size.values())
        for what, counter in quantities:
            lines = [[short(keys), short(sections), *(written(by_arm.get(arm, {}), counter) for arm in arms)]
                     for (keys, sections), by_arm in sorted(by_size.items())]
            tables.append((f"`{operation}`, `{workload}`: {what} by {unit}s of a run",
                           ["keys", f"{unit}s", *(f"`{arm}`" for arm in arms)], lines))
    return tables


def written(row, counter):
    return "-" if counter not in row else rate(row) if counter == "items_per_second" else amount(row[counter])


def sections_markdown(data):
    return "\n\n".join([f"On {origin(data)}:", *(f"{title}\n\n{table(header, lines)}" for title, header, lines in sections_tables(data))])


def self_test():
    rows = [{"name": f"bank_transfer/transfer/uniform/{arm}/keys:{keys}/sections:{sections}", "items_per_second": rate}
            for arm, keys, sections, rate in (("warden_rounds", 1024, 524288, 4e8), ("warden_rounds", 1024, 4096, 5e7),
                                              ("lock_tuned", 1024, 4096, 6e7))]
    data = {"context": {"device": "GPU", "toolkit": "13.0", "commit": "0123456789abcdef"},
            "benchmarks": [*rows, {"name": "bank_transfer/transfer/uniform/atomics/keys:1024", "items_per_second": 1e9}]}
    assert sections_markdown(data).splitlines()[2:] == [
        "`transfer`, `uniform`: G transfers/s by transfers of a run", "",
        "| keys | transfers | `lock_tuned` | `warden_rounds` |", "| --- | --- | --- | --- |",
        "| 1K | 4K | 0.060 | 0.050 |", "| 1K | 512K | - | 0.400 |"], sections_markdown(data)
    assert sections_tables({"context": {}, "benchmarks": []}) == []
    counted = {"context": {"simulated": "yes"}, "benchmarks": [{"name": rows[0]["name"], "global_atomics": 2.5, "sectors": 1.0}]}
    assert [(title.split(": ")[1], lines) for title, _, lines in sections_tables(counted)][:2] == [
        ("global atomics for each transfer by transfers of a run", [["1K", "512K", "2.50"]]),
        ("lock retries for each transfer by transfers of a run", [["1K", "512K", "-"]])]
    assert is_by_sections({"benchmarks": rows}) and not is_by_sections(data) and not is_by_sections({"benchmarks": []})
