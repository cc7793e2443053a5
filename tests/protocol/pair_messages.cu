// SPDX-License-Identifier: Apache-2.0
// Sections on two records of any two owners: each excludes on both.

#include "tests/protocol/sweep.cuh"

namespace {

using namespace pairs;

template <class Policy>
using accounts = warden::basic_guarded<Policy, account, move, deposit>;

template <class Policy>
class pair_messages : public testing::Test {};
/// With 64 locks, records of one owner share theirs; with 256 threads seven warps read the ring.
using policies = testing::Types<pair_messages_policy<2048, warden::placement::in_memory>,
                                pair_messages_policy<2048, warden::placement::on_chip>,
                                pair_messages_policy<64, warden::placement::in_memory>,
                                pair_messages_policy<64, warden::placement::in_memory, 256>>;
TYPED_TEST_SUITE(pair_messages, policies);

TYPED_TEST(pair_messages, of_any_owners) {
  for (unsigned const servers : {1u, 2u, 3u})
    check<accounts<TypeParam>>(moves(), 400, 400, by::block, {.servers = servers, .chunk = 1});
}
TYPED_TEST(pair_messages, of_one_server) {
  check<accounts<TypeParam>>(moves(), 300, 300, by::block, {.servers = 1});
}
TYPED_TEST(pair_messages, of_few_accounts) {
  std::uint32_t const n = test::sized(moves() / 4, 30'000u);
  for (std::uint32_t const records : {1u, 2u, 5u, 8u}) {
    check<accounts<TypeParam>>(n, records, records, by::block, {.servers = 3, .chunk = 1});
    check<accounts<TypeParam>>(n, records, records, by::thread, {.servers = 2, .chunk = 2});
  }
}
TYPED_TEST(pair_messages, by_every_client) {
  for (by const how : {by::thread, by::call})
    check<accounts<TypeParam>>(moves(), 103, 103, how, {.servers = 3});
}
TYPED_TEST(pair_messages, many_more_under_way_than_a_ring_holds) {
  check<accounts<TypeParam>>(moves(), 60, 60, by::block,
                             {.servers = 3, .capacity = 32, .forward_capacity = 64});
  check<accounts<TypeParam>>(moves() / 4, 4, 4, by::block,
                             {.servers = 3, .capacity = 32, .chunk = 1, .forward_capacity = 64});
}

TEST(pair_messages_sections, conserve_what_they_move) {
  using policy = pair_messages_policy<64, warden::placement::in_memory>;
  sweep_once<policy>(moves(), 50, {.servers = 3});
  sweep_once<policy>(moves(), 2, {.servers = 2, .chunk = 1});
  using wide_policy = pair_messages_policy<64, warden::placement::in_memory, 256>;
  sweep_once<wide_policy>(moves(), 50, {.servers = 3, .forward_capacity = 64});
}

/// Also checks the sections that a section sends.
struct count_on {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(book& b, warden::no_context) const { b.moved += 1; }
};
struct send_on {
  static constexpr bool reads_other_memory = false;
  std::uint64_t to;
  template <class Next>
  __device__ void operator()(book& b, warden::no_context, Next& next) const {
    b.moved += 1;
    next.send(to, count_on{});
  }
};
struct send_to {
  std::uint64_t to;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    client.send(0, send_on{to}, at.global_rank() < 3);
    client.send(0, 1, sweep{}, at.global_rank() < 5);
    client.flush();
  }
};
TEST(pair_messages_sections, send_others) {
  using policy = pair_messages_policy<64, warden::placement::in_memory>;
  // Memory around the records must stay untouched.
  warden::buffer<book> books{64};
  books.fill_bytes(0);
  warden::basic_guarded<policy, book, sweep, send_on, count_on> g{
      books.data() + 20, 8, {}, {.servers = 2, .chunk = 1}};
  warden::launch_fused(send_to{7}, 1, 64, {}, g);
  ASSERT_NO_THROW(g.wait());
  EXPECT_EQ(books.to_host()[27].moved, 3u);
  EXPECT_EQ(books.to_host()[20].moved, 3u + 5u);
  warden::launch_fused(send_to{40}, 1, 64, {}, g);
  try {
    g.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("record id 40 is not below 8 (3 such ids"),
              std::string::npos)
        << e.what();
  }
  auto const seen = books.to_host();
  for (std::size_t k = 0; k < seen.size(); ++k) {
    std::uint64_t const wanted = k == 20 ? 16 : k == 27 ? 3 : 0;
    EXPECT_EQ(seen[k].moved, wanted) << "record " << k;
  }
}

