# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of ./warden: a copy of it in a folder of its own.

The copy runs on a PATH that holds only links to a few tools and stubs of package managers: nothing is installed,
built or written next to it.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

WARDEN = pathlib.Path()
BIN = None  # folder with programs: then only the tests that need some are run, otherwise only the others

TOOLS = ["bash", "cat", "dirname", "env", "grep", "head", "mkdir", "nproc", "readlink", "sed", "sort", "stat", "tail",
         "timeout", "tr", "uname"]
PACKAGES = ("g++ cmake ninja-build ccache git python3 libboost-context-dev libgtest-dev libgmock-dev libbenchmark-dev "
            "libcli11-dev")
BENCH_PACKAGES = "g++ cmake ninja-build python3 libboost-context-dev libbenchmark-dev libcli11-dev"
TEST_PACKAGES = PACKAGES + " clang-format-14 doxygen"

NOTHING_INSTALLED = {"dpkg-query": "exit 1", "apt-get": 'echo "$*" >>"$0.log"; exit 100'}
ALL_INSTALLED = {**NOTHING_INSTALLED, "dpkg-query": "echo install ok installed"}
USER = {"id": "echo 1000"}
ROOT = {"id": "echo 0"}
CONTEXT = {"device": "NVIDIA H200", "commit": "c1", "date": "2026-01-01", "toolkit": "13.0"}  # in a result file
GPU = {"nvidia-smi": 'echo "NVIDIA H200, 9.0"'}


class DriverTest(unittest.TestCase):
    needs_programs = False

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="warden_driver_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.home = self.folder / "home"  # where the copy of the driver lives
        (self.home / "scripts").mkdir(parents=True)
        shutil.copy2(WARDEN, self.home / "warden")
        for script in (*(WARDEN.parent / "scripts").glob("*.py"), *(WARDEN.parent / "scripts" / name for name in ("bench.sh", "bench_pieces.txt", "tune.sh", "usage.txt"))):
            shutil.copy2(script, self.home / "scripts")
        for folder in "scripts/results", "scripts/profiling", "runtime/check":
            shutil.copytree(WARDEN.parent / folder, self.home / folder, ignore=shutil.ignore_patterns("__pycache__"))
        (self.home / "include/warden").mkdir(parents=True)
        shutil.copy2(WARDEN.parent / "include/warden/version.hpp", self.home / "include/warden")
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


class ProgramTest(DriverTest):
    needs_programs = True


class Loader(unittest.TestLoader):
    def getTestCaseNames(self, case):
        return super().getTestCaseNames(case) if case.needs_programs == (BIN is not None) else []


def main():
    """Runs the tests of the program that imported this: PROGRAM WARDEN [BIN] [UNITTEST OPTIONS]."""
    global WARDEN, BIN
    WARDEN = pathlib.Path(sys.argv.pop(1)).resolve()
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(testLoader=Loader())
