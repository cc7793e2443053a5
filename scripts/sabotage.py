#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks one marked line of the library and demands that the simulated device finds it.

A mutant is a copy of include/ with the line marked `// sabotage: NAME` replaced. It must compile, the
untouched library must pass the same test with the same seeds, and the mutant must end with the diagnosis
named for it.

    sabotage.py NAME --source DIR --build DIR --compile "COMMAND ..." --libraries "..."
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

# mark: (file, what the marked line becomes, test, diagnosis that must appear). A test is a scenario of
# tests/sabotage/scenarios.cpp, or PROGRAM/NAME. Two mutants of one line are MARK.ONE and MARK.OTHER.
MUTANTS = {
    "lock": ("lock_table.cuh", "bool const taken = true;", "contended", "overlapping sections"),
    "first-phase": ("message.cuh", "bool const first = true;", "torn", "torn or lost message"),
    "second-phase": ("message.cuh", "bool const second = true;", "torn", "torn or lost message"),
    "credit": ("channel.cuh", "return count;", "full", "torn or lost message|deadlock"),
    "release-order": ("inbox.cuh", "int const count = done == 0 ? 0 : 32 - __builtin_clz(done);", "full",
                      "torn or lost message|deadlock"),
    # Even blocks wait on the spot for one channel, odd ones for the other, with messages in hand.
    "hold-and-wait": ("outbox.cuh",
                      "if (place >= end[j] && target[j] % 2 == simt::block_rank() % 2) continue;"
                      "if (place >= end[j] && !ref_.wait_for_credit(target[j], base[j] + place)) return false;", "crossed", "deadlock"),
    # The same in a warp: the lanes of one server publish only after those of the other have waited.
    "warp-hold-and-wait": ("warp_client.cuh",
                           "bool pending = sends;"
                           "for (unsigned turn = 0; turn < 2; ++turn) {"
                           "if (pending && to.server % 2 == (turn + simt::block_rank()) % 2 &&"
                           "ref_.wait_for_credit(mine.server, mine.index)) pending = !publish(mine, message);"
                           "simt::sync_warp(mask); }", "crossed_warps", "deadlock"),
    "end-of-work": ("guarded_ref.cuh", "bool const clients_done = true;", "contended", "deadlock|torn or lost message"),
    "run-forward": ("owner_run.cuh", "", "many_records", "torn or lost message"),
    "run-owner": ("executor/runs.cuh", "return (m.local() / 2 + simt::thread_rank() % 2) & (threads - 1);", "many_records",
                  "overlapping sections|torn or lost message"),
    "window-twice": ("window_reader.cuh", "", "many_records", "torn or lost message"),
    "window-release": ("window_server.cuh", "reader.release(reader.ahead());", "many_records",
                       "torn or lost message|deadlock|misuse"),
    # Bits before the messages; bits that are turned over by a load and a store; a lap like the one before.
    "ready-fence": ("bitmask_channel.cuh", "", "led", "torn or lost message"),
    "ready-turn": ("bitmask_channel.cuh",
                   "if (bits != 0) simt::store_relaxed(ready_word(number), ready(number) ^ bits);", "led",
                   "deadlock|torn or lost message"),
    "polarity": ("bitmask_channel.cuh", "bool const is_odd = true;", "led", "deadlock|torn or lost message"),
    "leader-handed": ("leader_server.cuh", "", "led", "torn or lost message|deadlock"),
    # A slice is given back when the first of its followers is done.
    "leader-done": ("leader_server.cuh", "simt::shared_fetch_add(executed, count);", "led",
                    "torn or lost message|deadlock"),
    "assignment": ("leader_server.cuh", "return true;", "led", "torn or lost message|deadlock"),
    "buffer-reuse": ("buffered_outbox.cuh", "", "buffered", "torn or lost message|outside a shared span"),
    "buffer-full": ("buffered_outbox.cuh", "", "appended", "deadlock"),
    "write-back": ("record_store.cuh", "", "on_chip", "torn or lost message"),
    "combine-neighbour": ("combine.cuh", "", "combined", "torn or lost message"),
    "combine-across": ("combine.cuh", "", "combined", "torn or lost message"),
    # A scan that does not know where runs begin.
    "combine-starts": ("combine.cuh", "last.starts = !goes_on;", "combined", "torn or lost message"),
    "batch-absorbed": ("outbox.cuh", "", "combined", "torn or lost message"),
    "window-absorbed": ("executor/runs.cuh", "", "combined_windows", "torn or lost message"),
    "release-fence": ("outbox.cuh", "", "visible", "stale read"),
    "send-fence": ("guarded_ref.cuh", "", "visible_by_warp", "stale read"),
    # The answer of a dropped call lands in the slot of a later one.
    "answer-reuse": ("future.cuh", "if (false) {", "called", "stranger's answer|deadlock"),
    "answer-generation": ("answer_slots.cuh", "arrived = true;", "called", "stranger's answer"),
    "answer-release": ("guarded_ref.cuh", "", "called_visible", "stale read"),
    # A section on two records under the lock of one of them; on a record that another server owns.
    "second-lock": ("lock_table.cuh", "return true;", "paired", "overlapping sections"),
    "apart": ("guarded_ref.cuh", "return true;", "apart", "another server"),
    # Messages are received without tokens; sent on beyond the first without one.
    "forward-admitted": ("forwarding_server.cuh", "std::uint64_t const admitted = ~0ull;", "sends/forwarded", "torn or lost message|deadlock"),
    "forward-token": ("forward_window.cuh", "", "sends/forked", "torn or lost message|deadlock"),
    "forward-fence": ("forward_window.cuh", "", "sends/visible", "stale read"),
    "forward-drained": ("drain.cuh", "", "sends/ended", "torn or lost message|deadlock"),
    "forward-end": ("drain.cuh", "return true;", "sends/ended", "torn or lost message|deadlock"),
    # As many tokens as slots: none are left for what is received behind a missing index.
    "forward-ahead": ("detail/forward_memory.cuh", "rings.tokens = capacity / Ref::most_forwards;", "sends/forwarded",
                      "torn or lost message|deadlock"),
    # Sections on two records: locked in the order in which they are named, or of their ids.
    "lock-order.named": ("guarded_ref.cuh", "", "sends/nested", "deadlock"),
    "lock-order.id": ("guarded_ref.cuh", "if (good) by_second = a < b;", "sends/nested", "deadlock"),
    "unlock": ("nested_run.cuh", "", "sends/nested", "deadlock"),
    "handler-waits": ("nested_run.cuh",
                      "if (!ref_.wait_until([&] { return !locks_.is_locked(lock); }, [](auto) {}, wait_kind::lock, number_, lock))"
                      "return 0;", "sends/nested", "deadlock"),
    # The first message of all stays first in its lock's queue.
    "resumed-twice": ("set_aside.cuh", "static bool resumed = false; if (resumed) q.first = messages()[place].next; resumed = true;",
                      "sends/nested", "torn or lost message|not conserved|deadlock"),
    # Servers whose warps work by themselves: tokens are counted but not waited for; a ring is read without a bound.
    "nested-token": ("nested_server.cuh",
                     "if (of_clients && there != 0 && simt::lane_id() == 0)"
                     "ref_.rings.take_beyond(static_cast<std::uint32_t>(simt::count_bits(there)));", "sends/many_nested",
                     "torn or lost message|not conserved|deadlock|misuse"),
    "ring-bound": ("nested_server.cuh", "return true;", "sends/many_nested", "torn or lost message|not conserved|deadlock"),
    # What ran in the launch before runs again.
    "rerun": ("slice_reader.cuh", "executed_{0} {}", "sends/nested_visible", "torn or lost message|not conserved|deadlock"),
    # A lane forgets who else waits for the lock.
    "nested-more": ("nested_run.cuh", "return false;", "sends/nested", "deadlock"),
    "nested-fence": ("executor/nested.cuh", "", "sends/nested_visible", "stale read"),
    # Two warps take the same places; a thread keeps the place it has filled.
    "place-race": ("place_pool.cuh", "won = (simt::shared_exchange(counts_[0].taken, first + count), true);", "sends/waiting",
                   "overlapping sections|torn or lost message|not conserved|deadlock|steps"),
    "place-twice": ("nested_run.cuh", "", "sends/waiting", "overlapping sections|torn or lost message|not conserved|deadlock|steps"),
    # Each launch leaves fewer places to the next one.
    "place-kept": ("nested_run.cuh", "", "sends/relaunched", "steps"),
    # A purse that keeps its tokens at rest; that loses some when it is asked for too many; that is emptied in two steps.
    "purse-rest": ("nested_server.cuh", "", "sends/nested", "deadlock"),
    "purse-put-back": ("token_purse.cuh", "", "sends/nested", "deadlock"),
    "purse-empty": ("token_purse.cuh", "std::int32_t const found = all; simt::shared_store(stock_[0], 0);",
                    "sends/many_nested", "deadlock"),
    "forward-drained.nested": ("drain.cuh", "", "sends/few_nested", "torn or lost message|not conserved|deadlock"),
    "forward-end.nested": ("drain.cuh", "return true;", "sends/few_nested", "torn or lost message|not conserved|deadlock"),
    # Launches that share guardeds: the first one's word alone is looked at; the others are told nothing, or, by
    # blocks that start late, that it was an earlier launch; a launch forgets what was not reported, or never forgets.
    "health-start": ("launch_control.cuh", "if (healthy(0)) failed = member_count;", "launches/shared", "lost failure|wrong cause|lost message"),
    "health-partner": ("launch_control.cuh", "", "launches/shared", "lost failure|wrong cause"),
    "health-stopped": ("launch_control.cuh", "", "launches/shared", "wrong cause"),
    "health-kept": ("launch.cuh", "runtime::fill_async(frame.control, 0, sizeof(launch_control), s, where);", "launches/shared",
                    "lost failure|wrong cause"),
    "health-cleared": ("guarded.cuh", "", "launches/shared", "failure of nobody"),
    "last-launch": ("guarded.cuh", "", "launches/shared", "lost failure|wrong cause|lost message"),
    "bounds": ("guarded_ref.cuh", "if (id < size || true) return true;", "bad_id", "memory outside the records"),
}


