// SPDX-License-Identifier: Apache-2.0
// After: a block adds up the needs of its threads, and takes places for all of them by one atomic;
// an output checks that they fit. Copy this file and edit the places marked 1 to 6. call.cu shows
// the other way.

#include <warden/allocate.cuh>
#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them

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

// 1. Instead of a pointer, a capacity and a counter.
__global__ void burst(std::uint32_t n, warden::output_ref<spark> sparks) {
  // 2. The allocator of a block, here of 128 threads; __shared__ allocator::storage storage.
  using allocator = warden::block_allocator<128>;
  WARDEN_SHARED(allocator::storage, storage);
  allocator places{sparks.counter(), storage};
  std::uint32_t const step = gridDim.x * blockDim.x;
  // 3. All threads of the block come here, also those without sparks.
  for (std::uint32_t first = blockIdx.x * blockDim.x; first < n; first += step) {
    std::uint32_t const i = first + threadIdx.x;
    std::uint32_t const count = i < n ? sparks_of(i) : 0;
    // 4. Instead of the atomic.
    std::uint64_t const place = places.allocate(count);
    // 5. Checked.
    for (std::uint32_t k = 0; k < count; ++k) sparks.store(place + k, {i, k});
  }
}

int main() {
  std::uint32_t const n = 5000;
  warden::buffer<spark> const room{n * most};
  // 6. The output and the launch; `wait` throws how much room is needed if there is not enough.
  warden::output sparks{room};
  warden::launch(burst, 4, 128, {}, n, sparks.ref());  // burst<<<4, 128>>>(...)
  auto const taken = static_cast<unsigned long long>(sparks.wait());

  std::vector<spark> const all = room.to_host();
  std::vector<std::uint32_t> times(n * most);
  for (std::size_t i = 0; i < taken; ++i) times[all[i].shell * most + all[i].number] += 1;
  std::uint32_t once = 0, wanted = 0;
  for (std::uint32_t const t : times) once += t == 1;
  for (std::uint32_t i = 0; i < n; ++i) wanted += sparks_of(i);
  std::printf("%u of %u sparks, %llu places\n", once, wanted, taken);
}
