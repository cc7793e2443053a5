// SPDX-License-Identifier: Apache-2.0
/// @file
/// Credits that a server holds, for servers whose warps work independently.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Credits that a server holds, in one word of shared memory. The word is below zero for a moment
/// while a warp gives back what it took too much. The sum of the words of all servers and of the
/// shared credits never counts a credit twice.
class warp_credits {
 public:
  /// Constructs a view. `stock` is one word, the same for the whole block.
  WARDEN_DEVICE explicit warp_credits(simt::shared_span<std::int32_t> stock) : stock_{stock} {}

  /// Sets the stock to 0. Called by one thread; a block barrier follows.
  WARDEN_DEVICE void start() const { stock_[0] = 0; }

  /// Takes up to `wanted` credits, from the stock or from the shared ones. Returns the number
  /// taken. Called by one thread.
  template <class Rings>
  WARDEN_DEVICE std::uint32_t take(Rings const& rings, std::uint32_t wanted) const {
    auto const count = static_cast<std::int32_t>(wanted);
    std::int32_t const available = simt::shared_fetch_add(stock_[0], -count);
    std::int32_t const taken = available <= 0 ? 0 : available < count ? available : count;
    if (taken == count) return wanted;
    simt::shared_fetch_add(stock_[0], count - taken);  // mutation: credits-put-back
    // No request if there are no credits. A request takes credits for a while that another server
    // could use.
    if (rings.count() <= 0) return static_cast<std::uint32_t>(taken);
    std::uint32_t const missing = wanted - static_cast<std::uint32_t>(taken);
    std::uint32_t const asked = missing < rings.kept ? rings.kept : missing;
    std::uint32_t const got = rings.granted(rings.ask(asked), asked);
    // Release: another thread that runs messages with the rest of these credits has them from this
    // thread.
    simt::fence_block();
    if (got <= missing) return static_cast<std::uint32_t>(taken) + got;
    simt::shared_fetch_add(stock_[0], static_cast<std::int32_t>(got - missing));
    return wanted;
  }
  /// Adds free credits to the stock. Called by one thread. If the stock exceeds the server's share,
  /// it returns to the shared credits. Otherwise the stocks of the servers together could keep all
  /// credits from a server that has none.
  template <class Rings>
  WARDEN_DEVICE void give(Rings const& rings, std::uint32_t count) const {
    auto const more = static_cast<std::int32_t>(count);
    std::int32_t const now = simt::shared_fetch_add(stock_[0], more) + more;
    if (now > static_cast<std::int32_t>(rings.kept)) empty(rings);
  }
  /// Returns the stock to the shared credits. Does nothing while a warp gives back what it took too
  /// much, because the word would contain those credits before the shared count has lost them.
  template <class Rings>
  WARDEN_DEVICE void empty(Rings const& rings) const {
    std::int32_t all = simt::shared_load(stock_[0]);
    while (all > 0) {
      std::int32_t const found =
          simt::shared_compare_exchange(stock_[0], all, 0);  // mutation: credits-empty
      if (found == all) {
        rings.give_back(static_cast<std::uint64_t>(std::int64_t{all}));
        return;
      }
      all = found;
    }
  }
  /// Returns true if there may be credits, in the stock or shared. Relaxed, for polls.
  template <class Rings>
  WARDEN_DEVICE bool has_some(Rings const& rings) const {
    return simt::shared_load(stock_[0]) > 0 || rings.count() > 0;
  }
  /// Returns the word that changes.
  WARDEN_DEVICE std::int32_t const* word() const { return &stock_[0]; }

 private:
  simt::shared_span<std::int32_t> stock_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
