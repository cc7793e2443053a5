# SPDX-License-Identifier: Apache-2.0
"""Tables of what binds: how busy the parts of the GPU were, and what warps waited for."""
import re

from markdown_tables import titled
from result_names import short

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
    return titled("bounds", data, bounds_tables(data))


def self_test():
    context = {"device": "d", "commit": "c", "toolkit": "13.0"}
    # What each part did, and the reasons to wait that took the most time; nothing for what was not counted.
    own = {"context": context, "benchmarks": [
        {"name": "bounds/contention/push/uniform/warden_runs/keys:32768", "l2_percent": 71.6, "dram_percent": 4.2, "issue_percent": 30.0,
         "lsu_percent": 25.0, "shared_percent": 19.9, "occupancy_percent": 36.0, "stall_wait_percent": 8.0, "stall_barrier_percent": 12.5,
         "stall_long_scoreboard_percent": 48.6, "stall_sleeping_percent": 9.0},
        {"name": "bounds/transport/block/windows/in_band/bytes:16/servers:66", "l2_percent": 80.0, "stall_wait_percent": 8.0},
        {"name": "bounds/contention/push/uniform/warden_locks/keys:1000", "l2_percent": 0.4}]}
    assert is_bounds(own)
    (title, header, lines), (messages, _, transported) = bounds_tables(own)
    assert header == ["operation", "arm", "keys", "L2 %", "DRAM %", "issue %", "LSU %", "shared %", "warps wait for"], header
    assert (title, messages) == ("`uniform`", "message passing alone")
    assert lines == [["push", "warden_runs", "32K", "72", "4", "30", "25", "20", "49 % long scoreboard, 12 % barrier, 9 % sleeping"],
                     ["push", "warden_locks", "1000", "0", "-", "-", "-", "-", "-"]], lines
    assert transported == [["block", "windows", "in_band", "16", "66", "80", "-", "-", "-", "-", "8 % wait"]], transported
    text = bounds_markdown(own).splitlines()
    assert text[0] == "`bounds`, `uniform`, on one d (CUDA 13.0, commit c):", text
    assert text[5] == "| `push` | `warden_locks` | 1000 | 0 | - | - | - | - | - |", text
