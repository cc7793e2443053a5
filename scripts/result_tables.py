# SPDX-License-Identifier: Apache-2.0
"""Tables of results, for people and for the documentation: arms by keys, ways of sending, and what is counted."""
import re

import result_file
from result_file import rows_of

ARMS = ["lock_as_written", "lock_tuned", "lock_ordered", "atomics", "atomics_combined", "sort", "warden_paper", "warden_locks",
        "warden_runs", "warden_runs_on_chip", "warden_runs_combined", "warden_atomics", "warden_atomics_on_chip", "warden_colocated",
        "warden_nested", "warden_nested_on_chip", "warden_forwarding"]
# Warden's arms that do in two sections what the others do in one.
NOT_ISOLATING = {"warden_forwarding"}
COUNTS = ["global_atomics", "lock_retries", "sectors", "messages"]
# What the operations of a comparison are called, where they are no sections of one record each.
UNITS = {"bank_transfer": "transfer"}
# In rows of hot90: the cold keys' own rate.
COLD = "cold_items_per_second"


def short(keys):
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if keys >= size and keys % size == 0:
            return f"{keys // size}{unit}"
    return str(keys)


def rate(row, what="items_per_second"):
    value = row[what] / 1e9
    return f"{value:.5f}" if value < 0.01 else f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def cell(row, simulated):
    if row is None:
        return "-"
    if simulated:
        return " / ".join(f"{row[count]:.2f}" for count in COUNTS)
    return rate(row)


def arms_by_keys(by_keys, simulated):
    """(header, lines) of a table: a line for each number of keys, and one for the cold ones of them, where their rate is known."""
    arms = [a for a in ARMS if any(a in arms_of for arms_of in by_keys.values())]
    lines = []
    for keys, by_arm in sorted(by_keys.items()):
        lines.append([short(keys), *(cell(by_arm.get(a), simulated) for a in arms)])
        if any(COLD in row for row in by_arm.values()):
            lines.append(["the cold ones", *(rate(by_arm[a], COLD) if COLD in by_arm.get(a, {}) else "-" for a in arms)])
    return ["keys", *arms], lines


def markdown(by_keys, simulated):
    (first, *arms), lines = arms_by_keys(by_keys, simulated)
    header = [f"| {first} | " + " | ".join(f"`{a}`" for a in arms) + " |", "|---" * (len(arms) + 1) + "|"]
    return "\n".join(header + ["| " + " | ".join(line) + " |" for line in lines])


def best_of_warden(by_arm, baseline=None):
    """Of Warden's arms; against locks only of those that let nobody see what is half done, as locks do not."""
    keeps = [arm for arm in by_arm if arm.startswith("warden_") and not (str(baseline).startswith("lock_") and arm in NOT_ISOLATING)]
    return max((by_arm[arm]["items_per_second"] for arm in keeps), default=None)


def in_words(by_keys):
    """Where a baseline wins, in words."""
    sentences = []
    # Some workloads have a number of keys of their own.
    everywhere = "faster than Warden" + (" at every number of keys." if len(by_keys) > 1 else " here.")
    for arm, what, always in (
            ("atomics", "one atomic each", f"Where the section can be one atomic each, that is {everywhere}"),
            ("atomics_combined", "combining before the atomics",
             f"Where sections combine, combining them before the atomics is {everywhere}"),
            ("sort", "sorting first", f"Where all sections are known beforehand, sorting them is {everywhere}"),
            ("lock_tuned", "tuned locks", f"Tuned locks are {everywhere}")):
        wins = [k for k, arms in sorted(by_keys.items()) if arm in arms and best_of_warden(arms) is not None
                and arms[arm]["items_per_second"] > best_of_warden(arms)]
        if wins and len(wins) == len(by_keys):
            sentences.append(always)
        elif wins:
            sentences.append(f"With {what}, Warden loses at {', '.join(short(k) for k in wins)} keys.")
    return " ".join(sentences) or "Warden is faster than every baseline here."


def arms_not_isolating(table):
    return ", ".join(sorted({f"`{arm}`" for by_keys in table.values() for by_arm in by_keys.values() for arm in by_arm
                             if arm in NOT_ISOLATING}))


def rows_in_words(table):
    """At which rows a baseline wins, in words: for tables of several operations and workloads."""
    sentences = []
    for arm in (a for a in ARMS if not a.startswith("warden_")):
        wins = []
        for (operation, workload), by_keys in table.items():
            sizes = [keys for keys, by_arm in sorted(by_keys.items()) if arm in by_arm and best_of_warden(by_arm, arm) is not None
                     and by_arm[arm]["items_per_second"] > best_of_warden(by_arm, arm)]
            if sizes:
                # The number of keys tells rows apart only where there are several.
                at = f" ({', '.join(short(keys) for keys in sizes)})" if len(by_keys) > 1 else ""
                wins.append(f"`{operation}` `{workload}`{at}")
        if wins:
            sentences.append(f"`{arm}` is faster than Warden at {', '.join(wins)}.")
    if arms_not_isolating(table) and sentences:
        sentences.append(f"(Locks are compared with the arms that isolate: not with {arms_not_isolating(table)}.)")
    return " ".join(sentences) or "Warden is faster than every baseline here."


