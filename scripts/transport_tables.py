# SPDX-License-Identifier: Apache-2.0
"""Tables of the transport: ways of sending, and latencies."""
from markdown_tables import titled
from result_file import refused, rows_of
from result_names import COUNTS, amount, is_simulated, rate


def counts_of(row):
    return [amount(row[count]) for count in COUNTS]


def is_transport(data):
    return any(row["name"].startswith("transport/") for row in data["benchmarks"])


def transport_tables(data):
    """(title, header, lines) of the rates and of the latencies, each if there are rows."""
    simulated = is_simulated(data)
    counts = [count.replace("_", " ") for count in COUNTS]
    each = ": counts for each message" if simulated else ""
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
                line += counts_of(row)
            else:
                ceiling = ceilings.get(channels)
                share = f"{100 * row['items_per_second'] / ceiling['items_per_second']:.0f} %" if ceiling else "-"
                line += [rate(row), f"{row['bytes_per_second'] / 1e9:.0f}", share]
            lines.append(line)
        tables.append(("messages, by the ways they are sent and received" + each,
                       ["send", "receive", "readiness", "bytes", "servers",
                        *(counts if simulated else ["G messages/s", "GB/s", "of `ceiling_copy`"])], lines))
    if latencies:
        lines = [[*channels, *(counts_of(row) if simulated else [f"{row['median_ns']:.0f}", f"{row['p99_ns']:.0f}"])]
                 for channels, row in latencies]
        title = "latency from send to execution" + each
        if not simulated:
            title += f" (the clock's tick is {' or '.join(f'{tick:.0f}' for tick in sorted(ticks))} ns)"
        tables.append((title, ["receive", "readiness", "servers are", "servers",
                               *(counts if simulated else ["median ns", "99th percentile ns"])], lines))
    return tables


def transport_markdown(data):
    return titled("transport", data, transport_tables(data))


def self_test():
    # Rows have names of their own; a rate stands beside the ceiling of the same channels.
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
    assert lines == [["slices", "in_band", "idle", "132", "1.00", "0.00", "2.50", "1.00"]] and len(header) == len(lines[0]), lines
    assert refused(rows_of, own), "rows of the transport are no comparison of arms"
