// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs sections on two records that a block holds: one at a time in place, or several that share a
/// record one after another, with that record in registers.
#pragma once

#include <warden/detail/block/lock_table.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/detail/pairs/section_between.cuh>
#include <warden/detail/pairs/two_array_store.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs sections on the records of a tile pair of `Ref`, a rounds_ref. Messages have slots in place
/// of ids.
template <class Ref>
class pair_sections {
  using record = typename Ref::record;
  using second_record = typename Ref::second_record;
  using format = typename Ref::format;
  using pairs = pair_words<format>;

 public:
  using store = rounds_store<Ref>;                  ///< store of the records
  using message_type = typename Ref::message_type;  ///< a section and its two slots
  /// Locks of a block. Several records may share a lock.
  static constexpr unsigned lock_count = std::min(4096u, 8 * Ref::policy::block_threads);
  static_assert((lock_count & (lock_count - 1)) == 0,
                "warden: sections on two records need a power of two as block_threads");
  using table = lock_table<lock_count>;  ///< table of the locks
  /// True if records are held in registers: they must take few.
  static constexpr bool holds = sizeof(record) <= 32 && sizeof(second_record) <= 32;

  /// Type of the first records if `IsFirst`, of the second ones otherwise.
  template <bool IsFirst>
  using record_of = std::conditional_t<IsFirst, record, second_record>;

  /// Constructs the object for records kept in `storage`, the shared memory in which `at` was
  /// carved.
  WARDEN_DEVICE pair_sections(Ref const& ref, typename store::pieces const& at, std::byte* storage)
      : ref_{ref}, records_{ref, at, storage} {}

  /// Returns the records of the two tiles that the block holds.
  WARDEN_DEVICE store& records() { return records_; }
  /// Returns the records of the two tiles that the block holds.
  WARDEN_DEVICE store const& records() const { return records_; }

  /// Returns the locks of a message's two records.
  WARDEN_DEVICE static lock_pair locks_of(message_type const& m) {
    return {table::lock_of(m.local()), table::lock_of(pairs::second_of(m))};
  }
  /// Returns the slot of a message's second record; of the first one if it is on one.
  WARDEN_DEVICE static std::uint32_t second_of(message_type const& m) {
    return pairs::second_of(m);
  }

