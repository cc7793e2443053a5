// SPDX-License-Identifier: Apache-2.0
// After: no locks, and no kernel. A bucket is a record. A function says for each visit to which
// bucket it goes, and the owner of the bucket, which has it on chip, works on the key. Copy this
// file and edit the places marked 1 to 5. apps/hash_table is a complete table of this kind.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred.cuh>

#include <cstdint>
#include <cstdio>

// 1. The record: what one lock protected. Aligned to a cache line, so that one access brings all
// slots of a bucket.
constexpr unsigned slots = 10;
struct entry {
  std::uint32_t key;
  std::uint32_t visits;
  std::uint32_t longest;
};
struct alignas(128) bucket {
  std::uint32_t used;
  entry entries[slots];
};

// 2. The context of every section: counts keys that find no slot.
struct counters {
  std::uint32_t* refused;
};

// 3. The critical section: its arguments are data members, its body is the operator.
struct visit {
  std::uint32_t person;
  std::uint32_t minutes;
  __device__ void operator()(bucket& b, counters c) const {
    unsigned s = 0;
    while (s < b.used && b.entries[s].key != person) ++s;
    if (s == slots) {
      warden::simt::fetch_add(c.refused, 1u);
      return;
    }
    if (s == b.used) b.entries[b.used++] = {person, 0, 0};
    b.entries[s].visits += 1;
    if (b.entries[s].longest < minutes) b.entries[s].longest = minutes;
  }
};
using by_context = warden::policy<warden::options{}, warden::context<counters>>;
using map = warden::basic_guarded<by_context, bucket, visit>;

__device__ std::uint32_t hash(std::uint32_t key) {
  key = (key ^ key >> 16) * 0x7feb352du;
  return (key ^ key >> 15) * 0x846ca68bu;
}

int main() {
  std::uint32_t const n_people = 1000, n_buckets = 256, n = 5000;
  warden::buffer<bucket> buckets{n_buckets};
  warden::buffer<std::uint32_t> refused{1};
  buckets.fill_bytes(0);
  refused.fill_bytes(0);
  map m{buckets, counters{refused.data()}};
  // 4. Instead of the kernel: the body of its loop, which returns the bucket and the section.
  m.apply_async(n, [=] __device__(std::uint32_t i) {
    std::uint32_t const person = i * 7919 % n_people, minutes = i % 50;
    return warden::to{warden::simt::multiply_high(hash(person), n_buckets), visit{person, minutes}};
  });
  // 5. The errors of all sections.
  m.wait();

  unsigned people = 0, visits = 0;
  for (bucket const& b : buckets.to_host()) {
    people += b.used;
    for (unsigned s = 0; s < b.used; ++s) visits += b.entries[s].visits;
  }
  std::printf("%u people, %u visits, %u refused\n", people, visits, refused.to_host()[0]);
}
