// SPDX-License-Identifier: Apache-2.0
// Parts of a warp's items, some of which emit billions of elements.

#include "tests/allocate/items.cuh"

#include <warden/simt/launch.cuh>

namespace {

namespace simt = warden::simt;

using emit = warden::detail::emit_elements<std::uint64_t, test::numbered>;
constexpr unsigned items = 3;  // items of a lane
using storage = emit::storage<items>;
struct part {
  std::uint64_t n;
  test::counts_in count;
  emit elements;
  std::uint64_t begin;
  std::uint32_t size;
  std::uint64_t* to;
};
WARDEN_KERNEL void write_part(part a) {
  auto& shared = *reinterpret_cast<storage*>(simt::dynamic_shared());
  a.elements.write_part<items>(shared,
                               warden::detail::counted_items<test::counts_in>{0, a.n, a.count},
                               a.begin, a.size, a.to);
}

TEST(tile, parts_of_billions_of_elements) {
  warden::stream s;
  constexpr std::uint32_t most = 0xffffffff, half = 0x80000000;
  std::vector<std::uint32_t> const shapes[] = {{most, 5, 3, 0, 7},
                                               {most, most, 1, most, 2},
                                               {1, half, 1, half - 1, 4, 9},
                                               {half - 1, 1, 1, 1, half, 3},
                                               {10, most - 15, 3, most, most, most, 8}};
  for (auto const& counts : shapes) {
    warden::buffer<std::uint32_t> const device_counts{counts};
    std::vector<std::uint64_t> starts{0};
    for (std::uint32_t const count : counts) starts.push_back(starts.back() + count);
    for (std::uint64_t const start : starts) {
      for (std::uint64_t const before : {0, 1, 20, 1023, 1024, 1025, 1100}) {
        for (std::uint64_t const far :
             {std::uint64_t{0}, std::uint64_t{half}, std::uint64_t{most}}) {
          std::uint64_t const begin = start + far - before;
          if (begin >= starts.back()) continue;
          // Several windows, now and then.
          std::uint64_t const most = before == 20 ? 9000 : 1200;
          auto const elements = static_cast<std::uint32_t>(std::min(most, starts.back() - begin));
          test::guarded_memory<std::uint64_t> memory{elements, begin % 2};
          warden::launch(
              &write_part, {1, simt::warp_size, sizeof(storage)}, s,
              {counts.size(), {device_counts.data()}, {}, begin, elements, memory.data()});
          std::vector<std::uint64_t> wanted(elements);
          for (std::uint64_t j = 0, item = 0; j < elements; ++j) {
            while (starts[item + 1] <= begin + j) ++item;
            wanted[j] =
                test::numbered{}(item, static_cast<std::uint32_t>(begin + j - starts[item]));
          }
          ASSERT_TRUE(memory.to_host(s) == wanted) << "from element " << begin;
        }
      }
    }
  }
}

}  // namespace
