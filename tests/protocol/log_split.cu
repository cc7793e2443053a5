// SPDX-License-Identifier: Apache-2.0
// A split whose log says more than it holds, as rows of offsets do while a kernel is still sending.

#include "tests/protocol/deferred.cuh"
#include "tests/support/error_text.hpp"

#include <warden/detail/deferred/log_split.cuh>
#include <warden/detail/deferred/split_kernel.cuh>
#include <warden/simt/launch.cuh>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using deferring::entry;
using testing::HasSubstr;

using policy = deferring::small_blocks<>;
using guarded = deferring::table<policy>;
using run_type = warden::detail::run_ref<policy, entry, deferring::add<1>, deferring::tick>;
using message_type = run_type::message_type;
constexpr unsigned window = warden::detail::split_per_thread<run_type>;
using splitter = warden::detail::log_splitter<run_type, window>;

constexpr std::uint32_t coarse = 8, finer = 4, sections = 4096;

/// Every second partition of a row has all its messages.
WARDEN_KERNEL void repeat_partitions(guarded::deferred_ref ref) {
  for (std::uint32_t row = simt::thread_rank(); row < ref.log.rows_written();
       row += simt::block_threads()) {
    std::uint16_t const all = *ref.log.offset(coarse, row);
    for (std::uint32_t p = 0; p <= coarse; ++p) *ref.log.offset(p, row) = p % 2 == 0 ? 0 : all;
  }
}

/// Memory followed by more memory, which must stay untouched.
template <class T>
class framed {
 public:
  explicit framed(std::size_t size) : size_{size}, memory_{size + frame} {
    memory_.fill_bytes(canary);
  }
  [[nodiscard]] T* data() const { return memory_.data(); }
  [[nodiscard]] bool is_whole() const {
    auto const all = memory_.to_host();
    std::vector<unsigned char> rest(frame * sizeof(T));
    std::memcpy(rest.data(), all.data() + size_, rest.size());
    return std::all_of(rest.begin(), rest.end(), [](unsigned char b) { return b == canary; });
  }

 private:
  static constexpr unsigned char canary = 0x5a;
  static constexpr std::size_t frame = 4 * sections;  // as much as partitions that repeat fill
  std::size_t size_;
  warden::buffer<T> memory_;
};

/// Splits a log of `sections` sections into one with room for `places` sections and `rows` rows.
void split(bool repeats, std::uint32_t places, std::uint32_t rows,
           testing::Matcher<std::string> const& error_text) {
  deferring::bench<policy> b{5000};
  warden::deferred later{b.on(), sections, {.partitions = coarse, .split = 1}};
  b.send_together(later, 0, sections, 8);
  if (repeats) warden::launch(repeat_partitions, 1, 32, {}, later.ref());

  warden::detail::split_arguments<run_type> a{};
  a.run.ref.log = later.ref().log;
  a.run.ref.report = later.ref().report;
  if (rows == 0) rows = static_cast<std::uint32_t>(splitter::most_rows(a.run.ref.log));
  framed<message_type> pool{places};
  framed<std::uint16_t> offsets{(finer + std::size_t{1}) * rows};
  framed<std::uint32_t> begins{rows};
  warden::buffer<warden::detail::log_rows> rows_of{coarse};
  warden::buffer<warden::detail::log_control> control{1};
  warden::buffer<warden::detail::split_counters> counters{1};
  counters.fill_bytes(0);
  a.to.pool = pool.data();
  a.to.offsets = offsets.data();
  a.to.begins = begins.data();
  a.to.rows_of = rows_of.data();
  a.to.control = control.data();
  a.to.size = places;
  a.to.rows = rows;
  a.to.partitions = {finer, coarse};
  a.counters = counters.data();
  warden::launch(warden::detail::split_log<run_type, window>,
                 {.grid = 2,
                  .block = run_type::policy::block_threads,
                  .shared_bytes = splitter::shared_bytes()},
                 {}, a);
  EXPECT_THAT(test::error_text(b.on()), error_text);
  EXPECT_TRUE(pool.is_whole()) << "places beyond the log's were written";
  EXPECT_TRUE(offsets.is_whole()) << "rows beyond the log's were written";
  EXPECT_TRUE(begins.is_whole()) << "rows beyond the log's were written";
  for (warden::detail::log_rows const& r : rows_of.to_host())
    EXPECT_TRUE(r.first == r.end || r.end <= rows) << "rows beyond the log's would be read";
}

testing::Matcher<std::string> are_lost() {
  return HasSubstr("sections were lost, because a kernel was still sending them");
}
TEST(log_split, has_room_for_its_log) { split(false, sections, 0, testing::IsEmpty()); }
TEST(log_split, of_partitions_that_repeat_writes_no_more_than_there_is_room_for) {
  split(true, sections, 0, are_lost());
}
TEST(log_split, writes_no_more_than_there_are_places) { split(false, sections / 4, 0, are_lost()); }
TEST(log_split, writes_no_more_than_there_are_rows) { split(false, sections, 4, are_lost()); }

}  // namespace
