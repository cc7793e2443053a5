#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command bank_transfer: what it prints, and what it says and returns when it cannot.

    bank_transfer_command.py PROGRAM [UNITTEST OPTIONS]
"""
import pathlib
import re

import command

ARMS = ["lock_as_written", "lock_tuned", "lock_ordered", "atomics", "warden_rounds", "warden_several",
        "warden_colocated", "warden_nested", "warden_nested_on_chip", "warden_forwarding"]
ROOT = pathlib.Path(__file__).parents[2]
# Every account pays account 0 another amount, so that there is one order of balances.
TRACE = "from,to,amount\n" + "".join(f"{n},0,{100 * n}\n" for n in range(1, 50))


class ReplayTest(command.CommandTest):
    NAME = "bank_transfer"

    def balances(self, *arguments):
        """(account, balance) of each printed one, after the closing lines were checked."""
        run = self.run_it("replay", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        *rows, self.summary, self.verdict = run.stdout.splitlines()
        return [(int(account), int(balance)) for balance, account in (row.split() for row in rows)]

    def test_every_arm(self):
        trace = self.file("trace.csv", TRACE)
        wanted = [(0, 5000 + sum(100 * n for n in range(1, 50))), *((n, 5000 - 100 * n) for n in range(1, 50))]
        for arm in ARMS:
            self.assertEqual(self.balances(trace, "--arm", arm, "--opening", 5000, "--top", 100), wanted, arm)
            self.assertRegex(self.summary, rf"^49 transfers, 0 refused, among 50 accounts, by {arm} on \S")
            self.assertRegex(self.verdict, "^audit passed: 250000 cents as before, no account below zero; "
                             + (rf"\d of 0 audits in between saw a transfer half done, which {arm} allows$"
                                if arm in ("atomics", "warden_forwarding")
                                else "none of 0 audits in between saw a transfer half done$"))

    def test_several_gpus(self):
        trace = self.file("trace.csv", TRACE)
        wanted = [(0, 5000 + sum(100 * n for n in range(1, 50))), *((n, 5000 - 100 * n) for n in range(1, 50))]
        for gpus in (1, 2, 3, 4):
            self.assertEqual(self.balances(trace, "--gpus", gpus, "--opening", 5000, "--top", 100), wanted, gpus)
            self.assertRegex(self.summary, rf"^49 transfers, 0 refused, among 50 accounts, by warden_forwarding over {gpus} GPUs on \S")
        self.balances(ROOT / "apps/data/transfers.csv", "--gpus", 3)
        self.refused(2, ".*--gpus.*65.*", "replay", trace, "--gpus", 65)
        self.refused(2, ".*--gpus.*", "replay", trace, "--gpus", 2, "--arm", "atomics")

    def test_refusals(self):
        trace = self.file("trace.csv", TRACE)
        # Accounts 31 to 49 lack the money that they should pay, and no transfer pays them.
        rows = self.balances(trace, "--opening", 3000, "--top", 3)
        self.assertEqual(rows, [(0, 3000 + sum(100 * n for n in range(1, 31))), (31, 3000), (32, 3000)])
        self.assertRegex(self.summary, "^49 transfers, 19 refused, among 50 accounts, by warden_rounds on ")

    def test_text(self):
        """Line ends of all kinds, comments after blanks, plus signs."""
        trace = self.bytes_file("trace.csv", b"\xef\xbb\xbf \t# a comment\rfrom,to,amount\r+1,2,+7\r")
        self.assertEqual(self.balances(trace, "--opening", 10), [(2, 17), (0, 10), (1, 3)])
        self.refuses_compressed("trace.csv.gz", "replay")

    def test_accounts(self):
        trace = self.file("trace.csv", "1,2,7\r\n")
        self.assertEqual(self.balances(trace, "--accounts", "04", "--opening", "010"), [(2, 17), (0, 10), (3, 10), (1, 3)])
        self.assertEqual(self.balances(trace, "--accounts", 4, "--opening", 10, "--top", 0), [])
        self.refused(1, re.escape(f"{trace}:1: to 2 is not from 0 to 1, as there are 2 accounts"), "replay", trace, "--accounts", 2)

    def test_the_example(self):
        """The output that the README shows."""
        text = (ROOT / "apps/bank_transfer/README.md").read_text()
        _, options, output = re.search(r"\n    \$ (\S+) replay (.*)\n((?:    .*\n)+)", text).groups()
        run = self.run_it("replay", *(ROOT / word if "/" in word else word for word in options.split()))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout, re.sub("(?m)^    ", "", output))

    def test_a_wrong_line(self):
        trace = self.file("trace.csv", TRACE + "7,8\n")
        self.refused(1, re.escape(f"{trace}:51: 2 columns; a transfer has 3: from,to,amount"), "replay", trace)
        empty = self.file("empty.csv", "from,to,amount\n")
        self.refused(1, re.escape(f"{empty}: no transfers"), "replay", empty)

    def test_a_missing_file(self):
        missing = self.folder / "missing.csv"
        self.refused(2, f".*File does not exist: {re.escape(str(missing))}", "replay", missing)
        self.refused(2, ".*directory.*", "replay", self.folder)

    def test_wrong_options(self):
        trace = self.file("trace.csv", TRACE)
        for wrong in ([], ["replay"], ["audit", trace], ["replay", trace, "--arm", "best"], ["replay", trace, "--top", -1]):
            self.refused(2, ".+", *wrong)
        for option, value, limits in (("--accounts", 0, "1\\D+67108864"), ("--accounts", 67108865, "1\\D+67108864"),
                                      ("--opening", -1, "0\\D+100000000000"), ("--opening", 10**12, "0\\D+100000000000")):
            self.refused(2, rf".*{option}.*{value}.*{limits}.*", "replay", trace, option, value)


class EveryCommandTest(command.EveryCommandTest):
    NAME = "bank_transfer"
    PRINTS = ["replay", ROOT / "apps/data/transfers.csv"]


if __name__ == "__main__":
    command.main(__doc__)
