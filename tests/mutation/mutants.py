# SPDX-License-Identifier: Apache-2.0
"""Table of mutants: the line that each one breaks, and the diagnosis that finds it."""
from allocation_mutants import ALLOCATION_MUTANTS
from app_mutants import APP_MUTANTS
from copy_mutants import COPY_MUTANTS
from diagnoses import (ASKED, BETWEEN, COMBINED, COUNTED, EDGES, EXCHANGE, GROUPS_BY_LOCKS, GROUPS_BY_RUNS,
                       HALF_DONE, HOT, KEYED, LATE, LOGS, ORDER, PARTIALS, RACE, RACES_OF_BUFFERS, RACES_OF_GROUPS,
                       RACES_OF_NOOPS, RACES_OF_ROUNDS, ROUNDS, SPREAD, SPREAD_ORDER, SPREAD_WRONG, STRAY, TABLES,
                       TABLE_WRONG, TREE, TREE_BUCKET)
from queue_mutants import QUEUE_MUTANTS
from run_mutants import RUN_MUTANTS
from several_mutants import SEVERAL_MUTANTS

# name: (file, what the marked statement becomes, test, diagnosis that must appear). A file is in include/warden, or in the apps
# that are listed below. A test is a scenario of tests/mutation/scenarios.cpp, or PROGRAM/NAME; of the programs listed below a
# GoogleTest. Two mutants of one mark are MARK.ONE and MARK.OTHER.
APPS = ["apps/hash_table", "apps/support", "apps/matrix_factorization", "apps/max_flow", "apps/breadth_first", "apps/shortest_paths",
        "apps/transactions"]
GOOGLE_TESTS = ["parts", "logs", "races", "spreads", "tables", "places", "tasks", "grids", "factors", "flows", "owners", "paths", "copies",
                "transacts"]
