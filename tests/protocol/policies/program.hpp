// SPDX-License-Identifier: Apache-2.0
// A random program on a log: everything that a seed chooses.
#pragma once

#include "choices.hpp"

#include "tests/support/support.cuh"

#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/simulation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

namespace policies {

/// Numbers below a limit, one after another.
struct drawing {
  std::uint64_t state;
  std::uint32_t operator()(std::uint32_t limit) {
    state += 0x9e3779b97f4a7c15ull;
    return test::id_of(state, limit);
  }
};

/// Sends the operations begin .. end - 1 by threads alone, or together by block clients.
struct sending {
  bool together;
  std::uint32_t begin, end;
  unsigned blocks, threads;  ///< a block client has its own number of threads
};
/// Fills the log and runs it, then applies the operations end() .. applied - 1 from arrays.
struct round {
  std::vector<sending> sent;
  std::uint32_t applied;

  [[nodiscard]] std::uint32_t begin() const { return sent.front().begin; }
  [[nodiscard]] std::uint32_t end() const { return sent.back().end; }
};

struct program {
  std::uint64_t seed;
  policy_choices policy;
  warden::sim::settings device;
  std::uint32_t records;
  std::uint32_t ids;  ///< drawn; more than records where some are bad
  unsigned chunk;     ///< neighbouring records of one owner
  std::size_t capacity;
  warden::deferred_options options;
  std::vector<round> rounds;

  /// A block client takes `client_bytes` of shared memory and has `client_threads`.
  static program of(std::uint64_t seed, policy_choices const& policy, std::size_t client_bytes,
                    unsigned client_threads) {
    drawing draw{test::mix(seed * 77'711)};
    program p{seed, policy, device_of(seed, draw, client_bytes), 0, 0, 0, 0, {}, {}};
    bool const is_sequential = policy.order == order::sequential;
    // Full batches of many blocks on one record fill the windows of a run exactly.
    bool const is_crowded = client_threads <= 64 && draw(4) == 0;
    p.records = is_crowded || draw(6) == 0 ? 1 : 1 + draw(policy.has_rows() ? 90 : 400);
    p.ids = p.records + (draw(6) == 0 ? 1 + draw(3) : 0);
    p.chunk = draw(2) == 0 ? 0 : 1u << draw(4);
    std::uint32_t most = 0;  // operations of a round
    std::uint32_t number = 0;
    for (std::uint32_t left = 1 + draw(2); left != 0; --left) {
      round r{};
      for (std::uint32_t launches = 1 + draw(3); launches != 0; --launches) {
        sending s{};
        s.together = is_sequential || draw(2) == 0;
        s.begin = number;
        s.end = number += draw(3) == 0 ? draw(20) : draw(500);
        s.blocks = 1 + draw(5);
        s.threads = 1 + (draw(4) == 0 ? draw(1024) : draw(100));
        if (is_crowded && s.together) {
          s.blocks = 33 + draw(64);
          s.end = number = s.begin + s.blocks * client_threads * (1 + draw(2));
        }
        r.sent.push_back(s);
      }
      r.applied = number += draw(3) == 0 ? draw(700) : 0;
      most = std::max(most, r.end() - r.begin());
      p.rounds.push_back(r);
    }
    switch (draw(3)) {
      case 0:
        p.capacity = std::max(1u, most);
        break;
      case 1:
        p.capacity = 1 + draw(std::max(1u, most));
        break;
      default:
        p.capacity = 1 + most + draw(300);
    }
    p.options.partitions = draw(2) == 0 ? 0 : 1u << draw(draw(8) == 0 ? 10 : 5);
    bool const splits =
        policy.executor != executor::pair_messages && policy.combining != combining::partial;
    if (splits && draw(2) == 0) p.options.split = 1u << draw(6);
    if (policy.executor == executor::pair_messages)
      p.options.partitions = std::min(p.options.partitions, 64u);
    // Each batch of a block has one operation at least; now and then batches are too few.
    if (is_sequential) p.options.batches = draw(5) == 0 ? 1 + draw(8) : 4096;
    return p;
  }

  [[nodiscard]] bool has_few_batches() const {
    return 0 < options.batches && options.batches < 100;
  }
  [[nodiscard]] std::uint32_t operations() const { return rounds.back().applied; }
  /// Record of operation `number`; its second record if `second`. Every fourth one is hot.
  WARDEN_HOST_DEVICE static std::uint32_t id_of(std::uint64_t seed, std::uint32_t number,
                                                bool second, std::uint32_t ids) {
    std::uint64_t const h = test::mix(seed * 1'000'003 + number * 2ull + second);
    return h % 4 == 0 ? 0 : test::id_of(h, ids);
  }

  friend std::ostream& operator<<(std::ostream& out, program const& p) {
    out << "seed " << p.seed << ": policy " << p.seed % count << ", profile "
        << p.device.profile->name << ", " << p.records << " records, ids below " << p.ids
        << ", chunk " << p.chunk << ", a log of " << p.capacity << ", " << p.options.partitions
        << " partitions, split " << p.options.split << ", " << p.options.batches
        << " batches; rounds:";
    for (round const& r : p.rounds) {
      out << " [";
      for (sending const& s : r.sent) {
        out << s.end - s.begin << " sent by " << s.blocks << " blocks";
        if (!s.together) out << " of " << s.threads;
        out << ", ";
      }
      out << r.applied - r.end() << " applied]";
    }
    return out;
  }

 private:
  static warden::sim::settings device_of(std::uint64_t seed, drawing& draw,
                                         std::size_t client_bytes) {
    constexpr char const* profiles[] = {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"};
    auto const* profile = &warden::sim::find_profile(profiles[draw(std::size(profiles))]);
    if (profile->shared_bytes_per_block < client_bytes) profile = &warden::sim::find_profile("9.0");
    warden::sim::settings s{.profile = profile};
    s.seed = seed;
    s.order = draw(2) == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 20'000;
    s.multiprocessors = static_cast<int>(1 + draw(4));
    s.max_steps = 50'000'000;
    s.weak_memory = draw(5) != 0;
    s.stale_loads = 2u << 2 * draw(3);
    return s;
  }
};

}  // namespace policies
