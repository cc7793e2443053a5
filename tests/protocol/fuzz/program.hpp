// SPDX-License-Identifier: Apache-2.0
// A random program: everything that a seed chooses, but what each operation does (operation.cuh).
#pragma once

#include "operation.cuh"

#include <warden/simulation.hpp>

#include <cstdint>
#include <ostream>
#include <vector>

namespace fuzz {

/// How the threads of a block send in one round.
enum class way : unsigned { block, append, block_call, thread, any };

/// Which guarded arrays a launch has, in which order: the first one keeps its health.
enum class company : unsigned { alone, first, second };

struct launch {
  std::uint32_t begin, operations;  ///< numbers begin .. begin + operations - 1
  unsigned grid;
  fuzz::company company;
  way how;       ///< any: another one in each round
  bool lingers;  ///< clients stay until chains that they began are over, but not for ever
  bool waits;    ///< waits after it
};

struct program {
  std::uint64_t seed;
  warden::sim::settings device;
  std::uint32_t records, partner_records;
  warden::guarded_options options, partner_options;
  std::vector<launch> launches;

  /// `one_owner`: neighbours have one owner.
  static program of(std::uint64_t seed, bool one_owner) {
    chance draw{mix(seed * 99'991)};
    program p{};
    p.seed = seed;
    p.device.seed = seed;
    p.device.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    p.device.pct_horizon = 20'000;
    p.device.multiprocessors = static_cast<int>(3 + draw(2));
    // Ten times the steps of the longest launch, so that an endless one ends soon.
    p.device.max_steps = 50'000'000;
    // Without weak memory, stores that were made too early are noticed sooner.
    p.device.weak_memory = draw(5) != 0;
    p.device.stale_loads = 2u << 2 * draw(3);
    // Now and then a thread of a server owns several records.
    p.records = draw(8) == 0 ? 100 + draw(200) : 1 + draw(37);
    p.partner_records = 1 + draw(9);
    p.options.servers = 1 + draw(3);
    p.options.capacity = 32u << draw(4);
    p.options.chunk = one_owner ? 2 : 1u << draw(2);
    p.options.time_limit_seconds = 1;
    p.partner_options = p.options;
    p.partner_options.servers = 1 + draw(2);
    p.partner_options.capacity = 32;
    // At any index, including those at which the sequence tags begin anew.
    if (draw(2) == 0) {
      p.options.first_index =
          std::uint64_t{p.options.capacity} * (1 + draw(70'000)) + draw(p.options.capacity);
    }
    std::uint32_t begin = 0;
    for (std::uint32_t left = 1 + draw(4); left != 0; --left) {
      launch l{};
      l.begin = begin;
      l.grid = draw(6);
      // In small ones hardly any fence makes up for one that is missing.
      l.operations = l.grid == 0 ? 0 : draw(draw(3) == 0 ? 20 : 700);
      l.company = static_cast<company>(draw(3));
      l.how = static_cast<way>(draw(5));
      l.lingers = draw(2) == 0;
      l.waits = draw(2) == 0;
      begin += l.operations;
      p.launches.push_back(l);
    }
    return p;
  }

  std::uint32_t operations() const { return launches.back().begin + launches.back().operations; }

  friend std::ostream& operator<<(std::ostream& out, program const& p) {
    out << "seed " << p.seed << ": " << p.records << " records, " << p.options.servers
        << " servers, capacity " << p.options.capacity << ", chunk " << p.options.chunk
        << ", first index " << p.options.first_index << "; launches:";
    for (launch const& l : p.launches) {
      out << " [" << l.operations << " operations, grid " << l.grid << ", company "
          << static_cast<unsigned>(l.company) << ", way " << static_cast<unsigned>(l.how)
          << (l.lingers ? ", lingers" : "") << (l.waits ? ", wait]" : "]");
    }
    return out;
  }

 private:
  /// Numbers below a limit, one after another.
  struct chance {
    std::uint64_t state;
    std::uint32_t operator()(std::uint32_t limit) {
      state += 0x9e3779b97f4a7c15ull;
      return test::id_of(state, limit);
    }
  };
};

}  // namespace fuzz
