#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ./warden: what it refuses, with which exit code, and what it prints.

    driver.py WARDEN [BIN] [UNITTEST OPTIONS]     BIN: folder with contention_sim and test programs

A copy of the driver runs, on a PATH that holds only links to a few tools and stubs of package managers: nothing
is installed, built or written beside it.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WARDEN = pathlib.Path()
BIN = None

TOOLS = ["bash", "cat", "dirname", "env", "grep", "head", "mkdir", "nproc", "readlink", "sed", "sort", "stat", "tail",
         "timeout", "tr", "uname"]
PACKAGES = ("g++ cmake ninja-build ccache git python3 libboost-context-dev libgtest-dev libgmock-dev libbenchmark-dev "
            "libcli11-dev")
TEST_PACKAGES = PACKAGES + " clang-format-14 doxygen"
SMALL = ["--device", "sim", "--keys", "1", "--ops", "64", "--arms", "atomics"]

NOTHING_INSTALLED = {"dpkg-query": "exit 1", "apt-get": 'echo "$*" >>"$0.log"; exit 100'}
ALL_INSTALLED = {**NOTHING_INSTALLED, "dpkg-query": "echo install ok installed"}
USER = {"id": "echo 1000"}
ROOT = {"id": "echo 0"}
GPU = {"nvidia-smi": 'echo "NVIDIA H200, 9.0"'}


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warden_driver_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.home = self.folder / "home"  # where the copy of the driver lives
        (self.home / "scripts").mkdir(parents=True)
        shutil.copy2(WARDEN, self.home / "warden")
        for script in ("tables.py", "result_file.py", "result_tables.py", "sass.py"):
            shutil.copy2(WARDEN.parent / "scripts" / script, self.home / "scripts")
        self.path = self.folder / "path"
        self.path.mkdir()
        for tool in TOOLS:
            (self.path / tool).symlink_to(shutil.which(tool))
        (self.path / "python3").symlink_to(sys.executable)
        self.here = self.folder / "here"  # where the user is
        self.here.mkdir()

    def stub(self, *groups):
        for name, text in {k: v for group in groups for k, v in group.items()}.items():
            (self.path / name).write_text(f"#!{self.path}/bash\n{text}\n")
            (self.path / name).chmod(0o755)

    def environment(self, **others):
        # CUDA_HOME keeps the driver from a toolkit in its usual place.
        return {"PATH": str(self.path), "CUDA_HOME": "/nowhere", "LC_ALL": "C", "HOME": str(self.folder),
                **{name: str(value) for name, value in others.items()}}

    def warden(self, *arguments, **others):
        return subprocess.run([self.home / "warden", *map(str, arguments)], cwd=self.here, env=self.environment(**others),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=50)

    def refused(self, code, pattern, *arguments):
        """Exit code and exactly one line on stderr, which matches. Returns stdout."""
        done = self.warden(*arguments)
        where = f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, code, where)
        self.assertEqual(done.stderr.count("\n"), 1, where)
        self.assertRegex(done.stderr.rstrip("\n"), pattern, where)
        self.assertFalse((self.path / "apt-get.log").exists(), "packages were to be installed")
        return done.stdout


