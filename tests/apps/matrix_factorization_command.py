#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command matrix_factorization: what it learns, keeps and recommends, and what it refuses.

    matrix_factorization_command.py PROGRAM [UNITTEST OPTIONS]
"""
import re

import command
import output_files

SHAPE = ("--shape", "60,20,400,40")


class MatrixFactorizationTest(command.CommandTest):
    NAME = "matrix_factorization"

    def ratings(self):
        path = self.folder / "ratings.tsv"
        self.assertEqual(self.said("generate", *SHAPE, "--out", path), [])
        return path

    def test_a_file_is_learned_kept_and_asked(self):
        path, model = self.ratings(), self.folder / "model"
        lines = [line.split("\t") for line in path.read_text().splitlines()]
        self.assertEqual(len(lines), 400)
        said = self.said("train", path, "--rank", 16, "--epochs", 3, "--check", "--out", model)
        users, items = ({line[k] for line in lines} for k in (0, 1))
        self.assertRegex(said[0], rf"^{path}: {len(users)} users, {len(items)} items, \d+ ratings, and \d+ to try on$")
        self.assertEqual([line[:9] for line in said[1:4]], ["epoch   1", "epoch   2", "epoch   3"])
        self.assertRegex(said[4], r"^all epochs: 3 epochs at rank 16 by warden_rounds_on_chip, \d+ parts of \d+ users, 3 of items$")
        self.assertEqual(said[5:], ["checked: no step is lost where each adds 1 to both of its rows"])
        user = lines[0][0]
        best = [line.split("\t") for line in self.said("recommend", model, user, "--top", len(items))]
        self.assertEqual({item for item, _ in best}, items)
        self.assertEqual([float(rating) for _, rating in best], sorted((float(rating) for _, rating in best), reverse=True))
        self.assertEqual([line.split("\t") for line in self.said("recommend", model, user, "--top", 2)], best[:2])
        rated = {line[1] for line in lines if line[0] == user}
        others = [line.split("\t")[0] for line in self.said("recommend", model, user, "--top", len(items), "--but", path)]
        self.assertEqual(others, [item for item, _ in best if item not in rated])

    def test_arms_learn_alike(self):
        def rmse(arm):
            said = self.said("train", *SHAPE, "--rank", 16, "--epochs", 2, "--arm", arm)
            return float(said[2].split()[-1])
        wanted = rmse("sequential")
        for arm in ("lock_warp", "hogwild", "warden_rounds", "warden_rounds_on_chip"):
            self.assertAlmostEqual(rmse(arm), wanted, delta=0.03 * wanted, msg=arm)

    def test_early_ends(self):
        train = ("train", *SHAPE, "--rank", 16, "--arm", "sequential", "--epochs", 500)
        said = self.said(*train, "--target", 5)
        self.assertEqual(len(said), 3)
        self.assertRegex(said[-1], "^the target is reached: 1 epochs at rank 16 by sequential")
        # With a rate as high what is learned is soon the ratings' noise: the best of all epochs is kept.
        model = self.folder / "model"
        said = self.said(*train, "--rate", 0.2, "--decay", 0, "--patience", 3, "--out", model)
        errors = [float(line.split()[-1]) for line in said[1:-1]]
        self.assertRegex(said[-1], f"^it gets no better: {len(errors)} epochs")
        self.assertEqual(errors.index(min(errors)), len(errors) - 4)
        longer = self.folder / "longer"
        self.said(*train[:-1], len(errors) - 3, "--rate", 0.2, "--decay", 0, "--out", longer)
        self.assertEqual(model.read_bytes(), longer.read_bytes())

    def test_nothing_to_try_on(self):
        path = self.ratings()
        for arm in ("sequential", "warden_rounds_on_chip"):
            for share in (0, 1e-9):
                said = self.said("train", path, "--rank", 16, "--epochs", 3, "--arm", arm, "--test", share)
                self.assertRegex(said[0], "400 ratings, and 0 to try on$")
                self.assertRegex(said[1], f"^all epochs: 3 epochs at rank 16 by {arm}")
                self.assertEqual(said[2:], [])
        for early in (("--target", 5), ("--patience", 2)):
            self.refused(1, f"{path}: no ratings to try on, which --target and --patience need; choose a larger share by --test",
                         "train", path, "--test", 0, *early)
        run = self.run_it("train", path, "--test", 0, "--rate", 9, "--rank", 16)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"\Amatrix_factorization: the factors grew beyond all limits; a lower --rate than 9.0\d* helps\n\Z")
        self.refused(2, "--test: nan is not a number from 0 to 0.9", "train", path, "--test", "nan")

    def test_other_formats(self):
        text = self.ratings().read_text()
        wanted = self.said("train", self.folder / "ratings.tsv", "--rank", 16, "--epochs", 1)[1]
        with_header = self.file("ratings.csv", "userId,movieId,rating\n" + text.replace("\t", ","))
        movielens = self.file("ratings.dat", re.sub("$", "::838985046", text.replace("\t", "::")[:-1], flags=re.M))
        lines = text.splitlines()
        sizes = [max(int(line.split("\t")[k]) for line in lines) + 1 for k in (0, 1)]
        rows = "".join(f"{int(user) + 1} {int(item) + 1} {rating}\n" for user, item, rating in (line.split("\t") for line in lines))
        matrix = self.file("ratings.mtx", f"%%MatrixMarket matrix coordinate real general\n%\n{sizes[0]} {sizes[1]} {len(lines)}\n{rows}")
        for path in (with_header, movielens, matrix):
            self.assertEqual(self.said("train", path, "--rank", 16, "--epochs", 1)[1], wanted)

    def test_the_user_is_a_decimal_number(self):
        model = self.folder / "model"
        self.said("train", self.ratings(), "--rank", 16, "--epochs", 1, "--out", model)
        self.assertEqual(self.said("recommend", model, "010"), self.said("recommend", model, 10))
        for wrong in ("0x10", "-1", "+1", "1.5", "", 2**32):
            self.refused(2, re.escape(f"USER: {wrong} is not a whole number from 0 to 4294967295"), "recommend", model, "--", wrong)
        path = self.folder / "ratings.tsv"
        self.assertIn("all epochs: 8 epochs at rank 16", self.said("train", path, "--arm", "sequential", "--rank", 16, "--epochs", "08")[-1])
        for wrong in ("010,0x8,100,20", "60,20,400,-1", "60,20,400,nan"):
            self.refused(2, r"--shape: \S+ is not a whole number from 0 to 4294967295", "train", "--shape", wrong)

    def test_refusals(self):
        path = self.ratings()
        self.refused(2, "A subcommand is required")
        self.refused(2, r"Exactly 1 option from \[FILE,--planted,--shape\] is required", "train")
        self.refused(2, "FILE: File does not exist: no/such.tsv", "train", "no/such.tsv")
        self.refused(2, "--rank: 24 not in {16,32,64,128}", "train", path, "--rank", 24)
        self.refused(2, "--arm: magic not in .*", "train", path, "--arm", "magic")
        self.refused(2, "--test: 1 is not a number from 0 to 0.9", "train", path, "--test", 1)
        for arm in ("sequential", "warden_rounds_on_chip"):
            self.refused(1, "factorization: the rate 4.000000 times the penalty 0.250000 is 1.000000; it is to be less than 1",
                         "train", path, "--rate", 4, "--penalty", 0.25, "--arm", arm)
        cut = self.file("cut.mtx", "%%MatrixMarket matrix coordinate real general\n95526 3561 3298163\n1 1 5\n")
        self.refused(1, f"{cut}:3: the file ends after 1 of 3298163 entries", "train", cut)
        wrong = self.file("wrong.tsv", "1 2 3\n1 2 x\n")
        self.refused(1, f'{wrong}:2: rating "x" is not a number', "train", wrong)
        self.refused(1, "planted ratings: there is a user and an item at least", "train", "--shape", "0,1,2,3")
        self.refused(1, f"{path}: is no file of factors", "recommend", path, 1)
        model = self.folder / "model"
        self.said("train", path, "--rank", 16, "--epochs", 1, "--out", model)
        self.refused(1, f"{model}: knows no user 999; it has .* of them", "recommend", model, 999)

    def test_a_rate_that_is_too_high(self):
        run = self.run_it("train", *SHAPE, "--rate", 9, "--rank", 16)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"\Amatrix_factorization: the factors grew beyond all limits in epoch 1; a lower --rate than 9.0\d* helps\n\Z")


class EveryCommandTest(command.EveryCommandTest):
    NAME = "matrix_factorization"
    PRINTS = ["train", *SHAPE, "--arm", "sequential", "--epochs", 1]


class OutputFileTest(output_files.OutputFileTest):
    NAME = "matrix_factorization"
    SOURCE = "x.tsv", "".join(f"{user}\t{item}\t{(user + item) % 5}\n" for user in range(9) for item in range(6))

    def writes(self, source, out):
        return ["train", source, "--arm", "sequential", "--rank", 16, "--epochs", 1, "--out", out]


if __name__ == "__main__":
    command.main(__doc__)
