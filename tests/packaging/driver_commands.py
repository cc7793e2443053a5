#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the commands of ./warden: what they refuse, with which exit code, what they install, build and print.

    driver_commands.py WARDEN [BIN] [UNITTEST OPTIONS]     BIN: folder with test programs
"""
import os
import pty
import re
import shutil
import subprocess

import driver
from driver import ALL_INSTALLED, BENCH_PACKAGES, GPU, NOTHING_INSTALLED, PACKAGES, ROOT, TEST_PACKAGES, USER


class Usage(driver.DriverTest):
    def test_help(self):
        for arguments in (["--help"], ["-h"], ["help"], ["test", "--help"], ["bench", "--help"], ["build", "--help"],
                          ["tune", "--help"], ["doctor", "--help"], ["bench", "--merge", "--help"]):
            done = self.warden(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            self.assertTrue(done.stdout.startswith("usage: ./warden test"), arguments)

    def test_no_command(self):
        done = self.warden()
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_unknown_words(self):
        self.refused(2, "^warden: unknown command tets; ", "tets")
        for command in ("test", "bench", "tune", "build", "doctor"):
            self.refused(2, f"^warden: unknown option --colour for {command}", command, "--colour")
        self.refused(2, "^warden: unknown benchmark push; there are contention hash_table ", "bench", "push")
        self.refused(2, "^warden: unknown benchmark max_flow transport; ", "bench", "max_flow transport")
        self.refused(2, "^warden: unknown option --prebuilt for build", "build", "--resources", "--prebuilt", "x")

    def test_missing_values(self):
        for option in ("--filter", "--seeds", "--prebuilt"):
            self.refused(2, f"^warden: {option} needs a value$", "test", option)
        for option in ("--device", "--prebuilt", "--keys", "--arms", "--operation", "--workload", "--ops", "--repetitions",
                       "--ids", "--out", "--benchmark_filter"):
            self.refused(2, f"^warden: {option} needs a value$", "bench", option)
        self.refused(2, "^warden: --merge needs 2 files or more$", "bench", "--merge", "out.json")
        self.refused(2, "^warden: --check-baselines needs one file$", "bench", "--check-baselines")
        self.refused(2, "^warden: --check-baselines takes one file$", "bench", "--check-baselines", "a", "b")

    def test_bad_values(self):
        for value in ("0", "-1", "many", "1.5", "9999999999"):
            self.refused(2, f"^warden: --seeds {value}: ", "test", "--seeds", value)
        self.refused(2, r"^warden: --filter \(: not a regular expression$", "test", "--filter", "(")
        self.refused(2, "^warden: --device tpu: gpu or sim$", "bench", "--device", "tpu")
        for option, values in {"--keys": ["0", "1,", "1,x", "-1", "1 2", ""], "--ops": ["0", "1,2", "x", "1e6"],
                               "--repetitions": ["0", "x"], "--arms": ["", "Atomics!", "a,,b"], "--operation": ["1"],
                               "--workload": ["--keys"]}.items():
            for value in values:
                self.refused(2, f"^warden: {option} {re.escape(value)}: ", "bench", option, value)
        self.refused(2, "^warden: --out no/x.json: ", "bench", "--out", "no/x.json")
        self.refused(2, "^warden: --out .: ", "bench", "--out", ".")
        self.refused(2, "^warden: --ids no: ", "bench", "--ids", "no")
        self.refused(2, "^warden: --ids .: ", "bench", "--ids", ".")

    def test_prebuilt_folders(self):
        (self.here / "empty").mkdir()
        (self.here / "empty/test_words").write_text("no program")
        for command in ("test", "bench"):
            self.refused(2, "^warden: --prebuilt no: no such folder$", command, "--prebuilt", "no")
        self.refused(2, "no test programs there$", "test", "--prebuilt", "empty")
        self.refused(2, "no program contention_sim there$", "bench", "--prebuilt", "empty")
        self.stub(GPU)
        self.refused(2, "no program contention there$", "bench", "--prebuilt", "empty")


class SetUp(driver.DriverTest):
    def test_neither_root_nor_sudo(self):
        self.stub(NOTHING_INSTALLED, USER)
        self.refused(3, f"apt-get install {re.escape(BENCH_PACKAGES)}$", "bench")
        self.refused(3, f"apt-get install {re.escape(TEST_PACKAGES)}$", "test")
        self.refused(3, f"apt-get install {re.escape(PACKAGES)}$", "build")
        self.stub({"sudo": "exit 1"})  # wants a password
        self.refused(3, f"apt-get install {re.escape(BENCH_PACKAGES)}$", "bench")

    def test_only_what_is_missing(self):
        self.stub(ALL_INSTALLED, USER, {"dpkg-query": 'case "$*" in *ccache|*libcli11-dev) echo deinstall ok config-files;;'
                                                      "*) echo install ok installed;; esac"})
        self.refused(3, "apt-get install ccache libcli11-dev$", "test")

    def test_no_install(self):
        self.stub(NOTHING_INSTALLED, ROOT)
        self.refused(3, f"^warden: missing packages: {re.escape(BENCH_PACKAGES)}$", "bench", "--no-install")
        self.refused(3, f"^warden: missing packages: {re.escape(PACKAGES)}$", "build", "--no-install")
        self.refused(3, f"^warden: missing packages: {re.escape(TEST_PACKAGES)}$", "test", "--no-install")

    def test_another_system(self):
        for command, packages in (("bench", BENCH_PACKAGES), ("build", PACKAGES), ("test", TEST_PACKAGES)):
            for options in ([], ["--no-install"]):
                self.refused(3, f"not Debian or Ubuntu; .*: {re.escape(packages)}$", command, *options)

    def test_installation_that_fails(self):
        for groups in ((NOTHING_INSTALLED, ROOT), (NOTHING_INSTALLED, USER, {"sudo": '[ "$1" = -n ] || "$@"'})):
            self.stub(*groups)
            done = self.warden("bench")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"Installing {BENCH_PACKAGES}\n", done.stdout)
            self.assertRegex(done.stderr, f"apt-get failed .*: {re.escape(BENCH_PACKAGES)}\n$")
            log = self.path / "apt-get.log"
            self.assertEqual(log.read_text(), "update\n")
            log.unlink()

    def test_installs_what_is_missing(self):
        self.stub(NOTHING_INSTALLED, ROOT, {"apt-get": 'echo "$*" >>"$0.log"'})
        done = self.warden("bench")
        self.assertEqual(done.returncode, 1, "there is no cmake to go on with")
        self.assertEqual((self.path / "apt-get.log").read_text(),
                         f"update\ninstall -y --no-install-recommends {BENCH_PACKAGES}\n")

    def test_doctor(self):
        done = self.warden("doctor")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, "(?m)^GPU +none found")
        self.assertRegex(done.stdout, "(?m)^toolkit +no nvcc")
        self.assertRegex(done.stdout, "(?m)^cuobjdump +not found: the test sass is skipped$")
        self.assertRegex(done.stdout, "(?m)^cmake +not found$")
        self.assertIn(f"needed: {TEST_PACKAGES}\n", done.stdout)
        self.stub(NOTHING_INSTALLED, GPU)
        done = self.warden("doctor")
        self.assertRegex(done.stdout, "(?m)^GPU +NVIDIA H200, 9.0$")
        self.assertRegex(done.stdout, f"(?m)^missing +apt-get install {re.escape(TEST_PACKAGES)}$")
        self.stub(ALL_INSTALLED)
        self.assertRegex(self.warden("doctor").stdout, "(?m)^packages +all there$")


class Build(driver.DriverTest):
    """cmake is a stub: what it was asked for is in cmake.log."""

    # Output of cuobjdump for the program's kernel.
    USAGE = ("Resource usage:\n Common:\n  GLOBAL:0\n Function _ZN6warden6kernelEv:\n"
             "  REG:48 STACK:{stack} SHARED:1024 LOCAL:0 CONSTANT[0]:776\n")
    NVCC = {"nvcc": "exit 0"}
    CMAKE = {"cmake": 'echo "$*" >>"$0.log"'}

    def cuobjdump(self, folder, stack=0):
        """A stub in the folder, and a program for it to read."""
        (folder / "cuobjdump").write_text(f"#!{self.path}/bash\ncat <<'TEXT'\n{self.USAGE.format(stack=stack)}TEXT\n")
        (folder / "cuobjdump").chmod(0o755)
        bin = self.home / "build/test/bin"
        bin.mkdir(parents=True, exist_ok=True)
        for name in ("program", "program_sim"):
            (bin / name).touch(0o755)

    def test_builds_and_runs_nothing(self):
        self.stub(ALL_INSTALLED, self.CMAKE)
        done = self.warden("build")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"\ANo nvcc: only the simulated device is built.\nBuilding in build/test ...\nBuilt in \d+ s.\n\Z")
        configured, built = (self.path / "cmake.log").read_text().splitlines()
        self.assertRegex(configured, "^-S . -B build/test .*-DWARDEN_WERROR=ON -DWARDEN_FAST_COMPILE=OFF$")
        self.assertEqual(built, "--build build/test")

    def test_a_build_that_fails(self):
        self.stub(ALL_INSTALLED, {"cmake": '[ "$1" != --build ] || { echo "x.cu:1: error: no such thing"; exit 1; }'})
        done = self.warden("build")
        self.assertEqual((done.returncode, done.stderr), (1, "x.cu:1: error: no such thing\n"), done.stdout)
        self.assertTrue(done.stdout.endswith("Building failed: build/test/build.log\n"), done.stdout)

    def test_resources_without_nvcc(self):
        self.stub(NOTHING_INSTALLED, ROOT, self.CMAKE)
        self.cuobjdump(self.path)
        self.assertEqual(self.refused(3, "^warden: --resources needs nvcc; .* 12.0 or newer$", "build", "--resources"), "")
        self.assertFalse((self.path / "cmake.log").exists(), "something was built before")

    def test_resources_without_cuobjdump(self):
        self.stub(NOTHING_INSTALLED, ROOT, self.CMAKE, self.NVCC)
        self.assertEqual(self.refused(3, "^warden: --resources needs cuobjdump, ", "build", "--resources"), "")
        self.assertFalse((self.path / "cmake.log").exists(), "something was built before")

    def test_resources_without_python(self):
        self.stub(ALL_INSTALLED, self.CMAKE, self.NVCC)
        self.cuobjdump(self.path)
        (self.path / "python3").unlink()
        self.stub({"python3": "exit 1"})
        self.refused(3, "^warden: --resources needs python3, 3.10 or newer$", "build", "--resources")
        self.assertFalse((self.path / "cmake.log").exists(), "something was built before")

    def test_resources(self):
        # cuobjdump next to nvcc is used before the one on the PATH.
        self.stub(ALL_INSTALLED, self.CMAKE, self.NVCC, {"cuobjdump": "exit 1"})
        toolkit = self.folder / "toolkit"
        (toolkit / "bin").mkdir(parents=True)
        (self.path / "nvcc").rename(toolkit / "bin/nvcc")
        for stack, code in ((0, 0), (24, 1)):
            self.cuobjdump(toolkit / "bin", stack)
            done = self.warden("build", "--resources", CUDA_HOME=toolkit)
            self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
            self.assertRegex(done.stdout, rf"\nprogram\n registers +shared +stack +local +kernel\n +48 +1024 +{stack} +0 +\S+\n")
            self.assertNotIn("program_sim", done.stdout)
            self.assertRegex(done.stdout, "bytes\n$" if stack else "No kernel spills.\n$")


class Tests(driver.DriverTest):
    """cmake is a stub, and its build a file of tests, which the real ctest runs."""

    CMAKE = {"cmake": 'echo "$*" >>"$0.log"'}
    # name: (label, command, properties)
    TESTS = {"sim.good.0": ("", "exit 0", ""), "sim.other.0": ("", "exit 0", ""), "gpu.good": ("", "exit 77", "SKIP_RETURN_CODE 77"),
             "mutation.lock": ("", "echo mutant lock", ""), "mutation.credit": ("remaining", "echo mutant credit", ""),
             "more_seeds.good.0": ("remaining", "exit 0", ""), "sass": ("remaining", "exit 77", "SKIP_RETURN_CODE 77"),
             "readme_example": ("", "echo account 7: 100", 'PASS_REGULAR_EXPRESSION "7: 100"'), "hash_table_command": ("", "exit 0", "")}
    # Groups of the tests above in the order in which they end are the scheduler's business.
    USUAL = {"sim": (2, 0, 0), "gpu": (0, 0, 1), "mutation": (1, 0, 0), "packaging": (1, 0, 0), "apps": (1, 0, 0)}

    def setUp(self):
        super().setUp()
        self.stub(ALL_INSTALLED, self.CMAKE)
        (self.path / "ctest").symlink_to(shutil.which("ctest"))
        (self.home / "build/test").mkdir(parents=True)
        self.tests()

    def tests(self, **changed):
        text = ""
        for name, (label, command, properties) in {**self.TESTS, **changed}.items():
            text += f'add_test("{name}" "{self.path}/bash" "-c" "{command}; echo {name} >>{self.folder}/ran")\n' if "exit" not in command \
                else f'add_test("{name}" "{self.path}/bash" "-c" "echo {name} >>{self.folder}/ran; {command}")\n'
            if label or properties:
                text += f'set_tests_properties("{name}" PROPERTIES {f"LABELS {label}" if label else ""} {properties})\n'
        (self.home / "build/test/CTestTestfile.cmake").write_text(text)

    def ran(self):
        file = self.folder / "ran"
        names = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return sorted(names)

    def built(self):
        return [line for line in (self.path / "cmake.log").read_text().splitlines() if line.startswith("--build")]

    def groups(self, out):
        found = re.findall(r"^(\w+) +(\d+) passed +(\d+) failed +(\d+) skipped +\d+ s$", out, re.M)
        self.assertEqual(len(found), len({name for name, *_ in found}), f"a group has one line:\n{out}")
        return {name: tuple(map(int, counts)) for name, *counts in found}

    def test_usual(self):
        done = self.warden("test")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(self.groups(done.stdout), self.USUAL)
        self.assertRegex(done.stdout, r"\nTook \d+ min \d+ s.\n5 passed, 0 failed, 1 skipped\n\Z")
        self.assertEqual(self.ran(), ["hash_table_command", "mutation.lock", "readme_example", "sim.good.0", "sim.other.0"])
        self.assertEqual(self.built(), ["--build build/test --target warden_simulated_tests warden_templates"])

    def test_with_a_gpu(self):
        self.stub(GPU)
        done = self.warden("test")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("gpu.good", self.ran())
        self.assertEqual(self.groups(done.stdout), self.USUAL)
        self.assertEqual(self.built(), ["--build build/test --target warden_simulated_tests warden_templates warden_gpu_tests"])

    def test_all(self):
        for stubs in ({}, {"cuobjdump": "exit 0"}, GPU):
            self.stub(stubs)
            done = self.warden("test", "--all")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertTrue(done.stdout.endswith("\n7 passed, 0 failed, 2 skipped\n"), done.stdout)
            self.assertEqual(self.ran(), sorted(self.TESTS), "every test once")
            self.assertEqual(self.built()[-1], "--build build/test")
            # Nothing runs or reads machine code without these.
            self.assertIn(f"FAST_COMPILE={'OFF' if stubs else 'ON'}\n--build", (self.path / "cmake.log").read_text())
            (self.path / "cmake.log").unlink()

    def test_one_that_fails_is_told_in_full(self):
        words = [f"word {i}" for i in range(3000)]
        (self.folder / "words").write_text("\n".join(words) + "\n")
        self.tests(**{"sim.other.0": ("", f"cat {self.folder}/words; exit 3", ""),
                      "sim.more.0": ("", "kill -SEGV $$", ""),
                      "readme_example": ("", "echo account 7: 10", 'PASS_REGULAR_EXPRESSION "7: 1\n*00"')})
        done = self.warden("test")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"(?m) sim.other.0 \.+\*\*\*Failed +[\d.]+ sec\n" + "\n".join(words) + "$")
        self.assertRegex(done.stdout, r" readme_example \.+\*\*\*Failed +Required regular expression not found. *Regex=\[7: 1\n")
        self.assertIn("\naccount 7: 10\n", done.stdout)
        self.assertRegex(done.stdout, r" sim.more.0 \.+\*\*\*Exception: SegFault ")
        self.assertNotIn("mutant lock", done.stdout, "what passes says nothing")
        self.assertEqual(self.groups(done.stdout), {**self.USUAL, "sim": (1, 2, 0), "packaging": (0, 1, 0)})
        self.assertTrue(done.stdout.endswith("\n3 passed, 3 failed, 1 skipped\n"), done.stdout)

    def test_one_that_fails_among_what_remains(self):
        self.tests(**{"mutation.credit": ("remaining", "echo it passes; exit 1", "")})
        done = self.warden("test", "--all")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r" mutation.credit \.+\*\*\*Failed +[\d.]+ sec\nit passes\n")
        self.assertTrue(done.stdout.endswith("\n6 passed, 1 failed, 2 skipped\n"), done.stdout)

    def test_a_program_that_is_not_there(self):
        with (self.home / "build/test/CTestTestfile.cmake").open("a") as file:
            file.write('add_test("sim.gone.0" "/nowhere/program")\n')
        done = self.warden("test")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r" sim.gone.0 \.+\*\*\*Not Run ")
        self.assertTrue(done.stdout.endswith("\n5 passed, 1 failed, 1 skipped\n"), done.stdout)

    def test_a_ctest_that_dies(self):
        real = shutil.which("ctest")
        (self.path / "ctest").unlink()
        self.stub({"ctest": f'case "$*" in *--show-only*) exec {real} "$@";; esac; exit 9'})
        done = self.warden("test")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("\nsim.good.0: not run; ctest ended with code 9\n", done.stdout)
        self.assertTrue(done.stdout.endswith("\n0 passed, 5 failed, 1 skipped\n"), done.stdout)
        self.stub({"ctest": "exit 9"})
        done = self.warden("test")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertTrue(done.stdout.endswith("\n0 passed, 1 failed, 0 skipped\n"), done.stdout)

    def test_a_build_that_fails(self):
        fails = 'case "$*" in *--target*) exit 0;; --build*) echo "x.cu:1: error: no such thing"; exit 1;; esac'
        self.stub({"cmake": fails})
        done = self.warden("test", "--all")
        self.assertEqual((done.returncode, done.stderr), (1, "x.cu:1: error: no such thing\n"), done.stdout)
        self.assertTrue(done.stdout.endswith("\n5 passed, 1 failed, 0 skipped\n"), done.stdout)
        self.stub({"cmake": fails.replace("exit 0", "exit 1")})
        done = self.warden("test")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertTrue(done.stdout.endswith("\n0 passed, 1 failed, 0 skipped\n"), done.stdout)
        self.assertIn("Building failed: build/test/build.log\n", done.stdout)

    def test_filter(self):
        done = self.warden("test", "--filter", "^sim.g")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.ran(), ["sim.good.0"])
        self.assertTrue(done.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n"), done.stdout)
        self.refused(2, "^warden: no tests like credit; --all has more$", "test", "--filter", "credit")
        done = self.warden("test", "--filter", "credit", "--all")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.ran(), ["mutation.credit"])
        self.refused(2, "^warden: no tests like nonsense$", "test", "--filter", "nonsense", "--all")

    def test_seeds(self):
        self.tests(**{"sim.other.0": ("", "test -z $WARDEN_SEEDS || echo seeds-$WARDEN_SEEDS >>" + f"{self.folder}/ran; exit 0", "")})
        self.assertEqual(self.warden("test", "--all", "--seeds", 70).returncode, 0)
        ran = self.ran()
        self.assertIn("seeds-70", ran)
        self.assertNotIn("more_seeds.good.0", ran, "as many as were asked for have run")

    def on_terminal(self, *arguments):
        """Exit code, and what a terminal gets."""
        reader, terminal = pty.openpty()
        program = subprocess.Popen([self.home / "warden", *arguments], cwd=self.here, env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
        os.close(terminal)
        said = b""
        try:
            while more := os.read(reader, 4096):
                said += more
        except OSError:  # the program has ended
            pass
        os.close(reader)
        return program.wait(), said.decode()

    def test_progress_on_a_terminal(self):
        self.stub({"cmake": 'case $1 in --build) echo "[1/2] one"; echo "[2/2] two";; esac'})
        code, text = self.on_terminal("test")
        self.assertEqual(code, 0, text)
        self.assertIn("\r\033[K2/2", text)
        self.assertRegex(text, r"\r\033\[K[1-5]/5 sim.good.0")
        self.assertTrue(text.endswith("\r\n5 passed, 0 failed, 1 skipped\r\n"), text)
        self.assertEqual((self.home / "build/test/build.log").read_text(), "[1/2] one\n[2/2] two\n")

    def test_a_build_that_fails_on_a_terminal(self):
        self.stub({"cmake": 'case $1 in --build) echo "[1/2] one"; echo "x.cu:1: error: no such thing"; exit 1;; esac'})
        code, text = self.on_terminal("test")
        self.assertEqual(code, 1, text)
        self.assertIn("\r\nx.cu:1: error: no such thing\r\n", text.replace("\r\033[K", "\r\n"))
        self.assertTrue(text.endswith("\r\n0 passed, 1 failed, 0 skipped\r\n"), text)


class Prebuilt(driver.DriverTest):
    def test_a_line_and_what_fails(self):
        programs = {"test_good_sim": "echo fine", "test_bad_sim": "echo worse; exit 5", "test_skipped": "exit 77"}
        for name, text in programs.items():
            (self.here / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.here / name).chmod(0o755)
        done = self.warden("test", "--prebuilt", ".")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^worse\nFAILED: .*/test_bad_sim \(exit code 5\)$")
        self.assertNotIn("fine", done.stdout)
        self.assertEqual(re.findall(r"^(\w+) +(\d+) passed +(\d+) failed +(\d+) skipped", done.stdout, re.M),
                         [("sim", "1", "1", "0"), ("gpu", "0", "0", "1")])
        self.assertTrue(done.stdout.endswith("\n1 passed, 1 failed, 1 skipped\n"), done.stdout)
        self.refused(2, "^warden: --all builds what it runs; --prebuilt builds nothing$", "test", "--all", "--prebuilt", ".")


class Programs(driver.ProgramTest):
    def test_tests(self):
        done = self.warden("test", "--prebuilt", driver.BIN, "--filter", "^sim.message$")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n"), done.stdout)
        self.refused(2, "no test programs like nonsense there$", "test", "--prebuilt", driver.BIN, "--filter", "nonsense")


if __name__ == "__main__":
    driver.main()
