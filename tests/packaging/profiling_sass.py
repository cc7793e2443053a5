#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/profiling/sass.py and compare_sass.py on small texts, as cuobjdump prints them."""
import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts/profiling"))
import compare_sass  # noqa: E402
import machine_code  # noqa: E402
import sass  # noqa: E402
from sass import FULL_FLIT, SINGLE_TAG_FLIT  # noqa: E402

HEADER = "\nFatbin elf code:\n================\narch = sm_90\ncode version = [1,8]\n\n\tcode for sm_90\n"
WHOLE = "LDG.E.128.STRONG.GPU R4, desc[UR10][R4.64]"
SINGLE = WHOLE.replace("GPU", "SYS")
LOW, HIGH = "LDG.E.STRONG.GPU R6, desc[UR10][R32.64+0x10]", "@!P1 LDG.E.STRONG.GPU R7, desc[UR10][R32.64+0x14]"
SECOND = "LDG.E.STRONG.GPU R8, desc[UR10][R32.64+0x1c]"


def code(*lines, name="_ZN6warden12fused_kernelI6paydayEEvT_"):
    body = "".join(f"        /*{16 * n:04x}*/        {line:>14} ;      /* 0x0 */\n{' ' * 50}/* 0x0 */\n" for n, line in enumerate(lines))
    return f"{HEADER}\t\tFunction : {name}\n\t.headerflags\t@\"EF_CUDA_SM90\"\n{body}"


