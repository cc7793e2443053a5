#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the machine code (SASS) of a build's GPU programs with cuobjdump.

    sass.py --check CUOBJDUMP FOLDER...      the rules below, for every fused kernel; exit code 1 if one is broken
    sass.py --resources CUOBJDUMP FOLDER...  registers, shared and local memory of every kernel; 1 if one spills

FOLDER holds programs, or is one. Programs of the simulated device are left out. --check is skipped (exit code 77) if
CUOBJDUMP is empty or does not run. The rules:

flits     A receive loads whole flits: ld.relaxed.gpu.global.v2.u64 in PTX becomes one LDG.E.128.STRONG.GPU. The
          assembler narrows a load if part of its result is unused. That is allowed for polls, which read the sequence
          tags alone, the upper halves of both words. Payload must come in one load with its tag. If the program holds
          PTX, no flit load of it may be missing. With a single tag per flit, loaded by ld.volatile.global.b128, each
          load is one LDG.E.128.STRONG.SYS. Kernels with an exclusive or on global memory are exempt: their bit-mask
          says which flits are ready.
division  No MUFU.RCP: a division takes as long as many sections.
local     No LDL and no STL: local memory means a spill or an indexed array. A kernel may spill if the program also has
          it without a bound on its registers, which a launch can take instead.
