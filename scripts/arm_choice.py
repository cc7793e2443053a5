# SPDX-License-Identifier: Apache-2.0
"""Which arm to take at which number of keys, as the rates say, and what an arm asks for in return."""
import dataclasses

from result_file import rows_of
from result_names import ARMS, is_wardens, short

# Rates that differ by less are as good as each other: five runs of a row do.
AS_GOOD = 0.95
SLOWER = f"{100 * (1 - AS_GOOD):.0f} %"
# What an arm needs that not every critical section has. All others run any section.
NEEDS = {"atomics": "a section that is one atomic", "atomics_combined": "sections that combine into one atomic",
         "sort": "all sections before the first one runs", "warden_atomics": "a section that is one atomic",
         "warden_atomics_on_chip": "a section that is one atomic", "warden_runs_combined": "sections that combine",
         **dict.fromkeys(("warden_deferred", "warden_deferred_on_chip", "warden_deferred_threads",
                        "warden_deferred_runs", "warden_deferred_sequential"), "memory for all sections, which run when the kernel has ended"),
         "warden_deferred_combined": "sections that combine, and memory for all of them, which run when the kernel has ended"}
# Where these do in two steps what the others do in one.
NEEDS_OF = {"bank_transfer": {"atomics": "that others may see a transfer half done",
                              "warden_forwarding": "that others may see a transfer half done"},
            "hash_table": {"atomics": "an operation that is one atomic once its key is found"},
            "max_flow": {"atomics": "sections of which others may see a part",
                         **dict.fromkeys(("warden", "warden_regions"), "memory for all sections, which run when the kernel has ended"),
                         **dict.fromkeys(("boost_push_relabel", "boost_boykov_kolmogorov"), "no GPU: it is for one core")},
            "breadth_first": {"direction_optimizing": "the arcs that come to a vertex, too",
                              "warden": "memory for all sections, which run when the kernel has ended"}}


def needs(benchmark):
    return NEEDS | NEEDS_OF.get(benchmark, {})


@dataclasses.dataclass(frozen=True)
class Choice:
    """The arm for numbers of keys from `least` to `most`."""
    least: int
    most: int
    arm: str

    def sizes(self):
        return short(self.least) if self.least == self.most else f"{short(self.least)} to {short(self.most)}"


def choices(by_keys, without=()):
    """As few as possible: each is the fastest arm or as good, wherever it is chosen. Arms `without` are not considered."""
    sizes = [(keys, {arm: row["items_per_second"] for arm, row in by_arm.items() if arm not in without and arm in ARMS})
             for keys, by_arm in sorted(by_keys.items())]
    sizes = [(keys, rates) for keys, rates in sizes if rates]
    chosen, begin = [], 0
    while begin < len(sizes):
        reach = {arm: reached(sizes, begin, arm) for arm in ARMS}
        end = max(reach.values())
        # Of those that reach as far the one that is fastest on the whole, each size counting alike.
        arm = max((arm for arm in ARMS if reach[arm] == end), key=lambda arm: sum(
            rates[arm] / max(rates.values()) for _, rates in sizes[begin:end]))
        chosen.append(Choice(sizes[begin][0], sizes[end - 1][0], arm))
        begin = end
    return chosen


def reached(sizes, begin, arm):
    """The first index from `begin` on at which another arm is faster."""
    end = begin
    while end < len(sizes) and sizes[end][1].get(arm, 0) >= AS_GOOD * max(sizes[end][1].values()):
        end += 1
    return end


def ratio(value):
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def fastest_in_words(by_keys, asked):
    """The fastest arms of all, and of those that run any section; what Warden's fastest of these is beside tuned locks.

    `asked`: what needs() says for the benchmark.
    """
    def listed(chosen):
        return ", ".join(f"`{choice.arm}` at {choice.sizes()}" for choice in chosen)

    everything, anything = choices(by_keys), choices(by_keys, without=asked)
    of_any = "that isolate" if "warden_forwarding" in asked else "that run any section"
    text = f"Fastest by number of keys, or less than {SLOWER} behind: {listed(everything)}."
    if anything != everything:
        text += f" Of the arms {of_any}: {listed(anything)}."
    beside = []
    for keys, by_arm in sorted(by_keys.items()):
        own = [row["items_per_second"] for arm, row in by_arm.items() if is_wardens(arm) and arm not in asked]
        if own and "lock_tuned" in by_arm:
            beside.append((max(own) / by_arm["lock_tuned"]["items_per_second"], keys))
    if beside:
        (least, at_least), (most, at_most) = min(beside), max(beside)
        span = f"{ratio(least)} times" if len(beside) == 1 else f"{ratio(least)} (at {short(at_least)}) to {ratio(most)} times (at {short(at_most)})"
        text += f" By its arms {of_any}, Warden has {span} the rate of tuned locks."
    return text


def self_test():
    def table(**rates):
        """arm -> the rates at 1, 2, 4 ... keys; None where it has none"""
        rows = [{"name": f"contention/push/uniform/{arm}/keys:{1 << i}", "items_per_second": rate}
                for arm, values in rates.items() for i, rate in enumerate(values) if rate is not None]
        return rows_of({"benchmarks": rows})["push", "uniform"]

    by_keys = table(lock_tuned=[1, 1, 8], atomics=[9, 2, 1], warden_runs=[5, 10, 4], warden_locks=[2, 9.6, 8.3])
    assert choices(by_keys) == [Choice(1, 1, "atomics"), Choice(2, 4, "warden_locks")], choices(by_keys)
    assert choices(by_keys, without=["atomics", "warden_locks"]) == [Choice(1, 2, "warden_runs"), Choice(4, 4, "lock_tuned")]
    assert choices(table(sort=[1], atomics=[0.96])) == [Choice(1, 1, "sort")], "the fastest, where another is as good"
    assert choices(table(sort=[1, 1], atomics=[0.94, 3])) == [Choice(1, 1, "sort"), Choice(2, 2, "atomics")], "but not one that is slower"
    assert choices(table(warden_runs=[3, None], sort=[1, 1])) == [Choice(1, 1, "warden_runs"), Choice(2, 2, "sort")]
    assert choices({}) == []
    assert fastest_in_words(by_keys, needs("contention")) == (
        "Fastest by number of keys, or less than 5 % behind: `atomics` at 1, `warden_locks` at 2 to 4. Of the arms that run any section: `warden_runs` at 1 to "
        "2, `warden_locks` at 4. By its arms that run any section, Warden has 1.0 (at 4) to 10 times (at 2) "
        "the rate of tuned locks."
        ), fastest_in_words(by_keys, needs("contention"))
    assert fastest_in_words(table(sort=[1]), {}) == "Fastest by number of keys, or less than 5 % behind: `sort` at 1."
    assert "isolate: `lock_tuned` at 1. By its arms that isolate, Warden has 0.5 times the rate" in fastest_in_words(
        table(atomics=[9], lock_tuned=[2], warden_nested=[1]), needs("bank_transfer"))
    # What is deferred runs later: it is no arm for any section.
    text = fastest_in_words(table(warden_deferred_on_chip=[9], lock_tuned=[2], warden_runs=[4]), needs("contention"))
    assert "behind: `warden_deferred_on_chip` at 1. Of the arms that run any section: `warden_runs` at 1." in text, text
    assert "Warden has 2.0 times the rate" in fastest_in_words(table(warden_atomics=[9], lock_tuned=[2], warden_runs=[4]), needs("contention"))
