# SPDX-License-Identifier: Apache-2.0
"""Table of mutants of sections on several records; mutants.py says how a row reads."""

LOOP = "tasks/several_seeds.are_as_in_a_loop"
HOT = "tasks/several_seeds.hot_records_are_as_in_a_loop"
LOGS = "tasks/several_seeds.logs_run_in_the_order_of_numbers"
WRONG = "not as in a loop|lost or doubled section|(overlapping|unordered) sections|unordered load"
ARRAYS = "tasks/several_seeds.arrays_are_as_in_a_loop"
PAIRS = "tasks/several_pairs_seeds.have_a_serial_order"
PAIR_LOGS = "tasks/several_pairs_seeds.logs_run_each_section_once"
STOPPED = "tasks/several_pairs_seeds.stopped_runs_are_as_their_results_say"
NO_ORDER = "no serial order|other result|not as in a loop|lost or doubled section"
STUCK = "no progress for|no end after"

SEVERAL_MUTANTS = {
    # A section that does not see what those before it wrote, or does not show what it wrote.
    "several-acquire": ("detail/several/section_worker.cuh", "", LOOP, "unordered (sections|load)"),
    "several-release": ("detail/several/section_worker.cuh", "", LOOP, "unordered (sections|load)"),
    # A section that keeps its records, begins one access too early, or writes although it aborts.
    "several-lost": ("detail/several/section_worker.cuh", "", LOOP, STUCK),
    "several-early": ("detail/several/section_worker.cuh", "bool const has_come = done[s] + 1 >= turn;", LOOP, WRONG),
    "several-abort": ("detail/several/held_section.cuh", "bool const commits = wanted != outcome::refused;", LOOP, WRONG),
    # A read that does not wait for the write before it; a write in another tile that is not seen.
    "several-read": ("detail/several/order_kernels.cuh", "turn = 0;", LOOP, WRONG),
    "several-far": ("detail/several/order_kernels.cuh", "", LOOP, WRONG),
    # Rows at the places of other rows, or beyond the array; rows of a section that aborts; a record of another array.
    "several-place": ("detail/several/growing_rows.cuh", "if (mine + k < warp_count) warps[mine + k] = before;", ARRAYS, WRONG),
    "several-rows": ("detail/several/section_worker.cuh", "", ARRAYS, WRONG + "|ended by signal"),
    "several-clear": ("detail/several/section_arrays.cuh", "", ARRAYS, WRONG),
    "several-array": ("detail/several/records.cuh", "", ARRAYS, WRONG),
    # Hot records: groups that are not joined, a section that the owner and others run, records that
    # the owner does not store, and its missing fences.
    "several-join": ("detail/several/hot_records.cuh", "", HOT, WRONG),
    "several-both": ("detail/several/run_several.cuh", "return false;", HOT, WRONG + "|" + STUCK + "|ended by signal"),
    "several-stored": ("detail/several/owner_worker.cuh", "", HOT, WRONG),
    "several-owner-acquire": ("detail/several/owner_worker.cuh", "", HOT, "unordered (sections|load)"),
    "several-owner-release": ("detail/several/owner_worker.cuh", "", HOT, "unordered (sections|load)"),
    "several-owner-lost": ("detail/several/owner_worker.cuh", "", HOT, STUCK),
    # A section that does not see a record of its block; records that are hot for some sections only.
    "several-dealt": ("detail/several/owner_worker.cuh", "if (number / 2 % owner_warps != warp()) continue;", HOT,
                      WRONG + "|" + STUCK + "|ended by signal"),
    "several-copied": ("detail/several/owner_worker.cuh", "", HOT, WRONG),
    "several-hot": ("detail/several/order_kernels.cuh", "if (a.sorted_ids[first + (least - 1)] > row.id + 1) return 0;", HOT, WRONG + "|" + STUCK + "|ended by signal"),
    # A log that is not emptied by its run.
    "several-open": ("detail/several/several_arguments.cuh", "", LOGS, "lost or doubled section|no progress for|limit_error"),
    # An id named twice that is two accesses; a read that stays a read although the id is written, too.
    "several-twice": ("detail/several/access_list.cuh", "", LOOP, STUCK),
    "several-upgrade": ("detail/several/access_list.cuh", "if (slot + 1 == count_) writes_ |= is_write << slot;", LOOP, WRONG),
    "several-slot": ("detail/several/access_list.cuh", "return position;", LOOP, WRONG + "|ended by signal"),
    # In rounds: a section that writes although it aborts, has two copies of one record or another second record.
    "by-rounds-abort": ("detail/several/section_in_rounds.cuh", "return result != outcome::refused;", PAIRS, NO_ORDER),
    "by-rounds-alike": ("detail/several/section_in_rounds.cuh", "if (true) {", PAIRS, NO_ORDER),
    "by-rounds-second": ("detail/several/by_rounds.cuh", "std::uint32_t const second = first;", PAIRS, NO_ORDER),
    # A section whose words are taken for its ids; one that the runner does not find.
    "by-rounds-aside": ("detail/several/section_in_rounds.cuh", "if (s.words_[0] != first) {", PAIRS, NO_ORDER),
    "by-rounds-stored": ("detail/several/section_in_rounds.cuh", "if (false) {", PAIRS, NO_ORDER),
    # A bad id that is not seen; aborts that are not counted; a log that is not emptied.
    "by-rounds-bad": ("detail/several/by_rounds.cuh", "bool const exist = second < run.records;", PAIRS, "lost or doubled section|other result"),
    "by-rounds-count": ("detail/several/several_arguments.cuh", "", PAIRS, "wrong counts"),
    # Sections that ran before the time limit, whose records stay on chip.
    "rounds-stopped": ("detail/pairs/rounds_server.cuh", "if (!alive) return false;", STOPPED, "lost or doubled section"),
    "by-rounds-end": ("detail/several/by_rounds.cuh", "run.end(run.count());", PAIR_LOGS, NO_ORDER + "|limit_error"),
}
