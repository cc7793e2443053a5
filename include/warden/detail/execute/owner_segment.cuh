// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work of one owner thread of the executor `sorted`: it runs the sections of its segment one after
/// another, and holds records that repeat in registers.
#pragma once

#include <warden/detail/execute/record_copy.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sender of sections that send nothing.
struct sends_nothing {};
/// Chooses the object by which sections send sections.
template <class Window, bool SendsSections>
struct sender_in {
  using type = sends_nothing;  ///< sections send nothing
};
/// Chooses it for sections that send sections.
template <class Window>
struct sender_in<Window, true> {
  using type = typename Window::slot_sender;  ///< the sender of the window
};
/// Stands for a section type if a segment has sections of every type.
struct any_type {};

/// The segments of one thread in one window. Message i of the window, sorted by owner, is
/// `window.sorted(i)`. Sections send by `Out`, a forward_window's slot_sender or sends_nothing.
template <class Ref, class Window, class Out>
class owner_segment {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// The type of one protected item.
  using record = typename Ref::record;

  /// Constructs the worker of the thread whose first record has the local number `first`. `has_one`
  /// is true if no thread of the server owns more than one record.
  WARDEN_DEVICE owner_segment(Ref const& ref, record_store<Ref> const& records,
                              Window const& window, std::uint32_t first, bool has_one)
      : ref_{ref}, records_{records}, window_{window}, first_{first}, has_one_{has_one} {}

  /// Loads the only record early, so that the load is in flight while the window is sorted.
  WARDEN_DEVICE void load() {
    if (!has_one_) return;
    place_ = records_.at(first_);
    if constexpr (holds) copy_.value = *place_;
  }

  /// Runs a partial of several messages on the record with that local number.
  template <class Partial>
  WARDEN_DEVICE void run_partial(std::uint32_t local, Partial const& all, Out& out) {
    section_runner const runner{ref_};
    reply_type no_caller;
    simt::section_enter(records_.address_of(local));
    if (holds && has_one_) {
      runner.apply_one(all, target(), records_.id_of(local), no_caller, out);
      if constexpr (holds) *place_ = copy_.value;
    } else {
      runner.apply_one(all, *records_.at(local), records_.id_of(local), no_caller, out);
    }
    simt::section_leave(records_.address_of(local));
  }

  /// Runs the messages from `i` on that are before `end`. `type` is the type of all of them if
  /// sections send sections.
  template <class Type>
  WARDEN_DEVICE void run(std::uint32_t i, std::uint32_t end, Out& out, Type type) {
    if (i == end) return;
    if (has_one_) {
      run_of_one(i, end, out, type);
    } else {
      run_of_many(i, end, out, type);
    }
  }

 private:
  using reply_type = typename Ref::reply_type;
  /// Runs the section of the message in a slot, which has type `type`.
  template <class Type>
  WARDEN_DEVICE void apply(message_type const& m, record& r, reply_type& to_caller,
                           std::uint32_t slot, Out& out, Type) const {
    if constexpr (Ref::sends_sections) {
      out.begin(slot);
      section_runner{ref_}.apply_one(Ref::format::template unpack<typename Type::type>(m), r,
                                     records_.id_of(m.local()), to_caller, out);
    } else if constexpr (Ref::filters_noops) {
      section_runner const runner{ref_};
      runner.run_checked(m, r, [&] { runner.apply(m, r, records_.id_of(m.local()), to_caller); });
    } else {
      section_runner{ref_}.apply(m, r, records_.id_of(m.local()), to_caller);
    }
  }

  /// Runs the sections of messages that are all for the record at `place`: on its value if records
  /// are held, or on the record itself.
  template <unsigned Count, class Type>
  WARDEN_DEVICE void apply_all(message_type const (&m)[Count], record& value, record* place,
                               std::uint32_t first, Out& out, Type type) const {
    reply_type to_callers[Count];
    WARDEN_UNROLL
    for (unsigned j = 0; j < Count; ++j) apply(m[j], value, to_callers[j], first + j, out, type);
    // The caller that gets an answer must see the section's writes.
    if constexpr (Ref::has_answers && Ref::fences && holds)
      *place = value;  // mutation: answer-record
    section_runner{ref_}.reply(to_callers);
  }

  /// True if records are held in registers while their sections run.
  static constexpr bool holds = fits_registers<record>;
  /// Messages that are loaded, with their records if those are held, before the first of them runs:
  /// fewer large ones, because registers are few.
  static constexpr unsigned at_once =
      sizeof(message_type) + (holds ? sizeof(record) : 0) <= 24 ? 4 : 2;
  /// Messages that are loaded before the first of them runs if one record is held for all.
  static constexpr unsigned ahead = std::max<unsigned>(
      2, (Ref::has_answers || Ref::sends_sections ? 64 : 128) / sizeof(message_type));