MUTANTS = {
    "lock": ("detail/block/lock_table.cuh", "bool const taken = true;", "contended", "(overlapping|unordered) sections"),
    "first-phase": ("detail/fused/message.cuh", "bool const first = true;", "torn", "torn or lost message"),
    "second-phase": ("detail/fused/message.cuh", "bool const second = true;", "torn", "torn or lost message"),
    "credit": ("detail/fused/channel.cuh", "return count;", "full", "torn or lost message|deadlock"),
    "release-order": ("detail/fused/slice_tracker.cuh", "int const count = done == 0 ? 0 : 32 - __builtin_clz(done);", "full",
                      "torn or lost message|deadlock"),
    # Even blocks wait on the spot for one channel, odd ones for the other, with messages in hand.
    "hold-and-wait": ("detail/fused/sorted_outbox.cuh",
                      "if (place >= end[j] && target[j] % 2 == simt::block_rank() % 2) continue;"
                      "if (place >= end[j] && !ref_.wait_for_credit(target[j], base[j] + place)) return false;", "crossed", "deadlock"),
    "end-of-work": ("detail/fused/termination_detector.cuh", "bool const done = true;", "contended", "deadlock|torn or lost message"),
    "run-forward": ("detail/execute/owner_segment.cuh", "", "many_records", "torn or lost message"),
    "run-owner": ("detail/execute/sorted.cuh", "return (m.local() / 2 + simt::thread_rank() % 2) & (threads - 1);", "many_records",
                  "(overlapping|unordered) sections|torn or lost message"),
    "window-twice": ("detail/fused/window_reader.cuh", "", "many_records", "torn or lost message"),
    "window-release": ("detail/fused/window_server.cuh", "reader.release(reader.ahead());", "many_records",
                       "torn or lost message|deadlock|misuse"),
    # Bits before the messages; bits that are flipped by a load and a store; a sequence tag equal to
    # the previous one.
    "ready-fence": ("detail/fused/paper/bitmask_channel.cuh", "", "led", "torn or lost message"),
    "ready-turn": ("detail/fused/paper/bitmask_channel.cuh",
                   "if (bits != 0) simt::store_relaxed(ready_word(number), ready(number) ^ bits);", "led",
                   "deadlock|torn or lost message"),
    "polarity": ("detail/fused/paper/bitmask_channel.cuh", "bool const is_odd = true;", "led", "deadlock|torn or lost message"),
    "leader-handed": ("detail/fused/paper/leader_server.cuh", "", "led", "torn or lost message|deadlock"),
    # A slice is given back when the first of its followers is done.
    "leader-done": ("detail/fused/paper/leader_server.cuh", "simt::shared_fetch_add(executed, count);", "led",
                    "torn or lost message|deadlock"),
    "assignment": ("detail/fused/paper/leader_server.cuh", "return true;", "led", "torn or lost message|deadlock"),
    "buffer-reuse": ("detail/fused/buffered_outbox.cuh", "", "buffered", "torn or lost message|outside a shared span"),
    "buffer-full": ("detail/fused/buffered_outbox.cuh", "", "appended", "deadlock"),
    "write-back": ("detail/execute/record_store.cuh", "", "on_chip", "torn or lost message"),
    "combine-neighbour": ("detail/block/combine.cuh", "", "combined", "torn or lost message"),
    "combine-across": ("detail/block/combine.cuh", "", "combined", "torn or lost message"),
    # A scan that does not know where runs begin.
    "combine-starts": ("detail/block/combine.cuh", "last.starts = !goes_on;", "combined", "torn or lost message"),
    "batch-absorbed": ("detail/fused/sorted_outbox.cuh", "", "combined", "torn or lost message"),
    "window-absorbed": ("detail/execute/window_slots.cuh", "", "combined_windows", "torn or lost message"),
    "release-fence": ("detail/fused/sorted_outbox.cuh", "", "visible", "stale read"),
    "send-fence": ("detail/fused/guarded_ref.cuh", "", "visible_by_thread", "stale read"),
    # The answer of a dropped call lands in the slot of a later one.
    "answer-reuse": ("detail/fused/future.cuh", "if (false) {", "calls/called", "stranger's answer|deadlock"),
    "answer-generation": ("detail/fused/answer_slots.cuh", "return load_message<marks>(m, flit_at, from.generation()), true;", "calls/called", "stranger's answer"),
    "answer-release": ("detail/execute/section_runner.cuh", "", "calls/called_visible", "stale read"),
    # Answered before the record is written; a future that is assigned over keeps its call's place.
    "answer-record": ("detail/execute/owner_segment.cuh", "", "calls/called_record", "stale read"),
    "answer-dropped": ("detail/fused/future.cuh", "", "calls/called_over", "calls were not sent"),
    # A section on two records under the lock of one of them; on a record that another server owns.
    "second-lock": ("detail/block/lock_table.cuh", "bool const taken = true;", "pairs/paired", "(overlapping|unordered) sections"),
    "apart": ("detail/fused/guarded_ref.cuh", "return true;", "pairs/apart", "another server|" + STRAY),
    "pair-fence": ("detail/execute/locks.cuh", "", "pairs/paired_visible", "unordered sections|torn or lost message"),
    # Messages are received without credits; sent on beyond the first without one.
    "forward-admitted": ("detail/fused/forwarding_server.cuh", "std::uint64_t const admitted = ~0ull;", "sends/forwarded", "torn or lost message|deadlock"),
    "forward-credit": ("detail/fused/forward_window.cuh", "", "sends/forked", "torn or lost message|deadlock"),
    "forward-fence": ("detail/fused/forward_window.cuh", "", "sends/visible", "stale read"),
    "forward-drained": ("detail/fused/termination_detector.cuh", "", "sends/ended", "torn or lost message|deadlock"),
    "forward-end": ("detail/fused/termination_detector.cuh", "return true;", "sends/ended", "torn or lost message|deadlock"),
    # As many credits as slots: none are left for messages received after a missing index.
    "forward-ahead": ("detail/fused/forward_memory.cuh", "rings.credits = capacity / Ref::max_sends;", "sends/forwarded",
                      "torn or lost message|deadlock"),
    # One index more than was admitted.
    "forward-below": ("detail/fused/window_reader.cuh", "return receive(m, ~0u, [&](std::uint64_t i) { return i <= end; });", "sends/forwarded",
                      "torn or lost message|deadlock"),
    # Sections on two records: locked in the order in which they are named, or of their ids.
    "lock-order.named": ("detail/fused/guarded_ref.cuh", "", "sends/pair_messages", "deadlock"),
    "lock-order.id": ("detail/fused/guarded_ref.cuh", "if (good) swapped = a < b;", "sends/pair_messages", "deadlock"),
    "unlock": ("detail/fused/pair_messages_run.cuh", "", "sends/pair_messages", "deadlock"),
    "handler-waits": ("detail/fused/pair_messages_run.cuh",
                      "if (!ref_.wait_until([&] { return !locks_.is_locked(lock); }, [](auto) {}, wait_kind::lock, number_, lock))"
                      "return 0;", "sends/pair_messages", "deadlock"),
    # The first message of all stays first in its lock's queue.
    "resumed-twice": ("detail/fused/lock_queues.cuh", "static bool resumed = false; if (resumed) q.first = messages()[place].next; resumed = true;",
                      "sends/pair_messages", "torn or lost message|not conserved|deadlock"),
    # Servers whose warps work by themselves: credits are counted but not waited for; a ring is read without a bound.
    "pair-credit": ("detail/fused/pair_messages_server.cuh",
                     "if (serves_clients && present != 0 && simt::lane_id() == 0)"
                     "ref_.rings.take_beyond(static_cast<std::uint32_t>(simt::count_bits(present)));", "sends/many_pair_messages",
                     "torn or lost message|not conserved|deadlock|misuse"),
    "ring-bound": ("detail/fused/pair_messages_server.cuh", "return true;", "sends/many_pair_messages", "torn or lost message|not conserved|deadlock"),
    # Sections of the previous launch run again.
    "rerun": ("detail/fused/slice_reader.cuh", "executed_{0} {}", "sends/pair_messages_visible", "torn or lost message|not conserved|deadlock"),
    # A lane forgets the other lanes that wait for the lock.
    "pair-more": ("detail/fused/pair_messages_run.cuh", "return false;", "sends/pair_messages", "deadlock"),
    "pair-message-fence": ("detail/fused/pair_messages.cuh", "", "sends/pair_messages_visible", "stale read|unordered sections"),
    # A thread that waits for a lock goes on without it once the launch is poisoned.
    "pair-poisoned": ("detail/fused/pair_messages.cuh", "if (!alive) break;", "sends/poisoned", "(overlapping|unordered) sections"),
    # A slot of a bit-mask's channel is written before it was seen to be released.
    "slot-acquire": ("detail/fused/paper/bitmask_channel.cuh", "", "led", "torn or lost message|deadlock"),
    # Two warps take the same places; a thread keeps the place it has filled.
    "place-race": ("detail/block/slot_free_list.cuh", "won = (simt::shared_exchange(counts_[0].taken, first + count), true);", "sends/waiting",
                   "(overlapping|unordered) sections|torn or lost message|not conserved|deadlock|steps"),
    "place-twice": ("detail/fused/pair_messages_run.cuh", "", "sends/waiting", "(overlapping|unordered) sections|torn or lost message|not conserved|deadlock|steps"),
    # Each launch leaves fewer places to the next one.
    "place-kept": ("detail/fused/pair_messages_run.cuh", "", "sends/relaunched", "steps"),
    # A warp that keeps its credits at rest; that loses some when it is asked for too many; that is emptied in two steps.
    "credits-rest": ("detail/fused/pair_messages_server.cuh", "", "sends/pair_messages", "deadlock"),
    "credits-put-back": ("detail/fused/warp_credits.cuh", "", "sends/pair_messages", "deadlock"),
    "credits-empty": ("detail/fused/warp_credits.cuh", "std::int32_t const found = all; simt::shared_store(stock_[0], 0);",
                    "sends/many_pair_messages", "torn or lost message|not conserved|deadlock"),
    "forward-drained.pair_messages": ("detail/fused/termination_detector.cuh", "", "sends/few_pair_messages", "torn or lost message|not conserved|deadlock"),
    "forward-end.pair_messages": ("detail/fused/termination_detector.cuh", "return true;", "sends/few_pair_messages", "torn or lost message|not conserved|deadlock"),
    "write-back-barrier": ("detail/execute/record_store.cuh", "", "on_chip_by_locks", "unordered sections|torn or lost message"),
    "receive-fence": ("detail/fused/window_server.cuh", "", "visible_by_runs", "stale read"),
    "place-fence": ("detail/block/slot_free_list.cuh", "", "parts/slot_free_list.lasts_for_thousands_of_tickets", "deadlock"),
    "done-fence": ("detail/fused/fused_kernel.cuh", "", "many_servers", "deadlock|torn or lost message"),
    "scan-again": ("detail/fused/sorted_outbox.cuh", "", "many_servers", "storage is used again"),
    "lane-fence": ("detail/fused/lane_sender.cuh", "", "sends/pair_messages_chain", "stale read"),
    # Launches that share guarded arrays: the first one's word alone is looked at; the others are told nothing, or, by
    # blocks that start late, that it was an earlier launch; a launch forgets what was not reported, or never forgets.
    "health-start": ("detail/fused/launch_control.cuh", "if (healthy(0)) failed = member_count;", "launches/shared", "lost failure|wrong cause|lost message"),
    "health-partner": ("detail/fused/launch_control.cuh", "", "launches/shared", "lost failure|wrong cause"),
    "health-stopped": ("detail/fused/launch_control.cuh", "", "launches/shared", "wrong cause"),
    "health-kept": ("detail/fused/launch_plan.cuh", "runtime::fill_async(launch.control, 0, sizeof(launch_control), s, in_.where);", "launches/shared",
                    "lost failure|wrong cause"),
    "health-cleared": ("guarded.cuh", "", "launches/shared", "an unexpected failure"),
    "last-launch": ("guarded.cuh", "", "launches/shared", "lost failure|wrong cause|lost message"),
    # A message of which the last lane is there; what is appended before all have left a flush.
    "receive-last": ("detail/fused/message.cuh", "whole = Flit::is_of(m.flits[l], sequence);", "torn", "torn or lost message"),
    "flush-end": ("detail/fused/sorted_outbox.cuh", "", "append_flushed", "torn or lost message"),
    # A change between the look and the wait.
    "change-seen": ("detail/fused/buffered_outbox.cuh",
                    "bool const stopped = simt::lane_id() == lane && !wait_for_change(simt::shared_load(changes_[0]));",
                    "appended", "deadlock"),
    # The next window's word is cleared, when other warps may be there already.
    "window-word": ("detail/fused/window_minimum.cuh", "simt::shared_store(words[turn == 2 ? 0 : turn + 1], ~0u);",
                    "fused/atomics", "torn or lost message|deadlock|misuse"),
    "slice-scope": ("detail/fused/slice_server.cuh", "if constexpr (Ref::fences) simt::fence_block();", "visible", "stale read"),
    # An older number of reservations in a ring: the next launch begins before the end of this one.
    "finish-latest": ("detail/fused/slice_tracker.cuh",
                      "simt::store_relaxed(&channel_.indices()->released.value,"
                      "simt::load_relaxed(&channel_.indices()->reserved.value));", "sends/relaunched", "(overlapping|unordered) sections|torn or lost message|deadlock"),
    # The next slice in the place of one that has not been released; an assignment that not all
    # lanes have read.
    "leader-place": ("detail/fused/paper/leader_server.cuh", "return number <= next_release_ + slices();", "led_within", "torn or lost message|deadlock"),
    "leader-read": ("detail/fused/paper/leader_server.cuh", "", "followed", "torn or lost message|deadlock"),
    "lanes-release": ("detail/execute/locks.cuh", "", "contended", "unordered sections|torn or lost message"),
    # One lock of two records is freed twice.
    "unlock-twice": ("detail/block/lock_table.cuh", "unlock(b);", "pairs/paired_one_lock", "(overlapping|unordered) sections|torn or lost message"),
    "combine-ranked": ("detail/execute/sorted.cuh", "", "combined_windows", "(overlapping|unordered) sections|torn or lost message"),
    "answer-acquire": ("detail/fused/future.cuh", "", "calls/called_visible", "stale read"),
    "drain-acquire": ("detail/fused/termination_detector.cuh", "", "sends/ended", "torn or lost message|deadlock"),
    # Credits for indices that ran before they were admitted.
    "stock-admitted": ("detail/fused/block_credits.cuh", "", "sends/forwarded", "torn or lost message|deadlock"),
    # Numbers of free places that no server has put there; after an error, credits and messages of
    # the failed launch.
    "pool-reset": ("detail/fused/forward_memory.cuh", "", "sends/few_pair_messages", "deadlock"),
    "launch-before-log": ("detail/execute/shared_state.cuh", "", "logs/errors_seeds.the_first_log_comes_after_all_launches", "a log was made during a launch"),
    "last-stream": ("detail/execute/shared_state.cuh", "", "logs/errors_seeds.a_wait_is_for_all_streams", "without an error"),
    "rings-kept": ("detail/fused/fused_state.cuh", "", "sends/poisoned", "torn or lost message|deadlock"),
    "queue-last": ("detail/fused/lock_queues.cuh", "", "sends/pair_messages", "torn or lost message|not conserved|deadlock"),
    # A block that has served one guarded array also serves the next one, in addition to its server.
    "serves-twice": ("detail/fused/fused_kernel.cuh", "if (number >= servers) number -= servers;", "fused/two_arrays",
                     "(overlapping|unordered) sections|torn or lost message|deadlock"),
    # Messages that move in the rings do not count as progress.
    "progress-rings": ("detail/fused/fused_state.cuh",
                       "launch.groups[launch.group_count++] = {group.memory->indices.data(), group.credits == 0 ? group.servers : 0};",
                       "sends/slow_chain", "no progress"),
    # The second record comes first.
    "pair-turned": ("detail/fused/pair_messages_run.cuh", "set_partner(passed, {ref_.owners.id({number_, local}), other.is_first});", "sends/pair_messages",
                    "torn or lost message"),
    # Logs: a cut one too long; flat messages of a full shard are not noted; both ends at one place;
    # not closed, or not emptied.
    "log-cut": ("detail/deferred/section_log.cuh", "std::uint32_t const taken = count < left ? count : left - (left != 0);", LOGS, "lost or doubled section"),
    "log-end": ("detail/deferred/section_log.cuh", "", LOGS, "lost or doubled section"),
    "log-ends": ("detail/deferred/section_log.cuh", "std::uint32_t const first = begin + batches;", LOGS, "lost or doubled section"),
    "log-close": ("detail/deferred/section_log.cuh", "std::uint64_t const taken = simt::load_relaxed(&shards[shard].taken);",
                  "logs/deferred_seeds.what_is_sent_while_the_log_is_run_is_refused_or_runs_later", "lost or doubled section"),
    # A log's word for "full" and a shard's counters after very many refusals; a message that reaches over a shard's end; rows that
    # fill the window of a warp; the storage of a block client that other threads still read.
    "log-full-cycle": ("detail/deferred/section_log.cuh", "simt::store_relaxed(&control->full, simt::load_relaxed(&control->cycle) + 1);",
                       EDGES + "an_emptied_log_is_not_full_because_a_late_sender_found_it_full", "lost section"),
    "log-overflow": ("detail/deferred/section_log.cuh", "", EDGES + "a_full_shard_stays_full_after_more_than_32_bits_of_refusals",
                     "lost or doubled section"),
    "log-wide-end": ("detail/deferred/section_log.cuh", "return {first, taken / Width};",
                     EDGES + "a_log_of_n_takes_n_where_a_partial_reaches_over_the_end_of_a_shard", "lost or doubled section"),
    "window-filled": ("detail/deferred/segment_reader.cuh", "if (filled >= most) {", EDGES + "rows_that_fill_windows_exactly_are_followed_by_others",
                      "lost or doubled section"),
    "storage-barrier": ("detail/deferred/batch_writer.cuh", "", EDGES + "a_client_is_constructed_after_all_threads_have_read_its_storage",
                        "words were overwritten"),
    "log-open": ("detail/deferred/deferred_kernels.cuh", "simt::store_relaxed(&log.shards[r].taken, std::uint64_t{1});", LOGS, "lost or doubled section"),
    # A hot record: counters of a turn that another one used; a chunk in the place of the other; a record that is not written.
    "hot-counts": ("detail/execute/hot_record.cuh", "", HOT, "lost or doubled section|outside a shared span"),
    "hot-chunk": ("detail/execute/hot_record.cuh", "return first;", HOT, "lost or doubled section"),
    "hot-written": ("detail/execute/hot_record.cuh", "", HOT, "lost or doubled section"),
    # Batches: an offset is not written; ranks are written over before all have read them; counts stay; places before all
    # have copied; a row before it is known; a round without messages keeps those of the batch before.
    "header": ("detail/deferred/batch_write.cuh", "*stage.log.offset(p, row) = static_cast<std::uint16_t>(p == 1 ? 0 : within);", LOGS, "lost or doubled section"),
    "order-over-ranks": ("detail/deferred/batch_sort.cuh", "", LOGS, "lost or doubled section|" + STRAY),
    "counted-anew": ("detail/block/arrival_ranks.cuh", "counts_[key] = counts_[key] + (begin << 16);", LOGS, "lost or doubled section|outside a shared span|sections were lost|" + STRAY),
    "places-reused": ("detail/deferred/batch_writer.cuh", "", LOGS, "lost or doubled section"),
    "row-known": ("detail/deferred/batch_writer.cuh", "", LOGS, "lost or doubled section|sections were lost|" + STRAY),
    "partial-round": ("detail/deferred/batch_writer.cuh", "", LOGS, "lost or doubled section"),
    # Segments: messages are read twice; marks of rows are forgotten.
    "segment-twice": ("detail/deferred/segment_reader.cuh", "done_ = first + most / 2;", LOGS, "lost or doubled section|sections were lost"),
    "rows-marked": ("detail/deferred/warp_row_index.cuh", "", LOGS, "lost or doubled section|sections were lost|" + STRAY),
    # Combining: what went into another section is sent as well; ranks before the counts are clear; runs before all are sorted;
    # sections of a run left out; its beginning in a thread before forgotten; what is kept is forgotten.
    "log-absorbed": ("detail/deferred/batch_combiner.cuh", "", COMBINED, "lost or doubled section"),
    "log-ranked": ("detail/deferred/batch_writer.cuh", "", COMBINED, "lost or doubled section|outside a shared span|sections were lost"),
    "sorted-whole": ("detail/deferred/batch_combiner.cuh", "", COMBINED, "lost or doubled section|outside a shared span|sections were lost"),
    "run-sum": ("detail/deferred/batch_combiner.cuh", "", COMBINED, "lost or doubled section"),
    "run-across": ("detail/deferred/batch_combiner.cuh", "", COMBINED, "lost or doubled section"),
    "run-again": ("detail/deferred/batch_combiner.cuh", "", COMBINED, "lost or doubled section"),
    "survivors": ("detail/deferred/batch_combiner.cuh", "kept = static_cast<unsigned>(simt::count_bits(remaining));", COMBINED, "lost or doubled section"),
    # Looks: never again.
    "looks-again": ("detail/deferred/combining_state.cuh", "", LATE, "sections were refused"),
    "looks-often": ("detail/deferred/combining_state.cuh", "", LATE, "sections were refused"),
    # The result of a function that is not inlined is forgotten.
    "state-back": ("detail/deferred/batch_writer.cuh", "", PARTIALS, "lost or doubled section|sections were refused|outside a shared span|sections were lost|" + STRAY),
    # Batches of tables: begins before all records are ranked; the run of wide messages forgets them.
    "table-ranked": ("detail/deferred/table_batch.cuh", "", TABLES, "lost or doubled section|sections were lost|outside a shared span|" + STRAY),
    "table-wide-rows": ("detail/deferred/table_batch.cuh", "", TABLES, "lost or doubled section"),
    # Partials: one is forgotten; what it was made of is sent as well; rows of the other width.
    "partial-lost": ("detail/deferred/batch_combiner.cuh", "", PARTIALS, "lost or doubled section"),
    "sample-sent-too": ("detail/deferred/batch_combiner.cuh", "", PARTIALS, "lost or doubled section|sections were refused"),
    "row-flag": ("detail/deferred/batch_write.cuh", "stage.log.begins[row] = places.begin;", PARTIALS, "lost or doubled section|sections were lost"),
    "row-width": ("detail/deferred/section_log.cuh", "is_in = !is_wide;", PARTIALS, "lost or doubled section|sections were lost"),
    # Long runs: their sum is forgotten; that of other lanes; what stays.
    "long-run": ("detail/execute/long_segments.cuh", "", COMBINED, "lost or doubled section"),
    "long-run-lanes": ("detail/execute/segment_carry.cuh", "", COMBINED, "lost or doubled section"),
    "long-run-rest": ("detail/execute/long_segments.cuh", "all.end = all.begin;", KEYED, "lost or doubled section|another key's section"),
    # Sections of other keys.
    "other-key": ("detail/block/combining.cuh", "return id;", KEYED, "another key's section"),
    # Order: batches as they came; launches by when they ran; blocks of the run before; what the warps before have, in windows and in batches; what a warp has; a window's
    # warps; rows that are looked at too few of, or have nothing.
    "rows-as-they-came": ("detail/deferred/ordered_reader.cuh", "std::uint32_t const row = turn;", ORDER, "wrong order"),
    "tree-unit": ("detail/deterministic/unit_list.cuh", "bool const begins = p % Node == 0 || p == own_begin;", TREE, "overlapping sections|unordered (load|sections)|Which is: "),
    "tree-leaf": ("detail/deterministic/unit_runner.cuh", "strip = partial::combine(now.values[j], strip);", TREE, "Which is: "),
    "tree-join": ("detail/deterministic/unit_runner.cuh", "", TREE, "Which is: "),
    "tree-release": ("detail/deterministic/tree_parents.cuh", "", TREE, "unordered load"),
    "tree-acquire": ("detail/deterministic/tree_parents.cuh", "", TREE, "unordered load"),
    "tree-places": ("detail/deterministic/bucket_kernels.cuh", "", TREE_BUCKET, "Which is: |outside device memory|unordered load|ended by signal"),
    "counted-release": ("detail/deterministic/bucket_kernels.cuh", "", TREE_BUCKET, "unordered load"),
    "counted-acquire": ("detail/deterministic/bucket_kernels.cuh", "", TREE_BUCKET, "unordered load"),
    "tree-start": ("detail/deterministic/record_partition.cuh", "if (digit < m.buckets) to[digit] = m.begins[digit] - sort.start(digit);", TREE_BUCKET, "Which is: |outside device memory|unordered load"),
    "tree-reset": ("detail/deterministic/tree_parents.cuh", "", TREE, "Which is: "),
    "order-of-launches": ("detail/deferred/log_order.cuh", "", ORDER, "wrong order|lost or doubled section|memory outside"),
    "order-of-cycles": ("detail/deferred/deferred_kernels.cuh", "", ORDER, "wrong order|lost or doubled section|blocks of one number"),
    "ranks-of-warps": ("detail/block/stable_ranks.cuh", "counts_[w * Keys + key] = static_cast<std::uint16_t>(0);", ORDER, "wrong order|lost or doubled section|outside a shared span"),
    "bytes-of-warps": ("detail/block/byte_ranks.cuh", "return begins[key];", ORDER, "wrong order|lost or doubled section|outside a shared span"),
    # In a batch of few partitions: lanes of other partitions; lanes of the previous step; later
    # lanes.
    "keys-of-word": ("detail/block/byte_ranks.cuh", "unsigned const peers = simt::shared_load(word) | (alike & 0u);", ORDER, "wrong order|lost or doubled section|outside a shared span|sections were lost"),
    "word-again": ("detail/block/byte_ranks.cuh", "", ORDER, "wrong order|lost or doubled section|outside a shared span|sections were lost"),
    "lanes-of-word": ("detail/block/byte_ranks.cuh", "return before + simt::count_bits(peers & ~below) - 1;", ORDER, "wrong order"),
    "ranks-of-lanes": ("detail/block/stable_ranks.cuh", "return before + simt::count_bits(peers & ~below) - 1;", ORDER, "wrong order"),
    "late-ranks": ("detail/block/stable_ranks.cuh", "c.rank = c.before + static_cast<unsigned>(simt::count_bits(peers & ~below)) - 1;", ORDER, "wrong order"),
    "wide-rows": ("detail/deferred/batch_writer.cuh", "", PARTIALS, "lost or doubled section"),
    "wide-partitions": ("detail/deferred/deferred_kernels.cuh", "log.control->next_partition = 0;", PARTIALS, "lost or doubled section"),
    "window-in-order": ("detail/deferred/ordered_reader.cuh", "std::uint32_t const first = done_ + (Threads / simt::warp_size - 1 - simt::warp_rank()) * of_warp;", ORDER, "wrong order"),
    "rows-reach": ("detail/deferred/ordered_reader.cuh", "if (mine >= end) continue;", ORDER, "wrong order|lost or doubled section|outside a shared span|sections were lost|" + STRAY),
    "rows-empty": ("detail/deferred/warp_row_index.cuh", "if (false) {", ORDER, "wrong order|lost or doubled section|outside a shared span|sections were lost|" + STRAY),
    # Split logs: windows at the same places; a row too few.
    "split-places": ("detail/deferred/split_kernel.cuh", "", LOGS, "lost or doubled section|sections were lost"),
    "split-windows": ("detail/deferred/split_kernel.cuh", "simt::shared_fetch_min(shared_[0].most_windows, ~((of_warp.per_thread + per_thread - 1) / per_thread - (of_warp.per_thread > per_thread)));",
                      LOGS, "lost or doubled section|sections were lost"),
    "split-rows": ("detail/deferred/split_kernel.cuh", "a_.to.rows_of[partition] = {mine.rows, mine.rows + w - (w > 1)};", LOGS, "lost or doubled section"),
    # Ranks: what is for one rank is sent, or copied, to another; what comes is run before all copies are made; what other threads counted is forgotten; what stays at home travels as well; the
    # header of the rank before is written over; pieces of later ranks begin where those of the first do; what comes is run before
    # it is there; rows are packed as they came.
    "wrong-rank": ("detail/spread/spread_exchange.cuh", "int const rank = static_cast<int>((r + 1) % ranks() == own() ? r : (r + 1) % ranks());",
                   SPREAD, SPREAD_WRONG + "|are expected of rank|sends more than is expected"),
    "copied-to-wrong-rank": ("detail/spread/spread_exchange.cuh", "int const rank = static_cast<int>((to + 1) % ranks());", SPREAD,
                             SPREAD_WRONG + "|" + STRAY),
    "copies-awaited": ("detail/spread/spread_exchange.cuh", "", SPREAD, SPREAD_WRONG + "|" + STRAY),
    "count-lost": ("detail/spread/spread_kernels.cuh", "if (to < a.ranks) simt::shared_store(counts[to], 1u);", SPREAD, SPREAD_WRONG),
    "home-twice": ("detail/spread/spread_kernels.cuh", "return places(from, to);", SPREAD, SPREAD_WRONG),
    "header-lost": ("detail/spread/spread_kernels.cuh", "", SPREAD, SPREAD_WRONG),
    "piece-begin": ("detail/spread/spread_kernels.cuh", "a.to.begins[first_row + row] = begin;", SPREAD, SPREAD_WRONG),
    "sorted-twice": ("detail/deferred/section_log.cuh", "", "spreads/spread_seeds.a_run_after_a_failed_exchange_runs_each_section_once",
                     SPREAD_WRONG),
    "came-early": ("detail/spread/spread_runner.cuh", "", SPREAD, SPREAD_WRONG + "|" + STRAY),
    # Messages of an exchange that is aborted run.
    "join-lost": ("detail/spread/spread_kernels.cuh", "", "spreads/spread_faults.what_comes_by_an_exchange_that_is_aborted_is_not_run",
                  SPREAD_WRONG + "|" + STRAY),
    # A split of fewer rows than come; a sum of 32 bits; a row that is written after it was counted.
    "split-came": ("detail/spread/spread_runner.cuh", "largest.rows = home_.rows;", EXCHANGE + "more_rows_come_than_a_rank_has", SPREAD_WRONG),
    "come-narrow": ("detail/spread/spread_runner.cuh",
                    "for (std::uint32_t from = 0; from < ranks(); ++from) arriving = static_cast<std::uint32_t>(arriving + table.packed(from, r));",
                    EXCHANGE + "more_than_32_bits_of_sections_would_come_to_a_rank", "there is room for 2\\^32 sections|" + STRAY),
    "late-row": ("detail/spread/spread_kernels.cuh", "if (count != 0 && place <= all) {",
                 EXCHANGE + "a_row_that_is_written_after_the_count_is_reported_and_does_not_travel", SPREAD_WRONG),
    "packed-in-order": ("detail/spread/spread_kernels.cuh", "return turn;", SPREAD_ORDER, "wrong order|" + SPREAD_WRONG),
    # Groups of lanes: a lane goes on to the next section before the others have left this one; two groups take one run; lanes
    # of a group run others' messages; lanes do not know of the lock, or free it too soon.
    "group-sync": ("detail/execute/group_segments.cuh", "", GROUPS_BY_RUNS, HALF_DONE),
    "group-run": ("detail/execute/group_segments.cuh",
                  "if (lanes.lane() == 0) { r = simt::shared_load(taken); simt::shared_store(taken, r + 1); }",
                  GROUPS_BY_RUNS, HALF_DONE),
    "group-answer": ("detail/execute/group_segments.cuh", "if (lanes.lane() == 1) section_runner{ref_}.reply(to_caller);",
                     "logs/lanes_seeds.calls_are_answered_by_the_first_lane", "answers of other lanes|two calls had one turn"),
    # No-op sections: segments are counted before all sections are ranked; in order a later section
    # runs first; an answer from before another section ran is used afterwards.
    "asked-ranked": ("detail/execute/sorted.cuh", "", ASKED, HALF_DONE + "|lost section|memory outside"),
    "asked-order": ("detail/execute/group_segments.cuh",
                    "auto const next = static_cast<unsigned>(simt::first_bit((left & (left - 1)) != 0 ? left & (left - 1) : left));",
                    ASKED + "_in_order", "wrong order"),
    "asked-again": ("detail/execute/group_segments.cuh", "left &= (left - 1) & ~quiet;", ASKED + "_in_order", "wrong order"),
    "fewer-lanes": ("section.cuh", "return true;", GROUPS_BY_RUNS, HALF_DONE),
    "pair-group-release": ("detail/pairs/pair_sections.cuh", "", "logs/lanes_seeds.each_section_on_two_records_runs_once", HALF_DONE),
    "group-acquire": ("detail/execute/group_locks.cuh", "", GROUPS_BY_LOCKS, HALF_DONE),
    "group-release": ("detail/execute/locks.cuh", "", GROUPS_BY_LOCKS, HALF_DONE),
    # Replayed logs: a launch that is put off takes part in another one; counters are left as the launch before had them;
    # what has run stays in its place.
    "replay-amid": ("detail/fused/fused_kernel.cuh", "", "logs/replay_seeds.runs_that_meet_are_put_off_and_reported",
                    "lost or doubled|deadlock|memory outside|too many steps|no progress"),
    "replay-counters": ("detail/deferred/deferred_kernels.cuh", "", "logs/replay_seeds.every_section_runs_once", "lost or doubled|deadlock"),
    "replay-twice": ("deferred_forwarding.cuh", "", "logs/replay_seeds.missing_messages_are_reported_and_nothing_runs_in_their_place",
                     "lost or doubled|no error"),
    # Rounds: a tile before it is free, or without what was written; not written back; a section in a wrong bin;
    # tile pairs from the last to the first; a runner that does not give its record back.
    "turn-early": ("detail/pairs/rounds_ref.cuh", "return finished_a + 1 >= tile_pair.earlier_a && finished_b + 1 >= tile_pair.earlier_b;", ROUNDS,
                   "(overlapping|unordered) sections|lost or doubled section"),
    "turn-acquire": ("detail/pairs/rounds_server.cuh", "", ROUNDS, "unordered sections|lost or doubled section"),
    "turn-release": ("detail/pairs/rounds_server.cuh", "", ROUNDS, "unordered sections|lost or doubled section"),
    "tile-back": ("detail/pairs/tile_copies.cuh", "", ROUNDS, "lost or doubled section"),
    "wrong-bin": ("detail/pairs/bin_writer.cuh", "return (ref_.seconds().owners.partition_of(pairs::second_of(m)) + 1) & (ref_.bins.schedule.others() - 1);", ROUNDS,
                  "lost or doubled section"),
    "pair-order": ("detail/pairs/rounds_server.cuh",
                   "next.number = ref_.bins.control->tile_pairs - 1 - simt::fetch_add(&ref_.bins.control->next_tile_pair, 1u);", ROUNDS,
                   "no progress"),
    # Between two arrays: pairs that meet twice; a tile in two tile pairs at once; the second tile not written back; a run that never looks whether the second
    # guarded is at work.
    "pair-twice": ("detail/pairs/round_list.cuh", "tile_pair.b = all_.tile_of(0);", BETWEEN,
                   "lost or doubled section|(overlapping|unordered) sections|no progress"),
    "round-twice": ("detail/pairs/round_list.cuh", "turn |= 1u;", BETWEEN, "(overlapping|unordered) sections|no progress"),
    "second-back": ("detail/pairs/two_array_store.cuh", "", BETWEEN, "lost or doubled section"),
    "second-amid": ("detail/pairs/run_between_ref.cuh", "return true;", "logs/two_arrays_seeds.runs_that_meet_are_put_off_and_reported",
                    "sections may have met|no seed had runs|lost or doubled section"),
    # A tile pair is listed before earlier ones of one of its tiles.
    "first-of-one": ("detail/pairs/round_list.cuh", "bool const is_first_of_both = true;",
                     "logs/two_arrays_seeds.each_section_runs_once_by_one_block", "no progress|deadlock"),
    "runner-keeps": ("detail/pairs/hot_record_warps.cuh", "", "logs/rounds_seeds.each_section_runs_once_in_memory", "no progress|deadlock"),
    # One block runs a log of few sections, and then tile pairs run all the same.
    "few-noted": ("detail/pairs/single_block_run.cuh", "", ROUNDS, "lost or doubled section"),
    # A record that was brought together with others stays where it was brought.
    "brought-back": ("detail/pairs/hot_record_warps.cuh", "", ROUNDS, "lost or doubled section"),
    # Sections that found no lock are forgotten.
    # Bins of one array as many as those of the other; records of one full log in the next one; a
    # group that goes on alone.
    "second-tiles": ("detail/pairs/rounds_runner.cuh", "std::size_t const words = bins::words(all.homes());",
                     "logs/two_arrays_seeds.each_section_runs_once_between_very_different_numbers_of_tiles", "lost or doubled section|" + STRAY),
    "apply-piece": ("detail/deferred/deferred_block.cuh", "std::uint64_t const first = 0;",
                      "logs/rounds_seeds.arrays_are_applied_a_full_log_at_a_time", "lost or doubled section"),
    "poisoned-group": ("detail/pairs/group_rounds.cuh", "simt::sync_block_or(!alive); return alive;",
                       "logs/lanes_seeds.a_run_in_rounds_that_was_given_up_ends_for_all_groups_of_a_block", "kinds of barrier"),
    "put-off": ("detail/pairs/hot_record_warps.cuh", "waits = false;", ROUNDS, "lost or doubled section"),
    # A runner without the locks of the other records, or of two records that many want; messages that it takes and their threads keep; that are
    # put where those of the window before were.
    "other-lock": ("detail/pairs/hot_record_warps.cuh", "bool const ready = wants;", BETWEEN, "(overlapping|unordered) sections|lost or doubled section"),
    "alike-locks": ("detail/pairs/hot_record_warps.cuh", "bool const has_both = me == leader;", ROUNDS, "(overlapping|unordered) sections|lost or doubled section"),
    "other-fence": ("detail/pairs/hot_record_warps.cuh", "", BETWEEN, "unordered sections|lost or doubled section"),
    "alike-fence": ("detail/pairs/hot_record_warps.cuh", "", ROUNDS, "unordered sections|lost or doubled section"),
    "taken": ("detail/pairs/hot_record_warps.cuh", "return waiting;", ROUNDS, "lost or doubled section"),
    "key-counts": ("detail/pairs/hot_record_warps.cuh", "", ROUNDS, "lost or doubled section|outside a shared span"),
    "next-atomic": ("detail/execute/atomics.cuh", "", COUNTED, TABLE_WRONG),
    "write-back-barrier.counted": ("detail/execute/record_store.cuh", "", COUNTED, TABLE_WRONG),
    "bounds": ("detail/execute/guarded_report.cuh", "if (id < size || true) return true;", "bad_id", "memory outside the records"),
    # A section stores to its record while other lanes ask theirs; a warp stores plainly what others read.
    "asked-sync": ("detail/execute/locks.cuh", "", RACES_OF_GROUPS, RACE),
    "noop-acquire": ("detail/execute/locks.cuh", "", RACES_OF_NOOPS, RACE),
    "released-store": ("detail/fused/buffered_outbox.cuh", "released_[d] = released;", RACES_OF_BUFFERS, RACE),
    # Places of messages are reused by lanes that have not met.
    "reuse-barrier": ("detail/pairs/hot_record_warps.cuh", "", RACES_OF_ROUNDS, RACE),
    **QUEUE_MUTANTS,
    **RUN_MUTANTS,
    **SEVERAL_MUTANTS,
    **ALLOCATION_MUTANTS,
    **COPY_MUTANTS,
    **APP_MUTANTS,
}
# One of each mechanism, found quickly: ./warden test runs these, ./warden test --all every one.
FEW = ["lock", "second-phase", "credit", "forward-credit", "unlock", "answer-generation", "last-launch", "serves-twice", "place-fence",
       "grid-release"]
assert set(FEW) <= set(MUTANTS)
