// SPDX-License-Identifier: Apache-2.0
// Kernels that defer sections that send sections, and the expected records.
#pragma once

#include "tests/protocol/chains.cuh"

#include <warden/deferred_forwarding.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <vector>

namespace replay {

namespace simt = warden::simt;
using chains::hop;
using chains::last;
using test::tally;

using guarded = warden::basic_guarded<chains::in_memory, tally, hop, last>;
using log = warden::deferred<chains::in_memory, tally, hop, last>;

/// Chains `first` to `end`; the odd ones have one link.
struct arguments {
  guarded::deferred_ref ref;
  std::uint32_t first, end, records;

  WARDEN_HOST_DEVICE static hop begin_of(std::uint32_t i, std::uint32_t records) {
    return {i * 1000, i % 4, records};
  }
};
WARDEN_KERNEL void send_alone(arguments a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.end) return;
  std::uint32_t const id = test::id_of(i, a.records);
  if (i % 2 == 0) {
    a.ref.send(id, arguments::begin_of(i, a.records));
  } else {
    a.ref.send(id, last{i});
  }
}
WARDEN_KERNEL void send_together(arguments a) {
  using block = guarded::deferred_block<64>;
  block client{a.ref, *reinterpret_cast<block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t base = a.first + simt::block_rank() * simt::block_threads(); base < a.end;
       base += simt::block_count() * simt::block_threads()) {
    std::uint32_t const i = base + simt::thread_rank();
    std::uint32_t const id = test::id_of(i, a.records);
    bool const is_chain = i % 2 == 0;
    client.send(id, arguments::begin_of(i, a.records), is_chain && i < a.end);
    client.send(id, last{i}, !is_chain && i < a.end);
  }
  client.flush();
}

/// Records, and their expected values.
class bench {
 public:
  explicit bench(std::uint32_t records, warden::guarded_options options = {.servers = 3})
      : all_{records, options}, wanted_(records) {}

  guarded& on() { return all_.guarded; }

  void send_alone(log& to, std::uint32_t first, std::uint32_t end, warden::stream_ref s = {}) {
    simt::launch(&replay::send_alone, (end - first + 63) / 64, 64, 0,
                 {to.ref(), first, end, records()}, s);
  }
  void send_together(log& to, std::uint32_t first, std::uint32_t end, unsigned blocks,
                     warden::stream_ref s = {}) {
    simt::launch(&replay::send_together, blocks, 64, sizeof(guarded::deferred_block<64>::storage),
                 {to.ref(), first, end, records()}, s);
  }

  /// Expects that these have run, in addition to earlier ones.
  void expect_ran(std::uint32_t first, std::uint32_t end, unsigned times = 1) {
    add(first, end, times);
    test::expect_equal(all_.records.to_host(), wanted_);
  }
  /// Notes that these run, in addition to earlier ones.
  void add(std::uint32_t first, std::uint32_t end, unsigned times) {
    for (unsigned t = 0; t < times; ++t) {
      for (std::uint32_t i = first; i < end; ++i) {
        std::uint32_t const id = test::id_of(i, records());
        if (i % 2 == 0) {
          chains::chain(wanted_, id, arguments::begin_of(i, records()));
        } else {
          chains::note(wanted_[id], i);
        }
      }
    }
  }
  /// Sections that have run, whichever.
  std::uint64_t ran() const {
    std::uint64_t count = 0;
    for (tally const& t : all_.records.to_host()) count += t.count;
    return count;
  }

 private:
  std::uint32_t records() const { return static_cast<std::uint32_t>(wanted_.size()); }

  test::guarded_records<guarded> all_;
  std::vector<tally> wanted_;
};

}  // namespace replay
