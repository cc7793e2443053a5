// SPDX-License-Identifier: Apache-2.0
// Sections that combine: every one takes effect exactly once, and of those for one record in a
// batch one is sent.

#include "tests/support/support.cuh"

#include <gmock/gmock.h>

#include <type_traits>
#include <utility>

namespace {

using testing::HasSubstr;

/// Adds up, word by word, what reached it; counts the sections that ran.
template <int Words>
struct sums {
  std::uint32_t runs;
  std::uint32_t words[Words];
};
/// One in the first word, a hash of the operation in each of the others.
template <int Words>
struct add_words {
  static constexpr bool reads_other_memory = false;
  std::uint32_t words[Words];

  // Sections need no default constructor.
  WARDEN_HOST_DEVICE explicit add_words(std::uint64_t operation) {
    words[0] = 1;
    for (int w = 1; w < Words; ++w)
      words[w] = static_cast<std::uint32_t>(test::mix(operation * Words + w));
  }
  __device__ void operator()(sums<Words>& s, warden::no_context) const {
    s.runs += 1;
    for (int w = 0; w < Words; ++w) s.words[w] += words[w];
  }
  __device__ static add_words combine(add_words a, add_words b) {
    for (int w = 0; w < Words; ++w) a.words[w] += b.words[w];
    return a;
  }
};

/// Which operations there are, and their records. Some threads have none; some append.
struct operations {
  std::uint64_t n;
  std::uint32_t records;
  std::uint32_t hot;        ///< number of 256 operations that go to record 0
  std::uint32_t left_out;   ///< number of 256 operations that are left out
  std::uint32_t appended;   ///< number of 256 operations that are appended
  std::uint32_t stride{1};  ///< between records that are used

  WARDEN_HOST_DEVICE static bool drawn(std::uint64_t i, std::uint64_t salt, std::uint32_t share) {
    return (test::mix(i * 3 + salt) & 255u) < share;
  }
  WARDEN_HOST_DEVICE bool is_there(std::uint64_t i) const {
    return i < n && !drawn(i, 1, left_out);
  }
  WARDEN_HOST_DEVICE bool is_appended(std::uint64_t i) const { return drawn(i, 2, appended); }
  WARDEN_HOST_DEVICE std::uint32_t id(std::uint64_t i) const {
    return (drawn(i, 3, hot) ? 0 : test::id_of(i, records)) * stride;
  }
};

template <int Words>
struct send_operations {
  operations all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, all.n, [&](std::uint64_t i) {
      add_words<Words> const section{i};
      bool const sends = all.is_there(i), appends = sends && all.is_appended(i);
      if (appends) client.append(all.id(i), section);
      client.send(all.id(i), section, sends && !appends);
    });
    client.flush();
  }
};

/// Sends by thread clients, which combine nothing.
template <int Words>
struct send_operations_alone {
  operations all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    for (std::uint64_t i = at.global_rank(); i < all.n; i += at.global_size()) {
      if (all.is_there(i)) client.send(all.id(i), add_words<Words>{i});
    }
  }
};

template <class Executor, warden::placement Where>
using policy =
    warden::with_values<warden::with_parts<test::small_policy, Executor>, &warden::options::records,
                        Where, &warden::tuning::combine_in_fused, true,
                        &warden::options::statistics, true>;

template <class Policy>
class combining : public testing::Test {
 protected:
  template <int Words>
  using guarded = warden::basic_guarded<Policy, sums<Words>, add_words<Words>>;

  /// Sections that ran, and messages that were sent.
  struct counts {
    std::uint64_t runs, messages;
  };
  /// Returns how many messages were sent by block clients.
  template <int Words>
  std::uint64_t exactly_once(operations const& all, unsigned grid, unsigned launches = 1) {
    return counted<Words, send_operations<Words>>(all, grid, launches).messages;
  }
  template <int Words, class Kernel>
  counts counted(operations const& all, unsigned grid, unsigned launches = 1) {
    SCOPED_TRACE(testing::Message()
                 << all.n << " operations of " << Words << " words, " << all.records
                 << " records, hot " << all.hot << ", left out " << all.left_out << ", appended "
                 << all.appended << ", " << grid << " blocks");
    std::uint32_t const size = all.records * all.stride;
    test::guarded_records<guarded<Words>> g{size, {.servers = 2, .capacity = 64}};
    for (unsigned launch = 0; launch < launches; ++launch)
      warden::launch_fused(Kernel{all}, grid, 64, {}, g.guarded);
    g.guarded.wait();
    std::vector<sums<Words>> wanted(size);
    for (std::uint64_t i = 0; i < all.n; ++i) {
      if (!all.is_there(i)) continue;
      add_words<Words> const section{i};
      for (int w = 0; w < Words; ++w) wanted[all.id(i)].words[w] += launches * section.words[w];
    }
    auto const seen = g.records.to_host();
    std::uint64_t runs = 0;
    for (std::uint32_t k = 0; k < size; ++k) {
      for (int w = 0; w < Words; ++w) {
        EXPECT_EQ(seen[k].words[w], wanted[k].words[w]) << "record " << k << ", word " << w;
        if (testing::Test::HasFailure()) return {};
      }
      EXPECT_LE(seen[k].runs, seen[k].words[0]) << "record " << k;
      runs += seen[k].runs;
    }
    std::uint64_t const messages = g.guarded.statistics().messages;
    EXPECT_LE(runs, messages);
    return {runs, messages};
  }
};

