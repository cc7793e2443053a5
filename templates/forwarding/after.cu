// SPDX-License-Identifier: Apache-2.0
// After: no locks. The section that takes the crates sends the section that puts them down, to the
// owner of the other shelf.
//
// Each of the two is atomic on its shelf. The pair is not isolated: as before, other sections run
// in between, and then the crates are on no shelf. If no section may see that, or if the decision
// needs both records, take nested_locks.
// Copy this file and edit the places marked 1 to 6.

#include <warden/fused.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

// 1. The record: what one lock protected.
struct shelf {
  std::uint32_t crates;
  std::uint32_t sent, got;  ///< crates sent and received
  std::uint32_t asked;      ///< crates to be sent, whether they were there or not
};
constexpr std::uint32_t shelves = 64, opening = 100;

// 2. The second critical section.
struct put {
  static constexpr bool reads_other_memory = false;  // touches its shelf only: no fence needed
  std::uint32_t crates;
  __device__ void operator()(shelf& s) const {
    s.crates += crates;
    s.got += crates;
  }
};

// 3. The first one. What it sends, if anything, runs exactly once, some time after it. It may send
// any of the guarded array's sections, its own type as well, so that a chain may have any length.
// One that sends more than one other says how many: static constexpr unsigned sends_sections = 2;
struct take {
  static constexpr bool reads_other_memory = false;
  std::uint32_t crates, to;
  template <class Next>
  __device__ void operator()(shelf& s, warden::no_context, Next& next) const {
    s.asked += crates;
    if (s.crates < crates) return;
    s.crates -= crates;
    s.sent += crates;
    next.send(to, put{crates});
  }
};
using storehouse = warden::guarded<shelf, take, put>;

struct order {
  std::uint32_t from, to;
  std::uint32_t crates;
  WARDEN_HOST_DEVICE static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u;
    return {h >> 26, h >> 20 & 63, 1 + (h >> 16 & 15)};
  }
};

// 4. The rest of the kernel: at.block_index() and at.grid_dim() instead of blockIdx and gridDim.
struct work_off {
  std::uint32_t n;

  __device__ void operator()(warden::virtual_block const& at, storehouse::ref const& all) const {
    storehouse::block_client client{all, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n; first += step) {
      std::uint32_t const i = first + at.thread_rank();
      auto const o = order::number(i);
      // 5. Replaces both lock loops: only the first section is sent from here. All threads of the
      // block come here.
      client.send(o.from, take{o.crates, o.to}, /*valid*/ i < n);
    }
    client.flush();
  }
};

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<shelf> all{shelves};
  std::vector<shelf> const stocked(shelves, shelf{opening, 0, 0, 0});
  warden::copy(all.data(), stocked.data(), shelves);
  // 6. The launch. `wait` also waits for the sections that sections have sent.
  storehouse house{all};
  warden::launch_fused(work_off{n}, 4, {}, house);
  house.wait();

  std::vector<std::uint32_t> asked(shelves);
  for (std::uint32_t i = 0; i < n; ++i) asked[order::number(i).from] += order::number(i).crates;
  std::uint32_t crates = 0, wrong = 0, id = 0;
  for (shelf const& s : all.to_host()) {
    std::uint32_t const wanted = asked[id++];
    crates += s.crates;
    wrong +=
        s.crates > shelves * opening || s.crates + s.sent != opening + s.got || s.asked != wanted;
  }
  std::printf("%u crates, %u wrong shelves\n", crates, wrong);
}
