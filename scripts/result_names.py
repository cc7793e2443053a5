# SPDX-License-Identifier: Apache-2.0
"""How arms, numbers of keys and what was measured are named and written in every table."""

ARMS = ["memcpy", "copy", "global_atomic", "global_atomic_compiled", "shared_atomic", "shared_atomic_compiled", "block_scan", "thread_atomic",
        "warp_atomic", "shared_atomics", "cub_histogram", "cub_sort", "cub_block_decode", "cub_batched_copy",
        "unordered", "ordered", "reduce_then_scan", "lock_as_written", "lock_tuned", "lock_checked", "lock_ordered", "lock_warp", "lock_warp_checked", "atomics", "atomics_combined", "sort", "warden_paper", "warden_locks",
        "warden_runs", "warden_runs_on_chip", "warden_runs_combined", "warden_atomics", "warden_atomics_on_chip", "warden_deferred",
        "warden_deferred_on_chip", "warden_deferred_threads", "warden_deferred_runs", "warden_deferred_sequential", "warden_deferred_combined",
        "warden_thread", "warden_lanes", "warden_lanes_on_chip", "warden_lanes_locks", "warden_fused_thread", "warden_fused_lanes", "warden_rounds", "warden_rounds_on_chip", "warden_colocated", "warden_nested", "warden_nested_on_chip", "warden_forwarding", "warden", "warden_regions",
        "boost_push_relabel", "boost_boykov_kolmogorov", "gather_serial", "gather_warp", "gather_scan", "cull_none", "cull_warp",
        "cull_history", "hogwild", "sequential", "queue_threads", "queue_blocks", "top_down", "direction_optimizing", "one_gpu_best", "one_gpu", "two_gpus", "two_gpus_on_chip",
        "four_gpus", "eight_gpus"]
# Labels of arms in tables and plots. Arms without an entry are shown under their own name.
LABELS = {
    "global_atomic_compiled": "global atomic, compiled", "shared_atomic_compiled": "shared atomic, compiled",
    "lock_as_written": "lock as published", "lock_tuned": "tuned lock", "lock_checked": "tuned lock, checked first",
    "lock_ordered": "ordered locks", "lock_warp": "lock per warp", "lock_warp_checked": "lock per warp, checked first",
    "atomics_combined": "combined atomics", "warden_paper": "fused, paper", "warden_locks": "fused, locks",
    "warden_runs": "fused, sorted", "warden_runs_on_chip": "fused, sorted, on chip", "warden_runs_combined": "fused, sorted, combined",
    "warden_atomics": "fused, atomics", "warden_atomics_on_chip": "fused, atomics, on chip",
    "warden_deferred": "deferred", "warden_deferred_on_chip": "deferred, on chip",
    "warden_deferred_threads": "deferred by single threads", "warden_deferred_runs": "deferred, sorted",
    "warden_deferred_sequential": "deferred, sequential", "warden_deferred_combined": "deferred, combined",
    "warden_thread": "deferred, thread", "warden_lanes": "deferred, group", "warden_lanes_on_chip": "deferred, group, on chip",
    "warden_lanes_locks": "deferred, group, locks", "warden_fused_thread": "fused, thread", "warden_fused_lanes": "fused, group",
    "warden_rounds": "deferred pairs", "warden_rounds_on_chip": "deferred pairs, on chip", "warden_colocated": "fused, colocated",
    "warden_nested": "fused, pair messages", "warden_nested_on_chip": "fused, pair messages, on chip",
    "warden_forwarding": "fused, forwarding", "warden": "deferred", "warden_regions": "regions"}
# Warden's arms that do in two sections what the others do in one.
NOT_ISOLATING = {"warden_forwarding"}
COUNTS = ["global_atomics", "lock_retries", "sectors", "messages"]
# What the operations of a comparison are called, where they are no sections of one record each.
UNITS = {"allocation": "item", "bank_transfer": "transfer", "spanning_forest": "edge", "max_flow": "edge", "breadth_first": "arc", "matrix_factorization": "rating"}
# In rows of hot90: the cold keys' own rate.
COLD = "cold_items_per_second"


def is_wardens(arm):
    return arm.split("_")[0] == "warden"


def label(arm):
    return LABELS.get(arm, arm.replace("_", " "))


def short(keys):
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if keys >= size and keys % size == 0:
            return f"{keys // size}{unit}"
    return str(keys)


def rate(row, what="items_per_second"):
    value = row[what] / 1e9
    return f"{value:.5f}" if value < 0.01 else f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def amount(value):
    return f"{value:.4f}" if 0 < value < 0.01 else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def is_simulated(data):
    """Whether the rows are counts of the simulated device."""
    return data["context"].get("simulated") == "yes"


def unit_of(data):
    """What the rates of a comparison count."""
    return UNITS.get(data["benchmarks"][0]["name"].split("/")[0] if data["benchmarks"] else "", "section")


def self_test():
    assert [arm for arm in ("warden", "warden_runs", "wardens", "atomics", "boost_push_relabel") if is_wardens(arm)] == ["warden", "warden_runs"]
    assert [short(keys) for keys in (1, 1000, 1024, 4039, 32768, 1 << 20)] == ["1", "1000", "1K", "4039", "32K", "1M"]
    assert [rate({"items_per_second": value}) for value in (1.2e4, 2e7, 5e8, 1.36e9, 69.8e9)] == ["0.00001", "0.020", "0.500", "1.36", "69.8"]
    assert [amount(value) for value in (0, 0.0025, 0.01, 2.5, 25.0, 250.0)] == ["0.00", "0.0025", "0.01", "2.50", "25.0", "250"]
    assert unit_of({"benchmarks": []}) == unit_of({"benchmarks": [{"name": "contention/push/uniform/atomics/keys:1"}]}) == "section"
    assert unit_of({"benchmarks": [{"name": "bank_transfer/transfer/uniform/atomics/keys:256"}]}) == "transfer"
