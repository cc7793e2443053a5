// SPDX-License-Identifier: Apache-2.0
// Must not compile: the library would construct the map from a number of servers and a chunk, which
// may mean something else to it.

#include <warden/guarded.cuh>

struct count {
  __device__ void operator()(std::uint32_t& n, warden::no_context) const { n += 1; }
};
struct all_on_one {
  unsigned size, unused;
  WARDEN_HOST_DEVICE std::uint32_t servers() const { return 1; }
  WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t n) const { return n; }
  __device__ warden::record_location operator()(std::uint32_t id) const { return {0, id}; }
  __device__ std::uint32_t id(warden::record_location place) const { return place.local; }
};
using owned = warden::policy<warden::options{}, warden::owners<all_on_one>>;

void make(std::uint32_t* records) {
  warden::basic_guarded<owned, std::uint32_t, count>{records, 1};
}
