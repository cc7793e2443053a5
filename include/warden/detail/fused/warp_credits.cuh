// SPDX-License-Identifier: Apache-2.0
/// @file
/// The credits that a server has at hand, for servers whose warps work by themselves.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The credits at hand, in one word of shared memory: below zero for a moment while a warp that
/// took more than there was puts it back; the sum of all credits of warps and of the common credits
/// never counts one too many.
class warp_credits {
 public:
  /// `stock` is one word, the same for the whole block.
  WARDEN_DEVICE explicit warp_credits(simt::shared_span<std::int32_t> stock) : stock_{stock} {}

  /// No credits are at hand. One thread; a block barrier follows.
  WARDEN_DEVICE void start() const { stock_[0] = 0; }

  /// Up to `wanted` credits, from here or of the common ones. One thread.
  template <class Rings>
  WARDEN_DEVICE std::uint32_t take(Rings const& rings, std::uint32_t wanted) const {
    auto const count = static_cast<std::int32_t>(wanted);
    std::int32_t const there = simt::shared_fetch_add(stock_[0], -count);
    std::int32_t const here = there <= 0 ? 0 : there < count ? there : count;
    if (here == count) return wanted;
    simt::shared_fetch_add(stock_[0], count - here);  // mutation: credits-put-back
    // Nobody asks where there is nothing: asking takes, for a while, what another one could have.
    if (rings.count() <= 0) return static_cast<std::uint32_t>(here);
    std::uint32_t const missing = wanted - static_cast<std::uint32_t>(here);
    std::uint32_t const asked = missing < rings.kept ? rings.kept : missing;
    std::uint32_t const got = rings.granted(rings.ask(asked), asked);
    // Release: whoever runs messages with what is left here has them from this thread.
    simt::fence_block();
    if (got <= missing) return static_cast<std::uint32_t>(here) + got;
    simt::shared_fetch_add(stock_[0], static_cast<std::int32_t>(got - missing));
    return wanted;
  }
  /// Credits that are free again. One thread. With more than a server's share all of it goes to
  /// all, so that the credits of warps together never keep every credit from somebody who has none.
  template <class Rings>
  WARDEN_DEVICE void give(Rings const& rings, std::uint32_t count) const {
    auto const more = static_cast<std::int32_t>(count);
    std::int32_t const now = simt::shared_fetch_add(stock_[0], more) + more;
    if (now > static_cast<std::int32_t>(rings.kept)) empty(rings);
  }
  /// Gives everything to all; nothing while a warp puts back what it took too many: the word would
  /// have that before the common ones have lost it.
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
  /// Whether there may be some, here or among the common ones. Relaxed, for polls.
  template <class Rings>
  WARDEN_DEVICE bool has_some(Rings const& rings) const {
    return simt::shared_load(stock_[0]) > 0 || rings.count() > 0;
  }
  /// The word that changes.
  WARDEN_DEVICE std::int32_t const* word() const { return &stock_[0]; }

 private:
  simt::shared_span<std::int32_t> stock_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
