// SPDX-License-Identifier: Apache-2.0
// Sections on two records, which may be on two GPUs.

#include <warden/spread.cuh>

struct transfer {
  __device__ void operator()(long& from, long& to) const { --from, ++to; }
};
using policy = warden::policy<warden::options{}, warden::executor::pair_messages<>>;
using bank = warden::basic_spread_guarded<policy, long, transfer>;

std::uint64_t size(bank const& b) { return b.size(); }
