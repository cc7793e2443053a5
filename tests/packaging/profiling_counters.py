#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/profiling/ncu.py, traffic.py and bounds.py with programs and an ncu of shell."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts/profiling"))
import bounds  # noqa: E402
import ncu  # noqa: E402
import traffic  # noqa: E402

HEADER = '"ID","Process ID","Process Name","Kernel Name","Block Size","Section Name","Metric Name","Metric Unit","Metric Value"'
TUNED = ("void warden::v0_1_sm_900::baseline::lock_tuned_kernel<warden::baseline::lock_settings<(warden::baseline::lanes)2, 1>, "
         "warden::baseline::work<unsigned int, contention::push::make> >(warden::lock_as_written_arguments<T2>)")
CHECKS = "void contention::first_check<contention::push>(contention::push::check_arguments)"
FUSED = "void warden::fused_kernel<512u, 3u, (anonymous namespace)::delegate<push>, warden::guarded_ref<policy> >(warden::fused_arguments<T3>)"
FULL = [("lts__t_sectors.sum", "12,345,678"), ("dram__bytes.sum", "2,048"), ("smsp__inst_executed.sum", "4,096")]


def written(*launches):
    """The log of ncu about launches, each (kernel, [(metric, value)])."""
    lines = [f'"{i}","7","contention","{kernel}","(256, 1, 1)","Command line profiler metrics","{metric}","unit","{value}"'
             for i, (kernel, values) in enumerate(launches) for metric, value in values]
    return "\n".join(["==PROF== Connected to process 7 (/x/contention)", HEADER, *lines]) + "\n"


class Logs(unittest.TestCase):
    def trouble(self, action, *arguments):
        with self.assertRaises(ncu.Trouble) as caught:
            action(*arguments)
        return caught.exception.code, str(caught.exception)

    def test_names_of_kernels(self):
        for kernel, name in ((TUNED, "lock_tuned_kernel"), (CHECKS, "first_check"), (FUSED, "fused_kernel"), ("fused_kernel", "fused_kernel"),
                             ("void (anonymous namespace)::k(int)", "k"), ("void a<(b)2>::k(int)", "k"), ("draw_ids(bench::draw_arguments)", "draw_ids")):
            self.assertEqual(ncu.base_name(kernel), name)

    def test_launches(self):
        output = written((TUNED, [("a", "1")]), (TUNED, [("a", "12,345,678"), ("b", "4.5")]), (CHECKS, [("a", "9")])).replace('"1","7"', '==WARNING== Note\n"1","7"', 1)
        self.assertEqual(ncu.launches_in(output, {"a", "b"}), [
            ("lock_tuned_kernel", {"a": 1}), ("lock_tuned_kernel", {"a": 12345678, "b": 4.5}), ("first_check", {"a": 9})])
        self.assertEqual(ncu.measured_launch("lock_(tuned|as_written)_kernel", {"a"}, output), {"a": 12345678})
        many = written(*[(FUSED, [("a", str(i))]) for i in range(11)])
        self.assertEqual(ncu.launches_in(many, {"a"})[-1], ("fused_kernel", {"a": 10}), "ids are numbers")
        self.assertEqual(ncu.launches_in(written((FUSED, [("a", "n/a"), ("b", "1")])), {"a", "b"}), [("fused_kernel", {"b": 1})])
        self.assertEqual(ncu.launches_in("==WARNING== No kernels were profiled.\n", {"a"}), [])
        others = written(("other_kernel", [("a", "1")]), ("kernel_2", [("a", "1")]))
        self.assertEqual(self.trouble(ncu.measured_launch, "kernel", {"a"}, others), (1, "ncu profiled no launch of kernel"))

    def test_kernels_of_arms(self):
        tuned, as_written = written((TUNED, FULL)), written(("lock_as_written_kernel", FULL))
        for output in tuned, as_written:
            self.assertEqual(ncu.measured_launch(traffic.KERNELS["lock_tuned"], traffic.METRICS, output)["dram__bytes.sum"], 2048)
        for arm, other in (("lock_as_written", tuned), ("warden_runs", tuned), ("atomics", written(("atomics_combined_kernel", FULL)))):
            self.trouble(ncu.measured_launch, traffic.KERNELS[arm], traffic.METRICS, other)

    def test_time_limit(self):
        """A program ends with the processes that it started."""
        with tempfile.TemporaryDirectory() as folder:
            held = f"{folder}/held"
            os.mkfifo(held)
            reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            command = ["sh", "-c", f"sleep 30 >{held} & sleep 30"]
            self.assertEqual(self.trouble(ncu.output_of, command, 0.3), (1, f"no end within 0.3 s: {' '.join(command)}"))
            end = time.monotonic() + 5
            while time.monotonic() < end:
                with contextlib.suppress(BlockingIOError):
                    if os.read(reader, 1) == b"":
                        return
                time.sleep(0.01)
        self.fail("a process that the program started goes on")


