#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the machine code (SASS) of a build's GPU programs with cuobjdump.

    sass.py --check CUOBJDUMP FOLDER...      the rules below, for every fused kernel; exit code 1 if one is broken
    sass.py --resources CUOBJDUMP FOLDER...  registers, shared and local memory of every kernel; 1 if one spills
    sass.py --self-test

FOLDER holds programs, or is one; those of the simulated device are left out. Without a CUOBJDUMP that runs (empty:
there is no nvcc either), --check is skipped with exit code 77. The rules:

flits     A receive loads whole flits: what is ld.relaxed.gpu.global.v2.u64 in PTX is one LDG.E.128.STRONG.GPU. The
          assembler narrows a load whose result is used in part. It may do that where only the laps are looked at,
          which are the upper halves of both words; payload must come with the lap that proves it. If the program
          holds PTX, none of its flit loads may be missing. Where one lap proves a flit, loaded by
          ld.volatile.global.b128, each load is one LDG.E.128.STRONG.SYS. Not for kernels with an exclusive or on
          global memory: there a bit-mask says what is ready, and a flit proves nothing.
division  None: no MUFU.RCP. It takes the time of many sections.
local     No local memory: no LDL, no STL. It is a spill, or an array that is indexed. A kernel that is there without a
          bound on its registers as well, for a launch to take instead, may spill.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

# (program, what the kernel's name holds): why it may divide.
MAY_DIVIDE = {("single_lock_fused", "payday"): "the user's kernel picks an account by a remainder"}
# The same: why it may spill.
MAY_SPILL = {("test_deferred_bench", "sample_policyILb1E"): "blocks that combine, of which three are to be resident: 40 registers a thread"}

FULL_FLIT = "LDG.E.128.STRONG.GPU"
NARROW = {"LDG.E.STRONG.GPU": 4, "LDG.E.64.STRONG.GPU": 8}  # opcode: bytes
# The same of flits that one lap proves; nothing else in a fused kernel is loaded from global memory by volatile accesses.
ONE_LAP_FLIT = "LDG.E.128.STRONG.SYS"
ONE_LAP_NARROW = ("LDG.E.STRONG.SYS", "LDG.E.64.STRONG.SYS")
# (offset in the flit, bytes) of the laps alone.
LAPS = {(4, 4), (12, 4)}
# The parts of one narrowed load stand this close together.
NEIGHBOURS = 16

INSTRUCTION = re.compile(r"^[ \t]+/\*[0-9a-f]{4,}\*/[ \t]+(?:@!?U?PT?\d* +)?([A-Z][\w.]*)([^;\n]*);", re.M)
ADDRESS = re.compile(r"\[(R\d+)[.\w]*((?:\+UR\d+)?)(?:\+(-?0x[0-9a-f]+))?\]")
PTX_FLITS = {FULL_FLIT: re.compile(r"\bld\.relaxed\.gpu\.global\.v2\.[bu]64\b"),
             ONE_LAP_FLIT: re.compile(r"\bld\.[\w.]+\.b128\b")}

Kernel = collections.namedtuple("Kernel", "name architecture instructions")  # instructions: (opcode, operands)
Finding = collections.namedtuple("Finding", "rule count instruction why")


def fail(text):
    sys.exit(f"sass.py: {text}")


# ---- reading what cuobjdump prints


def parse(text):
    """The kernels of a program, and (name, architecture) -> {what it must become: flit loads in its PTX}."""
    kernels, ptx = [], {}
    for part in re.split(r"^Fatbin (?=elf code:|ptx code:)", text, flags=re.M)[1:]:
        architecture = re.search(r"^arch = (\w+)", part, re.M)[1]
        if part.startswith("elf"):
            for function in part.split("\t\tFunction : ")[1:]:
                name, code = function.split("\n", 1)
                kernels.append(Kernel(name.strip(), architecture, INSTRUCTION.findall(code)))
        else:
            for entry in re.split(r"^\.(?:visible |weak )?\.?entry ", part, flags=re.M)[1:]:
                loads = {opcode: len(flit.findall(entry)) for opcode, flit in PTX_FLITS.items()}
                ptx[entry.split("(", 1)[0].strip(), architecture] = loads
    return kernels, ptx


