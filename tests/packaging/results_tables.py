#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/results on small result files: tables, marks, choices of arms, plots, and files."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts/results"))
import choice  # noqa: E402
import families  # noqa: E402
import load  # noqa: E402
import names  # noqa: E402
import pages  # noqa: E402
import plot  # noqa: E402

CONTEXT = {"device": "d", "commit": "0123456789abcdef", "toolkit": "13.0", "date": "2026-01-01T00:00:00", "include_hash": "h"}


def file(*rows, **context):
    return {"context": CONTEXT | context, "benchmarks": [{"name": name, **values} for name, values in rows]}


def rate(name, value, **values):
    return name, {"items_per_second": value, "runs": 5, "slowest_per_second": value, "fastest_per_second": value, **values}


CONTENTION = file(*(rate(f"contention/{operation}/{workload}/{arm}/keys:{keys}", value * 1e9)
                    for operation, workload, keys, arms in (
                        ("push", "uniform", 32, {"warden_runs": 3, "atomics": 4}), ("push", "uniform", 1024, {"warden_runs": 2}),
                        ("push", "hot90", 32768, {"atomics": 1, "warden_runs": 5}), ("add", "uniform", 1, {"sort": 0.5}))
                    for arm, value in arms.items()))


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name)
        self.addCleanup(mock.patch.stopall)
        for module in load, pages, plot:
            mock.patch.object(module, "RESULTS", self.results).start()
        mock.patch.object(load.published, "__defaults__", (self.results,)).start()
        (self.results / "known.json").write_text(json.dumps({"spanning_forest": {"another code": {"rmat22": 12.8}}}))

    def put(self, name, data, folder="gpu"):
        path = self.results / folder / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(data))
        return path

    def error(self, action, *arguments):
        with self.assertRaises(SystemExit) as caught:
            action(*arguments)
        return str(caught.exception.code)


