// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server's credits: the number of client messages that it may receive.
#pragma once

#include <warden/detail/fused/forward_rings.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Request for shared credits whose result is not used yet. It stays in registers, so that the
/// server's thread does not wait for the result.
struct credit_request {
  std::uint64_t asked = 0;  ///< result of forward_rings::ask
  std::uint32_t count = 0;  ///< number of credits requested
  std::int64_t seen = 0;    ///< number of shared credits at the last look
};

/// Credits that a server holds, kept by one of its threads. An executed message leaves its credit
/// to the server. A message that is sent or set aside takes a credit along. Each client index below
/// `admitted()` holds a credit from its admission to its execution.
class block_credits {
 public:
  /// Indeterminate value: assign before use.
  block_credits() = default;
  /// Constructs the credits of a server whose oldest messages, of clients and of servers, have
  /// these indices.
  WARDEN_DEVICE block_credits(std::uint64_t clients, std::uint64_t servers)
      : executed_{clients}, executed_of_servers_{servers}, admitted_{clients}, stock_{0} {}

  /// Returns the first client index that may not be received yet.
  WARDEN_DEVICE std::uint64_t admitted() const { return admitted_; }

  /// Records progress: all indices of clients below `clients` and of servers below `servers` have
  /// been executed. `spent` is the number of credits of messages that the sections sent or set
  /// aside, less those of messages no longer set aside.
  WARDEN_DEVICE void executed(std::uint64_t clients, std::uint64_t servers, std::int32_t spent) {
    // A message that was executed after a missing index has spent its credit already, but its index
    // counts only now. So the stock may look smaller than it is, never larger.
    std::uint64_t const held = clients < admitted_ ? clients : admitted_;
    if (held > executed_) stock_ += static_cast<std::int64_t>(held - executed_);
    executed_ = clients;
    if (admitted_ < clients) admitted_ = clients;  // mutation: stock-admitted
    stock_ += static_cast<std::int64_t>(servers - executed_of_servers_) - spent;
    executed_of_servers_ = servers;
  }

  /// Gives back all held credits if sections have overdrawn the shared credits. Until the shared
  /// count is positive again, no server admits new messages. Needed if a section sends more than
  /// one section.
  template <class Rings>
  WARDEN_DEVICE void make_up(Rings const& rings) {
    if (stock_ <= 0 || rings.latest_count() >= 0) return;
    rings.give_back(static_cast<std::uint64_t>(stock_));
    stock_ = 0;
  }

  /// Admits what the stock allows, gives back the rest, and requests missing credits for the next
  /// call. All client indices below `released` have been received. `busy` is true if clients sent
  /// lately. Admission is never withdrawn, because a message after a missing index may have been
  /// received already.
  template <class Rings>
  WARDEN_DEVICE void admit(Rings const& rings, credit_request& request, std::uint64_t released,
                           bool busy) {
    settle(rings, request);
    // Silent clients may send again: a few credits save them a wait.
    std::int64_t const wanted = busy ? rings.kept : rings.kept / 8 + 1;
    std::int64_t missing = wanted - static_cast<std::int64_t>(admitted_ - released);
    if (missing > 0 && stock_ > 0) {
      std::int64_t const more = missing < stock_ ? missing : stock_;
      admitted_ += static_cast<std::uint64_t>(more);
      stock_ -= more;
      missing -= more;
    }
    if (stock_ > 0) {
      rings.give_back(static_cast<std::uint64_t>(stock_));
      stock_ = 0;
    }
    // No request if there were no credits, and never for all of them. A request takes credits for a
    // while that another server could use.
    if (missing > 0 && request.seen > 0) {
      std::int64_t const share = request.seen / 32 + 8;
      request.count = static_cast<std::uint32_t>(missing < share ? missing : share);
      request.asked = rings.ask(request.count);
    }
    request.seen = rings.count();
  }

  /// Gives back all credits. Precondition: nothing is received or being executed.
  template <class Rings>
  WARDEN_DEVICE void rest(Rings const& rings, credit_request& request) {
    settle(rings, request);
    if (admitted_ > executed_) stock_ += static_cast<std::int64_t>(admitted_ - executed_);
    admitted_ = executed_;
    if (stock_ <= 0) return;
    rings.give_back(static_cast<std::uint64_t>(stock_));
    stock_ = 0;
  }
  /// Admits a client's message that has arrived. Returns true if there was a credit for it.
  template <class Rings>
  WARDEN_DEVICE bool try_admit(Rings const& rings) {
    if (rings.count() <= 0) return false;
    stock_ += rings.granted(rings.ask(rings.kept), rings.kept);
    if (stock_ <= 0) return false;
    admitted_ += static_cast<std::uint64_t>(stock_);
    stock_ = 0;
    return true;
  }

 private:
  /// Adds the requested credits to the stock.
  template <class Rings>
  WARDEN_DEVICE void settle(Rings const& rings, credit_request& request) {
    if (request.count == 0) return;
    stock_ += rings.granted(request.asked, request.count);
    request.count = 0;
  }

  std::uint64_t executed_, executed_of_servers_;
  std::uint64_t admitted_;
  std::int64_t stock_;  ///< credits not assigned to a message
};

}  // namespace detail
WARDEN_NAMESPACE_END