// ---- none of the sections on two records

/// Larger than records of sections on two can be.
struct long_tally {
  test::tally seen;
  std::uint32_t filler[20];
};
WARDEN_HOST_DEVICE void note(test::tally& t, std::uint32_t i) {
  auto const message = test::record_in<2>::of(i);
  t.count += 1;
  t.sum += i;
  t.mixed += message.hash();
}
/// Goes on, as many times as it says.
struct pass_on {
  static constexpr bool reads_other_memory = false;
  std::uint32_t i, left;
  template <class Next>
  __device__ void operator()(long_tally& t, warden::no_context, Next& next) const {
    note(t.seen, i);
    if (left != 0) next.send((i + left) % 10, pass_on{i, left - 1});
  }
};
struct draw_number {
  static constexpr bool reads_other_memory = false;
  std::uint32_t i;
  __device__ std::uint32_t operator()(long_tally& t, warden::no_context) const {
    note(t.seen, i);
    return i + 3;
  }
};
template <bool Chains>
struct send_singles {
  std::uint32_t n;
  std::uint32_t* wrong;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t number) {
      auto const i = static_cast<std::uint32_t>(number);
      auto future = client.call(i % 10, draw_number{i}, i < n);
      if constexpr (Chains) client.send((i + 4) % 10, pass_on{i, 3}, i < n);
      client.flush();
      auto const answer = future.get();
      if (i < n && !(answer && *answer == i + 3)) warden::simt::fetch_add(wrong, 1u);
    });
  }
};
template <class Guarded, bool Chains>
void check_singles() {
  std::uint32_t const n = test::sized(701u, 100'003u);
  test::guarded_records<Guarded> g{10, {.servers = 3, .chunk = 1}};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  warden::launch_fused(send_singles<Chains>{n, wrong.data()}, 4, 64, {}, g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  EXPECT_EQ(wrong.to_host()[0], 0u) << "wrong answers";
  std::vector<test::tally> wanted(10), seen;
  for (std::uint32_t i = 0; i < n; ++i) {
    note(wanted[i % 10], i);
    for (std::uint32_t left = 0; Chains && left <= 3; ++left) note(wanted[(i + left + 1) % 10], i);
  }
  for (long_tally const& t : g.records.to_host()) seen.push_back(t.seen);
  test::expect_equal(seen, wanted);
}
template <class Policy, class... Sections>
using singles = warden::basic_guarded<Policy, long_tally, Sections...>;
TYPED_TEST(pair_messages, without_sections_on_two_records) {
  if constexpr (TypeParam::block_threads == 64) {
    check_singles<singles<TypeParam, draw_number>, false>();
    check_singles<singles<TypeParam, draw_number, pass_on>, true>();
  }
}

// ---- records aligned to their size, on chip

struct alignas(32) counter {
  std::uint64_t count, misplaced;
};
struct count_once {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(counter& c, warden::no_context) const {
    c.count += 1;
    if (reinterpret_cast<std::uintptr_t>(&c) % alignof(counter) != 0) c.misplaced += 1;
  }
};
struct count_both {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(counter& a, counter& b, warden::no_context context) const {
    count_once{}(a, context);
    count_once{}(b, context);
  }
};
struct count_pairs {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    auto const i = static_cast<std::uint32_t>(at.global_rank());
    client.send(i % 40, (i * 7 + 1) % 40, count_both{});
    client.send(i % 40, count_once{});
    client.flush();
  }
};
TEST(pair_messages_sections, find_aligned_records) {
  using policy = pair_messages_policy<64, warden::placement::on_chip>;
  for (unsigned const servers : {1u, 2u, 3u}) {
    test::guarded_records<warden::basic_guarded<policy, counter, count_once, count_both>> g{
        40, {.servers = servers}};
    warden::launch_fused(count_pairs{}, 3, 64, {}, g.guarded);
    ASSERT_NO_THROW(g.guarded.wait());
    std::uint64_t count = 0, misplaced = 0;
    for (counter const& c : g.records.to_host()) {
      count += c.count;
      misplaced += c.misplaced;
    }
    EXPECT_EQ(count, 3u * 192);
    EXPECT_EQ(misplaced, 0u) << servers << " servers";
  }
}

}  // namespace