class Tables(ResultsTest):
    def lines(self, data):
        return {table.slug: (table.header, table.lines) for table in families.tables_of(data)}

    def test_arms_are_columns(self):
        tables = families.tables_of(CONTENTION)
        self.assertEqual([table.caption() for table in tables], ["push: G sections/s", "add: G sections/s"])
        self.assertEqual(tables[0].header, ["workload", "keys", "atomics", "warden_runs"])
        self.assertEqual(tables[0].lines, [["uniform", "32", "4.00", "3.00"], ["uniform", "1K", "-", "2.00"], ["hot90", "32K", "1.00", "5.00"]])
        self.assertEqual(tables[0].markdown().splitlines()[:2], ["| workload | keys | atomics | fused, sorted |", "| --- | --- | ---: | ---: |"])
        self.assertEqual(tables[1].without_constants().caption(), "add, uniform: G sections/s")
        self.assertEqual(self.error(families.tables_of, file(rate("contention/push/uniform/warden_new/keys:1", 1))),
                         "results: contention/push/uniform/warden_new/keys:1: names.py has no label for warden_new")

    def test_sections_and_cold_keys(self):
        tables = families.tables_of(file(rate("bank_transfer/transfer/uniform/lock_tuned/keys:1024/sections:4096", 4e8),
                                         rate("bank_transfer/transfer/uniform/lock_tuned/keys:1024", 5e8),
                                         rate("bank_transfer/transfer/hot90/lock_tuned/keys:1024", 5e8, cold_items_per_second=1e9)))
        self.assertEqual([(table.caption(), table.names, len(table.lines)) for table in tables], [
            ("transfer: G transfers/s", 2, 2), ("transfer: G transfers/s", 3, 1), ("transfer: G transfers/s on the cold keys alone", 2, 1)])

    def test_wide_spreads_are_marked(self):
        """Above 10 % of the median, in rates, bandwidths and times."""
        def row(name, **values):
            return rate(name, 1e9, real_time=2.0, bytes=8e6, operations=1e6, runs=5, **values)
        narrow, wide = {"slowest_per_second": 0.96e9, "fastest_per_second": 1.05e9}, {"slowest_per_second": 0.94e9, "fastest_per_second": 1.05e9}
        for name, texts in {"contention/push/uniform/{}/keys:1": ["1.00", "1.00 ±"], "allocation/copy/uniform/{}/keys:1": ["8.00", "8.00 ±"],
                            "spanning_forest/find/rmat22/{}/keys:1": ["2.00", "2.00 ±"]}.items():
            table = families.tables_of(file(row(name.format("sort"), **narrow), row(name.format("atomics"), **wide)))[0]
            values = dict(zip(table.header, table.lines[0]))
            self.assertEqual([values["sort"], values["atomics"]], texts, name)

    def test_times_and_known_codes(self):
        graph = [(f"spanning_forest/find/{graph}/{arm}/keys:4096", {"items_per_second": 4e9, "real_time": ms, "time_unit": "ms"})
                 for graph, arm, ms in (("rmat22", "atomics", 2.5), ("rmat22", "lock_tuned", 400.0), ("grid", "atomics", 0.005))]
        self.assertEqual(self.lines(file(*graph))["times"], (["graph", "vertices", "edges", "lock_tuned", "atomics", "another code"], [
            ["rmat22", "4,096", "10,000,000", "400", "2.50", "12.8"], ["grid", "4,096", "20,000", "-", "0.0050", "-"]]))

    def test_lines_of_facts(self):
        sent = [rate(f"transport/{send}/windows/in_band/bytes:16/servers:4", value, bytes_per_second=16 * value) for send, value in (
            ("block", 1e9), ("ceiling_copy", 4e9))]
        latency = "transport/latency/slices/in_band/idle/servers:4", {"median_ns": 1824.4, "p99_ns": 2976.0, "tick_ns": 32.0}
        tables = self.lines(file(*sent, latency))
        self.assertEqual(tables["rates"][1], [["block", "windows", "in_band", "16", "4", "1.00", "16", "25 %"],
                                              ["ceiling_copy", "windows", "in_band", "16", "4", "4.00", "64", "100 %"]])
        self.assertEqual(tables["latency"][1], [["slices", "in_band", "idle", "4", "1,824", "2,976", "32"]])
        bound = {"l2_percent": 71.6, "stall_wait_percent": 8.0, "stall_long_scoreboard_percent": 48.6}
        self.assertEqual(self.lines(file(("bounds/contention/push/uniform/warden_runs/keys:32768", bound)))["contention"][1], [
            ["push", "uniform", "warden_runs", "32K", "72", "-", "-", "-", "-", "49 % long scoreboard, 8 % wait"]])
        memory = "deferred/memory/block/bytes:16", {"sections": 2.0**26, "memory_bytes": 1.05 * 2**30}
        self.assertEqual(self.lines(file(memory))["memory"][1], [["block", "16", "64M", "1,075.2", "5.0 %"]])

    def test_shares_and_gaps(self):
        copies = [rate(f"allocation/copy/1M/{arm}/keys:{keys}", value, operations=1e6, bytes=8e6)
                  for keys in (1, 4) for arm, value in (("copy", 1e9), ("global_atomic", 1e8 * keys), ("shared_atomic", 5e8))]
        tables = self.lines(file(*copies))
        self.assertEqual(tables["copy"], (["elements", "one of every", "copy", "global_atomic", "shared_atomic"],
                                          [["1M", "1", "8.00", "0.80 (0.10)", "4.00 (0.50)"], ["1M", "4", "8.00", "3.20 (0.40)", "4.00 (0.50)"]]))
        self.assertEqual(tables["gpus"][1], [["d", "8.00", "100", "10.0", "-", "500", "2.00"]])
        gaps = file(*(rate(f"handover/nanoseconds/uniform/{arm}/keys:1", 1e9, mean_gap=gap, minimum_gap=-32.0) for arm, gap in (
            ("lock_tuned", 400.0), ("warden_runs", 5.0))))
        self.assertEqual(families.tables_of(gaps)[0].lines, [["uniform", "1", "400 (-32)", "5.00 (-32)"]])
        product = file(rate("sparse_product/multiply/rmat/csr_merge/keys:256/sections:4096", 2e9, operations=4096, bytes=8.75 * 4096))
        self.assertEqual([(table.title, table.lines) for table in families.tables_of(product)], [
            ("G nonzeros/s", [["rmat", "256", "4K", "2.00"]]),
            ("bytes for each nonzero, if each array is moved once", [["rmat", "256", "4K", "8.75"]])])

    def test_transactions(self):
        rows = file(*(rate(f"transactions/ycsb_5_writes/0.9/{arm}/rows:1048576/transactions:4096", value, operations=4096)
                      for arm, value in (("warden", 2e6), ("locks", 1e6))))
        header = ["theta", "rows", "sections", "locks", "warden"]
        self.assertEqual([(table.title, table.header, table.lines) for table in families.tables_of(rows)][0],
                         ("M transactions/s", header, [["0.9", "1M", "4K", "1.00", "2.00"]]))
        rows = file(rate("transactions/new_order/tpcc/warden/warehouses:128/transactions:4096", 2e6, operations=4096))
        table = families.tables_of(rows)[0]
        self.assertEqual((table.header[-3:], table.lines), (["warehouses", "sections", "warden"], [["128", "4K", "2.00"]]))

    def test_counts_of_the_simulated_device(self):
        counts = dict.fromkeys(names.COUNTS, 0.25)
        memory = {"memory_bytes": 2.0**20, "sections": 2.0**15}
        tables = self.lines(file(("transport/block/windows/in_band/bytes:16/servers:4", counts | memory), ("deferred/memory/block/bytes:16", memory),
                                 ("contention/push/uniform/atomics/keys:1", counts), simulated="yes"))
        self.assertEqual(tables["memory"][1], [["block", "16", "32K", "1.0", "100.0 %"]])
        self.assertEqual(tables["transport"][1], [["block", "windows", "in_band", "16", "4", *["0.25"] * 4]])
        self.assertEqual(tables["push"][1], [["uniform", "1", "0.25"]])

    def test_a_terminal(self):
        rows = [rate(f"contention/push/uniform/{arm}/keys:{keys}", 1e9) for keys in range(1, 21) for arm in ("atomics", "warden_runs_on_chip")]
        with contextlib.redirect_stdout(io.StringIO()) as text:
            families.tables_of(file(*rows))[0].print()
        lines = text.getvalue().splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertEqual([line.split()[0] for line in lines if line], ["push:", *["workload", "keys", "atomics", "warden_runs_on_chip"] * 3])
        self.assertEqual(sum(([int(key) for key in line.split()[1:]] for line in lines if line.startswith("keys")), []), [*range(1, 21)])