def unit_of(data):
    """What the rates of a comparison count."""
    return UNITS.get(data["benchmarks"][0]["name"].split("/")[0] if data["benchmarks"] else "", "section")


def is_transport(data):
    return any(row["name"].startswith("transport/") for row in data["benchmarks"])


def transport_tables(data):
    """(title, header, lines) of the rates and of the latencies, each if there are rows."""
    simulated = data["context"].get("simulated") == "yes"
    counts = " / ".join(c.replace("_", " ") for c in COUNTS) + " for each message"
    rates, latencies, ceilings, ticks = [], [], {}, set()
    for row in data["benchmarks"]:
        _, send, receive, readiness, what, servers = row["name"].split("/")
        channels = receive, readiness, what.removeprefix("bytes:"), servers.removeprefix("servers:")
        if send == "latency":
            latencies.append((channels, row))
            ticks.add(row.get("tick_ns"))
        else:
            rates.append((send, channels, row))
            if send == "ceiling_copy":
                ceilings[channels] = row
    tables = []
    if rates:
        lines = []
        for send, channels, row in rates:
            line = [send, *channels]
            if simulated:
                line.append(cell(row, True))
            else:
                ceiling = ceilings.get(channels)
                share = f"{100 * row['items_per_second'] / ceiling['items_per_second']:.0f} %" if ceiling else "-"
                line += [rate(row), f"{row['bytes_per_second'] / 1e9:.0f}", share]
            lines.append(line)
        tables.append(("messages, by the ways they are sent and received",
                       ["send", "receive", "readiness", "bytes", "servers",
                        *([counts] if simulated else ["G messages/s", "GB/s", "of `ceiling_copy`"])], lines))
    if latencies:
        lines = [[*channels, *([cell(row, True)] if simulated else [f"{row['median_ns']:.0f}", f"{row['p99_ns']:.0f}"])]
                 for channels, row in latencies]
        title = "latency from send to execution"
        if not simulated:
            title += f" (the clock's tick is {' or '.join(f'{tick:.0f}' for tick in sorted(ticks))} ns)"
        tables.append((title, ["receive", "readiness", "servers are", "servers",
                               *([counts] if simulated else ["median ns", "99th percentile ns"])], lines))
    return tables


