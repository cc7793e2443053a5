#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ./warden bench: where and what it runs, what it prints and writes, and how it is interrupted.

    driver_bench.py WARDEN [BIN] [UNITTEST OPTIONS]     BIN: folder with the program contention_sim
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

import driver
from driver import ALL_INSTALLED, CONTEXT, GPU, NOTHING_INSTALLED, USER

SMALL = ["--device", "sim", "--keys", "1", "--ops", "64", "--arms", "atomics"]


class Devices(driver.DriverTest):
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


class Benchmarks(driver.DriverTest):
    """The programs are stubs that write one row: which ones run, in which order, and with which options."""

    NAMES = ["contention", "hash_table_bench", "bank_transfer_bench", "spanning_forest_bench", "max_flow_bench",
             "breadth_first_bench", "shortest_paths_bench", "matrix_factorization_bench", "allocation", "transport",
             "producer_warp", "sparse_product", "transactions_bench"]
    BENCHMARKS = [name.removesuffix("_bench") for name in NAMES]
    ROWS = ["contention/push/uniform/atomics/keys:1", "hash_table/count/uniform/atomics/keys:1",
            "bank_transfer/transfer/uniform/atomics/keys:256",
            "spanning_forest/find/rmat8/atomics/keys:256", "max_flow/find/washington_8x10/atomics/keys:82",
            "breadth_first/find/rmat8/top_down/keys:256", "shortest_paths/find/rmat8/near_far/keys:256",
            "matrix_factorization/descend/small/hogwild/keys:16",
            "allocation/copy/4K/global_atomic/keys:1", "transport/block/windows/in_band/bytes:16/servers:4",
            "producer_warp/copy/contiguous/plain/keys:1", "sparse_product/multiply/rmat/coo_atomics/keys:256",
            "transactions/ycsb/0.9/optimistic/rows:4096/transactions:128"]

    def programs(self, failing=None):
        bin = self.here / "bin"
        bin.mkdir(exist_ok=True)
        for name, row in zip(self.NAMES, self.ROWS):
            counts = {count: 1.0 for count in ("global_atomics", "lock_retries", "sectors", "messages")}
            text = json.dumps({"context": CONTEXT | {"simulated": "yes"}, "benchmarks": [{"name": row, **counts}]})
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

    def test_one_by_default(self):
        self.programs()
        self.assertEqual(self.bench("--repetitions", 2).returncode, 0)
        self.assertEqual(self.runs(), ["contention_sim --repetitions 2"])

    def test_those_named(self):
        self.programs()
        self.assertEqual(self.bench("transport", "max_flow").returncode, 0)
        self.assertEqual(self.runs(), ["transport_sim", "max_flow_bench_sim"])
        done = self.bench("bank_transfer", "--arms", "warden_nested", "--keys", 64, "--out", "my.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(self.runs(), ["bank_transfer_bench_sim --arms warden_nested --keys 64"])
        self.assertRegex(done.stdout, r"\nJSON: my.json\n\nThe simulated device has no rates; .*\n\Z")

    def test_several_in_turn(self):
        self.programs()
        done = self.bench(*self.BENCHMARKS, "--ops", 64)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(self.runs(), [f"{name}_sim --ops 64" for name in self.NAMES])
        self.assertEqual(re.findall(r"^JSON: .*/([a-z_]+)-sim.json$", done.stdout, re.M), self.BENCHMARKS)
        self.assertRegex(done.stdout, r"\nsend +receive .*\nblock +windows +in_band +16 +4 +1\.00 +1\.00 +1\.00 +1\.00\n")
        self.assertRegex(done.stdout, r"\nJSON: .*\n\nThe simulated device has no rates; .*\n\Z")

    def test_options_of_one_benchmark(self):
        self.programs()
        for chosen in (["--all"], ["contention", "max_flow"]):
            self.refused(2, "^warden: --keys is an option of one benchmark; name one$", "bench", *chosen, "--keys", "1")
        self.refused(2, "^warden: --out x.json: the file of one benchmark; name one$", "bench", "--out", "x.json", *chosen)

    def test_one_that_fails_is_the_last(self):
        for number, name in enumerate(self.NAMES):
            self.programs(failing=name)
            self.assertEqual(self.bench(*self.BENCHMARKS).returncode, 1, name)
            self.assertEqual(len(self.runs()), number + 1)

    def test_a_gpu_run_ends_with_the_arms_to_take_and_three_sentences(self):
        self.stub(GPU)
        bin = self.programs()
        rows = [{"name": f"contention/push/uniform/{arm}/keys:{keys}", "items_per_second": rate}
                for keys, rates in ((1, (1e9, 1e8, 2e8)), (32, (1e8, 1e9, 3e9)), (64, (2.9e9, 1e9, 2.8e9)))
                for arm, rate in zip(("atomics", "lock_tuned", "warden"), rates)]
        text = json.dumps({"context": CONTEXT | {"simulated": "no"}, "benchmarks": rows})
        (bin / "contention").write_text((bin / "contention_sim").read_text().replace("echo '", f"echo '{text}' >$file; exit\n: '"))
        (bin / "contention").chmod(0o755)
        done = self.warden("bench", "--prebuilt", "bin", "--keys", "1,32,64")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"\nJSON: .*\n\ncontention: fastest arm, or one within 5 % of it\noperation .*\n"
                                      r"push +uniform +1 +lock_tuned +atomics\n"
                                      r"push +uniform +32 to 64 +lock_tuned +warden\n\n(.+\n)*\n"
                                      r"warden was the fastest arm, or at most 5 % slower than it, at 2 of 3 points\.\n"
                                      r"The fastest arms of the other points were atomics \(1\), at most 5\.00 times as fast as warden\.\n"
                                      r"warden was 2\.00 to 3\.00 times as fast as lock_tuned, 2\.80 times in the median\.\n\Z")

    def test_one_that_is_missing_is_named(self):
        (self.programs() / "hash_table_bench_sim").unlink()
        done = self.bench(*self.BENCHMARKS)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, "(?m)^Not run: no program hash_table_bench_sim in .*/bin.$")
        self.assertEqual([run.split()[0] for run in self.runs()], [f"{name}_sim" for name in self.NAMES if name != "hash_table_bench"])

    def test_only_what_runs_is_built(self):
        self.stub(ALL_INSTALLED, {"cmake": 'echo "$*" >>"$0.log"'})
        (self.home / "build/bench").mkdir(parents=True)
        (self.home / "build/bench/build.ninja").write_text(
            "".join(f"build {name}_sim: phony bin/{name}_sim\n" for name in ("contention_default", *self.NAMES)))
        for options, programs in (([], ["contention_default"]), (["--keys", "1"], ["contention_default"]),
                                  (["--arms", "warden_runs"], ["contention"]), (["--workload", "hot90"], ["contention"]),
                                  (["--operation", "update_mask"], ["contention"]), (["max_flow"], ["max_flow_bench"]),
                                  (self.BENCHMARKS, ["contention_default", *self.NAMES[1:]])):
            self.warden("bench", *options)
            self.assertEqual((self.path / "cmake.log").read_text().splitlines()[-1],
                             "--build build/bench --target " + " ".join(f"{name}_sim" for name in programs), options)