class Rules(unittest.TestCase):
    def found(self, *lines, flits=0, single=0, may_divide=False):
        kernel, = machine_code.kernels_in(code(*lines))
        ptx = {FULL_FLIT: flits, SINGLE_TAG_FLIT: single} if flits or single else None
        return [finding[:3] for finding in sass.findings_in(kernel, ptx, may_divide)]

    def test_flits(self):
        none, torn = ("flits", 0, FULL_FLIT), ("flits", 1, "LDG narrower than 128")
        counters = "LDG.E.STRONG.GPU R6, [R32.64]", "LDG.E.STRONG.GPU R8, [R32.64+0x4]"
        halves = "LDG.E.64.STRONG.GPU R6, [R32.64]", "LDG.E.64.STRONG.GPU R8, [R32.64+0x8]"
        for wanted, lines, flits, why in (
                ([], [WHOLE], 0, ""), ([], ["@P0 " + WHOLE, "CCTL.IVALL", "LDG.E.64.STRONG.GPU R2, desc[UR10][R2.64+0x80]"], 1, ""),
                ([none], ["EXIT"], 0, ""), ([none], ["LDG.E.128 R4, desc[UR10][R4.64]"], 0, "a weak load loads no flit"),
                ([("flits", 1, FULL_FLIT)], [WHOLE], 2, "a flit load is missing"), ([], [WHOLE, HIGH, SECOND], 2, "a poll reads the tags alone"),
                ([none], [HIGH, SECOND], 0, "polls alone receive nothing"), ([torn], [WHOLE, LOW, HIGH, SECOND], 0, "payload apart from its tag"),
                ([torn], [WHOLE, LOW, SECOND], 0, ""), ([], [WHOLE, LOW, *["NOP"] * 20, SECOND], 0, "parts of one load are close together"),
                ([], [WHOLE, LOW, SECOND.replace("R32", "R30")], 0, "another base"), ([], [WHOLE, LOW, SECOND.replace("0x1c", "0x2c")], 0, "another flit"),
                ([torn], [WHOLE, *halves], 0, ""), ([], [WHOLE, *counters], 0, ""), ([], [WHOLE, *[HIGH, SECOND] * 2], 3, "two polls"),
                ([], ["REDG.E.XOR.STRONG.GPU desc[UR10][R4.64], R6", LOW, HIGH, SECOND], 0, "with a bit-mask")):
            self.assertEqual(self.found(*lines, flits=flits), wanted, (lines, why))

    def test_flits_with_a_single_tag(self):
        self.assertEqual(self.found(SINGLE), [])
        self.assertEqual(self.found(SINGLE, SINGLE, single=2), [])
        self.assertEqual(self.found(SINGLE, single=2), [("flits", 1, SINGLE_TAG_FLIT)])
        self.assertEqual(self.found(WHOLE, single=1), [("flits", 0, SINGLE_TAG_FLIT)], "another scope is another load")
        self.assertEqual(self.found(SINGLE, flits=1), [("flits", 0, FULL_FLIT)])
        self.assertEqual(self.found(SINGLE, HIGH.replace("GPU", "SYS")), [("flits", 1, "LDG narrower than 128")], "no poll may be narrow")

    def test_divisions_and_local_memory(self):
        self.assertEqual(self.found(WHOLE, "@P0 MUFU.RCP64H R7, R7", "MUFU.RCP R7, R7"), [("division", 2, "MUFU.RCP")])
        self.assertEqual(self.found("REDG.E.XOR.STRONG.GPU [R4.64], R6", "MUFU.RCP R4, R5"), [("division", 1, "MUFU.RCP")])
        self.assertEqual(self.found(WHOLE, "MUFU.RSQ R7, R7", "I2F.RP R7, R7"), [])
        self.assertEqual(self.found(WHOLE, "MUFU.RCP R7, R7", may_divide=True), [])
        self.assertEqual(self.found(WHOLE, may_divide=True), [("division", 0, "MUFU.RCP")], "a reason that no longer holds")
        self.assertEqual(self.found(WHOLE, "STL.64 [R1+0x8], R6", "@!PT LDL R8, [R2]", "STL.64 [R1], R6"), [("local", 1, "LDL"), ("local", 2, "STL.64")])
        self.assertEqual(self.found(WHOLE, "LDS R8, [R2]", "STS R8, [R2]", "LDGSTS.E [R1], [R2.64]"), [])

    def test_flit_loads_in_ptx(self):
        ptx = "\nFatbin ptx code:\n================\narch = sm_90\n\n.version 9.0\n" + "".join(
            f".visible .entry {name}(\n.param .u64 a\n)\n{{\n" + "ld.relaxed.gpu.global.v2.u64 {%rd1, %rd2}, [%rd3];\n" * n
            + "ld.volatile.global.b128 flit, [%rd3];\nld.relaxed.gpu.global.u64 %rd1, [%rd3];\n}\n" for name, n in (("one", 1), ("two", 2)))
        text = code(WHOLE, name="one") + code(WHOLE, WHOLE, name="two") + ptx
        self.assertEqual([(kernel.name, kernel.architecture, len(kernel.instructions)) for kernel in machine_code.kernels_in(text)],
                         [("one", "sm_90", 1), ("two", "sm_90", 2)])
        self.assertEqual(sass.flit_loads(text), {(name, "sm_90"): {FULL_FLIT: n, SINGLE_TAG_FLIT: 1} for name, n in (("one", 1), ("two", 2))})

    def test_names(self):
        self.assertEqual(machine_code.shortened(
            "void warden::v0_1::detail::fused_kernel<64u, 2u, (anonymous namespace)::payday, warden::guarded_ref<x::policy, account> >"
            "(warden::v0_1::detail::fused_arguments<(anonymous namespace)::payday>)"), "fused_kernel<64, 2, payday, guarded_ref<policy, account>>")
        self.assertEqual(
            machine_code.shortened("void f<warden::policy<warden::options{512u, warden::tuning{0u, 1u}}> >(int)"),
            "f<policy<options{512}>>")
        self.assertEqual(len(machine_code.shortened("f" * 500)), 110)

    def test_resources(self):
        combines, plain = (f"_Z4sendI3refLm{storage}EEEvNS_14send_argumentsE" for storage in (75776, 49152))
        self.assertTrue(sass.may_spill("test_deferred_bench", combines))
        self.assertFalse(sass.may_spill("test_deferred", combines) or sass.may_spill("test_deferred_bench", plain))
        usage = "Resource usage:\n Common:\n  GLOBAL:28\n Function {}:\n  REG:48 STACK:{} SHARED:1024 LOCAL:{} CONSTANT[0]:776 TEXTURE:0\n"
        for stack, local, name, spills in ((0, 0, "_ZN6warden1kEv", False), (24, 0, "_ZN6warden1kEv", True), (0, 8, "_ZN6warden1kEv", True),
                                           (16, 0, "_ZN3cub1kEv", False)):
            (function, row), = sass.resources_in(usage.format(name, stack, local))
            self.assertEqual((function, row["REG"], row["SHARED"], row["STACK"], sass.spills(function, row)), (name, 48, 1024, stack, spills))
        bounded, free = "_ZN6warden12fused_kernelILj256ELj3E6paydayEEvT_", "_ZN6warden12fused_kernelILj256ELj1E6paydayEEvT_"
        self.assertEqual([sass.has_choice(*of) for of in ((bounded, {bounded, free}), (bounded, {bounded}), (free, {bounded, free}))], [True, False, False])