class Usage(DriverTest):
    def test_help(self):
        for arguments in (["--help"], ["-h"], ["help"], ["test", "--help"], ["bench", "--help"], ["build", "--help"],
                          ["doctor", "--help"], ["bench", "--merge", "--help"]):
            done = self.warden(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            self.assertTrue(done.stdout.startswith("usage: ./warden test"), arguments)

    def test_no_command(self):
        done = self.warden()
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_unknown_words(self):
        self.refused(2, "^warden: unknown command tets; ", "tets")
        for command in ("test", "bench", "build", "doctor"):
            self.refused(2, f"^warden: unknown option --colour for {command}", command, "--colour")
        self.refused(2, "^warden: unknown option push for bench", "bench", "push")
        self.refused(2, "^warden: unknown option --prebuilt for build", "build", "--resources", "--prebuilt", "x")

    def test_missing_values(self):
        for option in ("--filter", "--seeds", "--prebuilt"):
            self.refused(2, f"^warden: {option} needs a value$", "test", option)
        for option in ("--device", "--prebuilt", "--keys", "--arms", "--operation", "--workload", "--ops", "--repetitions",
                       "--ids", "--out", "--benchmark_filter"):
            self.refused(2, f"^warden: {option} needs a value$", "bench", option)
        self.refused(2, "^warden: --merge needs 2 files or more$", "bench", "--merge", "out.json")
        self.refused(2, "^warden: --check-baselines needs 1 files?$", "bench", "--check-baselines")
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


class SetUp(DriverTest):
    def test_neither_root_nor_sudo(self):
        self.stub(NOTHING_INSTALLED, USER)
        self.refused(3, f"apt-get install {re.escape(PACKAGES)}$", "bench")
        self.refused(3, f"apt-get install {re.escape(TEST_PACKAGES)}$", "test")
        self.refused(3, f"apt-get install {re.escape(PACKAGES)}$", "build")
        self.stub({"sudo": "exit 1"})  # wants a password
        self.refused(3, f"apt-get install {re.escape(PACKAGES)}$", "bench")

    def test_only_what_is_missing(self):
        self.stub(ALL_INSTALLED, USER, {"dpkg-query": 'case "$*" in *ccache|*libcli11-dev) echo deinstall ok config-files;;'
                                                      "*) echo install ok installed;; esac"})
        self.refused(3, "apt-get install ccache libcli11-dev$", "test")

    def test_no_install(self):
        self.stub(NOTHING_INSTALLED, ROOT)
        self.refused(3, f"^warden: missing packages: {re.escape(PACKAGES)}$", "bench", "--no-install")
        self.refused(3, f"^warden: missing packages: {re.escape(PACKAGES)}$", "build", "--no-install")
        self.refused(3, f"^warden: missing packages: {re.escape(TEST_PACKAGES)}$", "test", "--no-install")

    def test_another_system(self):
        for command, packages in (("bench", PACKAGES), ("build", PACKAGES), ("test", TEST_PACKAGES)):
            for options in ([], ["--no-install"]):
                self.refused(3, f"no Debian or Ubuntu system; .*: {re.escape(packages)}$", command, *options)

    def test_installation_that_fails(self):
        for groups in ((NOTHING_INSTALLED, ROOT), (NOTHING_INSTALLED, USER, {"sudo": '[ "$1" = -n ] || "$@"'})):
            self.stub(*groups)
            done = self.warden("bench")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"Installing {PACKAGES}\n", done.stdout)
            self.assertRegex(done.stderr, f"apt-get failed .*: {re.escape(PACKAGES)}\n$")
            log = self.path / "apt-get.log"
            self.assertEqual(log.read_text(), "update\n")
            log.unlink()

    def test_installs_what_is_missing(self):
        self.stub(NOTHING_INSTALLED, ROOT, {"apt-get": 'echo "$*" >>"$0.log"'})
        done = self.warden("bench")
        self.assertEqual(done.returncode, 1, "there is no cmake to go on with")
        self.assertEqual((self.path / "apt-get.log").read_text(),
                         f"update\ninstall -y --no-install-recommends {PACKAGES}\n")

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


class Build(DriverTest):
    """cmake is a stub: what it was asked for is in cmake.log."""

    # What cuobjdump prints about the program's kernel.
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
        self.assertRegex(configured, "^-S . -B build/test .*-DWARDEN_WERROR=ON$")
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
        # cuobjdump beside nvcc comes before the one on the PATH.
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


class Devices(DriverTest):
    def test_gpu_without_nvcc(self):
        self.stub(GPU, ALL_INSTALLED)
        for options in ([], ["--device", "gpu"]):
            out = self.refused(3, "CUDA toolkit .*--device sim", "bench", *options)
            self.assertEqual(out, "There is a GPU (NVIDIA H200, 9.0), but no nvcc to build for it.\n")

    def test_gpu_without_driver(self):
        self.stub(NOTHING_INSTALLED, USER, {"nvidia-smi": "echo NVIDIA-SMI has failed, 9.9; exit 9"})
        out = self.refused(3, "apt-get install", "bench")
        self.assertTrue(out.startswith("No CUDA GPU: running on the simulated device"), out)
        self.stub({"nvidia-smi": "echo No devices were found"})
        self.assertEqual(self.refused(3, "apt-get install", "bench"), out)

    def test_no_gpu(self):
        self.assertEqual(self.refused(3, "^warden: no CUDA GPU; ", "bench", "--device", "gpu"), "")


