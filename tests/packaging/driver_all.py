#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ./warden bench --all: pieces, resumption, failures and refused folders.

    driver_all.py WARDEN [BIN] [UNITTEST OPTIONS]     BIN: folder with all simulated benchmarks
"""
import json
import os
import re
import signal
import subprocess
import time

import driver
from driver import ALL_INSTALLED, CONTEXT, GPU

PIECES = """# LIST NAME GPUS SECONDS PROGRAM OPTIONS
full   push   1 100 contention  --operation push
full   add    1 50  contention  --operation add
full   queues 1 50  task_queues
full   spread 2 100 several_gpus
quick  push   1 10  contention  --keys 1
"""


class All(driver.DriverTest):
    """The programs are stubs that write one row of a commit, and note their options."""

    def setUp(self):
        super().setUp()
        self.stub(GPU)
        (self.home / "scripts/bench_pieces.txt").write_text(PIECES)
        self.bin, self.out = self.here / "bin", self.here / "out"
        self.bin.mkdir()
        for program in "contention", "task_queues", "several_gpus":
            self.program(program)

    def program(self, name, end="exit 0", commit="c1", device="NVIDIA H200", simulated="no"):
        text = json.dumps({"context": CONTEXT | {"simulated": simulated, "device": device, "commit": commit},
                           "benchmarks": [{"name": "contention/push/uniform/atomics/keys:1"}]})
        (self.bin / name).write_text(
            f"#!{self.path}/bash\necho \"${{0##*/}} $*\" >>{self.folder}/runs\n"
            "for word; do case $word in --benchmark_out=*) file=${word#*=};; esac; done\n"
            f"echo '{text}' >$file\n{end}\n")
        (self.bin / name).chmod(0o755)

    def runs(self):
        file = self.folder / "runs"
        text = file.read_text() if file.exists() else ""
        file.unlink(missing_ok=True)
        return [line.split(" --repetitions")[0].strip() for line in text.splitlines()]

    def all(self, *options):
        return self.warden("bench", "--all", "--prebuilt", "bin", "--out", "out", *options)

    def test_pieces_in_turn(self):
        done = self.all()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(self.runs(), ["contention --operation push", "contention --operation add", "task_queues"])
        self.assertEqual(sorted(file.name for file in self.out.iterdir()), ["add.json", "push.json", "queues.json"])
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:3], ["GPU: NVIDIA H200, 9.0", "[1/3] push: takes about 1:40, all that is left 3:20", "[1/3] push: took 0:00"])
        # The stub was faster than planned, so what is left is less than planned, too.
        self.assertEqual(lines[3], "[2/3] add: takes about 0:00, all that is left 0:00")
        self.assertRegex(lines[-1], "^Results: .*/out; ./warden report .*/out makes a page of them.$")
        self.assertGreater(json.loads((self.out / "add.json").read_text())["context"]["seconds"], -1)

    def test_five_repetitions(self):
        self.all()
        self.assertEqual((self.folder / "runs").read_text().count(" --repetitions 5 "), 3)

    def test_two_gpus(self):
        self.stub({"nvidia-smi": 2 * (GPU["nvidia-smi"] + "\n")})
        self.assertEqual(self.all().returncode, 0)
        self.assertEqual(self.runs()[-1], "several_gpus")

    def test_quick(self):
        self.assertEqual(self.all("--quick").returncode, 0)
        self.assertEqual(self.runs(), ["contention --keys 1"])

    def test_simulated_device_runs_each_program_once(self):
        for name in "contention", "task_queues", "several_gpus":
            self.program(f"{name}_sim", simulated="yes", device="simulated")
        self.assertEqual(self.all("--device", "sim").returncode, 0)
        self.assertEqual(self.runs(), ["contention_sim", "task_queues_sim", "several_gpus_sim"])
        self.refused(2, "out is of simulated, not of NVIDIA H200; choose", "bench", "--all", "--prebuilt", "bin", "--out", "out")

    def test_goes_on_with_the_missing_piece(self):
        self.all()
        self.runs()
        before = (self.out / "push.json").stat().st_mtime_ns
        (self.out / "add.json").rename(self.out / "add.part")
        done = self.all()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(self.runs(), ["contention --operation add"])
        self.assertIn("[1/3] push: measured already\n", done.stdout)
        self.assertIn("[2/3] add: takes about 0:50, all that is left 0:50\n", done.stdout)
        self.assertEqual((self.out / "push.json").stat().st_mtime_ns, before)
        self.assertFalse((self.out / "add.part").exists())

    def test_failures_do_not_stop_the_others(self):
        for end, reason in (("exit 7", "exit code 7"), ("echo '{' >$file", "wrote no complete result file"),
                            ("printf '\\xff' >$file", "wrote no complete result file"),
                            ("echo '[1]' >$file", "wrote an error: not a result file; expected JSON with .*"),
                            ("text=$(cat $file); echo \"${text//\\}]/, \\\"items_per_second\\\": NaN\\}]}\" >$file",
                             "wrote an error: row 1, contention/push/.*: items_per_second is NaN; expected a number above 0"),
                            ("while :; do read -t 0.1 <><(:); done", "stopped after its limit of 1 s")):
            self.program("contention", end)
            done = self.all("--limit", 1)
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
            self.assertEqual(self.runs(), ["contention --operation push", "contention --operation add", "task_queues"])
            self.assertEqual([file.name for file in self.out.glob("*.json")], ["queues.json"])
            self.assertRegex(done.stdout, f"\nFAILED: push: {reason}\nFAILED: add: {reason}\n"
                                          "2 of 3 pieces failed; the same command tries them again.\n.*\n\\Z")
            (self.out / "queues.json").unlink()
        (self.bin / "contention").unlink()
        self.assertRegex(self.all().stdout, "FAILED: add: no program contention in .*/bin\n")

    def test_an_interrupt_ends_and_keeps_finished_pieces(self):
        self.program("task_queues", "trap 'exit 130' INT; while :; do read -t 0.1 <><(:); done")
        running = subprocess.Popen([self.home / "warden", "bench", "--all", "--prebuilt", "bin", "--out", "out"], cwd=self.here,
                                   env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                   start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        end = time.monotonic() + 30
        while not (self.out / "queues.part").exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)  # until the trap is set
        os.killpg(running.pid, signal.SIGINT)
        out, _ = running.communicate(timeout=30)
        self.assertEqual(running.returncode, 130, out)
        self.assertRegex(out, r"\nInterrupted\. The same command goes on with [^\n]*\n\Z")
        self.assertEqual(sorted(file.name for file in self.out.glob("*.json")), ["add.json", "push.json"])

    def test_refused_folders(self):
        self.all()
        where = ["bench", "--all", "--prebuilt", "bin", "--out", "out"]
        self.refused(2, "out: add.json is of no piece of this list; choose another folder$", *where, "--quick")
        self.program("contention", commit="c2")
        self.refused(2, "out is of commit c1, contention is not; choose another folder$", *where)
        (self.out / "a.json").mkdir()
        self.refused(1, "^results: .*out/a.json: is a folder$", *where)
        (self.out / "a.json").rmdir()
        self.stub({"nvidia-smi": 'echo "NVIDIA H100, 9.0"'})
        self.refused(2, "out is of NVIDIA H200, not of NVIDIA H100; choose another folder$", *where)
        self.runs()

    def test_a_piece_of_another_build_is_refused(self):
        self.program("task_queues", commit="c2")
        done = self.all()
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED: queues: commit is c2, but c1 in the other files\n", done.stdout)
        self.assertFalse((self.out / "queues.json").exists())

    def test_bad_options(self):
        for text, options in (("--quick is an option of --all", ["--quick"]), ("--limit is an option of --all", ["--limit", 3]),
                              ("--limit 0: seconds from 1 to 99999", ["--all", "--limit", 0]), ("--limit needs a value", ["--limit"]),
                              ("--all runs every benchmark; leave out max_flow", ["--all", "max_flow"]),
                              ("--all has its own --ops; leave it out", ["--all", "--ops", 3]),
                              ("--out no/x: no folder can be made there", ["--all", "--out", "no/x"])):
            self.refused(2, f"^warden: {text}$", "bench", *options)
        (self.path / "python3").unlink()
        self.refused(3, "^warden: --all needs python3", "bench", "--all", "--prebuilt", "bin")

    def test_only_programs_that_the_build_has_are_built(self):
        self.stub(ALL_INSTALLED, {"cmake": 'echo "$*" >>"$0.log"'})
        (self.home / "build/bench").mkdir(parents=True)
        for has, programs in (("contention task_queues several_gpus", "contention_sim task_queues_sim several_gpus_sim"),
                              ("contention", "contention_sim")):
            (self.home / "build/bench/build.ninja").write_text("".join(f"build {name}_sim: phony bin/{name}_sim\n" for name in has.split()))
            self.warden("bench", "--all", "--device", "sim", "--out", "out")
            self.assertEqual((self.path / "cmake.log").read_text().splitlines()[-1], f"--build build/bench --target {programs}")


class Report(driver.DriverTest):
    def setUp(self):
        super().setUp()
        (self.here / "out").mkdir()

    def put(self, rate):
        text = {"context": CONTEXT | {"simulated": "yes" if rate is None else "no", "device": "d"}, "benchmarks": [
            {"name": "contention/push/uniform/sort/keys:1", "global_atomics": 1.0, **({"items_per_second": rate} if rate else {})}]}
        (self.here / "out/push.json").write_text(json.dumps(text))

    def test_page(self):
        self.put(None)
        for options, page in ([], "out/report.html"), (["--out", "my.html", "--against", "out"], "my.html"):
            done = self.warden("report", "out", *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(done.stdout, f"{self.here}/{page}: 1 rows, 1 questions\n")
            text = (self.here / page).read_text()
            self.assertIn("<h1>Warden on d</h1>", text)
            self.assertEqual("Changed by more than 5 %: 0 rows" in text, "--against" in options)

    def test_without_matplotlib(self):
        self.put(1e9)
        (self.folder / "matplotlib.py").write_text("raise ImportError\n")
        done = self.warden("report", "out", PYTHONPATH=self.folder)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertRegex(done.stderr, "^drawing needs matplotlib: apt-get install python3-matplotlib, or pip install matplotlib$")

    def test_bad_options(self):
        for text, options in (("report needs a folder of result files; ./warden bench --all --out FOLDER writes one", []),
                              ("report no: no such folder", ["no"]), ("--against no: no such folder", ["out", "--against", "no"]),
                              ("--out no/x: no file can be written there", ["out", "--out", "no/x"]), ("--out needs a value", ["--out"]),
                              ("unknown option --x for report; see ./warden --help", ["--x"]),
                              ("report takes one folder; --against names a second one", ["out", "out"])):
            self.refused(2, f"^warden: {text}$", "report", *options)
        self.refused(1, "out: no result files; ", "report", "out")
        (self.path / "python3").unlink()
        self.refused(3, "^warden: ./warden report needs python3", "report", "out")


def pieces():
    text = (driver.WARDEN.parent / "scripts/bench_pieces.txt").read_text()
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


class Table(driver.DriverTest):
    def test_table(self):
        names = [tuple(piece[:2]) for piece in pieces()]
        self.assertEqual(len(names), len(set(names)), "two pieces of one name")
        self.assertLessEqual(max(int(piece[3]) for piece in pieces()), 480)
        targets = (driver.WARDEN.parent / "microbench/CMakeLists.txt").read_text()
        self.assertEqual(set(re.findall(r"^ *warden_add_benchmark\((\w+)", targets, re.M)), {piece[4] for piece in pieces()})


class Options(driver.ProgramTest):
    """The programs accept the options of all pieces, and have rows for them."""

    def test_options(self):
        for _, name, _, _, program, *options in pieces():
            done = subprocess.run([driver.BIN / f"{program}_sim", *options, "--benchmark_list_tests"], capture_output=True, text=True,
                                  cwd=driver.WARDEN.parent, timeout=50)
            self.assertEqual(done.returncode, 0, (name, done.stderr))
            self.assertGreater(len(done.stdout.splitlines()), 1, name)


if __name__ == "__main__":
    driver.main()