using warden::placement;
using all_policies = testing::Types<policy<test::sorted::executor, placement::in_memory>,
                                    policy<test::sorted::executor, placement::on_chip>,
                                    policy<test::locks::executor, placement::in_memory>,
                                    policy<test::locks::executor, placement::on_chip>>;
TYPED_TEST_SUITE(combining, all_policies);

/// Messages of one flit that a block of 64 threads stages.
constexpr std::uint64_t batch = 64 * warden::policy<>::outbox_bytes_per_thread / 16;

TYPED_TEST(combining, one_record) {
  for (std::uint64_t const n : {1u, 31u, 33u, 64u, 65u, 511u, 512u, 513u, 1300u}) {
    // One block: as many messages as batches.
    EXPECT_EQ((this->template exactly_once<2>({n, 1, 0, 0, 0}, 1)), (n + batch - 1) / batch);
  }
  this->template exactly_once<2>({test::sized<std::uint64_t>(3000, 3'000'000), 1, 0, 0, 0}, 7);
}

TYPED_TEST(combining, few_and_many_records) {
  std::uint64_t const n = test::sized<std::uint64_t>(2000, 1'000'000);
  for (std::uint32_t const records : {2u, 3u, 64u, 130u, 511u, 512u, 600u}) {
    EXPECT_LE((this->template exactly_once<2>({batch, records, 0, 0, 0}, 1)), records);
    this->template exactly_once<2>({n, records, 0, 0, 0}, 5);
  }
}

TYPED_TEST(combining, more_records_than_buckets) {
  std::uint64_t const n = test::sized<std::uint64_t>(2000, 1'000'000);
  this->template exactly_once<2>({n, 5000, 0, 0, 0}, 5);
  // Nine of ten for a hot one: its bucket has few others.
  EXPECT_LE((this->template exactly_once<2>({batch, 5000, 230, 0, 0}, 1)), batch / 4);
  // Ids with zeros in their low bits find different buckets, too.
  EXPECT_LE((this->template exactly_once<2>({batch, 40, 0, 0, 0, 128}, 1)), 80u);
}

TYPED_TEST(combining, partial_batches_and_appended) {
  std::uint64_t const n = test::sized<std::uint64_t>(2000, 1'000'000);
  for (std::uint32_t const left_out : {10u, 200u, 255u}) {
    for (std::uint32_t const appended : {0u, 20u, 256u}) {
      for (std::uint32_t const records : {2u, 200u})
        this->template exactly_once<2>({n, records, 100, left_out, appended}, 3);
    }
  }
}

struct append_only {
  std::uint32_t threads;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    if (at.thread_rank() < threads) client.append(3, add_words<2>{at.thread_rank()});
    client.flush();
  }
};

/// Only appended: a warp's few go as they are, more are combined.
TYPED_TEST(combining, appended_alone) {
  using guarded = typename TestFixture::template guarded<2>;
  test::guarded_records<guarded> g{10, {.servers = 2}};
  std::uint64_t messages = 0;
  for (auto const& [threads, sent] :
       {std::pair{32u, 32u}, std::pair{33u, 1u}, std::pair{64u, 1u}}) {
    warden::launch_fused(append_only{threads}, 1, 64, {}, g.guarded);
    g.guarded.wait();
    messages += sent;
    EXPECT_EQ(g.guarded.statistics().messages, messages) << threads << " appended";
  }
  EXPECT_EQ(g.records.to_host()[3].words[0], 32u + 33 + 64);
}

/// The executor `sorted` combines sections that were not combined before they were sent.
TYPED_TEST(combining, windows_of_a_server) {
  constexpr bool by_runs = std::is_same_v<typename TypeParam::executor, test::sorted::executor>;
  std::uint64_t const n = test::sized<std::uint64_t>(3000, 1'000'000);
  for (std::uint32_t const records : {1u, 2u, 100u, 3000u}) {
    auto const seen =
        this->template counted<2, send_operations_alone<2>>({n, records, 128, 0, 0}, 6);
    EXPECT_EQ(seen.messages, n);
    if (by_runs) {
      EXPECT_LT(seen.runs, n * 9 / 10) << records;
    } else {
      EXPECT_EQ(seen.runs, n);
    }
  }
  this->template counted<11, send_operations_alone<11>>({n / 4, 100, 128, 10, 0}, 6);
}

