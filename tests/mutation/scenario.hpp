// SPDX-License-Identifier: Apache-2.0
// What the programs of scenarios share: `PROGRAM NAME SEEDS` prints the first seed that fails and
// one diagnosis.
#pragma once

#include <warden/fused.cuh>
#include <warden/guarded.cuh>
#include <warden/simulation.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace scenario {

/// A scenario has gone wrong: the diagnosis.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Every message that reached a record.
struct tally {
  std::uint64_t count, mixed;
};
inline std::uint64_t hash(std::uint32_t a) { return (a + 1) * 0x9e3779b97f4a7c15ull; }

inline void expect_equal(std::vector<tally> const& seen, std::vector<tally> const& wanted) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (seen[k].count != wanted[k].count || seen[k].mixed != wanted[k].mixed)
      throw failure{"torn or lost message"};
  }
}

/// A section whose five words are alike: a torn one leaves a trace.
struct note {
  static constexpr bool reads_other_memory = false;
  std::uint32_t a, b, c, d, e;
  static note of(std::uint32_t i) { return {i, i, i, i, i}; }
  void operator()(tally& t, warden::no_context) const {
    t.count += 1;
    t.mixed += hash(a) ^ (b - a) ^ (c - a) ^ (d - a) ^ (e - a);
  }
};

/// Calls `action(i)` for each operation. The threads of a block stay together: in its last round
/// there may be n or more.
template <class Action>
void in_rounds(warden::virtual_block const& at, std::uint32_t n, Action action) {
  for (std::uint32_t first = at.block_index() * at.block_dim(); first < n;
       first += at.grid_dim() * at.block_dim())
    action(first + at.thread_rank());
}

/// The main function of a program with these scenarios.
inline int run(int argc, char** argv,
               std::map<std::string, std::function<void()>> const& scenarios) {
  auto const first_line = [](std::string const& text) { return text.substr(0, text.find('\n')); };
  if (argc != 3 || scenarios.count(argv[1]) == 0) {
    std::fprintf(stderr, "usage: scenarios NAME SEEDS\n");
    return 2;
  }
  for (std::uint64_t seed = 1; seed <= std::strtoull(argv[2], nullptr, 10); ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 20'000;
    s.multiprocessors = 2;
    // Some seeds with many loads of older values, some with few.
    s.stale_loads = 2u << 2 * (seed % 4);
    s.max_steps = 50'000'000;
    warden::sim::configure(s);
    auto const deadlocks = [] { return warden::sim::total_counts().deadlocks; };
    std::uint64_t const before = deadlocks();
    std::string what;
    try {
      scenarios.at(argv[1])();
    } catch (warden::timeout_error const& e) {
      // The launch that failed need not be the last one.
      what = (deadlocks() != before ? "deadlock: " : "timeout: ") + first_line(e.what());
    } catch (std::exception const& e) {
      what = first_line(e.what());
    }
    if (!what.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), what.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace scenario
