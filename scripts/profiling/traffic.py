#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the memory traffic of the contention benchmark's arms: the L2 and DRAM traffic that [Wang 2020, figure 4.7] compares.

    traffic.py --out FILE --program PROGRAM [--simulated PROGRAM] [OPTIONS]
    traffic.py --out FILE --simulated PROGRAM [OPTIONS]
    traffic.py --self-test

On a GPU, with the program `contention` and Nsight Compute's `ncu` on the PATH:

    python3 scripts/traffic.py --out traffic.json --program build/bench/bin/contention

Each arm of each point is one run of the program under ncu, which profiles the measured launch alone, not those that draw ids,
choose the settings of lock_tuned or verify. The caches are empty before it. A row is the counters of that launch divided by
its operations, and their share of what lock_as_written takes at that point. Rows are written as they come.

--simulated takes contention_sim and adds what the simulated device counts for the same arms; without --program, to the rows
of an existing FILE of the same library, if there is one.

  --operation push,update   --workload uniform   --keys 256,1024,32768,1048576   --arms ...   which points
  --ops N             operations of a run; by default 2^24, but 2^16 for lock_as_written at up to 4,096 keys
  --simulated-ops N   operations of a simulated run (default 4096)
  --ncu PROGRAM       Nsight Compute, if it is not on the PATH

