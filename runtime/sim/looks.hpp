// SPDX-License-Identifier: Apache-2.0
// The looks of a simulated thread: enough to tell a thread that polls from one that reads on.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// The looks of one thread since memory last changed. A look is a place in the source with the
/// value that the thread found there: of a word, or its own and the returned value of a warp
/// collective or a barrier.
///
/// Schedules depend only on the last few different looks, which are compared: a hash may contain an
/// address, which differs when a seed is replayed.
///
/// For deadlocks, looks are counted as HyperLogLog counts distinct items, so that a thread may poll
/// any number of words: a register keeps the rarest hash of its share. A new look need not raise a
/// register, but a thread that keeps finding new ones raises some again and again: none of 32
/// registers rises in the last three quarters of N new looks with a probability below 1e-14.
class looks {
 public:
  /// Number of the change of memory since which the looks are counted.
  [[nodiscard]] std::uint64_t since() const { return since_; }
  /// Forgets all looks: memory has changed for the time `number`.
  void begin(std::uint64_t number) {
    *this = {};
    since_ = number;
  }

  void add(std::uint64_t hash) {
    if (std::find(recent_.begin(), recent_.end(), hash) != recent_.end()) {
      ++recently_repeated_;
    } else {
      recent_[next_recent_++ % recent_.size()] = hash;
      recently_repeated_ = 0;
    }
    ++all_;
    auto const rarity = static_cast<unsigned char>(1 + std::countl_zero(hash << 5 | 1u));
    unsigned char& rarest = registers_[hash >> 59];
    if (rarity <= rarest) return;
    rarest = rarity;
    find_new();
  }

  /// Number of looks in a row that were among the last few different ones.
  [[nodiscard]] std::uint64_t recently_repeated() const { return recently_repeated_; }
  /// Counts these from 0 again.
  void forgive() { recently_repeated_ = 0; }
  /// True if the last `n` looks were not new, nor was any of the last three quarters.
  [[nodiscard]] bool only_repeats(std::uint64_t n) const {
    return all_ - new_ >= std::max(n, all_ / 4 * 3);
  }

  /// Shares what the threads of a rendezvous found: if one of them has found something new since
  /// its last rendezvous, that is new for all. `looks_of(thread)` returns a reference.
  template <class Threads, class LooksOf>
  static void meet(Threads const& threads, LooksOf looks_of) {
    bool any_new = false;
    for (auto& t : threads) any_new = any_new || looks_of(t).is_new_;
    for (auto& t : threads) {
      looks& l = looks_of(t);
      if (any_new) l.find_new();
      l.is_new_ = false;
    }
  }

 private:
  void find_new() {
    new_ = all_;
    is_new_ = true;
  }

  std::array<std::uint64_t, 8> recent_{};
  unsigned next_recent_ = 0;
  std::uint64_t recently_repeated_ = 0;
  std::array<unsigned char, 32> registers_{};
  std::uint64_t since_ = 0;
  std::uint64_t all_ = 0;
  std::uint64_t new_ = 0;  ///< number of looks when the last new one came
  bool is_new_ = false;    ///< found something new since its last rendezvous
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
