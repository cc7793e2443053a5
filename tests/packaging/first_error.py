#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the first error for compiler flags that no header supports: one sentence of Warden, whichever header comes first.

    first_error.py INCLUDE COMPILER [NVCC]
"""
import pathlib
import re
import subprocess
import sys

GUARD = "simt/compiler.hpp"
OLDER = r"warden: this is C\+\+17 or older"
NVCC = "warden: WARDEN_SIMULATED is defined, and nvcc compiles for GPUs alone"
SIMULATED = "-DWARDEN_SIMULATED=1"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]warden/([^>"]+)', re.M)


def first_error(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    errors = [line for line in done.stderr.splitlines() if re.search(r"\berror:", line)]
    return errors[0] if done.returncode != 0 and errors else "no error"


def reaches_guard(root, header, seen):
    seen.add(header)
    includes = INCLUDE.findall((root / header).read_text())
    return GUARD in includes or any(reaches_guard(root, h, seen) for h in includes if h not in seen)


def main():
    include, compiler, *nvcc = sys.argv[1:]
    root = pathlib.Path(include) / "warden"
    # version.hpp has macros alone, and compiles everywhere.
    headers = sorted(h.name for h in root.glob("*.*h*") if h.name != "version.hpp")
    wrong = [f"{h}: does not include warden/{GUARD}" for h in headers if not reaches_guard(root, h, set())]
    host = [compiler, "-fsyntax-only", "-x", "c++"]
    cases = [(host, header, flags, sentence) for header in ("guarded.cuh", "buffer.hpp", "cuda_names.cuh")
             for flags, sentence in ((["-std=c++17", SIMULATED], OLDER), (["-std=c++20", SIMULATED, "-D__CUDACC__"], NVCC))]
    cases += [([program, "-E", "-x", "cu"], "guarded.cuh", flags, sentence) for program in nvcc
              for flags, sentence in ((["-std=c++17"], OLDER), (["-std=c++20", SIMULATED], NVCC))]
    for command, header, flags, sentence in cases:
        said = first_error([*command, *flags, f"-I{include}", root / header])
        if not re.search(sentence, said):
            wrong.append(f"{header} by {command[0]} {' '.join(flags)}: {said}")
    print("\n".join(wrong) or f"{len(headers)} headers refuse what they do not compile with")
    sys.exit(1 if wrong or not headers else 0)


main()
