// SPDX-License-Identifier: Apache-2.0
/// @file
/// How sections of a deferred run send sections: into a log that is run behind this one.
#pragma once

#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Nothing: for runs whose sections send none.
struct sends_to_no_log {};

/// What a run's sections send others by.
template <class Policy, class Record, class... Sections>
class log_sender {
 public:
  deferred_ref<Policy, Record, Sections...> next{};  ///< where they go, filled by the host

  /// For section_client: false, and counted, once a section has sent all it may.
  WARDEN_DEVICE bool may_send(unsigned left) const {
    if (left != 0) return true;
    simt::fetch_add(&next.report->sends_too_many, std::uint64_t{1});
    return false;
  }
  /// For section_client. What finds no place is counted, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t id, Section const& section) const {
    next.send(id, section);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
