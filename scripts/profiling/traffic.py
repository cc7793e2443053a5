#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts L2 and DRAM traffic of the arms of `contention`, which [Wang 2020, figure 4.7] compares.

    python3 scripts/profiling/traffic.py --out traffic.json --program build/bench/bin/contention
    python3 scripts/profiling/traffic.py --out traffic.json --simulated build/test/bin/contention_sim

Each arm of each point is one run of the program under ncu, which profiles the measured launch alone, with empty
caches. A row holds the counters of that launch for each operation, and their share of those of lock_as_written at the
same point. --simulated adds the counts of the simulated device; without --program, to the rows of an existing file of
the same library.

Exit code 1 if a row could not be measured, 2 for wrong options, 3 if ncu is missing or may not read counters.
"""
import itertools

import ncu
from ncu import FUSED_KERNEL, Trouble, positive, program_options

# arm -> regular expression of its measured kernel. lock_tuned may choose the lock as written.
KERNELS = {"lock_as_written": "lock_as_written_kernel", "lock_tuned": "lock_(tuned|as_written)_kernel",
           "atomics": "atomics_kernel", "atomics_combined": "atomics_combined_kernel",
           **dict.fromkeys(("warden_locks", "warden_runs", "warden_runs_on_chip", "warden_atomics",
                            "warden_atomics_on_chip"), FUSED_KERNEL)}
ARMS = ["lock_as_written", "lock_tuned", "atomics", "warden_locks", "warden_runs", "warden_runs_on_chip"]
# metric -> name of its sum over the launch, divided by the operations.
METRICS = {"lts__t_sectors.sum": "l2_sectors_per_operation", "dram__bytes.sum": "dram_bytes_per_operation",
           "smsp__inst_executed.sum": "instructions_per_operation"}
SHARES = {"l2_sectors_per_operation": "l2_of_lock_as_written", "dram_bytes_per_operation": "dram_of_lock_as_written"}
SIMULATED = {"sectors": "simulated_sectors_per_operation", "global_atomics": "simulated_atomics_per_operation"}
# A lock of few keys runs some thousand sections a second.
FEW_KEYS, OPERATIONS, OPERATIONS_OF_FEW = 4096, 1 << 24, 1 << 16
TIME_LIMIT = 300  # seconds


def row_name(operation, workload, arm, keys):
    return f"traffic/{operation}/{workload}/{arm}/keys:{keys}"


def add_shares(rows):
    """Adds shares to each row at whose point there is a row of lock_as_written."""
    for name, row in rows.items():
        _, operation, workload, _, keys = name.split("/")
        written = rows.get(row_name(operation, workload, "lock_as_written", keys.removeprefix("keys:")), {})
        counted = {count for count in SHARES if count in row and written.get(count)}
        row |= {SHARES[count]: row[count] / written[count] for count in counted}


def of_gpu(options, arm, operation, workload, keys):
    """(row, context); no row for an arm without this operation or number of keys."""
    operations = OPERATIONS_OF_FEW if arm == "lock_as_written" and keys <= FEW_KEYS else OPERATIONS
    command = [options.program, *program_options([arm], operation, workload, keys, options.ops or operations)]
    row, counters, context = ncu.profiled(options.ncu, command, KERNELS[arm], METRICS, TIME_LIMIT)
    if row is None:
        return None, context
    if missing := METRICS.keys() - counters.keys():
        raise Trouble(f"ncu printed no {', '.join(sorted(missing))}")
    kept = {name: row[name] for name in ("operations", "label") if row.get(name)}
    return kept | {METRICS[metric]: value / row["operations"] for metric, value in counters.items()}, context


def of_simulated(options, operation, workload, keys):
    """(rows, context)"""
    command = program_options(options.arms, operation, workload, keys, options.simulated_ops)
    rows, context, _ = ncu.run_benchmark([options.simulated, *command], TIME_LIMIT)
    return {row_name(operation, workload, row["name"].split("/")[3], keys):
            {counter: row[count] for count, counter in SIMULATED.items()} for row in rows}, context


def measure(arguments):
    parser = ncu.parser(__doc__)
    parser.add_argument("--program", type=ncu.program)
    parser.add_argument("--simulated", type=ncu.program)
    parser.add_argument("--operation", nargs="+", choices=("push", "add", "update"), default=["push", "update"])
    parser.add_argument("--workload", nargs="+", choices=("uniform", "zipf099"), default=["uniform"])
    parser.add_argument("--arms", nargs="+", choices=KERNELS, default=ARMS)
    parser.add_argument("--keys", nargs="+", type=positive, default=[256, 1024, 32768, 1048576])
    parser.add_argument("--ops", type=positive, help="2^24; 2^16 for lock_as_written at up to 4,096 keys")
    parser.add_argument("--simulated-ops", type=positive, default=4096)
    options = parser.parse_args(arguments)
    if not options.program and not options.simulated:
        parser.error("--program or --simulated is needed")
    report = ncu.Report("traffic.py", options.out, add_shares)
    if not options.program:
        report.read()
    points = [*itertools.product(options.operation, options.workload, options.keys)]
    for (operation, workload, keys), arm in itertools.product(points if options.program else [], options.arms):
        name = row_name(operation, workload, arm, keys)
        report.measure(name, lambda: of_gpu(options, arm, operation, workload, keys))
    for point in points if options.simulated else []:
        rows, context = of_simulated(options, *point)
        report.add(context, rows)
    return report.end()


if __name__ == "__main__":
    ncu.main("traffic.py", measure)
