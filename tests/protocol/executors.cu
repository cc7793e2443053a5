// SPDX-License-Identifier: Apache-2.0
// Every executor, with the records in memory and on chip: exactly once, few and many records, small
// and large ones, launch after launch.

#include "tests/support/support.cuh"

#include <warden/detail/fused/single_tag.cuh>

#include <gmock/gmock.h>

namespace {

using testing::HasSubstr;

/// Adds up the messages that reached it in words of its own, so that one atomic each is enough.
/// `Filler` makes it too large to be held in registers.
template <int Filler>
struct sums {
  std::uint64_t count;
  std::uint64_t mixed;
  std::uint64_t filler[Filler];
};
template <int Filler, int Words>
struct add_to {
  static constexpr bool reads_other_memory = false;
  test::record_in<Words> in;

  WARDEN_HOST_DEVICE static add_to of(std::uint32_t value) {
    return {test::record_in<Words>::of(value)};
  }
  __device__ void operator()(sums<Filler>& s, warden::no_context) const {
    s.count += 1;
    s.mixed += in.hash();
  }
  __device__ void atomic(sums<Filler>* s, warden::no_context) const {
    warden::simt::fetch_add(&s->count, std::uint64_t{1});
    warden::simt::fetch_add(&s->mixed, in.hash());
  }
};

template <class Policy, warden::placement Where>
using policy = warden::with_values<Policy, &warden::options::records, Where>;
using atomics = warden::with_parts<test::sorted, warden::executor::atomics<>>;
/// The buffers of the paper's sender, with messages that prove themselves.
using buffered = warden::with_parts<test::sorted, warden::sender::buffered>;
template <class Policy>
using single_tag = warden::with_parts<Policy, warden::readiness::single_tag>;

template <class Policy>
class executors : public testing::Test {
 protected:
  template <int Filler, int Words>
  void exactly_once(std::uint64_t n, std::uint32_t records, unsigned servers, unsigned chunk,
                    unsigned launches) {
    SCOPED_TRACE(testing::Message() << n << " messages of " << Words << " words, " << records
                                    << " records, " << servers << " servers, chunks of " << chunk);
    // Memory around the records must not be touched, nor written back changed.
    std::uint32_t const guard = 3;
    warden::buffer<sums<Filler>> memory{records + 2 * guard};
    memory.fill_bytes(0);
    warden::basic_guarded<Policy, sums<Filler>, add_to<Filler, Words>> g{
        memory.data() + guard, records, {.servers = servers, .chunk = chunk}};
    for (unsigned launch = 0; launch < launches; ++launch)
      warden::launch_fused(test::send_sections<add_to<Filler, Words>>{n, records}, 5, 64, {}, g);
    g.wait();
    auto const wanted = test::expected<Words>(n, records);
    auto const seen = memory.to_host();
    for (std::uint32_t k = 0; k < seen.size(); ++k) {
      bool const inside = k >= guard && k < records + guard;
      std::uint64_t const times = inside ? launches : 0;
      test::tally const& t = wanted[inside ? k - guard : 0];
      ASSERT_EQ(seen[k].count, times * t.count) << "record " << k << ": lost or doubled";
      ASSERT_EQ(seen[k].mixed, times * t.mixed) << "record " << k << ": torn or overwritten";
      for (std::uint64_t f : seen[k].filler) ASSERT_EQ(f, 0u) << "record " << k;
    }
  }
};

using warden::placement;
using all = testing::Types<
    policy<test::sorted, placement::in_memory>, policy<test::sorted, placement::on_chip>,
    policy<test::locks, placement::in_memory>, policy<test::locks, placement::on_chip>,
    policy<atomics, placement::in_memory>, policy<atomics, placement::on_chip>,
    policy<test::paper, placement::in_memory>, policy<test::paper, placement::on_chip>,
    policy<buffered, placement::in_memory>, policy<single_tag<test::sorted>, placement::in_memory>,
    policy<single_tag<test::locks>, placement::in_memory>>;
TYPED_TEST_SUITE(executors, all);

TYPED_TEST(executors, one_record_a_thread_and_fewer) {
  std::uint64_t const n = test::sized<std::uint64_t>(600, 100'000);
  for (std::uint32_t const records : {1u, 2u, 63u, 128u})
    this->template exactly_once<1, 2>(n, records, 2, 0, 1);
}

TYPED_TEST(executors, many_records_a_thread) {
  std::uint64_t const n = test::sized<std::uint64_t>(1500, 300'000);
  // 200 of one server: three or four of each thread, often hit together in one window.
  this->template exactly_once<1, 2>(n, 400, 2, 0, 1);
  this->template exactly_once<1, 2>(n, 129, 1, 1, 1);
  this->template exactly_once<1, 2>(n, 333, 3, 16, 1);
}

TYPED_TEST(executors, large_records_and_messages) {
  std::uint64_t const n = test::sized<std::uint64_t>(800, 100'000);
  this->template exactly_once<4, 5>(n, 40, 2, 0, 1);
  this->template exactly_once<4, 5>(n, 300, 2, 0, 1);
}

TYPED_TEST(executors, launch_after_launch) {
  this->template exactly_once<1, 2>(test::sized<std::uint64_t>(200, 20'000), 150, 2, 4, 5);
}

TYPED_TEST(executors, too_many_records_for_the_chip) {
  constexpr bool on_chip = TypeParam::records == placement::on_chip;
  std::uint32_t const records = 400'000;
  warden::buffer<sums<1>> memory{records};
  auto const make = [&] {
    warden::basic_guarded<TypeParam, sums<1>, add_to<1, 2>> g{memory, {.servers = 2, .chunk = 1}};
    warden::prepare_fused(g);
  };
  if (!on_chip) {
    EXPECT_NO_THROW(make());
    return;
  }
  try {
    make();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("200000 records of 24 bytes for each server are too many for "
                                    "the chip: they need 4800000 bytes of shared memory"));
  }
}

}  // namespace
