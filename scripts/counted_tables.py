# SPDX-License-Identifier: Apache-2.0
"""Tables of what is counted or timed for each section: traffic, gaps between sections, answers."""
from gap_ratios import ratios_markdown
from markdown_tables import origin, table
from result_file import rows_of
from result_names import ARMS, amount, rate, short


def count_of(count, share=None):
    """Shows a count, before its share of what lock_as_written takes."""
    def shown(row):
        if count not in row:
            return None
        return amount(row[count]) + (f" ({amount(100 * row[share])} %)" if share in row and row[share] != 1 else "")
    return shown


def gap_of(row):
    return f"{amount(row['mean_gap'])} ({row['minimum_gap']:.0f})" if "mean_gap" in row else None


def wait_of(row):
    return f"{row['median']:.0f} ({row['p99']:.0f})" if "median" in row else None


def rate_of(row):
    return rate(row) if "items_per_second" in row else None


# benchmark -> what its tables show in parentheses, and (what a table holds, how a row is shown) of each table: nothing for a row
# without it.
COUNTED = {
    "traffic": ("as a share of what `lock_as_written` takes",
                [("32-byte sectors at the L2 for each section", count_of("l2_sectors_per_operation", "l2_of_lock_as_written")),
                 ("bytes of DRAM for each section", count_of("dram_bytes_per_operation", "dram_of_lock_as_written")),
                 ("sectors on the simulated device for each section", count_of("simulated_sectors_per_operation")),
                 ("atomics on the simulated device for each section", count_of("simulated_atomics_per_operation"))]),
    "handover": ("the shortest",
                 [("from the end of a section to the next on its record, on average", gap_of),
                  ("G sections/s", rate_of)]),
    "answers": ("the 99th percentile",
                [("from just before a call to just behind its answer, median", wait_of),
                 ("G calls/s", rate_of)])}
CLOCKS = ("nanoseconds", "cycles")
# Operations whose name is not enough of a title, and how they are titled.
TITLES = {"pairs": "pairs, sections on two records, in nanoseconds"}


def clock_of(row):
    """The clock by which a row was measured: named, or the one of all multiprocessors."""
    return next((part for part in row["name"].split("/") if part in CLOCKS), CLOCKS[0])


def counted_benchmark(data):
    """The benchmark of COUNTED that the rows are of; None for another one."""
    return next((name for row in data["benchmarks"] if (name := row["name"].split("/")[0]) in COUNTED), None)


def counted_tables(data):
    """(title, header, lines) of what is counted, each if there are rows."""
    tables = []
    for (operation, workload), by_keys in rows_of(data).items():
        for what, shown in COUNTED[counted_benchmark(data)][1]:
            texts = {keys: {arm: text for arm, row in by_arm.items() if (text := shown(row))} for keys, by_arm in sorted(by_keys.items())}
            arms = [a for a in ARMS if any(a in by_arm for by_arm in texts.values())]
            if arms:
                tables.append((f"{TITLES.get(operation, operation)}, {workload}: {what}", ["keys", *arms],
                               [[short(keys), *(by_arm.get(a, "-") for a in arms)] for keys, by_arm in texts.items()]))
    return tables


def counted_markdown(data):
    benchmark = counted_benchmark(data)
    ticks = {clock_of(row): f"{row['tick']:.0f}" for row in data["benchmarks"] if "tick" in row}
    parts = [f"`{benchmark}` on {origin(data)}, in parentheses {COUNTED[benchmark][0]}"
             + "".join(f"; the clock's smallest step is {tick} {clock}" for clock, tick in ticks.items()) + ":"]
    for title, (first, *arms), lines in counted_tables(data):
        parts.append(f"{title}\n\n" + table([first, *(f"`{arm}`" for arm in arms)], lines))
    if ratios := ratios_markdown(data):
        parts.append(ratios)
    return "\n\n".join(parts)