class Benchmarks(DriverTest):
    """The programs are stubs that write one row: which ones run, in which order, and with which options."""

    NAMES = ["contention", "hash_table_bench", "transport"]
    ROWS = ["contention/push/uniform/atomics/keys:1", "hash_table/count/uniform/atomics/keys:1",
            "transport/block/windows/in_band/bytes:16/servers:4"]

    def programs(self, failing=None):
        bin = self.here / "bin"
        bin.mkdir(exist_ok=True)
        for name, row in zip(self.NAMES, self.ROWS):
            counts = {count: 1.0 for count in ("global_atomics", "lock_retries", "sectors", "messages")}
            text = json.dumps({"context": {"simulated": "yes"}, "benchmarks": [{"name": row, **counts}]})
            (bin / f"{name}_sim").write_text(
                f"#!{self.path}/bash\necho \"${{0##*/}} $*\" >>{self.folder}/runs\n"
                "for word; do case $word in --benchmark_out=*) file=${word#*=};; esac; done\n"
                f"echo '{text}' >$file\nexit {1 if name == failing else 0}\n")
            (bin / f"{name}_sim").chmod(0o755)
        return bin

    def runs(self):
        text = (self.folder / "runs").read_text()
        (self.folder / "runs").unlink()
        return [line.split(" --benchmark_out=")[0] for line in text.splitlines()]

    def bench(self, *options):
        return self.warden("bench", "--device", "sim", "--prebuilt", "bin", *options)

    def test_all_in_turn(self):
        self.programs()
        done = self.bench("--ops", 64)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(self.runs(), [f"{name}_sim --ops 64" for name in self.NAMES])
        self.assertEqual(re.findall(r"^JSON: .*/([a-z_]+)-sim.json$", done.stdout, re.M), ["contention", "hash_table", "transport"])
        self.assertRegex(done.stdout, r"\n *send +receive .*\n *block +windows +in_band +16 +4 +1\.00 / 1\.00 / 1\.00 / 1\.00\n")

    def test_options_of_the_comparison_choose_it_alone(self):
        self.programs()
        self.assertEqual(self.bench("--keys", 1).returncode, 0)
        self.assertEqual(self.runs(), ["contention_sim --keys 1"])

    def test_one_that_fails_is_the_last(self):
        for number, name in enumerate(self.NAMES):
            self.programs(failing=name)
            self.assertEqual(self.bench().returncode, 1, name)
            self.assertEqual(len(self.runs()), number + 1)

    def test_one_that_is_missing_is_named(self):
        (self.programs() / "hash_table_bench_sim").unlink()
        done = self.bench()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, "(?m)^Not run: no program hash_table_bench_sim in .*/bin.$")
        self.assertEqual([run.split()[0] for run in self.runs()], ["contention_sim", "transport_sim"])

    def test_all_are_built(self):
        self.stub(ALL_INSTALLED, {"cmake": 'echo "$*" >>"$0.log"'})
        self.assertNotEqual(self.warden("bench").returncode, 0, "nothing was built that could run")
        self.assertEqual((self.path / "cmake.log").read_text().splitlines()[-1],
                         "--build build/bench --target " + " ".join(f"{name}_sim" for name in self.NAMES))


class ProgramTest(DriverTest):
    def setUp(self):
        if BIN is None:
            self.skipTest("no programs given")
        super().setUp()


