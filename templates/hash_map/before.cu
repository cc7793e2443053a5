// SPDX-License-Identifier: Apache-2.0
// Before: a hash map whose buckets have a lock each in global memory. Every thread loops until it
// gets the lock of its key's bucket. Plain CUDA, without Warden.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr unsigned slots = 10;
struct entry {
  std::uint32_t key;
  std::uint32_t visits;
  std::uint32_t longest;
};
struct bucket {  // 128 bytes
  std::uint32_t used;
  entry entries[slots];
};

__device__ std::uint32_t hash(std::uint32_t key) {
  key = (key ^ key >> 16) * 0x7feb352du;
  return (key ^ key >> 15) * 0x846ca68bu;
}

__global__ void count_visits(bucket* buckets, std::uint32_t* locks, std::uint32_t n_buckets,
                             std::uint32_t n_people, std::uint32_t n, std::uint32_t* refused) {
  std::uint32_t const step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint32_t const person = i * 7919 % n_people, minutes = i % 50;
    std::uint32_t const id = __umulhi(hash(person), n_buckets);
    // The section stands inside the loop: threads of one warp may want the same lock, and the
    // thread that has it must not wait for the others.
    bool done = false;
    while (!done) {
      if (atomicCAS(&locks[id], 0u, 1u) == 0u) {
        __threadfence();
        // -- the critical section --
        bucket& b = buckets[id];
        unsigned s = 0;
        while (s < b.used && b.entries[s].key != person) ++s;
        if (s == slots) {
          atomicAdd(refused, 1u);
        } else {
          if (s == b.used) b.entries[b.used++] = {person, 0, 0};
          b.entries[s].visits += 1;
          if (b.entries[s].longest < minutes) b.entries[s].longest = minutes;
        }
        // --------------------------
        __threadfence();
        atomicExch(&locks[id], 0u);
        done = true;
      }
    }
  }
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main() {
  std::uint32_t const n_people = 1000, n_buckets = 256, n = 5000;
  bucket* buckets = nullptr;
  std::uint32_t* locks = nullptr;
  std::uint32_t* refused = nullptr;
  check(cudaMalloc(&buckets, n_buckets * sizeof(bucket)));
  check(cudaMalloc(&locks, n_buckets * sizeof(std::uint32_t)));
  check(cudaMalloc(&refused, sizeof(std::uint32_t)));
  check(cudaMemset(buckets, 0, n_buckets * sizeof(bucket)));
  check(cudaMemset(locks, 0, n_buckets * sizeof(std::uint32_t)));
  check(cudaMemset(refused, 0, sizeof(std::uint32_t)));
  count_visits<<<4, 128>>>(buckets, locks, n_buckets, n_people, n, refused);
  check(cudaGetLastError());

  std::vector<bucket> counted(n_buckets);
  std::uint32_t lost = 0;
  check(cudaMemcpy(counted.data(), buckets, n_buckets * sizeof(bucket), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&lost, refused, sizeof(lost), cudaMemcpyDeviceToHost));
  unsigned people = 0, visits = 0;
  for (bucket const& b : counted) {
    people += b.used;
    for (unsigned s = 0; s < b.used; ++s) visits += b.entries[s].visits;
  }
  std::printf("%u people, %u visits, %u refused\n", people, visits, lost);
  check(cudaFree(buckets));
  check(cudaFree(locks));
  check(cudaFree(refused));
}
