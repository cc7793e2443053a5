#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures which part of the GPU limits rows of `contention` and `transport`.

    python3 scripts/profiling/bounds.py --out bounds.json --contention PROGRAM --transport PROGRAM

PROGRAM is in build/bench/bin. Each row is one run under ncu, which profiles the measured launch alone, with empty
caches. A row holds how busy the L2 cache, the DRAM, the schedulers, the path for loads and stores, and shared memory
are, in percent of their peak; what warps wait for, in percent of their time; instructions per operation, registers,
occupancy and time.

--rows names rows as the benchmarks do; of `contention` Warden's arms on uniform and zipf099 alone. Exit code 1 if a
row could not be measured, 2 for wrong options, 3 if ncu is missing or may not read counters.
"""
import re

import ncu
from ncu import FUSED_KERNEL, Trouble, positive, program_options

# Rows of `transport` are those of a GPU with 132 multiprocessors.
POINTS = {"push/uniform/warden_runs": (256, 1024, 32768, 1048576),
          "push/uniform/warden_runs_on_chip": (256, 1024, 32768, 1048576),
          "push/uniform/warden_locks": (1024, 32768), "push/uniform/warden_paper": (1024, 32768),
          "update/uniform/warden_runs": (32768,)}
ROWS = ["transport/block/windows/in_band/bytes:16/servers:66", "transport/block/windows/in_band/bytes:16/servers:132",
        "transport/ceiling_copy/windows/in_band/bytes:16/servers:132",
        "transport/block/leader/bitmask/bytes:16/servers:66",
        *(f"contention/{point}/keys:{keys}" for point, several in POINTS.items() for keys in several)]
KNOWN_ROWS = re.compile(r"contention/(push|add|update)/(uniform|zipf099)/(warden_\w+)/keys:([1-9][0-9]*)"
                        r"|transport/(\w+)/\w+/\w+/bytes:\d+/servers:\d+")
OPERATIONS = 1 << 26  # default for rows of `contention`

# metric -> its name in a row.
GAUGES = {"lts__throughput.avg.pct_of_peak_sustained_elapsed": "l2_percent",
          "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_percent",
          "sm__inst_issued.avg.pct_of_peak_sustained_elapsed": "issue_percent",
          "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "lsu_percent",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed": "shared_percent",
          "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
          "launch__registers_per_thread": "registers", "gpu__time_duration.sum": "nanoseconds"}
INSTRUCTIONS = "smsp__inst_executed.sum"
# In each cycle a warp waits for one of these reasons, or an instruction of it is selected.
REASONS = ["selected", "barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle",
           "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction",
           "not_selected", "short_scoreboard", "sleeping", "tex_throttle", "wait"]
STALLS = {reason: f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in REASONS}
METRICS = [*GAUGES, INSTRUCTIONS, *STALLS.values()]


def row_of(counters, operations):
    row = {"operations": operations}
    row |= {name: counters[metric] for metric, name in GAUGES.items() if metric in counters}
    if INSTRUCTIONS in counters:
        row["instructions_per_operation"] = counters[INSTRUCTIONS] / operations
    warps = {reason: counters.get(metric, 0) for reason, metric in STALLS.items()}
    total = sum(warps.values())
    return row | {f"stall_{reason}_percent": 100 * warps[reason] / total for reason in REASONS[1:] if total}


def command_of(name, options):
    """The program, with options for that row alone."""
    operation, workload, arm, keys, send = KNOWN_ROWS.fullmatch(name).groups()
    if operation:
        return [options.contention, *program_options([arm], operation, workload, keys, options.ops or OPERATIONS)]
    operations = ["--ops", str(options.ops)] if options.ops else []
    return [options.transport, "--arms", send, f"--benchmark_filter=^{name}(/|$)", "--repetitions", "1", *operations]


def measured(name, options):
    row, counters, context = ncu.profiled(options.ncu, command_of(name, options), FUSED_KERNEL, METRICS, options.limit)
    if row is None:
        raise Trouble("the program has no such row")
    return row_of(counters, row["operations"]), context


def measure(arguments):
    parser = ncu.parser(__doc__)
    parser.add_argument("--contention", type=ncu.program)
    parser.add_argument("--transport", type=ncu.program)
    parser.add_argument("--rows", nargs="+", default=[])
    parser.add_argument("--ops", type=positive, help="by default 2^26 of `contention`; `transport` chooses by trial")
    parser.add_argument("--limit", type=positive, default=60, help="seconds until a run is given up")
    options = parser.parse_args(arguments)
    given = [name for name in ("contention", "transport") if getattr(options, name)]
    if not given:
        parser.error("--contention or --transport is needed")
    if wrong := [name for name in options.rows if not KNOWN_ROWS.fullmatch(name) or name.split("/")[0] not in given]:
        parser.error(f"{wrong[0]}: no row that can be profiled, or without its program")
    report = ncu.Report("bounds.py", options.out)
    for name in options.rows or [name for name in ROWS if name.split("/")[0] in given]:
        report.measure(f"bounds/{name}", lambda: measured(name, options))
    return report.end()


if __name__ == "__main__":
    ncu.main("bounds.py", measure)