class Comparison(unittest.TestCase):
    def built(self, files):
        """Path -> [(name, instructions)] as objects."""
        return {path: compare_sass.Object(machine_code.kernels_in("".join(code(*lines, name=name) for name, lines in kernels)))
                for path, kernels in files.items()}

    def compared(self, before, after):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            differing = compare_sass.report(compare_sass.matched(self.built(before), self.built(after)))
        return differing, text.getvalue().splitlines()

    CALL = ["IADD3 R1, R2, R3", "CALL.REL.NOINC `($_Z3one$helper)", "BRA `(.L_x_7)", "EXIT"]

    def test_names_do_not_count(self):
        renamed = [line.replace("_Z3one", "_ZN6warden3two").replace(".L_x_7", ".L_x_12") for line in self.CALL]
        before = {"a.o": [("_Z3one", self.CALL), ("_Z5other", ["EXIT"])]}
        self.assertEqual(self.compared(before, {"a.o": [("_Z5third", ["EXIT"]), ("_Z3two", renamed)]}),
                         (0, ["a.o: 2 equal, 0 changed, 0 added, 0 removed", "1 objects: 2 kernels equal, 0 changed, 0 added, 0 removed"]))

    def test_instructions_count(self):
        for changed in (["IADD3 R1, R2, R4", *self.CALL[1:]], self.CALL[1:], ["@P0 " + self.CALL[0], *self.CALL[1:]],
                        [*self.CALL[:2], "BRA `($_Z3one$helper)", "EXIT"]):
            differing, lines = self.compared({"a.o": [("_Z3one", self.CALL)]}, {"a.o": [("_Z3one", changed)]})
            self.assertEqual((differing, lines[:3]), (1, ["a.o: 0 equal, 1 changed, 0 added, 0 removed", f"  - one: {len(self.CALL)} instructions",
                                                          f"  + one: {len(changed)} instructions"]))

    def test_copies_count(self):
        one = [("_Z3one", ["EXIT"])]
        three = [(name, ["EXIT"]) for name in ("_Z3one", "_Z3two", "_Z5three")]
        self.assertEqual(self.compared({"a.o": one}, {"a.o": three})[1][0], "a.o: 1 equal, 0 changed, 2 added, 0 removed")
        self.assertEqual(self.compared({"a.o": three}, {"a.o": one})[1][0], "a.o: 1 equal, 0 changed, 0 added, 2 removed")

    def test_renamed_files(self):
        one, two = [("_Z3one", ["EXIT"])], [("_Z3two", ["RET"])]
        self.assertEqual(self.compared({"x/a.o": one, "x/b.o": two}, {"y/c.o": two, "x/d.o": one})[1][:2],
                         ["x/a.o -> x/d.o: 1 equal, 0 changed, 0 added, 0 removed", "x/b.o -> y/c.o: 1 equal, 0 changed, 0 added, 0 removed"])
        self.assertEqual(self.compared({}, {"c.o": two})[0], 1)
        self.assertEqual(self.compared({"a.o": one}, {})[1][0], "a.o -> none: 0 equal, 0 changed, 0 added, 1 removed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
