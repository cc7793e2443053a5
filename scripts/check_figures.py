#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds measured figures in README.md and docs/ whose source is not known.

    check_figures.py [ROOT]   prints page:line: figure: the line; exit code 1 if there is any

A figure is a number with a unit of time or rate, or a factor ("3 times", "2.5x"). Its source is known if it
stands in a place that scripts/results fills, or if a line of docs/figure_sources.txt is
"page: figure: source", where the source begins with a file of the project. Code and the pages NOT_READ are
not read: those are generated, or records of measurements that name their card and date.
"""
import pathlib
import re
import sys

SOURCES = "docs/figure_sources.txt"
NOT_READ = ("docs/results/", "docs/lab-notes/", "docs/tuning-notes.md")

NUMBER = r"(?<![\w.,^-])\d[\d,]*(?:\.\d+)?"
UNIT = r"(?:[GMKT]?B/s|(?:[GMK] )?[a-z-]+/s|[GMKT]/s|ns|us|ms|s|seconds?|minutes?|hours?|x|times)"
FIGURE = re.compile(rf"{NUMBER}(?:(?: to | and |, | / ){NUMBER})*\s?{UNIT}(?![\w/-])(?! \d)")
FILLED = re.compile(r"<!-- (results|number|plot):.*?<!-- /\1 -->", re.S)
CODE = re.compile(r"^```.*?^```$|^    .*?$|`[^`\n]+`", re.S | re.M)
SOURCE = re.compile(r"([^:]+): ([^:]+): ((\S+?)[,;]?(?: .*)?)")  # page, figure, source, its file


def blank(text):
    """The match with all characters but line ends blanked, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", text[0])


def figures(page):
    """Offset and text of each figure whose source the page does not show."""
    page = CODE.sub(blank, FILLED.sub(blank, page))
    return [(m.start(), " ".join(m[0].split())) for m in FIGURE.finditer(page)]


def check(root):
    """Lines for all figures without a source, and for the errors in the list of sources."""
    lines, found, used, errors = (root / SOURCES).read_text().splitlines(), [], set(), []
    known = {}
    for number, line in enumerate(lines, 1):
        if not (entry := SOURCE.fullmatch(line)):
            errors.append(f"{SOURCES}:{number}: not \"page: figure: source\": {line}")
        elif not (root / entry[4]).exists():
            errors.append(f"{SOURCES}:{number}: no such file: {entry[4]}")
        else:
            known[entry[1], entry[2]] = number
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        name = path.relative_to(root).as_posix()
        if name.startswith(NOT_READ):
            continue
        text = path.read_text()
        for offset, figure in figures(text):
            used.add((name, figure))
            if (name, figure) not in known:
                number = text.count("\n", 0, offset) + 1
                found.append(f"{name}:{number}: {figure}: {text.splitlines()[number - 1].strip()}")
    errors += [f"{SOURCES}:{number}: not in the page: {page}: {figure}"
               for (page, figure), number in known.items() if (page, figure) not in used]
    return found, errors


if __name__ == "__main__":
    found, errors = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for line in (*found, *errors):
        print(line)
    sys.exit(bool(found or errors))
