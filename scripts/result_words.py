# SPDX-License-Identifier: Apache-2.0
"""Comparisons of arms in words: where a baseline is faster than Warden."""
from result_file import rows_of
from result_names import ARMS, NOT_ISOLATING, is_wardens, short


def best_of_warden(by_arm, baseline=None):
    """Of Warden's arms; against locks only of those that let nobody see what is half done, as locks do not."""
    keeps = [arm for arm in by_arm if is_wardens(arm) and not (str(baseline).startswith("lock_") and arm in NOT_ISOLATING)]
    return max((by_arm[arm]["items_per_second"] for arm in keeps), default=None)


def in_words(by_keys):
    """Where a baseline wins, in words."""
    sentences = []
    # Some workloads have a number of keys of their own.
    everywhere = "faster than Warden" + (" at every number of keys." if len(by_keys) > 1 else " here.")
    for arm, what, always in (
            ("atomics", "one atomic each", f"Where the section can be one atomic each, that is {everywhere}"),
            ("atomics_combined", "combining before the atomics",
             f"Where sections combine, combining them before the atomics is {everywhere}"),
            ("sort", "sorting first", f"Where all sections are known beforehand, sorting them is {everywhere}"),
            ("lock_tuned", "tuned locks", f"Tuned locks are {everywhere}")):
        wins = [k for k, arms in sorted(by_keys.items()) if arm in arms and best_of_warden(arms) is not None
                and arms[arm]["items_per_second"] > best_of_warden(arms)]
        if wins and len(wins) == len(by_keys):
            sentences.append(always)
        elif wins:
            sentences.append(f"With {what}, Warden loses at {', '.join(short(k) for k in wins)} keys.")
    return " ".join(sentences) or "Warden is faster than every baseline here."


def arms_not_isolating(table):
    return ", ".join(sorted({f"`{arm}`" for by_keys in table.values() for by_arm in by_keys.values() for arm in by_arm
                             if arm in NOT_ISOLATING}))


def rows_in_words(table):
    """At which rows a baseline wins, in words: for tables of several operations and workloads."""
    sentences = []
    for arm in (a for a in ARMS if not is_wardens(a)):
        wins = []
        for (operation, workload), by_keys in table.items():
            sizes = [keys for keys, by_arm in sorted(by_keys.items()) if arm in by_arm and best_of_warden(by_arm, arm) is not None
                     and by_arm[arm]["items_per_second"] > best_of_warden(by_arm, arm)]
            if sizes:
                # The number of keys tells rows apart only where there are several.
                at = f" ({', '.join(short(keys) for keys in sizes)})" if len(by_keys) > 1 else ""
                wins.append(f"`{operation}` `{workload}`{at}")
        if wins:
            sentences.append(f"`{arm}` is faster than Warden at {', '.join(wins)}.")
    if arms_not_isolating(table) and sentences:
        sentences.append(f"(Locks are compared with the arms that isolate: not with {arms_not_isolating(table)}.)")
    return " ".join(sentences) or "Warden is faster than every baseline here."


def self_test():
    def table_of(points):
        return rows_of({"benchmarks": [{"name": f"contention/push/{workload}/{arm}/keys:{keys}", "items_per_second": rate}
                                       for workload, sizes in points for keys in sizes
                                       for arm, rate in (("atomics", 4e9), ("warden_locks", 1e9), ("warden_runs", 3e9))]})

    table = table_of((("uniform", (32, 32768)), ("hot90", (32768,))))
    assert best_of_warden(table["push", "hot90"][32768]) == 3e9
    assert in_words(table["push", "hot90"]).endswith("that is faster than Warden here.")
    assert in_words(table["push", "uniform"]).endswith("that is faster than Warden at every number of keys.")
    assert rows_in_words(table) == "`atomics` is faster than Warden at `push` `uniform` (32, 32K), `push` `hot90`."
    del table["push", "uniform"], table["push", "hot90"][32768]["atomics"]
    assert rows_in_words(table) == "Warden is faster than every baseline here."
    halves = {("transfer", "uniform"): {256: {"lock_tuned": {"items_per_second": 2e9}, "warden_nested": {"items_per_second": 1e9},
                                              "warden_forwarding": {"items_per_second": 3e9}}}}
    assert rows_in_words(halves).startswith("`lock_tuned` is faster than Warden at `transfer` `uniform`."), rows_in_words(halves)