class Marks(ResultsTest):
    def filled(self, mark, end):
        return pages.filled(f"before <!-- {mark} -->old<!-- /{end} --> after", self.results / "page.md")

    def test_selection(self):
        self.put("contention", CONTENTION)
        text = self.filled("results:contention/push/uniform arms=warden_runs keys=32,1024", "results")
        self.assertEqual(text, """before <!-- results:contention/push/uniform arms=warden_runs keys=32,1024 -->
push, uniform: G sections/s (d, CUDA 13.0, commit 0123456789ab):

| keys | fused, sorted |
| --- | ---: |
| 32 | 3.00 |
| 1K | 2.00 |
<!-- /results --> after""")
        self.assertIn("\n| keys | atomics |\n", self.filled("results:contention/push/uniform columns=keys,atomics", "results"))
        self.assertEqual(self.error(self.filled, "results:contention/push arms=none", "results"),
                         "results: arms: no row with none; there are atomics, sort, warden_runs")
        self.assertIn("no column speed; there are workload", self.error(self.filled, "results:contention/push columns=speed", "results"))
        self.put("contention", file(rate("contention/push/uniform/sort/keys:1", 1e9, slowest_per_second=0.8e9, fastest_per_second=1e9)))
        self.assertIn("(d, CUDA 13.0, commit 0123456789ab; ± spread above 10 %):\n", self.filled("results:contention/push", "results"))
        self.put("contention", CONTENTION)
        self.assertIn("no such table; there are push, add", self.error(self.filled, "results:contention/pull", "results"))
        self.assertIn("no file results/*/none.json", self.error(self.filled, "results:none", "results"))

    def test_numbers(self):
        self.put("contention", CONTENTION)
        mark = "number:contention/push/hot90 arms=warden_runs keys=32768"
        self.assertEqual(self.filled(mark, "number"), f"before <!-- {mark} -->5.00<!-- /number --> after")
        self.assertIn(" over=atomics -->5.0<!--", self.filled(f"{mark} over=atomics", "number"))
        self.assertIn("2 rows; name one arm", self.error(self.filled, "number:contention/push/uniform arms=warden_runs", "number"))

    def test_pages(self):
        """A page is stale once its results change, and one without a file has to go."""
        self.put("contention", CONTENTION)
        (self.results / "README.md").write_text("<!-- results:contention/add --><!-- /results -->\n")
        with mock.patch.multiple(pages, ROOT=self.results, FOLDER=self.results / "docs/results"), contextlib.redirect_stdout(io.StringIO()):
            (self.results / "docs").mkdir()
            self.assertIn("out of date, run python3 scripts/results --write: contention.md, README.md, README.md", self.error(pages.documents, False))
            pages.documents(True)
            pages.documents(False)
            self.assertIn("| gpu/contention.json | d | 13.0 | 0123456789ab | 2026-01-01 |", (self.results / "docs/results/contention.md").read_text())
            self.put("contention", file(rate("contention/add/uniform/sort/keys:1", 1e9)))
            self.assertIn("write: contention.md, README.md", self.error(pages.documents, False))
            pages.documents(True)
            self.put("contention", file(rate("contention/add/uniform/sort/keys:1", 2e9), device="e"), "other")
            self.put("answers", file(rate("answers/rate/uniform/atomics/keys:1", 2e9)))
            pages.documents(True)
            page = (self.results / "docs/results/contention.md").read_text()
            self.assertLess(page.index("| gpu/contention.json"), page.index("| other/contention.json"), "most files come first")
            self.assertLess(page.index("## d: add: G sections/s"), page.index("## e: add: G sections/s"))
            self.assertIn("| gpu/contention.json, other/contention.json |", (self.results / "docs/results/README.md").read_text())
            (self.results / "docs/results/none.md").write_text("")
            self.assertIn("none.md: no such page; delete it", self.error(pages.documents, False))