"""
import collections
import os
import pathlib
import re
import sys

from machine_code import demangled, dump, fail, kernels_in, of_all, runs, shortened

# (program, part of the kernel's name) -> the reason why it may divide.
MAY_DIVIDE = {("single_lock_fused", "payday"): "the user's kernel picks an account by a remainder"}
# The same for spills. The storage of such a block takes 75,776 bytes.
MAY_SPILL = {("test_deferred_bench", "Lm75776EEEvNS_14send_arguments"):
             "blocks that combine, of which three are to be resident: 40 registers a thread",
             ("workloads", "8row_step"):
             "runs that load rows ahead, of which two blocks are to be resident: the reader's state between windows"}

FULL_FLIT = "LDG.E.128.STRONG.GPU"
NARROW = {"LDG.E.STRONG.GPU": 4, "LDG.E.64.STRONG.GPU": 8}  # opcode: bytes
# For flits with a single tag, the only volatile loads of global memory in a fused kernel.
SINGLE_TAG_FLIT = "LDG.E.128.STRONG.SYS"
SINGLE_TAG_NARROW = ("LDG.E.STRONG.SYS", "LDG.E.64.STRONG.SYS")
# (offset in the flit, bytes) of the sequence tags.
TAGS = {(4, 4), (12, 4)}
# Most instructions between the parts of one narrowed load.
NEIGHBOURS = 16

OPCODE = re.compile(r"(?:@!?U?PT?\d* +)?([A-Z][\w.]*)(.*)")
ADDRESS = re.compile(r"\[(R\d+)[.\w]*((?:\+UR\d+)?)(?:\+(-?0x[0-9a-f]+))?\]")
PTX_FLITS = {FULL_FLIT: re.compile(r"\bld\.relaxed\.gpu\.global\.v2\.[bu]64\b"),
             SINGLE_TAG_FLIT: re.compile(r"\bld\.[\w.]+\.b128\b")}

Finding = collections.namedtuple("Finding", "rule count instruction why")


def split(instructions):
    """(opcode, operands) of each instruction, without predicates."""
    return [match.groups() for text in instructions if (match := OPCODE.fullmatch(text))]


def flit_loads(text):
    """(name, architecture) of a kernel in PTX -> {opcode: flit loads that must become one}."""
    found = {}
    for part in re.split(r"^Fatbin (?=elf code:|ptx code:)", text, flags=re.M)[1:]:
        architecture = re.search(r"^arch = (\w+)", part, re.M)[1]
        for entry in re.split(r"^\.(?:visible |weak )?\.?entry ", part, flags=re.M)[1:]:
            name = entry.split("(", 1)[0].strip()
            found[name, architecture] = {opcode: len(flit.findall(entry)) for opcode, flit in PTX_FLITS.items()}
    return found


def programs_in(paths):
    found = []
    for path in map(pathlib.Path, paths):
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            is_program = file.is_file() and os.access(file, os.X_OK) and ".so" not in file.suffixes
            if is_program and not file.name.endswith("_sim"):
                found.append(file)
    return found


# ---- the rules


def narrowed_flits(instructions):
    """The parts {(offset, bytes)} of each narrowed flit load: words of one flit, close together.

    A narrowed flit load reads both words, because their tags are always read. No two counters share 16 bytes.
    """
    open_flits, flits = {}, []
    for number, (opcode, operands) in enumerate(instructions):
        if opcode not in NARROW:
            continue
        address = ADDRESS.search(operands)
        if not address:
            continue
        offset = int(address[3] or "0", 16)
        key = address[1], address[2], offset // 16
        first, parts = open_flits.get(key, (number, None))
        part = offset % 16, NARROW[opcode]
        if parts is None or number - first > NEIGHBOURS or part in parts:
            parts = set()
            open_flits[key] = number, parts
            flits.append(parts)
        parts.add(part)
    return [parts for parts in flits if min(parts)[0] < 8 <= max(parts)[0]]


def flit_findings(instructions, counts, ptx_flits):
    narrowed = narrowed_flits(instructions)
    polls = narrowed.count(TAGS)
    if torn := len(narrowed) - polls:
        yield Finding("flits", torn, "LDG narrower than 128", "flits whose payload is not loaded whole")
    if narrow := sum(counts[opcode] for opcode in SINGLE_TAG_NARROW):
        yield Finding("flits", narrow, "LDG narrower than 128", "parts of flits with a single tag")
    if not counts[FULL_FLIT] + counts[SINGLE_TAG_FLIT]:
        yield Finding("flits", 0, FULL_FLIT, "no flit is loaded whole")
        return
    if counts[FULL_FLIT] + polls + torn < (wanted := ptx_flits.get(FULL_FLIT, 0)):
        why = f"{wanted} flit loads in PTX, {polls} polls of tags"
        yield Finding("flits", counts[FULL_FLIT], FULL_FLIT, why)
    if counts[SINGLE_TAG_FLIT] < (wanted := ptx_flits.get(SINGLE_TAG_FLIT, 0)):
        why = f"{wanted} loads in PTX of flits with a single tag"
        yield Finding("flits", counts[SINGLE_TAG_FLIT], SINGLE_TAG_FLIT, why)


def findings_in(kernel, ptx_flits, may_divide=False):
    """`ptx_flits`: opcode -> flit loads in PTX that must become one; None without PTX."""
    instructions, findings = split(kernel.instructions), []
    counts = collections.Counter(opcode for opcode, _ in instructions)
    # Senders flip the bits of a ready mask with an exclusive or, so flits need no tag.
    if not any(re.match(r"(ATOMG|REDG?)\.E\.XOR", opcode) for opcode in counts):
        findings += flit_findings(instructions, counts, ptx_flits or {})
    divisions = counts["MUFU.RCP"] + counts["MUFU.RCP64H"]
    if bool(divisions) != may_divide:
        why = "listed as dividing, but does not" if may_divide else "a division"
        findings.append(Finding("division", divisions, "MUFU.RCP", why))
    return findings + [Finding("local", counts[opcode], opcode, "local memory") for opcode in sorted(counts)
                       if opcode.split(".")[0] in ("LDL", "STL")]


def has_choice(name, names):
    """True if these kernels have the same fused kernel without a bound on its registers."""
    unbounded = re.sub(r"(fused_kernelILj\d+ELj)\d+E", r"\g<1>1E", name)
    return unbounded != name and unbounded in names


def check(cuobjdump, paths):
    if not runs(cuobjdump):
        why = "no cuobjdump next to nvcc or on the PATH" if cuobjdump else "only the simulated device is built"
        print(f"skipped: {why}")
        sys.exit(77)

    def examine(program):
        text = dump(cuobjdump, ["-sass", "-ptx"], program)
        fused, ptx = [kernel for kernel in kernels_in(text) if "fused_kernel" in kernel.name], flit_loads(text)
        names = demangled([k.name for k in fused])
        results = []
        for kernel in fused:
            may_divide = any(program.name == p and part in kernel.name for p, part in MAY_DIVIDE)
            flits = ptx.get((kernel.name, kernel.architecture))
            for f in findings_in(kernel, flits, may_divide):
                if f.rule == "local" and has_choice(kernel.name, names):
                    continue
                results.append(f"{program.name}: {shortened(names[kernel.name])}: {f.count} x {f.instruction}: {f.why}")
        loads = sum(opcode in PTX_FLITS for kernel in fused for opcode, _ in split(kernel.instructions))
        polls = sum(narrowed_flits(split(kernel.instructions)).count(TAGS) for kernel in fused)
        return len(fused), loads, polls, results

    reports = [report for _, report in of_all(examine, programs_in(paths)) if report[0]]
    if not reports:
        fail(f"no program with a fused kernel in {', '.join(map(str, paths))}")
    broken = [line for report in reports for line in report[3]]
    for line in broken:
        print(line)
    kernels, loads, polls = (sum(column) for column in list(zip(*reports))[:3])
    print(f"{len(reports)} programs, {kernels} fused kernels: {loads} whole flit loads, {polls} polls of tags, "
          f"{len(broken)} findings")
    sys.exit(1 if broken else 0)


# ---- resources


def resources_in(text):
    """(kernel, {REG, SHARED, STACK, LOCAL, ...}) in order."""
    found = re.findall(r"^ *Function (\S+):\n((?: +[A-Z]+(?:\[\d+\])?:\d+)+)", text, re.M)
    return [(name, {key: int(value) for key, value in re.findall(r"([A-Z]+):(\d+)", usage)}) for name, usage in found]


def spills(name, usage):
    """True for spills that can be changed here, unlike those of CUB and Thrust."""
    return usage["STACK"] + usage["LOCAL"] != 0 and not re.match(r"_ZN(3cub|6thrust)", name)


def may_spill(program, name):
    return any(program == of and part in name for of, part in MAY_SPILL)


def resources(cuobjdump, paths):
    if not runs(cuobjdump):
        fail(f"{cuobjdump}: this is no cuobjdump")
    tables = of_all(lambda program: resources_in(dump(cuobjdump, ["-res-usage"], program)), programs_in(paths))
    tables = [(program, rows) for program, rows in tables if rows]
    if not tables:
        fail(f"no program with a GPU kernel in {', '.join(map(str, paths))}")
    names = demangled(sorted({name for _, rows in tables for name, _ in rows}))
    spilling = []
    print("registers a thread; bytes of static shared memory a block, of stack and of local memory a thread")
    for program, rows in tables:
        print(f"\n{program.name}\n{'registers':>10} {'shared':>8} {'stack':>6} {'local':>6}  kernel")
        for name, usage in rows:
            short = shortened(names[name])
            print(f"{usage['REG']:>10} {usage['SHARED']:>8} {usage['STACK']:>6} {usage['LOCAL']:>6}  {short}")
            is_allowed = has_choice(name, {other for other, _ in rows}) or may_spill(program.name, name)
            if spills(name, usage) and not is_allowed:
                spilling.append(f"{program.name}: {short}: {usage['STACK'] + usage['LOCAL']} bytes")
    print(f"\nSpills or local arrays:\n  " + "\n  ".join(spilling) if spilling else "\nNo kernel spills.")
    sys.exit(1 if spilling else 0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--check", cuobjdump, *paths] if paths: check(cuobjdump, paths)
        case ["--resources", cuobjdump, *paths] if paths: resources(cuobjdump, paths)
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)
