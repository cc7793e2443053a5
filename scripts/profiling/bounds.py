#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which part of the GPU binds chosen rows of the benchmarks `contention` and `transport`, from hardware counters.

    bounds.py --out FILE [--contention PROGRAM] [--transport PROGRAM] [OPTIONS]
    bounds.py --self-test

On a GPU, with Nsight Compute's `ncu` on the PATH:

    python3 scripts/bounds.py --out bounds.json --contention build/bench/bin/contention --transport build/bench/bin/transport

Each row is one run of its program under ncu, which profiles the measured launch alone, on empty caches. Written of it: how busy
the L2 cache, the DRAM, the schedulers, the data path for loads and stores and shared memory within that are, in percent of their
peak; what warps wait for, in percent of their time; instructions of an operation, registers of a thread, achieved occupancy, and
how long the launch took. Rows are written as they come, under the name that they have in the benchmark's own results.

  --rows ROWS    which, by those names, instead of the default ones; of `contention` only Warden's arms on uniform and zipf099
  --ops N        operations of a run; by default 2^26 of `contention`, and what the program chooses by trial runs of `transport`
  --limit S      seconds until a run is given up (default 60)
  --ncu PROGRAM  Nsight Compute, if it is not on the PATH

A metric that this version of ncu does not know is named, and left out of all rows. Exit code 1 if one was, or if a row could not
be measured; 2 for wrong options; 3 if ncu is missing or may not read counters.
"""
import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile

import ncu
from ncu import FUSED_KERNEL, Trouble, positive, refuse, trouble_of
from traffic import program_options

# The default rows; the transport's are those of a GPU with 132 multiprocessors.
ROWS = ["transport/block/windows/in_band/bytes:16/servers:66", "transport/block/windows/in_band/bytes:16/servers:132",
        "transport/ceiling_copy/windows/in_band/bytes:16/servers:132", "transport/block/leader/bitmask/bytes:16/servers:66",
        *(f"contention/{operation}/uniform/{arm}/keys:{keys}"
          for operation, arm, several in (("push", "warden_runs", (256, 1024, 32768, 1048576)),
                                          ("push", "warden_runs_on_chip", (256, 1024, 32768, 1048576)),
                                          ("push", "warden_locks", (1024, 32768)), ("push", "warden_paper", (1024, 32768)),
                                          ("update", "warden_runs", (32768,)))
          for keys in several)]
KNOWN_ROWS = re.compile(r"contention/(push|add|update)/(uniform|zipf099)/(warden_\w+)/keys:([1-9][0-9]*)"
                        r"|transport/(\w+)/\w+/\w+/bytes:\d+/servers:\d+")
# Of `contention`: as many as its own rows have at most.
OPERATIONS = 1 << 26

# metric -> what its value is called in a row.
GAUGES = {"lts__throughput.avg.pct_of_peak_sustained_elapsed": "l2_percent",
          "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_percent",
          "sm__inst_issued.avg.pct_of_peak_sustained_elapsed": "issue_percent",
          "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "lsu_percent",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed": "shared_percent",
          "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent",
          "launch__registers_per_thread": "registers",
          "gpu__time_duration.sum": "nanoseconds"}
INSTRUCTIONS = "smsp__inst_executed.sum"
# What a warp does in a cycle: it waits for one of these reasons, or an instruction of it is selected.
SELECTED = "selected"
REASONS = ["barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard", "math_pipe_throttle",
           "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "short_scoreboard", "sleeping", "tex_throttle", "wait"]


def stall_metric(reason):
    """Warps for that reason, on average, in each cycle in which an instruction is issued."""
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


METRICS = [*GAUGES, INSTRUCTIONS, *map(stall_metric, [*REASONS, SELECTED])]


def row_of(counters, operations):
    row = {"operations": operations, **{name: counters[metric] for metric, name in GAUGES.items() if metric in counters}}
    if INSTRUCTIONS in counters:
        row["instructions_per_operation"] = counters[INSTRUCTIONS] / operations
    warps = {reason: counters.get(stall_metric(reason), 0) for reason in [*REASONS, SELECTED]}
    total = sum(warps.values())
    return {**row, **{f"stall_{reason}_percent": 100 * warps[reason] / total for reason in REASONS if total}}


def command_of(name, programs, operations):
    """The program, with options for that row alone."""
    operation, workload, arm, keys, send = KNOWN_ROWS.fullmatch(name).groups()
    if operation:
        return [programs["contention"], *program_options([arm], operation, workload, keys, operations or OPERATIONS)]
    # The name of the row is part of the one that the library filters by.
    return [programs["transport"], "--arms", send, f"--benchmark_filter=^{name}(/|$)", "--repetitions", "1",
            *(["--ops", str(operations)] if operations else [])]


class Profiler:
    """Profiles rows by the metrics that ncu turns out to know."""

    def __init__(self, options):
        self.options, self.metrics, self.left_out = options, list(METRICS), []

    def row(self, name):
        """(row, context)."""
        command = command_of(name, self.options.programs, self.options.ops)
        while True:
            if not self.metrics:
                raise Trouble(1, "ncu knows none of the metrics")
            try:
                row, counters, context = ncu.profiled(self.options.ncu, command, FUSED_KERNEL, self.metrics, self.options.limit)
                break
            except ncu.UnknownMetrics as e:
                self.leave_out(e.metrics, "ncu does not know")
        if row is None:
            raise Trouble(1, "the program has no such row")
        self.leave_out([m for m in self.metrics if m not in counters], "ncu counts no")
        return row_of(counters, row["operations"]), context

    def leave_out(self, metrics, why):
        for metric in metrics:
            print(f"bounds.py: {why} {metric}: left out", file=sys.stderr)
        self.metrics = [m for m in self.metrics if m not in metrics]
        self.left_out += metrics


def measure(options):
    report = ncu.Report("bounds.py", options.out)
    profiler = Profiler(options)
    for name in options.rows:
        try:
            row, context = profiler.row(name)
        except Trouble as e:
            report.failed(name, e)
            continue
        report.add(context, {f"bounds/{name}": row})
    return report.end() or (1 if profiler.left_out else 0)


def parse(arguments):
    parser = ncu.parser()
    parser.add_argument("--contention")
    parser.add_argument("--transport")
    parser.add_argument("--rows", type=lambda text: text.split(","))
    parser.add_argument("--ops", type=positive)
    parser.add_argument("--limit", type=positive, default=60)
    options = parser.parse_args(arguments)
    options.programs = {"contention": options.contention, "transport": options.transport}
    given = [name for name, program in options.programs.items() if program]
    if not given:
        refuse("--contention or --transport is needed")
    ncu.demand_programs(*options.programs.values())
    for name in options.rows or []:
        if not KNOWN_ROWS.fullmatch(name):
            refuse(f"{name}: no row that can be profiled")
        if name.split("/")[0] not in given:
            refuse(f"{name}: --{name.split('/')[0]} is needed")
    options.rows = options.rows or [name for name in ROWS if name.split("/")[0] in given]
    return options


def self_test():
    runs, block = ROWS[4], ROWS[0]
    assert all(map(KNOWN_ROWS.fullmatch, ROWS)) and len(set(ROWS)) == 17, ROWS
    programs = {"contention": "c", "transport": "t"}
    assert " ".join(command_of(runs, programs, None)) == (
        "c --arms warden_runs --operation push --workload uniform --keys 256 --ops 67108864 --repetitions 1")
    assert " ".join(command_of(block, programs, None)) == (
        "t --arms block --benchmark_filter=^transport/block/windows/in_band/bytes:16/servers:66(/|$) --repetitions 1")
    assert command_of(block, programs, 1024)[-2:] == ["--ops", "1024"]
    # Stalls are shares of all that warps did, the instructions selected among it.
    counters = {"lts__throughput.avg.pct_of_peak_sustained_elapsed": 71.5, INSTRUCTIONS: 4096, stall_metric("long_scoreboard"): 6,
                stall_metric("barrier"): 1, stall_metric(SELECTED): 1}
    row = row_of(counters, 1024)
    assert {name: value for name, value in row.items() if value} == {
        "operations": 1024, "l2_percent": 71.5, "instructions_per_operation": 4, "stall_long_scoreboard_percent": 75,
        "stall_barrier_percent": 12.5}, row
    assert row_of({INSTRUCTIONS: 1}, 1) == {"operations": 1, "instructions_per_operation": 1}
    # With programs and an ncu of shell: the whole way.
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = ncu.shell_program(folder / "program", """
for a; do case $a in --benchmark_out=*) out=${a#*=};; --benchmark_filter=*) row=${a#*=^}; row=${row%%(*};; esac; done
[ "$row" ] || row=contention/$4/$6/$2/keys:$8
[ "$row" != transport/slow/windows/in_band/bytes:16/servers:1 ] || sleep 30
[ "$2" != warden_none ] || { echo "contention: NO_SUCH_ARM" >&2; exit 2; }
echo '{"context": {"include_hash": "h", "executable": "x"}, "benchmarks": [{"name": "'$row'", "operations": 1024}]}' >$out
""".replace("NO_SUCH_ARM", ncu.NO_SUCH_ARM))
        profiler = ncu.shell_profiler(folder, program)
        out = folder / "bounds.json"

        def options(*more):
            return parse(["--out", str(out), "--contention", program, "--transport", program, "--ncu", profiler, *more])

        def measured(*more, limit=60):
            """(exit code, names and rows written, lines of complaint)."""
            out.unlink(missing_ok=True)
            complaints, chosen = io.StringIO(), options(*more)
            chosen.limit = limit
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(complaints):
                code = measure(chosen)
            rows = json.loads(out.read_text())["benchmarks"] if out.exists() else []
            return code, {row["name"]: row for row in rows}, complaints.getvalue().splitlines()

        def values_of(metrics):
            return [(m, "inst" if m == INSTRUCTIONS else "ns" if m.startswith("gpu__") else "%", "2,048" if m == INSTRUCTIONS else "5")
                    for m in metrics]

        (folder / "profile").write_text(ncu.written((ncu.FUSED, values_of(METRICS))))
        code, rows, complaints = measured()
        assert (code, list(rows), complaints) == (0, [f"bounds/{name}" for name in ROWS], []), (code, list(rows), complaints)
        row = rows[f"bounds/{runs}"]
        assert row["instructions_per_operation"] == 2 and row["registers"] == 5 and row["nanoseconds"] == 5, row
        assert abs(row["stall_wait_percent"] - 100 / 18) < 1e-9, row
        assert "executable" not in json.loads(out.read_text())["context"]
        # A row that fails is said and left out; the others are measured.
        slow = "transport/slow/windows/in_band/bytes:16/servers:1"
        code, rows, (complaint,) = measured("--rows", f"{slow},{runs}", limit=0.5)
        assert (code, list(rows)) == (1, [f"bounds/{runs}"]), (code, rows)
        assert complaint.startswith(f"bounds.py: {slow}: no end within 0.5 s: "), complaint
        (folder / "profile").write_text(ncu.written((ncu.TUNED, values_of(METRICS))))
        assert measured("--rows", runs) == (1, {}, [f"bounds.py: {runs}: ncu profiled no launch of fused_kernel"])
        none = "contention/push/uniform/warden_none/keys:1"
        assert measured("--rows", none) == (1, {}, [f"bounds.py: {none}: the program has no such row"])
        # A metric that is counted nowhere is named once.
        (folder / "profile").write_text(ncu.written((ncu.FUSED, values_of(METRICS[1:]))))
        code, rows, complaints = measured("--rows", f"{runs},{block}")
        assert (code, len(rows), complaints) == (1, 2, [f"bounds.py: ncu counts no {METRICS[0]}: left out"]), (code, rows, complaints)
        assert all("l2_percent" not in row and "dram_percent" in row for row in rows.values()), rows
        # One that ncu does not know, too; then it profiles nothing, whether or not the program runs, and is asked for the others.
        (folder / "profile").write_text(ncu.written((ncu.FUSED, values_of(METRICS))))
        knows_all = (folder / "ncu").read_text().removeprefix("#!/bin/sh\n")
        for then in ("exit 1", f'while [ "$1" != {program} ]; do shift; done; exec "$@"'):
            ncu.shell_program(folder / "ncu", f"""
for a; do [ "$before" != --log-file ] || log=$a; before=$a; done
case "$*" in *{METRICS[1]}*) echo '==ERROR== Failed to find metric regex:^dram__throughput\\.(avg|sum)' >$log; {then};; esac
{knows_all}""")
            code, rows, complaints = measured("--rows", f"{runs},{block}")
            assert (code, len(rows), complaints) == (1, 2, [f"bounds.py: ncu does not know {METRICS[1]}: left out"]), (code, rows, complaints)
            assert all("dram_percent" not in row and "l2_percent" in row for row in rows.values()), rows
        # Without ncu, or leave to read counters, there is no use in going on.
        (folder / "profile").write_text("==ERROR== ERR_NVGPUCTRPERM - no permission\n")
        profiler = ncu.shell_profiler(folder, program)
        assert trouble_of(measured)[0] == 3
        profiler = f"{folder}/none"
        assert trouble_of(measured) == (3, f"{folder}/none: No such file or directory")
    here = ["--out", "x", "--contention", sys.executable]
    for wrong in ([], ["--out", "x"], ["--out", "x", "--contention", "/nowhere"], [*here, "--limit", "0"], [*here, "--ops", "0"],
                  [*here, "--rows", block], [*here, "--rows", "contention/push/uniform/sort/keys:1"],
                  [*here, "--rows", "contention/push/hot90/warden_runs/keys:32768"], [*here, "--rows", ""]):
        assert trouble_of(parse, wrong) and trouble_of(parse, wrong)[0] == 2, wrong
    assert {name.split("/")[0] for name in parse(here).rows} == {"contention"}


if __name__ == "__main__":
    ncu.main("bounds.py", __doc__, lambda arguments: measure(parse(arguments)), self_test)
