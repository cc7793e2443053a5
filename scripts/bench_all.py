#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the pieces of ./warden bench --all, and goes on where an interrupted execution stopped."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "results"))
import load  # noqa: E402

REPETITIONS = 5
PIECES = pathlib.Path(__file__).with_name("bench_pieces.txt")
PLANNED_ON_SIMULATED = 30  # seconds

Piece = collections.namedtuple("Piece", "list name gpus seconds program options")


def read_pieces(path, which, simulated):
    """Pieces of one list. The simulated device runs each program of all lists once."""
    pieces = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if len(words) < 5 or not words[2].isdigit() or not words[3].isdigit():
            load.fail(f"{path}:{number}: not LIST NAME GPUS SECONDS PROGRAM OPTIONS")
        pieces.append(Piece(*words[:2], int(words[2]), int(words[3]), words[4], words[5:]))
    if not simulated:
        return [piece for piece in pieces if piece.list == which]
    programs = dict.fromkeys(piece.program for piece in pieces)
    return [Piece(which, program.removesuffix("_bench"), 0, PLANNED_ON_SIMULATED, f"{program}_sim", [])
            for program in programs]


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Time left: planned time of the rest, scaled by measured over planned time of finished pieces."""

    def __init__(self):
        self.planned, self.measured = 0, 0

    def add(self, piece, seconds):
        self.planned += piece.seconds
        self.measured += seconds

    def left(self, pieces):
        return sum(piece.seconds for piece in pieces) * (self.measured / self.planned if self.planned else 1)


def refuse(text):
    print(f"warden: {text}", file=sys.stderr)
    sys.exit(2)


def check_folder(folder, pieces, programs, gpus):
    """Refuses a folder of another list, device or commit. Returns the context of its files, or None."""
    files = sorted(folder.glob("*.json"))
    if not files:
        return None
    context = load.load(files[0])["context"]
    device, commit = context.get("device"), context.get("commit", "")
    if (context.get("simulated") == "yes") != (not gpus) or gpus and device not in gpus:
        refuse(f"{folder} is of {device}, not of {', '.join(gpus) or 'the simulated device'}; choose another folder")
    # The commit is a text in each program, so that this is known before a piece has run.
    if programs and commit.encode() not in programs[0].read_bytes():
        refuse(f"{folder} is of commit {commit[:12]}, {programs[0].name} is not; choose another folder")
    names = {piece.name for piece in pieces}
    if strange := [file.name for file in files if file.stem not in names]:
        refuse(f"{folder}: {strange[0]} is of no piece of this list; choose another folder")
    return context


def run_program(command, limit):
    """Exit code of a program, or why it was stopped. After an interrupt, waits for the program."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        return running.wait(limit)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        return f"stopped after its limit of {limit:g} s"
    except KeyboardInterrupt:
        running.wait()  # the terminal has sent the interrupt to the program, too
        raise


def finish(part, file, seconds, context):
    """Gives a complete file its name. Returns its context, or the reason why it is refused."""
    try:
        data = json.loads(part.read_text())
    except (OSError, ValueError):
        return "wrote no complete result file"
    for problem in load.problems_of(data):
        return f"wrote an error: {problem}"
    if not data["benchmarks"]:
        return "wrote no rows"
    for key in load.SAME_BUILD if context else ():
        if data["context"].get(key) != context.get(key):
            return f"{key} is {data['context'].get(key)}, but {context.get(key)} in the other files"
    data["context"]["seconds"] = round(seconds, 1)
    part.write_text(json.dumps(data, indent=1) + "\n")
    os.replace(part, file)
    return data["context"]


def measure(pieces, options, context):
    """Runs the pieces without a file. Returns {name: reason} of those that failed."""
    progress, failed = Progress(), {}
    for number, piece in enumerate(pieces, 1):
        file = options.folder / f"{piece.name}.json"
        head = f"[{number}/{len(pieces)}] {piece.name}"
        if file.exists():
            print(f"{head}: measured already", flush=True)
            continue
        left = [one for one in pieces[number - 1:] if not (options.folder / f"{one.name}.json").exists()]
        print(f"{head}: takes about {minutes(progress.left([piece]))}, all that is left {minutes(progress.left(left))}", flush=True)
        program = options.bin / piece.program
        if not os.access(program, os.X_OK):
            failed[piece.name] = f"no program {piece.program} in {options.bin}"
        else:
            part = file.with_suffix(".part")
            part.unlink(missing_ok=True)
            start = time.monotonic()
            code = run_program([program, *piece.options, "--repetitions", str(REPETITIONS), "--quiet",
                                f"--benchmark_out={part}", "--benchmark_out_format=json"], options.limit)
            seconds = time.monotonic() - start
            result = finish(part, file, seconds, context) if code == 0 else code
            if isinstance(result, dict):
                context = result
                progress.add(piece, seconds)
                print(f"{head}: took {minutes(seconds)}", flush=True)
                continue
            failed[piece.name] = result if isinstance(result, str) else f"exit code {result}"
        print(f"{head}: failed: {failed[piece.name]}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(prog="warden bench --all", allow_abbrev=False)
    parser.add_argument("--quick", action="store_const", const="quick", default="full", dest="list")
    parser.add_argument("--limit", type=float, default=480, help="most seconds that a piece may take")
    parser.add_argument("--gpu", action="append", default=[], help="names of the GPUs; none: the simulated device")
    parser.add_argument("--pieces", type=pathlib.Path, default=PIECES)
    parser.add_argument("--bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("--folder", type=pathlib.Path, help="folder of the result files")
    parser.add_argument("--programs", action="store_true", help="prints the programs that are needed, and runs none")
    options = parser.parse_args()
    pieces = [piece for piece in read_pieces(options.pieces, options.list, not options.gpu)
              if piece.gpus <= max(len(options.gpu), 1)]
    if options.programs:
        print(*dict.fromkeys(piece.program for piece in pieces), sep="\n")
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    programs = [program for piece in pieces if (program := options.bin / piece.program).exists()]
    context = check_folder(options.folder, pieces, programs, options.gpu)
    try:
        failed = measure(pieces, options, context)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on with the piece that was running.")
        sys.exit(130)
    for name, reason in failed.items():
        print(f"FAILED: {name}: {reason}")
    if failed:
        print(f"{len(failed)} of {len(pieces)} pieces failed; the same command tries them again.")
    print(f"Results: {options.folder}; ./warden report {options.folder} makes a page of them.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        load.fail_of(error)
