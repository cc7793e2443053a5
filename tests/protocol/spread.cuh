// SPDX-License-Identifier: Apache-2.0
// Records that are spread over ranks of one process: each rank sends operations of its own, and all
// records are compared with a loop over all ranks' operations.
#pragma once

#include "tests/protocol/deferred.cuh"
#include "tests/support/error_text.hpp"

#include <warden/communicator.hpp>
#include <warden/spread.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace spreading {

namespace simt = warden::simt;
using deferring::entry;

/// Settings of `count` ranks.
inline warden::loopback_settings ranks(int count, std::uint64_t seed = 1) {
  warden::loopback_settings s;
  s.ranks = count;
  s.seed = seed;
  s.can_share = seed % 2 != 0;
  return s;
}
/// Texts of the errors that the ranks threw; "" if none.
inline std::vector<std::string> texts(std::vector<std::exception_ptr> const& thrown) {
  std::vector<std::string> all;
  for (auto const& one : thrown) {
    all.emplace_back();
    try {
      if (one) std::rethrow_exception(one);
    } catch (std::exception const& e) {
      all.back() = e.what();
      if (all.back().empty()) all.back() = "an error without words";
    }
  }
  return all;
}
/// A communicator of one rank that must not be asked for anything.
inline warden::communicator idle_rank() {
  struct idle final : warden::runtime::transport {
    [[nodiscard]] int rank() const override { return 0; }
    [[nodiscard]] int size() const override { return 1; }
    void all_gather(void const*, void*, std::size_t, warden::stream_ref,
                    std::source_location) override {
      ADD_FAILURE() << "one rank gathers";
    }
    void exchange(std::span<warden::runtime::outgoing const>,
                  std::span<warden::runtime::incoming const>, warden::stream_ref,
                  std::source_location) override {
      ADD_FAILURE() << "one rank exchanges";
    }
    void wait(warden::stream_ref, std::source_location) override {
      ADD_FAILURE() << "one rank waits for others";
    }
  };
  return warden::communicator{std::make_shared<idle>()};
}
/// All ranks do this, and none throws: ranks that share a device.
using body = std::function<void(warden::communicator const&)>;
inline void by_loopback(warden::loopback_settings const& chosen, body const& of_each) {
  for (std::string const& text : texts(warden::run_ranks(chosen, of_each))) EXPECT_EQ(text, "");
}
/// Runs a function on the ranks that a program has chosen.
inline void (*on_ranks)(warden::loopback_settings const&, body const&) = &by_loopback;
/// One collective call's errors, which other collective calls may follow.
template <class Call>
std::string told(Call call) {
  return test::error_of<warden::error>(call);
}

template <class Share>
struct told_ids {
  Share share;
  std::uint32_t* ids;
};
template <class Share>
WARDEN_KERNEL void tell_ids(told_ids<Share> a) {
  std::uint32_t const place = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (place >= a.share.places) return;
  std::uint32_t const id = a.share.id(place);
  bool const is_own =
      id < a.share.total && a.share.has(id) && &a.share.at(id) == a.share.records + place;
  a.ids[place] = is_own ? id : ~0u;
}
/// The id of the record at each place of this rank; none at those that have none.
template <class Guarded>
std::vector<std::uint32_t> ids_of(Guarded const& on) {
  auto const share = on.share();
  warden::buffer<std::uint32_t> ids{share.places};
  simt::launch(&tell_ids<typename Guarded::share_type>, (share.places + 31) / 32, 32, 0,
               {share, ids.data()}, {});
  return ids.to_host();
}

/// One rank's records, and kernels that send operations.
template <class Policy, unsigned Words = 1>
class rank_bench {
 public:
  using guarded =
      warden::basic_spread_guarded<Policy, entry, deferring::add<Words>, deferring::tick>;
  static constexpr unsigned threads = 32;

  rank_bench(warden::communicator const& world, std::uint32_t keys)
      : keys_{keys}, refused_{1}, on_{world, keys} {
    refused_.fill_bytes(0);
  }

  guarded& on() { return on_; }
  int rank() const { return on_.world().rank(); }

  template <class Log>
  void send_alone(Log& to, std::uint32_t first, std::uint32_t end, std::uint32_t keys = 0) const {
    if (first == end) return;
    unsigned const blocks = (end - first + threads - 1) / threads;
    simt::launch(&deferring::send_alone<guarded, Words>, blocks, threads, 0,
                 {to.ref(), first, end, keys == 0 ? keys_ : keys, refused_.data()}, {});
  }
  template <class Log>
  void send_together(Log& to, std::uint32_t first, std::uint32_t end, unsigned blocks) const {
    using storage = typename guarded::template deferred_block<threads>::storage;
    simt::launch(&deferring::send_together<guarded, Words, threads>, blocks, threads,
                 sizeof(storage), {to.ref(), first, end, keys_, refused_.data()}, {});
  }

  /// Exactly the operations below `end` have run on this rank's records, each once.
  void expect_ran(std::uint32_t end) const {
    std::vector<entry> expected(keys_);
    for (std::uint32_t i = 0; i < end; ++i) {
      entry& e = expected[deferring::id_of(i, keys_)];
      for (unsigned w = 0; w < Words; ++w) e.sum += std::uint32_t{i * (w + 1) + 1};
      ++e.count;
    }
    auto const found = on_.records().to_host();
    auto const ids = ids_of(on_);
    std::uint32_t mine = 0;
    for (std::uint32_t place = 0; place < found.size(); ++place) {
      std::uint32_t const id = ids[place];
      if (id >= keys_) continue;
      ++mine;
      ASSERT_EQ(found[place].count, expected[id].count)
          << "lost or doubled section on record " << id;
      ASSERT_EQ(found[place].sum, expected[id].sum) << "lost or doubled section on record " << id;
    }
    auto const ranks = static_cast<std::uint32_t>(on_.world().size());
    EXPECT_EQ(mine, (keys_ + ranks - 1 - static_cast<std::uint32_t>(rank())) / ranks);
  }
  /// How many sections have run here.
  std::uint64_t ran() const {
    std::uint64_t count = 0;
    for (entry const& e : on_.records().to_host()) count += e.count;
    return count;
  }

 private:
  std::uint32_t keys_;
  warden::buffer<std::uint64_t> refused_;
  guarded on_;
};

}  // namespace spreading