class Prebuilt(driver.ProgramTest):
    """Neither a compiler nor CMake is on the PATH."""

    def bench(self, *options):
        return self.warden("bench", "--prebuilt", driver.BIN, *SMALL, *options)

    def test_table_and_file(self):
        done = self.bench()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertTrue(done.stdout.startswith("The simulated device, as asked"), done.stdout)
        self.assertRegex(done.stdout, r"\npush: global atomics for each section\nworkload +uniform +zipf099\nkeys +1 +1\natomics +1\.00 +1\.00\n")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100, done.stdout)
        written = self.home / "build/results/contention-sim.json"
        self.assertRegex(done.stdout, f"\nJSON: {written}\n\nThe simulated device has no rates; .*\n\\Z")
        self.assertEqual(len(json.loads(written.read_text())["benchmarks"]), 4)

    def test_by_default(self):
        done = self.warden("bench", "--prebuilt", driver.BIN, *SMALL[:2], "--ops", "64")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        lines = done.stdout.splitlines()
        # Installing and building print one line each.
        self.assertLessEqual(len(lines), 78, done.stdout)
        self.assertLessEqual(max(map(len, lines)), 100, done.stdout)
        end = " ".join(lines[lines.index("", lines.index(next(line for line in lines if line.startswith("JSON: ")))) + 1:])
        self.assertRegex(end, r"^A section took \S+ (to \S+ )?global atomics with warden, .* with lock_tuned and .* with lock_as_written\. "
                              r"A section tried its lock again at most .*; warden takes no locks\. The simulated device has no rates; [^.]*\.$")
        rows = json.loads((self.home / "build/results/contention-sim.json").read_text())["benchmarks"]
        arms = {row["name"].split("/")[3] for row in rows}
        self.assertEqual({arm for arm in arms if arm.startswith("warden")}, {"warden", "warden_bulk"})
        self.assertEqual(arms, {line.split()[0] for line in lines if re.match("(atomics|lock|warden)[a-z_]* +[0-9]", line)})

    def test_a_workload_with_its_own_number_of_keys(self):
        done = self.bench("--keys", "32", "--workload", "hot90,uniform", "--out", "my.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual([row["name"].removeprefix("contention/") for row in json.loads((self.here / "my.json").read_text())["benchmarks"]],
                         [f"{operation}/{point}" for operation in ("push", "add") for point in
                          ("hot90/atomics/keys:32768", "uniform/atomics/keys:1", "uniform/atomics/keys:32")])
        self.assertRegex(done.stdout, r"\npush: global .*\nworkload +hot90 +uniform +uniform\nkeys +32K +1 +32\natomics +1\.00 ")

    def test_no_gpu_is_said_first(self):
        done = self.warden("bench", "--prebuilt", driver.BIN, *SMALL[2:], "--operation", "add")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("No CUDA GPU: running on the simulated device"), done.stdout)

    def test_paths_are_the_users(self):
        (self.here / "bin").symlink_to(driver.BIN)
        (self.here / "my ids").write_text("30\n10\n10\n")
        done = self.warden("bench", "--prebuilt", "bin", *SMALL, "--out", "my.json", "--ids", "my ids")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("\nJSON: my.json\n", done.stdout)
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
        for text, error in (("1\n2 x\n", r':2: record id "x" is not a whole number$'), ("# none\n", ": no record ids$"),
                            ("1\n99999999999999999999\n", r":2: .* is not from 0 to 18446744073709551615$")):
            (self.here / "ids").write_text(text)
            out = self.refused(2, "^contention: .*/ids" + error, "bench", "--prebuilt", driver.BIN, *SMALL, "--ids", "ids")
            self.assertEqual(out.count("\n"), 1, out)
        self.assertEqual(earlier.read_text(), before)

    def test_nothing_to_run(self):
        self.refused(2, "^Failed to match any ", "bench", "--prebuilt", driver.BIN, *SMALL, "--benchmark_filter", "nonsense")
        self.refused(2, "^contention: none of these arms ", "bench", "--prebuilt", driver.BIN, *SMALL, "--operation", "update")

    def test_names_that_the_program_does_not_know(self):
        for option in ("--arms", "--operation", "--workload"):
            out = self.refused(2, f"^contention: {option}: nonsense not in ", "bench", "--prebuilt", driver.BIN, option, "nonsense")
            self.assertEqual(out.count("\n"), 1, out)
        self.refused(2, "^contention: --keys: ", "bench", "--prebuilt", driver.BIN, "--keys", "999999999")


