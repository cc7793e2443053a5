// SPDX-License-Identifier: Apache-2.0
/// @file
/// Options of a guarded array.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <source_location>

WARDEN_HOST_NAMESPACE_BEGIN

/// The source line that made a guarded array, by default the caller's. An empty pair of braces does
/// not convert to it, so {} always stands for a context or for options.
struct caller_line {
  /// The line `line`.
  caller_line(std::source_location line) : where{line} {}

  std::source_location where;  ///< the line
};

/// Choices made when a guarded array is made. Zero selects the default, but not for
/// `time_limit_seconds` and `minimum_polls`.
struct guarded_options {
  unsigned servers = 0;   ///< thread blocks that own records; by default by the policy
  unsigned capacity = 0;  ///< slots of a channel, a power of two; by default by the policy
  /// Neighbouring records with the same owner, a power of two; by default as many as share a cache
  /// line, where there are enough records for that. With 1, hot neighbours have different owners.
  unsigned chunk = 0;
  /// Longest wait without progress before the launch is poisoned. Units: seconds.
  double time_limit_seconds = 10;
  std::uint32_t minimum_polls = 4096;  ///< polls that a thread must have made by then
  /// Slots of a ring between servers, a power of two, if sections send sections; by default from
  /// the policy. Fewer sections than that are on their way at a time.
  unsigned forward_capacity = 0;
  /// First index of the channels, for tests of their wrap-around; 0: the channel's capacity.
  std::uint64_t first_index = 0;
};

WARDEN_HOST_NAMESPACE_END
