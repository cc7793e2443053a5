// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sends sections of a deferred run's sections into a log that runs after this one.
#pragma once

#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sender for the sections of a run.
template <class Policy, class Record, class... Sections>
class log_sender {
 public:
  deferred_ref<Policy, Record, Sections...> next{};  ///< log of the sections, filled by the host

  /// For section_client. Returns false, and counts it, if a section has sent all that it may.
  WARDEN_DEVICE bool may_send(unsigned left) const {
    if (left != 0) return true;
    simt::fetch_add(&next.report->sends_too_many, std::uint64_t{1});
    return false;
  }
  /// For section_client. Counts a section that finds no place; `wait` reports it.
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t id, Section const& section) const {
    next.send(id, section);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
