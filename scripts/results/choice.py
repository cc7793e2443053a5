# SPDX-License-Identifier: Apache-2.0
"""The arm to take at each number of keys."""
import collections

from families import points_of
from names import LABELS, needs, short
from table import Table

# Programs of ./warden bench whose rows compare arms by rate.
CHOOSING = ("contention", "hash_table", "bank_transfer", "spanning_forest", "max_flow", "breadth_first", "shortest_paths",
            "matrix_factorization")
AS_GOOD = 0.95  # share of the best rate; repetitions of one row differ by less
# The arm for numbers of keys from `least` to `most`.
Choice = collections.namedtuple("Choice", "least most arm")


def choices(rates):
    """As few choices as possible, each within AS_GOOD of the best arm, of [(keys, arm -> rate)]."""
    rates, chosen, begin = [(keys, by_arm) for keys, by_arm in rates if by_arm], [], 0
    while begin < len(rates):
        reach = {arm: reached(rates, begin, arm) for arm in rates[begin][1]}
        end = max(reach.values())
        arm = max((arm for arm in LABELS if reach.get(arm) == end),
                  key=lambda arm: sum(by_arm[arm] / max(by_arm.values()) for _, by_arm in rates[begin:end]))
        chosen.append(Choice(rates[begin][0], rates[end - 1][0], arm))
        begin = end
    return chosen


def reached(rates, begin, arm):
    """The first index from `begin` on at which another arm is faster."""
    end = begin
    while end < len(rates) and rates[end][1].get(arm, 0) >= AS_GOOD * max(rates[end][1].values()):
        end += 1
    return end


def choice_table(rows):
    """Fastest arm of those that run any section, and of all; None if there is nothing to choose."""
    benchmark, lines, points = rows[0].benchmark, [], {}
    for kind, of_kind in points_of(rows).items():
        for _, by_arm in of_kind:
            row = next(iter(by_arm.values()))
            rates = {arm: rate for arm, row in by_arm.items() if (rate := row.get("items_per_second"))}
            points.setdefault((kind, row.fields["workload"]), []).append((row.fields["keys"], rates))
    special = needs(benchmark)
    for point, rates in points.items():
        fastest, sizes = choices(rates), [keys for keys, _ in rates]
        general = choices([(keys, {arm: rate for arm, rate in by_arm.items() if arm not in special})
                           for keys, by_arm in rates])
        # A line ends where one of the two changes.
        ends = sorted({choice.most for choice in general + fastest})
        for least, most in zip([sizes[0], *(sizes[sizes.index(end) + 1] for end in ends[:-1])], ends):
            of_any, of_all = (next((c.arm for c in chosen if c.least <= least and most <= c.most), "-")
                              for chosen in (general, fastest))
            keys = short(least) if least == most else f"{short(least)} to {short(most)}"
            lines.append([*point, keys, of_any, of_all, special.get(of_all, "-")])
    if len({arm for rates in points.values() for _, by_arm in rates for arm in by_arm}) < 2:
        return None
    return Table("choice", f"{benchmark}: fastest arm, or one within {100 - 100 * AS_GOOD:.0f} % of it",
                 ["operation", "workload", "keys", "of any section", "of all arms", "which needs"], lines, 3)
