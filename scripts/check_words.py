#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words that the tables of CONTRIBUTING.md replace, in prose, comments, texts and names.

    check_words.py [ROOT]   prints file:line: word: the line; exit code 1 if there is any

The last column of a table whose header ends with "replaces" holds the words, each in backticks. A word
is found in lower and upper case, with a final s, as a part of a name between underscores, and across
the lines of a comment; `word*` also finds longer words. A phrase, or a name with ::, is not found
within a name, or if the last word of its row's term follows. A comment may not begin with "What",
"Whether" or "Of". A line of docs/word_exceptions.txt is "path pattern: word: reason".
"""
import fnmatch
import pathlib
import re
import sys

PAGE = "CONTRIBUTING.md"
EXCEPTIONS = "docs/word_exceptions.txt"
EXCEPTION_LIMIT = 20
TREES = ("include", "runtime", "microbench", "apps", "templates", "tests", "scripts", "docs", ".ci")
SUFFIXES = {".cu", ".cuh", ".hpp", ".cpp", ".h", ".py", ".cmake", ".sh", ".md"}
NAMES = {"CMakeLists.txt", "usage.txt", "warden", "run"}
NOT_READ = ("docs/lab-notes/", "CHANGELOG.md")

TABLE = re.compile(r"^\|.*\| replaces \|\n(?:\|.*\n)+", re.M)
CODE = re.compile(r"`([^`]+)`")
# Between the words of a phrase; a comment may continue on the next line.
SPACE = r"(?:[ _]|[ \t]*\n[ \t]*(?://[/!]?<?|#)?[ \t]*)"
COMMENT = re.compile(r'(?:^|\s)(//[/!]?<?|#+|""")[ \t]*(.*)')
FIRST_WORD = re.compile(r"(what|whether|of)\b", re.I)
EXCEPTION = re.compile(r"([^:]+): (.+): (.+?)")  # path pattern, word, reason


def pattern(word, term):
    """The expression that finds a word, or phrase, of the row of a term."""
    text = SPACE.join(map(re.escape, word.removesuffix("*").split())) + ("[a-z]*" if word.endswith("*") else "s?")
    end = "(?![A-Za-z0-9])"
    if " " in word or "::" in word:
        end = rf"(?![A-Za-z0-9_]|{SPACE}{re.escape(term.split()[-1])})"
    return re.compile(f"(?<![A-Za-z0-9]){text}{end}", re.I)


def replaced(page):
    """The words of the tables, each with its expression."""
    rows = [row.split("|")[1:-1] for table in TABLE.findall(page) for row in table.splitlines()]
    return {word: pattern(word, row[0]) for row in rows for word in CODE.findall(row[-1])}


def files(root):
    """The files to read."""
    paths = [p for tree in TREES for p in (root / tree).rglob("*")] + list(root.glob("*"))
    for path in sorted(p for p in paths if p.is_file()):
        name = path.relative_to(root).as_posix()
        if (path.suffix in SUFFIXES or path.name in NAMES) and not name.startswith(NOT_READ):
            yield name, path.read_text()


def beginnings(text):
    """The offset and first word of each comment that begins with a word that it may not begin with."""
    offset, before = 0, (None, "")
    for line in text.splitlines(keepends=True):
        found = COMMENT.search(line)
        comment = (found[1], found[2]) if found else (None, "")
        alone = found and not line[:found.start(1)].strip()
        continued = alone and comment[0] == before[0] and before[1] and not before[1].startswith("@")
        if found and not continued and (first := FIRST_WORD.match(found[2])):
            yield offset + found.start(2), f"comment that begins with {first[1].capitalize()}"
        offset, before = offset + len(line), comment


def check(root):
    """All uses, as (file, line number, word, line), and the errors in the list of exceptions."""
    page = (root / PAGE).read_text()
    words, lines = replaced(page), (root / EXCEPTIONS).read_text().splitlines()
    exceptions = [EXCEPTION.fullmatch(line).groups() for line in lines]
    errors = []
    if len(lines) > EXCEPTION_LIMIT:
        errors.append(f"{EXCEPTIONS}:1: {len(lines)} lines; the limit is {EXCEPTION_LIMIT}")
    uses, used = [], set()
    for name, text in files(root):
        if name == PAGE:
            text = TABLE.sub(lambda table: "\n" * table[0].count("\n"), text)
        lowered = text.lower()
        likely = (word for word in words if word.split()[0].strip("*").lower() in lowered)
        found = [(m.start(), word) for word in likely for m in words[word].finditer(text)]
        if not name.endswith(".md"):
            found += beginnings(text)
        for offset, word in sorted(found):
            fitting = {e for e in exceptions if e[1] == word and fnmatch.fnmatch(name, e[0])}
            used |= fitting
            if not fitting:
                number = text.count("\n", 0, offset) + 1
                uses.append((name, number, word, text.splitlines()[number - 1].strip()))
    errors += [f"{EXCEPTIONS}:1: not needed: {': '.join(e)}" for e in exceptions if e not in used]
    return uses, errors


if __name__ == "__main__":
    uses, errors = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for line in (*(f"{name}:{number}: {word}: {line}" for name, number, word, line in uses), *errors):
        print(line)
    sys.exit(bool(uses or errors))
