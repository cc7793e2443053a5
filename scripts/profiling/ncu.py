# SPDX-License-Identifier: Apache-2.0
"""Runs rows of a benchmark under Nsight Compute, and writes its counters as a result file."""
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

FUSED_KERNEL = "fused_kernel"  # base name in every fused launch
NO_SUCH_ARM = "none of these arms has one of these operations"


class Trouble(Exception):
    """Ends a row with one line; with code 3 the script, because no row can be measured."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


def launches_in(output, wanted):
    """[(base name of the kernel, {metric: value})] by launch, without missing values."""
    lines = output.splitlines()
    header = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), len(lines))
    launches = {}
    for row in csv.DictReader(lines[header:]):
        if row.get("Metric Name") in wanted:
            _, metrics = launches.setdefault(int(row["ID"]), (base_name(row["Kernel Name"]), {}))
            if row["Metric Value"] != "n/a":
                metrics[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return [launches[i] for i in sorted(launches)]


def base_name(kernel):
    """A kernel's name without return type, namespaces, template arguments and parameters."""
    plain = kernel.replace("(anonymous namespace)::", "")
    for _ in range(kernel.count("<")):
        plain = re.sub("<[^<>]*>", "", plain)
    return re.split(r"::|\s", plain.partition("(")[0])[-1]


def measured_launch(kernel, metrics, output):
    """Metrics of the last launch of `kernel`, a regular expression. Earlier ones choose settings."""
    found = [counters for name, counters in launches_in(output, metrics) if re.fullmatch(kernel, name)]
    if not found:
        raise Trouble(f"ncu profiled no launch of {kernel}")
    return found[-1]


def output_of(command, limit):
    """Output of the command. At the limit, in seconds, it ends with all that it started."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            return process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            raise Trouble(f"no end within {limit} s: {' '.join(command)}") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def run_benchmark(command, limit, profiler=()):
    """(rows, context, log of the profiler); no rows if the arms do not have the operation."""
    with tempfile.TemporaryDirectory() as folder:
        out, log = pathlib.Path(folder) / "rows.json", pathlib.Path(folder) / "log"
        before = [*profiler, "--log-file", str(log)] if profiler else []
        try:
            said = output_of([*before, *command, f"--benchmark_out={out}", "--benchmark_out_format=json"], limit)
        except OSError as error:
            raise Trouble(f"{[*before, *command][0]}: {error.strerror}", 3) from None
        logged = log.read_text() if log.exists() else ""
        data = {"context": {}, "benchmarks": []}
        if out.exists() and out.stat().st_size:
            data = json.loads(out.read_text())
    if "ERR_NVGPUCTRPERM" in logged + said:
        raise Trouble("ncu may not read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or allow it in the "
                      "driver's settings", 3)
    if NO_SUCH_ARM in said:
        return [], {}, ""  # ncu reports the program's exit code as an error
    if errors := re.findall(r"==ERROR== *(.+)", logged + said):
        raise Trouble(f"ncu: {errors[0]}")
    if not data["benchmarks"]:
        last = ((said.strip() or logged.strip()).splitlines() or ["no output"])[-1]
        raise Trouble(f"the program measured nothing: {last}")
    return data["benchmarks"], data["context"], logged


def profiled(ncu, command, kernel, metrics, limit):
    """(row, metrics, context) of the measured launch, with empty caches; row None without one."""
    options = ["--csv", "--print-units", "base", "--clock-control", "none", "--cache-control", "all",
               "--profile-from-start", "off", "--kernel-name-base", "function", "-k", f"regex:^{kernel}$",
               "--metrics", ",".join(metrics)]
    rows, context, logged = run_benchmark(command, limit, [ncu, *options])
    return (rows[0], measured_launch(kernel, metrics, logged), context) if rows else (None, {}, context)


class Report:
    """Rows, written after each one, and the number of rows that could not be measured."""

    def __init__(self, script, out, complete=lambda rows: None):
        self.script, self.out, self.complete = script, pathlib.Path(out), complete
        self.rows, self.context, self.failures = {}, {}, 0

    def read(self):
        """Goes on from the rows of the file, if it exists."""
        if self.out.exists():
            data = json.loads(self.out.read_text())
            self.rows, self.context = {row.pop("name"): row for row in data["benchmarks"]}, data["context"]

    def add(self, context, rows):
        """Adds values to rows. The first context counts; all must be of one library."""
        self.context = self.context or context
        if (mine := context["include_hash"]) != (other := self.context["include_hash"]):
            raise Trouble(f"the library's include_hash is {mine}, but {other} in {self.out}", 3)
        for name, row in rows.items():
            self.rows.setdefault(name, {}).update(row)
        self.complete(self.rows)
        context = {**self.context, "command": f"{self.script} {' '.join(sys.argv[1:])}"}
        context.pop("executable", None)
        data = {"context": context, "benchmarks": [{"name": name, **row} for name, row in self.rows.items()]}
        self.out.write_text(json.dumps(data, indent=1) + "\n")

    def measure(self, name, action):
        """Adds the (row, context) of `action`. Prints trouble and goes on, unless it has code 3."""
        try:
            row, context = action()
            if row:
                self.add(context, {name: row})
        except Trouble as trouble:
            if trouble.code != 1:
                raise
            print(f"{self.script}: {name}: {trouble}", file=sys.stderr)
            self.failures += 1

    def end(self):
        print(f"{len(self.rows)} rows in {self.out}" + (f", {self.failures} failed" if self.failures else ""))
        return 1 if self.failures or not self.rows else 0


def program_options(arms, operation, workload, keys, operations):
    """Options of the program `contention` for one point."""
    return ["--arms", ",".join(arms), "--operation", operation, "--workload", workload, "--keys", str(keys),
            "--ops", str(operations), "--repetitions", "1"]


def parser(doc):
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   allow_abbrev=False)
    made.add_argument("--out", required=True)
    made.add_argument("--ncu", default="ncu", help="Nsight Compute, if it is not on the PATH")
    return made


def positive(text):
    if not re.fullmatch("[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text}: a number from 1 on")
    return int(text)


def program(path):
    if not pathlib.Path(path).is_file():
        raise argparse.ArgumentTypeError(f"{path}: no such program")
    return path


def main(script, measure):
    """Exits with the code that `measure` returns for the arguments, or with that of its trouble."""
    try:
        sys.exit(measure(sys.argv[1:]))
    except Trouble as trouble:
        print(f"{script}: {trouble}", file=sys.stderr)
        sys.exit(trouble.code)
