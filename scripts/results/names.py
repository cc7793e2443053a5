# SPDX-License-Identifier: Apache-2.0
"""Names in tables and plots: labels of arms, units, numbers."""

# Arm of a result file -> its label, in the order of columns.
LABELS = {
    "memcpy": "memcpy", "copy": "copy", "global_atomic": "global atomic",
    "global_atomic_compiled": "global atomic, compiled", "shared_atomic": "shared atomic",
    "shared_atomic_compiled": "shared atomic, compiled", "block_scan": "block scan",
    "thread_atomic": "thread atomic", "warp_atomic": "warp atomic", "shared_atomics": "shared atomics",
    "cub_histogram": "CUB histogram", "cub_sort": "CUB sort", "cub_block_decode": "CUB block decode",
    "cub_batched_copy": "CUB batched copy", "unordered": "unordered", "ordered": "ordered",
    "reduce_then_scan": "reduce then scan", "uncombined": "uncombined", "combined_as_wide": "combined, as wide",
    "combined_wider": "combined, wider", "lock_as_written": "lock as published", "lock_tuned": "tuned lock",
    "lock_checked": "tuned lock, checked first", "lock_ordered": "ordered locks", "lock_warp": "lock per warp",
    "lock_warp_checked": "lock per warp, checked first",
    "locks": "two-phase locking", "optimistic": "optimistic", "tictoc": "optimistic, computed times", "atomics": "atomics",
    "atomics_combined": "combined atomics", "sort": "sort", "warden_paper": "fused, paper",
    "warden_locks": "fused, locks", "warden_runs": "fused, sorted", "warden_runs_on_chip": "fused, sorted, on chip",
    "warden_runs_combined": "fused, sorted, combined", "warden_atomics": "fused, atomics",
    "warden_atomics_on_chip": "fused, atomics, on chip", "warden_deferred": "deferred",
    "warden_deferred_on_chip": "deferred, on chip", "warden_deferred_threads": "deferred by single threads",
    "warden_deferred_runs": "deferred, sorted", "warden_deferred_sequential": "deferred, sequential",
    "warden_deferred_combined": "deferred, combined", "warden_thread": "deferred, thread",
    "warden_lanes": "deferred, group", "warden_lanes_on_chip": "deferred, group, on chip",
    "warden_lanes_locks": "deferred, group, locks", "warden_fused_thread": "fused, thread",
    "warden_fused_lanes": "fused, group", "warden_rounds": "deferred pairs",
    "warden_rounds_on_chip": "deferred pairs, on chip", "warden_colocated": "fused, colocated",
    "warden_nested": "fused, pair messages", "warden_nested_on_chip": "fused, pair messages, on chip",
    "warden_nested_timed": "fused, pair messages, timed", "warden_forwarding": "fused, forwarding",
    "shared_cache": "cache in shared memory", "bulk_reduce": "bulk reduction", "sort_segments": "sort, segments",
    "sort_pieces": "sort, pieces", "warden": "Warden", "warden_no_owners": "Warden, no owners of hot rows",
    "warden_several": "Warden, sections on several records", "warden_parts": "Warden, in parts",
    "warden_trees": "Warden, trees", "warden_bulk": "Warden, bulk", "warden_sums": "Warden, bulk, ready-made", "warden_rows": "Warden, rows",
    "warden_rows_bulk": "Warden, rows, bulk", "warden_regions": "regions", "boost_push_relabel": "Boost push-relabel",
    "boost_boykov_kolmogorov": "Boost Boykov-Kolmogorov", "gather_serial": "gather, serial",
    "gather_warp": "gather, warp", "gather_scan": "gather, scan", "cull_none": "cull, none",
    "cull_warp": "cull, warp", "cull_history": "cull, history", "hogwild": "hogwild", "sequential": "sequential",
    "queue_threads": "queue, threads", "queue_blocks": "queue, blocks", "top_down": "top-down",
    "direction_optimizing": "direction-optimizing", "one_gpu_best": "1 GPU, best", "one_gpu": "1 GPU",
    "bellman_ford": "Bellman-Ford", "near_far": "near-far", "delta_stepping": "delta-stepping", "delta_scan": "delta, scan", "decoupled": "decoupled",
    "central": "central", "per_block": "per block", "donating": "donating", "stealing": "stealing",
    "broker": "broker queue", "fused": "fused, sections",
    "index_add": "index_add_", "index_add_deterministic": "index_add_, deterministic",
    "embedding_backward": "embedding, backward", "sparse_adagrad": "sparse AdaGrad", "coo_atomics": "COO, atomics",
    "warden_coo": "Warden, COO", "warden_coo_deterministic": "Warden, COO, deterministic",
    "warden_coo_deterministic_shuffled": "Warden, COO in any order, deterministic",
    "coo_segments": "COO, sums of neighbours", "csr_rows": "CSR, a warp for a row", "csr_merge": "CSR, merge",
    "cusparse": "cuSPARSE", "warden_static": "Warden, fixed keys",
    "shear_rows": "shear sort, rows", "shear_padded": "shear sort, padded",
    "shear_transposed": "shear sort, transposed", "merge_rows": "merge sort, rows", "merge_padded": "merge sort, padded",
    "cub_merge_4": "CUB merge sort, 4 keys", "cub_merge_8": "CUB merge sort, 8 keys",
    "cub_merge_9": "CUB merge sort, 9 keys", "cub_radix_4": "CUB radix sort, 4 keys",
    "cub_radix_8": "CUB radix sort, 8 keys", "plain": "plain loads", "unrolled": "unrolled loads",
    **{f"producer_{n}": f"producer warp, {n} stages" for n in range(2, 7)},
    **{f"rebalanced_{n}": f"producer warp, {n} stages, rebalanced" for n in range(2, 7)}, "device_copy": "device copy",
    "reader": "reader of runs", "reader_meets": "reader of runs, with barriers",
    "owner": "1 GPU, owner", "two_gpus": "2 GPUs", "two_gpus_on_chip": "2 GPUs, on chip", "four_gpus": "4 GPUs",
    "eight_gpus": "8 GPUs"}