  /// Calls `f` with the slots of the records of the messages `m[k]` of the bits k of `arrived`.
  template <unsigned PerThread, class F>
  WARDEN_DEVICE static void for_each_record(message_type const (&m)[PerThread], unsigned arrived,
                                            F f) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k) {
      if ((arrived >> k & 1u) == 0) continue;
      f(m[k].local());
      f(second_of(m[k]));
    }
  }

  /// Runs a message's section on the records in place. Precondition: its locks are held.
  WARDEN_DEVICE void run(message_type const& m) const {
    std::uint32_t const own = m.local(), other = pairs::second_of(m);
    apply(m, own, *records_.first(own), other, *records_.second(other), own != other);
  }

  /// Runs a message's section by all lanes of a group. After it, the lanes see each other's writes.
  WARDEN_DEVICE void run_together(lane_group<Ref::group_size> const& lanes,
                                  message_type const& m) const {
    std::uint32_t const own = m.local(), second = pairs::second_of(m);
    auto* const identity = records_.address_of(own);
    auto* const other = records_.address_of(second);
    simt::group_enter(lanes.mask(), identity);
    if (second != own) simt::group_enter(lanes.mask(), other);
    call(m, own, *records_.first(own), *records_.second(second), own != second);
    if (second != own) simt::group_leave(lanes.mask(), other);
    simt::group_leave(lanes.mask(), identity);
    lanes.sync();  // mutation: pair-group-release
  }

  /// Returns the record of a slot: of the first array if `IsFirst`, otherwise of the second. With
  /// one array, both are the same.
  template <bool IsFirst>
  WARDEN_DEVICE record_of<IsFirst>* at(std::uint32_t slot) const {
    if constexpr (IsFirst) {
      return records_.first(slot);
    } else {
      return records_.second(slot);
    }
  }

  /// Runs `count` messages one after another. All of them are on the same two records, which may be
  /// one. Precondition: all locks are held. Called by one thread.
  WARDEN_DEVICE void run_alike(message_type const* messages, unsigned count) const {
    std::uint32_t const first = messages->local(), second = pairs::second_of(*messages);
    if (!holds || first == second) {
      WARDEN_NO_UNROLL
      for (unsigned k = 0; k < count; ++k) run(messages[k]);
      return;
    }
    record x = *records_.first(first);
    second_record y = *records_.second(second);
    in_turn(count, [&](unsigned k, auto several) {
      constexpr unsigned n = decltype(several)::value;
      message_type m[n];
      WARDEN_UNROLL
      for (unsigned j = 0; j < n; ++j) m[j] = messages[k + j];
      WARDEN_UNROLL
      for (unsigned j = 0; j < n; ++j) apply(m[j], first, x, second, y, true);
    });
    *records_.first(first) = x;
    *records_.second(second) = y;
  }
  /// Runs `count` messages one after another. All of them are on the record of the slot `hot`, as
  /// their first record if `IsFirst`, otherwise as their second. Each has a different other record,
  /// and `others[k]` is the copy of that record for message k. Precondition: all locks are held.
  /// Called by one thread.
  template <bool IsFirst>
  WARDEN_DEVICE void run_apart(message_type const* messages, record_of<!IsFirst>* others,
                               unsigned count, std::uint32_t hot) const {
    if constexpr (!holds) {
      WARDEN_NO_UNROLL
      for (unsigned k = 0; k < count; ++k) run(messages[k]);
      return;
    }
    record_of<IsFirst> x = *at<IsFirst>(hot);
    in_turn(count, [&](unsigned k, auto several) {
      load_several(others + k, several, [&](auto& y) {
        constexpr unsigned n = decltype(several)::value;
        message_type m[n];
        WARDEN_UNROLL
        for (unsigned j = 0; j < n; ++j) m[j] = messages[k + j];
        WARDEN_UNROLL
        for (unsigned j = 0; j < n; ++j) {
          if constexpr (IsFirst) {
            apply(m[j], hot, x, pairs::second_of(m[j]), y[j], true);
          } else {
            apply(m[j], m[j].local(), y[j], hot, x, true);
          }
          others[k + j] = y[j];
        }
      });
    });
    *at<IsFirst>(hot) = x;
  }

 private:
  /// Messages whose operands are loaded together. With several types of sections, the code for each
  /// is several times as long already.
  static constexpr unsigned several = format::types > 1 ? 1 : sizeof(message_type) <= 16 ? 4 : 2;

  /// Calls `f` with the first number of each group of `several` numbers below `count`, and the size
  /// of the group. The last groups may have size 1.
  template <class F>
  WARDEN_DEVICE static void in_turn(unsigned count, F f) {
    unsigned k = 0;
    if constexpr (several > 1) {
      WARDEN_NO_UNROLL
      for (; k + several <= count; k += several) f(k, std::integral_constant<unsigned, several>{});
    }
    WARDEN_NO_UNROLL
    for (; k < count; ++k) f(k, std::integral_constant<unsigned, 1>{});
  }

  /// Calls `f` with N records as an array. Copy-initialized, because records may have no default
  /// constructor.
  template <class Record, unsigned N, class F>
  WARDEN_DEVICE static void load_several(Record const* from, std::integral_constant<unsigned, N>,
                                         F f) {
    [&]<std::size_t... J>(std::index_sequence<J...>) {
      Record several[] = {from[J]...};
      f(several);
    }
    (std::make_index_sequence<N>{});
  }

  /// Runs a message's section. `own_slot` is the slot of its first record. `differ` says that its
  /// records are two.
  WARDEN_DEVICE void call(message_type const& m, std::uint32_t own_slot, record& own,
                          second_record& other, bool differ) const {
    format::visit(m, [&](auto const& sent) {
      if (!takes_part<section_in<std::remove_cvref_t<decltype(sent)>>, Ref::group_size>()) return;
      if constexpr (Ref::two_arrays) {
        run_section_between(sent.section(), own, other, ref_.sections_context);
      } else if constexpr (is_paired<std::remove_cvref_t<decltype(sent)>>) {
        static_cast<void>(
            run_section_together(section_of(sent, m, differ), own, other, ref_.sections_context));
      } else {
        static_cast<void>(run_with_id(sent, own, ref_.sections_context, records_.id_of(own_slot)));
      }
    });
  }
  /// Returns the section of a message. `differ` says that its records are two.
  template <class Sent>
  WARDEN_DEVICE auto section_of(Sent const& sent, message_type const& m, bool differ) const {
    if constexpr (requires { sent.section(record_id{}, record_id{}, differ); }) {
      return sent.section(records_.id_of(m.local()), records_.id_of(pairs::second_of(m)), differ);
    } else {
      return sent.section();
    }
  }
  /// Runs a message's section on the records of these slots, or their copies. `differ` says that
  /// they are two.
  WARDEN_DEVICE void apply(message_type const& m, std::uint32_t own_slot, record& own,
                           std::uint32_t other_slot, second_record& other, bool differ) const {
    auto* const identity = records_.address_of(own_slot);
    simt::section_enter(identity);
    if (differ) simt::section_enter(records_.address_of(other_slot));
    call(m, own_slot, own, other, differ);
    if (differ) simt::section_leave(records_.address_of(other_slot));
    simt::section_leave(identity);
  }

  Ref const& ref_;
  store records_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
