// SPDX-License-Identifier: Apache-2.0
// After: no locks, and no kernel. A function returns each order, which goes to a log. The run of
// the log knows all orders, so no shelf stays locked while a message travels: the run holds two
// tiles of the shelves at a time, and processes all tile pairs. Copy this file and edit the places
// marked 1 to 4. fused.cu shows the other way.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred_pairs.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

// 1. The record: what one lock protected.
struct shelf {
  std::uint32_t crates;     ///< at most `room`
  std::uint32_t sent, got;  ///< crates sent and received
  std::uint32_t asked;      ///< crates to be sent, whether they could be or not
};
constexpr std::uint32_t shelves = 64, opening = 50, room = 100;

// 2. The critical section, with the two records in the order in which the sender names them. Both
// may be one record, if the sender names it twice.
struct move_crates {
  std::uint32_t crates;
  __device__ void operator()(shelf& from, shelf& to) const {
    from.asked += crates;
    if (from.crates < crates || to.crates + crates > room) return;
    from.crates -= crates;
    from.sent += crates;
    to.crates += crates;
    to.got += crates;
  }
};
using storehouse = warden::guarded<shelf, move_crates>;

struct order {
  std::uint32_t from, to;  ///< two different shelves
  std::uint32_t crates;
  WARDEN_HOST_DEVICE static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u, from = h >> 26;
    return {from, (from + 1 + (h >> 20 & 31)) % shelves, 1 + (h >> 16 & 15)};
  }
};

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<shelf> all{shelves};
  std::vector<shelf> const stocked(shelves, shelf{opening, 0, 0, 0});
  warden::copy(all.data(), stocked.data(), shelves);
  storehouse house{all};
  // 3. Instead of the kernel: the body of its loop, which returns the two ids, in any order, and
  // the section. A kernel of its own calls all.send(o.from, o.to, move_crates{o.crates}).
  house.apply_async(n, [] __device__(std::uint32_t i) {
    auto const o = order::number(i);
    return warden::to{o.from, o.to, move_crates{o.crates}};
  });
  // 4. The errors of all sections.
  house.wait();

  std::vector<std::uint32_t> asked(shelves);
  for (std::uint32_t i = 0; i < n; ++i) asked[order::number(i).from] += order::number(i).crates;
  std::uint32_t crates = 0, wrong = 0, id = 0;
  for (shelf const& s : all.to_host()) {
    std::uint32_t const wanted = asked[id++];
    crates += s.crates;
    wrong += s.crates > room || s.crates + s.sent != opening + s.got || s.asked != wanted;
  }
  std::printf("%u crates, %u wrong shelves\n", crates, wrong);
}
