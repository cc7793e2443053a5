# SPDX-License-Identifier: Apache-2.0
"""Properties of every command that writes files."""
import os
import signal
import stat
import subprocess
import time

import command


class OutputFileTest(command.CommandTest):
    SOURCE = "", ""  # name and text of an input file

    def writes(self, source, out):
        """The arguments with which the command reads `source` and writes `out`."""
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        self.source = self.file(*self.SOURCE)
        self.out = self.folder / "out"

    def names(self):
        return sorted(os.listdir(self.folder))

    def run_into(self, output, *arguments):
        """Its exit code and standard error, with standard output opened as `output`."""
        with open(*output) as opened:
            run = subprocess.run([command.PROGRAM, *map(str, arguments)], stdout=opened, stderr=subprocess.PIPE, text=True, timeout=120)
        return run.returncode, run.stderr

    def test_standard_output_as_the_file(self):
        """Only the answer is appended there; the summary is on standard error."""
        summary = self.said(*self.writes(self.source, self.out))
        answer = self.out.read_bytes()
        log = self.file("log", "an old line\n")
        for name, output, before in ("/dev/stdout", (log, "a"), b"an old line\n"), (log, (log, "a"), b"an old line\n"), ("/dev/stdout", (log, "w"), b""):
            log.write_bytes(b"an old line\n")
            code, errors = self.run_into(output, *self.writes(self.source, name))
            self.assertEqual((code, log.read_bytes()), (0, before + answer), (name, errors))
            self.assertEqual(len(errors.splitlines()), len(summary), errors)
        piped = subprocess.run([command.PROGRAM, *map(str, self.writes(self.source, "/dev/stdout"))], capture_output=True, timeout=120)
        self.assertEqual((piped.returncode, piped.stdout), (0, answer))

    def test_another_descriptor_as_the_file(self):
        self.said(*self.writes(self.source, self.out))
        log = self.file("log", "an old line\n")
        words = ["sh", "-c", 'log=$1; shift; exec "$@" 3>>"$log"', "sh", log, command.PROGRAM, *self.writes(self.source, "/dev/fd/3")]
        self.assertEqual(subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL, timeout=120).returncode, 0)
        self.assertEqual(log.read_bytes(), b"an old line\n" + self.out.read_bytes())

    def test_standard_output_that_is_closed(self):
        words = ["sh", "-c", 'exec "$@" >&-', "sh", command.PROGRAM, *map(str, self.writes(self.source, "/dev/stdout"))]
        run = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual((run.returncode, run.stderr), (1, f"{self.NAME}: /dev/stdout: cannot be written: Is a directory\n"))

    def test_devices(self):
        self.refused_to_write("/dev/full", "No space left on device")
        self.assertEqual(self.run_into(("/dev/null", "w"), *self.writes(self.source, "/dev/null")), (0, ""))

    def refused_to_write(self, out, why):
        run = self.run_it(*self.writes(self.source, out))
        self.assertEqual((run.returncode, run.stderr), (1, f"{self.NAME}: {out}: cannot be written: {why}\n"))

    def test_modes(self):
        self.said(*self.writes(self.source, self.out))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), 0o666 & ~mask)
        for mode in (0o600, 0o640, 0o755):
            self.out.write_text("other")
            self.out.chmod(mode)
            self.said(*self.writes(self.source, self.out))
            self.assertNotEqual(self.out.read_bytes(), b"other")
            self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), mode)
        # Root, too, is refused.
        self.out.write_text("other")
        self.out.chmod(0o444)
        self.refused_to_write(self.out, "its mode is 444, read-only; make it writable, or choose another name")
        self.assertEqual(self.out.read_text(), "other")
        self.assertEqual(self.names(), sorted(["out", self.source.name]))

    def test_it_is_looked_at_first(self):
        """Before the input is read, which is wrong, too."""
        wrong = self.file("wrong" + self.source.suffix, "\1\n")
        for out, why in (self.folder / "none/out", "No such file or directory"), (self.folder, "Is a directory"), (wrong / "x", "Not a directory"):
            self.refused(1, f"{out}: cannot be written: {why}", *self.writes(wrong, out))

    def test_the_input_stays(self):
        text = self.source.read_text()
        link, hard_link = self.folder / "link", self.folder / "hard_link"
        link.symlink_to(self.source)
        os.link(self.source, hard_link)
        for out in (self.source, f"{self.folder}/./{self.source.name}", link, hard_link):
            self.refused(1, f"{self.source}: cannot be read: it and the output {out} are one file; choose another name for the output",
                         *self.writes(self.source, out))
            self.assertEqual(self.source.read_text(), text)
        self.assertEqual(self.run_into((self.source, "a"), *self.writes(self.source, "/dev/stdout"))[0], 1)
        self.assertEqual(self.source.read_text(), text)

    def test_a_link(self):
        """It stays one, also one that leads to no file yet."""
        self.said(*self.writes(self.source, self.out))
        (self.folder / "link").symlink_to("kept")
        for _ in range(2):
            self.said(*self.writes(self.source, self.folder / "link"))
            self.assertTrue((self.folder / "link").is_symlink())
            self.assertEqual((self.folder / "kept").read_bytes(), self.out.read_bytes())

    def test_a_long_name(self):
        self.said(*self.writes(self.source, self.folder / ("n" * 255)))
        self.assertEqual(self.names(), sorted(["n" * 255, self.source.name]))

    def test_an_empty_name(self):
        run = self.run_it(*self.writes(self.source, ""))
        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, rf"\A{self.NAME}: (--out|OUT): the name of the file is empty\n\Z")

    def test_signals(self):
        """Nothing is left, and the process ends by the signal."""
        pipe = self.folder / f"pipe{self.source.suffix}"
        os.mkfifo(pipe)  # nothing ever comes through it: the command waits
        before = self.names()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([command.PROGRAM, *map(str, self.writes(pipe, self.out))],
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            try:
                for _ in range(1000):
                    if self.names() != before:
                        break
                    time.sleep(0.01)
                self.assertNotEqual(self.names(), before, "it does not write yet")
                process.send_signal(number)
                self.assertEqual(process.wait(60), -number)
            finally:
                process.kill()
                process.wait()
            self.assertEqual(self.names(), before)
