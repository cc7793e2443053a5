# SPDX-License-Identifier: Apache-2.0
"""Result files: reads, selects, merges and publishes them."""
import dataclasses
import json
import pathlib
import re
import sys

import names

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"  # one folder per kind of GPU
LEAST_RUNS = 5  # repetitions of a published rate
LONG = 1000  # milliseconds from which on one is enough
SAME_BUILD = ["device", "commit", "include_hash", "warden", "toolkit"]

# Beginning of a row's name -> names of the parts that follow. The longest one that fits counts.
COMPARISON = ("operation", "workload", "arm", "keys", "sections")
SHAPES = {"transport/latency": ("receive", "readiness", "servers are", "servers"),
          "transport": ("send", "receive", "readiness", "bytes", "servers"),
          "deferred/send": ("send", "bytes"), "deferred/small": ("send", "records", "keys"),
          "deferred/samples": ("ids", "arm", "keys"), "deferred/memory": ("send", "bytes"),
          "bounds/transport": ("send", "receive", "readiness", "bytes", "servers"), "bounds/contention": COMPARISON}
# Part of a row's name -> the name that it has in other benchmarks.
SYNONYMS = {"rows": "keys", "warehouses": "keys", "transactions": "sections"}
# Options of marks that are plurals of these names.
PLURALS = {"arms": "arm", "operations": "operation", "workloads": "workload"}


def fail(text):
    sys.exit(f"results: {text}")


@dataclasses.dataclass(frozen=True)
class Row:
    benchmark: str
    kind: str  # the operation, or the second part of the name
    fields: dict  # parts of the name; numbers as int
    values: dict  # all counters

    def get(self, counter):
        return self.values.get(counter)


def load(path):
    text = pathlib.Path(path).read_text()
    # A program that was killed leaves its rows without the closing brackets.
    for candidate in (text, text[:text.rfind("}") + 1] + "]}"):
        try:
            return json.loads(candidate)
        except json.JSONDecodeError:
            continue
    fail(f"{path}: not a result file")


def files_of(benchmark, results):
    """Paths of the published files of that name. First comes that of the machine with most files, then the newest."""
    def rank(path):
        return len([*path.parent.glob("*.json")]), load(path)["context"]["date"]
    return sorted(results.glob(f"*/{benchmark}.json"), key=rank, reverse=True)


def published(benchmark, results=RESULTS):
    """Path of the published file of that name from which the documentation is made; None without one."""
    return next(iter(files_of(benchmark, results)), None)


def known(benchmark):
    """Code -> input -> figure of other codes, from results/known.json."""
    return json.loads((RESULTS / "known.json").read_text()).get(benchmark, {})


def value_of(name, part):
    """The value of a part of a row's name; None if the part has another form."""
    if name not in ("keys", "sections", "bytes", "servers"):
        return part
    number = re.fullmatch(r"(\w+):(\d+)", part)
    return int(number[2]) if number and SYNONYMS.get(number[1], number[1]) == name else None


def parsed(values):
    """The row of a result file's entry."""
    benchmark, *parts = values["name"].split("/")
    beginning = f"{benchmark}/{parts[0]}" if parts else benchmark
    if beginning in SHAPES:
        shape, kind, parts = SHAPES[beginning], parts[0], parts[1:]
    else:
        shape = SHAPES.get(benchmark, COMPARISON)
        kind = parts[0] if shape is COMPARISON and parts else benchmark
    fields = {name: value_of(name, part) for name, part in zip(shape, parts)}
    if None in fields.values() or not len(shape) - ("sections" in shape) <= len(parts) <= len(shape):
        fail(f"{values['name']}: unknown form of a row's name")
    return Row(benchmark, kind, fields, values)


def rows_of(data):
    return [parsed(values) for values in data["benchmarks"]]


def select(rows, options):
    """Rows whose parts have the values of the options, each `name=value,...`."""
    for option, wanted in options.items():
        field = PLURALS.get(option, option)
        there = {str(row.fields.get(field)) for row in rows}
        if missing := set(wanted) - there:
            fail(f"{option}: no row with {min(missing)}; there are {', '.join(sorted(there))}")
        rows = [row for row in rows if str(row.fields.get(field)) in wanted]
    return rows


