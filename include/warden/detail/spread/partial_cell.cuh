// SPDX-License-Identifier: Apache-2.0
/// @file
/// Types by which a rank runs its sections for another rank on a table, instead of on the records.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/bulk/partial_words.cuh>
#include <warden/detail/deferred/apply_log.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/policy.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if ranks may combine the sections for one record before they send them: sections combine in
/// a log and in a bulk run.
template <class Policy, class Record, class... Sections>
inline constexpr bool combines_for_ranks =
    combines_in_log<Policy, Record, Sections...>&& runs_in_bulk<Policy, Record, Sections...>;

/// Alignment of an object of `words` words of `word_bytes` bytes, by which one access loads up to
/// 16 bytes of it.
constexpr std::size_t access_alignment(std::size_t words, std::size_t word_bytes) {
  std::size_t const bytes = words * word_bytes;
  return std::min<std::size_t>(bytes & ~(bytes - 1), 16);
}

/// Cell of a table: no partial if all its bytes are zero, or the combination of several. One
/// aligned object, unlike partial_sum, so that one access loads it.
template <class Partial>
class alignas(access_alignment(partial_words<Partial>::count + 1,
                               sizeof(typename partial_words<Partial>::word))) partial_cell {
  using words = partial_words<Partial>;

 public:
  /// Combines a partial into the cell.
  WARDEN_DEVICE void add(words const& other) {
    partial_cell now = *this;
    if (now.is_present_ != 0) {
      combine_into(now.sum_, other);
    } else {
      now.sum_ = other;
    }
    now.is_present_ = 1;
    *this = now;
  }
  /// Combines the cell's partial into `sum`, if there is one.
  WARDEN_DEVICE void add_to(partial_sum<Partial>& sum) const {
    partial_cell const now = *this;
    if (now.is_present_ != 0) sum.add(now.sum_);
  }

 private:
  words sum_;
  typename words::word is_present_;  ///< 0 or 1
};

/// Section on a cell of a table: adds a `Section` as its partial. Its messages are those of
/// `Section`.
template <class Section, class Partial = partial_of<Section>>
struct cell_section {
  using partial = cell_section<Partial, Partial>;  ///< see partial_of
  static constexpr bool reads_other_memory = false;

  Section section;  ///< section that was sent

  /// Adds the section to a cell.
  WARDEN_DEVICE void operator()(partial_cell<Partial>& cell) const { partial{*this}(cell); }
};
/// Partial of such sections.
template <class Partial>
struct cell_section<Partial, Partial> {
  static constexpr bool reads_other_memory = false;

  Partial section;  ///< partial of a section, or of several

  /// Makes the partial of one or several sections.
  WARDEN_DEVICE explicit cell_section(Partial const& of) : section{of} {}
  /// Makes the partial of a section.
  template <class Section>
  WARDEN_DEVICE explicit cell_section(cell_section<Section, Partial> const& of)
      : section{made_partial<Partial>(of.section)} {}

  /// Adds the partial to a cell.
  WARDEN_DEVICE void operator()(partial_cell<Partial>& cell) const {
    cell.add(partial_words<Partial>{section});
  }
  /// Returns one partial for both.
  WARDEN_DEVICE static cell_section combine(cell_section const& a, cell_section const& b) {
    return cell_section{Partial(Partial::combine(a.section, b.section))};
  }
};

/// Policy of runs on cells that are at `Where` during the run.
template <class Policy, placement Where>
struct cell_policy : Policy {
  using context = no_context;                    ///< cells have no context
  using executor = warden::executor::automatic;  ///< for sections on cells
  static constexpr placement records = Where;    ///< place of the cells
};

}  // namespace detail
WARDEN_NAMESPACE_END
