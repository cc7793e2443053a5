# SPDX-License-Identifier: Apache-2.0
"""Tables of deferred sections: sending alone and what its kernel takes, small runs, and the memory of a log."""
from markdown_tables import titled
from result_file import refused, rows_of
from result_names import COUNTS, amount, is_simulated, rate, short

# Messages in a log are no accesses that are counted.
COUNTED = [count for count in COUNTS if count != "sectors"]


def is_deferred(data):
    return any(row["name"].startswith("deferred/") for row in data["benchmarks"])


def counts_of(row):
    return [amount(row[count]) for count in COUNTED]


def sent_of(row):
    size = int(row["name"].rsplit(":", 1)[1])
    return [rate(row), f"{size * row['items_per_second'] / 1e9:.0f}",
            *(f"{row[what]:.0f}" for what in ("registers", "local_bytes", "shared_bytes", "multiprocessor_threads"))]


def times_of(row):
    return [f"{row[time]:.1f}" for time in ("median_us", "p99_us", "back_to_back_us")]


def deferred_tables(data):
    """(title, header, lines) of each kind of rows, each if there are any."""
    simulated = is_simulated(data)
    counts = [count.replace("_", " ") for count in COUNTED]
    each = ": counts for each section" if simulated else ""
    sent, small, memory, sections = [], [], [], set()
    for row in data["benchmarks"]:
        _, kind, send, *where, size = row["name"].split("/")
        number = int(size.split(":")[1])
        if kind == "send":
            sent.append([send, str(number), *(counts_of(row) if simulated else sent_of(row))])
        elif kind == "small":
            sections.add(row["sections"])
            small.append([send, *where, short(number), *(counts_of(row) if simulated else times_of(row))])
        else:
            own = number * row["sections"]
            memory.append([str(number), short(int(row["sections"])), f"{row['memory_bytes'] / 2**20:.1f}",
                           f"{100 * (row['memory_bytes'] / own - 1):.1f} %"])
    tables = []
    if sent:
        tables.append((f"sending alone{each}", ["send", "bytes", *(counts if simulated else [
            "G sections/s", "GB/s", "registers", "local bytes", "shared bytes", "resident threads"])],
            sent))
    if small:
        of = " or ".join(short(int(count)) for count in sorted(sections))
        tables.append((f"kernel and run of {of} sections of 16 bytes{each}", ["send", "records", "keys", *(counts if simulated else [
            "median microseconds", "99th percentile", "back to back"])], small))
    if memory:
        tables.append(("memory of a log", ["bytes", "sections", "MiB", "more than the messages"], memory))
    return tables


def deferred_markdown(data):
    return titled("deferred", data, deferred_tables(data))


def self_test():
    takes = {"registers": 40.0, "local_bytes": 0.0, "shared_bytes": 47200.0, "block_threads": 512.0, "multiprocessor_threads": 1536.0}
    sent = {"name": "deferred/send/block/bytes:8", "items_per_second": 2.654e11, **takes}
    small = {"name": "deferred/small/thread/in_memory/keys:16777216", "sections": 1024.0, "median_us": 20.04, "p99_us": 31.0,
             "back_to_back_us": 9.96}
    memory = {"name": "deferred/memory/block/bytes:16", "sections": 2.0**26, "memory_bytes": 1.05 * 2**30}
    own = {"context": {"device": "d", "commit": "c", "toolkit": "13.0"}, "benchmarks": [sent, small, memory]}
    assert is_deferred(own) and not is_deferred({"benchmarks": []})
    tables = deferred_tables(own)
    assert [title for title, _, _ in tables] == ["sending alone", "kernel and run of 1K sections of 16 bytes", "memory of a log"], tables
    assert [lines for _, _, lines in tables] == [
        [["block", "8", "265.4", "2123", "40", "0", "47200", "1536"]], [["thread", "in_memory", "16M", "20.0", "31.0", "10.0"]],
        [["16", "64M", "1075.2", "5.0 %"]]], tables
    assert all(len(header) == len(line) for _, header, lines in tables for line in lines), tables
    lines = deferred_markdown(own).splitlines()
    assert lines[0] == "`deferred`, sending alone, on one d (CUDA 13.0, commit c):" and lines[-1] == "| 16 | 64M | 1075.2 | 5.0 % |", lines
    # The simulated device has counts, and logs of the same size.
    counts = {"global_atomics": 1.25, "lock_retries": 0.0, "messages": 1.0}
    counted = [{"name": sent["name"], **counts}, {"name": small["name"], "sections": 1024.0, **counts}, memory]
    tables = deferred_tables({"context": {"simulated": "yes"}, "benchmarks": counted})
    assert [lines for _, _, lines in tables] == [
        [["block", "8", "1.25", "0.00", "1.00"]], [["thread", "in_memory", "16M", "1.25", "0.00", "1.00"]], [["16", "64M", "1075.2", "5.0 %"]]], tables
    assert all(len(header) == len(line) for _, header, lines in tables for line in lines), tables
    assert deferred_tables({**own, "benchmarks": [memory]})[0][0] == "memory of a log", "each kind for itself"
    assert refused(rows_of, own), "such rows are no comparison of arms"
