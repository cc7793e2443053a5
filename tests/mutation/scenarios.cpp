// SPDX-License-Identifier: Apache-2.0
// Small launches that a broken library cannot survive: `scenarios NAME SEEDS` prints the first seed
// that fails and one diagnosis.

#include "scenario.hpp"

#include <warden/fused.cuh>

namespace {

using scenario::failure;
using scenario::hash;
using scenario::in_rounds;
using scenario::note;
using scenario::tally;

using policy =
    warden::policy<warden::options{.block_threads = 32, .tuning = {.outbox_bytes_per_thread = 64}},
                   warden::executor::locks<16>>;

// ---- exactly once, whole messages
// ------------------------------------------------------------------

using notes = warden::basic_guarded<policy, tally, note>;
/// Four warps a server: they contend for locks and finish slices out of order.
using wide_policy = warden::with_values<policy, &warden::options::block_threads, 128>;
using wide_notes = warden::basic_guarded<wide_policy, tally, note>;

/// The executor `sorted`, with more records than threads, so that a thread's run is for several of
/// them.
using sorted_policy = warden::with_parts<policy, warden::executor::sorted<128>>;
using chip_policy =
    warden::with_values<sorted_policy, &warden::options::records, warden::placement::on_chip>;
using chip_locks_policy =
    warden::with_values<policy, &warden::options::block_threads, 64, &warden::options::records,
                        warden::placement::on_chip>;
using chip_lock_notes = warden::basic_guarded<chip_locks_policy, tally, note>;
using chip_notes = warden::basic_guarded<chip_policy, tally, note>;
using run_notes = warden::basic_guarded<sorted_policy, tally, note>;

/// The paper's: a leader and three followers, buffers at the other end.
using paper_policy = warden::with_values<
    warden::with_parts<warden::paper_policy,
                       warden::executor::locks<16, warden::detail::leader_server>>,
    &warden::options::block_threads, 128>;
using paper_notes = warden::basic_guarded<paper_policy, tally, note>;
/// The only follower always finds the next assignment given.
using follower_policy = warden::with_values<paper_policy, &warden::options::block_threads, 64>;
using follower_notes = warden::basic_guarded<follower_policy, tally, note>;

/// One section that stands for several notes.
struct summed_note {
  static constexpr bool reads_other_memory = false;
  std::uint32_t count;
  std::uint64_t mixed;
  void operator()(tally& t, warden::no_context) const {
    t.count += count;
    t.mixed += mixed;
  }
  static summed_note combine(summed_note a, summed_note b) {
    return {a.count + b.count, a.mixed + b.mixed};
  }
};
using combining_policy = warden::with_values<policy, &warden::tuning::combine_in_fused, true,
                                             &warden::tuning::outbox_bytes_per_thread, 128>;
using combined_notes = warden::basic_guarded<combining_policy, tally, summed_note>;
using combining_sorted_policy = warden::with_parts<combining_policy, warden::executor::sorted<128>>;
using combined_run_notes = warden::basic_guarded<combining_sorted_policy, tally, summed_note>;

/// Sends notes 0 .. n-1, each for the record that `id` returns.
struct operations {
  std::uint32_t n, records;
  static std::uint32_t id(std::uint32_t i, std::uint32_t records) { return i * 7919 % records; }
};
/// Sends every other note to record 0.
struct send_summed_notes {
  std::uint32_t n, records;
  static std::uint32_t id(std::uint32_t i, std::uint32_t records) {
    return i % 2 == 0 ? 0 : i * 7919 % records;
  }
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    in_rounds(at, n, [&](std::uint32_t i) {
      client.send(id(i, records), summed_note{1, hash(i)}, i < n);
    });
    client.flush();
  }
};

struct send_notes : operations {
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    in_rounds(at, n, [&](std::uint32_t i) { client.send(id(i, records), note::of(i), i < n); });
    client.flush();
  }
};

/// Two of three are appended, so that many buffers are filled up by threads on their own.
struct append_notes : operations {
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    in_rounds(at, n, [&](std::uint32_t i) {
      if (i < n && i % 3 != 0) client.append(id(i, records), note::of(i));
      client.send(id(i, records), note::of(i), i < n && i % 3 == 0);
    });
    client.flush();
  }
};

/// Flushes every appended message at once; the next one is appended after it.
struct append_and_flush : operations {
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    in_rounds(at, n, [&](std::uint32_t i) {
      if (i < n) client.append(id(i, records), note::of(i));
      client.flush();
    });
  }
};

template <class Guarded, class Kernel = send_notes>
void exactly_once(std::uint32_t n, std::uint32_t records, unsigned servers, unsigned capacity,
                  unsigned grid, std::uint64_t first_index = 0) {
  warden::buffer<tally> memory{records};
  memory.fill_bytes(0);
  Guarded g{memory,
            {.servers = servers,
             .capacity = capacity,
             .time_limit_seconds = 1,
             .minimum_polls = 64,
             .first_index = first_index}};
  warden::launch_fused(Kernel{n, records}, grid, Guarded::policy::block_threads, {}, g);
  g.wait();
  std::vector<tally> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) {
    tally& t = wanted[Kernel::id(i, records)];
    t.count += 1;
    t.mixed += hash(i);
  }
  scenario::expect_equal(memory.to_host(), wanted);
}