def demangled(names):
    """By c++filt, which comes with the compiler; where it is missing they stay as they are."""
    try:
        done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
        return dict(zip(names, done.stdout.splitlines()))
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}


def shortened(name, most=110):
    """Without return type, parameters, namespaces and suffixes of numbers."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            name = name[:at]
            break
    name = re.sub(r"\b(?:\w+::)+", "", name)
    name = re.sub(r"\b(\d+)u?l*\b", r"\1", name)
    name = re.sub(r"> +(?=>)", ">", name)
    return name if len(name) <= most else name[:most - 3] + "..."


def programs_in(paths):
    found = []
    for path in map(pathlib.Path, paths):
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.is_file() and os.access(file, os.X_OK) and ".so" not in file.suffixes and not file.name.endswith("_sim"):
                found.append(file)
    return found


def dump(cuobjdump, options, program):
    """What cuobjdump prints; nothing for a program without device code."""
    done = subprocess.run([cuobjdump, *options, program], capture_output=True, text=True)
    if done.returncode != 0 and "does not contain device code" not in done.stdout + done.stderr:
        fail(f"{program}: cuobjdump failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout if done.returncode == 0 else ""


def of_all(action, programs):
    """Pairs of program and action(program), in order, several at a time."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(programs, pool.map(action, programs)))


# ---- the rules


def narrowed_flits(instructions):
    """The parts {(offset, bytes)} of each narrowed flit load: words of one flit, from one base, close together.

    Loads of other things are none: a narrowed flit load is known by reading both words, whose laps are always
    looked at, and no two indices or counters share 16 bytes.
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


def findings_of_all(counts, findings, may_divide):
    """What no fused kernel may have, after `findings`."""
    divisions = counts["MUFU.RCP"] + counts["MUFU.RCP64H"]
    if divisions and not may_divide:
        findings.append(Finding("division", divisions, "MUFU.RCP", "a division"))
    if may_divide and not divisions:
        findings.append(Finding("division", 0, "MUFU.RCP", "listed as dividing, but does not"))
    for opcode in sorted(counts):
        if opcode.split(".")[0] in ("LDL", "STL"):
            findings.append(Finding("local", counts[opcode], opcode, "local memory"))
    return findings


def findings_in(kernel, ptx_flits, may_divide=False):
    """`ptx_flits`: flit loads in the kernel's PTX by what they must become, None if there is no PTX."""
    counts = collections.Counter(opcode for opcode, _ in kernel.instructions)
    findings = []
    # A bit-mask, which senders turn by an exclusive or, says what is ready: its flits need not prove themselves.
    if any(re.match(r"(ATOMG|REDG?)\.E\.XOR", opcode) for opcode in counts):
        return findings_of_all(counts, findings, may_divide)
    narrowed = narrowed_flits(kernel.instructions)
    polls = narrowed.count(LAPS)
    torn = len(narrowed) - polls
    if torn:
        findings.append(Finding("flits", torn, "LDG narrower than 128", "flits whose payload is not loaded whole"))
    if narrow := sum(counts[opcode] for opcode in ONE_LAP_NARROW):
        findings.append(Finding("flits", narrow, "LDG narrower than 128", "parts of flits that one lap proves"))
    if not counts[FULL_FLIT] + counts[ONE_LAP_FLIT]:
        findings.append(Finding("flits", 0, FULL_FLIT, "no flit is loaded whole"))
        return findings_of_all(counts, findings, may_divide)
    ptx_flits = ptx_flits or {}
    if counts[FULL_FLIT] + polls + torn < (wanted := ptx_flits.get(FULL_FLIT, 0)):
        findings.append(Finding("flits", counts[FULL_FLIT], FULL_FLIT, f"{wanted} flit loads in PTX, {polls} polls of laps"))
    if counts[ONE_LAP_FLIT] < (wanted := ptx_flits.get(ONE_LAP_FLIT, 0)):
        findings.append(Finding("flits", counts[ONE_LAP_FLIT], ONE_LAP_FLIT, f"{wanted} loads in PTX of flits that one lap proves"))
    return findings_of_all(counts, findings, may_divide)


