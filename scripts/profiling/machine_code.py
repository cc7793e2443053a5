# SPDX-License-Identifier: Apache-2.0
"""Kernels and their machine code (SASS), as cuobjdump prints them."""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"^[ \t]+/\*[0-9a-f]{4,}\*/[ \t]+([^;\n]*);", re.M)

Kernel = collections.namedtuple("Kernel", "name architecture instructions")  # instructions: text, with predicates


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def kernels_in(text):
    """The kernels of what `cuobjdump -sass` printed."""
    kernels = []
    for part in re.split(r"^Fatbin (?=elf code:|ptx code:)", text, flags=re.M)[1:]:
        architecture = re.search(r"^arch = (\w+)", part, re.M)[1]
        for function in part.split("\t\tFunction : ")[1:]:
            name, code = function.split("\n", 1)
            instructions = [" ".join(found.split()) for found in INSTRUCTION.findall(code)]
            kernels.append(Kernel(name.strip(), architecture, instructions))
    return kernels


def dump(cuobjdump, options, program):
    """Output of cuobjdump; empty for a program without device code."""
    done = subprocess.run([cuobjdump, *options, program], capture_output=True, text=True)
    if done.returncode != 0 and "does not contain device code" not in done.stdout + done.stderr:
        fail(f"{program}: cuobjdump failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout if done.returncode == 0 else ""


def runs(cuobjdump):
    try:
        return subprocess.run([cuobjdump, "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def of_all(action, programs):
    """Pairs of program and action(program), in order, computed in parallel."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(programs, pool.map(action, programs)))


def demangled(names):
    """Name -> its C++ name, by c++filt. Without c++filt the names stay as they are."""
    try:
        done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
        return dict(zip(names, done.stdout.splitlines()))
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}


def shortened(name, most=110):
    """A C++ name without return type, parameters, namespaces, suffixes of numbers and values for tuning."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            name = name[:at]
            break
    name = re.sub(r"\b(?:\w+::)+", "", name)
    name = re.sub(r"\b(\d+)u?l*\b", r"\1", name)
    name = re.sub(r", tuning\{[^{}]*\}", "", name)
    name = re.sub(r"> +(?=>)", ">", name)
    return name if len(name) <= most else name[:most - 3] + "..."
