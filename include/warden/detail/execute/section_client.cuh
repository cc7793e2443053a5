// SPDX-License-Identifier: Apache-2.0
/// @file
/// The object by which a section sends other sections.
#pragma once

#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Sends sections from a section, which takes it as third argument: `template <class Next> void
/// operator()(Record&, Context, Next& next) const`. A sent section runs some time after this one,
/// separately: the two are not one critical section.
template <class Run>
class section_client {
 public:
  /// For servers: makes the client of a section that sends at most `most` others.
  WARDEN_DEVICE section_client(Run& run, unsigned most) : run_{run}, left_{most} {}

  /// Sends a section of any type of the same guarded array to the owner of record `id`, and never
  /// waits. It will be executed exactly once. An id outside the records, and a section beyond the
  /// sender's `sends_sections`, are counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t id, Section const& section) {
    if (!run_.may_send(left_)) return;
    --left_;
    run_.send(id, section);
  }

 private:
  Run& run_;
  unsigned left_;
};

WARDEN_NAMESPACE_END