  struct no_room {};
  /// Records that are not held have no copy: it might not fit a thread's stack.
  using room = std::conditional_t<holds, record_copy<record>, no_room>;

  /// Runs a segment whose sections are all for the thread's only record.
  template <class Type>
  WARDEN_DEVICE void run_of_one(std::uint32_t i, std::uint32_t end, Out& out, Type type) {
    simt::section_enter(identity());
    for (; i + ahead <= end; i += ahead) {
      message_type m[ahead];
      WARDEN_UNROLL
      for (unsigned j = 0; j < ahead; ++j) m[j] = window_.sorted(i + j);
      apply_all(m, target(), place_, i, out, type);
    }
    WARDEN_NO_UNROLL
    for (; i < end; ++i) {
      message_type const m[1] = {window_.sorted(i)};
      apply_all(m, target(), place_, i, out, type);
    }
    simt::section_leave(identity());
    if constexpr (holds) *place_ = copy_.value;
  }

  WARDEN_DEVICE record* identity() const { return records_.address_of(first_); }
  WARDEN_DEVICE record& target() {
    if constexpr (holds) {
      return copy_.value;
    } else {
      return *place_;
    }
  }

  /// Runs messages as long as whole groups of them are for the record that is held. Returns the
  /// first message that did not run.
  template <class Type>
  WARDEN_DEVICE std::uint32_t apply_repeats(std::uint32_t i, std::uint32_t end, std::uint32_t local,
                                            record& held, Out& out, Type type) const {
    for (; i + ahead <= end; i += ahead) {
      message_type m[ahead];
      bool repeats = true;
      WARDEN_UNROLL
      for (unsigned j = 0; j < ahead; ++j) {
        m[j] = window_.sorted(i + j);
        repeats = repeats && m[j].local() == local;
      }
      if (!repeats) break;
      apply_all(m, held, records_.at(local), i, out, type);
    }
    return i;
  }

  /// Runs a segment of sections for any of the thread's records.
  template <class Type>
  WARDEN_DEVICE void run_of_many(std::uint32_t i, std::uint32_t end, Out& out, Type type) const {
    // A hot record is held as long as it repeats, and then written.
    [[maybe_unused]] record* held = nullptr;
    [[maybe_unused]] room held_copy;
    [[maybe_unused]] bool unwritten = false;
    for (; i < end; i += at_once) {
      message_type m[at_once];
      record* place[at_once];
      [[maybe_unused]] bool repeats = i + at_once <= end;
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        m[j] = window_.sorted(i + j < end ? i + j : i);
        place[j] = records_.at(m[j].local());
        repeats = repeats && place[j] == held;
      }
      [[maybe_unused]] room copy[at_once];
      if constexpr (holds) {
        if (repeats) {
          simt::section_enter(records_.address_of(m[0].local()));
          apply_all(m, held_copy.value, held, i, out, type);
          i = apply_repeats(i + at_once, end, m[0].local(), held_copy.value, out, type) - at_once;
          simt::section_leave(records_.address_of(m[0].local()));
          unwritten = true;
          continue;
        }
        if (unwritten) *held = held_copy.value;
        unwritten = false;
        // All loads are in flight before the first section runs.
        WARDEN_UNROLL
        for (unsigned j = 0; j < at_once; ++j) copy[j].value = *place[j];
      }
      reply_type to_callers[at_once];
      WARDEN_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (i + j >= end) continue;
        simt::section_enter(records_.address_of(m[j].local()));
        if constexpr (holds) {
          // The value that an earlier one of these sections wrote is newer than the load.
          WARDEN_UNROLL
          for (unsigned e = 0; e < j; ++e) {
            if (place[e] == place[j]) copy[j].value = copy[e].value;  // mutation: run-forward
          }
          apply(m[j], copy[j].value, to_callers[j], i + j, out, type);
          *place[j] = copy[j].value;
        } else {
          apply(m[j], *place[j], to_callers[j], i + j, out, type);
        }
        simt::section_leave(records_.address_of(m[j].local()));
      }
      section_runner{ref_}.reply(to_callers);
      if constexpr (holds) {
        held = place[at_once - 1];
        held_copy.value = copy[at_once - 1].value;
      }
    }
    if constexpr (holds) {
      if (unwritten) *held = held_copy.value;
    }
  }

  Ref const& ref_;
  record_store<Ref> const& records_;
  Window const& window_;
  std::uint32_t first_;
  bool has_one_;
  record* place_ = nullptr;  ///< place of the only record
  room copy_;                ///< value of the only record, if it is held
};

}  // namespace detail
WARDEN_NAMESPACE_END
