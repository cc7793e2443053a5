#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command transactions: what it prints, and what it refuses.

    transactions_command.py PROGRAM [UNITTEST OPTIONS]
"""
import command

SMALL = ["ycsb", "--rows", 1000, "--transactions", 60]
SMALL_TPCC = ["tpcc", "--warehouses", 2, "--customers", 20, "--items", 50, "--transactions", 60]


class TransactionsTest(command.CommandTest):
    NAME = "transactions"

    def test_all_arms(self):
        for arm, counters in (("locks", ["restarts", "retries"]), ("optimistic", ["restarts", "retries"]),
                              ("tictoc", ["restarts", "retries"]), ("warden", ["by_owners", "committed"]),
                              ("warden_no_owners", ["committed"])):
            said = self.said(*SMALL, "--theta", 0.9, "--writes", 5, "--row-bytes", 100, "--arm", arm, "--check")
            self.assertRegex(said[0], rf"^60 transactions on 1000 rows of 100 bytes by {arm}.* on simulated device$")
            self.assertEqual([line.split(":")[0] for line in said[1:-1]], counters)
            self.assertEqual(said[-1], "checked: all rows and all reads are those of a serial order")
        self.assertEqual(said[1], "committed: 60")

    def test_tpcc(self):
        for arm, counters in (("locks", ["restarts", "retries"]), ("optimistic", ["restarts", "retries"]), ("warden_no_owners", ["aborted", "committed"]),
                              ("warden", ["aborted", "by_owners", "committed"])):
            for mix in ("new_order", "payment", "both"):
                said = self.said(*SMALL_TPCC, "--mix", mix, "--arm", arm, "--check")
                self.assertRegex(said[0], rf"^60 transactions on 2 warehouses by {arm}.* on simulated device$")
                self.assertEqual([line.split(":")[0] for line in said[1:-1]], counters)
                self.assertEqual(said[-1], "checked: the conditions hold, and all rows and answers are those of a serial order")

    def test_without_a_check(self):
        self.assertEqual(self.said(*SMALL, "--repeats", "--seed", 7, "--arm", "warden_no_owners")[1:], ["committed: 60"])

    def test_refusals(self):
        self.refused(2, "A subcommand is required")
        self.refused(2, "--rows: 9 is not a whole number from 10 to 134217728", "ycsb", "--rows", 9)
        self.refused(2, "--row-bytes: 16 not in .*", *SMALL, "--row-bytes", 16)
        self.refused(2, "--theta: 1 is not a number from 0 to 0.999", *SMALL, "--theta", 1)
        self.refused(2, "--writes: -1 is not a number from 0 to 100", *SMALL, "--writes", -1)
        self.refused(2, "--transactions: 0 is not a whole number from 1 to 67108864", "ycsb", "--transactions", 0)
        self.refused(2, "--arm: magic not in .*", *SMALL, "--arm", "magic")
        self.refused(2, "--arm: tictoc not in .*", *SMALL_TPCC, "--arm", "tictoc")
        self.refused(2, "--warehouses: 1 is not a whole number from 2 to 2048", "tpcc", "--warehouses", 1)
        self.refused(2, "--customers: 9 is not a whole number from 10 to 3000", *SMALL_TPCC[:3], "--customers", 9)
        self.refused(2, "--items: 9 is not a whole number from 10 to 100000", *SMALL_TPCC[:3], "--items", 9)
        self.refused(2, "--mix: none not in .*", *SMALL_TPCC, "--mix", "none")


class EveryCommandTest(command.EveryCommandTest):
    NAME = "transactions"
    PRINTS = SMALL


if __name__ == "__main__":
    command.main(__doc__)
