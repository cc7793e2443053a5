#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/results/gpus_model.py: its constants, its limit, and its tables."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts/results"))
import gpus_model as model  # noqa: E402

N = 1 << 26
CONTEXT = {"device": "NVIDIA D", "commit": "0123456789abcdef", "include_hash": "h", "warden": "0.1.0", "toolkit": "13.0", "nccl": "2.28.3",
           "date": "2026-01-01T00:00:00+00:00"}
# [row] milliseconds at which phases end: send, sort and home of one GPU, and NAMES of two. Two H200, 2^26 sections a GPU; the exchange
# of that build ran after `home` and is moved next to it here. The rows of `add` are of a later
# build. Its slower exchange is shortened here to the rate of this one.
NAMES = ["send", "count", "gather", "sort", "pack", "exchange", "home", "arrive", "join", "remote"]
ONE = {("push", 1 << 20): (.47, .04, 2.85), ("update", 1 << 20): (.60, .06, 4.67), ("push", 1 << 24): (.48, .04, 5.10),
       ("update", 1 << 24): (.60, .06, 5.57), ("add", 1 << 20): (.60, .06, 1.04), ("add", 1 << 24): (.60, .06, 2.03)}
TWO = {("push", 1 << 20): (.52, .05, .07, .09, .28, .99, 2.24, 2.24, 2.26, 4.03), ("update", 1 << 20): (.68, .06, .10, .14, .45, 1.64, 2.96, 2.96, 2.99, 5.24),
       ("push", 1 << 24): (.53, .05, .08, .11, .30, .86, 3.15, 3.15, 3.17, 5.65), ("update", 1 << 24): (.68, .06, .08, .13, .45, 1.58, 3.88, 3.88, 3.91, 6.72),
       ("add", 1 << 20): (.60, .06, .11, .09, .44, 1.60, .97, 1.60, 1.61, 2.13), ("add", 1 << 24): (.60, .06, .11, .09, .43, 1.59, 1.49, 1.59, 1.60, 2.59)}


def row(operation, keys, arm, **others):
    return {"name": f"several_gpus/{operation}/uniform/{arm}/keys:{keys}", **others}


def timeline_rows():
    for (operation, keys), ends in [*ONE.items(), *TWO.items()]:
        arm, names, gpus = ("two_gpus", NAMES, 2) if len(ends) > 3 else ("one_gpu", ("send", "sort", "home"), 1)
        yield row(operation, keys, arm, operations=N * gpus, **{f"seconds_to_{name}": end / 1e3 for name, end in zip(names, ends)})
    yield row("count", 1 << 20, "two_gpus", operations=N)


def rate_rows():
    """A run takes as long as its kernel and its last phase together."""
    for (operation, keys), ends in ONE.items():
        yield row(operation, keys, "one_gpu_best", items_per_second=20e9)
        yield row(operation, keys, "one_gpu", items_per_second=N / (ends[0] + ends[-1]) * 1e3)
    for (operation, keys), ends in TWO.items():
        yield row(operation, keys, "two_gpus", items_per_second=2 * N / (ends[0] + ends[-1]) * 1e3)
        yield row(operation, keys, "two_gpus_on_chip", items_per_second=36e9)
    yield row("count", 1 << 20, "one_gpu", items_per_second=5e9)
    yield row("count", 1 << 20, "two_gpus", items_per_second=8e9)


def data(rows, **context):
    return {"context": CONTEXT | context, "benchmarks": list(rows)}


