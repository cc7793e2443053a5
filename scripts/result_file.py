# SPDX-License-Identifier: Apache-2.0
"""Files of results: how they are read, joined, and made fit to be published."""
import json
import pathlib
import re
import sys
import tempfile

# A folder for each kind of GPU.
RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"
SAME_BUILD = ["device", "commit", "include_hash", "warden", "toolkit"]


def fail(text):
    sys.exit(f"tables.py: {text}")


def load(path):
    text = pathlib.Path(path).read_text()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    # A run that was killed leaves its rows without the closing brackets.
    end = text.rfind("}")
    for closing in ("]}", "\n]}"):
        try:
            return json.loads(text[:end + 1] + closing)
        except json.JSONDecodeError:
            continue
    fail(f"{path}: not a result file")


def published(benchmark, results=RESULTS):
    """The path of its last file that was published, from whichever GPU; None if there is none."""
    return max(results.glob(f"*/{benchmark}.json"), key=lambda path: load(path)["context"]["date"], default=None)


def parsed(name):
    """(operation, workload), arm, keys and sections of a row; sections is None if the benchmark chose their number."""
    match = re.fullmatch(r"[^/]+/([^/]+)/([^/]+)/([^/]+)/keys:(\d+)(?:/sections:(\d+))?", name)
    if match is None:
        fail(f"{name}: no row of a comparison of arms")
    operation, workload, arm, keys, sections = match.groups()
    return (operation, workload), arm, int(keys), sections and int(sections)


def rows_of(data):
    """(operation, workload) -> keys -> arm -> row, of the rows whose number of sections the benchmark chose."""
    table = {}
    for row in data["benchmarks"]:
        point, arm, keys, sections = parsed(row["name"])
        if sections is None:
            table.setdefault(point, {}).setdefault(keys, {})[arm] = row
    return table


def rows_by_sections(data):
    """(operation, workload) -> (keys, sections) -> arm -> row, of the other rows."""
    table = {}
    for row in data["benchmarks"]:
        point, arm, keys, sections = parsed(row["name"])
        if sections is not None:
            table.setdefault(point, {}).setdefault((keys, sections), {})[arm] = row
    return table


def merge(out, inputs):
    merged, names = None, set()
    for path in inputs:
        data = load(path)
        if merged is None:
            merged = {"context": data["context"], "benchmarks": []}
        for key in SAME_BUILD:
            if data["context"].get(key) != merged["context"].get(key):
                fail(f"{path}: {key} is {data['context'].get(key)}, but {merged['context'].get(key)} in {inputs[0]}")
        if path != inputs[0]:
            merged["context"]["command"] += "; " + data["context"].get("command", "")
        for row in data["benchmarks"]:
            if row["name"] in names:
                fail(f"{path}: {row['name']} stands in two files")
            names.add(row["name"])
            merged["benchmarks"].append(row)
    pathlib.Path(out).write_text(json.dumps(merged, indent=1) + "\n")


def publish(out, path):
    data = load(path)
    context = data["context"]
    if "dirty" in context.get("commit", "dirty"):
        fail(f"{path}: built from a dirty tree ({context.get('commit')})")
    context.pop("host_name", None)
    for key, value in context.items():
        if isinstance(value, str) and key in ("executable", "command"):
            # Whole words and values of options that are paths; a filter's slashes are none.
            context[key] = re.sub(r"(?<![^\s=])(?:\.{0,2}/|bin/)(?:[^\s/]+/)*([^\s/]+)", r"\1", value)
    pathlib.Path(out).write_text(json.dumps(data, indent=1) + "\n")


def refused(action, *arguments):
    """For the self-tests: whether the action ends the program with an error."""
    try:
        action(*arguments)
    except SystemExit as e:
        return e.code not in (0, None)
    return False


def self_test():
    assert parsed("bank_transfer/transfer/uniform/warden_rounds/keys:1024") == (("transfer", "uniform"), "warden_rounds", 1024, None)
    assert parsed("bank_transfer/transfer/uniform/warden_rounds/keys:1024/sections:524288") == (
        ("transfer", "uniform"), "warden_rounds", 1024, 524288)
    for wrong in ("bank_transfer/transfer/uniform/keys:1024", "bank_transfer/transfer/uniform/atomics/keys:1024/threads:8",
                  "bank_transfer/transfer/uniform/atomics/keys:1024/sections:8/sections:9", "bank_transfer/transfer/uniform/atomics/sections:8"):
        assert refused(parsed, wrong), wrong
    both = {"benchmarks": [{"name": f"bank_transfer/transfer/uniform/atomics/keys:1024{end}"} for end in ("", "/sections:4096")]}
    assert rows_of(both) == {("transfer", "uniform"): {1024: {"atomics": both["benchmarks"][0]}}}
    assert rows_by_sections(both) == {("transfer", "uniform"): {(1024, 4096): {"atomics": both["benchmarks"][1]}}}
    row = {"name": "contention/push/uniform/atomics/keys:32", "items_per_second": 4e9}
    context = {"device": "d", "commit": "c-dirty", "include_hash": "h", "host_name": "secret"}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def file(name, context, rows):
            (folder / name).write_text(json.dumps({"context": context, "benchmarks": rows}))
            return str(folder / name)

        a = file("a", context, [row])
        assert refused(merge, folder / "m", [a, a]), "a duplicate row must be refused"
        assert refused(merge, folder / "m", [a, file("b", {**context, "include_hash": "x"}, [])]), "another build"
        assert refused(publish, folder / "p", a), "a dirty tree must be refused"
        publish(folder / "p", file("c", {**context, "commit": "c", "command": "/x/y/contention --benchmark_filter=contention/push/ --out=/a/b.txt"}, [row]))
        public = load(folder / "p")["context"]
        assert "host_name" not in public and public["command"] == "contention --benchmark_filter=contention/push/ --out=b.txt", public
        for gpu, date in (("h100", "2026-02-01T00:00:00+00:00"), ("h200", "2026-10-01T00:00:00+00:00"), ("rtx", "2025-12-01T00:00:00+00:00")):
            (folder / gpu).mkdir()
            file(f"{gpu}/push.json", {**context, "date": date}, [row])
        assert published("push", folder) == folder / "h200/push.json" and published("pull", folder) is None
        (folder / "cut").write_text((folder / "a").read_text()[:-2] + ",")
        assert len(load(folder / "cut")["benchmarks"]) == 1, "rows of a killed run"
