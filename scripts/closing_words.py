# SPDX-License-Identifier: Apache-2.0
"""What the tables of a run show, in two or three sentences; after a run on a GPU, which arm to take."""
import contextlib
import io
import textwrap

import allocation_tables
import arm_choice
from arm_choice import choices
from printed_tables import WIDTH, print_table
from result_file import RESULTS, load, published, rows_of
from result_names import ARMS, amount, is_simulated, is_wardens, rate, unit_of
from transport_tables import is_transport

# What ./warden bench runs.
BENCHMARKS = ("contention", "hash_table", "bank_transfer", "spanning_forest", "max_flow", "breadth_first", "matrix_factorization", "allocation", "transport")


def benchmark_of(data):
    return data["benchmarks"][0]["name"].split("/")[0]


def say(text):
    print("\n" + textwrap.fill(text, WIDTH, break_on_hyphens=False))


def span(values):
    """From the least to the most of them, as tables write them."""
    least, most = amount(min(values)), amount(max(values))
    return (least if least == most else f"{least} to {most}") if max(values) else "none"


def listed(parts):
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def simulated_comparison(data):
    """How often locks, and the arm of Warden that does it least, reach for words that others want, too."""
    counts = {}  # arm -> [(global atomics, lock retries)] of all points
    for by_keys in rows_of(data).values():
        for by_arm in by_keys.values():
            for arm, row in by_arm.items():
                if "global_atomics" in row:  # what runs on the host has none
                    counts.setdefault(arm, []).append((row["global_atomics"], row["lock_retries"]))
    if not counts:
        return "nothing ran on the device."
    # Of those that run what a lock does.
    asked = arm_choice.needs(benchmark_of(data))
    own = [arm for arm in counts if is_wardens(arm)]
    comparable = [arm for arm in own if arm not in asked] or own
    fewest = min(comparable, key=lambda arm: sum(atomics for atomics, _ in counts[arm]), default=None)
    shown = [arm for arm in ARMS if arm in counts and (arm.startswith("lock_") or arm == fewest)] or [min(counts, key=ARMS.index)]
    parts = []
    for arm in shown:
        atomics, retries = (span(values) for values in zip(*counts[arm]))
        who = f"{arm}, which takes the fewest of Warden's arms," if arm == fewest and len(own) > 1 else arm
        parts.append(f"{who} {atomics} and {retries}" if parts else f"{who} takes {atomics} global atomics and {'no' if retries == 'none' else retries} lock retries")
    return f"for each {unit_of(data)} {'; '.join(parts)}."


SENDERS = {"block": "the threads of a block send together", "warp": "those of a warp do", "thread": "each thread sends alone"}


def simulated_transport(data):
    """What sending together saves."""
    counts = {}  # way of sending -> [global atomics]
    for row in data["benchmarks"]:
        if (send := row["name"].split("/")[1]) in SENDERS:
            counts.setdefault(send, []).append(row["global_atomics"])
    if not counts:
        return "no messages were sent but those whose latency was asked for."
    return "a message takes global atomics: " + listed([f"{span(values)} where {SENDERS[send]}" for send, values in counts.items()]) + "."


def say_where_rates_are(benchmark):
    file = published(benchmark)
    if file is None:
        return
    say(f"Rates measured on one {load(file)['context']['device']} are in docs/performance.md; to see them as tables:")
    print(f"    python3 scripts/tables.py --print {file.relative_to(RESULTS.parent)}")


def choice_lines(data):
    """operation, workload, numbers of keys, and the arms to take there: of those that run any section, and of all."""
    asked = arm_choice.needs(benchmark_of(data))
    lines = []
    for (operation, workload), by_keys in rows_of(data).items():
        anything, everything = choices(by_keys, without=asked), choices(by_keys)
        sizes = sorted(by_keys)
        # A line ends where one of the two changes.
        ends = sorted({choice.most for choice in anything + everything})
        begins = [sizes[0], *(sizes[sizes.index(end) + 1] for end in ends if end != sizes[-1])]
        for least, most in zip(begins, ends):
            arms = [next((c.arm for c in chosen if c.least <= least and most <= c.most), "-") for chosen in (anything, everything)]
            lines.append([operation, workload, arm_choice.Choice(least, most, "").sizes(), *arms])
    return lines