class Interrupt(driver.ProgramTest):
    """Ctrl-C: a SIGINT for every process of the group. Finished rows are kept, and no others."""

    def setUp(self):
        super().setUp()
        self.out = self.here / "rows.json"

    PATIENCE = 120  # seconds: a first row takes 20 on a loaded machine
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
        end = time.monotonic() + self.PATIENCE
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

    def printed(self, what="--tables"):
        return subprocess.run([sys.executable, self.home / "scripts/results", what, self.out], capture_output=True, text=True)

    def check_printed(self, out):
        """All that follows the driver's first line."""
        summary = self.printed("--summary").stdout
        self.assertEqual(out.split("\n", 1)[1], f"{self.printed().stdout}JSON: {self.out}\n{summary}")

    def test_program(self):
        running = self.start([driver.BIN / "contention_sim"], *self.SWEEP, f"--benchmark_out={self.out}")
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=self.PATIENCE)
        self.assertEqual(running.returncode, 130, err)
        rows = json.loads(self.out.read_text())["benchmarks"]
        self.assertEqual([line.split()[0] for line in out.splitlines()], [row["name"] for row in rows])
        self.check_rows(rows)
        self.assertRegex(err, "^\ncontention: interrupted; .*\ncontention: "
                              f"{len(self.KEYS) * len(self.ARMS) - len(rows)} rows were not run\n$")
        self.assertEqual(self.printed().returncode, 0)

    def test_driver(self):
        running = self.start([self.home / "warden", "bench"], "--device", "sim", "--prebuilt", driver.BIN, *self.SWEEP,
                             "--out", self.out)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=self.PATIENCE)
        self.assertEqual(running.returncode, 130, err)
        rows = json.loads(self.out.read_text())["benchmarks"]
        self.check_rows(rows)
        self.check_printed(out)
        self.assertIn("push: global atomics", out)

    def test_driver_in_a_long_point(self):
        """A second Ctrl-C does not wait for the point that runs."""
        long = ["--operation", "push", "--workload", "uniform", "--ops", "20000", "--keys", "1024,1", "--arms",
                "lock_as_written"]  # minutes at one key
        running = self.start([self.home / "warden", "bench"], "--device", "sim", "--prebuilt", driver.BIN, *long, "--out", self.out)
        time.sleep(0.5)
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(running.poll(), "the first one waits")
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=self.PATIENCE)
        self.assertEqual(running.returncode, 130, err)
        self.assertRegex(out, r"(?m)^keys +1K$", "it waited for the point of one key")
        self.check_printed(out)


if __name__ == "__main__":
    driver.main()
