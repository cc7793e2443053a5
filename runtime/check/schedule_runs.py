# SPDX-License-Identifier: Apache-2.0
"""Runs a program for the simulated device under many schedules, and reports what the runs show."""
import collections
import concurrent.futures
import dataclasses
import os
import re
import signal
import subprocess

PLACE = re.compile(r"[\w./+-]+\.\w+:\d+")
# Differs from schedule to schedule: threads, addresses, values.
NUMBER = re.compile(r"0x[0-9a-f]+|(?<![\w.:])\d+")
# The simulated device ends a program by itself if a thread loops without a scheduling point.
WATCHDOG = "warden: no scheduling point for "
SHOWN_LINES = 40  # lines of a finding


@dataclasses.dataclass
class Run:
    seed: int
    code: int  # negative: a signal
    output: str
    errors: str
    finding: str  # finding of the simulated device, or ""


def run_one(program, arguments, seed, timeout, directory, folder):
    finding = folder / f"finding-{seed}"
    environment = dict(os.environ, WARDEN_SEED=str(seed), WARDEN_FINDING=str(finding))
    command = [str(program), *arguments]
    try:
        done = subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return Run(seed, 0, "", "", f"no end within {timeout} s; make the problem smaller, or the limit larger by "
                                    "--timeout")
    text = finding.read_text(errors="replace").strip() if finding.exists() else ""
    if not text and (at := done.stderr.find(WATCHDOG)) >= 0:
        text = done.stderr[at:].removeprefix("warden: ").strip()
    if not text and done.returncode < 0:
        # The first line of an exception that ended the program; otherwise the last line.
        _, _, thrown = done.stderr.partition("\n  what():  ")
        last = thrown.strip().splitlines()[:1] or done.stderr.strip().splitlines()[-1:]
        number = -done.returncode
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        text = f"the program ended by {name}{': ' if last else ''}{''.join(last)}"
    return Run(seed, done.returncode, done.stdout, done.stderr, text)


def run_all(program, arguments, seeds, timeout, directory, folder):
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda seed: run_one(program, arguments, seed, timeout, directory, folder),
                             range(1, seeds + 1)))


def parts_of(finding):
    """Returns a finding's first line without thread and place, that place, and the places that the
    details name: the innermost call of each access of a race, and where threads spin."""
    lines = finding.splitlines()
    place = ""
    for end in (0, -1):
        text, _, last = lines[end].removesuffix(")").rpartition(" (")
        if PLACE.fullmatch(last):
            lines[end], place = text, last
            break
    accesses = [PLACE.findall(call)[-1:] for access, call in zip(lines, lines[1:])
                if access.startswith("  the ") and call.startswith("    at ")]
    spins = [PLACE.findall(line.partition(": spins, ")[2])[:1] for line in lines[1:]]
    return lines[0].partition(" [")[0], place, list(dict.fromkeys(sum(accesses + spins, [])))


def line_of(finding):
    head, place, places = parts_of(finding)
    places = places or ([place] if place and place not in head else [])
    return f"{' and '.join(places)}: {head}" if places else head


def kind_of(finding):
    """Returns a key that is equal for the same finding under several schedules. The order of the
    accesses of a race does not count."""
    head, place, places = parts_of(finding)
    if head.startswith("data race"):
        return "data race", frozenset(places)
    return NUMBER.sub("n", head), place


def seeds_of(runs, all_runs):
    if len(runs) == len(all_runs):
        return f"under all {len(runs)} schedules"
    return f"under {len(runs)} of {len(all_runs)} schedules, first with seed {runs[0].seed}"


def results_differ(runs):
    """Returns lines if outputs or exit codes differ. The order of an output's lines does not count,
    because threads of a kernel print in any order."""
    def result(run):
        return run.code, sorted(run.output.splitlines())

    first = runs[0]
    for run in runs[1:]:
        if result(run) == result(first):
            continue
        lines = [f"no race found; results differ between seeds {first.seed} and {run.seed}"]
        if run.code != first.code:
            lines.append(f"  exit code {first.code} and {run.code}")
        ours, theirs = (collections.Counter(r.output.splitlines()) for r in (first, run))
        for one, more, less in ((first, ours, theirs), (run, theirs, ours)):
            lines += [f"  seed {one.seed}: {line}" for line in list((more - less).elements())[:3]]
        return lines
    if first.code != 0:
        return [f"no race found; the program ends with exit code {first.code} {seeds_of(runs, runs)}",
                *(f"  {line}" for line in (first.output + first.errors).splitlines()[-3:])]
    return []


def report(runs):
    """Lines: each finding on one, then the details of each."""
    kinds = {}
    for run in runs:
        if run.finding:
            kinds.setdefault(kind_of(run.finding), []).append(run)
    if not kinds:
        return results_differ(runs)
    lines, details = [], []
    for found in kinds.values():
        finding = found[0].finding
        lines.append(f"{line_of(finding)} ({seeds_of(found, runs)})")
        text = finding.splitlines()
        if len(text) > 1:
            details += ["", f"seed {found[0].seed}: {text[0]}", *text[1:SHOWN_LINES]]
            if len(text) > SHOWN_LINES:
                details.append(f"  ... and {len(text) - SHOWN_LINES} lines")
    return lines + details
