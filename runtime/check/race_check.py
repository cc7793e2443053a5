#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a CUDA program for the simulated device and runs it under many schedules.

    race_check.py [--seeds N] [--timeout SECONDS] [--define NAME[=VALUE]]... --libraries FOLDER [--directory FOLDER]
                  FILE.cu [-- ARGUMENT...]
    race_check.py --usage ...      checks the arguments and does nothing else

FOLDER is a build folder with the target warden_check. Relative paths, and the program's own, start at --directory.

Exit codes: 0 no finding, 1 findings, 2 usage, 3 a missing tool, or source that cannot be translated.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cuda_rewriter
import schedule_runs

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGE = ("-std=gnu++20", "-DWARDEN_SIMULATED=1")
# A loop that polls a plain word looks at it each time.
OPTIMIZED = ("-O1", "-fno-tree-loop-im")
# In the folder of the libraries: the arguments of the compiler and of the linker.
COMPILED, LINKED = "warden_race_flags.txt", "warden_check_linked.txt"
HEADERS = ("runtime/check/include", "include")
SHOWN_ERRORS = 20  # lines


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def number_to(most):
    def parsed(text):
        if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: not a number from 1 to {most}")
        return int(text)
    return parsed


def parse(arguments):
    passed = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, passed = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(prog="warden check", add_help=False, allow_abbrev=False)
    parser.error = lambda text: (_ for _ in ()).throw(Failure(2, text))
    parser.add_argument("file", metavar="FILE.cu")
    parser.add_argument("--seeds", type=number_to(1_000_000), default=20)
    parser.add_argument("--timeout", type=number_to(86_400), default=60)
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--libraries", type=pathlib.Path)
    parser.add_argument("--usage", action="store_true")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path())
    options = parser.parse_args(arguments)
    options.passed = passed
    source = options.directory / options.file
    if not source.is_file():
        raise Failure(2, f"{options.file}: {'not a file' if source.exists() else 'no such file'}")
    return options


def compiler():
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        raise Failure(3, f"no compiler {os.environ.get('CXX', 'g++')}; install g++ 12 or newer, or name one in CXX")
    return found


def run_compiler(command, options, what):
    done = subprocess.run(command, cwd=options.directory, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        if (more := len(lines) - SHOWN_ERRORS) > 0:
            lines.sort(key=lambda line: "error:" not in line)
            lines[SHOWN_ERRORS:] = [f"... and {more} lines"]
        shown = "\n".join(lines)
        raise Failure(3, f"{options.file} cannot be {what} for the simulated device:\n{shown}")
    return done.stdout


def build(options, folder):
    """The program's path."""
    cxx = compiler()
    headers = [f"-isystem{ROOT / name}" for name in HEADERS]
    defines = [f"-D{define}" for define in options.define]
    translated, program = folder / "translated.ii", folder / "program"
    first = ["-include", "warden_check/first.hpp"]
    source = run_compiler([cxx, "-E", "-x", "c++", *LANGUAGE, *defines, *headers, *first, options.file], options,
                          "preprocessed")
    try:
        translated.write_text(cuda_rewriter.rewrite(source, options.file))
    except cuda_rewriter.Refusal as refusal:
        raise Failure(3, str(refusal)) from None
    compiled, linked = ((options.libraries / name).read_text().split() for name in (COMPILED, LINKED))
    run_compiler([cxx, *LANGUAGE, *compiled, *OPTIMIZED, "-w", "-fmax-errors=5", "-c", str(translated),
                  "-o", f"{program}.o"], options, "compiled")
    run_compiler([cxx, f"{program}.o", *linked, "-o", str(program)], options, "linked")
    return program


def main(arguments):
    try:
        options = parse(arguments)
        if options.usage:
            return 0
        if options.libraries is None:
            raise Failure(2, "--libraries FOLDER is missing")
        if not (options.libraries / LINKED).is_file():
            raise Failure(2, f"{options.libraries}: no {LINKED} there; build the target warden_check there")
        with tempfile.TemporaryDirectory(prefix="warden-check-") as name:
            folder = pathlib.Path(name)
            program = build(options, folder)
            runs = schedule_runs.run_all(program, options.passed, options.seeds, options.timeout, options.directory,
                                         folder)
    except Failure as failure:
        print(f"warden: {failure}", file=sys.stderr)
        return failure.code
    lines = schedule_runs.report(runs)
    print("\n".join(lines) if lines else f"{options.file}: no finding under {options.seeds} schedules")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
