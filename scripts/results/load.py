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
CONTEXT = ("device", "commit", "date", "toolkit")  # texts of every file; the simulated device has no toolkit
# Entries of a row that are not numbers.
NOT_NUMBERS = {"name", "run_name", "run_type", "time_unit", "label", "aggregate_name", "aggregate_unit",
               "error_occurred", "error_message", "skipped", "skip_message"}
ABOVE_ZERO = re.compile(r"\w+_per_second|bytes|operations|sections|epochs|levels|vertices")  # other values are divided by them
LARGEST = 1e100  # so that no product or ratio of two values is infinite
FORM = 'not a result file; expected JSON with an object "context" and a list "benchmarks"'
EXAMPLE = "expected one like contention/push/uniform/sort/keys:32"

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

    def need(self, name):
        """A part of the name, or a counter. Fails without it."""
        value = self.fields.get(name, self.get(name))
        return fail(f"{self.get('name')}: no {name}; measure again") if value is None else value


def fail_of(error):
    """Fails for a file or folder that the system does not read or write."""
    where = "" if error.filename is None else f"{error.filename}: "
    fail(where + (error.strerror or str(error)).lower().replace("directory", "folder"))


def is_text(value):
    return isinstance(value, str) and value != "" and value.isprintable()


def limits_of(counter):
    """The least value of a counter, and the values to expect."""
    if ABOVE_ZERO.fullmatch(counter):
        return 1 / LARGEST, "a number above 0"
    return (0, "a number from 0 on") if counter == "real_time" else (-LARGEST, "a number")


def problems_of(data):
    """Texts of the errors in the contents of a result file."""
    context, rows = (isinstance(data, dict) and data.get(name) for name in ("context", "benchmarks"))
    if not isinstance(context, dict) or not isinstance(rows, list):
        yield FORM
        return
    for name in CONTEXT[:-1] if is_simulated(data) else CONTEXT:
        if not is_text(context.get(name)):
            yield f"context: {name} is {json.dumps(context[name])[:40] if name in context else 'missing'}; expected a text"
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not is_text(row.get("name")):
            yield f"row {number} has no name"
            continue
        if named(row["name"]) is None:
            yield f"row {number}, {row['name']}: unknown form of a name; {EXAMPLE}"
        for counter, value in row.items():
            least, expected = limits_of(counter)
            if counter not in NOT_NUMBERS and (type(value) not in (int, float) or not least <= value <= LARGEST):
                yield f"row {number}, {row['name']}: {counter} is {json.dumps(value)[:40]}; expected {expected}"


def load(path):
    try:
        text = pathlib.Path(path).read_text()
    except UnicodeDecodeError:
        text = ""
    # A program that was killed leaves its rows without the closing brackets.
    for candidate in (text, text[:text.rfind("}") + 1] + "]}"):
        try:
            data = json.loads(candidate)
            break
        except (ValueError, RecursionError):
            data = None
    for problem in problems_of(data):
        fail(f"{path}: {problem}: measure again, or leave out this file")
    return data


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
    number = re.fullmatch(r"(\w+):(\d{1,18})", part)
    return int(number[2]) if number and SYNONYMS.get(number[1], number[1]) == name else None


def named(name):
    """(benchmark, kind, fields) of a row's name; None for a name of unknown form."""
    benchmark, *parts = name.split("/")
    beginning = f"{benchmark}/{parts[0]}" if parts else benchmark
    if beginning in SHAPES:
        shape, kind, parts = SHAPES[beginning], parts[0], parts[1:]
    else:
        shape = SHAPES.get(benchmark, COMPARISON)
        kind = parts[0] if shape is COMPARISON and parts else benchmark
    fields = {name: value_of(name, part) for name, part in zip(shape, parts)}
    if None in fields.values() or not len(shape) - ("sections" in shape) <= len(parts) <= len(shape):
        return None
    return benchmark, kind, fields


def parsed(values):
    """The row of a result file's entry."""
    return Row(*named(values["name"]), values)


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
    """Joins files of one build on one device. Overwrites no file, so that an input given as `out` is not lost."""
    if pathlib.Path(out).exists():
        fail(f"{out}: there is such a file; --merge writes a new one, named first: choose another name, or delete it")
    merged, seen = None, {}
    for number, path in enumerate(inputs):
        data = load(path)
        if merged is None:
            merged = {"context": data["context"], "benchmarks": []}
        else:
            merged["context"]["command"] = "; ".join(str(one["context"].get("command", "")) for one in (merged, data))
        for key in SAME_BUILD:
            if data["context"].get(key) != merged["context"].get(key):
                fail(f"{path}: {key} is {data['context'].get(key)}, but {merged['context'].get(key)} in {inputs[0]}")
        for row in data["benchmarks"]:
            if (name := row["name"]) in seen:
                where = "twice in this file" if seen[name] == number else f"in {inputs[seen[name]]}, too"
                fail(f"{path}: {name} is {where}; leave one out")
            seen[name] = number
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
    """Exits with 1 if a baseline is slower than the lock as published, or than its prototype on the same GPU."""
    data = load(path)
    rates = {(row.kind, *(row.fields[name] for name in ("workload", "keys", "arm"))): row for row in rows_of(data)
             if "sections" not in row.fields and "workload" in row.fields}
    problems = []
    for (*point, arm), row in rates.items():
        published_lock = rates.get((*point, "lock_as_written"))
        # With this choice both are the same kernel on the same grid.
        if arm == "lock_tuned" and published_lock and row.get("label") != "independent fullx256":
            if row.need("items_per_second") < published_lock.need("items_per_second"):
                problems.append(f"{row.get('name')}: slower than lock_as_written")
    reference = json.loads((RESULTS / "reference.json").read_text())
    is_comparable = data["context"]["device"] == reference["device"]
    for arm, share in (("lock_tuned", 1.0), ("atomics", 0.9)) if is_comparable else ():
        for keys, value in reference["push/uniform"][arm].items():
            row = rates.get(("push", "uniform", int(keys), arm))
            name = f"push/uniform/{arm}/keys:{keys}"
            if row is None:
                problems.append(f"{name}: missing")
            elif (rate := row.need("items_per_second")) < share * value * 1e9:
                problems.append(f"{name}: {names.giga(rate)} G/s, below {share * value:.3g}")
    if not is_comparable:
        print(f"compared with lock_as_written alone: the prototypes were measured on {reference['device']}, "
              f"this file on {data['context']['device']}")
    print("\n".join(problems) or "baselines are as fast as required")
    sys.exit(1 if problems else 0)