class SeveralGpus(unittest.TestCase):
    def error(self, *files):
        with self.assertRaises(SystemExit) as caught:
            model.model_tables(*files)
        return caught.exception.code

    def test_tables(self):
        tables = {table.slug: table.lines for table in model.model_tables(data(rate_rows()), data(timeline_rows()))}
        self.assertIn(["push", "uniform", "1M", "20.0", "20.2", "29.5", "36.0", "1.46", "1.78"], tables["rates"])
        self.assertIn(["count", "uniform", "1M", "-", "5.00", "8.00", "-", "1.60", "-"], tables["rates"])
        self.assertEqual([[*line[:2], line[4]] for line in tables["predictions"]], [
            ["push", "1M", "+0 %"], ["push", "16M", "+0 %"], ["update", "1M", "+0 %"], ["update", "16M", "+0 %"],
            ["add", "1M", "+1 %"], ["add", "16M", "+1 %"]])
        self.assertEqual(len(tables["phases"]), 18)
        # Sections of `add` take less time than their messages, so the exchange limits.
        self.assertEqual([[*line[:2], line[9].split(",")[0]] for line in tables["predictions"] if line[1] == "1M"], [
            ["push", "1M", "remote"], ["update", "1M", "remote"], ["add", "1M", "exchange"]])

    def test_a_row_that_the_model_misses(self):
        for arm in "one_gpu", "two_gpus":
            for factor, misses in (0.93, False), (1.07, False), (0.85, True), (1.15, True):
                rates = [row | {"items_per_second": row["items_per_second"] * (factor if f"update/uniform/{arm}/keys:16777216" in row["name"] else 1)}
                         for row in rate_rows()]
                if misses:
                    self.assertIn(f"off by more than 10 % for update, 16M, {arm}: ", self.error(data(rates), data(timeline_rows())))
                else:
                    model.model_tables(data(rates), data(timeline_rows()))

    def test_files_of_two_builds(self):
        for key, value in ("commit", "other"), ("nccl", "2.27.1"):
            self.assertIn(f"have {key} {CONTEXT[key]} and {value}", self.error(data(rate_rows()), data(timeline_rows(), **{key: value})))

    def test_a_row_or_a_counter_that_is_missing(self):
        rates, timelines = [*rate_rows()], [*timeline_rows()]
        without_send = [{name: value for name, value in one.items() if name != "seconds_to_send"} for one in timelines]
        for files in (rates[2:], timelines), (rates, timelines[1:]), (rates, without_send), (rates, []):
            self.assertRegex(self.error(*map(data, files)), "lack a row or a counter, .*; measure both again$")

    def test_constants_of_a_row(self):
        found = model.Model(model.by_point(data(timeline_rows())))
        push = found.rows["push", 1 << 20]
        for name, milliseconds, share in ("send_one", .47, 1), ("send", .52, 1), ("run", 2.85, 1), ("home", 1.96, .5), ("remote", 1.77, .5):
            self.assertAlmostEqual(getattr(push, name) * N * share, milliseconds / 1e3, delta=1e-9)
        # Medians of 6 rows: .05, .06, .05, .06, .06, .06 ms of counting; .04, .08, .06, .07, .05, .05 ms
        # from there to the sorted log. The fastest of the links of 394, 470, 499, 495, 482 and 482 GB/s.
        self.assertAlmostEqual(found.shared.count, 60e-6, delta=1e-9)
        self.assertAlmostEqual(found.shared.gather, 55e-6, delta=1e-9)
        self.assertAlmostEqual(found.shared.link, 499e9, delta=1e9)

    def test_what_limits(self):
        """Within a host the remote part limits; between hosts the network."""
        shared = model.Shared(count=1e-5, gather=3e-5, pack_byte=1e-12, link=250e9, join=0)
        c = model.Row(send_one=5e-12, send=6e-12, run=50e-12, combine=0, home=50e-12, remote=40e-12)
        two, eight, sixteen = (model.phases(shared, c, N, gpus, 8, "push", 1 << 24) for gpus in (2, 8, 16))
        self.assertEqual(two["exchange"], 0)
        # Two GPUs split neither of these logs, 8 split both: that takes what packing takes.
        split = 8e-12
        self.assertAlmostEqual(eight["exchange"], N * (7 / 8 * 8 * model.HEADERS / 250e9 - (50e-12 + split) / 8))
        self.assertAlmostEqual(sixteen["exchange"], N * (8 / 16 * 8 * model.HEADERS / model.NETWORK - (50e-12 + split) / 16))
        self.assertAlmostEqual(eight["remote"], N * 7 / 8 * (40e-12 + split))
        self.assertEqual(max(eight, key=eight.get), "remote")
        self.assertEqual(max(sixteen, key=sixteen.get), "exchange")
        self.assertAlmostEqual(sum(two.values()), N * (6e-12 + 4e-12 + 25e-12 + 20e-12) + 4e-5)
        self.assertEqual(two["combine"], 0)
        # Records of 512 MB are split on any number of GPUs.
        large = model.phases(shared, c, N, 8, 8, "update", 1 << 24)
        self.assertAlmostEqual(large["remote"], N * 7 / 8 * 40e-12)

    def test_tables_travel(self):
        """Sections are combined before they travel: nothing is packed, and the exchange takes the time of tables."""
        ends = dict(zip(NAMES, TWO["add", 1 << 20])) | {"pack": .11, "combine": .51, "exchange": .54, "home": 1.05, "join": 1.06, "remote": 1.07}
        rows = [r for r in timeline_rows() if r["name"] != "several_gpus/add/uniform/two_gpus/keys:1048576"]
        rows.append(row("add", 1 << 20, "two_gpus", operations=2 * N, **{f"seconds_to_{name}": end / 1e3 for name, end in ends.items()}))
        found = model.Model(model.by_point(data(rows)))
        for name, milliseconds in ("combine", .40), ("home", .54), ("remote", .01):
            self.assertAlmostEqual(getattr(found.rows["add", 1 << 20], name) * N / 2, milliseconds / 1e3, delta=1e-9)
        # The constants of messages are those of the other rows.
        self.assertAlmostEqual(found.shared.link, 499e9, delta=1e9)
        two, sixteen = (found.phases(("add", 1 << 20), gpus) for gpus in (2, 16))
        self.assertAlmostEqual(two["combine"], .40e-3, delta=1e-9)
        self.assertEqual([two["pack"], two["exchange"]], [0, 0])
        # Half of the cells of 16 bytes pass the network; the home part of 1/16 of the sections is shorter.
        self.assertAlmostEqual(sixteen["exchange"], 2**20 * 16 / 2 / model.NETWORK - sixteen["home"])
        self.assertAlmostEqual(sixteen["remote"], .02e-3 * 15 / 16, delta=1e-9)


if __name__ == "__main__":
    unittest.main(verbosity=2)