def unbounded(name):
    """The name of the same fused kernel without a bound on its registers."""
    return re.sub(r"(fused_kernelILj\d+ELj)\d+E", r"\g<1>1E", name)


def has_choice(name, names):
    """Whether a launch may take another one of these kernels instead."""
    return unbounded(name) != name and unbounded(name) in names


def check(cuobjdump, paths):
    if not runs(cuobjdump):
        print("skipped: " + ("no cuobjdump beside nvcc or on the PATH" if cuobjdump else "only the simulated device is built"))
        sys.exit(77)

    def examine(program):
        kernels, ptx = parse(dump(cuobjdump, ["-sass", "-ptx"], program))
        fused = [k for k in kernels if "fused_kernel" in k.name]
        names = demangled([k.name for k in fused])
        results = []
        for kernel in fused:
            may_divide = any(program.name == p and part in kernel.name for p, part in MAY_DIVIDE)
            flits = ptx.get((kernel.name, kernel.architecture))
            for f in findings_in(kernel, flits, may_divide):
                if f.rule == "local" and has_choice(kernel.name, names):
                    continue
                results.append(f"{program.name}: {shortened(names[kernel.name])}: {f.count} x {f.instruction}: {f.why}")
        loads = sum(opcode in PTX_FLITS for kernel in fused for opcode, _ in kernel.instructions)
        polls = sum(narrowed_flits(kernel.instructions).count(LAPS) for kernel in fused)
        return len(fused), loads, polls, results

    reports = [report for _, report in of_all(examine, programs_in(paths)) if report[0]]
    if not reports:
        fail(f"no program with a fused kernel in {', '.join(map(str, paths))}")
    broken = [line for report in reports for line in report[3]]
    for line in broken:
        print(line)
    kernels, loads, polls = (sum(column) for column in list(zip(*reports))[:3])
    print(f"{len(reports)} programs, {kernels} fused kernels: {loads} whole flit loads, {polls} polls of laps, "
          f"{len(broken)} findings")
    sys.exit(1 if broken else 0)


# ---- resources


def resources_in(text):
    """(kernel, {REG, SHARED, STACK, LOCAL, ...}) in order."""
    found = re.findall(r"^ *Function (\S+):\n((?: +[A-Z]+(?:\[\d+\])?:\d+)+)", text, re.M)
    return [(name, {key: int(value) for key, value in re.findall(r"([A-Z]+):(\d+)", usage)}) for name, usage in found]


def is_of_a_library(name):
    """CUB's and Thrust's own kernels: shown, but what they spill cannot be changed here."""
    return re.match(r"_ZN(3cub|6thrust)", name) is not None


def spills(name, usage):
    return usage["STACK"] + usage["LOCAL"] != 0 and not is_of_a_library(name)


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
            if spills(name, usage) and not has_choice(name, {other for other, _ in rows}) and not may_spill(program.name, name):
                spilling.append(f"{program.name}: {short}: {usage['STACK'] + usage['LOCAL']} bytes")
    print(f"\nSpills or local arrays:\n  " + "\n  ".join(spilling) if spilling else "\nNo kernel spills.")
    sys.exit(1 if spilling else 0)