class Choices(ResultsTest):
    def test_fewest_arms_within_five_percent(self):
        rates = [(1, {"lock_tuned": 1, "atomics": 9, "warden_runs": 5, "warden_locks": 2}),
                 (2, {"lock_tuned": 1, "atomics": 2, "warden_runs": 10, "warden_locks": 9.6}),
                 (4, {"lock_tuned": 8, "atomics": 1, "warden_runs": 4, "warden_locks": 8.3})]
        self.assertEqual(choice.choices(rates), [choice.Choice(1, 1, "atomics"), choice.Choice(2, 4, "warden_locks")])
        self.assertEqual(choice.choices([(1, {"sort": 1, "atomics": 0.94}), (2, {"sort": 1, "atomics": 3})]),
                         [choice.Choice(1, 1, "sort"), choice.Choice(2, 2, "atomics")])
        self.assertEqual(choice.choices([]), [])

    def test_table(self):
        rows = load.rows_of(file(*(rate(f"contention/push/uniform/{arm}/keys:{keys}", value) for arm, values in (
            ("atomics", (9, 3, 2)), ("lock_tuned", (1, 1, 8)), ("warden_runs", (2, 2, 2))) for keys, value in zip((1, 32, 1024), values))))
        self.assertEqual(choice.choice_table(rows).lines, [
            ["push", "uniform", "1 to 32", "warden_runs", "atomics", "a section that is one atomic"], ["push", "uniform", "1K", "lock_tuned", "lock_tuned", "-"]])
        self.assertIsNone(choice.choice_table(rows[:3]), "one arm is no choice")


