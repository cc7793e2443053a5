# SPDX-License-Identifier: Apache-2.0
"""One page of HTML with the results of a folder: ./warden report."""
import dataclasses
import html
import pathlib
import re

import load
import plot
from choice import AS_GOOD, CHOOSING, choice_table
from families import tables_of
from measures import CHANGED, ENOUGH_RUNS, WIDE, changes, is_changed, measure_of
from names import label
from questions import questions

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#1f2328;background:#fff}
table{border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums}td,th{border:1px solid #d0d7de;padding:.15em .6em;
text-align:right}td:first-child,th{text-align:left}.mark{background:#fff1c2}.better{background:#d8f5e0}.worse{background:#ffdfdc}
summary{cursor:pointer;color:#0b5cad}svg{max-width:100%;height:auto}div.scroll{overflow-x:auto}"""
FACTS = {"device": "GPU", "multiprocessors": "multiprocessors", "clock_mhz": "clock, MHz", "memory_clock_mhz": "memory clock, MHz",
         "driver_cuda": "CUDA of the driver", "toolkit": "CUDA toolkit", "host_cpu": "CPU", "warden": "Warden", "commit": "commit",
         "date": "date"}

UNFOLDED = 40  # changed rows that are shown at once


@dataclasses.dataclass
class Folder:
    path: pathlib.Path
    contexts: list  # one per file, the newest one last
    rows: dict  # name -> row; of rows of one name the newest one
    context_of: dict  # name -> context of the row's file

    def is_simulated(self):
        return self.contexts[-1].get("simulated") == "yes"

    def origin(self, rows):
        return "; ".join(dict.fromkeys(load.origin({"context": self.context_of[row.values["name"]]}) for row in rows))

    def facts(self):
        """Lines of the table of the machine: what it is, and its values in all files."""
        lines = []
        for key, name in FACTS.items():
            values = sorted({str(context[key]) for context in self.contexts if key in context})
            lines.append((name, ", ".join(values if key != "date" else dict.fromkeys((values[0], values[-1])))) if values else (name, "-"))
        return lines


def read(path):
    files = [load.load(file) for file in sorted(pathlib.Path(path).iterdir()) if file.suffix == ".json"]
    files.sort(key=lambda data: data["context"]["date"])
    if not files:
        load.fail(f"{path}: no result files; ./warden bench --all --out {path} writes them")
    if len({load.is_simulated(data) for data in files}) > 1:
        load.fail(f"{path}: files of a GPU and of the simulated device")
    rows, context_of = {}, {}
    for data in files:
        for row in load.rows_of(data):
            if not row.get("error_occurred"):
                rows[row.values["name"]], context_of[row.values["name"]] = row, data["context"]
    return Folder(pathlib.Path(path), [data["context"] for data in files], rows, context_of)


def tag(name, text, kind=""):
    return f"<{name}{kind and f' class={kind}'}>{text}</{name}>"


def as_html(header, lines):
    """A table; a cell is a text, or a pair of a text and a class."""
    body = ["".join(tag("td", html.escape(cell)) if isinstance(cell, str) else tag("td", html.escape(cell[0]), cell[1]) for cell in line)
            for line in lines]
    head = "".join(tag("th", html.escape(label(name))) for name in header)
    return tag("div", tag("table", "\n".join(tag("tr", row) for row in ([head, *body] if header else body))), "scroll")


def folded(title, text):
    return f"<details><summary>{html.escape(title)}</summary>\n{text}</details>"


def of_table(table):
    return tag("p", html.escape(table.caption())) + as_html(table.header, table.lines)


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def row_line(row, before):
    """The cells of a row: its median and its range, marked if that is wide, and its change."""
    one = measure_of(row)
    spread, runs = one.spread(), one.runs
    cells = [row.values["name"], one.text(one.value), one.text(one.least), one.text(one.most),
             "-" if spread is None else (f"{100 * spread:.1f} %", "mark" if one.is_wide() else "plain"),
             "-" if runs is None else (str(runs), "mark" if runs < ENOUGH_RUNS else "plain")]
    if before is not None:
        other = row.values["name"] in before and measure_of(before[row.values["name"]])
        if not other or other.unit != one.unit:
            return [*cells, "-", "-"]
        kind = "plain" if not is_changed(one, other) else "better" if one.over(other) > 1 else "worse"
        cells += [other.text(other.value), (percent(one.over(other)), kind)]
    return cells


def rows_html(rows, before):
    measured = [row for row in rows if measure_of(row)]
    blocks = []
    for unit in dict.fromkeys(measure_of(row).unit for row in measured):
        header = [unit, "median", "minimum", "maximum", "(max - min) / median", "repetitions", *(["before", "speed"] if before is not None else [])]
        blocks.append(as_html(header, [row_line(row, before) for row in measured if measure_of(row).unit == unit]))
    return "\n".join(blocks)


def changes_html(now, earlier):
    """The changed rows, and the rows of one folder alone."""
    lines = []
    for row, before, after in changes(now.rows, earlier.rows):
        ratio, overlaps = after.over(before), after.overlaps(before)
        lines.append([row.values["name"], before.text(before.value), after.text(after.value), after.unit,
                      (percent(ratio), "better" if ratio > 1 else "worse"), "-" if overlaps is None else "yes" if overlaps else "no"])
    header = ["row", "before", "now", "unit", "speed", "ranges overlap"]
    parts = [tag("h2", f"Changed by more than {100 * CHANGED:.0f} %: {len(lines)} rows"),
             as_html(header, lines[:UNFOLDED]) if lines else "",
             folded(f"{len(lines) - UNFOLDED} smaller changes", as_html(header, lines[UNFOLDED:])) if len(lines) > UNFOLDED else ""]
    for one, other in ((now, earlier), (earlier, now)):
        if names := [name for name in one.rows if name not in other.rows]:
            parts.append(folded(f"{len(names)} rows only in {one.path}", as_html([], [[name] for name in names])))
    return parts


def summary_html(asked, rows):
    lines = [line for question in asked if (line := question.summary())]
    header = ["question", "points", "most often fastest (points)", f"Warden fastest, or within {100 - 100 * AS_GOOD:.0f} %",
              "Warden over the best other: least", "median", "most"]
    parts = [tag("h2", "What wins where"), as_html(header, lines)] if lines else []
    for benchmark in CHOOSING:
        of_benchmark = [row for row in rows if row.benchmark == benchmark and "sections" not in row.fields]
        if of_benchmark and (table := choice_table(of_benchmark)):
            parts.append(folded(f"{benchmark}: the arm to take at each number of keys", of_table(table)))
    return parts


def row_counts(folder):
    """Numbers of rows, and of the rows to take with care."""
    measures = [one for row in folder.rows.values() if (one := measure_of(row))]
    return [("rows", str(len(folder.rows))),
            (f"rows with a spread above {100 * WIDE:.0f} %", str(sum(one.is_wide() for one in measures))),
            (f"rows of fewer than {ENOUGH_RUNS} repetitions", str(sum((one.runs or 0) < ENOUGH_RUNS for one in measures))),
            ("rows without a range", str(sum(one.least is None for one in measures)))]


def inline(svg, prefix):
    """The svg element alone, with names that no other plot of the page has."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    return re.sub(r'(url\(#|href="#)', rf"\1{prefix}", svg)


def question_html(question, number, folder, before, matplotlib):
    data = matplotlib and question.plot_data(folder.origin(question.rows))
    picture = inline(plot.drawn(matplotlib, data, "light"), f"p{number}_") if data else ""
    tables = "\n".join(of_table(table) for table in tables_of({"context": folder.contexts[-1]}, question.rows))
    rows = "" if folder.is_simulated() else rows_html(question.rows, before and before.rows)
    wide = sum(one.is_wide() for row in question.rows if (one := measure_of(row)))
    return [tag("h2", html.escape(question.title)), picture, folded("Tables", tables) if tables else "",
            folded(f"{len(question.rows)} rows with their ranges; {wide} with a spread above {100 * WIDE:.0f} %", rows) if rows else ""]


def write(folder, out, against=None):
    now, earlier = read(folder), read(against) if against else None
    if earlier and now.is_simulated() != earlier.is_simulated():
        load.fail(f"{folder} and {against}: one is of the simulated device, the other of a GPU")
    matplotlib = None if now.is_simulated() else plot.matplotlib_or_exit()
    asked = questions(now.rows.values())
    title = f"Warden on {now.contexts[-1].get('device')}"
    compared = [one for one in (now, earlier) if one]
    facts = [[*one.facts(), *row_counts(one)] for one in compared]
    machine = [[lines[0][0], *(value for _, value in lines)] for lines in zip(*facts)]
    parts = [tag("h1", html.escape(title))]
    if now.is_simulated():
        parts.append(tag("p", "Counts of the simulated device, which has no rates."))
    if earlier:
        parts += changes_html(now, earlier)
    if not now.is_simulated():
        parts += summary_html(asked, list(now.rows.values()))
    parts += [tag("h2", "Machine and commit"), as_html(["", *(str(one.path) for one in compared)], machine)]
    for number, question in enumerate(asked):
        parts += question_html(question, number, now, earlier, matplotlib)
    body = "\n".join(part for part in parts if part)
    pathlib.Path(out).write_text(f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
                                 f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n",
                                 encoding="utf-8", errors="backslashreplace")
    print(f"{out}: {len(now.rows)} rows, {len(asked)} questions")