def needs_in_words(benchmark, arms):
    """What the arms ask for that are not for any section; empty if all of them are."""
    asked = arm_choice.needs(benchmark)
    by_need = {}
    for arm in ARMS:
        if arm in arms and arm in asked:
            by_need.setdefault(asked[arm], []).append(arm)
    return "; ".join(f"{listed(of)} {'need' if of[1:] else 'needs'} {need}" for need, of in by_need.items())


def print_choice(data):
    benchmark, lines = benchmark_of(data), choice_lines(data)
    if len({arm for by_keys in rows_of(data).values() for by_arm in by_keys.values() for arm in by_arm if arm in ARMS}) < 2:
        return  # there is nothing to choose
    header = ["operation", "workload", "keys", "isolating" if benchmark == "bank_transfer" else "any section", "of all arms"]
    print_table(f"{benchmark}: which arm to take, the fastest, or one less than {arm_choice.SLOWER} slower than it",
                [list(column) for column in zip(header, *lines)], [])
    if needed := needs_in_words(benchmark, {line[-1] for line in lines}):
        say(needed + ".")


def measured_transport(data):
    """The fastest way of sending that is no ceiling, and how long a message takes."""
    rates = [row for row in data["benchmarks"] if row["name"].split("/")[1] not in ("latency", "ceiling_copy")]
    text = ""
    if rates:
        best = max(rates, key=lambda row: row["items_per_second"])
        _, send, receive, readiness, size, servers = best["name"].split("/")
        text = (f"the highest rate is {rate(best)} G messages/s, of {size.removeprefix('bytes:')} bytes each, by send {send}, receive "
                f"{receive} and readiness {readiness}, with {servers.removeprefix('servers:')} servers.")
    waits = [row["median_ns"] for row in data["benchmarks"] if "median_ns" in row]
    if waits:
        text += f" From send to execution a message takes {min(waits):.0f} to {max(waits):.0f} ns in the median."
    return text.strip()


def print_words(files):
    """`files`: as they are loaded. Nothing for files that ./warden bench does not write."""
    files = [data for data in files if data["benchmarks"] and benchmark_of(data) in BENCHMARKS]
    for data in files:
        if is_simulated(data):
            counted = (simulated_transport if is_transport(data) else allocation_tables.counted_in_words if allocation_tables.is_allocation(data)
                       else simulated_comparison)
            say(f"{benchmark_of(data)}: {counted(data)}")
        elif is_transport(data):
            say(f"transport: {measured_transport(data)}")
        elif allocation_tables.is_allocation(data):
            if words := allocation_tables.fastest_in_words(data):
                say(f"allocation, the fastest arms: {words}.")
        else:
            print_choice(data)
    simulated = [benchmark_of(data) for data in files if is_simulated(data)]
    if simulated:
        say("These are counts of the simulated device, which has no times: they say how often an arm does something, not how fast it "
            "is. Sectors are also read by servers that wait for messages.")
        say_where_rates_are(simulated[0])


