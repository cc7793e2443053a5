// SPDX-License-Identifier: Apache-2.0
// The other way: no kernel. A call asks how many sparks each shell has, asks for each of them, and
// stores them in the order of shells. Copy this file and edit the places marked 1 to 3.

#include <warden/allocate.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

struct spark {
  std::uint32_t shell, number;
};
constexpr std::uint32_t most = 8;  ///< sparks of a shell, at most

__host__ __device__ std::uint32_t sparks_of(std::uint32_t shell) {
  return shell * 2654435761u >> 29;
}

// 1. Number of elements of item i. Further arguments would be data members.
struct count_sparks {
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    return sparks_of(static_cast<std::uint32_t>(i));
  }
};
// 2. Element k of item i.
struct make_spark {
  __device__ spark operator()(std::uint64_t i, std::uint32_t k) const {
    return {static_cast<std::uint32_t>(i), k};
  }
};

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<spark> const room{n * most};
  // 3. The output and the call; `wait` throws how much room is needed if there is not enough.
  warden::output sparks{room};
  warden::allocate_async(n, count_sparks{}, make_spark{}, sparks);
  auto const taken = static_cast<unsigned long long>(sparks.wait());

  std::vector<spark> const all = room.to_host();
  std::vector<std::uint32_t> times(n * most);
  // In order: the sparks of a shell follow those of all earlier shells.
  bool in_order = true;
  for (std::size_t i = 0; i < taken; ++i) {
    times[all[i].shell * most + all[i].number] += 1;
    in_order = in_order && (i == 0 || all[i - 1].shell <= all[i].shell);
  }
  std::uint32_t once = 0, wanted = 0;
  for (std::uint32_t const t : times) once += t == 1;
  for (std::uint32_t i = 0; i < n; ++i) wanted += sparks_of(i);
  std::printf("%u of %u sparks, %llu places%s\n", once, wanted, taken,
              in_order ? "" : ", in another order");
}