def self_test():
    context = {"device": "d", "commit": "c", "toolkit": "13.0"}

    # Traffic: a table for what was counted, shares beside the counts; nothing for what was not.
    def counted_row(arm, keys, **counts):
        return {"name": f"traffic/push/uniform/{arm}/keys:{keys}", **counts}

    own = {"context": context, "benchmarks": [
        counted_row("lock_as_written", 256, l2_sectors_per_operation=400.0, l2_of_lock_as_written=1.0),
        counted_row("warden_runs", 256, l2_sectors_per_operation=4.25, l2_of_lock_as_written=0.010625, simulated_sectors_per_operation=2.0),
        counted_row("warden_runs", 1024, l2_sectors_per_operation=5.0)]}
    assert counted_benchmark(own) == "traffic"
    (title, header, lines), (simulated_title, _, simulated_lines) = counted_tables(own)
    assert title.startswith("push, uniform: 32-byte sectors") and header == ["keys", "lock_as_written", "warden_runs"], (title, header)
    assert lines == [["256", "400", "4.25 (1.06 %)"], ["1K", "-", "5.00"]], lines
    assert "simulated" in simulated_title and simulated_lines == [["256", "2.00"], ["1K", "-"]], simulated_lines
    assert counted_markdown(own).splitlines()[4:7] == [
        "| keys | `lock_as_written` | `warden_runs` |", "| --- | --- | --- |", "| 256 | 400 | 4.25 (1.06 %) |"]
    # Gaps: mean and shortest, then the rates; a row without gaps has a rate.
    gaps = {"mean_gap": 81234.5, "minimum_gap": -32.0, "tick": 32.0}
    own = {"context": context, "benchmarks": [
        {"name": "handover/nanoseconds/uniform/lock_tuned/keys:1", "items_per_second": 2e9, **gaps},
        {"name": "handover/nanoseconds/uniform/warden_runs/keys:256", "items_per_second": 3e9, "tick": 32.0}]}
    (title, header, lines), (_, _, rates) = counted_tables(own)
    assert header == ["keys", "lock_tuned"] and lines == [["1", "81234 (-32)"], ["256", "-"]], (header, lines)
    assert rates == [["1", "2.00", "-"], ["256", "-", "3.00"]], rates
    assert counted_markdown(own).splitlines()[0].endswith("in parentheses the shortest; the clock's smallest step is 32 nanoseconds:")
    # Pairs have tables of their own, and the clock of all multiprocessors.
    own["benchmarks"] += [
        {"name": f"handover/pairs/uniform/{arm}/keys:{keys}", "items_per_second": 1e9, "mean_gap": 500.25, "minimum_gap": 0.0, "tick": 32.0}
        for keys in (1024, 256) for arm in ("warden_nested_on_chip", "lock_ordered", "warden_colocated", "lock_as_written")]
    tables = counted_tables(own)
    assert [title for title, _, _ in tables] == [
        f"{of}, uniform: {what}" for of in ("nanoseconds", "pairs, sections on two records, in nanoseconds")
        for what, _ in COUNTED["handover"][1]], tables
    assert tables[2][1:] == (["keys", "lock_as_written", "lock_ordered", "warden_colocated", "warden_nested_on_chip"],
                             [["256", *["500 (0)"] * 4], ["1K", *["500 (0)"] * 4]]), tables[2]
    assert tables[:2] == counted_tables({**own, "benchmarks": own["benchmarks"][:2]}), "rows of one record stand as before"
    assert counted_markdown(own).splitlines()[0].endswith("in parentheses the shortest; the clock's smallest step is 32 nanoseconds:")
    # Answers: how long callers wait, by each clock, then the rates of both clients.
    wait = {"median": 3520.4, "p99": 9000.0, "tick": 32.0}
    own = {"context": context, "benchmarks": [
        {"name": "answers/latency/nanoseconds/warden_runs/keys:256", **wait},
        {"name": "answers/latency/cycles/warden_runs/keys:256", **wait, "tick": 2.0},
        {"name": "answers/throughput/block_client/warden_runs/keys:256", "items_per_second": 2e9}]}
    tables = counted_tables(own)
    assert [title.split(":")[0] for title, _, _ in tables] == [
        "latency, nanoseconds", "latency, cycles", "throughput, block_client"], tables
    assert [lines for _, _, lines in tables] == [[["256", "3520 (9000)"]], [["256", "3520 (9000)"]], [["256", "2.00"]]], tables
    assert counted_markdown(own).splitlines()[0].endswith(
        "the 99th percentile; the clock's smallest step is 32 nanoseconds; the clock's smallest step is 2 cycles:")
