#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command graph: what it says of files, which files it writes, and what it refuses.

    graph_command.py PROGRAM [UNITTEST OPTIONS]
"""
import os
import pathlib
import pty
import re
import subprocess

import command
import output_files

DATA = pathlib.Path(__file__).parents[2] / "apps/data"
ROME = DATA / "rome99.gr"


class GraphTest(command.CommandTest):
    NAME = "graph"

    def test_real_graphs(self):
        self.assertEqual(self.said("info", ROME), [
            f"{ROME}: 3353 vertices, 4444 arcs, weights from 1 to 12711",
            "0 self-loops, 0 parallel edges, 0 arcs with one back",
            "17 vertices without edges, at most 5 edges at one"])
        self.assertEqual(self.said("info", DATA / "luxembourg_osm.mtx"), [
            f"{DATA}/luxembourg_osm.mtx: 114599 vertices, 119666 edges, no weights",
            "0 self-loops, 0 parallel edges", "0 vertices without edges, at most 6 edges at one"])
        self.assertEqual(self.said("info", DATA / "facebook_combined.txt")[0],
                         f"{DATA}/facebook_combined.txt: 4039 vertices, 88234 arcs, no weights")

    def test_a_flow_network(self):
        network = self.file("x.max", "p max 3 3\nn 2 s\nn 3 t\na 2 1 5\na 1 2 0\na 1 1 4\n")
        self.assertEqual(self.said("info", network), [
            f"{network}: 3 vertices, 3 arcs, weights from 0 to 5",
            "1 self-loops, 0 parallel edges, 2 arcs with one back",
            "1 vertices without edges, at most 4 edges at one", "source 2, sink 3"])

    def as_arcs(self, path, said):
        """Contents of a file of arcs for these edges: both directions of each, except of a self-loop."""
        ends = [line.split()[1:3] for line in path.read_text().splitlines() if line.startswith("a ")]
        vertices, number = re.match(r"(\d+) vertices, (\d+) ", said).groups()
        both = 2 if said.endswith("edges") else 1
        self.assertEqual(len(ends), both * int(number) - (both - 1) * sum(a == b for a, b in ends))
        self.assertTrue(both == 1 or sorted(ends) == sorted([b, a] for a, b in ends))
        return f"{vertices} vertices, {len(ends)} arcs"

    def test_generated_graphs(self):
        for kind, options, said in [
                ("rmat", ["--scale", 6, "--edge-factor", 3, "--a", 0.5, "--in-order"], "64 vertices, 192 edges"),
                ("uniform", ["--vertices", 50, "--edges", 70], "50 vertices, 70 edges"),
                ("road", ["--rows", 8, "--columns", 10], "80 vertices, 100 edges"),
                ("washington", ["--rows", 5, "--columns", 4], "22 vertices, 55 arcs"),
                ("rmf", ["--a", 3, "--b", 2], "18 vertices, 57 arcs"),
                ("image", ["--rows", 5, "--columns", 3, "--patch", 2], "17 vertices, 59 arcs")]:
            for ending in ("mtx", "max" if "arcs" in said else "gr"):
                out = self.folder / f"{kind}.{ending}"
                self.assertEqual(self.said("generate", kind, *options, "--out", out), [f"{out}: {said}"])
                wanted = said if ending == "mtx" else self.as_arcs(out, said)
                self.assertTrue(self.said("info", out)[0].startswith(f"{out}: {wanted}, weights from "))
                words = " ".join(map(str, options))
                self.assertIn(f"graph generate {kind} {words}\n", out.read_text(), "what it was made by")
        again = self.folder / "again.gr"
        self.said("generate", "road", "--rows", 8, "--columns", 10, f"--out={again}")
        self.assertEqual(again.read_text(), (self.folder / "road.gr").read_text())
        self.said("generate", "road", "--rows", 8, "--columns", 10, "--seed", 2, "--out", again)
        self.assertNotEqual(again.read_text(), (self.folder / "road.gr").read_text())

    def test_conversion(self):
        edges = self.file("x.txt", "7 9\n9 9\n")
        out = self.folder / "x.gr"
        self.refused(1, re.escape(f"{out}: cannot be written: the graph has no weights"), "convert", edges, out)
        self.assertEqual(self.said("convert", edges, out, "--draw-weights", 1), [f"{out}: 2 vertices, 2 arcs"])
        self.assertEqual(out.read_text(), "c x.txt, weights drawn with seed 1\np sp 2 2\na 1 2 1\na 2 2 1\n")
        matrix = self.folder / "x"
        self.said("convert", out, matrix, "--out-format", "mtx", "--undirected")
        self.assertEqual(matrix.read_text(),
                         "%%MatrixMarket matrix coordinate integer symmetric\n% x.gr\n2 2 2\n2 1 1\n2 2 1\n")
        self.assertEqual(self.said("info", matrix, "--format", "mtx")[0], f"{matrix}: 2 vertices, 2 edges, weights from 1 to 1")

    def test_edges_in_a_format_of_arcs(self):
        """Both ways of each edge, so that nothing is reached in one way only."""
        edges = self.file("x.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n2 3 6\n3 3 7\n")
        arcs = self.folder / "x.gr"
        self.assertEqual(self.said("convert", edges, arcs), [f"{arcs}: 3 vertices, 3 edges"])
        self.assertEqual(arcs.read_text(), "c x.mtx\np sp 3 5\na 2 1 5\na 1 2 5\na 2 3 6\na 3 2 6\na 3 3 7\n")
        both = self.file("y.gr", "p sp 2 2\na 1 2 5\na 2 1 5\n")
        self.said("convert", "--undirected", both, arcs)
        self.assertEqual(self.said("info", arcs)[:2], [f"{arcs}: 2 vertices, 2 arcs, weights from 5 to 5",
                                                       "0 self-loops, 0 parallel edges, 2 arcs with one back"])

    def test_direction(self):
        """Only a comment that begins so says it, and none with the name of a file."""
        directed = self.file("x.txt", "# Directed graph: this was made from an undirected graph\n0 1\n1 2\n")
        self.assertEqual(self.said("info", directed)[0], f"{directed}: 3 vertices, 2 arcs, no weights")
        for name in ("my undirected graph.gr", "Undirected graph.gr", "a\n# Undirected graph"):
            arcs = self.file(name, "p sp 2 1\na 1 2 5\n")
            out = self.folder / "y.txt"
            self.said("convert", "--format", "gr", arcs, out)
            self.assertEqual(self.said("info", out)[0], f"{out}: 2 vertices, 1 arcs, weights from 5 to 5")

    def test_vertices_that_an_edge_list_loses(self):
        out = self.folder / "x.txt"
        run = self.run_it("convert", ROME, out)
        self.assertEqual((run.returncode, run.stdout), (0, f"{out}: 3353 vertices, 4444 arcs\n"))
        self.assertEqual(run.stderr, f"graph: {out}: 17 of 3353 vertices are lost, as they have no edges and the file lists edges only; "
                                     "write .gr or .mtx\n")
        self.assertEqual(self.said("info", out)[0], f"{out}: 3336 vertices, 4444 arcs, weights from 1 to 12711")

    def test_both_ways(self):
        """An edge that a file lists in both directions becomes one edge."""
        roads = self.file("x.gr", "p sp 3 4\na 1 2 5\na 2 1 5\na 3 2 6\na 2 3 6\n")
        out = self.folder / "x.mtx"
        self.assertEqual(self.said("convert", roads, out, "--undirected"), [f"{out}: 3 vertices, 2 edges"])
        self.assertEqual(self.said("convert", ROME, out, "--undirected"), [f"{out}: 3353 vertices, 4444 edges"])

    def test_real_weights(self):
        matrix = self.file("x.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.25\n")
        self.refused(1, re.escape(f"{matrix}:3: weight 0.25 has a fraction; --weight-factor makes whole numbers of all"),
                     "info", matrix)
        self.assertIn("weights from 25 to 25", self.said("info", matrix, "--weight-factor", 100)[0])
        for name, text in (("x.gr", "p sp 2 1\na 1 2 3\n"), ("x.txt", "1 2 3\n"), ("x.max", "p max 2 1\na 1 2 3\n"),
                           ("x.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3\n")):
            self.assertIn("weights from 3000 to 3000", self.said("info", self.file(name, text), "--weight-factor", 1000)[0])

    def test_weights_that_are_replaced(self):
        matrix = self.file("x.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 -1\n")
        out = self.folder / "x.gr"
        self.refused(1, re.escape(f"{matrix}:3: weight -1 is negative"), "convert", matrix, out)
        self.assertEqual(self.said("convert", matrix, out, "--draw-weights", 1), [f"{out}: 2 vertices, 1 edges"])
        self.assertEqual(out.read_text().splitlines()[1:], ["p sp 2 2", "a 2 1 1", "a 1 2 1"])

    def test_matrices_of_others(self):
        """One percent sign, entries above the diagonal, plus signs."""
        for text, said in (("%MatrixMarket matrix coordinate pattern symmetric\n453 453 1\n186 1\n", "453 vertices, 1 edges, no weights"),
                           ("%%MatrixMarket matrix coordinate integer symmetric\n%%GraphBLAS type bool\n9 9 2\n1 2 1\n3 2 1\n",
                            "9 vertices, 2 edges, weights from 1 to 1"),
                           ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 +1.0E+00\n2 1 2.\n",
                            "2 vertices, 2 arcs, weights from 1 to 2")):
            matrix = self.file("x.mtx", text)
            self.assertEqual(self.said("info", matrix)[0], f"{matrix}: {said}")

    def test_a_network_without_terminals(self):
        network = self.file("x.max", "p max 3 1\nn 3 s\na 1 2 5\n")
        self.assertEqual(self.said("info", network)[3], "source 3, sink unnamed")
        out = self.folder / "y.max"
        self.said("convert", network, out)
        self.assertEqual(out.read_text(), "c x.max\np max 3 1\nn 3 s\na 1 2 5\n")

    def test_text(self):
        """Line ends of all kinds, comments after blanks; a compressed file is told from an unknown one."""
        for content in (b"#c\r0 1\r1 2\r", b"  # indented\r\n0 1\r\n1 2", b"\xef\xbb\xbf0 1\n\t% c\n+1 2\n"):
            edges = self.bytes_file("x.txt", content)
            self.assertEqual(self.said("info", edges)[0], f"{edges}: 3 vertices, 2 arcs, no weights")
        for name in ("x.txt.gz", "x.mtx"):
            self.refuses_compressed(name, "info")
        matrix = self.file("x.txt", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n")
        self.refused(1, f"{matrix}:1: this is a matrix of Matrix Market; read it with --format mtx", "info", matrix)

    def test_the_cache(self):
        edges = self.file("x.txt", "0 1\n")
        for options in (["--cache"], ["--cache-folder", self.folder / "kept"]):
            first = self.said("info", edges, *options)
            self.assertEqual(self.said("info", edges, *options), first)
        kept = [f for f in self.folder.rglob("*.graph")]
        self.assertEqual(len(kept), 2)
        edges.write_text("0 1\n1 2\n")
        run = self.run_it("info", edges, "--cache")
        self.assertEqual(run.stderr, f"graph: {edges}.graph: is of an older state of the file; reading {edges}\n")
        self.assertIn("3 vertices, 2 arcs", run.stdout)

    def test_what_cannot_be_cached(self):
        """It is said in one line, and the graph is read."""
        long = self.file("n" * 247 + ".txt", "0 1\n")
        missing = self.folder / "folder"
        missing.symlink_to("none/folder")
        for options, why in ((["--cache"], f"{long}.graph: cannot be written: File name too long"),
                             (["--cache-folder", ROME], ".*Not a directory.*"), (["--cache-folder", missing], ".*")):
            run = self.run_it("info", long, *options)
            self.assertEqual((run.returncode, run.stdout.splitlines()[0]), (0, f"{long}: 2 vertices, 1 arcs, no weights"), run.stderr)
            self.assertRegex(run.stderr, rf"\Agraph: {why}\n\Z")

    def test_progress(self):
        """On a terminal alone; the line is empty in the end."""
        edges = self.file("x.txt", "0 1\n")
        leader, follower = pty.openpty()
        run = subprocess.run([command.PROGRAM, "info", edges], stdout=subprocess.PIPE, stderr=follower, timeout=120)
        os.close(follower)
        text = os.read(leader, 4096).decode()
        os.close(leader)
        self.assertEqual(run.returncode, 0)
        self.assertRegex(text, rf"\A(\r\033\[K\[#*\.*\] +\d+ % reading {re.escape(str(edges))})+\r\033\[K\Z")
        self.assertIn("[" + 30 * "#" + "] 100 %", text)

    def test_what_is_no_file_itself_is_written_to(self):
        """A device, a pipe or a link stays what it is."""
        wanted = self.folder / "x.gr"
        self.said("generate", "rmat", "--scale", 2, "--out", wanted)
        kept = self.file("kept", "what was there and is longer than what comes" * 100)
        link, pipe = self.folder / "link", self.folder / "pipe"
        link.symlink_to(kept)
        self.said("generate", "rmat", "--scale", 2, "--out", link, "--format", "gr")
        self.assertTrue(link.is_symlink())
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.said("generate", "rmat", "--scale", 2, "--out", pipe, "--format", "gr")
        through = os.read(reader, 1 << 16).decode()
        os.close(reader)
        self.assertTrue(pipe.is_fifo())
        without_command = [text[text.index("\n"):] for text in (wanted.read_text(), kept.read_text(), through)]
        self.assertEqual(without_command, without_command[:1] * 3)
        full = self.folder / "full"
        full.symlink_to("/dev/full")
        self.refused(1, f"{re.escape(str(full))}: cannot be written: No space left on device", "generate", "rmat", "--out", full,
                     "--format", "gr")
        self.refused(1, f"{self.folder}: cannot be written: Is a directory", "generate", "rmat", "--out", self.folder,
                     "--format", "gr")

    def test_outputs_are_looked_at_first(self):
        """Nothing slow begins if the file cannot be written."""
        out = self.folder / "none/x.gr"
        for command_line in (["convert", self.file("wrong.gr", "wrong"), out], ["generate", "rmat", "--scale", 31, "--out", out]):
            self.refused(1, f"{out}: cannot be written: No such file or directory", *command_line)

    def test_numbers(self):
        """No number is taken for another one."""
        for text in ("-1", "18446744073709551616", "0x10", "1.5"):
            self.refused(2, rf"--seed: {re.escape(text)} is not a whole number from 0 to 18446744073709551615",
                         "generate", "rmat", f"--seed={text}", "--out", self.folder / "x.gr")
        self.refused(2, "--scale: 4294967296 is not a whole number from 0 to 4294967295",
                     "generate", "rmat", "--scale", 2**32, "--out", self.folder / "x.gr")
        out = self.folder / "x.gr"
        self.assertEqual(self.said("generate", "rmat", "--scale", "010", "--out", out), [f"{out}: 1024 vertices, 16384 edges"])
        self.refused(1, "the number of rows 18446744073709551615 is not from 1 to 4294967295",
                     "generate", "road", "--rows", 2**64 - 1, "--columns", 3, "--out", out)

    def test_more_than_memory_holds(self):
        run = self.run_with(2000, "info", self.file("x.gr", "p sp 4294967295 0\n"))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (1, "", "graph: out of memory on the host\n"))

    def test_refusals(self):
        broken = self.file("x.gr", "p sp 2 1\na 1 3 5\n")
        self.refused(1, re.escape(f"{broken}:2: vertex 3 is not from 1 to 2, the number of vertices"), "info", broken)
        self.refused(1, "the scale 99 is not from 0 to 31", "generate", "rmat", "--scale", 99, "--out", self.folder / "x")
        self.refused(1, ".*: of no known format; the endings are .*", "generate", "rmat", "--out", self.folder / "x")
        for wrong in ([], ["info"], ["info", self.folder / "none.gr"], ["generate"], ["generate", "rmat"],
                      ["convert", ROME], ["info", ROME, "--format", "dot"], ["convert", ROME, "x", "--draw-weights", 0]):
            self.refused(2, ".+", *wrong)

    def test_the_example(self):
        """The output that the README shows."""
        text = (DATA.parent / "graph/README.md").read_text()
        shown = re.findall(r"(?m)^    \$ graph (.*)\n((?:    [^$\n].*\n)+)", text)
        self.assertEqual(len(shown), 2)
        for options, output in shown:
            words = [self.folder / word if word.startswith("grid.") else DATA.parents[1] / word if "/" in word else word
                     for word in options.split()]
            said = self.said(*words)
            wanted = re.sub("(?m)^    ", "", output).splitlines()
            self.assertEqual([line.replace(f"{self.folder}/", "").replace(f"{DATA.parents[1]}/", "") for line in said], wanted)


class EveryCommandTest(command.EveryCommandTest):
    NAME = "graph"
    PRINTS = ["info", ROME]


class OutputFileTest(output_files.OutputFileTest):
    NAME = "graph"
    SOURCE = "x.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"

    def writes(self, source, out):
        return ["convert", source, out, "--out-format", "gr"]


if __name__ == "__main__":
    command.main(__doc__)