Exit code 1 if a row could not be measured, 2 for wrong options, 3 if ncu is missing or may not read counters.
"""
import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile

import ncu
from ncu import FUSED_KERNEL, NO_SUCH_ARM, Trouble, positive, refuse, trouble_of

# arm -> the kernels that its measured launch can be, as a regular expression of their base names.
KERNELS = {"lock_as_written": "lock_as_written_kernel",
           # Where nothing else is faster it chooses the lock as written.
           "lock_tuned": "lock_(tuned|as_written)_kernel",
           "atomics": "atomics_kernel", "atomics_combined": "atomics_combined_kernel",
           **dict.fromkeys(["warden_locks", "warden_runs", "warden_runs_on_chip", "warden_atomics", "warden_atomics_on_chip"],
                           FUSED_KERNEL)}
ARMS = ["lock_as_written", "lock_tuned", "atomics", "warden_locks", "warden_runs", "warden_runs_on_chip"]
# metric -> what its sum over the launch, divided by the operations, is called in a row.
METRICS = {"lts__t_sectors.sum": "l2_sectors_per_operation", "dram__bytes.sum": "dram_bytes_per_operation",
           "smsp__inst_executed.sum": "instructions_per_operation"}
SHARES = {"l2_sectors_per_operation": "l2_of_lock_as_written", "dram_bytes_per_operation": "dram_of_lock_as_written"}
SIMULATED = {"sectors": "simulated_sectors_per_operation", "global_atomics": "simulated_atomics_per_operation"}
# A lock of few keys makes some thousand sections a second.
FEW_KEYS, OPERATIONS, OPERATIONS_OF_FEW = 4096, 1 << 24, 1 << 16
TIME_LIMIT = 300


def row_name(operation, workload, arm, keys):
    return f"traffic/{operation}/{workload}/{arm}/keys:{keys}"


def per_operation(metrics, operations):
    return {METRICS[metric]: value / operations for metric, value in metrics.items()}


def add_shares(rows):
    """To every row that has a row of lock_as_written beside it."""
    for name, row in rows.items():
        _, operation, workload, _, keys = name.split("/")
        written = rows.get(row_name(operation, workload, "lock_as_written", keys.removeprefix("keys:")), {})
        for count, share in SHARES.items():
            if count in row and written.get(count):
                row[share] = row[count] / written[count]


def program_options(arms, operation, workload, keys, operations):
    return ["--arms", ",".join(arms), "--operation", operation, "--workload", workload, "--keys", str(keys), "--ops", str(operations),
            "--repetitions", "1"]


def of_gpu(profiler, program, arm, operation, workload, keys, operations):
    """(row, context); no row for an arm that does not have the operation, or not so many keys."""
    command = [program, *program_options([arm], operation, workload, keys, operations)]
    row, counters, context = ncu.profiled(profiler, command, KERNELS[arm], METRICS, TIME_LIMIT)
    if row is None:
        return None, context
    missing = METRICS.keys() - counters.keys()
    if missing:
        raise Trouble(1, f"ncu printed no {', '.join(sorted(missing))}")
    counted = {"operations": row["operations"], **per_operation(counters, row["operations"])}
    if row.get("label"):
        counted["label"] = row["label"]
    return counted, context


def of_simulation(program, arms, operation, workload, keys, operations):
    """({arm: counts}, context)."""
    rows, context, said, _ = ncu.run_benchmark([program, *program_options(arms, operation, workload, keys, operations)], TIME_LIMIT)
    if not rows and NO_SUCH_ARM not in said:
        raise ncu.nothing_measured(said)
    return {name.split("/")[3]: {SIMULATED[count]: row[count] for count in SIMULATED} for name, row in rows.items()}, context


def begin(options):
    """The rows and the context to go on from."""
    if options.program or not pathlib.Path(options.out).exists():
        return {}, {}
    data = json.loads(pathlib.Path(options.out).read_text())
    return {row.pop("name"): row for row in data["benchmarks"]}, data["context"]


def measure(options):
    # The GPU's context counts, if there is one.
    report = ncu.Report("traffic.py", options.out, *begin(options), before_writing=add_shares)
    points = [(o, w, k) for o in options.operation for w in options.workload for k in options.keys]
    for operation, workload, keys in points:
        for arm in options.arms if options.program else []:
            operations = options.ops or (OPERATIONS_OF_FEW if arm == "lock_as_written" and keys <= FEW_KEYS else OPERATIONS)
            name = row_name(operation, workload, arm, keys)
            try:
                row, found = of_gpu(options.ncu, options.program, arm, operation, workload, keys, operations)
            except Trouble as e:
                report.failed(name, e)
                continue
            report.add(found, {name: row} if row else {})
    for operation, workload, keys in points if options.simulated else []:
        counts, found = of_simulation(options.simulated, options.arms, operation, workload, keys, options.simulated_ops)
        report.add(found, {row_name(operation, workload, arm, keys): count for arm, count in counts.items()})
    return report.end()


def parse(arguments):
    def names(allowed):
        def parsed(text):
            found = text.split(",")
            if set(found) - set(allowed):
                raise argparse.ArgumentTypeError(f"{text}: of {', '.join(allowed)}")
            return found
        return parsed

    parser = ncu.parser()
    parser.add_argument("--program")
    parser.add_argument("--simulated")
    parser.add_argument("--operation", type=names(["push", "add", "update"]), default=["push", "update"])
    parser.add_argument("--workload", type=names(["uniform", "zipf099"]), default=["uniform"])
    parser.add_argument("--arms", type=names(list(KERNELS)), default=ARMS)
    parser.add_argument("--keys", type=lambda text: [positive(k) for k in text.split(",")], default=[256, 1024, 32768, 1048576])
    parser.add_argument("--ops", type=positive)
    parser.add_argument("--simulated-ops", type=positive, default=4096)
    options = parser.parse_args(arguments)
    if not options.program and not options.simulated:
        refuse("--program or --simulated is needed")
    ncu.demand_programs(options.program, options.simulated)
    return options


def self_test():
    ncu.self_test()
    full = [("lts__t_sectors.sum", "sector", "12,345,678"), ("dram__bytes.sum", "byte", "2,048"), ("smsp__inst_executed.sum", "inst", "4,096")]
    output = ncu.written((ncu.TUNED, full))
    metrics = ncu.measured_launch(KERNELS["lock_tuned"], METRICS, output)
    assert per_operation(metrics, 2048) == {"l2_sectors_per_operation": 12345678 / 2048, "dram_bytes_per_operation": 1,
                                            "instructions_per_operation": 2}
    as_written = ncu.written(("lock_as_written_kernel", full))
    assert ncu.measured_launch(KERNELS["lock_tuned"], METRICS, as_written), "the choice of lock_tuned may be the lock as written"
    for arm, other in (("lock_as_written", output), ("warden_runs", output), ("atomics", ncu.written(("atomics_combined_kernel", full)))):
        assert trouble_of(ncu.measured_launch, KERNELS[arm], METRICS, other) == (1, f"ncu profiled no launch of {KERNELS[arm]}")
    # Shares are of the same operation, workload and keys.
    rows = {row_name(o, "uniform", arm, k): {"l2_sectors_per_operation": l2, "dram_bytes_per_operation": dram}
            for o, arm, k, l2, dram in (("push", "lock_as_written", 256, 200, 0), ("push", "warden_runs", 256, 10, 5),
                                        ("push", "warden_runs", 1024, 10, 5), ("update", "warden_runs", 256, 10, 5))}
    rows[row_name("push", "uniform", "atomics", 256)] = {"simulated_sectors_per_operation": 1}
    add_shares(rows)
    assert rows[row_name("push", "uniform", "warden_runs", 256)] == {
        "l2_sectors_per_operation": 10, "dram_bytes_per_operation": 5, "l2_of_lock_as_written": 0.05}
    assert [name for name, row in rows.items() if "l2_of_lock_as_written" in row] == [
        row_name("push", "uniform", arm, 256) for arm in ("lock_as_written", "warden_runs")]
    # Without ncu, and with programs and an ncu of shell: the whole way.
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        program = ncu.shell_program(folder / "contention", f"""
for a; do case $a in --benchmark_out=*) out=${{a#*=}};; esac; done
[ "$2" != atomics ] || {{ echo "contention: {NO_SUCH_ARM}" >&2; exit 2; }}
echo '{{"context": {{"include_hash": "h", "host_name": "x"}}, "benchmarks": [{{"name": "contention/'$4'/'$6'/'${{2%%,*}}'/keys:'$8'", "operations": '${{10}}', "sectors": 4.5, "global_atomics": 1.5}}]}}' >$out
""")
        (folder / "profile").write_text(ncu.written((ncu.FUSED, full), ("lock_as_written_kernel", [(m, u, "1024") for m, u, _ in full])))
        profiler = ncu.shell_profiler(folder, program)
        out = folder / "traffic.json"

        def options(*more):
            return parse(["--out", str(out), "--keys", "256", "--operation", "push", "--ops", "1024", *more])

        def measured(*more):
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(io.StringIO()):
                return measure(options(*more))

        def rows_written():
            return {row["name"].split("/")[3]: row for row in json.loads(out.read_text())["benchmarks"]}

        arms = ["--arms", "lock_as_written,atomics,warden_runs"]
        assert trouble_of(measured, "--program", program, "--ncu", str(folder / "none")) == (3, f"{folder}/none: No such file or directory")
        assert measured("--program", program, "--ncu", profiler, *arms) == 0
        written = rows_written()
        assert list(written) == ["lock_as_written", "warden_runs"], written
        assert written["lock_as_written"]["l2_sectors_per_operation"] == 1 and written["warden_runs"]["dram_bytes_per_operation"] == 2
        assert written["warden_runs"]["dram_of_lock_as_written"] == 2
        # Simulated counts go into the same rows; only of the same library.
        assert measured("--simulated", program, "--arms", "warden_runs") == 0
        written = rows_written()["warden_runs"]
        assert written["simulated_sectors_per_operation"] == 4.5 and written["dram_bytes_per_operation"] == 2, written
        assert written["simulated_atomics_per_operation"] == 1.5, written
        out.write_text(out.read_text().replace('"include_hash": "h"', '"include_hash": "other"'))
        assert trouble_of(measured, "--simulated", program, "--arms", "warden_runs")[0] == 1
        # One row that fails is said, and the others are measured.
        (folder / "profile").write_text(ncu.written((ncu.FUSED, full)))
        assert measured("--program", program, "--ncu", profiler, *arms) == 1 and list(rows_written()) == ["warden_runs"]
        (folder / "profile").write_text("==ERROR== ERR_NVGPUCTRPERM - no permission\n")
        assert trouble_of(measured, "--program", program, "--ncu", profiler, *arms)[0] == 3
        # What is missing is said, not taken for zero.
        (folder / "profile").write_text(ncu.written((ncu.FUSED, full[:2])))
        assert trouble_of(of_gpu, profiler, program, "warden_runs", "push", "uniform", 256, 1) == (1, "ncu printed no smsp__inst_executed.sum")
    for wrong in ([], ["--out", "x"], ["--out", "x", "--program", sys.executable, "--keys", "0"], ["--out", "x", "--program", "/nowhere"],
                  ["--out", "x", "--program", sys.executable, "--arms", "sort"]):
        assert trouble_of(parse, wrong)[0] == 2, wrong


if __name__ == "__main__":
    ncu.main("traffic.py", __doc__, lambda arguments: measure(parse(arguments)), self_test)
