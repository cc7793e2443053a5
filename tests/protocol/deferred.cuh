// SPDX-License-Identifier: Apache-2.0
// Kernels that defer sections, and the expected records.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <string>
#include <vector>

namespace deferring {

namespace simt = warden::simt;

/// A record in which every section leaves a trace.
struct entry {
  std::uint64_t sum;
  std::uint32_t count;
  std::uint32_t last;
};
/// A deferred section of `Words` words, the first of which is different for every operation.
template <unsigned Words>
struct add {
  std::uint32_t values[Words];
  __device__ static add of(std::uint32_t i) {
    add a{};
    for (unsigned w = 0; w < Words; ++w) a.values[w] = i * (w + 1) + 1;
    return a;
  }
  __device__ void operator()(entry& e) const {
    for (unsigned w = 0; w < Words; ++w) e.sum += values[w];
    ++e.count;
    e.last = values[0];
  }
};
/// A second type, without data members.
struct tick {
  __device__ void operator()(entry& e) const { ++e.count; }
};

/// Policy of small blocks.
template <class Executor = warden::executor::automatic,
          warden::placement Where = warden::placement::in_memory>
using small_blocks =
    warden::policy<warden::options{.records = Where, .block_threads = 32}, Executor>;
template <class Policy, unsigned Words = 1>
using table = warden::basic_guarded<Policy, entry, add<Words>, tick>;

/// Operation i is for this record.
WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint32_t i, std::uint32_t keys) {
  return static_cast<std::uint32_t>((std::uint64_t{i} * 2654435761u >> 7) % keys);
}

template <class Guarded>
struct arguments {
  typename Guarded::deferred_ref ref;
  std::uint32_t first, end;  ///< operations
  std::uint32_t keys;
  std::uint64_t* refused;  ///< as the senders were told
};

/// Every thread by itself; the odd operations in a branch of their own.
template <class Guarded, unsigned Words>
WARDEN_KERNEL void send_alone(arguments<Guarded> a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.end) return;
  bool accepted;
  if (i % 2 == 0) {
    accepted = a.ref.send(id_of(i, a.keys), add<Words>::of(i));
  } else {
    accepted = a.ref.send(id_of(i, a.keys), add<Words>::of(i));
  }
  if (!accepted) simt::fetch_add(a.refused, std::uint64_t{1});
}
/// By block clients, in a grid-stride loop; now and then a thread has nothing to send, or appends.
template <class Guarded, unsigned Words, unsigned Threads>
WARDEN_KERNEL void send_together(arguments<Guarded> a) {
  using block = typename Guarded::template deferred_block<Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * Threads;
  for (std::uint32_t base = a.first + simt::block_rank() * Threads; base < a.end; base += step) {
    std::uint32_t const i = base + simt::thread_rank();
    bool const appends = i % 61 == 7;
    client.send(id_of(i, a.keys), add<Words>::of(i), i < a.end && !appends);
    if (i < a.end && appends && !client.append(id_of(i, a.keys), add<Words>::of(i)))
      simt::fetch_add(a.refused, std::uint64_t{1});
  }
  std::uint32_t const refused = client.flush();
  if (simt::thread_rank() == 0) simt::fetch_add(a.refused, std::uint64_t{refused});
}

/// A section for each of the first 32 records.
template <class Guarded>
struct send_fused {
  __device__ void operator()(warden::virtual_block const& at,
                             typename Guarded::ref const& ref) const {
    typename Guarded::block_client client{ref, at};
    client.send(at.thread_rank(), add<1>::of(1));
    client.flush();
  }
};
/// Records, and logs on them.
template <class Policy, unsigned Words = 1>
class bench {
 public:
  using guarded = table<Policy, Words>;
  using log = warden::deferred<Policy, entry, add<Words>, tick>;
  static constexpr unsigned threads = 32;

  explicit bench(std::uint32_t keys) : keys_{keys}, records_{keys}, refused_{1}, on_{records_} {
    records_.fill_bytes(0);
    refused_.fill_bytes(0);
  }

  guarded& on() { return on_; }
  warden::buffer<entry> const& records() const { return records_; }
  std::uint64_t refused() const { return refused_.to_host()[0]; }

  void send_alone(log& to, std::uint32_t first, std::uint32_t end,
                  warden::stream_ref s = {}) const {
    unsigned const blocks = (end - first + threads - 1) / threads;
    simt::launch(&deferring::send_alone<guarded, Words>, blocks, threads, 0,
                 {to.ref(), first, end, keys_, refused_.data()}, s);
  }
  void send_together(log& to, std::uint32_t first, std::uint32_t end, unsigned blocks,
                     warden::stream_ref s = {}) const {
    using storage = typename guarded::template deferred_block<threads>::storage;
    simt::launch(&deferring::send_together<guarded, Words, threads>, blocks, threads,
                 sizeof(storage), {to.ref(), first, end, keys_, refused_.data()}, s);
  }

  /// Exactly these operations have run, each once.
  void expect_ran(std::uint32_t first, std::uint32_t end) const {
    std::vector<entry> expected(keys_);
    for (std::uint32_t i = first; i < end; ++i) {
      entry& e = expected[id_of(i, keys_)];
      for (unsigned w = 0; w < Words; ++w) e.sum += std::uint32_t{i * (w + 1) + 1};
      ++e.count;
    }
    auto const found = records_.to_host();
    for (std::uint32_t k = 0; k < keys_; ++k) {
      ASSERT_EQ(found[k].count, expected[k].count) << "lost or doubled section on record " << k;
      ASSERT_EQ(found[k].sum, expected[k].sum) << "lost or doubled section on record " << k;
    }
  }
  /// How many have run, whichever.
  std::uint64_t ran() const {
    std::uint64_t count = 0;
    for (entry const& e : records_.to_host()) count += e.count;
    return count;
  }

 private:
  std::uint32_t keys_;
  warden::buffer<entry> records_;
  warden::buffer<std::uint64_t> refused_;
  guarded on_;
};

}  // namespace deferring
