// SPDX-License-Identifier: Apache-2.0
// What ranks exchange at its limits: more rows than one rank has, sums above 32 bits, and a row
// that a kernel writes between the count and the packing.

#include "tests/protocol/spread_order.cuh"
#include "tests/protocol/spread_tables.cuh"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace simt = warden::simt;
using ordering::append;
using ordering::traced;
using spreading::on_ranks;
using spreading::ranks;
using testing::StartsWith;
using bench = spreading::rank_bench<deferring::small_blocks<>>;

/// Actions of a test at the calls of a transport.
struct hooks {
  std::function<void(std::span<std::uint32_t>)> after_gather = [](auto) {};
  std::function<void()> before_exchange = [] {};
  std::function<void()> after_wait = [] {};
};
/// Passes all calls on to the transport of `world`.
class hooked final : public warden::runtime::transport {
 public:
  hooked(warden::communicator world, hooks const& at) : world_{std::move(world)}, at_{at} {}

  [[nodiscard]] int rank() const override { return world_.rank(); }
  [[nodiscard]] int size() const override { return world_.size(); }
  void all_gather(void const* own, void* all, std::size_t bytes, warden::stream_ref s,
                  std::source_location where) override {
    world_.transport().all_gather(own, all, bytes, s, where);
    s.synchronize();
    auto const words = bytes / sizeof(std::uint32_t) * static_cast<std::size_t>(size());
    at_.after_gather({static_cast<std::uint32_t*>(all), words});
  }
  void exchange(std::span<warden::runtime::outgoing const> sent,
                std::span<warden::runtime::incoming const> received, warden::stream_ref s,
                std::source_location where) override {
    at_.before_exchange();
    world_.transport().exchange(sent, received, s, where);
  }
  void wait(warden::stream_ref s, std::source_location where) override {
    world_.transport().wait(s, where);
    at_.after_wait();
  }

 private:
  warden::communicator world_;
  hooks const& at_;
};
warden::communicator with_hooks(warden::communicator const& world, hooks const& at) {
  return warden::communicator{std::make_shared<hooked>(world, at)};
}

// ---- rows

constexpr std::uint32_t rows_each = 250;  // rows of a rank, with one section each
using in_order =
    warden::basic_spread_guarded<ordering::in_order<warden::placement::in_memory>, traced, append>;
struct row_arguments {
  in_order::deferred_ref ref;
  std::uint32_t first, keys;
};
WARDEN_KERNEL void send_rows(row_arguments a) {
  using block = in_order::deferred_block<32>;
  block client{a.ref, *reinterpret_cast<block::storage*>(simt::dynamic_shared())};
  for (std::uint32_t i = a.first; i < a.first + rows_each; ++i) {
    client.send(i % a.keys, append{i}, simt::thread_rank() == 0);
    client.flush();
  }
}
/// The rows of all ranks together come to each rank, and are split in order there.
TEST(spread_exchange, more_rows_come_than_a_rank_has) {
  constexpr std::uint32_t keys = 3000;
  on_ranks(ranks(3), [](warden::communicator const& world) {
    in_order on{world, keys};
    auto const size = static_cast<std::uint32_t>(world.size());
    auto const rank = static_cast<std::uint32_t>(world.rank());
    warden::deferred later{on,
                           rows_each,
                           {.partitions = 4,
                            .split = 16,
                            .batches = rows_each,
                            .room = std::size_t{size} * rows_each}};
    using storage = in_order::deferred_block<32>::storage;
    simt::launch(&send_rows, 1, 32, sizeof(storage), {later.ref(), rank * rows_each, keys}, {});
    later.run();
    on.wait();
    std::uint64_t ran = 0, sent = 0;
    for (traced const& t : on.records().to_host()) ran += t.count;
    for (std::uint32_t i = 0; i < size * rows_each; ++i) sent += i % keys % size == rank ? 1 : 0;
    EXPECT_EQ(ran, sent) << "lost or doubled section";
  });
}

// ---- counts