def is_simulated(data):
    return data["context"].get("simulated") == "yes"


def origin(data):
    context = data["context"]
    gpus = "2 " if "nccl" in context else ""
    return f"{gpus}{context['device']}, CUDA {context['toolkit']}, commit {context['commit'][:12]}"


def merge(out, inputs):
    """Joins files of one build on one device."""
    merged, seen = None, set()
    for path in inputs:
        data = load(path)
        if merged is None:
            merged = {"context": data["context"], "benchmarks": []}
        else:
            merged["context"]["command"] = "; ".join(one["context"].get("command", "") for one in (merged, data))
        for key in SAME_BUILD:
            if data["context"].get(key) != merged["context"].get(key):
                fail(f"{path}: {key} is {data['context'].get(key)}, but {merged['context'].get(key)} in {inputs[0]}")
        for row in data["benchmarks"]:
            if row["name"] in seen:
                fail(f"{path}: {row['name']} is in two files")
            seen.add(row["name"])
            merged["benchmarks"].append(row)
    pathlib.Path(out).write_text(json.dumps(merged, indent=1) + "\n")


def without_folders(data):
    """The data without host name and folders."""
    context = {key: value for key, value in data["context"].items() if key != "host_name"}
    for key in ("executable", "command"):
        if isinstance(context.get(key), str):
            # Whole words and values of options that are paths. Slashes in a filter are kept.
            context[key] = re.sub(r"(?<![^\s=])(?:\.{0,2}/|bin/)(?:[^\s/]+/)*([^\s/]+)", r"\1", context[key])
    return data | {"context": context}


def publish(out, path):
    """Copies a file without host name and folders. Refuses results of a dirty tree."""
    data = load(path)
    if "dirty" in (commit := data["context"].get("commit", "dirty")):
        fail(f"{path}: built from a dirty tree ({commit}); commit and measure again")
    pathlib.Path(out).write_text(json.dumps(without_folders(data), indent=1) + "\n")


def is_repeated(row):
    """True if the rate of a row is the median of enough repetitions, with their range. A long one needs no other."""
    has_range = "slowest_per_second" in row or "slowest_ms" in row
    return row.get("real_time", 0) >= LONG or has_range and row.get("runs", 0) >= LEAST_RUNS


def check_published(path):
    """Fails if a file has what `publish` removes, or a rate of too few repetitions."""
    data = load(path)
    if without_folders(data) != data:
        fail(f"{path}: it has a host name or folders; copy the file by --publish")
    for row in data["benchmarks"]:
        if row.get("items_per_second") and not is_repeated(row):
            fail(f"{path}: {row['name']} has {row.get('runs', 0):.0f} repetitions, or no range; measure it with "
                 f"--repetitions {LEAST_RUNS}")


def check_baselines(path):
    """Exits with 1 if a baseline is slower than its prototype, or than the lock as published."""
    rates = {(row.kind, *(row.fields[name] for name in ("workload", "keys", "arm"))): row for row in rows_of(load(path))
             if "sections" not in row.fields and "workload" in row.fields}
    problems = []
    for (*point, arm), row in rates.items():
        published_lock = rates.get((*point, "lock_as_written"))
        # With this choice both are the same kernel on the same grid.
        if arm == "lock_tuned" and published_lock and row.get("label") != "independent fullx256":
            if row.get("items_per_second") < published_lock.get("items_per_second"):
                problems.append(f"{row.get('name')}: slower than lock_as_written")
    reference = json.loads((RESULTS / "reference.json").read_text())["push/uniform"]
    for arm, share in (("lock_tuned", 1.0), ("atomics", 0.9)):
        for keys, value in reference[arm].items():
            row = rates.get(("push", "uniform", int(keys), arm))
            name = f"push/uniform/{arm}/keys:{keys}"
            if row is None:
                problems.append(f"{name}: missing")
            elif row.get("items_per_second") < share * value * 1e9:
                problems.append(f"{name}: {names.giga(row.get('items_per_second'))} G/s, below {share * value:.3g}")
    print("\n".join(problems) or "baselines are as fast as required")
    sys.exit(1 if problems else 0)
