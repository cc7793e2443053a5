// SPDX-License-Identifier: Apache-2.0
// Sections that send sections: each runs exactly once, for any size of the rings, and errors are
// reported.

#include "tests/protocol/chains.cuh"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>

namespace {

using chains::chain;
using chains::hop;
using chains::in_memory;
using chains::last;
using chains::next_of;
using chains::note;
using chains::on_chip;
using test::mix;
using test::tally;
using testing::HasSubstr;

/// Begins two chains.
struct split {
  static constexpr bool reads_other_memory = false;
  static constexpr unsigned sends_sections = 2;
  std::uint32_t value, left, records;
  WARDEN_HOST_DEVICE std::uint32_t child(std::uint32_t branch) const { return 2 * value + branch; }
  template <class Next>
  __device__ void operator()(tally& t, warden::no_context, Next& next) const {
    note(t, value);
    for (std::uint32_t branch = 0; branch < 2; ++branch)
      next.send(next_of(child(branch), records), hop{child(branch), left, records});
  }
};
/// Sends two of its kind: a tree.
struct fork {
  static constexpr bool reads_other_memory = false;
  static constexpr unsigned sends_sections = 2;
  std::uint32_t value, left, records;
  template <class Next>
  __device__ std::uint32_t operator()(tally& t, warden::no_context, Next& next) const {
    note(t, value);
    for (std::uint32_t branch = 0; left != 0 && branch < 2; ++branch) {
      std::uint32_t const child = 2 * value + branch;
      next.send(next_of(child, records), fork{child, left - 1, records});
    }
    return value + 7;
  }
};

void tree(std::vector<tally>& tallies, std::uint32_t at, fork f) {
  note(tallies[at], f.value);
  auto const records = static_cast<std::uint32_t>(tallies.size());
  for (std::uint32_t branch = 0; f.left != 0 && branch < 2; ++branch) {
    std::uint32_t const child = 2 * f.value + branch;
    tree(tallies, next_of(child, records), {child, f.left - 1, records});
  }
}

enum class by { block, thread };

/// Starts `n` chains, or trees, of fewer than `links` links each.
template <class Section>
struct start_all {
  std::uint32_t n, records, links;
  by how;

  WARDEN_HOST_DEVICE Section section(std::uint32_t i) const {
    return {i * 1000, test::id_of(i + 7, links), records};
  }
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> block{ref, at};
    warden::thread_client<Ref> const thread{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t number) {
      auto const i = static_cast<std::uint32_t>(number);
      std::uint32_t const id = test::id_of(i, records);
      if (how == by::block) block.send(id, section(i), i < n);
      if (how == by::thread && i < n) thread.send(id, section(i));
    });
    block.flush();
  }
};

template <class Policy>
void run_chains(std::uint32_t n, std::uint32_t records, std::uint32_t links, by how,
                warden::guarded_options options, unsigned launches = 1) {
  SCOPED_TRACE(testing::Message() << n << " chains over " << records << " records, "
                                  << options.servers << " servers");
  test::guarded_records<warden::basic_guarded<Policy, tally, hop, last>> g{records, options};
  start_all<hop> const kernel{n, records, links, how};
  std::vector<tally> wanted(records);
  for (unsigned launch = 0; launch < launches; ++launch) {
    warden::launch_fused(kernel, 3, 64, {}, g.guarded);
    for (std::uint32_t i = 0; i < n; ++i) chain(wanted, test::id_of(i, records), kernel.section(i));
  }
  ASSERT_NO_THROW(g.guarded.wait());
  test::expect_equal(g.records.to_host(), wanted);
}

template <class Policy>
class sends_sections : public testing::Test {};
using placements = testing::Types<in_memory, on_chip>;
TYPED_TEST_SUITE(sends_sections, placements);

