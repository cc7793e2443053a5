// SPDX-License-Identifier: Apache-2.0
// The transport benchmark: message passing with sections that do nothing.

#include "microbench/support/report.hpp"
#include "microbench/transport/points.hpp"

#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

int main(int argc, char** argv) {
  bench::program program{"transport", "Message passing with sections that do nothing.", argc, argv};
  if (!program.parse({"block", "thread", "ceiling_copy", "latency_idle", "latency_loaded"}, argc,
                     argv))
    return program.exit_code();
  return program.run([&](bench::program::points& points) {
    auto const add = [&](auto make, unsigned servers) {
      try {
        points.push_back(make(servers));
      } catch (warden::limit_error const& e) {
        std::fprintf(stderr, "transport: a point is left out: %s\n", e.what());
      }
    };
    auto const all = static_cast<unsigned>(
        warden::runtime::facts(warden::runtime::current_device()).multiprocessors);
    // The base point has one server per multiprocessor, messages of 16 bytes and windows. Each
    // other point differs from it in one property.
    unsigned const half = std::max(all / 2, 1u);
    std::set const sweep{std::max(all / 4, 1u), half, all, 2 * all};
    for (unsigned const servers : sweep) add(transport::make_windows_point, servers);
    for (int const flits : {2, 3, 4})
      add([flits](unsigned servers) { return transport::make_size_point(flits, servers); }, all);
    auto const whole = [](int flits) {
      return [flits](unsigned servers) { return transport::make_single_tag_point(flits, servers); };
    };
    for (unsigned const servers : std::set{half, all}) add(whole(1), servers);
    add(whole(2), all);
    add(transport::make_slices_point, all);
    for (unsigned const servers : sweep) add(transport::make_bitmask_point, servers);
    for (bool const by_windows : {true, false})
      add([&](unsigned servers) { return transport::make_latency_point(by_windows, servers); },
          all);
  });
}
