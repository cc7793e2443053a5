# SPDX-License-Identifier: Apache-2.0
"""What scripts that profile a benchmark with Nsight Compute share: running it under `ncu`, reading what that writes, the rows' file."""
import argparse
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

PREFIXES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Times in nanoseconds; versions of ncu write them differently.
BASE_UNITS = {"byte": 1, "sector": 1, "inst": 1, "": 1, "nsecond": 1, "ns": 1, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6,
              "second": 1e9, "s": 1e9}
# Metrics whose unit, if any, has no prefix.
WITHOUT_SCALE = re.compile(r"\.pct|\.ratio$|^launch__")
# The kernel of every launch of Warden.
FUSED_KERNEL = "fused_kernel"
NO_SUCH_ARM = "none of these arms has one of these operations"


class Trouble(Exception):
    """Ends a script with one line and an exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class UnknownMetrics(Trouble):
    """Some of the metrics that ncu was asked for."""

    def __init__(self, metrics):
        super().__init__(1, f"ncu does not know {', '.join(metrics)}")
        self.metrics = metrics


def number(text):
    """A number as ncu prints it: 1,234,567.5."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise Trouble(1, f"ncu printed no number: {text}") from None


def in_base_units(value, unit):
    for prefix, factor in PREFIXES.items():
        if unit.removeprefix(prefix) in BASE_UNITS and unit.startswith(prefix):
            return value * factor * BASE_UNITS[unit.removeprefix(prefix)]
    raise Trouble(1, f"ncu printed a unit that is not known: {unit}")


def launches_in(output, wanted):
    """[(kernel's base name, {metric: value})] of the wanted metrics, in the order of the launches; other lines may stand around ncu's.

    A metric that ncu could not count is left out.
    """
    lines = output.splitlines()
    header = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if header is None:
        return []
    launches = {}
    for row in csv.DictReader(lines[header:]):
        metric = row.get("Metric Name")
        if metric not in wanted:
            continue
        _, metrics = launches.setdefault(int(row["ID"]), (base_name(row["Kernel Name"]), {}))
        if row["Metric Value"] != "n/a":
            unit = "" if WITHOUT_SCALE.search(metric) else row["Metric Unit"]
            metrics[metric] = in_base_units(number(row["Metric Value"]), unit)
    return [launches[i] for i in sorted(launches)]


def base_name(kernel):
    """Without return type, namespaces, template arguments and parameters."""
    depth, plain = 0, ""
    for character in kernel.replace("(anonymous namespace)::", ""):
        if character == "(" and depth == 0:
            break
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth == 0 and character != ">":
            plain += character
    return re.split(r"::|\s", plain.strip())[-1]


def complaint_of(output, metrics=()):
    """What ncu's output says went wrong when it was asked for the metrics, as Trouble; None if nothing did."""
    if "ERR_NVGPUCTRPERM" in output:
        return Trouble(3, "ncu may not read the GPU's counters here (ERR_NVGPUCTRPERM): run as root, or allow it in the driver's settings")
    errors = re.findall(r"==ERROR== *(.+)", output)
    # ncu names them as it looked for them, perhaps as a regular expression: regex:^name\.(sum|avg)$
    unknown = [m for m in metrics if any(re.search(rf"(?<!\w){re.escape(m.split('.')[0])}(?!\w)", e) for e in errors)]
    if unknown:
        return UnknownMetrics(unknown)
    return Trouble(1, f"ncu: {errors[0]}") if errors else None


def measured_launch(kernel, metrics, output):
    """The metrics of the last launch of the kernel, a regular expression of base names: launches before it were no measurement."""
    of_kernel = [counters for name, counters in launches_in(output, metrics) if re.fullmatch(kernel, name)]
    if not of_kernel:
        raise Trouble(1, f"ncu profiled no launch of {kernel}")
    return of_kernel[-1]