TYPED_TEST(sends_sections, each_section_runs_once) {
  auto const n = test::sized<std::uint32_t>(300, 60'000);
  for (by const how : {by::block, by::thread})
    run_chains<TypeParam>(n, 100, 6, how, {.servers = 3});
  // One record a thread, held in a register; one server, which sends to itself alone.
  run_chains<TypeParam>(n, 3, 9, by::block, {.servers = 3});
  run_chains<TypeParam>(n, 1, 5, by::block, {.servers = 1});
  run_chains<TypeParam>(n, 500, 2, by::block, {.servers = 2}, 4);
}

TYPED_TEST(sends_sections, many_more_under_way_than_a_ring_holds) {
  auto const n = test::sized<std::uint32_t>(400, 30'000);
  run_chains<TypeParam>(n, 64, 12, by::block,
                        {.servers = 4, .capacity = 32, .forward_capacity = 32});
  run_chains<TypeParam>(n, 4, 12, by::thread,
                        {.servers = 4, .capacity = 32, .forward_capacity = 32});
}

TEST(forwarding, trees_and_answers) {
  using guarded = warden::basic_guarded<in_memory, tally, fork>;
  std::uint32_t const n = 40, records = 50;
  test::guarded_records<guarded> g{records, {.servers = 3}};
  start_all<fork> const kernel{n, records, 5, by::block};
  warden::launch_fused(kernel, 2, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  std::vector<tally> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) tree(wanted, test::id_of(i, records), kernel.section(i));
  test::expect_equal(g.records.to_host(), wanted);
}

/// A server makes up for all sends beyond the first before it admits anything new.
TEST(forwarding, two_chains_for_each_section_fit_any_ring) {
  using guarded = warden::basic_guarded<in_memory, tally, split, hop, last>;
  auto const n = test::sized<std::uint32_t>(600, 60'000);
  std::uint32_t const records = 9;
  test::guarded_records<guarded> g{
      records, {.servers = 2, .capacity = 128, .chunk = 1, .forward_capacity = 32}};
  start_all<split> const kernel{n, records, 6, by::block};
  warden::launch_fused(kernel, 4, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  std::vector<tally> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) {
    split const s = kernel.section(i);
    note(wanted[test::id_of(i, records)], s.value);
    for (std::uint32_t branch = 0; branch < 2; ++branch)
      chain(wanted, next_of(s.child(branch), records), {s.child(branch), s.left, records});
  }
  test::expect_equal(g.records.to_host(), wanted);
}

/// A caller gets the answer of the section that it called, not of sections that this one sends.
struct call_forks {
  std::uint32_t* wrong;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    auto const i = static_cast<std::uint32_t>(at.global_rank());
    auto const answer = client.call(i % 10, fork{i, 2, 10}).get();
    if (!answer || *answer != i + 7) warden::simt::fetch_add(wrong, 1u);
  }
};
TEST(forwarding, a_section_that_sends_answers_its_caller) {
  test::guarded_records<warden::basic_guarded<in_memory, tally, fork>> g{10, {.servers = 2}};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  warden::launch_fused(call_forks{wrong.data()}, 2, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  EXPECT_EQ(wrong.to_host()[0], 0u);
  std::uint64_t count = 0;
  for (tally const& t : g.records.to_host()) count += t.count;
  EXPECT_EQ(count, 128u * 7);
}

/// Without an end to the tree no ring is large enough.
TEST(forwarding, a_ring_that_overflows_says_its_size) {
  test::guarded_records<warden::basic_guarded<in_memory, tally, fork>> g{
      10, {.servers = 2, .forward_capacity = 64}};
  try {
    warden::launch_fused(start_all<fork>{1, 10, 1, by::block}, 1, 64, {}, g.guarded);
    g.guarded.wait();
    warden::launch_fused(start_all<fork>{64, 10, 31, by::block}, 1, 64, {}, g.guarded);
    g.guarded.wait();
    FAIL() << "no error";
  } catch (warden::timeout_error const& e) {
    EXPECT_EQ(e.dump().wait.kind, warden::wait_kind::room);
    EXPECT_THAT(e.what(),
                HasSubstr("is full: its 64 slots do not hold what sections that send more "
                          "than one other have sent"));
  }
  // Usable again.
  g.records.fill_bytes(0);
  warden::launch_fused(start_all<fork>{1, 10, 1, by::block}, 1, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  EXPECT_EQ(g.records.to_host()[test::id_of(0, 10)].count, 1u);
}

/// Says it sends one, and sends three; or sends to a record that does not exist.
struct talkative {
  static constexpr bool reads_other_memory = false;
  std::uint32_t to, times;
  template <class Next>
  __device__ void operator()(tally& t, warden::no_context, Next& next) const {
    t.count += 1;
    for (std::uint32_t k = 0; k < times; ++k) next.send(to, talkative{0, 0});
  }
};
struct start_talkative {
  talkative section;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    client.send(1, section, at.global_rank() < 5);
    client.flush();
  }
};
TEST(forwarding, what_cannot_be_sent_is_reported) {
  auto const run = [](talkative section) {
    test::guarded_records<warden::basic_guarded<in_memory, tally, talkative>> g{4, {.servers = 2}};
    warden::launch_fused(start_talkative{section}, 1, 64, {}, g.guarded);
    std::string const text = test::error_text(g.guarded);
    std::uint64_t count = 0;
    for (tally const& t : g.records.to_host()) count += t.count;
    return std::pair{text, count};
  };
  auto const [too_many, of_them] = run({2, 3});
  EXPECT_THAT(too_many, HasSubstr("10 sections were not sent by a section: beyond what its type "
                                  "says as `sends_sections`"));
  EXPECT_EQ(of_them, 10u);
  auto const [bad_id, of_those] = run({4, 1});
  EXPECT_THAT(bad_id, HasSubstr("record id 4 is not below 4 (5 such ids"));
  EXPECT_EQ(of_those, 5u);
}

/// Takes a credit and a slot of ring 1, and never fills it.
struct reserve_in_ring {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    if (at.global_rank() != 0) return;
    ref.rings.ask(1);
    ref.rings.ring_of(1).reserve(1);
  }
};
TEST(forwarding, what_never_comes_is_told) {
  test::guarded_records<warden::basic_guarded<in_memory, tally, hop, last>> g{
      10, {.servers = 2, .time_limit_seconds = 0.2, .minimum_polls = 64, .forward_capacity = 64}};
  warden::launch_fused(reserve_in_ring{}, 1, 64, {}, g.guarded);
  try {
    g.guarded.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::timeout_error const& e) {
    auto const& d = e.dump();
    ASSERT_EQ(d.channels.size(), 4u);
    for (warden::channel_state const& c : d.channels) {
      bool const is_it = c.is_ring && c.server == 1;
      EXPECT_EQ(c.reserved - c.published, is_it ? 1u : 0u) << "server " << c.server;
    }
    ASSERT_EQ(d.credits.size(), 1u);
    EXPECT_EQ(static_cast<std::int64_t>(d.credits[0].credits) - d.credits[0].available, 1);
    EXPECT_THAT(e.what(), HasSubstr("guarded 0, ring of server 1: reserved 65, published 64"));
    EXPECT_THAT(e.what(), HasSubstr("guarded 0: sections of servers under way: 1, of 32 at most"));
  }
  // Usable again.
  warden::launch_fused(start_all<hop>{100, 10, 4, by::block}, 1, 64, {}, g.guarded);
  EXPECT_NO_THROW(g.guarded.wait());
}

TEST(forwarding, bad_capacities) {
  auto const error_text = [](unsigned capacity) {
    return test::refusal([&] {
      test::guarded_records<warden::basic_guarded<in_memory, tally, hop, last>> g{
          10, {.servers = 2, .forward_capacity = capacity}};
      warden::prepare_fused(g.guarded);
    });
  };
  EXPECT_THAT(error_text(16), HasSubstr("forward capacity 16 is not a power of two from 32 to"));
  EXPECT_THAT(error_text(33), HasSubstr("forward capacity 33 is not a power of two from 32 to"));
  EXPECT_EQ(error_text(32), "");
}

/// The writes of a section to other memory are visible to the section that it sends.
struct write_on {
  std::uint32_t* words;
  std::uint32_t i, left;
  template <class Next>
  __device__ void operator()(tally& t, warden::no_context, Next& next) const {
    t.count += words[i] == left + 1 ? 1 : 0;
    words[i] = left;
    if (left != 0) next.send(test::id_of(mix(i) + left, 20), write_on{words, i, left - 1});
  }
};
struct start_writing {
  std::uint32_t* words;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    auto const i = static_cast<std::uint32_t>(at.global_rank());
    words[i] = 8;
    client.send(test::id_of(i, 20), write_on{words, i, 7});
    client.flush();
  }
};
TEST(forwarding, what_a_section_wrote_is_visible_to_the_next) {
  test::guarded_records<warden::basic_guarded<in_memory, tally, write_on>> g{20, {.servers = 4}};
  std::uint32_t const blocks = test::sized(3u, 3000u);
  warden::buffer<std::uint32_t> words{blocks * 64};
  warden::launch_fused(start_writing{words.data()}, blocks, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  std::uint64_t count = 0;
  for (tally const& t : g.records.to_host()) count += t.count;
  EXPECT_EQ(count, blocks * 64 * 8);
  for (std::uint32_t const w : words.to_host()) ASSERT_EQ(w, 0u);
}

}  // namespace