def self_test():
    def words(*files):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            print_words(files)
        return text.getvalue()

    def file(simulated, *rows):
        return {"context": {"simulated": "yes" if simulated else "no"},
                "benchmarks": [{"name": name, **counters} for name, counters in rows]}

    def counted(arm, keys, atomics, retries, benchmark="contention/push"):
        return (f"{benchmark}/uniform/{arm}/keys:{keys}", {"global_atomics": atomics, "lock_retries": retries})

    def timed(arm, keys, rate, benchmark="contention/push"):
        return f"{benchmark}/uniform/{arm}/keys:{keys}", {"items_per_second": rate}

    text = " ".join(words(file(True, counted("lock_tuned", 1, 3, 2), counted("lock_tuned", 32, 1.5, 0), counted("atomics", 1, 1, 0),
                               counted("warden_locks", 1, 0.25, 0.5), counted("warden_runs", 1, 0.125, 0),
                               counted("warden_atomics", 1, 0.01, 0))).split())
    assert text.startswith("contention: for each section lock_tuned takes 1.50 to 3.00 global atomics and 0.00 to 2.00 lock retries; "
                           "warden_runs, which takes the fewest of Warden's arms, 0.12 and none. These are counts"), text
    assert text.endswith("python3 scripts/tables.py --print results/h200/contention.json"), text
    # Whatever arms there are.
    assert "atomics takes 1.00 global atomics and no lock retries." in words(file(True, counted("atomics", 1, 1, 0)))
    assert "warden_atomics takes 0.50 global atomics and no lock retries." in words(file(True, counted("warden_atomics", 1, 0.5, 0)))
    on_host = ("max_flow/find/grid/boost_push_relabel/keys:4", {"flow": 1.0})
    assert "max_flow: for each edge atomics takes 1.00" in words(file(True, counted("atomics", 1, 1, 0, "max_flow/find"), on_host))
    assert "max_flow: nothing ran on the device." in words(file(True, on_host))
    sent = file(True, *((f"transport/{send}/windows/in_band/bytes:16/servers:{servers}", {"global_atomics": atomics})
                        for send, servers, atomics in (("block", 1, 0.1), ("block", 2, 0.2), ("thread", 1, 1.1), ("ceiling_copy", 1, 9))))
    taken = file(True, ("allocation/copy/4K/global_atomic/keys:1", {"global_atomics": 1.0}))
    assert "allocation: global atomics for each item, at most: copy global_atomic 1.00. These are counts" in " ".join(words(taken).split()), words(taken)
    fast = file(False, ("allocation/take/uniform/warp_atomic/keys:1", {"items_per_second": 2e9, "bytes": 8.0, "operations": 1.0}))
    assert words(fast).strip() == "allocation, the fastest arms: take: uniform 1 warp_atomic.", words(fast)
    # What all files have in common is said once, in the end.
    text = " ".join(words(file(True, counted("atomics", 1, 1, 0, "bank_transfer/transfer")), sent).split())
    assert text.count("These are counts") == text.count("--print") == 1 and "bank_transfer.json" in text, text
    assert "for each transfer" in text and "0.10 to 0.20 where the threads of a block send together and 1.10 where" in text, text
    # On a GPU a line ends where the arm to take changes, of all or of those for any section.
    rates = [timed("atomics", 1, 9), timed("lock_tuned", 1, 1), timed("warden_runs", 1, 2), timed("atomics", 32, 3),
             timed("lock_tuned", 32, 1), timed("warden_runs", 32, 2), timed("atomics", 1024, 2), timed("lock_tuned", 1024, 8),
             timed("warden_runs", 1024, 2)]
    lines = words(file(False, *rates)).splitlines()
    assert [line.split() for line in lines[2:]] == [
        "operation workload keys any section of all arms".split(), "push uniform 1 to 32 warden_runs atomics".split(),
        "push uniform 1K lock_tuned lock_tuned".split(), [], "atomics needs a section that is one atomic.".split()], lines
    assert words(file(False, rates[1])) == "", "one arm is no choice"
    # What is deferred is an arm to take, for those whose sections may run later.
    text = " ".join(words(file(False, *rates, *(timed(arm, 1024, rate) for arm, rate in (("warden_deferred", 16), ("warden_deferred_threads", 9))))).split())
    assert "1K lock_tuned warden_deferred atomics needs" in text, text
    assert text.endswith("warden_deferred needs memory for all sections, which run when the kernel has ended."), text
    assert "lock_tuned takes 3.00" in words(file(True, counted("lock_tuned", 1, 3, 2), counted("warden_runs", 1, 0.5, 0),
                                                 counted("warden_deferred", 1, 0.01, 0)))
    assert "isolating" in words(file(False, *(timed(arm, 1, 1, "bank_transfer/transfer") for arm in ("atomics", "lock_tuned"))))
    waits = ("transport/latency/slices/in_band/idle/servers:132", {"median_ns": 1472.0})
    text = words(file(False, ("transport/block/windows/in_band/bytes:16/servers:66", {"items_per_second": 9e10}),
                      ("transport/ceiling_copy/windows/in_band/bytes:16/servers:66", {"items_per_second": 12e10}), waits))
    assert "90.0 G messages/s" in text and "1472 to 1472 ns" in text, text
    assert words(file(False, ("traffic/push/uniform/atomics/keys:1", {}))) == "" == words(file(True))
