# SPDX-License-Identifier: Apache-2.0
"""Tables of deferred sections: sending alone and what its kernel takes, small runs, samples that combine, and the memory of a log."""
from markdown_tables import titled
from result_file import refused, rows_of
from result_names import COUNTS, amount, is_simulated, rate, short

# Messages in a log are no accesses that are counted.
COUNTED = [count for count in COUNTS if count != "sectors"]
# What becomes of samples, in the order of columns.
SAMPLE_ARMS = ["uncombined", "combined_as_wide", "combined_wider"]
WORKLOADS = {"uniform": "on keys hit alike", "zipf099": "by Zipf's law"}


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


def samples_of(data):
    """{(workload, keys): {arm: row}} of samples, those of one workload together."""
    table = {}
    for row in data["benchmarks"]:
        _, kind, workload, *arm, size = row["name"].split("/")
        if kind == "samples":
            table.setdefault((workload, int(size.split(":")[1])), {})[arm[0]] = row
    return dict(sorted(table.items()))


def sample_table(data):
    simulated = is_simulated(data)
    lines = []
    for (workload, keys), by_arm in samples_of(data).items():
        if simulated:
            lines += [[workload, short(keys), arm, *counts_of(by_arm[arm])] for arm in SAMPLE_ARMS if arm in by_arm]
        else:
            lines.append([workload, short(keys), *(rate(by_arm[arm]) if arm in by_arm else "-" for arm in SAMPLE_ARMS)])
    return ["ids", "keys", *(["arm", *(count.replace("_", " ") for count in COUNTED)] if simulated else SAMPLE_ARMS)], lines


def ratio(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def samples_in_words(data):
    """What combining to wider partials costs or gains, for each workload: the least and the most of all numbers of keys."""
    if is_simulated(data):
        return ""
    parts = []
    for workload, where in WORKLOADS.items():
        ratios = [(row["combined_wider"]["items_per_second"] / row["uncombined"]["items_per_second"], short(keys))
                  for (of, keys), row in samples_of(data).items() if of == workload and {"combined_wider", "uncombined"} <= row.keys()]
        if ratios:
            (least, at), (most, most_at) = min(ratios), max(ratios)
            parts.append(f"{where} {ratio(least)} (at {at})" + (f" to {ratio(most)} (at {most_at}) times" if len(ratios) > 1 else " times"))
    return f"Samples that combine to wider partials have, {' and '.join(parts)} the rate of samples that are not combined." if parts else ""


def deferred_tables(data):
    """(title, header, lines) of each kind of rows, each if there are any."""
    simulated = is_simulated(data)
    counts = [count.replace("_", " ") for count in COUNTED]
    each = ": counts for each section" if simulated else ""
    sent, small, memory, sections = [], [], [], set()
    for row in data["benchmarks"]:
        _, kind, send, *where, size = row["name"].split("/")
        if kind == "samples":
            continue
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
    if samples_of(data):
        tables.append((f"kernel and run of samples{each or ', G sections/s'}", *sample_table(data)))
    if memory:
        tables.append(("memory of a log", ["bytes", "sections", "MiB", "more than the messages"], memory))
    return tables


def deferred_markdown(data):
    words = samples_in_words(data)
    return titled("deferred", data, deferred_tables(data)) + (f"\n\n{words}" if words else "")


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
    # Samples: what it costs to combine, and what it gains.
    rates = {("uniform", 1024): (40e9, 20e9, 38e9), ("uniform", 2**20): (50e9, 25e9, 49e9), ("zipf099", 1024): (1.5e9, 30e9, 45e9)}
    rows = [{"name": f"deferred/samples/{of}/{arm}/keys:{keys}", "items_per_second": value}
            for (of, keys), values in rates.items() for arm, value in zip(SAMPLE_ARMS, values)]
    both = {**own, "benchmarks": [memory, *rows]}
    title, header, lines = deferred_tables(both)[0]
    assert title == "kernel and run of samples, G sections/s" and header == ["ids", "keys", *SAMPLE_ARMS], (title, header)
    assert lines == [["uniform", "1K", "40.0", "20.0", "38.0"], ["uniform", "1M", "50.0", "25.0", "49.0"],
                     ["zipf099", "1K", "1.50", "30.0", "45.0"]], lines
    assert deferred_markdown(both).splitlines()[-1] == (
        "Samples that combine to wider partials have, on keys hit alike 0.95 (at 1K) to 0.98 (at 1M) times and by Zipf's law 30 (at 1K) times "
        "the rate of samples that are not combined."), deferred_markdown(both)
    assert not samples_in_words({**own, "benchmarks": [memory, rows[0]]}), "nothing to compare with"
    # The simulated device has counts, and logs of the same size.
    counts = {"global_atomics": 1.25, "lock_retries": 0.0, "messages": 1.0}
    counted = [{"name": sent["name"], **counts}, {"name": small["name"], "sections": 1024.0, **counts}, memory]
    tables = deferred_tables({"context": {"simulated": "yes"}, "benchmarks": counted})
    assert [lines for _, _, lines in tables] == [
        [["block", "8", "1.25", "0.00", "1.00"]], [["thread", "in_memory", "16M", "1.25", "0.00", "1.00"]], [["16", "64M", "1075.2", "5.0 %"]]], tables
    assert all(len(header) == len(line) for _, header, lines in tables for line in lines), tables
    counted = {"context": {"simulated": "yes"}, "benchmarks": [{"name": rows[0]["name"], **counts}]}
    (title, header, lines), = deferred_tables(counted)
    assert title == "kernel and run of samples: counts for each section" and lines == [["uniform", "1K", "uncombined", "1.25", "0.00", "1.00"]], lines
    assert len(header) == len(lines[0]) and not samples_in_words(counted), header
    assert deferred_tables({**own, "benchmarks": [memory]})[0][0] == "memory of a log", "each kind for itself"
    assert refused(rows_of, own), "such rows are no comparison of arms"
