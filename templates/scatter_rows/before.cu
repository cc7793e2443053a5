// SPDX-License-Identifier: Apache-2.0
// Before: out[ids[i]] += rows[i] for rows of 64 floats, with the same bits in every run. The
// numbers of the rows are sorted by id, and a warp adds the rows of each id in their order, which
// takes long for an id with many rows. Plain CUDA, without Warden.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

constexpr unsigned width = 64;

__global__ void add_sorted(std::uint32_t const* ids, std::uint32_t const* order, float const* rows,
                           std::uint32_t n, float* out) {
  std::uint32_t p = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  std::uint32_t const lane = threadIdx.x % 32;
  if (p >= n) return;
  std::uint32_t const id = ids[order[p]];
  // A warp begins at the first row of an id.
  if (p != 0 && ids[order[p - 1]] == id) return;
  float* const to = out + id * width;
  float first = to[lane], second = to[lane + 32];
  for (; p < n && ids[order[p]] == id; ++p) {
    float const* const from = rows + order[p] * width;
    first += from[lane];
    second += from[lane + 32];
  }
  to[lane] = first;
  to[lane + 32] = second;
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}
template <class T>
T* copy_of(std::vector<T> const& host) {
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)));
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

int main() {
  std::uint32_t const n_out = 100, n = 5000;
  std::vector<std::uint32_t> ids(n), order(n);
  std::vector<float> rows(n * width);
  for (std::uint32_t i = 0; i < n; ++i) {
    ids[i] = i % 2 == 0 ? 7 : i % n_out;
    for (unsigned k = 0; k < width; ++k) rows[i * width + k] = 0.25f * static_cast<float>(k);
  }
  // A real program sorts on the GPU, by cub::DeviceRadixSort, with temporary memory.
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
  std::uint32_t* const device_ids = copy_of(ids);
  std::uint32_t* const device_order = copy_of(order);
  float* const device_rows = copy_of(rows);
  float* const out = copy_of(std::vector<float>(n_out * width));
  add_sorted<<<(n * 32 + 255) / 256, 256>>>(device_ids, device_order, device_rows, n, out);
  check(cudaGetLastError());

  std::vector<float> found(n_out * width);
  check(cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("row 7: %.2f to %.2f\n", static_cast<double>(found[7 * width + 1]),
              static_cast<double>(found[7 * width + 63]));
  check(cudaFree(device_ids));
  check(cudaFree(device_order));
  check(cudaFree(device_rows));
  check(cudaFree(out));
}