# Unit of an operation, for benchmarks whose operation is not a section.
UNITS = {"allocation": "item", "bank_transfer": "transfer", "spanning_forest": "edge", "max_flow": "edge",
         "breadth_first": "arc", "breadth_first_gpus": "arc", "shortest_paths": "arc", "matrix_factorization": "rating", "transport": "message",
         "answers": "call", "workloads": "row", "pytorch": "row", "bank_conflicts": "key", "producer_warp": "element", "task_queues": "operation",
         "sparse_product": "nonzero", "transactions": "transaction"}

# Benchmarks whose tables hold milliseconds -> (input, number in the name of a row, operations).
TIMED = {"spanning_forest": ("graph", "vertices", "edges"), "max_flow": ("network", "vertices", "edges"),
         "breadth_first": ("graph", "vertices", "arcs"), "shortest_paths": ("graph", "vertices", "arcs"),
         "breadth_first_gpus": ("graph", "vertices", "arcs"),
         "matrix_factorization": ("ratings", "rank", None)}

WIDE_MARK = " ±"  # follows a value whose repetitions differ widely
COUNTS = ["global_atomics", "lock_retries", "sectors", "messages"]  # counters of the simulated device

# Requirements of arms that do not run every section: in all benchmarks, then in single ones.
DEFERRED = "memory for all sections, which run after the kernel"
NEEDS = {"atomics": "a section that is one atomic", "atomics_combined": "sections that combine into one atomic",
         "sort": "all sections before the first one runs", "warden_atomics": "a section that is one atomic",
         "warden_atomics_on_chip": "a section that is one atomic", "warden_runs_combined": "sections that combine",
         "warden_deferred": DEFERRED, "warden_deferred_on_chip": DEFERRED, "warden_deferred_threads": DEFERRED,
         "warden_deferred_runs": DEFERRED, "warden_deferred_sequential": DEFERRED,
         "warden_deferred_combined": f"sections that combine; {DEFERRED}"}
NEEDS_OF = {"bank_transfer": dict.fromkeys(("atomics", "warden_forwarding"),
                                           "readers that tolerate half of a transfer"),
            "contention": dict.fromkeys(("warden", "warden_bulk"), DEFERRED),
            "hash_table": {"atomics": "an operation that is one atomic once its key is found"},
            "workloads": dict.fromkeys(("warden", "warden_parts", "warden_trees", "warden_rows"), DEFERRED),
            "max_flow": {"atomics": "readers that tolerate part of a section", "warden": DEFERRED,
                         "warden_regions": DEFERRED,
                         **dict.fromkeys(("boost_push_relabel", "boost_boykov_kolmogorov"), "one CPU core")},
            "breadth_first": {"direction_optimizing": "incoming arcs of each vertex", "warden": DEFERRED}}


def needs(benchmark):
    """Arm -> requirement, for the arms of a benchmark that do not run every section."""
    return NEEDS | NEEDS_OF.get(benchmark, {})


def label(arm):
    return LABELS.get(arm, arm)


def is_wardens(arm):
    return arm.split("_")[0] == "warden"


def short(number):
    """32768 as 32K; numbers that are no multiple of 1024 in full."""
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


def rounded(value, digits, others):
    """The value with the digits of the first limit above it."""
    return f"{value:.{next((digits[limit] for limit in digits if value < limit), others)}f}"


def giga(value):
    """A rate in units of 10^9."""
    return rounded(value / 1e9, {0.01: 5, 1: 3, 10: 2}, 1)


def amount(value):
    return rounded(value, {0.01: 4 if value else 2, 10: 2, 100: 1}, 0)