class Plots(ResultsTest):
    def test_stale_and_current(self):
        """The check reads the numbers in the file. Drawing is tested if matplotlib is installed."""
        self.put("contention", CONTENTION)
        one = plot.Plot("contention", "a <title>", "keys", (("push", "uniform", ""),), ("atomics", "warden_runs"))
        with mock.patch.object(plot, "PLOTS", {"p": one}):
            data = plot.data_of(one, self.results)
            self.assertEqual(data["panels"], {"": {"atomics": [[32, 4.0]], "warden_runs": [[32, 3.0], [1024, 2.0]]}})
            for theme in plot.THEMES:
                text = json.dumps(data).replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
                (self.results / f"p-{theme}.svg").write_text(f"<dc:description>{text}</dc:description>")
            self.assertEqual(plot.stale(self.results, self.results), [])
            self.put("contention", file(rate("contention/push/uniform/atomics/keys:32", 4.001e9)))
            self.assertIn("p-light.svg, p-dark.svg", self.error(plot.check, self.results, self.results))
            try:
                plot.write(self.results, self.results)
            except SystemExit as ended:
                self.assertEqual(ended.code, 3, "without matplotlib")
            else:
                self.assertEqual(plot.stale(self.results, self.results), [])

    def test_names(self):
        self.assertIn('src="plots/update-light.svg"', plot.markdown("update", "plots"))
        self.assertIn("no such plot", self.error(plot.markdown, "none", "plots"))