class Programs(unittest.TestCase):
    PROGRAM = """
for a; do case $a in --benchmark_out=*) out=${a#*=};; --benchmark_filter=*) row=${a#*=^}; row=${row%%(*};; esac; done
[ "$row" ] || row=contention/$4/$6/${2%%,*}/keys:$8
[ "$row" != transport/slow/windows/in_band/bytes:16/servers:1 ] || sleep 30
[ "$2" != atomics ] && [ "$2" != warden_none ] || { echo "contention: NO_SUCH_ARM" >&2; exit 2; }
echo '{"context": {"include_hash": "h", "executable": "x"}, "benchmarks": [{"name": "'$row'", "operations": 1024, "sectors": 4.5, "global_atomics": 1.5}]}' >$out
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.json"
        self.program = self.shell("program", self.PROGRAM.replace("NO_SUCH_ARM", ncu.NO_SUCH_ARM))
        self.ncu = self.shell("ncu", f'while [ "$1" != {self.program} ]; do [ "$1" != --log-file ] || log=$2; shift; done\n'
                                     f'cp {self.folder}/profile $log\n"$@"\ncode=$?\n[ $code = 0 ] || '
                                     'echo "==ERROR== The application returned an error code ($code)." >>$log\nexit $code\n')

    def shell(self, name, text):
        (self.folder / name).write_text("#!/bin/sh\n" + text)
        (self.folder / name).chmod(0o755)
        return str(self.folder / name)

    def log(self, *launches):
        (self.folder / "profile").write_text(written(*launches))

    def measured(self, measure, *options):
        """(exit code, lines of complaint, rows)"""
        complaints = io.StringIO()
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(complaints):
            try:
                code = measure(["--out", str(self.out), *options])
            except (ncu.Trouble, SystemExit) as ended:
                code = ended.code
                if isinstance(ended, ncu.Trouble):
                    print(ended, file=complaints)
        rows = {row["name"]: row for row in json.loads(self.out.read_text())["benchmarks"]} if self.out.exists() else {}
        return code, complaints.getvalue().splitlines(), rows

    def traffic(self, *options):
        return self.measured(traffic.measure, "--keys", "256", "--operation", "push", "--ops", "1024", *options)

    def test_traffic(self):
        self.log((FUSED, FULL), ("lock_as_written_kernel", [(metric, "1024") for metric, _ in FULL]))
        gpu = ["--program", self.program, "--ncu", self.ncu, "--arms", "lock_as_written", "atomics", "warden_runs"]
        name = "traffic/push/uniform/{}/keys:256".format
        code, complaints, rows = self.traffic(*gpu)
        self.assertEqual((code, complaints, [*rows]), (0, [], [name("lock_as_written"), name("warden_runs")]))
        self.assertEqual(rows[name("warden_runs")], {
            "name": name("warden_runs"), "operations": 1024, "l2_sectors_per_operation": 12345678 / 1024, "dram_bytes_per_operation": 2,
            "instructions_per_operation": 4, "l2_of_lock_as_written": 12345678 / 1024, "dram_of_lock_as_written": 2})
        # Simulated counts go into the rows of the same library.
        code, _, rows = self.traffic("--simulated", self.program, "--arms", "warden_runs")
        self.assertEqual([rows[name("warden_runs")][count] for count in ("simulated_sectors_per_operation", "dram_bytes_per_operation")], [4.5, 2])
        self.out.write_text(self.out.read_text().replace('"include_hash": "h"', '"include_hash": "other"'))
        self.assertIn("include_hash is h, but other", self.traffic("--simulated", self.program, "--arms", "warden_runs")[1][-1])
        # A row that fails is named, and the others are measured.
        self.out.unlink()
        self.log((FUSED, FULL))
        code, complaints, rows = self.traffic(*gpu)
        self.assertEqual((code, complaints, [*rows]), (
            1, [f"traffic.py: {name('lock_as_written')}: ncu profiled no launch of lock_as_written_kernel"], [name("warden_runs")]))
        self.log((FUSED, FULL[:2]))
        self.assertIn("ncu printed no smsp__inst_executed.sum", self.traffic(*gpu)[1][-1])

    def test_shares(self):
        rows = {traffic.row_name(operation, "uniform", arm, keys): {"l2_sectors_per_operation": l2, "dram_bytes_per_operation": dram}
                for operation, arm, keys, l2, dram in (("push", "lock_as_written", 256, 200, 0), ("push", "warden_runs", 256, 10, 5),
                                                       ("push", "warden_runs", 1024, 10, 5), ("update", "warden_runs", 256, 10, 5))}
        traffic.add_shares(rows)
        self.assertEqual([row.get("l2_of_lock_as_written") for row in rows.values()], [1, 0.05, None, None])
        self.assertNotIn("dram_of_lock_as_written", rows["traffic/push/uniform/warden_runs/keys:256"])

    def bounds(self, *options):
        self.out.unlink(missing_ok=True)
        return self.measured(bounds.measure, "--contention", self.program, "--transport", self.program, "--ncu", self.ncu, *options)

    def test_bounds(self):
        self.log((FUSED, [(metric, "2,048" if metric == bounds.INSTRUCTIONS else "5") for metric in bounds.METRICS]))
        code, complaints, rows = self.bounds()
        self.assertEqual((code, complaints, [*rows]), (0, [], [f"bounds/{name}" for name in bounds.ROWS]))
        row = rows["bounds/contention/push/uniform/warden_runs/keys:256"]
        self.assertEqual([row[name] for name in ("instructions_per_operation", "registers", "nanoseconds")], [2, 5, 5])
        self.assertAlmostEqual(row["stall_wait_percent"], 100 / 18)
        self.assertNotIn("executable", json.loads(self.out.read_text())["context"])
        slow, none = "transport/slow/windows/in_band/bytes:16/servers:1", "contention/push/uniform/warden_none/keys:1"
        code, complaints, rows = self.bounds("--limit", "1", "--rows", slow, none, bounds.ROWS[4])
        self.assertEqual((code, [*rows]), (1, [f"bounds/{bounds.ROWS[4]}"]))
        self.assertTrue(complaints[0].startswith(f"bounds.py: bounds/{slow}: no end within 1 s: "), complaints)
        self.assertEqual(complaints[1:], [f"bounds.py: bounds/{none}: the program has no such row"])
        self.log((FUSED, [(metric, "5") for metric in bounds.METRICS[1:]]))
        _, _, rows = self.bounds("--rows", bounds.ROWS[0])
        self.assertEqual([name in rows[f"bounds/{bounds.ROWS[0]}"] for name in ("l2_percent", "dram_percent")], [False, True])

    def test_errors_of_ncu(self):
        for text, code, said in (("==ERROR== ERR_NVGPUCTRPERM - no permission\n", 3, "may not read"), ("==ERROR== Failed to find metric x\n", 1, "ncu: Failed")):
            (self.folder / "profile").write_text(text)
            found, complaints, _ = self.bounds("--rows", bounds.ROWS[0])
            self.assertEqual(found, code)
            self.assertIn(said, complaints[-1])
        self.ncu = f"{self.folder}/none"
        self.assertEqual(self.bounds()[:2], (3, [f"{self.folder}/none: No such file or directory"]))

    def test_options(self):
        for options in ([], ["--keys", "0"], ["--program", "/nowhere"], ["--program", self.program, "--arms", "sort"]):
            self.assertEqual(self.measured(traffic.measure, *options)[0], 2, options)
        for options in (["--limit", "0"], ["--ops", "0"], ["--rows", "contention/push/uniform/sort/keys:1"], ["--rows", ""]):
            self.assertEqual(self.bounds(*options)[0], 2, options)
        self.assertEqual(self.measured(bounds.measure, "--contention", self.program, "--rows", bounds.ROWS[0])[0], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