TYPED_TEST(combining, messages_of_one_to_four_flits) {
  operations const all{test::sized<std::uint64_t>(1500, 200'000), 40, 100, 20, 30};
  this->template exactly_once<1>(all, 4);
  this->template exactly_once<5>(all, 4);
  this->template exactly_once<8>(all, 4);
  this->template exactly_once<11>(all, 4);
}

TYPED_TEST(combining, launch_after_launch) {
  this->template exactly_once<2>({test::sized<std::uint64_t>(700, 20'000), 150, 100, 20, 30}, 4, 5);
}

struct send_some_bad {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint32_t round = 0; round < 3; ++round) {
      bool const bad = (at.thread_rank() + round) % 4 == 0;
      client.send(bad ? 10 + at.thread_rank() : at.thread_rank() % 10, add_words<2>{1});
    }
    client.append(12, add_words<2>{1});
    client.flush();
  }
};

TYPED_TEST(combining, ids_outside_the_records) {
  using guarded = typename TestFixture::template guarded<2>;
  warden::buffer<sums<2>> memory{30};
  memory.fill_bytes(0);
  guarded g{memory.data() + 10, 10, {.servers = 2}};
  warden::launch_fused(send_some_bad{}, 2, 64, {}, g);
  try {
    g.wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("224 such ids; the other sections were executed"));
  }
  auto const seen = memory.to_host();
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < 30; ++k) {
    bool const inside = k >= 10 && k < 20;
    EXPECT_TRUE(inside || seen[k].runs == 0) << "memory outside the records was touched";
    count += seen[k].words[0];
  }
  EXPECT_EQ(count, 2 * (3 * 64 - 48u));
}

/// One of four sums of a record.
struct four_sums {
  std::uint32_t sums[4];
};
struct add_to_one {
  static constexpr bool reads_other_memory = false;
  std::uint32_t which, amount;
  __device__ std::uint32_t combine_key() const { return which; }
  __device__ void operator()(four_sums& s, warden::no_context) const { s.sums[which] += amount; }
  __device__ static add_to_one combine(add_to_one a, add_to_one b) {
    return {a.which, a.amount + b.amount};
  }
};
struct send_keyed {
  std::uint32_t n;
  WARDEN_HOST_DEVICE static std::uint32_t drawn(std::uint64_t i) {
    return static_cast<std::uint32_t>(test::mix(i) & 0xffffu);
  }
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      client.send(i % 3 == 0 ? i % 50 : 0, add_to_one{drawn(i) % 4, drawn(i)}, i < n);
    });
    client.flush();
  }
};

TYPED_TEST(combining, sections_of_one_key) {
  using guarded = warden::basic_guarded<TypeParam, four_sums, add_to_one>;
  auto const n = static_cast<std::uint32_t>(test::sized<std::uint64_t>(3000, 1'000'000));
  test::guarded_records<guarded> g{50, {.servers = 2, .capacity = 64}};
  warden::launch_fused(send_keyed{n}, 4, 64, {}, g.guarded);
  g.guarded.wait();
  std::vector<four_sums> wanted(50);
  for (std::uint32_t i = 0; i < n; ++i)
    wanted[i % 3 == 0 ? i % 50 : 0].sums[send_keyed::drawn(i) % 4] += send_keyed::drawn(i);
  auto const seen = g.records.to_host();
  for (std::uint32_t k = 0; k < 50; ++k) {
    for (int which = 0; which < 4; ++which)
      EXPECT_EQ(seen[k].sums[which], wanted[k].sums[which]) << "record " << k << ", sum " << which;
  }
  EXPECT_LT(g.guarded.statistics().messages, n * 2 / 3);
}

struct no_flush {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    for (std::uint64_t i = 0; i < batch / 64 + 1; ++i) client.send(0, add_words<2>{i});
  }
};

/// Lost sections are counted by sends, not by the number that combining would have left.
TYPED_TEST(combining, staged_messages_without_flush) {
  using guarded = typename TestFixture::template guarded<2>;
  test::guarded_records<guarded> g{10, {.servers = 2}};
  warden::launch_fused(no_flush{}, 3, 64, {}, g.guarded);
  try {
    g.guarded.wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("192 messages were staged but never flushed"));
  }
  EXPECT_EQ(g.records.to_host()[0].words[0], 3 * batch);
}

/// One block takes a slot that it never fills; the others send.
template <int Words>
struct forget_a_slot {
  operations all;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    if (at.global_rank() == 0) ref.channel_of(0).reserve(1);
    send_operations<Words>{all}(at, ref);
  }
};

TYPED_TEST(combining, poison) {
  using guarded = typename TestFixture::template guarded<2>;
  operations const all{4000, 300, 0, 0, 20};
  warden::guarded_options options{.servers = 2, .capacity = 32, .time_limit_seconds = 1};
  options.minimum_polls = 64;
  test::guarded_records<guarded> g{300, options};
  warden::launch_fused(forget_a_slot<2>{all}, 4, 64, {}, g.guarded);
  EXPECT_THROW(g.guarded.wait(), warden::timeout_error);
  // The guarded array is usable again.
  std::uint32_t before = 0, after = 0;
  for (auto const& r : g.records.to_host()) before += r.words[0];
  warden::launch_fused(send_operations<2>{all}, 4, 64, {}, g.guarded);
  EXPECT_NO_THROW(g.guarded.wait());
  for (auto const& r : g.records.to_host()) after += r.words[0];
  EXPECT_LE(before, all.n);
  EXPECT_EQ(after, before + all.n);
}

}  // namespace