class Prebuilt(ProgramTest):
    """Neither a compiler nor CMake is on the PATH."""

    def bench(self, *options):
        return self.warden("bench", "--prebuilt", BIN, *SMALL, *options)

    def test_table_and_file(self):
        done = self.bench()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertTrue(done.stdout.startswith("The simulated device, as asked"), done.stdout)
        self.assertRegex(done.stdout, r"\npush, uniform \(.*\)\n +keys +atomics\n +1 +1\.00 / 0\.00 / [0-9.]+ / 0\.00\n")
        written = self.home / "build/results/contention-sim.json"
        self.assertTrue(done.stdout.endswith(f"\nJSON: {written}\n"), done.stdout)
        self.assertEqual(len(json.loads(written.read_text())["benchmarks"]), 4)

    def test_a_workload_with_its_own_number_of_keys(self):
        done = self.bench("--keys", "32", "--workload", "hot90,uniform", "--out", "my.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual([row["name"].removeprefix("contention/") for row in json.loads((self.here / "my.json").read_text())["benchmarks"]],
                         [f"{operation}/{point}" for operation in ("push", "add") for point in
                          ("hot90/atomics/keys:32768", "uniform/atomics/keys:1", "uniform/atomics/keys:32")])
        self.assertRegex(done.stdout, r"\npush, hot90 \(.*\)\n +keys +atomics\n +32K +1\.00 / ")

    def test_no_gpu_is_said_first(self):
        done = self.warden("bench", "--prebuilt", BIN, *SMALL[2:], "--operation", "add")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("No CUDA GPU: running on the simulated device"), done.stdout)

    def test_paths_are_the_users(self):
        (self.here / "bin").symlink_to(BIN)
        (self.here / "my ids").write_text("30\n10\n10\n")
        done = self.warden("bench", "--prebuilt", "bin", *SMALL, "--out", "my.json", "--ids", "my ids")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertTrue(done.stdout.endswith("\nJSON: my.json\n"), done.stdout)
        rows = json.loads((self.here / "my.json").read_text())["benchmarks"]
        self.assertEqual([row["name"] for row in rows],
                         ["contention/push/ids/atomics/keys:2", "contention/add/ids/atomics/keys:2"])
        done = self.warden("bench", "--merge", "both.json", "my.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.here / "both.json").read_text())["benchmarks"], rows)

    def test_without_python(self):
        for old in (False, True):
            (self.path / "python3").unlink()
            if old:
                self.stub({"python3": "exit 1"})
            done = self.bench("--out", "my.json")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(done.stdout.splitlines()[1:], ["No python3 (3.10 or newer) to print a table with.", "JSON: my.json"])
            self.assertEqual(len(json.loads((self.here / "my.json").read_text())["benchmarks"]), 4)
            self.refused(3, "^warden: --merge needs python3", "bench", "--merge", "both.json", "my.json")
            self.stub({"python3": ""})

    def test_bad_ids(self):
        # A table of an earlier run must not be taken for this one's.
        earlier = self.home / "build/results/contention-sim.json"
        self.assertEqual(self.bench("--operation", "add").returncode, 0)
        before = earlier.read_text()
        for text, error in (("1\n2 x\n", r':2: "x" is not a record id$'), ("# none\n", ": no record ids$"),
                            ("1\n99999999999999999999\n", r":2: .*: 64 bits at most$")):
            (self.here / "ids").write_text(text)
            out = self.refused(2, "^contention: .*/ids" + error, "bench", "--prebuilt", BIN, *SMALL, "--ids", "ids")
            self.assertEqual(out.count("\n"), 1, out)
        self.assertEqual(earlier.read_text(), before)

    def test_nothing_to_run(self):
        self.refused(2, "^Failed to match any ", "bench", "--prebuilt", BIN, *SMALL, "--benchmark_filter", "nonsense")
        self.refused(2, "^contention: none of these arms ", "bench", "--prebuilt", BIN, *SMALL, "--operation", "update")

    def test_names_that_the_program_does_not_know(self):
        for option in ("--arms", "--operation", "--workload"):
            out = self.refused(2, f"^contention: {option}: nonsense not in ", "bench", "--prebuilt", BIN, option, "nonsense")
            self.assertEqual(out.count("\n"), 1, out)
        self.refused(2, "^contention: --keys: ", "bench", "--prebuilt", BIN, "--keys", "999999999")

    def test_transport(self):
        done = subprocess.run([BIN / "transport_sim", "--ops", "64", f"--benchmark_out={self.here}/rows.json"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        names = [row["name"] for row in json.loads((self.here / "rows.json").read_text())["benchmarks"]]
        for name in ("block/windows/in_band/bytes:16/servers:8", "ceiling_copy/windows/in_band/bytes:64/servers:4",
                     "thread/slices/in_band/bytes:16/servers:4", "latency/slices/in_band/loaded/servers:4"):
            self.assertIn(f"transport/{name}", names)
        self.assertEqual(len(set(names)), len(names))

    def test_tests(self):
        done = self.warden("test", "--prebuilt", BIN, "--filter", "^sim.message$")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n"), done.stdout)
        self.refused(2, "no test programs like nonsense there$", "test", "--prebuilt", BIN, "--filter", "nonsense")
        (self.here / "test_bad_sim").write_text("#!/bin/sh\nexit 5\n")
        (self.here / "test_skipped").write_text("#!/bin/sh\nexit 77\n")
        for name in ("test_bad_sim", "test_skipped"):
            (self.here / name).chmod(0o755)
        done = self.warden("test", "--prebuilt", ".")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/test_bad_sim (exit code 5)\n", done.stdout)
        self.assertTrue(done.stdout.endswith("\n0 passed, 1 failed, 1 skipped\n"), done.stdout)


class Interrupt(ProgramTest):
    """Ctrl-C: a SIGINT for every process of the group. Finished rows are kept, and no others."""

    def setUp(self):
        super().setUp()
        self.out = self.here / "rows.json"

    KEYS = [*range(1, 1001)]  # half a minute at least
    ARMS = ["atomics", "warden_locks"]
    SWEEP = ["--operation", "push", "--workload", "uniform", "--ops", "2000", "--keys", ",".join(map(str, KEYS)),
             "--arms", ",".join(ARMS)]

    def start(self, command, *options):
        # Started in the background of a shell, this test would hand on an ignored SIGINT.
        running = subprocess.Popen([*command, *options], cwd=self.here, env=self.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(self.stop, running)
        self.wait_until(lambda: self.out.exists() and '"sectors"' in self.out.read_text(), running)
        return running

    def stop(self, running):
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        running.communicate()

    def wait_until(self, condition, running):
        end = time.monotonic() + 30
        while not condition():
            self.assertIsNone(running.poll(), "it ended too early")
            self.assertLess(time.monotonic(), end, "it takes too long")
            time.sleep(0.01)

    def check_rows(self, rows):
        self.assertGreaterEqual(len(rows), 1)
        self.assertLess(len(rows), len(self.KEYS) * len(self.ARMS), "it had ended before")
        for row in rows:
            self.assertIn(row["name"], [f"contention/push/uniform/{arm}/keys:{k}" for k in self.KEYS for arm in self.ARMS])
            self.assertEqual((row["operations"], row["run_type"]), (2000, "iteration"))
            self.assertGreater(row["global_atomics"], 0)
        # All arms of a point are measured together: it is kept as a whole.
        self.assertEqual(len(rows) % len(self.ARMS), 0)

    def printed(self):
        return subprocess.run([sys.executable, self.home / "scripts/tables.py", "--print", self.out],
                              capture_output=True, text=True)

    def test_program(self):
        running = self.start([BIN / "contention_sim"], *self.SWEEP, f"--benchmark_out={self.out}")
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=30)
        self.assertEqual((running.returncode, out), (130, ""), err)
        rows = json.loads(self.out.read_text())["benchmarks"]
        self.check_rows(rows)
        self.assertRegex(err, "^\ncontention: interrupted; .*\ncontention: "
                              f"{len(self.KEYS) * len(self.ARMS) - len(rows)} rows were not run\n$")
        self.assertEqual(self.printed().returncode, 0)

    def test_driver(self):
        running = self.start([self.home / "warden", "bench"], "--device", "sim", "--prebuilt", BIN, *self.SWEEP,
                             "--out", self.out)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=30)
        self.assertEqual(running.returncode, 130, err)
        rows = json.loads(self.out.read_text())["benchmarks"]
        self.check_rows(rows)
        self.assertEqual(out.split("\n", 1)[1], f"{self.printed().stdout}JSON: {self.out}\n")
        self.assertIn("push, uniform", out)

    def test_driver_in_a_long_point(self):
        """A second Ctrl-C does not wait for the point that runs."""
        long = ["--operation", "push", "--workload", "uniform", "--ops", "20000", "--keys", "1024,1", "--arms",
                "lock_as_written"]  # minutes at one key
        running = self.start([self.home / "warden", "bench"], "--device", "sim", "--prebuilt", BIN, *long, "--out", self.out)
        time.sleep(0.5)
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(running.poll(), "the first one waits")
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=30)
        self.assertEqual(running.returncode, 130, err)
        self.assertRegex(out, r"\n +1K +[0-9./ ]+\nJSON: ")
        self.assertEqual(out.split("\n", 1)[1], f"{self.printed().stdout}JSON: {self.out}\n")


if __name__ == "__main__":
    WARDEN = pathlib.Path(sys.argv.pop(1)).resolve()
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
