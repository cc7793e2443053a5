# SPDX-License-Identifier: Apache-2.0
"""Table of mutants of task queues."""

CENTRAL = "tasks/task_queue_seeds.central"
PER_BLOCK = "tasks/task_queue_seeds.per_block"
FULL = "tasks/task_queue_seeds.blocks_push_where_tasks_were_taken"
STEALING = "tasks/task_queue_seeds.stealing"
THREADS = "tasks/task_queue_seeds.by_threads"
WARPS = "tasks/task_queue_seeds.by_warps"
BLOCKS = "tasks/task_queue_seeds.by_blocks"
FIFO = "tasks/task_queue_seeds.central_is_first_in_first_out_by_blocks"
LOST = "tasks lost or doubled|waited for a task|waited for the slot of task|unordered load|no end after"
STALE = "unordered load|message of the parent not visible"

QUEUE_MUTANTS = {
    # A tag that does not release the task; a slot that is never free again; tags that are the same each turn.
    "task-release": ("detail/queue/task_ring.cuh", "simt::store_relaxed(tag, free + 1);", CENTRAL, STALE),
    "task-got": ("detail/queue/task_ring.cuh", "simt::store_release(tag, full - 1);", CENTRAL, LOST),
    "task-tag": ("detail/queue/task_ring.cuh", "return 0;", CENTRAL, LOST),
    # Positions that no push took; claims that stay; newer tasks first.
    "task-claim": ("detail/queue/task_ring.cuh", "std::uint32_t const count = n;", WARPS, LOST),
    "task-claim-back": ("detail/queue/task_ring.cuh", "", CENTRAL, LOST),
    "task-order": ("detail/queue/queue_policy.cuh", "return block.size / 2;", FIFO, "was pushed after task"),
    # Tasks that are not counted before others can pop them, and one that is completed before it ran.
    "task-count": ("detail/queue/block_worker.cuh", "ring_.control().count_tasks(more < 0 ? more : 0);", CENTRAL, LOST),
    "task-count-one": ("detail/queue/task_ring.cuh", "", THREADS, LOST),
    "task-count-warp": ("detail/queue/task_queue_ref.cuh", "", WARPS, LOST),
    "task-completed": ("detail/queue/task_queue_ref.cuh", "search_.own().control().count_tasks(-1);", THREADS, LOST),
    # A block that does not say that its tasks are completed, or gives tasks that are not counted.
    "task-over": ("detail/queue/block_worker.cuh", "bool const is_over = false;", PER_BLOCK, LOST),
    "task-due": ("detail/queue/block_worker.cuh", "bool const is_due = false;", CENTRAL, LOST),
    # An end after which a thread does not see what tasks wrote.
    "task-settled": ("detail/queue/block_worker.cuh", "", BLOCKS, STALE),
    "task-over-warp": ("detail/queue/task_queue_ref.cuh", "", WARPS, STALE),
    "task-end": ("detail/queue/queue_control.cuh", "return tasks_in(simt::load_relaxed(&unfinished)) == 0;", BLOCKS, STALE),
    # A block gives tasks and keeps them; a thread pushes where another one has not taken its task; no block steals.
    "task-given": ("detail/queue/block_worker.cuh", "", CENTRAL, LOST),
    "task-taken": ("detail/queue/block_worker.cuh", "bool const is_poisoned = false;", FULL, LOST),
    "task-oldest": ("detail/queue/block_worker.cuh", "", PER_BLOCK, LOST),
    "task-steal": ("detail/queue/block_worker.cuh", "", STEALING, LOST),
}
