// SPDX-License-Identifier: Apache-2.0
// Sections that combine, applied in bulk, and a sequential loop that gives the expected records.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>

#include <cstdint>
#include <vector>

namespace bulk {

/// Words of a payload become a partial of twice as many and a count.
template <unsigned Words, class Count = std::uint32_t>
struct wide {
  struct total {
    std::uint64_t sums[Words];
    std::uint64_t rows;
    std::uint32_t runs;  ///< sections that ran
  };
  struct section {
    std::uint32_t words[Words];
    WARDEN_HOST_DEVICE static section of(std::uint64_t i) {
      section s;
      for (unsigned w = 0; w < Words; ++w)
        s.words[w] = static_cast<std::uint32_t>(test::mix(i * Words + w));
      return s;
    }
    __device__ void operator()(total& t) const { partial{*this}(t); }

    struct partial {
      std::uint32_t low[Words], high[Words];
      Count rows;
      __device__ explicit partial(section const& s) : rows{1} {
        for (unsigned w = 0; w < Words; ++w) low[w] = s.words[w], high[w] = 0;
      }
      __device__ static partial combine(partial a, partial const& b) {
        for (unsigned w = 0; w < Words; ++w) {
          a.low[w] += b.low[w];
          a.high[w] += b.high[w] + (a.low[w] < b.low[w] ? 1 : 0);
        }
        a.rows += b.rows;
        return a;
      }
      __device__ void operator()(total& t) const {
        for (unsigned w = 0; w < Words; ++w) t.sums[w] += low[w] + (std::uint64_t{high[w]} << 32);
        t.rows += rows;
        ++t.runs;
      }
    };
  };
};

/// Ids of the rows: `hot` of 256 rows name the last record.
struct rows {
  std::uint64_t n;
  std::uint32_t records;
  std::uint32_t hot = 0;
  std::uint32_t outside = 0;  ///< distance of two ids that name no record; 0: none do
  std::uint32_t used = ~0u;   ///< the other rows name this many records, or all

  WARDEN_HOST_DEVICE bool sends(std::uint64_t i) const { return i % 11 != 4; }
  WARDEN_HOST_DEVICE std::uint64_t id_of(std::uint64_t i) const {
    if (outside != 0 && i % outside == 5) return std::uint64_t{records} + i;
    if ((test::mix(i * 3 + 1) & 255u) < hot) return records - 1;
    return test::id_of(i, used < records ? used : records);
  }
};
/// Function of `apply_async`.
template <class Section>
struct send_rows {
  rows all;
  __device__ warden::nothing_or<warden::to<Section>> operator()(std::uint64_t i) const {
    if (!all.sends(i)) return {};
    return warden::to{all.id_of(i), Section::of(i)};
  }
};

/// Applies the rows `times` times, and compares all records with a loop. A record gets one section
/// from each call.
template <unsigned Words, class Policy, class Count = std::uint32_t>
void expect_as_in_a_loop(rows const& all, unsigned times = 1) {
  using total = typename wide<Words, Count>::total;
  using section = typename wide<Words, Count>::section;
  std::vector<total> wanted(all.records);
  std::uint64_t bad = 0;
  for (std::uint64_t i = 0; i < all.n; ++i) {
    if (!all.sends(i)) continue;
    std::uint64_t const id = all.id_of(i);
    if (id >= all.records) {
      ++bad;
      continue;
    }
    section const s = section::of(i);
    for (unsigned w = 0; w < Words; ++w) wanted[id].sums[w] += s.words[w] * std::uint64_t{times};
    wanted[id].rows += times;
  }
  warden::buffer<total> records{all.records};
  records.fill_bytes(0);
  warden::basic_guarded<Policy, total, section> on{records};
  for (unsigned t = 0; t < times; ++t) on.apply_async(all.n, send_rows<section>{all});
  try {
    on.wait();
    EXPECT_EQ(bad, 0u);
  } catch (warden::limit_error const& e) {
    ASSERT_EQ(e.all().size(), 1u) << e.what();
    EXPECT_EQ(e.all()[0].count, bad * times);
  }
  using runner = typename warden::detail::bulk_runner_of<true, Policy, total, section>::type;
  bool const in_bulk = runner::fits(all.records, warden::runtime::facts(0));
  auto const found = records.to_host();
  for (std::uint32_t r = 0; r < all.records; ++r) {
    ASSERT_EQ(found[r].rows, wanted[r].rows) << "record " << r << ": lost or doubled section";
    if (in_bulk && all.n < Policy::apply_bytes / sizeof(section)) {
      ASSERT_EQ(found[r].runs, wanted[r].rows == 0 ? 0 : times) << "record " << r;
    }
    for (unsigned w = 0; w < Words; ++w)
      ASSERT_EQ(found[r].sums[w], wanted[r].sums[w]) << "record " << r << ", word " << w;
  }
}

}  // namespace bulk
