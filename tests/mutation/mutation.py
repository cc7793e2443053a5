#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks marked lines of the library and the apps below and demands that the simulated device finds each of them.

A mutant is the library, or the apps below, with one statement, which carries the mark `// mutation: NAME`, replaced. All mutants
are one copy of include/ and the apps below in which the environment variable WARDEN_MUTANT chooses; without it that copy is
untouched. mutants.py has their table.
A mutant must end with the diagnosis named for it, in the same test with the same seeds that the untouched one passes.

    mutation.py plant --source DIR --target DIR           writes that copy
    mutation.py list [--few | --tests]                    names of the mutants, of a few of them, or of the tests that they fail
    mutation.py check TEST --programs DIR                 the untouched library passes the test
    mutation.py find NAME --programs DIR                  the mutant does not
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from mutants import APPS, FEW, GOOGLE_TESTS, MUTANTS

HEADER = """// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <cstring>
namespace mutation {
inline char const* const chosen = [] {
  char const* const name = std::getenv("WARDEN_MUTANT");
  return name == nullptr ? "" : name;
}();
// The race detector would let another thread run while the variable is initialized, and that one waits for ever.
template <int Number>
[[gnu::no_sanitize("thread")]] inline bool is(char const* name) {
  static bool const is_it = std::strcmp(chosen, name) == 0;
  return is_it;
}
}  // namespace mutation
"""

DECLARATION = re.compile(r"^((?:static )?(?:[\w:<>]+ )+)(\w+) = (.*?);\s*(.*)$", re.S)
CONDITION = re.compile(r"^if \((.*)\) \{$", re.S)
INITIALIZER = re.compile(r"^(\w+_)\{(.*)\} \{\}$", re.S)


def switch(chosen, original, replacement):
    """One statement that is either of two."""
    for form in (CONDITION, INITIALIZER):
        old, new = form.match(original), form.match(replacement)
        if old and new:
            either = f"{chosen} ? ({new[new.lastindex]}) : ({old[old.lastindex]})"
            return f"if ({either}) {{" if form is CONDITION else f"{old[1]}{{{either}}} {{}}"
    old, new = DECLARATION.match(original), DECLARATION.match(replacement)
    if old and new and old[2] == new[2] and not original.startswith("return"):
        kind = new[1] if old[1].startswith("auto") else old[1]
        rest = f" if ({chosen}) {{ {new[4]} }}" if new[4] else ""
        return f"{kind}{old[2]} = {chosen} ? ({new[3]}) : ({old[3]});{rest}"
    return f"if ({chosen}) {{ {replacement} }} else {{ {original} }}"


def plant(source, target):
    """Copies include/ and the apps and makes every marked statement a choice."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source / "include", target)
    for app in APPS:
        shutil.copytree(source / app, target / app)
    (target / "mutation.hpp").write_text(HEADER)
    marks = {}
    for number, (name, (file, replacement, _, _)) in enumerate(MUTANTS.items()):
        marks.setdefault((file, name.split(".")[0]), []).append((number, name, replacement))
    for (file, mark), mutants in marks.items():
        path = target / file if file.startswith("apps/") else target / "warden" / file
        lines = path.read_text().splitlines()
        marked = [i for i, line in enumerate(lines) if line.rstrip().endswith(f"// mutation: {mark}")]
        if len(marked) != 1:
            sys.exit(f"mutation: the mark \"{mark}\" stands {len(marked)} times in {file}; it must stand once")
        end = first = marked[0]
        # A statement may have begun on lines before the mark; of an empty body it may have only the closing brace.
        if re.match(r"\s*}\s*//", lines[first]):
            first -= 1
        while first > 0 and not re.search(r"[;{}]\s*(//.*)?$|^\s*//|^\s*$|\)$|^\s*(public|private):$|\belse$", lines[first - 1]):
            first -= 1
        statement = " ".join(re.sub(r"\s*//.*$", "", line).strip() for line in lines[first:end + 1]).replace("{ }", "{}")
        for number, name, replacement in mutants:
            statement = switch(f'::mutation::is<{number}>("{name}")', statement, replacement)
        lines[first:end + 1] = [statement]
        pragma = next(i for i, line in enumerate(lines) if line.startswith("#pragma once"))
        if "#include <mutation.hpp>" not in lines:
            lines.insert(pragma + 1, "#include <mutation.hpp>")
        path.write_text("\n".join(lines) + "\n")
    left = [str(p) for p in target.rglob("*.cuh") if "// mutation:" in p.read_text()]
    if left:
        sys.exit(f"mutation: marks without a mutant in {', '.join(left)}")


def run(programs, test, seeds, mutant=""):
    program, scenario = test.split("/", 1) if "/" in test else ("scenarios", test)
    arguments = [f"--gtest_filter={scenario}"] if program in GOOGLE_TESTS else [scenario, str(seeds)]
    return subprocess.run([programs / program, *arguments], capture_output=True, text=True, timeout=500,
                          env={"WARDEN_SEEDS": "100", **os.environ, "WARDEN_MUTANT": mutant})


def check(test, programs, seeds):
    untouched = run(programs, test, seeds)
    if untouched.returncode != 0:
        sys.exit(f"mutation: the untouched library fails \"{test}\":\n{untouched.stdout[-2000:]}{untouched.stderr[-2000:]}")


def find(name, programs, seeds):
    _, _, test, diagnosis = MUTANTS[name]
    mutant = run(programs, test, seeds, name)
    lines = mutant.stdout.strip().splitlines()
    if mutant.returncode < 0:  # it read memory that had never been written
        lines.append(f"ended by signal {-mutant.returncode}")
    said = [line for line in lines if re.search(diagnosis, line)] or lines
    last = said[-1] if said else ""
    if mutant.returncode == 0:
        sys.exit(f"mutation: the mutant \"{name}\" passes \"{test}\" with {seeds} seeds")
    if not re.search(diagnosis, last):
        sys.exit(f"mutation: the mutant \"{name}\" ended (code {mutant.returncode}) with \"{last}\" instead of \"{diagnosis}\"")
    print(f"mutant {name}: {last}")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    planting = commands.add_parser("plant")
    planting.add_argument("--source", type=pathlib.Path, required=True)
    planting.add_argument("--target", type=pathlib.Path, required=True)
    listing = commands.add_parser("list")
    which = listing.add_mutually_exclusive_group()
    which.add_argument("--few", action="store_true")
    which.add_argument("--tests", action="store_true")
    for command, what in (("check", None), ("find", sorted(MUTANTS))):
        one = commands.add_parser(command)
        one.add_argument("name", choices=what)
        one.add_argument("--programs", type=pathlib.Path, required=True, help="folder of the programs with all mutants")
        one.add_argument("--seeds", type=int, default=100)
    a = parser.parse_args()
    if a.command == "plant":
        plant(a.source, a.target)
    elif a.command == "list":
        tests = sorted({test for _, _, test, _ in MUTANTS.values()})
        print("\n".join(tests if a.tests else FEW if a.few else MUTANTS))
    elif a.command == "check":
        check(a.name, a.programs, a.seeds)
    else:
        find(a.name, a.programs, a.seeds)


if __name__ == "__main__":
    main()
