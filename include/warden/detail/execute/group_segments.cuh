// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work of groups of lanes in the executor `sorted`: each group takes the segment of one owner
/// thread after another, and all its lanes together run the segment's sections.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/execute/copy_segments.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/rows_ahead.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The segments of one window. Message i of the window, sorted by owner thread, is
/// `window.sorted(i)`. One group takes the long segment of a hot record, while the others take the
/// rest.
template <class Ref, class Window>
class group_segments {
  using message_type = typename Ref::message_type;
  using record = typename Ref::record;
  using reply_type = typename Ref::reply_type;

 public:
  /// Lanes of a group.
  using group = lane_group<Ref::group_size>;

  /// Precondition: the arguments outlive this object.
  WARDEN_DEVICE group_segments(Ref const& ref, record_store<Ref> const& records,
                               Window const& window, copy_segments<Ref> const& copies)
      : ref_{ref}, records_{records}, window_{window}, copies_{copies} {}

  /// Runs all messages. `begins` holds the begin of each of the window's `segments`, none of which
  /// is empty, and the end of the last one; `taken`, in shared memory, is 0 before. `is_hot`:
  /// a segment is long, and the sections of the window were prepared. Precondition: a
  /// block barrier came before, and another one follows before any of these changes. It makes the
  /// writes of a group visible to the next one that has the record.
  WARDEN_DEVICE void run(simt::shared_span<std::uint16_t> begins, unsigned segments,
                         std::uint32_t& taken, bool is_hot) const {
    group const lanes;
    while (true) {
      std::uint32_t r = 0;
      if (lanes.lane() == 0) r = simt::shared_fetch_add(taken, 1u);  // mutation: group-run
      r = lanes.shuffle(r, 0);
      if (r >= segments) return;
      run_one(lanes, begins[r], begins[r + 1], is_hot);
    }
  }

 private:
  /// A message, and the place of its record.
  struct upcoming {
    message_type message;
    record* place;
  };
  /// A batch of at most as many messages of a segment as a group has lanes. Each lane has looked up
  /// the place of one message's record.
  struct batch {
    std::uint32_t first;
    unsigned count;
    std::uintptr_t own_place;
  };
  WARDEN_DEVICE batch look_up(group const& lanes, std::uint32_t first, std::uint32_t end) const {
    record* const place = records_.at(own_message(lanes, first, end).local());
    return {first, count_of(first, end), reinterpret_cast<std::uintptr_t>(place)};
  }
  /// Returns the number of messages of the batch that begins at `first`.
  WARDEN_DEVICE static unsigned count_of(std::uint32_t first, std::uint32_t end) {
    return end - first < group::lanes ? end - first : group::lanes;
  }
  /// Returns the message of a batch that this lane looks up: the first one if it has none.
  WARDEN_DEVICE message_type const& own_message(group const& lanes, std::uint32_t first,
                                                std::uint32_t end) const {
    return window_.sorted(first + (lanes.lane() < count_of(first, end) ? lanes.lane() : 0));
  }
  /// Returns the batch's message k, in all lanes. Collective.
  WARDEN_DEVICE upcoming message_of(group const& lanes, batch const& messages, unsigned k) const {
    return {window_.sorted(messages.first + k),
            reinterpret_cast<record*>(lanes.shuffle(messages.own_place, k))};
  }

  /// Runs one owner's messages.
  WARDEN_DEVICE void run_one(group const& lanes, std::uint32_t begin, std::uint32_t end,
                             [[maybe_unused]] bool is_hot) const {
    if constexpr (runs_on_copies<Ref>) {
      WARDEN_NO_UNROLL
      while (begin < end) {
        std::uint32_t next = end;
        if (is_hot) {
          begin = copies_.run_batches(records_, begin, end);
          // Sections for other records are few.
          next = begin + count_of(begin, end);
        }
        if (begin < next) run_with_rows(lanes, begin, next);
        begin = next;
      }
    } else if constexpr (loads_rows<Ref>) {
      run_with_rows(lanes, begin, end);
    } else {
      WARDEN_NO_UNROLL
      for (std::uint32_t first = begin; first < end; first += group::lanes) {
        batch const messages = look_up(lanes, first, end);
        if constexpr (Ref::filters_noops && Ref::in_order) {
          run_filtered(lanes, messages);
        } else {
          run_all(lanes, messages);
        }
      }
    }
  }

  WARDEN_DEVICE void run_all(group const& lanes, batch const& messages) const {
    upcoming next = message_of(lanes, messages, 0);
    WARDEN_NO_UNROLL
    for (unsigned k = 0; k < messages.count; ++k) {
      upcoming const now = next;
      // Loads the next message while the section runs.
      next = message_of(lanes, messages, k + 1 < messages.count ? k + 1 : k);
      apply(lanes, now);
    }
  }

