#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants every word that scripts/check_words.py looks for, and demands that it is found."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
from check_words import EXCEPTIONS, PAGE, check, replaced  # noqa: E402


def plant(name, text, exceptions=""):
    """The check's findings in one file, with the tables of the real page."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, content in {PAGE: (pathlib.Path(__file__).parents[2] / PAGE).read_text(), EXCEPTIONS: exceptions, name: text}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        uses, errors = check(root)
        return [use for use in uses if use[0] == name] + errors


def self_test():
    words = list(replaced((pathlib.Path(__file__).parents[2] / PAGE).read_text()))
    assert len(words) > 50, "the tables of words were not found"
    for word in words:
        plain = word.rstrip("*")
        for name, text in {"docs/a.md": f"Some {plain} here.\n", "include/a.cuh": f"// Some {plain.capitalize()}s\n"}.items():
            assert any(use[2] == word for use in plant(name, text)), f"not found: {word} in {name}"
        if " " in word:
            assert plant("include/a.cuh", f"/// Some {plain.replace(' ', chr(10) + '/// ', 1)}.\n"), f"not found: {word} on two lines"
        assert not any(use[2] == word for use in plant("a.md", f"un{plain}\n")), f"found within another word: {word}"
    for text in ("/// What it is.\n", "int a;  ///< whether it is\n", "// Of all.\n", "/// @file\n/// What\n", "/// A.\n///\n/// What\n",
                 "int a;  ///< all\n/// What it is.\n", "  # What it does.\n", '"""Whether so."""\n'):
        assert plant("apps/a.cuh", text), f"not found: {text}"
    for text in ("/// All\n/// of them.\n", "/// In a guarded\n/// array.\n", "// a guarded_ref\n", "/// Offset.\n", "int of;\n", "/// Returns what it is.\n"):
        assert not plant("apps/a.cuh", text), f"found: {text}"
    assert not plant("docs/lab-notes/a.md", f"{words[0]}\n")
    assert not plant("docs/a.md", f"{words[0]}\n", f"docs/*: {words[0]}: a citation\n")
    assert plant("docs/a.md", f"{words[0]}\n", f"apps/*: {words[0]}: a citation\n")
    assert plant("docs/a.md", "", f"docs/*: {words[0]}: not needed\n")
    assert plant("docs/a.md", f"{words[0]}\n", f"docs/*: {words[0]}: a citation\n" * 21)


if __name__ == "__main__":
    self_test()
