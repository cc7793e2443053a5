// SPDX-License-Identifier: Apache-2.0
// Logs at their edges: counters of a full shard, messages that reach over a shard's end, rows
// that fill a window exactly, and storage that is still in use.

#include "tests/protocol/deferred.cuh"
#include "tests/protocol/deferred_combining.cuh"
#include "tests/support/many_schedules.cuh"

#include <warden/detail/deferred/section_log.cuh>

#include <cstddef>
#include <cstdint>

namespace {

namespace simt = warden::simt;

// ---- a shard's word, and the log's word for "full"

struct message {
  std::uint32_t value;
};
/// A log of two shards without a guarded array.
struct two_shards {
  using log_type = warden::detail::section_log<message>;

  explicit two_shards(std::uint32_t places) : pool{places}, shards{2}, control{1}, accepted{1} {
    shards.fill_bytes(0);
    control.fill_bytes(0);
    accepted.fill_bytes(0);
    log.pool = pool.data();
    log.shards = shards.data();
    log.control = control.data();
    log.size = places;
    log.shard_size = places / 2;
    log.last_shard = 1;
  }

  warden::buffer<message> pool;
  warden::buffer<warden::detail::log_shard> shards;
  warden::buffer<warden::detail::log_control> control;
  warden::buffer<std::uint32_t> accepted;
  log_type log;
};
struct put_arguments {
  two_shards::log_type log;
  std::uint32_t* accepted;
  std::uint32_t n;
};

WARDEN_KERNEL void put(put_arguments a) {
  for (std::uint32_t i = 0; i < a.n; ++i) {
    if (a.log.put(0, {i})) simt::fetch_add(a.accepted, 1u);
  }
}
/// Each block puts one message. The last block empties the log at the same time, as a run does.
WARDEN_KERNEL void put_and_empty(put_arguments a) {
  if (simt::block_rank() + 1 != simt::block_count()) {
    if (a.log.put(0, {0})) simt::fetch_add(a.accepted, 1u);
    return;
  }
  for (std::uint32_t r = 0; r <= a.log.last_shard; ++r)
    simt::store_relaxed(&a.log.shards[r].taken, std::uint64_t{0});
  simt::store_relaxed(&a.log.control->cycle, a.log.control->cycle + 1);
}
TEST(deferred_edges, an_emptied_log_is_not_full_because_a_late_sender_found_it_full) {
  test::under_many_schedules(1, [](std::uint64_t) {
    two_shards l{20};
    simt::launch(&put, 1, 1, 0, {l.log, l.accepted.data(), l.log.size}, {});
    simt::launch(&put_and_empty, 5, 1, 0, {l.log, l.accepted.data(), 0}, {});
    simt::launch(&put, 1, 1, 0, {l.log, l.accepted.data(), l.log.size + 2}, {});
    EXPECT_EQ(l.accepted.to_host()[0], 2 * l.log.size) << "lost section";
  });
}

constexpr std::uint32_t large_batch = 40'000;

WARDEN_KERNEL void take_batches(put_arguments a) {
  for (std::uint32_t i = 0; i < a.n; ++i) {
    if (a.log.take<two_shards::log_type::side::batch>(0, large_batch).count != 0) ++*a.accepted;
  }
  a.log.close(0);
}
TEST(deferred_edges, a_full_shard_stays_full_after_more_than_32_bits_of_refusals) {
  constexpr std::uint32_t takes = 120'000;
  static_assert(std::uint64_t{takes} * large_batch > std::uint64_t{1} << 32);
  two_shards l{10 * large_batch};
  simt::launch(&take_batches, 1, 1, 0, {l.log, l.accepted.data(), takes}, {});
  EXPECT_EQ(l.accepted.to_host()[0], l.log.shard_size / large_batch) << "lost or doubled section";
  auto const shard = l.shards.to_host()[0];
  EXPECT_EQ(shard.flat, 0u);
  EXPECT_EQ(shard.batches, l.log.shard_size);
}

// ---- messages of several places

using samples = combined::totals_of<combined::sample>;
constexpr unsigned sample_threads = 128, batches = 543, of_batch = 241;
using sample_block = samples::deferred_block<sample_threads>;

/// Each batch has 80 groups of three samples and one sample alone.
WARDEN_KERNEL void send_groups_of_three(samples::deferred_ref ref) {
  sample_block client{ref, *reinterpret_cast<sample_block::storage*>(simt::dynamic_shared())};
  for (unsigned b = 0; b < batches; ++b) {
    for (unsigned k = 0; k < 2; ++k) {
      unsigned const j = k * sample_threads + simt::thread_rank();
      client.send(j / 3, combined::sample{j}, j < of_batch);
    }
    client.flush();
  }
}
struct rest_arguments {
  samples::deferred_ref ref;
  unsigned n;
};
WARDEN_KERNEL void send_rest(rest_arguments a) {
  for (unsigned i = simt::thread_rank(); i < a.n; i += simt::block_threads())
    a.ref.send(99, combined::sample{i});
}
/// A partial takes three places, so a batch takes as many places as it has samples. The last
/// partial of the first shard reaches into the gap after the shard.
TEST(deferred_edges, a_log_of_n_takes_n_where_a_partial_reaches_over_the_end_of_a_shard) {
  constexpr unsigned n = 2 << 16;  // two shards
  warden::buffer<combined::total> records{100};
  records.fill_bytes(0);
  samples on{records};
  warden::deferred later{on, n, {.partitions = 1}};
  simt::launch(&send_groups_of_three, 1, sample_threads, sizeof(sample_block::storage), later.ref(),
               {});
  simt::launch(&send_rest, 1, sample_threads, 0, {later.ref(), n - batches * of_batch}, {});
  later.run();
  EXPECT_NO_THROW(on.wait());
  std::uint64_t ran = 0;
  for (combined::total const& t : records.to_host()) ran += t.operations;
  EXPECT_EQ(ran, n) << "lost or doubled section";
}

// ---- rows that fill the window of a warp

template <class Guarded>
WARDEN_KERNEL void send_full_batch(typename Guarded::deferred_ref ref) {
  using block = typename Guarded::template deferred_block<32>;
  block client{ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  for (unsigned k = 0; k < 2; ++k) client.send(k, deferring::tick{}, true);
  client.flush();
}
template <class Executor>
void expect_full_windows_run() {
  using bench = deferring::bench<deferring::small_blocks<Executor>>;
  using guarded = typename bench::guarded;
  constexpr unsigned blocks = 100, n = blocks * 64;
  bench b{2};
  warden::deferred later{b.on(), n, {.partitions = 1}};
  simt::launch(&send_full_batch<guarded>, blocks, 32,
               sizeof(typename guarded::template deferred_block<32>::storage), later.ref(), {});
  later.run();
  b.on().wait();
  EXPECT_EQ(b.ran(), n) << "lost or doubled section";
}
TEST(deferred_edges, rows_that_fill_windows_exactly_are_followed_by_others) {
  expect_full_windows_run<warden::executor::sorted<64>>();
  expect_full_windows_run<warden::executor::locks<64>>();
}

// ---- storage of a block client

constexpr unsigned storage_threads = 128;
using storage_guarded = deferring::bench<deferring::small_blocks<>>::guarded;
using storage_block = storage_guarded::deferred_block<storage_threads>;
struct storage_arguments {
  storage_guarded::deferred_ref ref;
  std::uint32_t* wrong;
};
/// Each thread reads words of other threads, then constructs the client in the same storage.
WARDEN_KERNEL void read_then_construct(storage_arguments a) {
  std::byte* const storage = simt::dynamic_shared();
  auto* const words = reinterpret_cast<std::uint32_t*>(storage);
  constexpr unsigned n = sizeof(storage_block::storage) / 4;
  for (unsigned i = simt::thread_rank(); i < n; i += storage_threads)
    simt::shared_store(words[i], i + 1);
  simt::sync_block();
  std::uint32_t wrong = 0;
  for (unsigned i = simt::thread_rank(); i < n; i += storage_threads)
    wrong += simt::shared_load(words[n - 1 - i]) == n - i ? 0 : 1;
  storage_block client{a.ref, *reinterpret_cast<storage_block::storage*>(storage)};
  client.send(simt::thread_rank() % 20, deferring::tick{}, true);
  client.flush();
  if (wrong != 0) simt::fetch_add(a.wrong, wrong);
}
TEST(deferred_edges, a_client_is_constructed_after_all_threads_have_read_its_storage) {
  test::under_many_schedules(1, [](std::uint64_t) {
    deferring::bench<deferring::small_blocks<>> b{20};
    warden::deferred later{b.on(), storage_threads};
    warden::buffer<std::uint32_t> wrong{1};
    wrong.fill_bytes(0);
    simt::launch(&read_then_construct, 1, storage_threads, sizeof(storage_block::storage),
                 {later.ref(), wrong.data()}, {});
    later.run();
    b.on().wait();
    EXPECT_EQ(wrong.to_host()[0], 0u) << "words were overwritten";
  });
}

}  // namespace
