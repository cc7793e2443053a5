// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two guarded arrays as the workers of a deferred run between them see them: the records of both
/// by part, and the log.
#pragma once

#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/detail/pairs/two_array_schedule.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The guarded arrays `First` and `Second` as the workers of a run between them see them. The log's
/// reports are the first one's, and blocks and waits are as its policy and its options say.
template <class First, class Second, class... Sections>
class run_between_ref : public run_array<typename First::record>, public run_window {
 public:
  /// What the first guarded array was tuned by.
  using policy = run_policy<typename First::policy>;
  /// The type of a section's first record.
  using record = typename First::record;
  /// The type of a section's second record.
  using second_record = typename Second::record;
  /// What every section is handed beside its records.
  using context = contexts<typename First::context, typename Second::context>;
  /// What lies in the log.
  using formats = log_formats<false, paired<Sections>...>;
  /// How sections are written into the log.
  using format = typename formats::format;
  /// A message with room for the largest section.
  using message_type = typename format::message_type;
  /// The log.
  using log_type = section_log<message_type>;
  using partials = run_between_ref;        ///< nothing is combined
  using schedule = two_array_schedule;     ///< of both arrays' parts
  static constexpr bool has_pairs = true;  ///< all sections are on two records
  /// Lanes that run a section together: the most of any.
  static constexpr unsigned group_size = std::max({group_size_of<Sections>...});
  static constexpr bool in_order = false;   ///< see run_ref
  static constexpr bool two_arrays = true;  ///< whose are in two arrays
  /// Two parts have to be on chip.
  static constexpr bool must_fit =
      First::policy::records == placement::on_chip || Second::policy::records == placement::on_chip;

  context sections_context{};         ///< handed to every section
  log_type log{};                     ///< what is run
  run_array<second_record> second{};  ///< the array of the second records

  /// See there.
  WARDEN_DEVICE run_array<second_record> const& seconds() const { return second; }
  /// Records of the two parts that a block holds, at most.
  WARDEN_HOST_DEVICE part_sizes sizes() const { return {this->locals, second.locals}; }

  /// Takes the records of both for a run, or counts that it is put off: false then, and neither is
  /// taken. One thread.
  WARDEN_DEVICE bool take_records() const {
    // Nobody waits with one of them in hand. In one order, whichever a log calls its first: so of
    // two logs that meet one runs.
    bool const first_before = this->at_work < second.at_work;
    if (!(first_before ? this->take() : second.take())) {
      put_off(first_before);
      return false;
    }
    if (first_before ? second.take() : this->take()) return true;  // mutation: second-amid
    // Nothing was touched: there is nothing to release.
    static_cast<void>(first_before ? this->free() : second.free());
    put_off(!first_before);
    return false;
  }
  /// Frees both, behind a release. Counts launches that came amid, if sections have run. One
  /// thread.
  WARDEN_DEVICE void free_records(bool have_run) const {
    if (!this->free() && have_run) simt::fetch_add(&this->report->launches_amid, std::uint64_t{1});
    if (!second.free() && have_run)
      simt::fetch_add(&second.report->launches_amid, std::uint64_t{1});
  }

 private:
  /// Because of the first guarded array, or of the second.
  WARDEN_DEVICE void put_off(bool by_first) const {
    if (by_first ? this->has_failed() : second.has_failed()) {
      auto* const failed = by_first ? this->health : second.health;
      this->report->note_skipped(
          by_first ? &guarded_report::runs_skipped : &guarded_report::partner_failed,
          failed->cause());
    } else {
      simt::fetch_add(by_first ? &this->report->runs_put_off : &this->report->partner_at_work,
                      std::uint64_t{1});
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