def mutate(source, build, name):
    """Copies include/ and replaces the statement that carries the mark."""
    file, replacement, _, _ = MUTANTS[name]
    target = build / "include"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source / "include", target)
    path = target / "warden" / file
    lines = path.read_text().splitlines()
    mark = name.split(".")[0]
    marked = [i for i, line in enumerate(lines) if line.rstrip().endswith(f"// sabotage: {mark}")]
    if len(marked) != 1:
        sys.exit(f"sabotage: the mark \"{mark}\" stands {len(marked)} times in {file}; it must stand once")
    end = first = marked[0]
    # A statement may have begun on lines before the mark.
    while first > 0 and not re.search(r"[;{}]\s*(//.*)?$|^\s*//|^\s*$|\)$", lines[first - 1]):
        first -= 1
    lines[first:end + 1] = [replacement]
    path.write_text("\n".join(lines) + "\n")
    return target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(MUTANTS))
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--references", type=pathlib.Path, required=True,
                        help="folder with the same programs of the untouched library")
    parser.add_argument("--seeds", type=int, default=300)
    a = parser.parse_args()
    a.build.mkdir(parents=True, exist_ok=True)
    _, _, test, diagnosis = MUTANTS[a.name]
    source, test = test.split("/") if "/" in test else ("scenarios", test)

    include = mutate(a.source, a.build, a.name)
    program = a.build / "mutant"
    command = [*a.compiler.split(), "-std=c++20", "-O1", "-w", "-DWARDEN_SIMULATED=1", f"-I{include}",
               str(a.source / f"tests/sabotage/{source}.cpp"), "-o", str(program), *a.libraries.split(";")]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode != 0:
        sys.exit(f"sabotage: the mutant \"{a.name}\" does not compile\n{compiled.stderr[-2000:]}")

    untouched = subprocess.run([a.references / source, test, str(a.seeds)], capture_output=True, text=True, timeout=500)
    if untouched.returncode != 0:
        sys.exit(f"sabotage: the untouched library fails \"{test}\":\n{untouched.stdout[-2000:]}{untouched.stderr[-2000:]}")
    mutant = subprocess.run([program, test, str(a.seeds)], capture_output=True, text=True, timeout=500)
    said = mutant.stdout.strip().splitlines()
    last = said[-1] if said else ""
    if mutant.returncode == 0:
        sys.exit(f"sabotage: the mutant \"{a.name}\" passes \"{test}\" with {a.seeds} seeds")
    if not re.search(diagnosis, last):
        sys.exit(f"sabotage: the mutant \"{a.name}\" ended (code {mutant.returncode}) with \"{last}\" instead of \"{diagnosis}\"")
    print(f"mutant {a.name}: {last}")


if __name__ == "__main__":
    main()
