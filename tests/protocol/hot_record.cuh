// SPDX-License-Identifier: Apache-2.0
// Sections of which most are for one record, and the expected records.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hot {

namespace simt = warden::simt;

/// A record that fits registers, or with more words does not.
template <unsigned Words>
struct entry {
  std::uint32_t sum, count;
  std::uint32_t more[Words];
};
/// A section of `Words` words.
template <unsigned Words>
struct add {
  std::uint32_t values[Words];
  template <class Record>
  WARDEN_HOST_DEVICE void operator()(Record& r) const {
    for (unsigned w = 0; w < Words; ++w) r.sum += values[w];
    ++r.count;
  }
};
/// A section without data members.
struct tick {
  template <class Record>
  WARDEN_HOST_DEVICE void operator()(Record& r) const {
    ++r.count;
  }
};
using small_blocks = warden::policy<warden::options{.block_threads = 32}>;

/// Distribution of sections i of n to records.
struct ids {
  std::uint32_t records;
  std::uint32_t cold_of_64;  ///< sections of 64 that are not for the hot record
  std::uint32_t period;      ///< sections after which another record is hot; then none is

  WARDEN_HOST_DEVICE std::uint32_t of(std::uint32_t i) const {
    std::uint32_t const any = i * 2654435761u >> 8, turn = i / period;
    bool const is_hot = turn % 3 != 2 && any % 64 >= cold_of_64;
    return is_hot ? turn % records : any / 64 % records;
  }
};

template <class Ref>
struct arguments {
  Ref ref;
  ids to;
  std::uint32_t n;
};
template <class Section>
WARDEN_HOST_DEVICE Section made(std::uint32_t i) {
  Section s{};
  if constexpr (!std::is_empty_v<Section>) {
    for (auto& v : s.values) v = i = i * 7 + 1;
  }
  return s;
}
template <class Ref, class... Sections>
WARDEN_KERNEL void send(arguments<Ref> a) {
  using block = warden::deferred_block<Ref, 64>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * 64;
  for (std::uint32_t first = simt::block_rank() * 64; first < a.n; first += step) {
    std::uint32_t const i = first + simt::thread_rank();
    unsigned type = 0;
    (client.send(a.to.of(i), made<Sections>(i), i < a.n && i % sizeof...(Sections) == type++), ...);
  }
  client.flush();
}

/// Runs n sections of these types by turns, and checks each record.
template <class Record, class... Sections>
void run(ids to, std::uint32_t n, std::uint32_t partitions = 0) {
  using guarded = warden::basic_guarded<small_blocks, Record, Sections...>;
  using ref = typename guarded::deferred_ref;
  warden::buffer<Record> records{to.records};
  records.fill_bytes(0);
  guarded b{records};
  warden::deferred log{b, n, {.partitions = partitions}};
  simt::launch(&send<ref, Sections...>, 4, 64,
               sizeof(typename warden::deferred_block<ref, 64>::storage), {log.ref(), to, n}, {});
  log.run();
  b.wait();
  std::vector<Record> expected(to.records);
  for (std::uint32_t i = 0; i < n; ++i) {
    unsigned type = 0;
    auto const apply = [&]<class Section>(Section s) {
      if (i % sizeof...(Sections) == type++) s(expected[to.of(i)]);
    };
    (apply(made<Sections>(i)), ...);
  }
  auto const found = records.to_host();
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].count, expected[k].count) << "lost or doubled section on record " << k;
    ASSERT_EQ(found[k].sum, expected[k].sum) << "lost or doubled section on record " << k;
  }
}

}  // namespace hot
