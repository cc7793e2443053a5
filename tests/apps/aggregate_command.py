#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command hash_table aggregate against aggregates by Python, and its errors.

    aggregate_command.py PROGRAM [UNITTEST OPTIONS]
"""
import collections
import csv
import fractions
import io
import math
import os
import random
import re
import subprocess

import command

LARGEST = 2**63 - 1


def sort_key(keys):
    """The order of the output: NULL first, integers by value if all keys of a column are integers, otherwise bytes."""
    whole = [all(re.fullmatch(r"|0|-?[1-9]\d*", key[c]) for key in keys) for c in range(len(next(iter(keys), ())))]
    return lambda key: [(field != "", int(field or 0) if w else field.encode()) for field, w in zip(key, whole)]


def group(rows, fields):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[f] for f in fields)].append(row)
    return {key: groups[key] for key in sorted(groups, key=sort_key(groups))}


def variance(numbers):
    """The sample variance, exactly."""
    numbers = [fractions.Fraction(n) for n in numbers]
    mean = sum(numbers) / len(numbers)
    return sum((n - mean) ** 2 for n in numbers) / (len(numbers) - 1)


class AggregateTest(command.CommandTest):
    NAME = "hash_table"

    def table(self, rows, name="table.csv", **style):
        text = io.StringIO(newline="")
        csv.writer(text, **style).writerows(rows)
        return self.bytes_file(name, text.getvalue().encode())

    @staticmethod
    def with_memory(arguments):
        """With little memory unless the test says how much: the simulated device allocates it at once."""
        return arguments if "--memory" in arguments else (*arguments, "--memory", 16)

    def rows(self, *arguments, **environment):
        """The rows of the output, which equals a sequential pass."""
        arguments = self.with_memory(arguments)
        run = subprocess.run([command.PROGRAM, "aggregate", *map(str, arguments), "--check"], capture_output=True, timeout=120,
                             env={**os.environ, **environment})
        said = run.stderr.decode().splitlines()
        self.assertEqual(run.returncode, 0, said)
        self.assertRegex(said[0], r"^\d+ rows, \d+ groups, in \d+ MiB of device memory on \S")
        self.assertEqual(said[1:], ["equal to a sequential pass"])
        self.summary = said[0]
        return list(csv.reader(io.StringIO(run.stdout.decode(), newline="")))

    def refuses(self, text, pattern, *arguments, code=1):
        path = self.bytes_file("table.csv", text.encode())
        self.refused(code, pattern.replace("FILE", re.escape(str(path))), "aggregate", path, *self.with_memory(arguments))

    def test_all_aggregates(self):
        source = random.Random(1)
        towns = ["Bern", "", "Zug, ZG", 'the "city"', "two\r\nlines", "Genève"]
        rows = [[source.choice(towns), source.choice(["7", "-3", "10", ""]),
                 source.choice(["", source.randrange(-10**6, 10**6), source.randrange(-10**12, 10**12)]),
                 source.choice(["", repr(source.gauss(1000, 1)), "-1.5e3"])] for _ in range(1000)]
        rows = [[str(field) for field in row] for row in rows]
        for style in ({}, {"lineterminator": "\n", "quoting": csv.QUOTE_ALL}):
            path = self.table([["town", "n", "whole", "real"], *rows], **style)
            options = ["--count", "--real", "real"]
            for name in ("sum", "min", "max", "mean", "variance"):
                options += [f"--{name}", "whole", f"--{name}", 4]
            title, *found = self.rows(path, "--key", "town", "--key", "n", *options)
            self.assertEqual(title, ["town", "n", "count"] + [f"{name}({column})" for name in ("sum", "min", "max", "mean", "variance")
                                                              for column in ("whole", "real")])
            wanted = group(rows, (0, 1))
            self.assertEqual([tuple(row[:2]) for row in found], list(wanted))
            for row, members in zip(found, wanted.values()):
                whole = [int(m[2]) for m in members if m[2]]
                real = [float(m[3]) for m in members if m[3]]
                self.assertEqual(row[2:4] + row[5:6] + row[7:8], list(map(str, (len(members), sum(whole), min(whole), max(whole)))))
                self.assertEqual((float(row[6]), float(row[8])), (min(real), max(real)))
                for text, number in ((row[4], math.fsum(real)), (row[9], sum(whole) / len(whole)), (row[10], math.fsum(real) / len(real)),
                                     (row[11], variance(whole)), (row[12], variance(real))):
                    self.assertTrue(math.isclose(float(text), number, rel_tol=1e-10), (text, float(number)))

    def test_nulls(self):
        path = self.file("t.csv", "k,a,b\n,1,\n,,\nx,,2\nx,,3\n")
        every = ["--sum", "a", "--min", "a", "--max", "a", "--mean", "a", "--variance", "a", "--variance", "b"]
        self.assertEqual(self.rows(path, "--key", "k", "--count", *every)[1:],
                         [["", "2", "1", "1", "1", "1", "", ""], ["x", "2", "", "", "", "", "", "0.5"]])

    def test_columns_by_number_and_without_names(self):
        path = self.file("t.csv", "2,1\n5,1\n7,3\n")
        self.assertEqual(self.rows(path, "--key", 2, "--sum", 1, "--no-header"), [["2", "sum(1)"], ["1", "7"], ["3", "7"]])
        self.assertEqual(self.rows(path, "--key", "1", "--sum", "2"), [["1", "sum(2)"], ["1", "5"], ["3", "7"]],
                         "a name counts before a number")
        self.assertEqual(self.rows(self.file("t.csv", "a,b\n"), "--key", "a", "--count"), [["a", "count"]])

    def test_an_output_file(self):
        path = self.file("t.csv", "a\nx\ny\nx\n")
        out = self.folder / "out.csv"
        self.assertRegex("\n".join(self.said("aggregate", path, "--key", "a", "--count", "--out", out)), "^3 rows, 2 groups, [^\n]*$")
        self.assertEqual(out.read_text(), "a,count\nx,2\ny,1\n")
        self.refused(1, r".+", "aggregate", path, "--key", "a", "--count", "--out", path)

    def test_sums_of_64_and_128_bits(self):
        text = f"k,n\na,{LARGEST}\nb,{-LARGEST - 1}\na,1\nc,{LARGEST}\nb,-1\nc,-5\nc,5\n"
        path = self.file("table.csv", text)
        wanted = [["a", str(LARGEST + 1)], ["b", str(-LARGEST - 2)], ["c", str(LARGEST)]]
        self.assertEqual(self.rows(path, "--key", "k", "--sum128", "n")[1:], wanted)
        self.refuses(text, rf"sum\(n\) of group k=a is {LARGEST + 1}, which 64 bits cannot hold; give --sum128 n instead", "--key", "k",
                     "--sum", "n")
        many = self.table([["k", "n"], *[["", -LARGEST - 1]] * 3000])
        self.assertEqual(self.rows(many, "--key", "k", "--sum128", "n")[1:], [["", str(3000 * (-LARGEST - 1))]])

    def test_many_groups_in_pieces_and_schedules(self):
        """The rows are several pieces. The output has the same bytes under every schedule, with any memory and next to any columns."""
        source = random.Random(2)
        rows = [[str(source.randrange(10**6) if source.random() < 0.5 else 5), str(source.random())] for _ in range(30_000)]
        path = self.table([["k", "x"], *rows])
        arguments = [path, "--key", "k", "--real", "x", "--count", "--sum", "x", "--variance", "x", "--memory", 16]
        found = self.rows(*arguments, WARDEN_SEED="1")
        self.assertLessEqual(int(re.search(r"in (\d+) MiB", self.summary)[1]), 16)
        self.assertEqual([row[:2] for row in found[1:]], [[key[0], str(len(m))] for key, m in group(rows, (0,)).items()])
        self.assertEqual(self.rows(*arguments, "--max", "x", WARDEN_SEED="2"), [[*row[:3], maximum, row[3]] for row, maximum in zip(
            found, ["max(x)"] + [max((r[1] for r in m), key=float) for m in group(rows, (0,)).values()])])
        self.assertEqual(self.rows(*arguments[:-1], 100, "--min", "k")[1][:3], found[1][:3])

    def test_more_groups_than_memory(self):
        text = "k,n\n" + "".join(f"key {i},{i}\n" for i in range(90_000))
        path = self.bytes_file("table.csv", text.encode())
        run = self.run_it("aggregate", path, "--key", "k", "--sum", "n", "--memory", 16)
        said = re.fullmatch(rf"hash_table: {re.escape(str(path))}:(\d+): one more group than the (\d+) that fit --memory 16; "
                            r"give more MiB, or fewer --key columns\n", run.stderr)
        self.assertTrue(said, run.stderr)
        fit = int(said[2])
        self.assertEqual((run.returncode, run.stdout, int(said[1])), (1, "", fit + 2))
        lines = text.splitlines(keepends=True)
        few = self.bytes_file("few.csv", "".join(lines[:fit + 1]).encode())
        self.assertEqual(len(self.rows(few, "--key", "k", "--sum", "n", "--memory", 16)), fit + 1)
        # With many columns the totals on the device are the limit.
        wide = [argument for name in ("sum", "sum128") for argument in (f"--{name}", "n")]
        wide += ["--real", "k2", "--variance", "k2", "--count", "--variance", "n"]
        text = "k,n,k2\n" + "".join(f"{i},{i},1\n" for i in range(53_000))
        self.refuses(text, r"FILE:52430: one more group than the 52428 that fit --memory 16; .*", "--key", "k", "--memory", 16, *wide)

    def test_wrong_numbers(self):
        for wrong in ("1.5", "x", " 1", "+1", "1e3", "0x1", str(LARGEST + 1), "-"):
            self.refuses(f"k,n\na,1\na,{wrong}\n", rf'FILE:3: column "n": "{re.escape(wrong)}" is not a whole number of 64 bits; give '
                         r"--real n if the column has fractions", "--key", "k", "--sum", "n")
        for wrong in ("x", "1,5", "nan", "1 "):
            self.refuses(f'k,n\n"a\n",1\na,"{wrong}"\n', rf'FILE:4: column "n": "{re.escape(wrong)}" is not a number', "--key", "k",
                         "--mean", "n", "--real", "n")
        for wrong in ("inf", "-1e999"):
            self.refuses(f"k,n\na,{wrong}\n", rf'FILE:2: column "n": "{wrong}" is not a finite number; the largest is 1.797e308', "--key",
                         "k", "--mean", "n", "--real", "n")

    def test_wrong_rows(self):
        self.refuses("a,b\n1,2\n\n3\n", "FILE:4: has 1 field, the first row has 2; .*", "--key", "a", "--count")
        self.refuses('a,b\n1,"2\n', "FILE:2: field 2 begins with a quote that no quote closes; add one", "--key", "a", "--count")
        self.refuses("", "FILE: the file has no rows", "--key", "a", "--count")
        self.refuses_compressed("t.csv", "aggregate", "--key", "a", "--count")

    def test_wrong_columns(self):
        both = ["--key", "a", "--count"]
        for column in ("c", "3", "0", "-1", ""):
            self.refuses("a,b\n", rf'FILE: column "{column}" is neither a name in the first row nor a number from 1 to 2', *both, "--sum",
                         column)
        self.refuses("a,b\n", 'FILE: column "a" is not a number from 1 to 2', *both, "--no-header")
        self.refuses("a,b,a\n", 'FILE: column "a" is the name of several columns; give the number of one', *both)
        self.refuses("a,b\n", "nothing to aggregate; give --count, .*", "--key", "a")
        self.refuses("a,b\n", '--sum128: column "b" is --real; .*', "--key", "a", "--real", "b", "--sum128", "b")

    def test_wrong_options(self):
        self.refuses("a\n", ".*--key.*", "--count", code=2)
        many = [argument for name in "bcdef" for argument in ("--sum", name)]
        self.refuses("a,b,c,d,e,f\n", "--memory 16 is too small for 6 columns of numbers; give at least 19", "--key", "a", "--count", *many)
        self.refuses("a\n", ".*--memory.*from 16 to 1048576", "--key", "a", "--count", "--memory", 15, code=2)
        self.refused(2, ".*File does not exist.*", "aggregate", self.folder / "none.csv", "--key", "a", "--count")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refused(1, rf"--check: {re.escape(str(pipe))} is read twice, so it must be a regular file, not a pipe", "aggregate", pipe,
                     "--key", "a", "--count", "--check")


if __name__ == "__main__":
    command.main(__doc__)
