# SPDX-License-Identifier: Apache-2.0
"""The sentences that end ./warden bench."""
import collections
import statistics

from choice import AS_GOOD
from families import points_of
from load import is_simulated, rows_of
from names import amount

NO_RATES = "The simulated device has no rates; docs/results has rates of GPUs."
LOCKS = ("lock_tuned", "lock_as_written")


def sentences(data):
    """Says what the rows of the contention benchmark show, and that a simulated device has no rates."""
    rows = rows_of(data)
    points = []
    if rows and rows[0].benchmark == "contention":
        points = [by_arm for of_kind in points_of(rows).values() for _, by_arm in of_kind]
    return [*counts(points), NO_RATES] if is_simulated(data) else rates(points)


def span(values):
    least, most = amount(min(values)), amount(max(values))
    return least if least == most else f"{least} to {most}"


def counts(points):
    """Sentences about global atomics and lock retries of each section."""
    def found(arms, count):
        return {arm: values for arm in arms if (values := [by_arm[arm].need(count) for by_arm in points if arm in by_arm])}
    atomics, retries = found(("warden", *LOCKS), "global_atomics"), found(LOCKS, "lock_retries")
    if "warden" not in atomics or not retries:
        return []
    own = span(atomics.pop("warden"))
    others = " and ".join(f"{span(values)} with {arm}" for arm, values in atomics.items())
    tried = " and ".join(f"{amount(max(values))} times with {arm}" for arm, values in retries.items())
    return [f"A section took {own} global atomics with warden, {others}.",
            f"A section tried its lock again at most {tried}; warden takes no locks."]


def rates(points):
    """Sentences about the rates of the arm `warden`."""
    points = [{arm: row.need("items_per_second") for arm, row in by_arm.items()} for by_arm in points
              if {"warden", "lock_tuned"} <= by_arm.keys()]
    if not points:
        return []
    lost = []
    for by_arm in points:
        best = max(by_arm, key=by_arm.get)
        if by_arm["warden"] < AS_GOOD * by_arm[best]:
            lost.append((by_arm[best] / by_arm["warden"], best))
    faster = ", ".join(f"{arm} ({count})" for arm, count in collections.Counter(arm for _, arm in lost).most_common())
    over_lock = [by_arm["warden"] / by_arm["lock_tuned"] for by_arm in points]
    return [f"warden was the fastest arm, or at most {100 - 100 * AS_GOOD:.0f} % slower than it, at "
            f"{len(points) - len(lost)} of {len(points)} points.",
            f"The fastest arms of the other points were {faster}, at most {amount(max(lost)[0])} times as fast as warden."
            if lost else "No arm was faster by more than that.",
            f"warden was {span(over_lock)} times as fast as lock_tuned, {amount(statistics.median(over_lock))} times "
            "in the median."]
