// SPDX-License-Identifier: Apache-2.0
// Sections that notice in which order they run, and the loop that they are compared with.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <cmath>
#include <cstdint>
#include <vector>

namespace ordering {

namespace simt = warden::simt;

/// No two orders of different values leave the same here, and no two orders of such floats but by
/// chance.
struct traced {
  std::uint64_t trace;
  float sum;
  std::uint32_t count;
};
struct append {
  std::uint32_t value;
  WARDEN_HOST_DEVICE void operator()(traced& t) const {
    t.trace = t.trace * 0x9e3779b97f4a7c15ull + value + 1;
    // The same on every device: the compilers must not choose the rounding.
    t.sum = std::fmaf(t.sum, 0.75f, 1.0f / static_cast<float>(value + 1));
    ++t.count;
  }
};

template <warden::placement Where>
using in_order = warden::policy<warden::options{.records = Where, .block_threads = 64},
                                warden::order::sequential>;
template <warden::placement Where>
using traces = warden::basic_guarded<in_order<Where>, traced, append>;

/// Half of the operations are on one record in turn with the others, so that runs are long and
/// short.
WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint32_t i, std::uint32_t keys) {
  return i % 2 == 0 ? 0 : static_cast<std::uint32_t>((std::uint64_t{i} * 2654435761u >> 7) % keys);
}
/// True if operation i is sent.
WARDEN_HOST_DEVICE bool sends(std::uint32_t i) { return i % 5 != 3; }

template <class Guarded>
struct arguments {
  typename Guarded::deferred_ref ref;
  std::uint32_t first, end;  ///< operations
  std::uint32_t keys;
  std::uint32_t each;  ///< sends of a block
};
template <class Guarded, unsigned Threads>
WARDEN_KERNEL void send_in_turn(arguments<Guarded> a) {
  using block = typename Guarded::template deferred_block<Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t i = a.first + simt::block_rank() * a.each * Threads + simt::thread_rank();
  for (std::uint32_t k = 0; k < a.each; ++k, i += Threads) {
    client.send(id_of(i, a.keys), append{i}, i < a.end && sends(i));
    // Some batches are small.
    if (k % 7 == 3) client.flush();
  }
  client.flush();
}

/// Sends in launches of several blocks, runs, and compares with a loop.
template <warden::placement Where, unsigned Threads>
class bench {
 public:
  using guarded = traces<Where>;
  bench(std::uint32_t keys, std::uint32_t sections, warden::deferred_options chosen = {})
      : keys_{keys}, records_{keys}, expected_(keys), on_{records_}, log_{on_, sections, chosen} {
    records_.fill_bytes(0);
    warden::stream_ref{}.synchronize();
  }

  guarded& on() { return on_; }
  auto& log() { return log_; }

  void send(typename guarded::deferred_ref const& ref, std::uint32_t first, std::uint32_t end,
            std::uint32_t each, warden::stream_ref s = {}) const {
    if (first == end) return;  // a launch has 1 block at least
    using storage = typename guarded::template deferred_block<Threads>::storage;
    std::uint32_t const per_block = each * Threads;
    simt::launch(&send_in_turn<guarded, Threads>, (end - first + per_block - 1) / per_block,
                 Threads, sizeof(storage), {ref, first, end, keys_, each}, s);
  }
  void expect_next(std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end; ++i) {
      if (sends(i)) append{i}(expected_[id_of(i, keys_)]);
    }
  }
  void check() const {
    auto const found = records_.to_host();
    for (std::uint32_t k = 0; k < keys_; ++k) {
      ASSERT_EQ(found[k].count, expected_[k].count) << "lost or doubled section on record " << k;
      ASSERT_EQ(found[k].trace, expected_[k].trace) << "wrong order on record " << k;
      ASSERT_EQ(found[k].sum, expected_[k].sum) << "wrong order on record " << k;
    }
  }

 private:
  std::uint32_t keys_;
  warden::buffer<traced> records_;
  std::vector<traced> expected_;
  guarded on_;
  warden::deferred<in_order<Where>, traced, append> log_;
};

using warden::placement;

template <placement Where, unsigned Threads>
void expect_order(std::uint32_t keys, std::uint32_t n, std::uint32_t each, unsigned partitions,
                  unsigned split) {
  bench<Where, Threads> o{keys, n, {.partitions = partitions, .split = split, .batches = n}};
  // Three launches, the second with another shape; the refs in their order, the launches not.
  std::uint32_t const a = n / 3, b = n / 2;
  auto const first = o.log().ref(), second = o.log().ref(), third = o.log().ref();
  o.send(second, a, b, each + 3);
  o.send(third, b, n, each);
  o.send(first, 0, a, each);
  o.log().run();
  o.on().wait();
  o.expect_next(0, n);
  o.check();
  // The log once more, with fewer batches.
  o.send(o.log().ref(), 0, a, each + 1);
  o.log().run();
  o.on().wait();
  o.expect_next(0, a);
  o.check();
}

}  // namespace ordering
