#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command spanning_forest: the forests of real files, what it writes, and what it refuses.

    spanning_forest_command.py PROGRAM [UNITTEST OPTIONS]
"""
import os
import pathlib
import pty
import subprocess

import command
import output_files

DATA = pathlib.Path(__file__).parents[2] / "apps/data"
ROME = DATA / "rome99.gr"


class SpanningForestTest(command.CommandTest):
    NAME = "spanning_forest"

    def test_real_graphs(self):
        said = self.said(ROME)
        self.assertEqual(said[:2], [f"{ROME}: 3353 vertices, 4444 edges", "forest: 3331 edges of weight 1215457 in 22 trees"])
        self.assertRegex(said[2], r"^found by \w+ in \d+ iterations on simulated device$")
        self.assertEqual(said[3], "checked: no cycle, and the edges and weight of Kruskal's forest")
        said = self.said(DATA / "luxembourg_osm.mtx", "--seed", 3)
        self.assertEqual(said[0], "weights: drawn from 1 to 1000000 with seed 3")
        self.assertRegex(said[2], r"^forest: 114598 edges of weight \d+ in 1 trees$")

    def test_arms_agree(self):
        forests = [self.said(ROME, "--arm", arm)[1] for arm in ("lock_checked", "warden_deferred")]
        self.assertEqual(forests, [self.said(ROME)[1]] * 2)

    def test_drawn_weights_take_the_place_of_the_files(self):
        said = self.said(ROME, "--draw-weights", 1)
        self.assertEqual(said[0], "weights: drawn from 1 to 1 with seed 1")
        self.assertEqual(said[2], "forest: 3331 edges of weight 3331 in 22 trees")

    def test_the_forest_as_a_file(self):
        out = self.file("forest.gr", "")
        self.said(ROME, "--out", out)
        lines = pathlib.Path(out).read_text().splitlines()
        self.assertEqual([line for line in lines if line[0] == "p"], ["p sp 3353 6662"], "both ways of each edge")
        arcs = [line.split() for line in lines if line[0] == "a"][::2]
        self.assertEqual(sum(int(arc[3]) for arc in arcs), 1215457)
        known = set(ROME.read_text().splitlines())
        self.assertTrue(all(" ".join(arc) in known for arc in arcs))
        # A forest is its own.
        self.assertEqual(self.said(out)[1], "forest: 3331 edges of weight 1215457 in 22 trees")

    def test_drawn_weights_replace_any(self):
        matrix = self.file("x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -1\n")
        self.refused(1, rf"{matrix}:3: weight -1 is negative", matrix)
        self.assertEqual(self.said(matrix, "--draw-weights", 1)[2], "forest: 1 edges of weight 1 in 1 trees")

    def test_vertices_that_an_edge_list_loses(self):
        out = self.folder / "forest.txt"
        run = self.run_it(self.file("x.gr", "p sp 3 1\na 1 2 5\n"), "--out", out)
        self.assertEqual((run.returncode, run.stderr),
                         (0, f"spanning_forest: {out}: 1 of 3 vertices are lost, as they have no edges and the file lists edges only; "
                             "write .gr or .mtx\n"))

    def test_iterations(self):
        said = self.said(ROME, "--iterations")
        self.assertEqual(said[0].split(), ["components", "candidates", "set", "aside"])
        self.assertEqual(said[1].split(), ["3353", "0", "0"])

    def test_progress(self):
        """On a terminal alone; the line is empty in the end."""
        leader, follower = pty.openpty()
        run = subprocess.run([command.PROGRAM, ROME], stdout=subprocess.PIPE, stderr=follower, timeout=120)
        os.close(follower)
        text = os.read(leader, 1 << 16).decode()
        os.close(leader)
        self.assertEqual(run.returncode, 0)
        # The reader's bar stands before it.
        self.assertRegex(text, r"(\r\033\[K)rows of arcs\1+finding the forest\1+checking\1\Z")

    def test_nothing_to_do(self):
        empty = self.file("x.gr", "p sp 3 0\n")
        self.assertEqual(self.said(empty)[1:3], [f"{empty}: 3 vertices, 0 edges", "forest: 0 edges of weight 0 in 3 trees"])

    def test_outputs_are_looked_at_first(self):
        out = self.folder / "none/x.gr"
        self.refused(1, f"{out}: cannot be written: No such file or directory", ROME, "--out", out)
        self.refused(1, "forest: of no known format; .*", ROME, "--out", "forest")
        out = self.folder / "x.max"
        self.refused(1, f"{out}: cannot be written: the graph has no source and sink", ROME, "--out", out)

    def test_more_than_the_device_holds(self):
        """The error begins with the command's name, like all others."""
        run = self.run_with(4000, self.file("x.gr", "p sp 4294967295 1\na 1 2 3\n"))
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, r"\Aspanning_forest: .*out of memory.*\n\Z")

    def test_refusals(self):
        self.refused(2, "FILE: File does not exist: no/such.gr", "no/such.gr")
        self.refused(2, "--arm: magic not in .*", ROME, "--arm", "magic")
        self.refused(2, "--draw-weights: 0 is not a whole number from 1 to 4294967295", ROME, "--draw-weights", 0)
        self.refused(2, "--seed: -1 is not a whole number from 0 to 18446744073709551615", ROME, "--seed", -1)
        bad = self.file("bad.gr", "p sp 2 1\na 1 3 5\n")
        self.refused(1, rf"{bad}:2: .*", bad)


class EveryCommandTest(command.EveryCommandTest):
    NAME = "spanning_forest"
    PRINTS = [ROME]


class OutputFileTest(output_files.OutputFileTest):
    NAME = "spanning_forest"
    SOURCE = "x.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"

    def writes(self, source, out):
        return [source, "--out", out, "--out-format", "gr"]


if __name__ == "__main__":
    command.main(__doc__)