def runs(cuobjdump):
    try:
        return subprocess.run([cuobjdump, "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


# ---- self-test


def self_test():
    # As cuobjdump prints it, without the encodings at the ends of the lines.
    header = "\nFatbin elf code:\n================\narch = sm_90\ncode version = [1,8]\n\n\tcode for sm_90\n"

    def code(*lines, name="_ZN6warden12fused_kernelI6paydayEEvT_"):
        body = "".join(f"        /*{16 * n:04x}*/        {line:>14} ;      /* 0x0 */\n{' ' * 50}/* 0x0 */\n" for n, line in enumerate(lines))
        return f"{header}\t\tFunction : {name}\n\t.headerflags\t@\"EF_CUDA_SM90\"\n{body}"

    whole = "LDG.E.128.STRONG.GPU R4, desc[UR10][R4.64]"
    low, high = "LDG.E.STRONG.GPU R6, desc[UR10][R32.64+0x10]", "@!P1 LDG.E.STRONG.GPU R7, desc[UR10][R32.64+0x14]"
    second = "LDG.E.STRONG.GPU R8, desc[UR10][R32.64+0x1c]"

    def found(*lines, ptx_flits=None, one_lap_flits=0, may_divide=False):
        (kernel,), _ = parse(code(*lines))
        ptx = {FULL_FLIT: ptx_flits or 0, ONE_LAP_FLIT: one_lap_flits} if ptx_flits or one_lap_flits else None
        return [f[:3] for f in findings_in(kernel, ptx, may_divide)]

    assert found(whole) == []
    assert found("@P0 " + whole, "CCTL.IVALL", "LDG.E.64.STRONG.GPU R2, desc[UR10][R2.64+0x80]", ptx_flits=1) == []
    # flits
    none = ("flits", 0, FULL_FLIT)
    torn = ("flits", 1, "LDG narrower than 128")
    assert found("EXIT") == [none]
    assert found("LDG.E.128 R4, desc[UR10][R4.64]") == [none], "a load that is not strong is none of a flit"
    assert found(whole, ptx_flits=2) == [("flits", 1, FULL_FLIT)], "a flit load is missing"
    assert found(whole, high, second, ptx_flits=2) == [], "a poll looks at the laps alone"
    assert found(high, second) == [none], "polls alone receive nothing"
    turned = "REDG.E.XOR.STRONG.GPU desc[UR10][R4.64], R6"
    assert found(turned, low, high, second) == [], "by a bit-mask a flit need not be whole"
    assert [f[0] for f in found(turned, "MUFU.RCP R4, R5")] == ["division"], "but the other rules hold"
    assert found(whole, low, high, second) == [torn], "payload apart from its lap"
    assert found(whole, low, second) == [torn]
    assert found(whole, low, *["NOP"] * 20, second) == [], "parts of one load stand close together"
    assert found(whole, low, second.replace("R32", "R30")) == [], "another base is another load"
    assert found(whole, low, second.replace("0x1c", "0x2c")) == [], "another flit is another load"
    assert found(whole, "LDG.E.64.STRONG.GPU R6, [R32.64]", "LDG.E.64.STRONG.GPU R8, [R32.64+0x8]") == [torn], "two halves"
    assert found(whole, "LDG.E.STRONG.GPU R6, [R32.64]", "LDG.E.STRONG.GPU R8, [R32.64+0x4]") == [], "two counters"
    assert found(whole, *[high, second] * 2, ptx_flits=3) == [], "two polls"
    # flits that one lap proves
    one_lap = whole.replace("GPU", "SYS")
    assert found(one_lap) == [] and found(one_lap, one_lap, one_lap_flits=2) == []
    assert found(one_lap, one_lap_flits=2) == [("flits", 1, ONE_LAP_FLIT)], "one is missing"
    assert found(whole, one_lap_flits=1) == [("flits", 0, ONE_LAP_FLIT)], "another scope is another load"
    assert found(one_lap, ptx_flits=1) == [("flits", 0, FULL_FLIT)]
    assert found(one_lap, high.replace("GPU", "SYS")) == [torn], "not even a poll may be narrow"
    # division
    assert found(whole, "MUFU.RCP R7, R7") == [("division", 1, "MUFU.RCP")]
    assert found(whole, "@P0 MUFU.RCP64H R7, R7", "MUFU.RCP R7, R7") == [("division", 2, "MUFU.RCP")]
    assert found(whole, "MUFU.RSQ R7, R7", "I2F.RP R7, R7") == []
    assert found(whole, "MUFU.RCP R7, R7", may_divide=True) == []
    assert found(whole, may_divide=True) == [("division", 0, "MUFU.RCP")], "a reason that no longer holds"
    # local memory
    assert found(whole, "STL.64 [R1+0x8], R6", "@!PT LDL R8, [R2]", "STL.64 [R1], R6") == \
        [("local", 1, "LDL"), ("local", 2, "STL.64")]
    assert found(whole, "LDS R8, [R2]", "STS R8, [R2]", "LDGSTS.E [R1], [R2.64]") == []
    # PTX belongs to the kernel of its name and architecture.
    ptx = "\nFatbin ptx code:\n================\narch = sm_90\n\n.version 9.0\n" + "".join(
        f".visible .entry {name}(\n.param .u64 a\n)\n{{\n" + "ld.relaxed.gpu.global.v2.u64 {%rd1, %rd2}, [%rd3];\n" * n
        + "ld.volatile.global.b128 flit, [%rd3];\nld.relaxed.gpu.global.u64 %rd1, [%rd3];\n}\n"
        for name, n in (("one", 1), ("two", 2)))
    kernels, flits = parse(code(whole, name="one") + code(whole, whole, name="two") + ptx)
    assert [(k.name, k.architecture, len(k.instructions)) for k in kernels] == [("one", "sm_90", 1), ("two", "sm_90", 2)]
    assert flits == {(name, "sm_90"): {FULL_FLIT: n, ONE_LAP_FLIT: 1} for name, n in (("one", 1), ("two", 2))}, flits
    # names
    assert shortened("void warden::v0_1::detail::fused_kernel<64u, 2u, (anonymous namespace)::payday, warden::guarded_ref<x::"
                     "policy, account> >(warden::v0_1::detail::fused_arguments<(anonymous namespace)::payday>)") == \
        "fused_kernel<64, 2, payday, guarded_ref<policy, account>>"
    assert len(shortened("f" * 500)) == 110
    # resources
    assert may_spill("test_deferred_bench", "_Z4sendI13sample_policyILb1EEE") and not may_spill("test_deferred", "_Z4sendI13sample_policyILb1EEE")
    assert not may_spill("test_deferred_bench", "_Z4sendI13sample_policyILb0EEE")
    usage = "Resource usage:\n Common:\n  GLOBAL:28\n Function {}:\n  REG:48 STACK:{} SHARED:1024 LOCAL:{} CONSTANT[0]:776 TEXTURE:0\n"
    for stack, local, name, expected in ((0, 0, "_ZN6warden1kEv", False), (24, 0, "_ZN6warden1kEv", True),
                                         (0, 8, "_ZN6warden1kEv", True), (16, 0, "_ZN3cub1kEv", False)):
        ((function, row),) = resources_in(usage.format(name, stack, local))
        assert (function, row["REG"], row["SHARED"], row["STACK"]) == (name, 48, 1024, stack)
        assert spills(function, row) == expected, (name, stack, local)
    # choices
    bounded, free = "_ZN6warden12fused_kernelILj256ELj3E6paydayEEvT_", "_ZN6warden12fused_kernelILj256ELj1E6paydayEEvT_"
    assert has_choice(bounded, {bounded, free}) and not has_choice(bounded, {bounded}) and not has_choice(free, {bounded, free})
    print("self-test passed")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--check", cuobjdump, *paths] if paths: check(cuobjdump, paths)
        case ["--resources", cuobjdump, *paths] if paths: resources(cuobjdump, paths)
        case ["--self-test"]: self_test()
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)
