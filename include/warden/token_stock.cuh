// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server's tokens: how many messages of clients it may receive.
#pragma once

#include <warden/forward_rings.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Kept by one thread of a server. A message that was executed leaves its token to the server;
/// one that is sent or set aside takes one along. Indices of clients below `admitted()` hold a
/// token each from when they are admitted until they are executed.
template <class Rings>
class token_stock {
 public:
  /// The oldest message of clients has the index `first`.
  WARDEN_DEVICE token_stock(Rings const& rings, std::uint64_t first)
      : rings_{rings}, executed_{first}, admitted_{first} {}

  /// Messages of clients below this index may be received.
  WARDEN_DEVICE std::uint64_t admitted() const { return admitted_; }

  /// All of clients below `clients` have been executed; besides, `from_servers` more of servers,
  /// and so many tokens were `spent` on what the sections sent or set aside, less what was set
  /// aside before and is not any more.
  WARDEN_DEVICE void executed(std::uint64_t clients, std::uint64_t from_servers,
                              std::int32_t spent) {
    // What was executed behind a missing index has spent its token already, and counts only now:
    // the stock may look smaller than it is, never larger.
    std::uint64_t const held = clients < admitted_ ? clients : admitted_;
    if (held > executed_) stock_ += static_cast<std::int64_t>(held - executed_);
    executed_ = clients;
    if (admitted_ < clients) admitted_ = clients;
    stock_ += static_cast<std::int64_t>(from_servers) - spent;
  }

  /// Admits what the stock allows, and asks for more for the next time, `busy` if clients have sent
  /// lately. All of clients below `released` have been received.
  WARDEN_DEVICE void admit(std::uint64_t released, bool busy) {
    settle();
    std::int64_t const wanted = busy ? rings_.kept : rings_.kept / 8 + 1;
    std::int64_t missing = wanted - static_cast<std::int64_t>(admitted_ - released);
    if (missing > 0 && stock_ > 0) {
      std::int64_t const more = missing < stock_ ? missing : stock_;
      admitted_ += static_cast<std::uint64_t>(more);
      stock_ -= more;
      missing -= more;
    }
    if (stock_ > wanted) {
      rings_.give_back(static_cast<std::uint64_t>(stock_ - wanted));
      stock_ = wanted;
    }
    if (missing > stock_ && missing > 0) {
      asked_for_ = static_cast<std::uint32_t>(missing);
      asked_ = rings_.ask(asked_for_);
    }
  }

  /// Nothing is received or executed: gives everything back.
  WARDEN_DEVICE void rest() {
    settle();
    if (admitted_ > executed_) stock_ += static_cast<std::int64_t>(admitted_ - executed_);
    admitted_ = executed_;
    if (stock_ <= 0) return;
    rings_.give_back(static_cast<std::uint64_t>(stock_));
    stock_ = 0;
  }
  /// A message of a client is there. Whether it can be admitted.
  WARDEN_DEVICE bool try_admit() {
    if (!rings_.has_some()) return false;
    stock_ += rings_.granted(rings_.ask(rings_.kept), rings_.kept);
    if (stock_ <= 0) return false;
    admitted_ += static_cast<std::uint64_t>(stock_);
    stock_ = 0;
    return true;
  }

 private:
  /// Takes what was asked for.
  WARDEN_DEVICE void settle() {
    if (asked_for_ == 0) return;
    stock_ += rings_.granted(asked_, asked_for_);
    asked_for_ = 0;
  }

  Rings const& rings_;
  std::uint32_t
      most_;  ///< tokens that are kept for clients, so that there are some for every server
  std::uint32_t asked_for_ = 0;  ///< not settled yet
  std::uint64_t asked_ = 0;
  std::uint64_t executed_;
  std::uint64_t admitted_;
  std::int64_t stock_ = 0;  ///< held for nothing yet
};

WARDEN_NAMESPACE_END
