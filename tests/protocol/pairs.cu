// SPDX-License-Identifier: Apache-2.0
// Sections on two records of one owner, and owner maps that users write.

#include "tests/protocol/pairs.cuh"
#include "tests/support/error_text.hpp"

namespace {

using namespace pairs;
using warden::call_error;

template <unsigned Locks, warden::placement Where>
using policy = warden::with_values<test::small<warden::executor::locks<Locks>>,
                                   &warden::options::records, Where>;
using in_memory =
    warden::basic_guarded<policy<64, warden::placement::in_memory>, account, move, deposit>;
using on_chip =
    warden::basic_guarded<policy<64, warden::placement::on_chip>, account, move, deposit>;
/// Nearly all records share their lock with others.
using three_locks =
    warden::basic_guarded<policy<4, warden::placement::in_memory>, account, move, deposit>;

template <class Guarded>
void check(std::uint32_t n, std::uint32_t records, unsigned servers, unsigned chunk, by how) {
  pairs::check<Guarded>(n, records, servers == 1 ? records : chunk, how,
                        {.servers = servers, .capacity = 64, .chunk = chunk});
}

TEST(pairs_of_one_owner, of_one_server) {
  check<in_memory>(moves(), 100, 1, 1, by::block);
  check<on_chip>(moves(), 100, 1, 1, by::block);
}
TEST(pairs_of_one_owner, of_neighbours) {
  check<in_memory>(moves(), 103, 3, 8, by::block);
  check<on_chip>(moves(), 103, 3, 8, by::block);
}
TEST(pairs_of_one_owner, by_every_client) {
  for (by const how : {by::thread, by::call}) check<in_memory>(moves(), 103, 3, 4, how);
}
TEST(pairs_of_one_owner, of_hot_accounts) {
  check<in_memory>(moves(), 2, 1, 1, by::block);
  check<on_chip>(moves(), 1, 1, 1, by::call);
}
TEST(pairs_of_one_owner, whose_locks_are_one) {
  check<three_locks>(moves(), 100, 2, 64, by::block);
}

/// Reads and writes by the platform layer, as memory that others see: what the one before it wrote
/// must be there.
struct wide {
  std::uint32_t value;
  std::uint32_t filler[9];
};
struct add_to_both {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;
  __device__ void operator()(wide& a, wide& b, warden::no_context) const {
    auto const x = warden::simt::load_relaxed(&a.value), y = warden::simt::load_relaxed(&b.value);
    warden::simt::store_relaxed(&a.value, x + amount);
    warden::simt::store_relaxed(&b.value, y + amount);
  }
};
struct add_to_all {
  std::uint32_t n;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n,
                    [&](std::uint64_t i) { client.send(i % 3, 3 + i % 2, add_to_both{1}, i < n); });
    client.flush();
  }
};
TEST(pairs_of_one_owner, hand_both_records_over) {
  std::uint32_t const n = test::sized(1200u, 300'000u);
  for (int k = 0; k < 20; ++k) {
    test::guarded_records<
        warden::basic_guarded<policy<64, warden::placement::in_memory>, wide, add_to_both>>
        g{5, {.servers = 1, .capacity = 64}};
    warden::launch_fused(add_to_all{n}, 4, 64, {}, g.guarded);
    g.guarded.wait();
    std::uint32_t sum = 0;
    for (wide const& w : g.records.to_host()) sum += w.value;
    ASSERT_EQ(sum, 2 * n);
  }
}

TEST(pairs_of_one_owner, from_arrays) {
  std::uint32_t const n = 777, records = 60;
  std::vector<std::uint32_t> from(n), to(n);
  std::vector<move> moves(n);
  std::vector<account> wanted(records);
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const o = operation::of(i, records, records);
    from[i] = o.from;
    to[i] = o.to;
    moves[i] = move{o.amount};
    wanted[o.from].out += 1;
    wanted[o.to].in += 1;
  }
  auto const on_device = [](auto const& host) {
    warden::buffer<std::remove_cvref_t<decltype(host[0])>> b{host.size()};
    warden::copy(b.data(), host.data(), host.size());
    return b;
  };
  auto const firsts = on_device(from), seconds = on_device(to);
  auto const sections = on_device(moves);
  test::guarded_records<in_memory> g{records, {.servers = 1, .capacity = 64}};
  g.guarded.apply_async(firsts.data(), seconds.data(), sections.data(), n);
  g.guarded.wait();
  auto const seen = g.records.to_host();
  for (std::uint32_t k = 0; k < records; ++k) {
    EXPECT_EQ(seen[k].out, wanted[k].out);
    EXPECT_EQ(seen[k].in, wanted[k].in);
  }
  std::uint32_t const* const none = nullptr;
  auto const text =
      test::refusal([&] { g.guarded.apply_async(firsts.data(), none, sections.data(), n); });
  EXPECT_NE(text.find("apply_async: second ids at a null pointer, 777 of them"), text.npos) << text;
}

