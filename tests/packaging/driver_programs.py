#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the benchmark programs, run directly: their rows, options and errors.

    driver_programs.py WARDEN BIN [UNITTEST OPTIONS]     BIN: folder with the programs contention_sim,
                                                     contention_default_sim, handover_sim, transport_sim,
                                                     allocation_sim, hash_table_bench_sim, bank_transfer_bench_sim,
                                                     spanning_forest_bench_sim, max_flow_bench_sim,
                                                     breadth_first_bench_sim, shortest_paths_bench_sim and
                                                     matrix_factorization_bench_sim
"""
import json
import os
import pty
import shutil
import subprocess
import sys

import driver
import every_command


def every_program(program):
    """The tests that every benchmark program passes."""
    name = program.removesuffix("_bench")

    class EveryProgram(every_command.EveryCommand, driver.ProgramTest):
        NAME = name

        @property
        def program(self):
            return driver.BIN / f"{program}_sim"
    EveryProgram.__qualname__ = program
    return EveryProgram


Contention = every_program("contention")
Handover = every_program("handover")
Transport = every_program("transport")
Allocation = every_program("allocation")
BankTransfer = every_program("bank_transfer_bench")
MaxFlow = every_program("max_flow_bench")
BreadthFirst = every_program("breadth_first_bench")
ShortestPaths = every_program("shortest_paths_bench")
MatrixFactorization = every_program("matrix_factorization_bench")


class Programs(driver.ProgramTest):
    """Each by itself."""

    def test_bank_transfer(self):
        done = subprocess.run([driver.BIN / "bank_transfer_bench_sim", "--ops", "64", "--arms", "atomics,warden_colocated", "--keys",
                               "256,32768", "--colocated-accounts", "on_chip", f"--benchmark_out={self.here}/rows.json"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Abank_transfer/transfer/uniform/warden_colocated/keys:32768 is left out: guarded: .* too many "
                                      r"for the chip.*\n\Z")
        rows = json.loads((self.here / "rows.json").read_text())["benchmarks"]
        self.assertEqual([row["name"] for row in rows], [f"bank_transfer/transfer/uniform/{point}" for point in (
            "atomics/keys:256", "warden_colocated/keys:256", "atomics/keys:32768")])
        self.assertEqual({(row["audits"], row["refused"]) for row in rows}, {(1, 0)})

    def test_handover_of_spanning_trees(self):
        done = subprocess.run([driver.BIN / "handover_sim", "--workload", "mst_rmat,mst_r4", "--arms", "lock_as_written,lock_tuned,warden_locks,warden_runs",
                               "--ops", "256", f"--benchmark_out={self.here}/rows.json"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [row["name"].split("/") for row in json.loads((self.here / "rows.json").read_text())["benchmarks"]]
        self.assertEqual([row[1:4] for row in rows], [["nanoseconds", workload, arm] for workload in ("mst_rmat", "mst_r4")
                                                      for arm in ("lock_as_written", "lock_tuned", "warden_locks", "warden_runs")])
        done = subprocess.run([driver.BIN / "handover_sim", "--workload", "mst_rmat", "--scale", "3"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--scale", done.stderr)

    def test_max_flow(self):
        boost = ["boost_push_relabel", "boost_boykov_kolmogorov"]
        for arms in (["atomics", "warden", *boost], boost, None):
            options = ["--input", "washington_8x10", *(["--arms", ",".join(arms)] if arms else [])]
            done = subprocess.run([driver.BIN / "max_flow_bench_sim", *options, f"--benchmark_out={self.here}/rows.json"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            data = json.loads((self.here / "rows.json").read_text())
            rows = {row["name"].removeprefix("max_flow/find/washington_8x10/").removesuffix("/keys:82"): row for row in data["benchmarks"]}
            # Boost's are there only if they are asked for.
            self.assertEqual(list(rows), arms or ["lock_as_written", "lock_tuned", "atomics", "warden", "warden_regions"])
            self.assertEqual(len({row["flow"] for row in rows.values()}), 1)
            self.assertEqual({row["vertices"] for row in rows.values()}, {82})
            for arm in (arm for arm in boost if arm in rows):
                self.assertEqual(rows[arm]["runs"], 1)
                self.assertGreater(rows[arm]["items_per_second"], 0)
            self.assertTrue(data["context"]["host_cpu"])
            self.assertIn(" ".join(options), data["context"]["command"])
            printed = subprocess.run([sys.executable, self.home / "scripts/results", "--tables", self.here / "rows.json"],
                                     capture_output=True, text=True)
            self.assertEqual((printed.returncode, printed.stderr), (0, ""), printed.stdout)

    def test_max_flow_of_files(self):
        data, out = self.here / "data", self.here / "rows.json"
        shutil.copytree(driver.WARDEN.parent / "apps/data", data)
        command = [driver.BIN / "max_flow_bench_sim", "--input", "dimacs_sample,washington_4x4", "--arms", "atomics,warden", "--data", data,
                   f"--benchmark_out={out}"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([row["flow"] for row in json.loads(out.read_text())["benchmarks"]], [15, 15, 49252, 49252])
        # Another network's flow is a right one, but not the known one.
        sample = data / "dimacs_sample.max"
        sample.write_text(sample.read_text().replace("a 4 6 15", "a 4 6 1"))
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a flow of 6; 15 is known", done.stderr)
        sample.unlink()
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("dimacs_sample.max", done.stderr)

    def test_allocation(self):
        program, out = driver.BIN / "allocation_sim", f"--benchmark_out={self.here}/rows.json"
        done = subprocess.run([program, "--ops", "64", out], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = [row["name"] for row in json.loads((self.here / "rows.json").read_text())["benchmarks"]]
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], names)
        self.assertEqual(len(set(names)), len(names))
        for name in ("copy/64/block_scan/keys:256", "emit/zipf/ordered/keys:1", "decode/one/cub_block_decode/keys:1",
                     "take/uniform/warp_atomic/keys:65536", "histogram/one/cub_sort/keys:65536"):
            self.assertIn(f"allocation/{name}", names)
        printed = subprocess.run([sys.executable, self.home / "scripts/results", "--tables", self.here / "rows.json"], capture_output=True, text=True)
        self.assertEqual((printed.returncode, printed.stderr), (0, ""), printed.stdout)
        for options, error in ((["--each", "3"], "--each 3: a power of two"), (["--elements", "6"], "6 elements: a multiple of 4 is copied"),
                               (["--operation", "copies"], "--operation: copies not in {copy,emit,decode,take,histogram}"),
                               (["--samples", "two"], "--samples: two not in {uniform,zipf099,one}"), (["--bins", "0"], "--bins: 0 is not a whole number from 1 to 16777216")):
            done = subprocess.run([program, *options], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertTrue(done.stderr.startswith(f"allocation: {error}") and done.stderr.count("\n") == 1, done.stderr)

    def test_breadth_first(self):
        for arms in ("gather_warp", "cull_none", "warden"), ("top_down", "direction_optimizing"):
            done = subprocess.run([driver.BIN / "breadth_first_bench_sim", "--arms", ",".join(arms), f"--benchmark_out={self.here}/rows.json"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            data = json.loads((self.here / "rows.json").read_text())
            rows = {row["name"].removeprefix("breadth_first/find/rmat8/").removesuffix("/keys:256"): row for row in data["benchmarks"]}
            self.assertEqual(tuple(rows), arms)
            self.assertEqual(len({(row["vertices"], row["levels"]) for row in rows.values()}), 1, "all reach the same")
            for arm, row in rows.items():
                self.assertGreaterEqual(row["found"], row["vertices"])
                self.assertEqual(row["levels_bottom_up"] > 0, arm == "direction_optimizing")
                if arm != "cull_none":
                    self.assertEqual(row["found"], row["vertices"])

    def test_shortest_paths(self):
        done = subprocess.run([driver.BIN / "shortest_paths_bench_sim", "--buckets", "4", f"--benchmark_out={self.here}/rows.json"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = json.loads((self.here / "rows.json").read_text())
        rows = {row["name"].removeprefix("shortest_paths/find/rmat8/").removesuffix("/keys:256"): row for row in data["benchmarks"]}
        self.assertEqual(list(rows), ["bellman_ford", "near_far", "delta_stepping", "delta_scan", "decoupled"])
        self.assertEqual(len({(row["vertices"], row["farthest"]) for row in rows.values()}), 1, "all find the same")
        self.assertEqual({(row["bits"], row["searches"]) for row in rows.values()}, {(32, 1)})
        self.assertEqual((rows["bellman_ford"]["refills"], rows["bellman_ford"]["delta"]), (0, 0))

    def test_shortest_paths_count_a_search_that_overflows(self):
        (self.here / "rome99.gr").write_text("p sp 3 2\na 1 2 4294967295\na 2 3 4294967295\n")
        done = subprocess.run([driver.BIN / "shortest_paths_bench_sim", "--input", "rome99", "--data", self.here, "--repetitions", "2",
                               f"--benchmark_out={self.here}/rows.json"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = json.loads((self.here / "rows.json").read_text())["benchmarks"]
        self.assertEqual([(row["bits"], row["searches"]) for row in rows], 5 * [(64, 2)])

    def test_matrix_factorization(self):
        done = subprocess.run([driver.BIN / "matrix_factorization_bench_sim", "--rank", "32", f"--benchmark_out={self.here}/rows.json"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = json.loads((self.here / "rows.json").read_text())
        rows = {row["name"].removeprefix("matrix_factorization/descend/small/").removesuffix("/keys:32"): row for row in data["benchmarks"]}
        self.assertEqual(list(rows), ["lock_warp", "hogwild", "warden_rounds", "warden_rounds_on_chip"])
        for arm, row in rows.items():
            self.assertEqual((row["epochs"], row["rmse"]), (1, row["rmse_1"]))
            if arm != "hogwild":
                self.assertEqual(row["lost_elements"], 0)

    def test_arms_by_default(self):
        """Baselines, one arm of Warden and at most three more."""
        for program in ("contention", "contention_default", "hash_table_bench", "bank_transfer_bench", "spanning_forest_bench",
                        "max_flow_bench", "breadth_first_bench", "matrix_factorization_bench", "allocation"):
            done = subprocess.run([driver.BIN / f"{program}_sim", "--benchmark_list_tests"], cwd=driver.WARDEN.parent,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            arms = {arm for line in done.stdout.splitlines() if (arm := line.split("/")[3]).startswith("warden")}
            self.assertTrue(1 <= len(arms) <= 4, f"{program}: {arms}")
            if program.startswith("contention"):
                self.assertEqual(arms, {"warden", "warden_bulk"})

    def test_repetitions_by_default(self):
        for program, repetitions in (("contention", 5), ("max_flow_bench", 3)):
            done = subprocess.run([driver.BIN / f"{program}_sim", "--help"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, rf"--repetitions .*={repetitions}\s")

    def test_transport(self):
        done = subprocess.run([driver.BIN / "transport_sim", "--ops", "64", f"--benchmark_out={self.here}/rows.json"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = [row["name"] for row in json.loads((self.here / "rows.json").read_text())["benchmarks"]]
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], names)
        for name in ("block/windows/in_band/bytes:16/servers:8", "ceiling_copy/windows/in_band/bytes:64/servers:4",
                     "thread/slices/in_band/bytes:16/servers:4", "latency/slices/in_band/loaded/servers:4"):
            self.assertIn(f"transport/{name}", names)
        self.assertEqual(len(set(names)), len(names))


class Rows(driver.ProgramTest):
    """A program that is run directly prints each row as it is finished."""

    COMMAND = ["--keys", "1,32", "--ops", "64", "--arms", "atomics,warden_locks", "--operation", "push", "--workload", "uniform"]
    NAMES = [f"contention/push/uniform/{arm}/keys:{keys}" for keys in (1, 32) for arm in ("atomics", "warden_locks")]

    def run_program(self, *options, **streams):
        return subprocess.run([driver.BIN / "contention_sim", *self.COMMAND, *options], text=True, stdout=subprocess.PIPE,
                              **{"stderr": subprocess.PIPE, **streams})

    def test_a_line_a_row(self):
        done = self.run_program()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], self.NAMES)
        width = max(map(len, self.NAMES)) + 2
        for line in done.stdout.splitlines():
            self.assertRegex(line[width:], r"^global atomics \d\.\d\d, lock retries [\d.]+, sectors [\d.]+, messages [01]\.00$", line)

    def test_deferred_arms_have_no_sectors(self):
        arms = [f"warden_deferred{which}" for which in ("", "_on_chip", "_threads")]
        done = subprocess.run([driver.BIN / "contention_sim", "--arms", ",".join(arms), "--operation", "update", "--workload", "uniform",
                               "--keys", "1024", "--ops", "64", f"--benchmark_out={self.here}/rows.json"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = json.loads((self.here / "rows.json").read_text())["benchmarks"]
        self.assertEqual([row["name"] for row in rows], [f"contention/update/uniform/{arm}/keys:1024" for arm in arms])
        # 64 sections: one atomic for a block's, one for each thread's, and those of the run.
        together, on_chip, alone = (row["global_atomics"] for row in rows)
        self.assertLess(together, 1)
        self.assertGreaterEqual(alone, on_chip + 1 - 1 / 64)
        for row in rows:
            self.assertEqual((row["messages"], row["operations"]), (1, 64))
            self.assertNotIn("sectors", row)

    def test_quiet(self):
        done = self.run_program("--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_bar_of_a_terminal_stays(self):
        for options, rows in (([], len(self.NAMES)), (["--quiet"], 0)):
            terminal, end = pty.openpty()
            done = self.run_program(*options, stderr=end)
            os.close(end)
            bar = os.read(terminal, 65536).decode()
            os.close(terminal)
            self.assertEqual((done.returncode, done.stdout.count("\n")), (0, rows))
            for number, name in enumerate(self.NAMES[:-1], 1):
                self.assertIn(f"] {number}/{len(self.NAMES)} {name}", bar)
            self.assertTrue(bar.endswith("\r\033[K"), "it leaves the line empty")


if __name__ == "__main__":
    driver.main()
