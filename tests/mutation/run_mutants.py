# SPDX-License-Identifier: Apache-2.0
"""Mutants of the kernels of a run; mutants.py says how a row reads."""
from diagnoses import BULK, BULK_FEW, BULK_WORDS, EXCHANGE, LOGS, RACE, RACES_OF_NOOPS, ROWS, ROWS_COMBINE, ROWS_OF_COPIES, SPREAD_TABLES, SPREAD_WRONG, STRAY, TREE_APART, TREE_ASCENDING, WRONG_ROW

RUN_MUTANTS = {
    # Bulk runs: a partial that went to another lane is added again; a lane forgets that two of its rows are for one record;
    # orders of a record's lock; a carry is lost, also by a word of ones; sums are read before all warps have added.
    "bulk-equal": ("detail/bulk/combine_equal.cuh", "", BULK, "lost or doubled section"),
    "bulk-forward": ("detail/bulk/thread_tables.cuh", "old[k] = old[k];", BULK_FEW, "lost or doubled section"),
    "bulk-acquire": ("detail/bulk/block_table.cuh", "", BULK, "unordered load"),
    "bulk-release": ("detail/bulk/block_table.cuh", "", BULK, "unordered load"),
    "bulk-carry": ("detail/bulk/word_table.cuh", "carry = 0;", BULK_WORDS, "wrong sum"),
    "bulk-ones": ("detail/bulk/word_table.cuh", "", BULK_WORDS, "wrong sum"),
    "bulk-added": ("detail/bulk/word_table.cuh", "", BULK_WORDS, "wrong sum|unordered load"),
    # Flat messages that no sort reaches; a kernel that begins before the one before it has ended.
    "most-flat": ("detail/deferred/deferred_kernels.cuh", "", LOGS, "lost or doubled section"),
    # A run whose first block to end opens the log; a last block that does not wait for the accesses of the others.
    "last-block": ("detail/deferred/deferred_kernels.cuh", "is_last = true;", LOGS, "lost or doubled section|sections may have met"),
    "end-release": ("detail/deferred/deferred_kernels.cuh", "", RACES_OF_NOOPS, RACE),
    "end-acquire": ("detail/deferred/deferred_kernels.cuh", "", RACES_OF_NOOPS, RACE),
    "early-run": ("detail/deferred/deferred_kernels.cuh", "", LOGS, "wait_for_previous_kernel"),
    # Rows ahead: the last rows of a batch are followed by its first ones; a section gets the row of another one; a row is loaded
    # twice. Another section than the first runs with the combined rows.
    "row-batch": ("detail/execute/group_segments.cuh", "bool const is_last = false;", ROWS, WRONG_ROW),
    "row-taken": ("detail/execute/group_segments.cuh", "auto const part = ahead.take((j + 1) % rows::count);", ROWS, WRONG_ROW),
    "row-ahead": ("detail/execute/group_segments.cuh", "ahead.start((j + 1) % rows::count, row);", ROWS, WRONG_ROW),
    # Copies of records: a section gets the row of another one, or runs on the copy of another record; a lane stores before another
    # one has loaded; sections run before all are prepared.
    "copy-row": ("detail/execute/copy_segments.cuh", "auto const part = ahead.take((j + 1) % rows::count);", ROWS_OF_COPIES, WRONG_ROW),
    "copy-batch": ("detail/execute/copy_segments.cuh", "", ROWS_OF_COPIES, "lost or doubled section"),
    "copy-store": ("detail/block/section_with_row.cuh", "", ROWS_OF_COPIES, "lost or doubled section"),
    "prepared-barrier": ("detail/execute/copy_segments.cuh", "", ROWS_OF_COPIES, WRONG_ROW),
    "row-first": ("detail/deterministic/unit_runner.cuh", "apply(of.begin, id, all);", ROWS_COMBINE, "another section ran"),
    # Payloads of a batch that the end of a shard cuts; numbers at the places of another batch.
    "apart-cut": ("detail/deferred/batch_write.cuh", "std::uint32_t const slot = b.ranks[i / each];", TREE_APART, "Which is: "),
    "apart-locals": ("detail/deferred/batch_write.cuh", "std::uint32_t const place = i;", TREE_APART, "Which is: |is not below"),
    # Tables of partials: wide partials are left out; only the last one counts; they leave before they are filled; their runs take
    # partitions of the home part; a rank sends one to a rank that expects messages; parts of a split log are those of rank 0.
    "table-wide": ("detail/spread/table_kernels.cuh", "", SPREAD_TABLES, SPREAD_WRONG),
    "table-of-rank": ("detail/spread/table_kernels.cuh", "partial_sum<partial> last; cells[place].add_to(last); if (last.is_present) sum = last;",
                      SPREAD_TABLES, SPREAD_WRONG),
    "tables-early": ("detail/spread/spread_runner.cuh", "", SPREAD_TABLES, SPREAD_WRONG + "|" + STRAY),
    "table-counters": ("detail/spread/spread_runner.cuh", "", SPREAD_TABLES, SPREAD_WRONG + "|" + STRAY),
    "table-agreed": ("detail/spread/spread_runner.cuh", "", EXCHANGE + "no_rank_sends_tables_if_one_cannot", "a rank has filled a table"),
    "split-part": ("detail/spread/spread_runner.cuh", "", SPREAD_TABLES, SPREAD_WRONG),
    "run-acquire": ("detail/execute/run_array.cuh", "", "parts/run_array.what_a_run_wrote_is_visible_to_the_next", "lost update"),
    "run-amid": ("detail/execute/run_array.cuh", "simt::compare_exchange(at_work, 0u, 1u);",
                 "logs/deferred_seeds.runs_that_meet_are_put_off_and_reported", "sections may have met|no seed had runs|lost or doubled section"),
    # Sections whose ids ascend: a lower id is not seen; a tile forgets that its first record began before; a chunk
    # is joined before all of its strips are there; a tile forgets that its last record goes on.
    "ids-descend": ("detail/deterministic/ids_order.cuh", "", TREE_ASCENDING, "Which is: |outside device memory|unordered|overlapping"),
    "ascending-begin": ("detail/deterministic/ascending_run.cuh", "return 0;", TREE_ASCENDING, "Which is: |unordered sections|unordered load"),
    "ascending-strips": ("detail/deterministic/ascending_run.cuh", "", TREE_ASCENDING, "Which is: |used again without a barrier"),
    "ascending-end": ("detail/deterministic/ascending_run.cuh", "return n_;", TREE_ASCENDING, "Which is: |unordered load"),
}
