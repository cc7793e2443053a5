// SPDX-License-Identifier: Apache-2.0
// Sections that several lanes run, on a record that tells whether they ever were apart.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <functional>
#include <vector>

namespace together {

namespace simt = warden::simt;

/// All words are equal, unless a section sees another one half done.
struct row {
  static constexpr unsigned size = 32;
  std::uint32_t words[size];
  std::uint32_t count;
  std::uint32_t apart;  ///< sections whose lanes saw different words, or a wrong collective
};

/// True if all messages between the lanes of a group arrive.
template <unsigned Lanes>
__device__ bool tells(warden::lane_group<Lanes> const& group) {
  unsigned const me = group.lane();
  unsigned const all = Lanes == 32 ? ~0u : (1u << Lanes % 32) - 1, odd = 0xaaaaaaaau & all;
  auto const sum = [](std::uint64_t a, std::uint64_t b) { return a + b; };
  bool good = me < Lanes;
  good = good && group.shuffle(me, me + 1) == (me + 1) % Lanes;
  good = good && group.shuffle((std::uint64_t{me} << 40) + 1, 0) == 1;
  good = good && group.ballot(me % 2 == 1) == odd;
  good = good && group.any(me == Lanes - 1) && !group.any(me == Lanes);
  good = good && group.all(me < Lanes) && (Lanes == 1 || !group.all(me != 0));
  good = good && group.match(me % 2) == (me % 2 == 0 ? all & ~odd : odd);
  return good && group.reduce(std::uint64_t{me}, sum) == std::uint64_t{Lanes} * (Lanes - 1) / 2;
}

/// Adds to every word, after all lanes have looked at their neighbours' words.
template <unsigned Lanes>
struct add {
  static constexpr unsigned group_size = Lanes;
  static constexpr bool reads_other_memory = false;
  std::uint32_t value;
  std::uint32_t filler;

  __device__ static add of(std::uint32_t i) { return {value_of(i), i}; }
  WARDEN_HOST_DEVICE static std::uint32_t value_of(std::uint32_t i) { return i * 2654435761u + 1; }

  __device__ void operator()(row& r, warden::lane_group<Lanes> const& group) const {
    bool good = filler * 2654435761u + 1 == value && tells(group);
    std::uint32_t const first = r.words[0];
    for (unsigned w = group.lane(); w < row::size; w += Lanes)
      good = good && r.words[(w + 1) % row::size] == first;
    group.sync();
    for (unsigned w = group.lane(); w < row::size; w += Lanes) r.words[w] += value;
    group.sync();
    for (unsigned w = group.lane(); w < row::size; w += Lanes)
      good = good && r.words[(w + 1) % row::size] == first + value;
    bool const all = group.all(good);
    if (group.lane() == 0) ++r.count, r.apart += all ? 0 : 1;
  }
};
/// The section by one thread, without a group.
struct add_alone {
  static constexpr bool reads_other_memory = false;
  std::uint32_t value;

  __device__ static add_alone of(std::uint32_t i) { return {add<1>::value_of(i)}; }
  __device__ void operator()(row& r) const {
    for (std::uint32_t& w : r.words) {
      if (w != r.words[row::size - 1]) ++r.apart;
      if (&w == &r.words[row::size - 1]) break;
    }
    for (std::uint32_t& w : r.words) w += value;
    ++r.count;
  }
};

/// `Sections` are those of a guarded array: operation i is one of the type of number i modulo
/// theirs.
template <class... Sections>
struct operations {
  static constexpr unsigned types = sizeof...(Sections);

  /// Calls `f` with the section of operation i.
  template <class F>
  __device__ static void with(std::uint32_t i, F f) {
    unsigned type = 0;
    ((i % types == type++ ? static_cast<void>(f(Sections::of(i))) : static_cast<void>(0)), ...);
  }
};
/// Every thread by itself.
template <class Ref, class Operations>
struct sending {
  Ref ref;
  std::uint32_t n, keys;
};
template <class Ref, class Operations>
WARDEN_KERNEL void send_all(sending<Ref, Operations> a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.n) return;
  Operations::with(i, [&](auto const& section) { a.ref.send(test::id_of(i, a.keys), section); });
}

/// Checks the rows after `launches` times the operations 0 .. n-1 have run.
inline void expect_rows(std::vector<row> const& rows, std::uint32_t n, std::uint32_t launches) {
  auto const keys = static_cast<std::uint32_t>(rows.size());
  std::vector<row> wanted(keys, row{});
  for (std::uint32_t i = 0; i < n; ++i) {
    row& r = wanted[test::id_of(i, keys)];
    r.words[0] += launches * add<1>::value_of(i);
    r.count += launches;
  }
  for (std::uint32_t k = 0; k < keys; ++k) {
    ASSERT_EQ(rows[k].count, wanted[k].count) << "lost or doubled section on record " << k;
    ASSERT_EQ(rows[k].apart, 0u) << "lanes saw another section half done, on record " << k;
    for (std::uint32_t const w : rows[k].words)
      ASSERT_EQ(w, wanted[k].words[0]) << "lost or doubled section on record " << k;
  }
}

template <class Executor, warden::placement Where = warden::placement::in_memory,
          unsigned Threads = 32>
using deferring =
    warden::policy<warden::options{.records = Where, .block_threads = Threads}, Executor>;

/// Defers `n` operations to a log, and runs it; `launches` times.
template <class Policy, class... Sections>
void defer(std::uint32_t n, std::uint32_t keys, unsigned launches) {
  using guarded = warden::basic_guarded<Policy, row, Sections...>;
  using arguments = sending<typename guarded::deferred_ref, operations<Sections...>>;
  test::guarded_records<guarded> g{keys};
  warden::deferred later{g.guarded, n};
  for (unsigned launch = 0; launch < launches; ++launch) {
    simt::launch(&send_all<typename guarded::deferred_ref, operations<Sections...>>, (n + 63) / 64,
                 64, 0, arguments{later.ref(), n, keys}, {});
    later.run();
  }
  g.guarded.wait();
  expect_rows(g.records.to_host(), n, launches);
}

}  // namespace together