def output_of(command, limit):
    """What the command writes. At the time limit, in seconds, it ends with whatever it has started."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            return process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            raise Trouble(1, f"no end within {limit} s: {' '.join(command)}") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def run_benchmark(command, limit, profiler=()):
    """The rows of a benchmark program by name, their context, what it said, and what the profiler before it logged."""
    with tempfile.TemporaryDirectory() as folder:
        out, log = pathlib.Path(folder) / "rows.json", pathlib.Path(folder) / "log"
        before = [*profiler, "--log-file", str(log)] if profiler else []
        try:
            said = output_of([*before, *command, f"--benchmark_out={out}", "--benchmark_out_format=json"], limit)
        except OSError as e:
            raise Trouble(3 if profiler else 2, f"{[*before, *command][0]}: {e.strerror}") from None
        logged = log.read_text() if log.exists() else ""
        data = json.loads(out.read_text()) if out.exists() and out.stat().st_size else {"context": {}, "benchmarks": []}
    return {row["name"]: row for row in data["benchmarks"]}, data["context"], said, logged


def nothing_measured(said, logged=""):
    return Trouble(1, f"the program measured nothing: {((said.strip() or logged.strip()).splitlines() or ['no output'])[-1]}")


def profiled(profiler, command, kernel, metrics, limit):
    """(row, counters, context) of a benchmark program with options for one row; of the row's measured launch alone, on empty caches.

    `kernel` is a regular expression of the base names that this launch can have. Neither row nor counters if the program's arm does
    not have the operation.
    """
    options = ["--csv", "--print-units", "base", "--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off",
               "--kernel-name-base", "function", "-k", f"regex:^{kernel}$", "--metrics", ",".join(metrics)]
    rows, context, said, logged = run_benchmark(command, limit, [profiler, *options])
    complaint = complaint_of(logged + said, metrics)
    if complaint and (complaint.code == 3 or isinstance(complaint, UnknownMetrics)):
        raise complaint
    if NO_SUCH_ARM in said:
        return None, {}, context
    row = next(iter(rows.values()), None)
    if row is None:
        raise complaint or nothing_measured(said, logged)
    return row, measured_launch(kernel, metrics, logged), context


class Report:
    """Rows as they are measured, and what could not be."""

    def __init__(self, script, out, rows=None, context=None, before_writing=lambda rows: None):
        self.script, self.out, self.rows, self.context, self.before_writing = script, out, rows or {}, context or {}, before_writing
        self.failures = 0

    def add(self, context, rows):
        """Adds to the rows, and writes them. The first context counts; all must be of one library."""
        if self.context and context and self.context["include_hash"] != context["include_hash"]:
            raise Trouble(1, f"the library's include_hash is {context['include_hash']}, but {self.context['include_hash']} in {self.out}")
        self.context = self.context or context
        for name, row in rows.items():
            self.rows.setdefault(name, {}).update(row)
        if self.rows:
            self.write()

    def write(self):
        self.before_writing(self.rows)
        context = {**self.context, "command": f"{self.script} " + " ".join(sys.argv[1:])}
        context.pop("executable", None)
        data = {"context": context, "benchmarks": [{"name": name, **row} for name, row in self.rows.items()]}
        pathlib.Path(self.out).write_text(json.dumps(data, indent=1) + "\n")

    def failed(self, what, trouble):
        """Says so and goes on; not with trouble that every other row would have, too."""
        if trouble.code != 1:
            raise trouble
        print(f"{self.script}: {what}: {trouble}", file=sys.stderr)
        self.failures += 1

    def end(self):
        """The exit code."""
        print(f"{len(self.rows)} rows in {self.out}" + (f", {self.failures} failed" if self.failures else ""))
        return 1 if self.failures or not self.rows else 0


# ---- command lines


def refuse(text):
    raise Trouble(2, text)


def parser():
    """With the options that all have."""
    made = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    made.error = refuse
    made.add_argument("--out", required=True)
    made.add_argument("--ncu", default="ncu")
    return made


def positive(text):
    if not re.fullmatch("[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text}: a number from 1 on")
    return int(text)


def demand_programs(*programs):
    for program in filter(None, programs):
        if not pathlib.Path(program).is_file():
            refuse(f"{program}: no such program")


def main(script, doc, measure, self_test):
    """Does what the arguments say, and exits."""
    try:
        if sys.argv[1:] == ["--self-test"]:
            self_test()
            print("self-test passed")
        elif sys.argv[1:] == ["--help"]:
            print(doc)
        else:
            sys.exit(measure(sys.argv[1:]))
    except Trouble as e:
        print(f"{script}: {e}", file=sys.stderr)
        sys.exit(e.code)


# ---- self-tests


# What ncu writes, shortened to what matters here.
HEADER = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
          '"Section Name","Metric Name","Metric Unit","Metric Value"')
# Kernels as ncu names them.
TUNED = ("void warden::v0_1_sm_900::baseline::lock_tuned_kernel<warden::baseline::lock_settings<(warden::baseline::lanes)2, 1>, "
         "warden::baseline::work<unsigned int, contention::push::make> >(warden::lock_as_written_arguments<T2>)")
CHECKS = "void contention::first_check<contention::push>(contention::push::check_arguments)"
FUSED = "void warden::fused_kernel<512u, 3u, (anonymous namespace)::delegate<push>, warden::guarded_ref<policy> >(warden::fused_arguments<T3>)"


def csv_lines(launch, kernel, values):
    return [f'"{launch}","7","contention","127.0.0.1","{kernel}","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0",'
            f'"Command line profiler metrics","{metric}","{unit}","{value}"' for metric, unit, value in values]


def written(*launches):
    """For self-tests: what ncu writes about launches, each (kernel, [(metric, unit, value)])."""
    lines = ["==PROF== Connected to process 7 (/x/contention)", '==PROF== Profiling "lock_tuned_kernel" - 0: 0%....100% - 1 pass',
             "==PROF== Disconnected from process 7", HEADER]
    for i, (kernel, values) in enumerate(launches):
        lines += csv_lines(i, kernel, values)
    return "\n".join(lines) + "\n"


def shell_program(path, text):
    """For self-tests: a program of shell."""
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def shell_profiler(folder, program):
    """For self-tests: an ncu that runs the program and logs what stands in the file `profile` in the folder."""
    return shell_program(folder / "ncu", f'while [ "$1" != {program} ]; do [ "$1" != --log-file ] || log=$2; shift; done\n'
                                         f'cp {folder}/profile $log\nexec "$@"')


def trouble_of(action, *arguments):
    """For self-tests: the code and the text of the action's Trouble; None if it has none."""
    try:
        action(*arguments)
    except Trouble as e:
        return e.code, str(e)
    return None


