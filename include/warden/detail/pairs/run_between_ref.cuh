// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two guarded arrays as the workers of a deferred run between them see them: the records of both
/// by tile, and the log.
#pragma once

#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/detail/pairs/section_between.cuh>
#include <warden/detail/pairs/two_array_schedule.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The guarded arrays `First` and `Second` as the workers of a run between them see them. The first
/// one's report receives the log's errors. Its policy and options determine blocks and waits.
template <class First, class Second, class... Sections>
class run_between_ref : public run_array<typename First::record>, public run_window {
 public:
  /// Policy of the first guarded array.
  using policy = run_policy<typename First::policy>;
  /// Type of a section's first record.
  using record = typename First::record;
  /// Type of a section's second record.
  using second_record = typename Second::record;
  /// Contexts that every section receives in addition to its records.
  using context = contexts<typename First::context, typename Second::context>;
  /// Formats of the log.
  using formats = log_formats<log_form::plain, paired<Sections>...>;
  /// Format of sections in the log.
  using format = typename formats::format;
  /// Message with room for the largest section.
  using message_type = typename format::message_type;
  /// Type of the log.
  using log_type = section_log<message_type>;
  using partials = run_between_ref;        ///< nothing is combined
  using schedule = two_array_schedule;     ///< tile pairs of both arrays' tiles
  static constexpr bool has_pairs = true;  ///< all sections are on two records
  /// Maximum of the lanes that run a section together.
  static constexpr unsigned group_size = std::max({group_size_of<Sections>...});
  static constexpr bool in_order = false;   ///< see run_ref
  static constexpr bool two_arrays = true;  ///< the two records are in two arrays
  /// True if two tiles must be on chip.
  static constexpr bool must_fit =
      First::policy::records == placement::on_chip || Second::policy::records == placement::on_chip;

  context sections_context{};         ///< contexts of every section
  log_type log{};                     ///< log that is run
  run_array<second_record> second{};  ///< array of the second records

  /// Returns the array of the second records.
  WARDEN_DEVICE run_array<second_record> const& seconds() const { return second; }
  /// Returns the maximum of records in the two tiles that a block holds.
  WARDEN_HOST_DEVICE tile_sizes sizes() const { return {this->locals, second.locals}; }

  /// Takes the records of both arrays for a run. If that fails, counts that the run is put off,
  /// takes neither and returns false. Called by one thread.
  WARDEN_DEVICE bool take_records() const {
    // No thread waits while it holds one array. The order does not depend on which array a log
    // calls its first, so of two logs that meet one runs.
    bool const first_before = this->at_work < second.at_work;
    if (!(first_before ? this->take() : second.take())) {
      put_off(first_before);
      return false;
    }
    if (first_before ? second.take() : this->take()) return true;  // mutation: second-amid
    // No record was accessed, so there is nothing to release.
    static_cast<void>(first_before ? this->free() : second.free());
    put_off(!first_before);
    return false;
  }
  /// Frees the records of both arrays, after a release. Counts launches that came during the run,
  /// if sections have run. Called by one thread.
  WARDEN_DEVICE void free_records(bool have_run) const {
    if (!this->free() && have_run) simt::fetch_add(&this->report->launches_amid, std::uint64_t{1});
    if (!second.free() && have_run)
      simt::fetch_add(&second.report->launches_amid, std::uint64_t{1});
  }

 private:
  /// Counts that the run is put off because of the first guarded array, or because of the second.
  WARDEN_DEVICE void put_off(bool is_first) const {
    if (is_first ? this->has_failed() : second.has_failed()) {
      auto* const failed = is_first ? this->health : second.health;
      this->report->note_skipped(
          is_first ? &guarded_report::runs_skipped : &guarded_report::partner_failed,
          failed->cause());
    } else {
      simt::fetch_add(is_first ? &this->report->runs_put_off : &this->report->partner_at_work,
                      std::uint64_t{1});
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
