// SPDX-License-Identifier: Apache-2.0
// What the protocol tests share: small policies, records that tell whether a message was lost,
// doubled or torn, and seeds.
#pragma once

#include <warden/fused.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace test {

inline bool simulated() { return warden::runtime::facts(0).simulated; }

/// Chooses a repetition count or a size: a GPU does a thousand times what the simulated device
/// does.
template <class T>
T sized(T on_simulated_device, T on_gpu) {
  return simulated() ? on_simulated_device : on_gpu;
}

/// Chooses how many records are on chip: most devices have less than half of 227 KB of shared
/// memory a block.
template <class T>
T on_chip(T on_large_device, T on_small_device) {
  bool const is_large = warden::runtime::facts(0).shared_bytes_per_block >= std::size_t{160} << 10;
  return is_large ? on_large_device : on_small_device;
}

/// A pointer to records that nothing reads or writes, for tests of limits.
template <class Record>
Record* no_records() {
  return reinterpret_cast<Record*>(std::uintptr_t{1} << 20);
}

inline std::uint64_t environment(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Two warps a block and a small outbox, so that the simulated device sees many batches. One
/// kernel, not two to choose from: they take long enough to compile.
template <class... Parts>
using small = warden::policy<warden::options{.block_threads = 64,
                                             .tuning = {.minimum_blocks_per_multiprocessor = 3,
                                                        .channel_bytes = 2048}},
                             Parts...>;
/// The policies under test, their executors small enough that tables wrap and windows are full.
using sorted = small<warden::executor::sorted<64>>;
using locks = small<warden::executor::locks<64>>;
using paper = warden::with_values<
    warden::with_parts<warden::paper_policy,
                       warden::executor::locks<64, warden::detail::leader_server>>,
    &warden::options::block_threads, 64, &warden::tuning::channel_bytes, 2048>;

/// Limits of a launch by a policy under test.
struct policy_limits {
  unsigned fewest_threads = 32;
  unsigned blocks_on_multiprocessor = 2;
  unsigned most_servers = 6000;
};
template <class Policy>
inline constexpr policy_limits limits{};
/// The buffers of the paper's sender take half a kilobyte for each server.
template <>
inline constexpr policy_limits limits<paper>{
    .fewest_threads = 64, .blocks_on_multiprocessor = 1, .most_servers = 400};

#if !defined(TEST_EXECUTOR)
#  define TEST_EXECUTOR sorted
#endif
using small_policy = TEST_EXECUTOR;

/// Adds up everything that reached it.
struct tally {
  std::uint64_t count;
  std::uint64_t sum;
  std::uint64_t mixed;  ///< a sum of a hash of each whole message: a torn one changes it
};

WARDEN_HOST_DEVICE std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A section with `Words` 32-bit words of payload, all derived from the first one.
template <int Words>
struct record_in {
  static constexpr bool reads_other_memory = false;
  std::uint32_t words[Words];

  WARDEN_HOST_DEVICE static record_in of(std::uint32_t value) {
    record_in r;
    for (int i = 0; i < Words; ++i)
      r.words[i] = value * 2654435761u + static_cast<std::uint32_t>(i);
    r.words[0] = value;
    return r;
  }
  WARDEN_HOST_DEVICE std::uint64_t hash() const {
    std::uint64_t h = 0;
    for (int i = 0; i < Words; ++i) h = mix(h + words[i] + 1);
    return h;
  }
  __device__ void operator()(tally& t, warden::no_context) const {
    t.count += 1;
    t.sum += words[0];
    t.mixed += hash();
  }
};

/// The record that operation i goes to: spread, or one hot record for `records` == 1.
WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint64_t i, std::uint32_t records) {
  // Scaled, not a remainder: no division for the machine code check to find in every test kernel.
  return static_cast<std::uint32_t>((mix(i) >> 32) * records >> 32);
}

/// The records' expected values after the operations 0 .. n-1.
template <int Words>
std::vector<tally> expected(std::uint64_t n, std::uint32_t records) {
  std::vector<tally> tallies(records);
  for (std::uint64_t i = 0; i < n; ++i) {
    auto const section = record_in<Words>::of(static_cast<std::uint32_t>(i));
    tally& t = tallies[id_of(i, records)];
    t.count += 1;
    t.sum += section.words[0];
    t.mixed += section.hash();
  }
  return tallies;
}

inline void expect_equal(std::vector<tally> const& seen, std::vector<tally> const& wanted) {
  ASSERT_EQ(seen.size(), wanted.size());
  for (std::size_t k = 0; k < seen.size(); ++k) {
    ASSERT_EQ(seen[k].count, wanted[k].count) << "record " << k << ": messages lost or doubled";
    ASSERT_EQ(seen[k].sum, wanted[k].sum) << "record " << k << ": wrong payload";
    ASSERT_EQ(seen[k].mixed, wanted[k].mixed) << "record " << k << ": torn message";
  }
}

/// Calls `action(i)` for the operations 0 .. n-1 of a kernel. The threads of a block stay together:
/// in its last round there may be n or more.
template <class Action>
WARDEN_DEVICE void in_rounds(warden::virtual_block const& at, std::uint64_t n, Action action) {
  for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < n;
       first += at.global_size())
    action(first + at.thread_rank());
}

/// Sends the operations 0 .. n-1 through block clients, each as Section::of(its number).
template <class Section>
struct send_sections {
  std::uint64_t n;
  std::uint32_t records;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    in_rounds(at, n, [&](std::uint64_t i) {
      client.send(id_of(i, records), Section::of(static_cast<std::uint32_t>(i)), i < n);
    });
    client.flush();
  }
};
template <int Words>
using send_by_block = send_sections<record_in<Words>>;

/// Sends through thread clients.
template <int Words>
struct send_by_thread {
  std::uint64_t n;
  std::uint32_t records;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    for (std::uint64_t i = at.global_rank(); i < n; i += at.global_size()) {
      client.send(id_of(i, records), record_in<Words>::of(static_cast<std::uint32_t>(i)));
    }
  }
};

/// Tells the servers that all clients are done, and waits until they have left. For the launch's
/// only client block; collective.
template <class Ref>
__device__ void send_servers_home(warden::virtual_block const& at, Ref const& ref) {
  if (at.thread_rank() == 0) {
    warden::simt::fence_device();
    warden::simt::fetch_add(&ref.launch.control->counters.client_blocks_done,
                            ref.launch.client_blocks);
    for (int i = 0; i < 3000; ++i) warden::simt::back_off(10);
  }
  warden::simt::sync_block();
}

/// Zeroed records and a guarded array on them.
template <class Guarded>
struct guarded_records {
  using record = typename Guarded::record;
  warden::buffer<record> records;
  Guarded guarded;

  explicit guarded_records(std::size_t size, warden::guarded_options options = {})
      : records{size}, guarded{zeroed(records), options} {}

  static warden::buffer<record>& zeroed(warden::buffer<record>& b) {
    b.fill_bytes(0);
    return b;
  }
};

}  // namespace test