  using section = typename Ref::section;
  /// Returns the address of the row of this lane's message of a batch. Prefetches row and record.
  WARDEN_DEVICE std::uintptr_t look_up_row(group const& lanes, std::uint32_t first,
                                           std::uint32_t end) const {
    message_type const& m = own_message(lanes, first, end);
    auto const row = payload_of(Ref::format::template unpack<section>(m), ref_.sections_context);
    prefetch_object(row.data(), row_of<section>::bytes);
    if constexpr (!record_store<Ref>::on_chip)
      prefetch_object(records_.at(m.local()), sizeof(record));
    return reinterpret_cast<std::uintptr_t>(row.data());
  }
  /// Runs one owner's messages. While a section runs, the rows of those after it are loaded.
  WARDEN_DEVICE void run_with_rows(group const& lanes, std::uint32_t begin,
                                   std::uint32_t end) const {
    using rows = rows_ahead<section>;
    rows ahead;
    auto const row_of_lane = [&](std::uintptr_t own_row, unsigned lane) {
      using element = std::remove_pointer_t<decltype(row_of<section>{nullptr}.data())>;
      return row_of<section>{reinterpret_cast<element*>(lanes.shuffle(own_row, lane))};
    };
    std::uintptr_t next_row = look_up_row(lanes, begin, end);
    WARDEN_UNROLL
    for (unsigned j = 0; j < rows::count; ++j) {
      if (begin + j < end) ahead.start(j, row_of_lane(next_row, j));
    }
    WARDEN_NO_UNROLL
    for (std::uint32_t first = begin; first < end; first += group::lanes) {
      batch const now = look_up(lanes, first, end);
      // The last rows of this batch make way for the first ones of the next.
      std::uintptr_t const now_row = next_row;
      if (now.count < end - first) next_row = look_up_row(lanes, first + now.count, end);
      upcoming following = message_of(lanes, now, 0);
      WARDEN_NO_UNROLL
      for (unsigned k = 0; k < now.count; k += rows::count) {
        bool const is_last = k + rows::count >= group::lanes;  // mutation: row-batch
        std::uintptr_t const own_row = is_last ? next_row : now_row;
        WARDEN_UNROLL
        for (unsigned j = 0; j < rows::count; ++j) {
          if (k + j >= now.count) break;
          upcoming const m = following;
          following = message_of(lanes, now, k + j + 1 < now.count ? k + j + 1 : k + j);
          // Shuffled before the section, so that nothing waits for it after the section.
          auto const row = row_of_lane(own_row, (k + j + rows::count) % group::lanes);
          auto const part = ahead.take(j);  // mutation: row-taken
          section_with_row<section> const loaded{Ref::format::template unpack<section>(m.message),
                                                 part};
          apply(lanes, m, [&](auto const& id, reply_type& to_caller) {
            section_runner{ref_}.apply(loaded, *m.place, id, *m.place, to_caller);
          });
          // Not before the section: the load would take other registers than the row that the
          // section uses, and a copy from one to the other would wait for it.
          if (first + k + j + rows::count < end) ahead.start(j, row);  // mutation: row-ahead
        }
      }
    }
  }

  /// Runs messages without no-op sections: each lane checks one, and all before the first that may
  /// change the record are done.
  WARDEN_DEVICE void run_filtered(group const& lanes, batch const& messages) const {
    bool const is_message = lanes.lane() < messages.count;
    message_type const own = window_.sorted(messages.first + (is_message ? lanes.lane() : 0));
    record const& place = *reinterpret_cast<record const*>(messages.own_place);
    unsigned left = lanes.ballot(is_message);
    // No section was checked yet.
    unsigned quiet = left;
    while (left != 0) {
      // The next section was checked before the last one ran, so a no-op is checked again. Others
      // run unchecked.
      if ((quiet & (left & -left)) != 0) {
        bool const is_done = is_message && section_runner{ref_}.is_done(own, place);
        lanes.sync();  // all have read the record before one changes it
        quiet = lanes.ballot(is_done);
        unsigned const others = left & ~quiet;
        left &= -(others & -others);
        if (left == 0) return;
      }
      auto const next = static_cast<unsigned>(simt::first_bit(left));  // mutation: asked-order
      apply(lanes, message_of(lanes, messages, next));
      left &= left - 1;  // mutation: asked-again
    }
  }

  /// Runs one message's section by all lanes.
  WARDEN_DEVICE void apply(group const& lanes, upcoming const& now) const {
    apply(lanes, now, [&](auto const& id, reply_type& to_caller) {
      section_runner{ref_}.apply(now.message, *now.place, id, to_caller);
    });
  }
  /// Runs one message's section by all lanes, by `run(id, to_caller)`.
  template <class Run>
  WARDEN_DEVICE void apply(group const& lanes, upcoming const& now, Run run) const {
    record const* const identity = records_.address_of(now.message.local());
    reply_type to_caller[1];
    section_runner{ref_}.enter(lanes, now.message, identity, now.place);
    run(records_.id_of(now.message.local()), to_caller[0]);
    simt::group_leave(lanes.mask(), identity);
    // The writes of each lane are visible to all, in the next section and in the first lane's
    // answer.
    lanes.sync();                                                  // mutation: group-sync
    if (lanes.lane() == 0) section_runner{ref_}.reply(to_caller);  // mutation: group-answer
  }

  Ref const& ref_;
  record_store<Ref> const& records_;
  Window const& window_;
  copy_segments<Ref> copies_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
