#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the page of ./warden report on small result files."""
import collections
import contextlib
import html
import importlib.util
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts/results"))
import measures  # noqa: E402
import plot  # noqa: E402
import questions  # noqa: E402
import report  # noqa: E402
from load import parsed  # noqa: E402

CONTEXT = {"device": "d", "commit": "0123456789abcdef", "toolkit": "13.0", "date": "2026-01-01", "simulated": "no"}


def rate(name, value, least=None, most=None, runs=5):
    ranges = {} if least is None else {"slowest_per_second": least * 1e9, "fastest_per_second": most * 1e9}
    return {"name": name, "items_per_second": value * 1e9, "runs": runs, **ranges}


def push(arm, keys, *values, workload="uniform"):
    return rate(f"contention/push/{workload}/{arm}/keys:{keys}", *values)


def forest(arm, milliseconds, **values):
    return {"name": f"spanning_forest/find/rmat8/{arm}/keys:256", "real_time": milliseconds, "items_per_second": 1e9, "runs": 5, **values}


class MeasureTest(unittest.TestCase):
    def test_rate_with_its_range(self):
        one = measures.measure_of(parsed(push("atomics", 1, 4, 3.8, 4.3)))
        self.assertEqual((one.value, one.least, one.most, one.runs, one.unit), (4, 3.8, 4.3, 5, "G sections/s"))
        self.assertAlmostEqual(one.spread(), 0.125)
        self.assertTrue(one.is_wide())
        self.assertFalse(measures.measure_of(parsed(push("atomics", 1, 4, 3.9, 4.2))).is_wide())

    def test_time_with_its_range(self):
        one = measures.measure_of(parsed(forest("atomics", 10, slowest_per_second=0.8e9, fastest_per_second=1.25e9)))
        self.assertEqual((one.value, one.least, one.most, one.unit), (10, 8, 12.5, "milliseconds"))
        one = measures.measure_of(parsed(forest("atomics", 10, slowest_ms=11, fastest_ms=9)))
        self.assertEqual((one.least, one.most), (9, 11))

    def test_without_range_or_value(self):
        one = measures.measure_of(parsed(push("atomics", 1, 4)))
        self.assertEqual((one.spread(), one.is_wide(), one.overlaps(one)), (None, False, None))
        self.assertIsNone(measures.measure_of(parsed({"name": "contention/push/uniform/sort/keys:1", "messages": 3})))

    def test_less_time_is_better(self):
        fast, slow = (measures.measure_of(parsed(forest("atomics", time))) for time in (8, 10))
        self.assertAlmostEqual(fast.over(slow), 1.25)

    def test_changes(self):
        def rows(*values):
            return {row["name"]: parsed(row) for row in values}
        before = rows(push("sort", 1, 1), push("sort", 2, 1), push("sort", 4, 1), forest("sort", 10), push("sort", 8, 1))
        now = rows(push("sort", 1, 1.04), push("sort", 2, 0.9), push("sort", 4, 1.3), forest("sort", 5), push("sort", 16, 9))
        found = measures.changes(now, before)
        self.assertEqual([row.values["name"].split("/")[-1] for row, _, _ in found], ["keys:256", "keys:4", "keys:2"])


class QuestionTest(unittest.TestCase):
    def asked(self, *rows):
        return questions.questions([parsed(row) for row in rows])

    def test_summary_says_who_wins_where(self):
        one, = self.asked(push("atomics", 1, 8), push("warden", 1, 4), push("atomics", 32, 2), push("warden", 32, 6), push("atomics", 64, 2),
                          push("warden", 64, 1.92))
        self.assertEqual(one.summary(), ["A section that one atomic can do", "3", "atomics (2)", "2 of 3", "0.50", "0.96", "3.00"])
        self.assertEqual(self.asked(push("atomics", 1, 1))[0].summary(), None)

    def test_lines_by_keys_in_panels_of_workloads(self):
        one, = self.asked(push("sort", 32, 2), push("sort", 1, 1), push("sort", 1, 3, workload="zipf099"))
        self.assertEqual(one.plot_data("o")["panels"], {"uniform": {"sort": [[1, 1], [32, 2]]}, "zipf099": {"sort": [[1, 3]]}})

    def test_bars_of_times(self):
        one, = self.asked(forest("sort", 3), forest("atomics", 2))
        data = one.plot_data("o")
        self.assertEqual((data["unit"], data["panels"]), ("milliseconds", {"": {"atomics": [["rmat8", 2]], "sort": [["rmat8", 3]]}}))

    def test_numbers_of_sections_are_a_question(self):
        by_keys, by_sections = self.asked(push("sort", 1, 1), *(rate(f"contention/push/uniform/sort/keys:1/sections:{n}", n) for n in (8, 4)))
        self.assertEqual(by_sections.title, f"{by_keys.title}, by number of sections")
        self.assertEqual(by_sections.plot_data("o")["panels"], {"uniform": {"sort": [[4, 4], [8, 8]]}})

    def test_more_arms_than_colours(self):
        arms = [arm for arm in plot.LABELS if arm != "sort"][:len(plot.COLOURS)]
        one, = self.asked(*(push(arm, 1, 9) for arm in arms), push("sort", 1, 0.1))
        self.assertEqual([*one.plot_data("o")["panels"][""]], arms)

    def test_rows_without_arms(self):
        one, = self.asked(rate("transport/block/windows/in_band/bytes:16/servers:4", 2))
        self.assertEqual(one.plot_data("o")["panels"], {"": {"block": [["windows in_band 16 4", 2]]}})


class PageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # The plots themselves are drawn in one test.
        self.addCleanup(mock.patch.stopall)
        mock.patch.object(plot, "matplotlib_or_exit", lambda: "matplotlib").start()
        self.drawn = mock.patch.object(plot, "drawn", lambda _, data, __: f'<?xml?><svg id="a" href="#a">{data["title"]}</svg>')
        self.drawn.start()

    def put(self, name, *rows, folder="now", **context):
        (self.folder / folder).mkdir(exist_ok=True)
        (self.folder / folder / f"{name}.json").write_text(json.dumps({"context": CONTEXT | context, "benchmarks": rows}))

    def page(self, *against):
        with contextlib.redirect_stdout(io.StringIO()):
            report.write(self.folder / "now", self.folder / "page.html", *(self.folder / one for one in against))
        return (self.folder / "page.html").read_text()

    def test_page(self):
        self.put("push", push("sort", 1, 1, 0.9, 1.1), push("warden", 1, 2, 1.99, 2.01), push("atomics", 1, 3, 3, 3, 4))
        self.put("forest", forest("sort", 3), commit="fedcba9876543210")
        page = self.page()
        order = [page.index(text) for text in ("What wins where", "Machine and commit", "A section that one atomic can do</h2>",
                                               "Minimum spanning forests</h2>")]
        self.assertEqual(order, sorted(order))
        self.assertIn("<td>0123456789abcdef, fedcba9876543210</td>", page)
        self.assertIn("<td>rows with a spread above 10 %</td><td>1</td>", page)
        self.assertIn("<td class=mark>20.0 %</td>", page)
        self.assertIn("<td class=plain>1.0 %</td>", page)
        self.assertIn("<td class=mark>4</td>", page)
        self.assertEqual(page.count("<svg"), 2)
        self.assertEqual(page.count("<details>"), page.count("</details>"))
        self.assertNotIn("<script", page)
        self.assertNotIn("<?xml", page)
        names = re.findall('id="([^"]+)"', page)
        self.assertEqual((len(names), set(re.findall('href="#([^"]+)"', page))), (len(set(names)), set(names)))

    def test_against(self):
        self.put("push", push("sort", 1, 1.3, 1.2, 1.4), push("warden", 1, 1.01), push("sort", 4, 1), push("atomics", 1, 0.5))
        self.put("push", push("sort", 1, 1, 0.9, 1.1), push("warden", 1, 1), push("sort", 8, 1), push("atomics", 1, 1), folder="then")
        page = self.page("then")
        self.assertLess(page.index("Changed by more than 5 %: 2 rows"), page.index("What wins where"))
        self.assertLess(page.index("atomics/keys:1"), page.index("sort/keys:1<"))
        self.assertIn("<td class=better>+30.0 %</td><td>no</td>", page)
        self.assertIn("<td class=worse>-50.0 %</td><td>-</td>", page)
        self.assertIn("<td class=plain>+1.0 %</td>", page)
        self.assertEqual(len(re.findall(r"<summary>1 rows only in ", page)), 2)

    def test_the_newest_row_of_a_name_counts(self):
        self.put("a", push("sort", 1, 7), date="2026-02-02")
        self.put("b", push("sort", 1, 3), date="2026-01-01")
        self.assertIn("keys:1</td><td>7.00</td>", self.page())

    def test_simulated(self):
        self.put("push", {"name": "contention/push/uniform/sort/keys:1", "global_atomics": 2.0}, simulated="yes")
        page = self.page()
        self.assertIn("push: global atomics for each section", page)
        self.assertNotIn("<svg", page)
        self.put("push", push("sort", 1, 1), folder="then")
        with self.assertRaisesRegex(SystemExit, "one is of the simulated device"):
            self.page("then")
        self.put("other", push("sort", 2, 1))
        with self.assertRaisesRegex(SystemExit, "files of a GPU and of the simulated device"):
            self.page()

    def test_texts_are_escaped(self):
        self.put("push", push("sort", 1, 1), device="<b> & co")
        page = self.page()
        self.assertNotIn("<b>", page)
        self.assertIn(html.escape("Warden on <b> & co"), page)

    def test_no_files(self):
        (self.folder / "now").mkdir()
        with self.assertRaisesRegex(SystemExit, "now: no result files; ./warden bench --all --out .*/now writes them$"):
            self.page()
        (self.folder / "now/x.json").write_text("{")
        with self.assertRaisesRegex(SystemExit, "x.json: not a result file"):
            self.page()

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_drawn(self):
        self.drawn.stop()
        self.put("push", push("sort", 1, 1), push("sort", 32, 2), forest("sort", 3))
        with mock.patch.object(plot, "matplotlib_or_exit", lambda: __import__("matplotlib")):
            page = self.page()
        self.assertEqual((page.count("<svg"), page.count("</svg>")), (2, 2))
        # Names of a plot refer to that plot, and nothing is loaded.
        names = collections.Counter(re.findall(r'\bid="([^"]+)"', page))
        self.assertEqual([name for name, count in names.items() if count > 1], [])
        self.assertLessEqual(set(re.findall(r'(?:url\(#|href="#)([^")]+)', page)), set(names))
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)', page), [])


if __name__ == "__main__":
    unittest.main()
