// SPDX-License-Identifier: Apache-2.0
/// @file
/// Several ranks in one process that share its device: for tests, on either device.
#pragma once

#include <warden/communicator.hpp>
#include <warden/simt/host_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// Ranks and what goes wrong with them. Runs are deterministic: equal settings, equal runs.
struct loopback_settings {
  int ranks = 2;           ///< at least 1
  std::uint64_t seed = 1;  ///< chooses which rank goes on where several can
  /// This rank is in no hurry: it goes on only when no other one can, `late_seconds` after that.
  /// None if negative.
  int late_rank = -1;
  double late_seconds = 0;          ///< simulated: compared with the limit, without a pause
  double time_limit_seconds = 600;  ///< of the communicators
  bool can_share = true;            ///< ranks copy to the memory of one another
  /// This rank ends in its collective call `dies_at`, counted from 0, as a process that is killed:
  /// it sends nothing more, and throws nothing. None if negative.
  int dying_rank = -1;
  std::size_t dies_at = 0;  ///< see `dying_rank`
  /// From this collective call on, counted from 0, the communicator is in error on all ranks. None
  /// if negative.
  int fails_at = -1;
  /// After as many collective calls of a rank the communicator is in error on all ranks.
  std::size_t max_calls = 100'000;
};

/// Calls `body` once for each rank, each in a host thread with a communicator of its own; one of
/// them works at a time, and they take turns at collective calls. They share the device and its
/// default stream, and what they send goes by way of the host. A rank whose partner has ended, or
/// comes later than the time limit, gets a communicator_error at once, instead of a lapse of time;
/// so does one whose partner makes another call, or sends another number of bytes. Returns what
/// each rank threw, or null.
std::vector<std::exception_ptr> run_ranks(loopback_settings const& chosen,
                                          std::function<void(communicator const&)> const& body);

WARDEN_HOST_NAMESPACE_END
