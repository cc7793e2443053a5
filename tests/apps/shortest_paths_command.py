#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command shortest_paths: paths in real files, what it writes, and what it refuses.

    shortest_paths_command.py PROGRAM [UNITTEST OPTIONS]
"""
import collections
import heapq
import pathlib

import command
import output_files

DATA = pathlib.Path(__file__).parents[2] / "apps/data"
ROME = DATA / "rome99.gr"
CHECKED = "checked: no arc shortens a distance or leads to an unreached vertex, and the parents are a tree of tight arcs"


def arcs_of(path):
    """Beginning -> (end, weight), of a .gr file."""
    arcs = collections.defaultdict(list)
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("a "):
            u, v, w = map(int, line.split()[1:])
            arcs[u].append((v, w))
    return arcs


def distances_of(path, source):
    """By Dijkstra's algorithm."""
    arcs, distances, heap = arcs_of(path), {}, [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if u in distances:
            continue
        distances[u] = d
        for v, w in arcs[u]:
            heapq.heappush(heap, (d + w, v))
    return distances


class ShortestPathsTest(command.CommandTest):
    NAME = "shortest_paths"

    def test_real_graphs(self):
        said = self.said(ROME)
        wanted = distances_of(ROME, 1)
        self.assertEqual(said[0], f"{ROME}: 3353 vertices, 4444 arcs")
        self.assertEqual(said[1], f"from 1: {len(wanted)} vertices, the farthest at distance {max(wanted.values())}")
        self.assertRegex(said[2], r"^found by delta_scan in \d+ steps with 32-bit distances on simulated device$")
        self.assertEqual(said[3:], [CHECKED])
        said = self.said(DATA / "facebook_combined.txt", "--undirected", "--source", 107, "--seed", 5)
        self.assertEqual(said[0], "weights: drawn from 1 to 1000000 with seed 5")
        self.assertRegex(said[2], r"^from 107: 4039 vertices, the farthest at distance \d+$")

    def test_arms_agree(self):
        found = {self.said(ROME, "--arm", arm, "--source", 7)[1] for arm in ("bellman_ford", "near_far", "delta_scan", "decoupled")}
        found |= {self.said(ROME, "--source", 7, *more)[1] for more in ((), ("--wide",), ("--delta", 1), ("--local-iterations", 0), ("--buckets", 3))}
        self.assertEqual(len(found), 1)

    def test_the_answer_as_a_file(self):
        out = self.file("answer.txt", "")
        self.said(ROME, "--source", 12, "--source", 1999, "--out", out)
        lines = [line.split() for line in pathlib.Path(out).read_text().splitlines()]
        second = lines.index(["s", "1999"])
        arcs = arcs_of(ROME)
        for source, part in ((12, lines[:second]), (1999, lines[second:])):
            self.assertEqual(part[:2], [["s", str(source)], ["c", "32", "bits", "per", "distance"]])
            wanted = distances_of(ROME, source)
            self.assertEqual({int(v): int(d) for letter, v, d, _ in part[2:] if letter == "v"}, wanted)
            for _, v, d, parent in part[2:]:
                if int(v) != source:
                    self.assertIn((int(v), int(d) - wanted[int(parent)]), arcs[int(parent)])

    def test_paths(self):
        some = self.file("x.gr", "p sp 5 5\na 1 2 0\na 2 1 0\na 2 3 5\na 1 3 6\na 3 4 2\n")
        said = self.said(some, "--to", 4, "--to", 1, "--to", 5, "--source", 1, "--source", 3)
        self.assertEqual([line for line in said if line.startswith("to ")],
                         ["to 4: distance 7, 3 arcs: 1 2 3 4", "to 1: distance 0, 0 arcs: 1", "to 5: no path",
                          "to 4: distance 2, 1 arcs: 3 4", "to 1: no path", "to 5: no path"])
        self.assertEqual([line for line in said if line.startswith("from ")],
                         ["from 1: 4 vertices, the farthest at distance 7", "from 3: 2 vertices, the farthest at distance 2"])

    def test_arcs_lead_one_way_unless_told_otherwise(self):
        chain = self.file("x.gr", "p sp 3 2\na 1 2 5\na 2 3 5\n")
        self.assertEqual(self.said(chain, "--source", 2)[1], "from 2: 2 vertices, the farthest at distance 5")
        self.assertEqual(self.said(chain, "--source", 2, "--undirected")[1], "from 2: 3 vertices, the farthest at distance 5")

    def test_distances_beyond_32_bits(self):
        chain = self.file("x.gr", "p sp 3 2\na 1 2 4294967295\na 2 3 4294967295\n")
        out = self.file("answer.txt", "")
        said = self.said(chain, "--to", 3, "--out", out)
        self.assertEqual(said[1], "from 1: 3 vertices, the farthest at distance 8589934590")
        self.assertRegex(said[2], r"with 64-bit distances, because 32 bits were too few")
        self.assertEqual(said[3], "to 3: distance 8589934590, 2 arcs: 1 2 3")
        self.assertEqual(out.read_text().splitlines()[1], "c 64 bits per distance")

    def test_drawn_weights_replace_any(self):
        matrix = self.file("x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -1\n")
        self.refused(1, rf"{matrix}:3: weight -1 is negative", matrix)
        self.assertEqual(self.said(matrix, "--draw-weights", 1)[2], "from 1: 2 vertices, the farthest at distance 1")

    def test_nothing_to_find(self):
        empty = self.file("x.gr", "p sp 3 0\n")
        self.assertEqual(self.said(empty, "--source", 2, "--draw-weights", 5)[2], "from 2: 1 vertices, the farthest at distance 0")

    def test_refusals(self):
        self.refused(2, "FILE: File does not exist: no/such.gr", "no/such.gr")
        self.refused(2, "--arm: magic not in .*", ROME, "--arm", "magic")
        self.refused(1, rf"--source: 0 is no vertex of {ROME}", ROME, "--source", 0)
        self.refused(1, rf"--to: 3354 is no vertex of {ROME}", ROME, "--to", 3354)
        self.refused(2, "--source: -1 is not a whole number from 0 to 18446744073709551615", ROME, "--source", "-1")
        self.refused(2, "--buckets: 33 is not a whole number from 1 to 32", ROME, "--buckets", 33)
        self.refused(2, "--delta: 0 is not a whole number from 1 .*", ROME, "--delta", 0)
        none = self.file("none.gr", "p sp 0 0\n")
        self.refused(1, rf"{none}: the graph has no vertices, so none to begin at", none)
        bad = self.file("bad.gr", "p sp 2 1\na 1 2 -5\n")
        self.refused(1, rf"{bad}:2: weight -5 is negative", bad)


class EveryCommandTest(command.EveryCommandTest):
    NAME = "shortest_paths"
    PRINTS = [ROME]


class OutputFileTest(output_files.OutputFileTest):
    NAME = "shortest_paths"
    SOURCE = "x.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"

    def writes(self, source, out):
        return [source, "--out", out]


if __name__ == "__main__":
    command.main(__doc__)