/// More destinations than a block has threads, which therefore looks for their places in turns.
void many_servers() {
  warden::sim::settings s = warden::sim::current_settings();
  s.blocks_per_multiprocessor = 32;
  warden::sim::configure(s);
  exactly_once<notes>(100, 100, 40, 32, 1);
}
void contended() { exactly_once<wide_notes>(300, 2, 1, 64, 2); }
void torn() { exactly_once<notes>(300, 5, 1, 32, 2); }
void full() { exactly_once<wide_notes>(1500, 3, 1, 128, 4); }
// Two destinations and many blocks, each with more for both than a channel holds.
void many_records() { exactly_once<run_notes>(1500, 100, 1, 128, 4); }
void on_chip_by_locks() { exactly_once<chip_lock_notes>(600, 100, 2, 64, 3); }
void on_chip() { exactly_once<chip_notes>(600, 100, 2, 64, 3); }
void led() { exactly_once<paper_notes>(2000, 3, 1, 128, 4); }
void followed() { exactly_once<follower_notes>(1000, 3, 1, 128, 4); }
/// From within a slice on: its other slots are used again before all of it have run.
void led_within() { exactly_once<paper_notes>(400, 3, 1, 64, 4, 64 + 24); }
void buffered() { exactly_once<paper_notes>(2000, 64, 2, 64, 4); }
void appended() { exactly_once<paper_notes, append_notes>(2000, 64, 2, 64, 4); }
void append_flushed() { exactly_once<notes, append_and_flush>(600, 8, 1, 64, 2); }
void combined() { exactly_once<combined_notes, send_summed_notes>(600, 23, 2, 64, 2); }
void combined_windows() {
  exactly_once<combined_run_notes, send_summed_notes>(600, 100, 1, 128, 4);
}
void crossed() { exactly_once<notes>(1200, 64, 2, 32, 6); }

// ---- visibility
// ------------------------------------------------------------------------------------

struct board {
  std::uint32_t* written;
};
struct look {
  std::uint32_t i;
  void operator()(tally& t, board b) const {
    if (warden::simt::load_relaxed(&b.written[i]) != i + 1) t.mixed += 1;
  }
};
template <class Policy>
using with_board = warden::with_parts<Policy, warden::context<board>>;
struct write_and_send {
  std::uint32_t* written;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    std::uint32_t const i = at.block_index() * 32 + at.thread_rank();
    warden::simt::store_relaxed(&written[i], i + 1);
    client.send(i % 4, look{i});
    client.flush();
  }
};
struct write_and_send_by_thread {
  std::uint32_t* written;
  template <class Ref>
  void operator()(warden::virtual_block const& at, Ref const& ref) const {
    std::uint32_t const i = at.block_index() * 32 + at.thread_rank();
    warden::simt::store_relaxed(&written[i], i + 1);
    warden::thread_client<Ref>{ref, at}.send(i % 4, look{i});
  }
};
template <class Kernel, class Policy = policy>
void visible() {
  warden::buffer<std::uint32_t> written{96};
  written.fill_bytes(0);
  warden::buffer<tally> memory{4};
  memory.fill_bytes(0);
  warden::basic_guarded<with_board<Policy>, tally, look> g{
      memory, board{written.data()}, {.servers = 2, .capacity = 32}};
  warden::launch_fused(Kernel{written.data()}, 3, 32, {}, g);
  g.wait();
  for (tally const& t : memory.to_host()) {
    if (t.mixed != 0) throw failure{"stale read"};
  }
}

// ---- bounds
// ----------------------------------------------------------------------------------------

struct send_bad {
  void operator()(warden::virtual_block const& at, notes::ref const& ref) const {
    notes::block_client client{ref, at};
    client.send(at.thread_rank() == 3 ? 10 : 2, note::of(1));
    client.flush();
  }
};
void bad_id() {
  warden::buffer<tally> memory{30};
  memory.fill_bytes(0);
  notes g{memory.data(), 10, {.servers = 2, .capacity = 32}};
  warden::launch_fused(send_bad{}, 1, 32, {}, g);
  try {
    g.wait();
  } catch (warden::limit_error const&) {
  }
  auto const seen = memory.to_host();
  for (std::size_t k = 10; k < 30; ++k) {
    if (seen[k].count != 0) throw failure{"memory outside the records was touched"};
  }
}

}  // namespace

int main(int argc, char** argv) {
  return scenario::run(argc, argv,
                       {{"contended", contended},
                        {"torn", torn},
                        {"full", full},
                        {"many_records", many_records},
                        {"on_chip", on_chip},
                        {"on_chip_by_locks", on_chip_by_locks},
                        {"led", led},
                        {"followed", followed},
                        {"led_within", led_within},
                        {"buffered", buffered},
                        {"appended", appended},
                        {"append_flushed", append_flushed},
                        {"many_servers", many_servers},
                        {"combined", combined},
                        {"combined_windows", combined_windows},
                        {"crossed", crossed},
                        {"visible", visible<write_and_send>},
                        {"visible_by_runs", visible<write_and_send, sorted_policy>},
                        {"visible_by_thread", visible<write_and_send_by_thread>},
                        {"bad_id", bad_id}});
}
