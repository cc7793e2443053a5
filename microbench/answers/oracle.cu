// SPDX-License-Identifier: Apache-2.0
// Checks tickets on the device.

#include "microbench/answers/oracle.hpp"

#include "microbench/support/device.cuh"

#include <warden/simt/launch.cuh>

#include <numeric>
#include <vector>

namespace answers {

namespace simt = warden::simt;

struct oracle_arguments {
  calls all;
  std::uint32_t const* records;  ///< [key] the next ticket
  std::uint32_t keys;
  std::uint32_t* called;  ///< [key] number of calls
  std::uint32_t* begin;   ///< [key] sum of the calls of all keys before it
  std::uint32_t* marks;   ///< [begin + ticket] number of times that the ticket was handed out
  std::uint32_t* wrong;
};
WARDEN_KERNEL void count_calls(oracle_arguments a) {
  bench::for_each_of(a.all.n,
                     [&](std::uint64_t i) { simt::fetch_add(&a.called[a.all.ids[i]], 1u); });
}
WARDEN_KERNEL void check_tickets(oracle_arguments a) {
  bench::for_each_of(a.all.n, [&](std::uint64_t i) {
    std::uint32_t const key = a.all.ids[i], ticket = a.all.tickets[i];
    bool const good =
        ticket < a.called[key] && simt::fetch_add(&a.marks[a.begin[key] + ticket], 1u) == 0;
    if (!good) simt::fetch_add(a.wrong, 1u);
  });
  bench::for_each_of(a.keys, [&](std::uint64_t key) {
    if (a.records[key] != a.called[key]) simt::fetch_add(a.wrong, 1u);
  });
}

std::uint32_t ticket_oracle::wrong(calls const& all, warden::buffer<std::uint32_t> const& records) {
  called_.fill_bytes(0);
  marks_.fill_bytes(0);
  wrong_.fill_bytes(0);
  oracle_arguments const a{all,
                           records.data(),
                           static_cast<std::uint32_t>(records.size()),
                           called_.data(),
                           begin_.data(),
                           marks_.data(),
                           wrong_.data()};
  auto const [blocks, threads] = bench::shape_of_helpers();
  simt::launch(&count_calls, blocks, threads, 0, a, {});
  std::vector<std::uint32_t> begin = called_.to_host();
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0u);
  warden::copy(begin_.data(), begin.data(), begin.size());
  simt::launch(&check_tickets, blocks, threads, 0, a, {});
  return wrong_.to_host()[0];
}

}  // namespace answers
