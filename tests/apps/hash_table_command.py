#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command hash_table: what it counts, and what it says and returns when it cannot.

    hash_table_command.py PROGRAM [UNITTEST OPTIONS]
"""
import pathlib
import re

import command

DATA = pathlib.Path(__file__).parents[2] / "apps/data"
ARMS = ["warden_deferred", "lock_tuned", "atomics"]

TEXT = "to be, or not to be: that is\nthe question. To be_2!"
TEXT_COUNTS = [(2, "be"), (2, "to"), (1, "To"), (1, "be_2"), (1, "is"), (1, "not"), (1, "or"), (1, "question"),
               (1, "that"), (1, "the")]
# Blanks, tabs and commas; a comment, an empty line and one with carriage return.
EDGES = "# from to\n1 20\n\n2,\t30\n% weights\n3 20\r\n  20 1 20\n"
# Each word in another number, so that there is one order.
MANY = "".join(f"w{n} " * n for n in range(1, 31))


class CountTest(command.CommandTest):
    NAME = "hash_table"

    def counts(self, *arguments):
        """The printed counts, after the closing lines were checked."""
        run = self.run_it("count", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        *rows, summary, verdict = run.stdout.splitlines()
        self.assertEqual(verdict, "equal to a sequential count")
        self.summary = summary
        return [(int(n), word) for n, word in (row.split() for row in rows)]

    def test_words(self):
        text = self.file("text.txt", TEXT)
        self.assertEqual(self.counts(text), TEXT_COUNTS)
        self.assertRegex(self.summary, r"^12 words, 10 different, by warden_deferred on \S")

    def test_top(self):
        text = self.file("text.txt", TEXT)
        self.assertEqual(self.counts(text, "--top", 3), TEXT_COUNTS[:3])
        self.assertEqual(self.counts(text, "--top", 0), [])

    def test_columns(self):
        edges = self.file("edges.txt", EDGES)
        self.assertEqual(self.counts(edges, "--column", 1), [(1, "1"), (1, "2"), (1, "20"), (1, "3")])
        self.assertEqual(self.counts(edges, "--column", 2), [(2, "20"), (1, "1"), (1, "30")])
        self.assertRegex(self.summary, r"^4 words, 3 different, ")

    def test_arms_are_equal(self):
        many = self.file("many.txt", MANY)
        wanted = [(n, f"w{n}") for n in range(30, 0, -1)]
        for arm in ARMS:
            self.assertEqual(self.counts(many, "--arm", arm, "--top", 100), wanted, arm)
            self.assertRegex(self.summary, rf"^465 words, 30 different, by {arm} on \S")

    def test_several_gpus(self):
        many = self.file("many.txt", MANY)
        wanted = [(n, f"w{n}") for n in range(30, 0, -1)]
        for gpus in (1, 2, 3):
            self.assertEqual(self.counts(many, "--gpus", gpus, "--top", 100), wanted, gpus)
            self.assertRegex(self.summary, rf"^465 words, 30 different, by warden_deferred over {gpus} GPUs on \S")
        self.refused(2, ".*--gpus.*65.*", "count", many, "--gpus", 65)
        self.refused(2, ".*--gpus.*", "count", many, "--gpus", 2, "--arm", "atomics")

    def test_a_missing_column(self):
        edges = self.file("edges.txt", EDGES)
        self.refused(1, re.escape(f"{edges}:2: no column 3"), "count", edges, "--column", 3)

    def test_empty_fields(self):
        table = self.file("table.csv", "  # name, nothing, letter\na,,c\nb,x,d\n")
        run = self.run_it("count", table, "--column", 2)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout.splitlines()[:2], ["         1  ", "         1  x"])
        self.assertEqual(self.counts(table, "--column", 3), [(1, "c"), (1, "d")])
        self.refused(1, re.escape(f"{table}:2: no column 4"), "count", table, "--column", 4)

    def test_marks_and_line_ends(self):
        for content in (b"\xef\xbb\xbfthe the", b"the\rthe\r", b"the\r\nthe"):
            text = self.bytes_file("text.txt", content)
            self.assertEqual(self.counts(text), [(2, "the")])
            if b"\r" in content:
                self.assertEqual(self.counts(text, "--column", 1), [(2, "the")])

    def test_compressed_files(self):
        self.refuses_compressed("words.gz", "count")
        self.refuses_compressed("words.gz", "count", "--column", 1)

    def test_a_missing_file(self):
        missing = self.folder / "missing.txt"
        self.refused(2, f".*File does not exist: {re.escape(str(missing))}", "count", missing)
        self.refused(2, ".*directory.*", "count", self.folder)

    def test_a_text_without_words(self):
        empty = self.file("empty.txt", ". , ;\n")
        self.refused(1, re.escape(f"{empty}: no words"), "count", empty)

    def test_too_small_a_capacity(self):
        many = self.file("many.txt", MANY)
        for arm in ARMS:
            self.assertEqual(len(self.counts(many, "--capacity", 30, "--top", 100, "--arm", arm)), 30)
        # Some buckets have room for some, and so have their chained nodes. Not many more words: if
        # all wait for few locks the simulated device takes long.
        more = self.file("more.txt", "".join(f"v{n} " for n in range(150)))
        for arm in ARMS:
            self.refused(1, r".*the pool of 64 overflow nodes is full; \d+ new keys were refused \(.*\) \(\S+:\d+\)",
                         "count", more, "--capacity", 7, "--arm", arm)

    def test_wrong_options(self):
        text = self.file("text.txt", TEXT)
        for wrong in (["count"], [], ["count", text, "--arm", "best"], ["count", text, "--column", 0],
                      ["count", text, "--capacity", 0], ["sum", text]):
            self.refused(2, ".+", *wrong)


class EveryCommandTest(command.EveryCommandTest):
    NAME = "hash_table"
    PRINTS = ["count", DATA / "transfers.csv"]


if __name__ == "__main__":
    command.main(__doc__)
