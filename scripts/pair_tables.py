# SPDX-License-Identifier: Apache-2.0
"""Tables of where the time of sections on two records goes."""
from markdown_tables import origin, table
from result_file import rows_of
from result_names import rate, short

PARTS = {"first_lock_ns": "for the greater lock", "request_ns": "to the other owner", "second_lock_ns": "for the lesser lock",
         "reply_ns": "back"}


def is_pair_times(data):
    """Whether it is a file of such rows alone."""
    return bool(data["benchmarks"]) and all(PARTS.keys() <= row.keys() for row in data["benchmarks"])


def pair_tables(data):
    """(title, header, lines) for each operation and workload."""
    tables = []
    for (operation, workload), by_keys in rows_of(data).items():
        lines = []
        for keys, by_arm in sorted(by_keys.items()):
            for arm, row in sorted(by_arm.items()):
                lines.append([short(keys), *(f"{row[part] / 1000:.2f}" for part in PARTS), rate(row)])
        tables.append((f"{operation}, {workload}: microseconds on average", ["keys", *PARTS.values(), "G/s with clocks"], lines))
    return tables


def pair_markdown(data):
    return "\n\n".join([f"On {origin(data)}:", *(f"{title}\n\n{table(header, lines)}" for title, header, lines in pair_tables(data))])


def self_test():
    row = {"name": "bank_transfer/transfer/uniform/warden_nested_timed/keys:256", "items_per_second": 2e7, "first_lock_ns": 4e6,
           "request_ns": 2050.0, "second_lock_ns": 1500.0, "reply_ns": 1999.0}
    data = {"context": {"device": "GPU", "toolkit": "13.0", "commit": "0123456789abcdef"}, "benchmarks": [row]}
    assert is_pair_times(data) and not is_pair_times({"benchmarks": []})
    assert not is_pair_times({"benchmarks": [row, {"name": row["name"], "items_per_second": 1e9}]})
    assert pair_markdown(data).splitlines()[-1] == "| 256 | 4000.00 | 2.05 | 1.50 | 2.00 | 0.020 |", pair_markdown(data)