def titled_markdown(benchmark, data, tables):
    """Tables of which each has its own title; words are quoted where they stand for themselves."""
    context = data["context"]
    parts = []
    for title, header, lines in tables:
        quoted = [["`" + text + "`" if re.match("[a-z]", text) else text for text in line] for line in lines]
        parts.append(f"`{benchmark}`, {title}, on one {context['device']} (CUDA {context['toolkit']}, commit {context['commit'][:12]}):\n\n"
                     + "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *quoted)))
    return "\n\n".join(parts)


def transport_markdown(data):
    return titled_markdown("transport", data, transport_tables(data))


# What a row of bounds says about the parts of the GPU, each in percent of what it could do.
BOUNDS = [("L2 %", "l2_percent"), ("DRAM %", "dram_percent"), ("issue %", "issue_percent"), ("LSU %", "lsu_percent"),
          ("shared %", "shared_percent")]
# Counters of such a row: a reason why warps waited, in percent of their time.
STALL = re.compile("stall_(.+)_percent")
SHOWN_STALLS = 3


def is_bounds(data):
    return any(row["name"].startswith("bounds/") for row in data["benchmarks"])


def stalls_of(row):
    shares = sorted(((value, match[1].replace("_", " ")) for name, value in row.items() if (match := STALL.fullmatch(name))), reverse=True)
    return ", ".join(f"{value:.0f} % {reason}" for value, reason in shares[:SHOWN_STALLS]) or "-"


def bounds_tables(data):
    """(title, header, lines) of message passing alone and of each workload, each if there are rows."""
    tables = {}
    for row in data["benchmarks"]:
        benchmark, *point = row["name"].split("/")[1:]
        if benchmark == "transport":
            send, receive, readiness, size, servers = point
            title, first = "message passing alone", ["send", "receive", "readiness", "bytes", "servers"]
            cells = [send, receive, readiness, size.removeprefix("bytes:"), servers.removeprefix("servers:")]
        else:
            operation, workload, arm, keys = point
            title, first = f"`{workload}`", ["operation", "arm", "keys"]
            cells = [operation, arm, short(int(keys.removeprefix("keys:")))]
        cells += [f"{row[name]:.0f}" if name in row else "-" for _, name in BOUNDS]
        tables.setdefault(title, ([*first, *(what for what, _ in BOUNDS), "warps wait for"], []))[1].append([*cells, stalls_of(row)])
    return [(title, header, lines) for title, (header, lines) in tables.items()]


def bounds_markdown(data):
    return titled_markdown("bounds", data, bounds_tables(data))


def amount(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


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
    context, benchmark = data["context"], counted_benchmark(data)
    ticks = {clock_of(row): f"{row['tick']:.0f}" for row in data["benchmarks"] if "tick" in row}
    parts = [f"`{benchmark}` on one {context['device']} (CUDA {context['toolkit']}, commit {context['commit'][:12]}), in parentheses "
             f"{COUNTED[benchmark][0]}"
             + "".join(f"; the clock's smallest step is {tick} {clock}" for clock, tick in ticks.items()) + ":"]
    for title, (first, *arms), lines in counted_tables(data):
        header = [first, *(f"`{arm}`" for arm in arms)]
        parts.append(f"{title}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *lines)))
    return "\n\n".join(parts)


def print_columns(tables):
    for title, header, lines in tables:
        print(f"\n{title}")
        header = [text.replace("`", "") for text in header]
        widths = [max(len(line[i]) for line in (header, *lines)) for i in range(len(header))]
        for line in (header, *lines):
            print("  ".join(f"{text:>{width}}" for text, width in zip(line, widths)))


def print_tables(path):
    data = result_file.load(path)
    if is_transport(data):
        return print_columns(transport_tables(data))
    if is_bounds(data):
        return print_columns(bounds_tables(data))
    # The simulated device has no gaps: such a file holds what it counts of every comparison.
    if counted_benchmark(data) and (tables := counted_tables(data)):
        return print_columns(tables)
    simulated = data["context"].get("simulated") == "yes"
    unit = " / ".join(c.replace("_", " ") for c in COUNTS) + f" for each {unit_of(data)}" if simulated else f"G {unit_of(data)}s/s"
    width = 28 if simulated else 16
    for (operation, workload), by_keys in rows_of(data).items():
        print(f"\n{operation}, {workload} ({unit})")
        header, lines = arms_by_keys(by_keys, simulated)
        for first, *cells in (header, *lines):
            print(f"{first:>13} " + " ".join(f"{text:>{width}}" for text in cells))


def self_test():
    # A workload with one number of keys is one line, and its own table.
    own = {"benchmarks": [{"name": f"contention/push/{workload}/{arm}/keys:{keys}", "items_per_second": rate}
                          for workload, sizes in (("uniform", (32, 32768)), ("hot90", (32768,)))
                          for keys in sizes
                          for arm, rate in (("atomics", 4e9), ("warden_locks", 1e9), ("warden_runs", 3e9))]}
    table = rows_of(own)
    assert list(table) == [("push", "uniform"), ("push", "hot90")], table
    assert markdown(table["push", "hot90"], False).splitlines()[2:] == ["| 32K | 4.00 | 1.00 | 3.00 |"]
    assert best_of_warden(table["push", "hot90"][32768]) == 3e9
    assert in_words(table["push", "hot90"]).endswith("that is faster than Warden here.")
    assert in_words(table["push", "uniform"]).endswith("that is faster than Warden at every number of keys.")
    assert rows_in_words(table) == "`atomics` is faster than Warden at `push` `uniform` (32, 32K), `push` `hot90`."
    assert rows_in_words(rows_of({"benchmarks": own["benchmarks"][1:3]})) == "Warden is faster than every baseline here."
    assert unit_of(own) == "section" and unit_of({"benchmarks": []}) == "section"
    halves = {("transfer", "uniform"): {256: {"lock_tuned": {"items_per_second": 2e9}, "warden_nested": {"items_per_second": 1e9},
                                              "warden_forwarding": {"items_per_second": 3e9}}}}
    assert rows_in_words(halves).startswith("`lock_tuned` is faster than Warden at `transfer` `uniform`."), rows_in_words(halves)
    assert unit_of({"benchmarks": [{"name": "bank_transfer/transfer/uniform/atomics/keys:256"}]}) == "transfer"
    # The cold keys' rate is a line of its own, where it is known.
    own["benchmarks"][-1][COLD] = 5e8
    assert markdown(rows_of(own)["push", "hot90"], False).splitlines()[2:] == [
        "| 32K | 4.00 | 1.00 | 3.00 |", "| the cold ones | - | - | 0.500 |"]
    # Rows of the transport have other names; a rate stands beside the ceiling of the same channels.
    def sent(send, receive, size, rate, readiness="in_band"):
        return {"name": f"transport/{send}/{receive}/{readiness}/bytes:{size}/servers:132", "items_per_second": rate,
                "bytes_per_second": size * rate}

    context = {"device": "d", "commit": "c", "toolkit": "13.0"}
    latency = {"name": "transport/latency/slices/in_band/idle/servers:132", "median_ns": 1824.0, "p99_ns": 2976.0, "tick_ns": 32.0}
    own = {"context": context, "benchmarks": [sent("block", "windows", 16, 50e9), sent("ceiling_copy", "windows", 16, 125e9),
                                              sent("block", "windows", 32, 30e9),
                                              sent("block", "windows", 16, 60e9, "whole_lanes"),
                                              sent("ceiling_copy", "windows", 16, 120e9, "whole_lanes"),
                                              sent("block", "leader", 16, 5e9, "bitmask"), latency]}
    lines = transport_markdown(own).splitlines()
    assert lines[4:10] == ["| `block` | `windows` | `in_band` | 16 | 132 | 50.0 | 800 | 40 % |",
                          "| `ceiling_copy` | `windows` | `in_band` | 16 | 132 | 125.0 | 2000 | 100 % |",
                          "| `block` | `windows` | `in_band` | 32 | 132 | 30.0 | 960 | - |",
                          # Each readiness has its own ceiling, or none.
                          "| `block` | `windows` | `whole_lanes` | 16 | 132 | 60.0 | 960 | 50 % |",
                          "| `ceiling_copy` | `windows` | `whole_lanes` | 16 | 132 | 120.0 | 1920 | 100 % |",
                          "| `block` | `leader` | `bitmask` | 16 | 132 | 5.00 | 80 | - |"], lines
    assert lines[-1] == "| `slices` | `in_band` | `idle` | 132 | 1824 | 2976 |" and "tick is 32 ns" in lines[-5], lines
    counted = {"name": latency["name"], "global_atomics": 1, "lock_retries": 0, "sectors": 2.5, "messages": 1}
    (_, header, lines), = transport_tables({"context": {**context, "simulated": "yes"}, "benchmarks": [counted]})
    assert lines == [["slices", "in_band", "idle", "132", "1.00 / 0.00 / 2.50 / 1.00"]] and len(header) == 5, lines
    assert result_file.refused(rows_of, own), "rows of the transport are no comparison of arms"
    # Bounds: what each part did, and the reasons to wait that took the most time; nothing for what was not counted.
    own = {"context": context, "benchmarks": [
        {"name": "bounds/contention/push/uniform/warden_runs/keys:32768", "l2_percent": 71.6, "dram_percent": 4.2, "issue_percent": 30.0,
         "lsu_percent": 25.0, "shared_percent": 19.9, "occupancy_percent": 36.0, "stall_wait_percent": 8.0, "stall_barrier_percent": 12.5,
         "stall_long_scoreboard_percent": 48.6, "stall_sleeping_percent": 9.0},
        {"name": "bounds/transport/block/windows/in_band/bytes:16/servers:66", "l2_percent": 80.0, "stall_wait_percent": 8.0},
        {"name": "bounds/contention/push/uniform/warden_locks/keys:1000", "l2_percent": 0.4}]}
    assert is_bounds(own) and not is_transport(own) and not counted_benchmark(own)
    (title, header, lines), (messages, _, transported) = bounds_tables(own)
    assert header == ["operation", "arm", "keys", "L2 %", "DRAM %", "issue %", "LSU %", "shared %", "warps wait for"], header
    assert (title, messages) == ("`uniform`", "message passing alone")
    assert lines == [["push", "warden_runs", "32K", "72", "4", "30", "25", "20", "49 % long scoreboard, 12 % barrier, 9 % sleeping"],
                     ["push", "warden_locks", "1000", "0", "-", "-", "-", "-", "-"]], lines
    assert transported == [["block", "windows", "in_band", "16", "66", "80", "-", "-", "-", "-", "8 % wait"]], transported
    text = bounds_markdown(own).splitlines()
    assert text[0] == "`bounds`, `uniform`, on one d (CUDA 13.0, commit c):", text
    assert text[5] == "| `push` | `warden_locks` | 1000 | 0 | - | - | - | - | - |", text
    # Traffic: a table for what was counted, shares beside the counts; nothing for what was not.
    def counted_row(arm, keys, **counts):
        return {"name": f"traffic/push/uniform/{arm}/keys:{keys}", **counts}

    own = {"context": context, "benchmarks": [
        counted_row("lock_as_written", 256, l2_sectors_per_operation=400.0, l2_of_lock_as_written=1.0),
        counted_row("warden_runs", 256, l2_sectors_per_operation=4.25, l2_of_lock_as_written=0.010625, simulated_sectors_per_operation=2.0),
        counted_row("warden_runs", 1024, l2_sectors_per_operation=5.0)]}
    assert counted_benchmark(own) == "traffic" and not is_transport(own)
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
