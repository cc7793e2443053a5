#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants figures with and without a source, and demands that scripts/check_figures.py tells them apart."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
from check_figures import SOURCES, check  # noqa: E402


def plant(text, sources="", name="docs/a.md"):
    """The check's lines for one page."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, content in {"README.md": "", "results/a.json": "{}", SOURCES: sources, name: text}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        found, errors = check(root)
        return found + errors


MARK = "<!-- number:a/b arms=c -->12<!-- /number -->"
for figure in ("12 us", "1.5 ms", "30 s", "2 minutes", "2x", "2.5 times", "16 to 23 times", "3 GB/s", "4 M/s", "12.4 G tasks/s", "3,000 rows/s"):
    assert plant(f"It takes {figure}.\n") == [f"docs/a.md:1: {figure}: It takes {figure}."], figure
    assert plant(f"A line.\nIt takes {figure}\n", name="README.md"), figure
    assert not plant(f"It takes {figure}.\n", f"docs/a.md: {figure}: results/a.json, arm c\n"), figure
    assert not plant(f"`{figure}`\n\n```\n{figure}\n```\n\n    {figure}\n"), figure
    assert not plant(f"<!-- results:a -->\n{figure}\n<!-- /results -->\n"), figure
    for name in ("docs/results/a.md", "docs/lab-notes/a.md", "docs/tuning-notes.md"):
        assert not plant(f"{figure}\n", name=name), name
for text in (f"{MARK} us", f"{MARK} times the rate", "2^20 rows", "12 rows", "sm_90", "4 x 4 tiles", "version 0.1", "90 %"):
    assert not plant(f"{text}\n"), text
assert plant("It takes 12 us.\n", "docs/b.md: 12 us: results/a.json\n")[1:] == [f"{SOURCES}:1: not in the page: docs/b.md: 12 us"]
assert plant("It takes 12 us.\n", "docs/a.md: 12 us: results/b.json\n")[1:] == [f"{SOURCES}:1: no such file: results/b.json"]
assert plant("", "12 us\n") == [f'{SOURCES}:1: not "page: figure: source": 12 us']
