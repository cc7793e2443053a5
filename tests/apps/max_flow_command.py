#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command max_flow: what it says of networks, the files it writes, and what it refuses.

    max_flow_command.py PROGRAM [UNITTEST OPTIONS]
"""
import os
import pathlib
import pty
import re
import subprocess

import command
import output_files

ROOT = pathlib.Path(__file__).parents[2]
# Flow 5: 3 by vertex 2 and 2 by vertex 3; vertex 2 has more to give than it gets rid of.
NETWORK = "p max 4 5\nn 1 s\nn 4 t\na 1 2 9\na 2 4 3\na 1 3 4\na 3 4 2\na 2 3 1\n"


class MaxFlowTest(command.CommandTest):
    NAME = "max_flow"

    def test_flow_and_cut(self):
        network, flow, cut = self.file("x.max", NETWORK), self.folder / "flow", self.folder / "cut"
        for arm in ("lock_as_written", "lock_tuned", "atomics", "warden", "warden_regions"):
            lines = self.said(network, "--arm", arm, "--out", flow, "--cut", cut)
            self.assertEqual(lines[0], f"{network}: 4 vertices, 5 arcs, from 1 to 4")
            self.assertRegex(lines[1], rf"\Aflow 5, in \d+ iterations and \d+ global relabellings, by {arm} on simulated device\Z")
            self.assertEqual(lines[2], "audit passed: all other vertices conserve flow, no arc exceeds its capacity, and the cut has "
                                       "2 arcs of capacity 5")
            self.assertEqual(flow.read_text().splitlines()[0], "s 5")
            self.check_flow(flow, {1: 5, 4: -5})
            self.assertEqual(cut.read_text(), "s 5\nn 1\nn 2\nn 3\na 2 4 3\na 3 4 2\n")

    def test_the_fastest_arm(self):
        """Regions where neighbours have numbers near one another, and atomics where they have not."""
        count = 600
        line = "".join(f"a {v} {v + 1} 1\n" for v in range(1, count))
        # Each to one that is far from it.
        order = [v * 251 % (count + 1) for v in range(1, count + 1)]
        mixed = "".join(f"a {v} {w} 1\n" for v, w in zip(order, order[1:]))
        for name, arcs, ends, arm in (("near.max", line, (1, count), "warden_regions"), ("far.max", mixed, (order[0], order[-1]), "atomics")):
            network = self.file(name, f"p max {count} {count - 1}\nn {ends[0]} s\nn {ends[1]} t\n{arcs}")
            self.assertRegex(self.said(network)[1], rf"\Aflow 1, .* by {arm} on simulated device\Z")

    def check_flow(self, path, wanted):
        """Flow out of each vertex, by the file."""
        leaves = {}
        for line in path.read_text().splitlines()[1:]:
            letter, *numbers = line.split()
            self.assertEqual(letter, "f")
            source, to, amount = map(int, numbers)
            leaves[source] = leaves.get(source, 0) + amount
            leaves[to] = leaves.get(to, 0) - amount
        self.assertEqual({v: n for v, n in leaves.items() if n != 0}, wanted)

    def test_other_ends(self):
        network = self.file("x.max", NETWORK)
        self.assertTrue(self.said(network, "--source", 2, "--sink", 3)[1].startswith("flow 1, "))
        self.assertTrue(self.said(network, "--source", 4, "--sink", 1)[1].startswith("flow 0, "))

    def test_the_reference(self):
        lines = self.said(self.file("x.max", NETWORK), "--reference")
        self.assertRegex(lines[3], r"\ABoost's push-relabel: 5 in \d+\.\d{3} s on one core\Z")
        self.assertRegex(lines[4], r"\ABoost's Boykov-Kolmogorov: 5 in \d+\.\d{3} s on one core\Z")

    def test_other_formats(self):
        """Vertices are called as in the file; an edge of an undirected graph is one each way."""
        edges = self.file("x.txt", "70 90 4\n90 300 3\n")
        cut = self.folder / "cut"
        self.assertEqual(self.said(edges, "--source", 70, "--sink", 300, "--cut", cut)[0],
                         f"{edges}: 3 vertices, 2 arcs, from 70 to 300")
        self.assertEqual(cut.read_text(), "s 3\nn 70\nn 90\na 90 300 3\n")
        symmetric = self.file("x.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 4\n3 2 3\n")
        self.assertTrue(self.said(symmetric, "--source", 3, "--sink", 1)[1].startswith("flow 3, "))
        self.assertTrue(self.said(symmetric, "--source", 1, "--sink", 3)[1].startswith("flow 3, "))

    def test_the_cache(self):
        network = self.file("x.max", NETWORK)
        first = self.said(network, "--cache")
        self.assertTrue((self.folder / "x.max.graph").exists())
        self.assertEqual(self.said(network, "--cache"), first)
        network.write_text(NETWORK.replace("a 3 4 2", "a 3 4 4"))
        run = self.run_it(network, "--cache")
        self.assertEqual(run.stderr, f"max_flow: {network}.graph: is of an older state of the file; reading {network}\n")
        self.assertIn("\nflow 7, ", run.stdout)

    def test_weights_with_a_fraction(self):
        matrix = self.file("x.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.25\n")
        self.assertTrue(self.said(matrix, "--weight-factor", 100, "--source", 1, "--sink", 2)[1].startswith("flow 25, "))

    def test_largest_capacities(self):
        most = 2**32 - 1
        network = self.file("x.max", f"p max 3 4\nn 1 s\nn 3 t\na 1 2 {most}\na 1 2 {most}\na 2 3 {most}\na 2 3 {most}\n")
        self.assertTrue(self.said(network)[1].startswith(f"flow {2 * most}, "))
        for capacity in (2**32, 2**64):
            network.write_text(f"p max 2 1\nn 1 s\nn 2 t\na 1 2 {capacity}\n")
            self.refused(1, re.escape(f"{network}:4: ") + ".*4294967295.*", network)

    def test_terminals_that_the_file_does_not_name(self):
        for terminals, options in (("", ["--source", 1, "--sink", 2]), ("n 1 s\n", ["--sink", 2]), ("n 2 t\n", ["--source", 1]),
                                   ("n 2 s\nn 1 t\n", ["--source", 1, "--sink", 2])):
            network = self.file("x.max", f"p max 2 1\n{terminals}a 1 2 3\n")
            self.assertRegex(self.said(network, *options)[1], "^flow 3, ")

    def test_capacities_with_a_fraction(self):
        network = self.file("x.max", "p max 2 1\nn 1 s\nn 2 t\na 1 2 0.5\n")
        self.refused(1, re.escape(f"{network}:4: capacity 0.5 has a fraction; --weight-factor makes whole numbers of all"), network)
        self.assertRegex(self.said(network, "--weight-factor", 10)[1], "^flow 5, ")

    def test_undirected_networks(self):
        """One flow, whether a file has edges, both arcs of each, or one arc that --undirected makes an edge."""
        ends = [(2, 1, 3), (3, 2, 3), (4, 3, 3), (4, 1, 1)]
        files = [(self.file("x.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n4 4 4\n"
                            + "".join(f"{a} {b} {c}\n" for a, b, c in ends)), []),
                 (self.file("x.gr", "p sp 4 8\n" + "".join(f"a {a} {b} {c}\na {b} {a} {c}\n" for a, b, c in ends)), []),
                 (self.file("both.gr", "p sp 4 8\n" + "".join(f"a {a} {b} {c}\na {b} {a} {c}\n" for a, b, c in ends)), ["--undirected"]),
                 (self.file("one.gr", "p sp 4 4\n" + "".join(f"a {a} {b} {c}\n" for a, b, c in ends)), ["--undirected"])]
        for path, options in files:
            self.assertRegex(self.said(path, "--source", 3, "--sink", 1, *options)[1], "^flow 4, ", path)

    def test_progress(self):
        """On a terminal alone; the line is empty in the end."""
        leader, follower = pty.openpty()
        run = subprocess.run([command.PROGRAM, self.file("x.max", NETWORK)], stdout=subprocess.PIPE, stderr=follower, timeout=120)
        os.close(follower)
        text = os.read(leader, 4096).decode()
        os.close(leader)
        self.assertEqual(run.returncode, 0)
        # The reader's bar stands before it.
        self.assertRegex(text, r"\r\033\[K\d+ iterations, \d+ active vertices, flow \d+(, and excess goes back)?\r\033\[K\Z")

    def test_refusals(self):
        network = self.file("x.max", NETWORK)
        self.refused(1, re.escape(f"{network}: source and sink are one vertex, 1"), network, "--sink", 1)
        for option, name in (("source", 0), ("source", 5), ("sink", 5)):
            self.refused(1, re.escape(f"--{option}: {name} is no vertex of {network}"), network, f"--{option}", name)
        edges = self.file("x.txt", "7 9 1\n")
        self.refused(1, re.escape(f"{edges}: names no sink; choose one by --sink VERTEX"), edges, "--source", 7)
        self.refused(1, re.escape(f"{edges}: names no source; choose one by --source VERTEX"), edges)
        self.refused(1, re.escape(f"--sink: 8 is no vertex of {edges}"), edges, "--source", 7, "--sink", 8)
        edges = self.file("y.txt", "7 9\n")
        self.refused(1, re.escape(f"{edges}: the graph has no weights to be capacities"), edges, "--source", 7, "--sink", 9)
        self.refused(1, r"\d+ iterations, and still an excess of [1-9]\d* at [1-9]\d* active vertices; the limit is 1 iterations.*",
                     self.file("long.max", self.path_of(60)), "--arm", "atomics", "--most-iterations", 1)
        self.refused(1, re.escape(f"{self.folder}/none/x: cannot be written") + ".*", network, "--out", self.folder / "none/x")
        for option, text in (("source", "x"), ("most-iterations", "-1"), ("sink", 2**64)):
            self.refused(2, f"--{option}: {text} is not a whole number from 0 to 18446744073709551615", network, f"--{option}", text)
        for wrong in ([], [self.folder / "none.max"], [network, "--arm", "magic"], [network, "--source", -1],
                      [network, "--format", "dot"]):
            self.refused(2, ".+", *wrong)

    def test_the_example(self):
        """The output that the README shows."""
        text = (ROOT / "apps/max_flow/README.md").read_text()
        shown = re.findall(r"(?m)^    \$ max_flow_sim (\S+)\n((?:    [^$\n].*\n)+)", text)
        self.assertEqual(len(shown), 1)
        for path, output in shown:
            said = self.said(ROOT / path, "--reference")
            self.assertEqual([line.replace(f"{ROOT}/", "") for line in said[:3]], re.sub("(?m)^    ", "", output).splitlines())

    def path_of(self, vertices):
        arcs = "".join(f"a {v} {v + 1} 5\n" for v in range(1, vertices))
        return f"p max {vertices} {vertices - 1}\nn 1 s\nn {vertices} t\n{arcs}"


class EveryCommandTest(command.EveryCommandTest):
    NAME = "max_flow"
    PRINTS = [ROOT / "apps/data/dimacs_sample.max"]


class OutputFileTest(output_files.OutputFileTest):
    NAME = "max_flow"
    SOURCE = "x.max", NETWORK

    def writes(self, source, out):
        return [source, "--out", out]

    def test_two_outputs(self):
        for out, cut in ("a", "a"), ("a", "./a"), ("a", self.folder / "a"), ("/dev/stdout", "/dev/stdout"):
            run = subprocess.run([command.PROGRAM, self.source, "--out", out, "--cut", cut], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertEqual(run.stderr, f"max_flow: {cut}: cannot be written: it and the output {out} are one file; choose another name\n")
        self.assertEqual(self.names(), ["x.max"])
        self.said(self.source, "--out", "/dev/null", "--cut", "/dev/null")


if __name__ == "__main__":
    command.main(__doc__)