class Files(ResultsTest):
    def test_names_of_rows(self):
        self.assertEqual(load.parsed({"name": "bank_transfer/transfer/uniform/atomics/keys:1024/sections:8"}).fields,
                         {"operation": "transfer", "workload": "uniform", "arm": "atomics", "keys": 1024, "sections": 8})
        for wrong in ("contention/push/uniform/keys:1", "contention/push/uniform/atomics/keys:x", "contention/push/uniform/atomics/sections:8",
                      "contention/push/uniform/atomics/keys:1/sections:8/x", "contention"):
            self.assertIsNone(load.named(wrong))

    def test_merge_and_publish(self):
        row = rate("contention/push/uniform/atomics/keys:32", 4e9)
        one = self.put("one", file(row, command="/x/contention --benchmark_filter=contention/push/ --out=/a/b.txt", host_name="secret"))
        self.assertIn(f"{one}: {row[0]} is in {one}, too; leave one out", self.error(load.merge, self.results / "out", [one, one]))
        self.assertIn(f"{row[0]} is twice in this file; leave one out", self.error(load.merge, self.results / "out", [self.put("two", file(row, row))]))
        before = one.read_text()
        self.assertIn(f"{one}: there is such a file; --merge writes a new one", self.error(load.merge, one, [one]))
        self.assertEqual(one.read_text(), before)
        self.assertIn("include_hash is x, but h", self.error(load.merge, self.results / "out", [one, self.put("two", file(include_hash="x"))]))
        self.assertIn("copy the file by --publish", self.error(load.check_published, one))
        self.assertIn("copy the file by --publish", self.error(pages.documents, False))
        load.publish(self.results / "out", one)
        load.check_published(self.results / "out")
        for wrong in {"runs": 4, "real_time": 999}, {"slowest_per_second": None}:
            values = {key: value for key, value in (row[1] | wrong).items() if value is not None}
            load.publish(self.results / "few", self.put("one", file((row[0], values))))
            self.assertIn("atomics/keys:32 has", self.error(load.check_published, self.results / "few"))
        load.publish(self.results / "long", self.put("one", file((row[0], row[1] | {"runs": 1, "real_time": 1000}))))
        load.check_published(self.results / "long")
        context = load.load(self.results / "out")["context"]
        self.assertEqual((context.get("host_name"), context["command"]), (None, "contention --benchmark_filter=contention/push/ --out=b.txt"))
        self.assertIn("dirty tree", self.error(load.publish, self.results / "out", self.put("two", file(row, commit="c-dirty"))))

    def test_newest_and_interrupted(self):
        for folder, date in (("a", "2026-02-01"), ("b", "2026-10-01"), ("c", "2025-12-01")):
            self.put("push", file(date=date), folder)
        self.assertEqual(load.published("push"), self.results / "b/push.json")
        self.put("add", file(), "a")
        self.assertEqual(load.published("push"), self.results / "a/push.json")
        (self.results / "cut").write_text(json.dumps(CONTENTION)[:-2] + ",")
        self.assertEqual(len(load.load(self.results / "cut")["benchmarks"]), len(CONTENTION["benchmarks"]))

    def test_weak_baselines(self):
        (self.results / "reference.json").write_text(json.dumps({"device": "d", "push/uniform": {"lock_tuned": {"32": 0.03}, "atomics": {"32": 4.5}}}))

        def checked(*rows, **context):
            with contextlib.redirect_stdout(io.StringIO()) as text, self.assertRaises(SystemExit) as end:
                load.check_baselines(self.put("rows", file(*rows, **context)))
            return end.exception.code, text.getvalue()
        weak = rate("contention/push/uniform/atomics/keys:32", 4e9)
        self.assertEqual(checked(weak), (
            1, "push/uniform/lock_tuned/keys:32: missing\npush/uniform/atomics/keys:32: 4.00 G/s, below 4.05\n"))
        other = "compared with lock_as_written alone: the prototypes were measured on d, this file on e\n"
        self.assertEqual(checked(weak, device="e"), (0, f"{other}baselines are as fast as required\n"))
        locks = [rate(f"contention/push/uniform/{arm}/keys:32", value) for arm, value in (
            ("lock_tuned", 4e7), ("lock_as_written", 5e7), ("atomics", 5e9))]
        for device, said in {"d": "", "e": other}.items():
            self.assertEqual(checked(*locks, device=device), (
                1, f"{said}contention/push/uniform/lock_tuned/keys:32: slower than lock_as_written\n"))
        without_rate = self.put("rows", file(("contention/push/uniform/lock_tuned/keys:32", {})))
        self.assertIn("lock_tuned/keys:32: no items_per_second; measure again", self.error(load.check_baselines, without_rate))


class Names(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual([names.short(keys) for keys in (1, 1000, 1024, 4039, 32768, 1 << 20)], ["1", "1000", "1K", "4039", "32K", "1M"])
        self.assertEqual([names.giga(value) for value in (1.2e4, 2e7, 5e8, 1.36e9, 69.8e9)], ["0.00001", "0.020", "0.500", "1.36", "69.8"])
        self.assertEqual([names.amount(value) for value in (0, 0.0025, 0.01, 2.5, 25.0, 250.0)], ["0.00", "0.0025", "0.01", "2.50", "25.0", "250"])

    def test_sequential_descent(self):
        """The benchmark of matrix factorization stops at 1.01 of what one thread reaches."""
        program = (load.ROOT / "microbench/matrix_factorization/main.cu").read_text()
        for name, errors in json.loads((load.ROOT / "results/sequential_descent.json").read_text())["errors"].items():
            self.assertIn(f'planted_named("{name}"), {len(errors)}, {1.01 * errors[-1]:.4f}}}', program)


if __name__ == "__main__":
    unittest.main(verbosity=2)
