// SPDX-License-Identifier: Apache-2.0
// Loads by which values of a tuning table are compared.
#pragma once

#include "microbench/support/deferred_senders.cuh"
#include "microbench/support/device.cuh"
#include "microbench/support/device_time.hpp"

#include <warden/buffer.hpp>
#include <warden/deferred.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tune {

namespace simt = warden::simt;

struct record {
  std::uint32_t sum, count;
};
/// A section whose message has 8 bytes, the smallest size.
struct add {
  static constexpr bool reads_other_memory = false;
  std::uint32_t value;
  __device__ void operator()(record& r) const {
    r.sum += value;
    ++r.count;
  }
};
struct make_add {
  __device__ add operator()(std::uint32_t i) const { return {i}; }
};

/// Senders of a load.
enum class sender { blocks, threads };

/// Sections on records that are drawn evenly.
struct load {
  std::uint64_t records;
  std::uint32_t sections;
  bool in_memory = false;  ///< true if the records stay in memory, otherwise each run chooses
  sender by = sender::blocks;
};

struct ids_of {
  std::uint32_t* ids;
  std::uint32_t n;
  std::uint64_t records;
};
WARDEN_KERNEL void draw_ids(ids_of a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    a.ids[i] = static_cast<std::uint32_t>(bench::mix(i, 1) % a.records);
  });
}

/// Returns the median time in which a log takes and runs the sections, 0 on the simulated device.
/// Units: seconds.
template <warden::placement Where>
double seconds_of(load const& l) {
  using policy = warden::policy<warden::options{.records = Where}>;
  using guarded = warden::basic_guarded<policy, record, add>;
  warden::buffer<record> records{l.records};
  records.fill_bytes(0);
  warden::buffer<std::uint32_t> ids{l.sections};
  auto const [blocks, threads] = bench::shape_of_helpers();
  simt::launch(&draw_ids, blocks, threads, 0, ids_of{ids.data(), l.sections, l.records}, {});
  guarded of{records};
  warden::deferred<policy, record, add> log{of, l.sections};
  bench::block_sender<typename guarded::deferred_ref, make_add> const by_blocks;
  bench::thread_sender<typename guarded::deferred_ref, make_add> const by_threads;
  auto const run_async = [&] {
    if (l.by == sender::blocks) {
      by_blocks.send_async({log.ref(), ids.data(), l.sections});
    } else {
      by_threads.send_async({log.ref(), ids.data(), l.sections});
    }
    log.run();
  };

  bool const simulated = warden::runtime::facts(of.device()).simulated;
  // The device is busy for about 0.1 ms in each repetition.
  unsigned const runs = simulated ? 1 : std::clamp((std::uint32_t{1} << 20) / l.sections, 1u, 16u);
  unsigned const repetitions = simulated ? 1 : 9;
  run_async();
  std::vector<double> seconds;
  for (unsigned k = 0; k < repetitions; ++k) {
    auto const cost = bench::device_time([&] {
      for (unsigned i = 0; i < runs; ++i) run_async();
    });
    seconds.push_back(cost.seconds / runs);
  }
  of.wait();
  std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
  return seconds[repetitions / 2];
}

}  // namespace tune
