# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of the applications' commands."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import every_command  # noqa: E402

PROGRAM = ""


class CommandTest(unittest.TestCase):
    NAME = ""  # the command: its errors begin with it

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"warden_{self.NAME}_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def bytes_file(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def refuses_compressed(self, name, *arguments):
        """A compressed file as the last argument is refused, whatever its name is."""
        for content in (b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh91AY&SY"):
            path = self.bytes_file(name, content)
            self.refused(1, f"{path}: is compressed; uncompress it first", *arguments, path)

    def run_it(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)

    def said(self, *arguments):
        """The lines that it prints; nothing goes wrong."""
        run = self.run_it(*arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        return run.stdout.splitlines()

    def run_with(self, megabytes, *arguments):
        """With as much memory."""
        return subprocess.run(["sh", "-c", f"ulimit -v {megabytes << 10}; exec \"$@\"", "sh", PROGRAM, *map(str, arguments)],
                              capture_output=True, text=True, timeout=120)

    def refused(self, code, pattern, *arguments):
        """Nothing is printed, and one line says why."""
        run = self.run_it(*arguments)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertRegex(run.stderr, rf"\A{self.NAME}: {pattern}\n\Z")


class EveryCommandTest(every_command.EveryCommand, CommandTest):
    @property
    def program(self):
        return PROGRAM


def main(usage):
    """Runs the tests of the program that imported this: PROGRAM [UNITTEST OPTIONS]."""
    global PROGRAM
    if len(sys.argv) < 2:
        print(usage, file=sys.stderr)
        sys.exit(2)
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
