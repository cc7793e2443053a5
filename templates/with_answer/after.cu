// SPDX-License-Identifier: Apache-2.0
// After: no locks. A section returns what the buyer needs, and a call brings it back.
// Copy this file and edit the places marked 1 to 6.

#include <warden/fused.cuh>

#include <cstdint>
#include <cstdio>

// 1. The record: what one lock protected.
struct show {
  std::uint32_t sold;    ///< tickets 0 to sold - 1
  std::uint32_t income;  ///< income from these tickets
};
constexpr std::uint32_t shows = 64, price = 30;

// 2. The critical sections: each returns the value that the code after the lock used.
struct sell {
  static constexpr bool reads_other_memory = false;  // touches its show only: no fence needed
  __device__ std::uint32_t operator()(show& s) const {
    s.income += price;
    return s.sold++;
  }
};
struct look {
  static constexpr bool reads_other_memory = false;
  __device__ show operator()(show& s) const { return s; }
};
using box_office = warden::guarded<show, sell, look>;

// 3. The rest of the kernel: at.block_index() and at.grid_dim() instead of blockIdx and gridDim.
struct open_sale {
  std::uint32_t n;
  std::uint32_t* taken;  ///< [show][ticket] number of times that it was handed out
  std::uint32_t* wrong;

  __device__ void operator()(warden::virtual_block const& at, box_office::ref const& all) const {
    box_office::block_client buyers{all, at};
    box_office::thread_client const buyer{all, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint32_t first = at.block_index() * at.block_dim(); first < n; first += step) {
      std::uint32_t const i = first + at.thread_rank();
      std::uint32_t const id = i * 2654435761u >> 26;
      // 4. Instead of the lock loop; all threads of the block come here.
      auto sold = buyers.call(id, sell{}, /*valid*/ i < n);
      buyers.flush();
      auto const ticket = sold.get();
      if (!ticket) continue;  // i is not below n; any other error is thrown by wait
      warden::simt::fetch_add(&taken[id * n + *ticket], 1u);
      // 5. A call by a single thread, where only some threads come.
      if (*ticket % 16 == 0) {
        auto const seen = buyer.call(id, look{}).get();
        bool const good = seen && seen->sold > *ticket && seen->income == price * seen->sold;
        if (!good) warden::simt::fetch_add(wrong, 1u);
      }
    }
  }
};

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<show> all{shows};
  warden::buffer<std::uint32_t> taken{shows * n}, wrong{1};
  all.fill_bytes(0);
  taken.fill_bytes(0);
  wrong.fill_bytes(0);
  // 6. The launch.
  box_office b{all};
  warden::launch_fused(open_sale{n, taken.data(), wrong.data()}, 4, {}, b);
  b.wait();
  std::uint32_t once = 0;
  for (std::uint32_t const times : taken.to_host()) once += times == 1;
  std::printf("%u tickets handed out once, %u wrong looks\n", once, wrong.to_host()[0]);
}
