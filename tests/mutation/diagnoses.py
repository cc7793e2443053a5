# SPDX-License-Identifier: Apache-2.0
"""Names of the tests that find mutants, and the diagnoses that these tests print."""

# An access outside the memory that it is meant for.
STRAY = r"outside device memory|wrote bytes|ended by signal"

# The tests of logs.
HOT = "logs/hot_record_seeds.every_section_runs_once"
LOGS = "logs/deferred_seeds.exactly_as_many_as_fit_run"
BULK = "logs/bulk_seeds.tables_of_blocks_are_as_in_a_loop"
BULK_WORDS = "logs/bulk_seeds.tables_of_words_are_as_in_a_loop"
BULK_FEW = "logs/bulk_seeds.tables_of_threads_and_warps_are_as_in_a_loop"
COMBINED = "logs/deferred_seeds.what_repeats_is_combined"
TABLES = "logs/deferred_seeds.tables_are_sent"
PARTIALS = "logs/deferred_seeds.samples_are_combined_to_partials"
KEYED = "logs/deferred_seeds.sections_with_a_key_combine_within_it"
LATE = "logs/deferred_seeds.what_repeats_late_is_found"
EDGES = "logs/deferred_edges."
ROUNDS = "logs/rounds_seeds.each_section_runs_once"
BETWEEN = "logs/two_arrays_seeds.each_section_runs_once"
ORDER = "logs/deferred_seeds.sections_run_in_order"
TREE = "logs/deterministic_seeds.warps_that_combine_one_record_pass_their_values_on"
TREE_BUCKET = "logs/deterministic_seeds.blocks_sort_a_bucket_together"
TREE_APART = "logs/deterministic_seeds.a_log_that_stores_sections_apart_keeps_their_records"
TREE_ASCENDING = "logs/deterministic_seeds.records_go_on_in_the_next_tile"
GROUPS_BY_RUNS = "logs/lanes_seeds.each_section_runs_once_by_runs"
GROUPS_BY_LOCKS = "logs/lanes_seeds.each_section_runs_once_by_locks"
ROWS = "logs/rows_seeds.each_section_gets_its_row"
ROWS_COMBINE = "logs/rows_seeds.rows_of_one_record_combine"
ROWS_OF_COPIES = "logs/rows_seeds.copies_of_records_follow_their_sections"
WRONG_ROW = "wrong row on record"
ASKED = "logs/lanes_seeds.sections_are_asked"
HALF_DONE = "(overlapping|unordered) sections|lost or doubled section|another section half done"
# Those that are compiled for the race detector. All of these mutants break accesses to plain memory.
RACE = "data race: "
RACES_OF_GROUPS = "races/lanes_seeds.sections_are_asked"
RACES_OF_NOOPS = "races/noops_seeds.are_checked_between_sections"
RACES_OF_ROUNDS = "races/rounds_seeds.each_section_runs_once"
RACES_OF_BUFFERS = "races/seeds.random_schedules_one_half"
# Those of records that are spread over ranks.
SPREAD = "spreads/spread_seeds.each_section_runs_once"
SPREAD_TABLES = "spreads/spread_seeds.each_section_that_combines_runs_once"
SPREAD_ORDER = "spreads/spread_seeds.sections_run_in_order"
EXCHANGE = "spreads/spread_exchange."
SPREAD_WRONG = "lost or doubled section|sections were lost"
# The tests of the hash table.
STATIC = "tables/static_table_seeds.finds_each_key_once"
COUNTED = "tables/hash_table_seeds.counts_without_exclusion_on_chip"
BY_OWNERS = "tables/every_executor/0.under_many_schedules"
# Those of allocation.
ONE_CALL = "places/allocation.by_one_call_under_many_schedules"
SHARED_TILES = "places/allocation.of_many_shares_and_long_tiles_under_many_schedules"
FAR_BACK = "places/allocation.looks_far_back"
ANNOUNCED = "places/in_kernels.tiles_add_up_what_was_announced"
UNCLAIMED = "places/in_kernels.a_tile_without_an_allocation_takes_no_places"
# That of the applications' barrier.
GRID = "grids/grid_barrier_seeds.parts_rounds"
INBOXES = "grids/grid_barrier_seeds.inboxes_lose_nothing"
# That of matrix factorization.
FACTORS = "factors/matrix_factorization_seeds.each_step_is_made_once"
# Those of maximum flows.
# Arcs that lead down by more than one, or vertices that were overlooked.
SOME = "Which is: [1-9]"
HEIGHTS = "flows/max_flow/arms.keep_heights_below_distances/warden_regions"
# Those of breadth-first search by owner.
OWNERS = "owners/breadth_first_owner_seeds.find_levels"
TURNS = "owners/breadth_first_owner_seeds.change_direction"
WRONG_PARENTS = "vertices whose parent is not one level below"
WRONG_LEVELS = "levels are not those of the reference"
# The tests of shortest paths.
PATHS = "paths/shortest_paths_seeds/schedules.find_distances/"
PATHS_WRONG = r"arcs shorten a distance|arcs lead to unreached vertices|vertices whose parents do not lead|Dijkstra"
WORKLIST = PATHS + "decoupled"
ONE_VERTEX = "paths/shortest_paths_seeds.one_vertex_at_a_time"
WORKLIST_WRONG = PATHS_WRONG + r"|no end after|no progress|outside device memory|worklist_worker"
# Those of transactions, and what the replay in a serial order says.
TRANSACT = "transacts/transactions_seeds/transaction_arms.run_in_a_serial_order_under_many_schedules/"
TPCC = "transacts/transactions_seeds/tpcc_arms.run_in_a_serial_order_under_many_schedules/"
NOT_SERIAL = "(in|of) a serial order|have one serial number"
UNPARTED = r"Which is: \{ [1-9]\d*, 0 \}"
# The tests of copies to shared memory.
COPIED_STAGES = "copies/bulk_copies_seeds.rows_of_stages_come_by_copies"
PARTS_BY_THREADS = "copies/bulk_copies_seeds.parts_come_by_threads"
STAGES_BY_THREADS = "copies/bulk_copies_seeds.rows_of_stages_come_by_threads"
COPIED_GROUPS = "copies/bulk_copies_seeds.rows_of_groups_come_by_copies"
GROUPS_BY_THREADS = "copies/bulk_copies_seeds.rows_of_groups_come_by_threads"
COPIED_HALVES = "copies/bulk_copies_seeds.halves_of_rows_come"
WRONG_ROWS = "wrong words in copied rows|a wait for phase|more than the 1 arrivals|is under way; wait"
MISPLACED = r"== wanted|Which is: \d+|elements were emitted|" + STRAY
STATIC_WRONG = "with a wrong answer|t.size\\(\\)"
TABLE_WRONG = "lost or doubled operation|stands in the table twice"
