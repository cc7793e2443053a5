// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sends sections on several records to a log, from any kernel.
#pragma once

#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/log_shard.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Argument of a kernel that sends sections on several records. Passed by value, and valid as long
/// as the log lives.
template <class Section>
class several_ref {
 public:
  /// Result of `send` if the log has refused the section.
  static constexpr std::uint32_t not_sent = ~0u;

  several_ref() = default;
  /// Constructs the argument of the log with `size` places at `sections`.
  several_ref(Section* sections, detail::log_shard* log, std::uint32_t size,
              detail::guarded_report* report)
      : sections_{sections}, log_{log}, size_{size}, report_{report} {}

  /// Sends a section. Returns its number in the log: sections run in the order of their numbers,
  /// unless in rounds, and outcomes are stored by them. Returns `not_sent` if the log is full or is
  /// run; `wait` then reports it. Any thread, in any control flow.
  WARDEN_DEVICE std::uint32_t send(Section const& section) const {
    std::uint64_t const number = simt::fetch_add_together(&log_->taken, 1);
    if (number < size_) {
      // Acquire: pairs with the fence before `several_arguments::end`, which opened the log. The
      // addition above belongs to its release sequence. So the run has read its sections before
      // this one is written.
      static_cast<void>(simt::load_acquire(&log_->taken));
      sections_[number] = section;
      return static_cast<std::uint32_t>(number);
    }
    simt::fetch_add(&report_->refused, std::uint64_t{1});
    simt::store_relaxed(&report_->refused_by, std::uint64_t{size_});
    return not_sent;
  }

 private:
  Section* sections_ = nullptr;
  detail::log_shard* log_ = nullptr;
  std::uint32_t size_ = 0;
  detail::guarded_report* report_ = nullptr;
};

WARDEN_NAMESPACE_END
