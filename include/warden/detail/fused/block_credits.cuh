// SPDX-License-Identifier: Apache-2.0
/// @file
/// A server's credits: how many messages of clients it may receive.
#pragma once

#include <warden/detail/fused/forward_rings.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What a server has asked the common credits and not looked at yet: kept in registers, so that
/// nobody waits for the answers.
struct credit_request {
  std::uint64_t asked = 0;  ///< see forward_rings::ask
  std::uint32_t count = 0;  ///< asked for
  std::int64_t seen = 0;    ///< there were lately
};

/// The credits that a server holds, kept by one of its threads. A message that was executed leaves
/// its credit to the server; one that is sent or set aside takes one along. Indices of clients
/// below `admitted()` hold a credit each from when they are admitted until they are executed.
class block_credits {
 public:
  /// Indeterminate: assign before use.
  block_credits() = default;
  /// The oldest messages, of clients and of servers, have these indices.
  WARDEN_DEVICE block_credits(std::uint64_t of_clients, std::uint64_t of_servers)
      : executed_{of_clients}, executed_of_servers_{of_servers}, admitted_{of_clients}, stock_{0} {}

  /// Messages of clients below this index may be received.
  WARDEN_DEVICE std::uint64_t admitted() const { return admitted_; }

  /// All of clients below `clients` have been executed, all of servers below `servers`, and so many
  /// credits were `spent` on what the sections sent or set aside, less what was set aside before
  /// and is not any more.
  WARDEN_DEVICE void executed(std::uint64_t clients, std::uint64_t servers, std::int32_t spent) {
    // What was executed behind a missing index has spent its credit already, and counts only now:
    // the stock may look smaller than it is, never larger.
    std::uint64_t const held = clients < admitted_ ? clients : admitted_;
    if (held > executed_) stock_ += static_cast<std::int64_t>(held - executed_);
    executed_ = clients;
    if (admitted_ < clients) admitted_ = clients;  // mutation: stock-admitted
    stock_ += static_cast<std::int64_t>(servers - executed_of_servers_) - spent;
    executed_of_servers_ = servers;
  }

  /// Where sections have taken credits that nobody had, gives back what it holds: until those are
  /// made up for nobody admits anything new. For sections that send more than one other.
  template <class Rings>
  WARDEN_DEVICE void make_up(Rings const& rings) {
    if (stock_ <= 0 || rings.latest_count() >= 0) return;
    rings.give_back(static_cast<std::uint64_t>(stock_));
    stock_ = 0;
  }

  /// Admits what the stock allows, gives back what is left, and asks for what is missing, for the
  /// next time. All of clients below `released` have been received; `busy` if some were lately.
  /// What is admitted stays so: a message may have been received already, behind a missing index.
  template <class Rings>
  WARDEN_DEVICE void admit(Rings const& rings, credit_request& request, std::uint64_t released,
                           bool busy) {
    settle(rings, request);
    // Clients that have been silent may send again: some credits save them a wait.
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
    // Nobody asks where there was nothing, nor for all there was: asking takes, for a while, what
    // another one could have.
    if (missing > 0 && request.seen > 0) {
      std::int64_t const share = request.seen / 32 + 8;
      request.count = static_cast<std::uint32_t>(missing < share ? missing : share);
      request.asked = rings.ask(request.count);
    }
    request.seen = rings.count();
  }

  /// Nothing is received or executed: gives everything back.
  template <class Rings>
  WARDEN_DEVICE void rest(Rings const& rings, credit_request& request) {
    settle(rings, request);
    if (admitted_ > executed_) stock_ += static_cast<std::int64_t>(admitted_ - executed_);
    admitted_ = executed_;
    if (stock_ <= 0) return;
    rings.give_back(static_cast<std::uint64_t>(stock_));
    stock_ = 0;
  }
  /// A message of a client is there. Whether it can be admitted.
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
  /// Takes what was asked for.
  template <class Rings>
  WARDEN_DEVICE void settle(Rings const& rings, credit_request& request) {
    if (request.count == 0) return;
    stock_ += rings.granted(request.asked, request.count);
    request.count = 0;
  }

  std::uint64_t executed_, executed_of_servers_;
  std::uint64_t admitted_;
  std::int64_t stock_;  ///< held for nothing yet
};

}  // namespace detail
WARDEN_NAMESPACE_END