def is_written(fifo):
    """For self-tests: whether some process still has the FIFO open for writing."""
    try:
        return os.read(fifo, 1) != b""
    except BlockingIOError:
        return True


def within(seconds, condition):
    """For self-tests: whether the condition comes true in that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def self_test():
    for kernel, name in ((TUNED, "lock_tuned_kernel"), (CHECKS, "first_check"), (FUSED, "fused_kernel"), ("fused_kernel", "fused_kernel"),
                         ("void (anonymous namespace)::k(int)", "k"), ("void a<(b)2>::k(int)", "k"), ("draw_ids(bench::draw_arguments)", "draw_ids")):
        assert base_name(kernel) == name, (kernel, base_name(kernel))
    # Several launches of several kernels.
    output = written((TUNED, [("a", "byte", "1")]), (TUNED, [("a", "byte", "12,345,678"), ("b", "inst", "4,096")]), (CHECKS, [("a", "byte", "9")]))
    assert launches_in(output, {"a", "b"}) == [("lock_tuned_kernel", {"a": 1}), ("lock_tuned_kernel", {"a": 12345678, "b": 4096}),
                                               ("first_check", {"a": 9})], launches_in(output, {"a", "b"})
    # A number of launches of ten or more, whose ids sort differently as text.
    many = written(*[(FUSED, [("a", "byte", str(i))]) for i in range(11)])
    assert launches_in(many, {"a"})[-1] == ("fused_kernel", {"a": 10})
    # Units that ncu scales on its own, fractions, metrics of other sections, and lines between the rows.
    scaled = written((FUSED, [("gpu__time_duration.sum", "nsecond", "5"), ("a", "Mbyte", "1.5"), ("b", "Ksector", "2"), ("c", "", "1,000")]))
    scaled = scaled.replace('"0","7"', '==WARNING== Note that\n"0","7"', 1)
    assert launches_in(scaled, {"a", "b", "c"}) == [("fused_kernel", {"a": 1.5e6, "b": 2000, "c": 1000})]
    assert in_base_units(3, "Gbyte") == 3e9 and in_base_units(3, "byte") == 3
    assert trouble_of(in_base_units, 3, "%")[0] == 1 and trouble_of(in_base_units, 3, "Mega")[0] == 1
    assert in_base_units(2, "usecond") == 2000 and in_base_units(2, "ns") == 2
    # Percentages and ratios are what they are, in whatever unit.
    percent, ratio = "x.avg.pct_of_peak_sustained_elapsed", "y_per_issue_active.ratio"
    assert launches_in(written((FUSED, [(percent, "%", "41.5"), (ratio, "warp", "1,000.5")])), {percent, ratio}) == [
        ("fused_kernel", {percent: 41.5, ratio: 1000.5})]
    # What is missing is not taken for zero.
    assert launches_in(written((FUSED, [("a", "byte", "n/a"), ("b", "byte", "1")])), {"a", "b"}) == [("fused_kernel", {"b": 1})]
    assert trouble_of(launches_in, written((FUSED, [("a", "byte", "many")])), {"a"}) == (1, "ncu printed no number: many")
    assert launches_in("==WARNING== No kernels were profiled.\n", {"a"}) == []
    # The last launch of the kernel counts, whatever comes after it; a name that contains another one is another kernel.
    assert measured_launch("lock_(tuned|as_written)_kernel", {"a", "b"}, output) == {"a": 12345678, "b": 4096}
    others = written(*[(name, [("a", "byte", "1")]) for name in ("other_kernel", "kernel_2")])
    assert trouble_of(measured_launch, "kernel", {"a"}, others) == (1, "ncu profiled no launch of kernel")
    # Complaints.
    refused = complaint_of("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters.")
    assert refused.code == 3 and "\n" not in str(refused)
    assert complaint_of("==ERROR== Failed to find metric x\n").code == 1 and complaint_of(output) is None
    unknown = complaint_of("==PROF== y__z.sum\n==ERROR== Failed to find metric regex:^x__y_z\\.(sum|avg)$\n",
                           ["x__y.sum", "x__y_z.sum", "y__z.sum", "y_z.sum"])
    assert unknown.metrics == ["x__y_z.sum"] and str(unknown) == "ncu does not know x__y_z.sum", unknown
    # At its time limit a program ends with what it has started.
    with tempfile.TemporaryDirectory() as folder:
        held = f"{folder}/held"
        os.mkfifo(held)
        reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
        command = ["sh", "-c", f"sleep 30 >{held} & sleep 30"]
        assert trouble_of(output_of, command, 0.3) == (1, f"no end within 0.3 s: {' '.join(command)}")
        assert within(5, lambda: not is_written(reader)), "what the program has started goes on"
        os.close(reader)
    assert output_of(["sh", "-c", "echo a; echo b >&2"], 10) == "a\nb\n"
