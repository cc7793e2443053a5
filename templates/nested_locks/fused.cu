// SPDX-License-Identifier: Apache-2.0
// The other way, for kernels that need answers or chains of sections: an order goes, as a message,
// from the owner of the one shelf to the owner of the other one and back. No other section touches
// either shelf in the meantime. Copy this file and edit the places marked 1 to 5.

#include <warden/fused.cuh>

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
  static constexpr bool reads_other_memory = false;  // touches its shelves only: no fence needed
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

// The executor is named: a fused launch with sections on two records does not choose one.
using by_messages = warden::policy<warden::options{}, warden::executor::pair_messages<>>;
using storehouse = warden::basic_guarded<by_messages, shelf, move_crates>;

struct order {
  std::uint32_t from, to;  ///< two different shelves
  std::uint32_t crates;
  WARDEN_HOST_DEVICE static order number(std::uint32_t i) {
    std::uint32_t const h = i * 2654435761u, from = h >> 26;
    return {from, (from + 1 + (h >> 20 & 31)) % shelves, 1 + (h >> 16 & 15)};
  }
};

// 3. The rest of the kernel: at.block_index() and at.grid_dim() instead of blockIdx and gridDim.
struct work_off {
  std::uint32_t n;

  __device__ void operator()(warden::virtual_block const& at, storehouse::ref const& all) const {
    storehouse::block_client client{all, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n; first += step) {
      std::uint32_t const i = first + at.thread_rank();
      auto const o = order::number(i);
      // 4. Replaces the loop for both locks; all threads of the block come here. The ids need no
      // order.
      client.send(o.from, o.to, move_crates{o.crates}, /*valid*/ i < n);
    }
    client.flush();
  }
};

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<shelf> all{shelves};
  std::vector<shelf> const stocked(shelves, shelf{opening, 0, 0, 0});
  warden::copy(all.data(), stocked.data(), shelves);
  // 5. The launch.
  storehouse house{all};
  warden::launch_fused(work_off{n}, 4, {}, house);
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
