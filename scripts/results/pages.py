# SPDX-License-Identifier: Apache-2.0
"""Marked places of the documentation, and the pages docs/results/*.md."""
import os
import re

import plot
from families import tables_of
from gpus_model import model_tables
from load import RESULTS, ROOT, fail, load, origin, published, rows_of, select
from names import LABELS, giga

FOLDER = ROOT / "docs/results"
MARK = re.compile(r"<!-- (results|plot|number):(\S+)((?: \w+=\S+)*) -->(.*?)<!-- /\1 -->", re.S)


def options_of(text):
    return {name: values.split(",") for name, values in (option.split("=") for option in text.split())}


def tables_named(name, options):
    """(data, tables) of `name`: FILE[/TABLE[/WORKLOAD]]."""
    benchmark, *path = name.split("/")
    file = published(benchmark)
    if file is None:
        fail(f"{name}: no file results/*/{benchmark}.json")
    data, options = load(file), dict(options)
    columns = options.pop("columns", None)
    if path[1:]:
        options["workloads"] = path[1:]
    rows = select(rows_of(data), options)
    timelines = benchmark == "several_gpus" and published("several_gpus_timeline")
    tables = model_tables(data, load(timelines)) if timelines and not options else tables_of(data, rows)
    tables = [table for table in tables if not path or table.slug == path[0]]
    if not tables:
        fail(f"{name}: no such table; there are {', '.join(table.slug for table in tables_of(data))}")
    if columns:
        tables = [table.with_columns(columns) for table in tables]
    return data, tables


def results(name, options):
    data, tables = tables_named(name, options)
    tables = [table.without_constants() for table in tables]
    return "\n\n".join(f"{table.caption()} ({origin(data)}):\n\n{table.markdown()}" for table in tables)


def number(name, options):
    """One number: the value of a counter, by default the rate in units of 10^9, or how many times that of the arm `over` it is."""
    data = load(published(name.split("/")[0]) or fail(f"{name}: no such file"))
    counter, over = (options.pop(option, [default])[0] for option, default in (("counter", "items_per_second"), ("over", None)))
    benchmark, operation, workload = name.split("/")
    point = {"operations": [operation], "workloads": [workload], **options}
    values = []
    for arms in (options["arms"], [over] if over else []):
        rows = select(rows_of(data), {**point, "arms": arms}) if arms else []
        if arms and len(rows) != 1:
            fail(f"number:{name}: {len(rows)} rows; name one arm and one number of keys")
        values += [row.get(counter) for row in rows]
    if not over:
        return giga(values[0]) if counter == "items_per_second" else f"{values[0]:.3g}"
    ratio = values[0] / values[1]
    return f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def filled(text, page):
    """The text of a page with its marked places written anew."""
    def place(match):
        kind, name, options, _ = match.groups()
        begin, end = f"<!-- {kind}:{name}{options} -->", f"<!-- /{kind} -->"
        if kind == "number":
            return f"{begin}{number(name, options_of(options))}{end}"
        inside = plot.markdown(name, os.path.relpath(plot.FOLDER, page.parent)) if kind == "plot" else results(name, options_of(options))
        return f"{begin}\n{inside}\n{end}"
    return MARK.sub(place, text)


def page_of(name):
    """A page of docs/results: all tables of the newest file of that name."""
    data, tables = tables_named(name, {})
    context = data["context"]
    head = (f"# Results: {name}\n\n| file | GPU | CUDA | commit | date |\n| --- | --- | --- | --- | --- |\n"
            f"| {published(name).relative_to(ROOT)} | {context['device']} | {context['toolkit']} | {context['commit'][:12]} | {context['date'][:10]} |")
    return "\n\n".join([head, *(f"## {table.caption()}\n\n{table.markdown()}" for table in tables)]) + "\n"


def index(names):
    pages = "\n".join(f"| [{name}]({name}.md) | {published(name).relative_to(ROOT)} |" for name in names)
    arms = "\n".join(f"| `{arm}` | {label} |" for arm, label in LABELS.items())
    return ("# Results\n\nGenerated from results/ by `python3 scripts/results --write`: the newest file of each name. A dash stands for an arm without a\n"
            f"row.\n\n| page | file |\n| --- | --- |\n{pages}\n\nArms in result files, and their labels in tables:\n\n| arm | label |\n| --- | --- |\n{arms}\n")


def documents(write):
    """Writes the documentation, or fails if it differs from what the result files hold."""
    names = sorted({path.stem for path in RESULTS.glob("*/*.json")})
    wanted = {FOLDER / f"{name}.md": page_of(name) for name in names} | {FOLDER / "README.md": index(names)}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.parent != FOLDER:
            wanted[path] = filled(path.read_text(), path)
        elif path not in wanted:
            fail(f"{path.relative_to(ROOT)}: no such page; delete it")
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if write:
        FOLDER.mkdir(exist_ok=True)
        for path in stale:
            path.write_text(wanted[path])
    elif stale:
        fail(f"out of date, run python3 scripts/results --write: {', '.join(path.name for path in stale)}")
    print("written: " + ", ".join(path.name for path in stale) if stale else "tables are up to date")