/// Each of 4 other ranks counts 2^30 sections for rank 0.
TEST(spread_exchange, more_than_32_bits_of_sections_would_come_to_a_rank) {
  on_ranks(ranks(5), [](warden::communicator const& world) {
    hooks at;
    auto const size = static_cast<std::size_t>(world.size());
    bench b{with_hooks(world, at), 30};
    warden::deferred later{b.on(), 100, {.room = 1000}};
    b.send_alone(later, 0, 10);
    warden::stream_ref{}.synchronize();
    // For each rank: two words, and then its number of sections for each rank.
    std::size_t const each = 2 + size;
    at.after_gather = [&](std::span<std::uint32_t> all) {
      if (all.size() != size * each) return;
      for (std::size_t r = 0; r < size; ++r) all[r * each + 2] = 1u << 30;
    };
    at.before_exchange = [] { throw std::logic_error{"there is room for 2^32 sections"}; };
    EXPECT_THAT(spreading::told([&] { later.run(); }),
                StartsWith("run: 4294967296 sections would come to rank 0"));
    at = {};
    later.run();
    b.on().wait();
  });
}

// ---- tables

/// Rank 1 has too little shared memory, as all ranks learn when they make the log.
TEST(spread_exchange, no_rank_sends_tables_if_one_cannot) {
  constexpr std::uint32_t keys = 40, n = 200;
  for (bool const can : {true, false}) {
    on_ranks(ranks(2), [&](warden::communicator const& world) {
      hooks at;
      tabled::bench<tabled::deposit> b{with_hooks(world, at), keys};
      at.after_gather = [&](std::span<std::uint32_t> all) {
        // The last word of each rank is the number of places of a table.
        EXPECT_EQ(all.back(), keys / 2);
        if (!can) all.back() = 0;
      };
      warden::deferred later{b.on(), n};
      at = {};
      later.record_phases();
      auto const first = static_cast<std::uint32_t>(world.rank()) * n;
      b.send_alone(later, first, first + n);
      later.run();
      EXPECT_EQ(tabled::filled_tables(later), can) << "a rank has filled a table";
      b.on().wait();
      b.expect_ran(2 * n);
    });
  }
}

// ---- rows that are written too late

WARDEN_KERNEL void send_two_batches(bench::guarded::deferred_ref ref) {
  using block = bench::guarded::deferred_block<32>;
  block client{ref, *reinterpret_cast<block::storage*>(simt::dynamic_shared())};
  for (unsigned batch = 0; batch < 2; ++batch) {
    for (unsigned k = 0; k < 2; ++k) client.send(1, deferring::tick{}, true);
    client.flush();
  }
}
struct swap_arguments {
  bench::guarded::deferred_ref ref;
  std::uint32_t* kept;
};
/// Swaps the begin of the first row with `kept`.
WARDEN_KERNEL void swap_begin(swap_arguments a) { std::swap(a.ref.log.begins[0], *a.kept); }

TEST(spread_exchange, a_row_that_is_written_after_the_count_is_reported_and_does_not_travel) {
  on_ranks(ranks(2), [](warden::communicator const& world) {
    hooks at;
    bench b{with_hooks(world, at), 20};
    warden::deferred later{b.on(), 400, {.partitions = 1, .room = 400}};
    warden::buffer<std::uint32_t> kept{std::vector<std::uint32_t>{~0u}};
    auto const ref = later.ref();
    bool const sends = world.rank() == 0;
    if (sends) {
      simt::launch(&send_two_batches, 1, 32, sizeof(bench::guarded::deferred_block<32>::storage),
                   ref, {});
      // Missing while the ranks count, and there again when they pack.
      simt::launch(&swap_begin, 1, 1, 0, {ref, kept.data()}, {});
      at.after_wait = [&] { simt::launch(&swap_begin, 1, 1, 0, {ref, kept.data()}, {}); };
    }
    warden::stream_ref{}.synchronize();
    later.run();
    at = {};
    std::string const text = spreading::told([&] { b.on().wait(); });
    EXPECT_THAT(text, StartsWith(sends ? "run: 64 sections were lost, because a kernel was"
                                       : "rank 1 of 2: no error here, but on rank 0"));
    EXPECT_EQ(b.ran(), sends ? 0u : 64u) << "lost or doubled section";
  });
}

}  // namespace
