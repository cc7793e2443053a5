# SPDX-License-Identifier: Apache-2.0
"""Mutants of the applications; mutants.py says how a row reads."""
from diagnoses import (BY_OWNERS, COUNTED, FACTORS, GRID, HALF_DONE, HEIGHTS, INBOXES, NOT_SERIAL, ONE_VERTEX, OWNERS, PATHS, PATHS_WRONG, SOME, STATIC,
                       STATIC_WRONG, STRAY, TABLE_WRONG, TPCC, TRANSACT, TURNS, UNPARTED, WORKLIST, WORKLIST_WRONG, WRONG_LEVELS, WRONG_PARENTS)

APP_MUTANTS = {
    # The hash table: two threads take one slot; one of two bits set at once is lost; a key after a
    # gap is stored twice, because the look or the word that announces the gap is missing; nodes
    # that others linked in between are not looked at, or may not be visible yet; the chain after a
    # node is lost; buckets are written back while other warps still count in them; a thread's first
    # message runs in place of the others.
    "slot-race": ("apps/hash_table/without_exclusion.cuh",
                  "word const there = simt::shared_load(b_.entries.key(s).bits);"
                  "if (there == 0) simt::shared_store(b_.entries.key(s).bits, bits_);", COUNTED, TABLE_WRONG),
    "slot-used": ("apps/hash_table/without_exclusion.cuh",
                  "if (made) simt::shared_store(b_.used, simt::shared_load(b_.used) | 1u << s);", COUNTED, TABLE_WRONG),
    "slot-gaps": ("apps/hash_table/without_exclusion.cuh", "there = take(found, made);", COUNTED, TABLE_WRONG),
    "gap-unmarked": ("apps/hash_table/context.cuh", "b.used = b.used & ~(1u << place.slot);", COUNTED, TABLE_WRONG),
    "node-again": ("apps/hash_table/without_exclusion.cuh", "searched_to = found;", COUNTED, TABLE_WRONG),
    "node-acquire": ("apps/hash_table/without_exclusion.cuh", "", COUNTED, "unordered load"),
    "node-rest": ("apps/hash_table/context.cuh", "*link = 0;", BY_OWNERS, TABLE_WRONG),
    # The static table: two entries take one slot; a repeated key keeps a later value; entries are evicted
    # while others still look for their keys.
    "static-slot": ("apps/hash_table/static_build.cuh", "simt::shared_store(place, e);", STATIC, STATIC_WRONG),
    "static-first": ("apps/hash_table/static_build.cuh", "", STATIC, STATIC_WRONG),
    "static-stash": ("apps/hash_table/static_build.cuh", "", STATIC, STATIC_WRONG),
    # The barrier of a grid.
    "grid-release": ("apps/support/grid_barrier.cuh", "", GRID, UNPARTED),
    "grid-acquire": ("apps/support/grid_barrier.cuh", "", GRID, UNPARTED),
    "grid-block": ("apps/support/grid_barrier.cuh", "", GRID, UNPARTED),
    "grid-early": ("apps/support/grid_barrier.cuh", "std::uint64_t const all = (std::uint64_t{passed_} + 1) * simt::block_count() - 1;", GRID, UNPARTED),
    # Inboxes of blocks that meet there: of the wrong turn, taken twice, or over their end.
    "inbox-turn": ("apps/support/inboxes.cuh", "std::uint64_t const of = index(turn, box);", INBOXES, "wrong box|to_host|times"),
    "inbox-emptied": ("apps/support/inboxes.cuh", "(void)of;", INBOXES, "wrong box|to_host|times"),
    "inbox-full": ("apps/support/inboxes.cuh", "", INBOXES, "wrong box|to_host|times|" + STRAY),
    # Rounds of matrix factorization.
    "factor-part-acquire": ("apps/matrix_factorization/rounds.cuh", "return simt::load_relaxed(turns);", FACTORS, HALF_DONE),
    "factor-part-release": ("apps/matrix_factorization/rounds.cuh", "", FACTORS, HALF_DONE),
    "factor-row-acquire": ("apps/matrix_factorization/pair_worker.cuh", "", FACTORS, HALF_DONE),
    "factor-row-release": ("apps/matrix_factorization/pair_worker.cuh", "", FACTORS, HALF_DONE),
    "factor-turn-early": ("apps/matrix_factorization/rounds_arguments.cuh", "if (look() + 1 >= wanted.turn) return true;", FACTORS,
                          HALF_DONE),
    # Ratings that need not wait, of which there are more than the plan says; ratings that other
    # lanes have not stored yet.
    "factor-free": ("apps/matrix_factorization/pair_worker.cuh", "std::uint32_t const free = (o.run_end - o.begin) / most * most;", FACTORS,
                    HALF_DONE),
    "factor-window": ("apps/matrix_factorization/pair_worker.cuh", "", FACTORS, HALF_DONE + "|outside a shared span|" + STRAY),
    # Regions of maximum flows: neighbours in other regions are not seen, a vertex with flow left
    # rises again, heights of two steps differ, a waiting vertex is forgotten.
    "flow-borders": ("apps/max_flow/region_iterations.cuh", "unsigned const bits = 0;", HEIGHTS, SOME),
    "flow-risen": ("apps/max_flow/region.cuh", "return height + 2;", HEIGHTS, SOME),
    "flow-heights": ("apps/max_flow/region.cuh", "", HEIGHTS, SOME),
    "flow-waiting": ("apps/max_flow/region.cuh", "", HEIGHTS, SOME),
    # A region's turn begins while others are at the one before.
    "flow-turns": ("apps/max_flow/region_iterations.cuh", "", HEIGHTS, "wait at a barrier|" + SOME),
    # Their iterations: a late one sees an inbox that was full in the next one; levels are counted from a height in between.
    "flow-full": ("apps/max_flow/region_iterations.cuh", "bool const is_full = full_in != 0;",
                  "flows/max_flow_seeds/many_schedules.find_flows/warden_regions", "wait at a barrier"),
    "flow-levels": ("apps/max_flow/region.cuh", "if (height != before) {", HEIGHTS, SOME),
    # Searches that end early.
    "flow-farther": ("apps/max_flow/relabel.cuh", "std::uint32_t const farther = last_level + 2;", HEIGHTS, SOME),
    # Only one of a warp's long rows is looked at.
    "flow-rows": ("apps/max_flow/search.cuh", "left = 0;", "flows/max_flow_seeds.reach_through_long_rows",
                  "the cut has capacity|overlooked"),
    "flow-found": ("apps/max_flow/narrow_search.cuh", "", "flows/max_flow.sections_make_the_iterations_of_a_loop", "facts.levels"),
    "flow-goes-on": ("apps/max_flow/discharge.cuh", "", "flows/max_flow/arms.push_along_very_many_edges/warden_regions",
                     "overlooked|a flow of|does not end"),
    # Searches by owner: other ranks' bits are lost, or their vertices' parents: of hubs, from the wrong place or rank, and of vertices whose
    # owner looks; sums keep what older levels added; a frontier is not queued.
    "owner-hub": ("apps/breadth_first/owner_level.cuh", "std::uint64_t const slot = std::uint64_t{s_.rank} * s_.hubs + at;", OWNERS, WRONG_PARENTS),
    "owner-sender": ("apps/breadth_first/owner_merge.cuh", "bool const has_found = true;", OWNERS, WRONG_PARENTS),
    "owner-searched": ("apps/breadth_first/owner_merge.cuh", "bool const is_searched = false;", OWNERS, WRONG_PARENTS),
    "owner-bits": ("apps/breadth_first/owner_merge.cuh", "std::uint32_t const bits = r == 0 ? s_.bitmap_of(0)[w] : 0;", OWNERS, WRONG_LEVELS),
    "owner-parent": ("apps/breadth_first/owner_merge.cuh", "bool const is_others = false;", OWNERS, WRONG_PARENTS),
    "owner-sums": ("apps/breadth_first/owner_level.cuh", "", OWNERS, "outside device memory"),
    "owner-queue": ("apps/breadth_first/owner_progress.cuh", "if (goes_down(now, s)) now.kind = owner_step::down;", TURNS, WRONG_LEVELS),
    # Shortest paths: of two improvements the later one is lost; a vertex that is queued for this step counts as queued for the
    # next; the vertices that a block kept are forgotten; a vertex of a later bucket does not come into an earlier one; a bucket is passed over; a count is cleared
    # while a late block reads it.
    "path-atomic": ("apps/shortest_paths/search.cuh",
                    "Distance const before = simt::load_relaxed(&s_.distances[v]); simt::store_relaxed(&s_.distances[v], to); return before;",
                    PATHS + "bellman_ford", PATHS_WRONG),
    "path-marks": ("apps/shortest_paths/search.cuh", "return simt::exchange(&s_.marks[v], next) + 1 < next;", PATHS + "bellman_ford", PATHS_WRONG),
    "path-rest": ("apps/shortest_paths/search.cuh", "", PATHS + "bellman_ford", PATHS_WRONG),
    "path-lowest": ("apps/shortest_paths/search.cuh", "if (before != unreached<Distance>) return;", PATHS + "delta_stepping", PATHS_WRONG),
    "path-closed": ("apps/shortest_paths/progress.cuh", "if (entries <= 1) continue;", PATHS + "delta_stepping", PATHS_WRONG),
    "path-late": ("apps/shortest_paths/search.cuh", "std::uint32_t const third = now().step % 3;", PATHS + "near_far",
                  PATHS_WRONG + "|wait at a barrier|waited|outside device memory"),
    # The decoupled worklist: a segment's count is read after the reserved entries; a bucket's reserved entries are read before the entries
    # of another bucket that are done; a segment's count need not equal its reserved entries; entries are counted before other threads have
    # written them; a worker reports entries before other blocks see what it found; entries are given to
    # another worker than the idle one; a segment that is not full counts as full; lanes read entries of the table that other lanes may not have written.
    "worklist-written": ("apps/shortest_paths/worklist_manager.cuh", "", WORKLIST, WORKLIST_WRONG),
    "worklist-end": ("apps/shortest_paths/worklist_manager.cuh", "", ONE_VERTEX, WORKLIST_WRONG),
    "worklist-partly": ("apps/shortest_paths/worklist_manager.cuh", "bool const is_all = begin + written <= reserved_;", WORKLIST, WORKLIST_WRONG),
    "worklist-publish": ("apps/shortest_paths/worklist_worker.cuh", "", WORKLIST, WORKLIST_WRONG),
    "worklist-done": ("apps/shortest_paths/worklist_worker.cuh", "", ONE_VERTEX, WORKLIST_WRONG),
    "worklist-assign": ("apps/shortest_paths/worklist_manager.cuh",
                        "simt::store_release(&s_.assigned[w ^ 1u], word);", WORKLIST, WORKLIST_WRONG),
    "worklist-full": ("apps/shortest_paths/worklist_manager.cuh", "number += last + 1;", WORKLIST, WORKLIST_WRONG),
    "worklist-table": ("apps/shortest_paths/worklist_manager.cuh", "", WORKLIST, WORKLIST_WRONG),
    # Transactions. By locks: a reader takes no notice of a writer; a lock is given back before the rows are visible. Optimistically: the
    # version of a row that was only read is not checked; a writer does not raise it; the write of the first operation is lost.
    "transact-lock": ("apps/transactions/locks.cuh", "std::uint32_t const before = simt::fetch_add(word_, 1u) & wanted;", TRANSACT + "locks",
                      NOT_SERIAL + "|(overlapping|unordered) sections|unordered load"),
    "transact-release": ("apps/transactions/locks.cuh", "", TRANSACT + "locks", "unordered (sections|load)"),
    "transact-version": ("apps/transactions/optimistic.cuh", "std::uint32_t const now = seen_[s];", TRANSACT + "optimistic", NOT_SERIAL),
    "transact-raise": ("apps/transactions/optimistic.cuh", "std::uint32_t const next = seen_[s] & ~locked;", TRANSACT + "optimistic", NOT_SERIAL),
    "transact-write": ("apps/transactions/attempts.cuh", "if (k != 0) simt::store_relaxed(&words[w], word);", TRANSACT + "optimistic", NOT_SERIAL),
    # By times: rows may be those of a later time than the times that were read; a writer's time is not above those of readers; a value counts
    # as valid although another one has taken its place, or although a writer has the lock.
    "tictoc-look": ("apps/transactions/tictoc.cuh", "std::uint64_t const now = seen[s];", TRANSACT + "tictoc", NOT_SERIAL),
    "tictoc-time": ("apps/transactions/tictoc.cuh", "std::uint64_t const last = of.written() + rows.writes(s);", TRANSACT + "tictoc", NOT_SERIAL),
    "tictoc-keep": ("apps/transactions/tictoc.cuh", "", TRANSACT + "tictoc", NOT_SERIAL),
    "tictoc-locked": ("apps/transactions/tictoc.cuh", "", TRANSACT + "tictoc", NOT_SERIAL + "|(overlapping|unordered) sections"),
    # TPC-C: records may be those before the locks; an item that an order names twice is two records; a column is not written.
    "tpcc-acquire": ("apps/transactions/tpcc/concurrent.cuh", "", TPCC + "locks", "unordered (sections|load)"),
    "tpcc-slot": ("apps/transactions/tpcc/concurrent.cuh", "unsigned const slot = k;", TPCC + "optimistic", NOT_SERIAL + "|" + STRAY),
    "tpcc-store": ("apps/transactions/tpcc/concurrent.cuh", "", TPCC + "optimistic", NOT_SERIAL),
}