struct move_apart {
  __device__ void operator()(warden::virtual_block const& at, in_memory::ref const& ref) const {
    in_memory::block_client client{ref, at};
    std::uint32_t const i = at.thread_rank();
    client.send(i % 10, i % 10 + 1, move{5}, i < 30);  // neighbours: of one owner if first is even
    auto future = client.call(7, 20, move{5}, i == 40);
    client.flush();
    if (i == 40 && future.get().error() != call_error::bad_id) client.send(99, deposit{1});
  }
};

TEST(pairs_of_one_owner, and_of_two_are_refused) {
  test::guarded_records<in_memory> g{12, {.servers = 3, .capacity = 64, .chunk = 2}};
  warden::launch_fused(move_apart{}, 1, 64, {}, g.guarded);
  try {
    g.guarded.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    std::string const what = e.what();
    EXPECT_NE(what.find("record id 20 is not below 12 (1 such id"), std::string::npos) << what;
    EXPECT_NE(what.find("have different owners (15 such pairs"), std::string::npos) << what;
  }
  std::uint32_t moved = 0;
  for (account const& a : g.records.to_host()) moved += a.out;
  EXPECT_EQ(moved, 15u) << "the others are executed";
}

// ---- owner maps by users

/// Server 0 owns the first records; the others, a power of two of them, the rest in turn.
struct halves {
  std::uint32_t others_log2 = 0, half = 1;
  WARDEN_HOST_DEVICE std::uint32_t others() const { return 1u << others_log2; }
  WARDEN_HOST_DEVICE std::uint32_t servers() const { return 1 + others(); }
  WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t) const { return half; }
  __device__ warden::record_location operator()(std::uint32_t id) const {
    if (id < half) return {0, id};
    std::uint32_t const rest = id - half;
    return {1 + (rest & (others() - 1)), rest >> others_log2};
  }
  __device__ std::uint32_t id(warden::record_location place) const {
    if (place.server == 0) return place.local;
    return half + (place.local << others_log2) + place.server - 1;
  }
};
template <warden::placement Where>
using halved = warden::with_parts<policy<64, Where>, warden::owners<halves>>;
template <warden::placement Where>
using halved_accounts = warden::basic_guarded<halved<Where>, account, move, deposit>;

template <warden::placement Where>
void check_halves() {
  std::uint32_t const records = 90, n = moves();
  warden::buffer<account> accounts{records};
  accounts.fill_bytes(0);
  warden::guarded_options options;
  options.capacity = 64;
  halved_accounts<Where> g{accounts.data(), records, {}, options, halves{2, 45}};
  EXPECT_EQ(g.servers(), 5u);
  // All pairs are of the first half.
  warden::launch_fused(move_all{n, 45, 45, by::block, nullptr}, 5, 64, {}, g);
  g.wait();
  auto seen = accounts.to_host();
  expect_equal(seen, expected(n, 45, 45));
  for (std::size_t k = 45; k < records; ++k) EXPECT_EQ(seen[k].in + seen[k].out, 0u);
}
TEST(owner_maps, by_users) {
  check_halves<warden::placement::in_memory>();
  check_halves<warden::placement::on_chip>();
}

TEST(owner_maps, that_are_wrong) {
  warden::buffer<account> accounts{90};
  accounts.fill_bytes(0);
  auto const error_text = [&](halves map) {
    return test::refusal([&] {
      halved_accounts<warden::placement::in_memory> g{accounts.data(), 90, {}, {}, map};
      warden::prepare_fused(g);
    });
  };
  EXPECT_EQ(error_text({2, 45}), "");
  // Too few places on the other servers: 2 of 20 for 70 records.
  auto const text = error_text({1, 20});
  EXPECT_NE(text.find("(30 such places); it has 3 servers of 20 places"), std::string::npos)
      << text;
}

/// A wrong map: as halves of one, but places without a record claim the last one.
struct claims : halves {
  std::uint32_t size = 1;
  WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t) const { return half + 1; }
  __device__ std::uint32_t id(warden::record_location place) const {
    std::uint32_t const i = halves::id(place);
    return i < size && (place.server != 0 || place.local < half) ? i : size - 1;
  }
};
using claiming = warden::with_parts<policy<64, warden::placement::on_chip>, warden::owners<claims>>;
TEST(owner_maps, whose_empty_places_claim_a_record) {
  warden::buffer<account> accounts{90};
  accounts.fill_bytes(0);
  using guarded = warden::basic_guarded<claiming, account, move, deposit>;
  try {
    guarded g{accounts.data(), 90, {}, {}, claims{{0, 45}, 90}};
    warden::prepare_fused(g);
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_NE(std::string{e.what()}.find("about record 89 and place 45 of server"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
