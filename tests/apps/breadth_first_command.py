#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command breadth_first: searches of real files, what it writes, and what it refuses.

    breadth_first_command.py PROGRAM [UNITTEST OPTIONS]
"""
import collections
import pathlib

import command
import output_files

DATA = pathlib.Path(__file__).parents[2] / "apps/data"
ROME = DATA / "rome99.gr"


def levels_of(path, source):
    """By an own search, of a .gr file."""
    arcs = collections.defaultdict(list)
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("a "):
            fields = line.split()
            arcs[fields[1]].append(fields[2])
    levels, queue = {source: 0}, collections.deque([source])
    while queue:
        u = queue.popleft()
        for v in arcs[u]:
            if v not in levels:
                levels[v] = levels[u] + 1
                queue.append(v)
    return levels


class BreadthFirstTest(command.CommandTest):
    NAME = "breadth_first"

    def test_real_graphs(self):
        said = self.said(ROME)
        wanted = levels_of(ROME, "1")
        self.assertEqual(said[0], f"{ROME}: 3353 vertices, 4444 arcs")
        self.assertRegex(said[1], rf"^from 1: {len(wanted)} vertices in {max(wanted.values()) + 1} levels, \d+ arcs leave them$")
        self.assertRegex(said[2], r"^found by direction_optimizing, \d+ levels by one block and \d+ bottom-up on simulated device$")
        self.assertEqual(said[3], "checked: the levels of a sequential search, and an arc from each vertex's parent, one level below")
        said = self.said(DATA / "facebook_combined.txt", "--undirected", "--source", 107, "--arm", "top_down")
        self.assertRegex(said[1], r"^from 107: 4039 vertices in \d+ levels, 176468 arcs leave them$")

    def test_arms_agree(self):
        found = {self.said(ROME, "--arm", arm, "--source", 7)[1] for arm in ("gather_serial", "cull_history", "queue_blocks", "top_down")}
        self.assertEqual(found, {self.said(ROME, "--source", 7)[1]})

    def test_several_gpus(self):
        one_way = self.said(ROME, "--source", 7)[1]
        for gpus in (1, 2, 3):
            said = self.said(ROME, "--source", 7, "--gpus", gpus)
            self.assertEqual(said[1], one_way)
            self.assertRegex(said[2], rf"^found by owner on {gpus} GPUs, \d+ levels bottom-up on simulated device$")
        said = self.said(DATA / "facebook_combined.txt", "--undirected", "--source", 107, "--gpus", 2)
        self.assertRegex(said[1], r"^from 107: 4039 vertices in \d+ levels, 176468 arcs leave them$")
        out = self.file("answer.txt", "")
        self.said(ROME, "--source", 12, "--gpus", 2, "--out", out)
        lines = [line.split() for line in pathlib.Path(out).read_text().splitlines()]
        self.assertEqual({v: int(level) for letter, v, level, *_ in lines[1:]}, levels_of(ROME, "12"))
        self.refused(2, ".*--gpus.*65.*", ROME, "--gpus", 65)
        for option, value in (("--arm", "top_down"), ("--alpha", 5), ("--beta", 5)):
            self.refused(2, ".*--gpus.*", ROME, "--gpus", 2, option, value)

    def test_the_answer_as_a_file(self):
        out = self.file("answer.txt", "")
        self.said(ROME, "--source", 12, "--out", out)
        lines = [line.split() for line in pathlib.Path(out).read_text().splitlines()]
        self.assertEqual(lines[0], ["s", "12"])
        wanted = levels_of(ROME, "12")
        self.assertEqual({v: int(level) for letter, v, level, _ in lines[1:] if letter == "v"}, wanted)
        for _, v, level, parent in lines[1:]:
            self.assertEqual(wanted[parent], max(int(level) - 1, 0))

    def test_levels(self):
        chain = self.file("x.gr", "p sp 4 3\na 1 2 5\na 2 3 5\na 1 4 5\n")
        said = self.said(chain, "--levels")
        self.assertEqual([line.split() for line in said[:4]], [["level", "vertices"], ["0", "1"], ["1", "2"], ["2", "1"]])
        self.assertEqual(said[5], "from 1: 4 vertices in 3 levels, 3 arcs leave them")

    def test_arcs_lead_one_way_unless_told_otherwise(self):
        chain = self.file("x.gr", "p sp 3 2\na 1 2 5\na 2 3 5\n")
        self.assertEqual(self.said(chain, "--source", 2)[1], "from 2: 2 vertices in 2 levels, 1 arcs leave them")
        self.assertEqual(self.said(chain, "--source", 2, "--undirected")[1], "from 2: 3 vertices in 2 levels, 4 arcs leave them")

    def test_weights_do_not_matter(self):
        matrix = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 {}\n"
        for name, text in (("x.mtx", matrix.format("-1")), ("x.mtx", matrix.format("0.5")), ("x.mtx", matrix.format("nan")),
                           ("x.txt", "# Directed graph: signs\n0\t1\t-1\n"), ("x.gr", "p sp 2 1\na 1 2 far\n")):
            self.assertRegex(self.said(self.file(name, text))[1], "^from [01]: 2 vertices in 2 levels, ")

    def test_edges_in_a_format_of_arcs(self):
        """As graph writes them: both ways are found."""
        arcs = self.file("x.gr", "c x.mtx\np sp 3 4\na 2 1 5\na 1 2 5\na 2 3 6\na 3 2 6\n")
        self.assertEqual(self.said(arcs, "--source", 3)[1], "from 3: 3 vertices in 3 levels, 4 arcs leave them")

    def test_nothing_to_find(self):
        empty = self.file("x.gr", "p sp 3 0\n")
        self.assertEqual(self.said(empty, "--source", 2)[1], "from 2: 1 vertices in 1 levels, 0 arcs leave them")

    def test_refusals(self):
        self.refused(2, "FILE: File does not exist: no/such.gr", "no/such.gr")
        self.refused(2, "--arm: magic not in .*", ROME, "--arm", "magic")
        self.refused(1, rf"--source: 0 is no vertex of {ROME}", ROME, "--source", 0)
        self.refused(1, rf"--source: 3354 is no vertex of {ROME}", ROME, "--source", 3354)
        none = self.file("none.gr", "p sp 0 0\n")
        self.refused(1, rf"{none}: the graph has no vertices, so none to begin at", none)
        self.refused(2, "--alpha: .*", ROME, "--alpha", 0)
        bad = self.file("bad.gr", "p sp 2 1\na 1 3 5\n")
        self.refused(1, rf"{bad}:2: .*", bad)


class EveryCommandTest(command.EveryCommandTest):
    NAME = "breadth_first"
    PRINTS = [ROME]


class OutputFileTest(output_files.OutputFileTest):
    NAME = "breadth_first"
    SOURCE = "x.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"

    def writes(self, source, out):
        return [source, "--out", out]


if __name__ == "__main__":
    command.main(__doc__)
