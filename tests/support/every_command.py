# SPDX-License-Identifier: Apache-2.0
"""Properties of every command and every benchmark program: its version, its numbers, and standard output that fails."""
import os
import pathlib
import re
import subprocess

VERSION_FILE = pathlib.Path(__file__).parents[2] / "include/warden/version.hpp"
# Texts that no command takes as a number: other bases, signs, no number, and nothing.
WRONG_NUMBERS = ("0x10", "-1", "+1", "1e", "nan", "inf", "-inf", "1 2", "")


def version():
    return ".".join(re.findall(r"define WARDEN_VERSION_\w+ (\d+)", VERSION_FILE.read_text()))


class EveryCommand:
    """Tests for a unittest.TestCase with the attributes `program`, a path, and `NAME`, with which its errors begin."""
    PRINTS = ["--help"]  # the arguments of a run that prints something and succeeds

    def outcome(self, *arguments, **others):
        return subprocess.run([self.program, *map(str, arguments)], stdin=subprocess.DEVNULL, text=True, timeout=300,
                              **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **others})

    def commands(self, words=()):
        """(words, help) of the command and all its subcommands."""
        run = self.outcome(*words, "--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        yield words, run.stdout
        for name in re.findall(r"(?m)^  (\w\S*)", run.stdout.partition("Subcommands:")[2]):
            yield from self.commands((*words, name))

    def test_version(self):
        run = self.outcome("--version")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, version() + "\n", ""))

    def test_every_number(self):
        """Decimal digits alone, and the message says the range."""
        found = False
        for words, text in self.commands():
            options = re.findall(r"(?m)^  (--\S+) \[?(UINT|INT|FLOAT)", text)
            found = found or bool(options)
            for option, kind in options:
                for wrong in WRONG_NUMBERS + (("1.5", "1e1") if kind != "FLOAT" else ()):
                    run = self.outcome(*words, option, wrong)
                    where = f"{words} {option} {wrong}: {run.stdout}{run.stderr}"
                    self.assertEqual((run.returncode, run.stdout), (2, ""), where)
                    self.assertRegex(run.stderr, rf"\A{self.NAME}: {option}: ?{re.escape(wrong)} is not a (whole )?number from \S+ to \S+\n\Z",
                                     where)
        self.assertTrue(found)

    def test_standard_output_that_fails(self):
        reading, writing = os.pipe()
        os.close(reading)
        with open("/dev/full", "w") as full, open("/dev/null") as unwritable:
            for arguments in (["--help"], ["--version"], self.PRINTS):
                for output, why in ((full, "No space left on device"), (writing, "Broken pipe"), (unwritable, "Bad file descriptor")):
                    run = self.outcome(*arguments, stdout=output)
                    wanted = f"{self.NAME}: standard output cannot be written: {why}\n"
                    self.assertEqual((run.returncode, run.stderr), (1, wanted), arguments)
                closed = ["sh", "-c", 'exec "$@" >&-', "sh", self.program, *map(str, arguments)]
                run = subprocess.run(closed, stderr=subprocess.PIPE, text=True, timeout=300)
                self.assertEqual((run.returncode, run.stderr), (1, f"{self.NAME}: standard output cannot be written: Bad file descriptor\n"))
        os.close(writing)
