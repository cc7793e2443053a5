// SPDX-License-Identifier: Apache-2.0
// What a thread wrote before `send` is visible to the section, and sections to later sections and
// the stream.

#include "tests/support/support.cuh"

namespace {

struct notes {
  std::uint32_t* written;  ///< one word for each operation, written by the client before it sends
};
struct seen {
  std::uint64_t good;
  std::uint64_t stale;
};
struct look {
  std::uint32_t operation;
  __device__ void operator()(seen& s, notes context) const {
    bool const good = warden::simt::load_relaxed(&context.written[operation]) == operation + 1;
    (good ? s.good : s.stale) += 1;
  }
};
using policy = warden::with_parts<test::small_policy, warden::context<notes>>;
using watched = warden::basic_guarded<policy, seen, look>;

enum class by { send, append, thread };

struct write_then_send {
  std::uint32_t* written;
  std::uint32_t n;
  by how;
  __device__ void operator()(warden::virtual_block const& at, watched::ref const& ref) const {
    watched::block_client client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      if (i < n) warden::simt::store_relaxed(&written[i], i + 1);
      if (how == by::send) client.send(i % 5, look{i}, i < n);
      if (how == by::append && i < n) client.append(i % 5, look{i});
      if (how == by::thread && i < n) watched::thread_client{ref, at}.send(i % 5, look{i});
    }
    client.flush();
  }
};

void check(by how, std::uint32_t n) {
  warden::buffer<std::uint32_t> written{n};
  written.fill_bytes(0);
  warden::buffer<seen> records{5};
  records.fill_bytes(0);
  warden::guarded_options options;
  options.servers = 2;
  watched g{records, notes{written.data()}, options};
  warden::launch_fused(write_then_send{written.data(), n, how}, 4, 64, {}, g);
  g.wait();
  std::uint64_t good = 0, stale = 0;
  for (seen const& s : records.to_host()) {
    good += s.good;
    stale += s.stale;
  }
  EXPECT_EQ(stale, 0u) << "sections that did not see what their client wrote before send";
  EXPECT_EQ(good, n);
}

TEST(visibility, of_writes_before_send) {
  for (int i = 0; i < 10; ++i) check(by::send, test::sized(700u, 200'000u));
}
TEST(visibility, of_writes_before_append) {
  for (int i = 0; i < 10; ++i) check(by::append, test::sized(700u, 200'000u));
}
TEST(visibility, of_writes_before_a_threads_send) {
  for (int i = 0; i < 40; ++i) check(by::thread, test::sized(500u, 100'000u));
}

/// One section that reads other memory, `words` words of it, among others that do not: its messages
/// need the fence.
struct look_wide {
  static constexpr std::uint32_t words = 8;
  std::uint32_t operation;
  __device__ void operator()(seen& s, notes context) const {
    bool good = true;
    for (std::uint32_t k = 0; k < words; ++k) {
      std::uint32_t const* const word = &context.written[operation * words + k];
      good = warden::simt::load_relaxed(word) == operation + 1 && good;
    }
    (good ? s.good : s.stale) += 1;
  }
};
struct look_away {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(seen& s, notes) const { s.good += 1; }
};
using mixed = warden::basic_guarded<policy, seen, look_away, look_wide>;
struct write_then_send_mixed {
  std::uint32_t* written;
  std::uint32_t n;
  __device__ void operator()(warden::virtual_block const& at, mixed::ref const& ref) const {
    mixed::block_client client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      for (std::uint32_t k = 0; i < n && k < look_wide::words; ++k)
        warden::simt::store_relaxed(&written[i * look_wide::words + k], i + 1);
      client.send(i % 5, look_wide{i}, i < n);
      client.send(i % 5, look_away{}, i < n);
      client.flush();
    }
  }
};
TEST(visibility, of_writes_before_send_where_only_one_section_asks_for_it) {
  std::uint32_t const n = test::sized(700u, 200'000u);
  for (int i = 0; i < 10; ++i) {
    warden::buffer<std::uint32_t> written{n * look_wide::words};
    written.fill_bytes(0);
    warden::buffer<seen> records{5};
    records.fill_bytes(0);
    mixed g{records, notes{written.data()}, {.servers = 2}};
    warden::launch_fused(write_then_send_mixed{written.data(), n}, 4, 64, {}, g);
    g.wait();
    std::uint64_t good = 0, stale = 0;
    for (seen const& s : records.to_host()) {
      good += s.good;
      stale += s.stale;
    }
    EXPECT_EQ(stale, 0u);
    EXPECT_EQ(good, 2 * n);
  }
}

/// A stack: each section reads what the last one on the record wrote. Through the platform layer,
/// because the simulated device delays only the stores that it sees; and large, so that no executor
/// sorted it on a copy, which is not in global memory.
struct chain {
  std::uint32_t last;
  std::uint32_t length;
  std::uint32_t filler[8];
};
struct links {
  std::uint32_t* next;
};
struct push {
  static constexpr bool reads_other_memory = false;
  std::uint32_t node;
  __device__ void operator()(chain& c, links context) const {
    std::uint32_t const last = warden::simt::load_relaxed(&c.last);
    warden::simt::store_relaxed(&context.next[node], last);
    warden::simt::store_relaxed(&c.last, node + 1);
    warden::simt::store_relaxed(&c.length, warden::simt::load_relaxed(&c.length) + 1);
  }
};
using chain_policy = warden::with_parts<test::small_policy, warden::context<links>>;
using chains = warden::basic_guarded<chain_policy, chain, push>;
struct push_all {
  std::uint32_t n;
  __device__ void operator()(warden::virtual_block const& at, chains::ref const& ref) const {
    chains::block_client client{ref, at};
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
         first += static_cast<std::uint32_t>(at.global_size())) {
      std::uint32_t const i = first + at.thread_rank();
      client.send(i % 3, push{i}, i < n);
    }
    client.flush();
  }
};

void check_chains(std::uint32_t n) {
  warden::buffer<std::uint32_t> next{n};
  warden::buffer<chain> records{3};
  records.fill_bytes(0);
  chains g{records, links{next.data()}};
  warden::launch_fused(push_all{n}, 6, 64, {}, g);
  g.wait();
  auto const heads = records.to_host();
  auto const links_on_host = next.to_host();
  for (std::uint32_t k = 0; k < 3; ++k) {
    std::uint32_t length = 0;
    for (std::uint32_t at = heads[k].last; at != 0 && length <= n; at = links_on_host[at - 1]) {
      ASSERT_EQ((at - 1) % 3, k);
      ++length;
    }
    EXPECT_EQ(length, (n + 2 - k) / 3);
    EXPECT_EQ(heads[k].length, length);
  }
}

TEST(visibility, of_sections_to_later_sections_and_to_the_stream) {
  for (unsigned launch = 0; launch < test::sized(30u, 4u); ++launch) {
    check_chains(test::sized(1500u, 300'000u));
    if (HasFailure()) return;
  }
}

}  // namespace
