// SPDX-License-Identifier: Apache-2.0
// Calls on an answering table, and whether what the callers were told is what happened.
#pragma once

#include "apps/hash_table/answering_table.cuh"
#include "tests/apps/contents.cuh"

#include <warden/buffer.hpp>
#include <warden/fused.cuh>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace test {

/// Round i uses keys of three kinds: counters, which are only added to; shared ones, which come and
/// go; and one of its own.
struct outcome_keys {
  static constexpr std::uint32_t counters = 4, shared = 16, first_own = counters + shared;
  WARDEN_HOST_DEVICE static std::uint32_t shared_one(std::uint32_t i) {
    return counters + i % shared;
  }
};
inline constexpr std::uint32_t outcomes = 6;

template <class Table>
struct call_all_kinds {
  using operation = typename Table::section;
  using outcome = hash_table::outcome;

  std::uint32_t n;
  std::uint32_t* told;  ///< [key][outcome] number of callers that got it; own keys together
  std::uint32_t* wrong;

  __device__ void operator()(warden::virtual_block const& at,
                             typename Table::ref const& ref) const {
    typename Table::client client{ref, at};
    typename Table::thread_client const alone{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      call_on_shared(client, i, i < n);
      if (i >= n) continue;
      call_on_own(alone, i);
      call_on_counter(alone, i % outcome_keys::counters);
    }
  }

 private:
  /// All threads of the block.
  __device__ void call_on_shared(typename Table::client& client, std::uint32_t i,
                                 bool valid) const {
    std::uint32_t const a = outcome_keys::shared_one(i), b = outcome_keys::shared_one(i / 2),
                        c = outcome_keys::shared_one(3 * i), d = outcome_keys::shared_one(5 * i);
    auto const value_of = [&](std::uint32_t key) { return key + std::uint64_t{i} * 64; };
    auto inserts = client.call(typename operation::insert{a, value_of(a)}, valid);
    auto assigns = client.call(typename operation::insert_or_assign{b, value_of(b)}, valid);
    auto erases = client.call(typename operation::erase{c}, valid);
    auto finds = client.call(typename operation::find{d}, valid);
    client.flush();
    if (!valid) return;
    note(a, inserts.get());
    note(b, assigns.get());
    note(c, erases.get());
    auto const found = finds.get();
    expect(found && (!found->is_there || (found->value & 63) == d));
  }

  /// No other thread has this key.
  __device__ void call_on_own(typename Table::thread_client const& alone, std::uint32_t i) const {
    std::uint32_t const own = outcome_keys::first_own + i;
    auto const is = [&](std::uint64_t value) {
      auto const mine = alone.call(typename operation::find{own}).get();
      expect(mine && mine->is_there == (value != 0) && mine->value == value);
    };
    auto const becomes = [&](auto const& section, outcome wanted) {
      auto const answer = alone.call(section).get();
      expect(answer && *answer == wanted);
      note(own, answer);
    };
    is(0);
    becomes(typename operation::insert{own, i + 7ull}, outcome::inserted);
    becomes(typename operation::insert{own, i + 8ull}, outcome::present);
    is(i + 7ull);
    becomes(typename operation::insert_or_assign{own, i + 9ull}, outcome::updated);
    is(i + 9ull);
    becomes(typename operation::erase{own}, outcome::erased);
    becomes(typename operation::erase{own}, outcome::absent);
    is(0);
  }

  /// A counter is never erased, so it grows.
  __device__ void call_on_counter(typename Table::thread_client const& alone,
                                  std::uint32_t counter) const {
    auto const before = alone.call(typename operation::find{counter}).get();
    note(counter, alone.call(typename operation::add{counter, 1}).get());
    auto const after = alone.call(typename operation::find{counter}).get();
    expect(before && after && after->is_there && after->value > before->value);
  }

  __device__ void expect(bool right) const {
    if (!right) warden::simt::fetch_add(wrong, 1u);
  }
  __device__ void note(std::uint32_t key, warden::answer<outcome> const& answer) const {
    bool const told_something = answer && static_cast<std::uint32_t>(*answer) < outcomes;
    expect(told_something);
    if (!told_something) return;
    std::uint32_t const row = key < outcome_keys::first_own ? key : outcome_keys::first_own;
    warden::simt::fetch_add(&told[row * outcomes + static_cast<std::uint32_t>(*answer)], 1u);
  }
};

/// Runs `n` rounds on a new table of 32-bit keys and 64-bit values, all of which fit it.
template <class Table>
void check_told(Table& t, std::uint32_t n, unsigned grid) {
  constexpr std::uint32_t rows = outcome_keys::first_own + 1;
  warden::buffer<std::uint32_t> told{rows * outcomes}, wrong{1};
  told.fill_bytes(0);
  wrong.fill_bytes(0);
  warden::launch_fused(call_all_kinds<Table>{n, told.data(), wrong.data()}, grid,
                       Table::guarded_type::policy::block_threads, {}, t.guarded());
  t.wait();
  ASSERT_EQ(wrong.to_host()[0], 0u);
  // The outcomes that callers received are those that were counted.
  auto const host_told = told.to_host();
  std::array<std::uint64_t, outcomes> sum{};
  for (std::uint32_t j = 0; j < host_told.size(); ++j) sum[j % outcomes] += host_told[j];
  auto const counts = t.counts();
  ASSERT_EQ(sum,
            (std::array<std::uint64_t, outcomes>{counts.inserted, counts.updated, counts.present,
                                                 counts.erased, counts.absent, counts.refused}));
  // Checks the contents of the table, too.
  auto const all = contents<std::uint32_t, std::uint64_t>(t, outcome_keys::first_own + n);
  for (std::uint32_t k = 0; k < rows; ++k) {
    auto const times = [&](hash_table::outcome o) {
      return host_told[k * outcomes + static_cast<std::uint32_t>(o)];
    };
    std::uint32_t const left =
        times(hash_table::outcome::inserted) - times(hash_table::outcome::erased);
    ASSERT_EQ(left, all.contains(k) ? 1u : 0u) << "key " << k;
    if (k < outcome_keys::counters) {
      ASSERT_EQ(all.at(k), n / outcome_keys::counters) << "key " << k;
    }
  }
}

}  // namespace test
