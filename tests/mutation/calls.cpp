// SPDX-License-Identifier: Apache-2.0
// Scenarios of calls: each caller gets its own answer, and sees what the section wrote.

#include "scenario.hpp"

namespace {

using scenario::failure;
using scenario::hash;
using scenario::tally;

struct board {
  std::uint32_t* written;
};
using policy = warden::policy<warden::options{.block_threads = 32,
                                              .calls_per_thread = 2,
                                              .tuning = {.outbox_bytes_per_thread = 64}},
                              warden::context<board>, warden::executor::locks<16>>;
struct ask {
  std::uint32_t i;
  std::uint64_t operator()(tally& t, board b) const {
    t.count += 1;
    warden::simt::store_relaxed(&b.written[i], i + 1);
    return hash(i);
  }
};
using askers = warden::basic_guarded<policy, tally, ask>;
/// Takes one of `Every` answers; the writes of its section must be visible.
template <std::uint32_t Every>
struct call_in_turn {
  static constexpr std::uint32_t each = 6;
  std::uint32_t* written;
  tally* wrong;  ///< count: answers; mixed: stale reads
  void operator()(warden::virtual_block const& at, askers::ref const& ref) const {
    askers::thread_client const client{ref, at};
    for (std::uint32_t k = 0; k < each; ++k) {
      std::uint32_t const i = (at.block_index() * 32 + at.thread_rank()) * each + k;
      auto future = client.call(i % 5, ask{i});
      if ((k + 1) % Every != 0) continue;
      auto const answer = future.get();
      if (!answer || *answer != hash(i)) warden::simt::fetch_add(&wrong->count, std::uint64_t{1});
      if (warden::simt::load_relaxed(&written[i]) != i + 1)
        warden::simt::fetch_add(&wrong->mixed, std::uint64_t{1});
    }
  }
};
template <std::uint32_t Every>
void called() {
  using kernel = call_in_turn<Every>;
  warden::buffer<std::uint32_t> written{64 * kernel::each};
  written.fill_bytes(0);
  warden::buffer<tally> memory{5}, wrong{1};
  memory.fill_bytes(0);
  wrong.fill_bytes(0);
  askers g{memory,
           board{written.data()},
           {.servers = 2, .capacity = 32, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(kernel{written.data(), wrong.data()}, 2, 32, {}, g);
  g.wait();
  if (wrong.to_host()[0].count != 0) throw failure{"a stranger's answer"};
  if (wrong.to_host()[0].mixed != 0) throw failure{"stale read"};
}

/// Each caller has a record of its own, the only one of its owner thread, and looks at it when it
/// is answered.
using sorted_policy = warden::with_parts<policy, warden::executor::sorted<128>>;
using record_askers = warden::basic_guarded<sorted_policy, tally, ask>;
struct call_and_look {
  std::uint32_t* written;
  tally* memory;
  tally* wrong;
  void operator()(warden::virtual_block const& at, record_askers::ref const& ref) const {
    record_askers::thread_client const client{ref, at};
    auto const id = static_cast<std::uint32_t>(at.global_rank());
    for (std::uint64_t k = 1; k < 4; ++k) {
      if (!client.call(id, ask{id}).get() || warden::simt::load_relaxed(&memory[id].count) != k)
        warden::simt::fetch_add(&wrong->mixed, std::uint64_t{1});
    }
  }
};
void called_record() {
  warden::buffer<std::uint32_t> written{64};
  warden::buffer<tally> memory{64}, wrong{1};
  memory.fill_bytes(0);
  wrong.fill_bytes(0);
  record_askers g{memory,
                  board{written.data()},
                  {.servers = 3, .capacity = 32, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(call_and_look{written.data(), memory.data(), wrong.data()}, 2, 32, {}, g);
  g.wait();
  if (wrong.to_host()[0].mixed != 0) throw failure{"stale read"};
}

/// Futures of more calls than may be under way, each in place of the one before.
struct call_over {
  void operator()(warden::virtual_block const& at, askers::ref const& ref) const {
    askers::thread_client const client{ref, at};
    auto future = client.call(0, ask{at.thread_rank()});
    for (int k = 0; k < 4; ++k) future = client.call(0, ask{at.thread_rank()});
    static_cast<void>(future.get());
  }
};
void called_over() {
  warden::buffer<std::uint32_t> written{32};
  warden::buffer<tally> memory{1};
  memory.fill_bytes(0);
  askers g{memory,
           board{written.data()},
           {.servers = 1, .capacity = 32, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(call_over{}, 1, 32, {}, g);
  g.wait();
  if (memory.to_host()[0].count != 32 * 5) throw failure{"torn or lost message"};
}

}  // namespace

int main(int argc, char** argv) {
  return scenario::run(argc, argv,
                       {{"called", called<3>},
                        {"called_visible", called<1>},
                        {"called_record", called_record},
                        {"called_over", called_over}});
}
