// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a thread runs sections on two records that its block holds: one by one where they are, or
/// many that have a record in common one after another, with that record in registers.
#pragma once

#include <warden/block/lock_table.cuh>
#include <warden/block/two_array_store.cuh>
#include <warden/channel/log_pairs.cuh>
#include <warden/channel/wire_types.cuh>
#include <warden/critical_section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace executor {

/// For `Ref`, a rounds_ref; messages have slots in place of ids.
template <class Ref>
class pair_sections {
  using record = typename Ref::record;
  using second_record = typename Ref::second_record;
  using format = typename Ref::format;
  using pairs = pair_words<format>;

 public:
  using store = rounds_store<Ref>;                  ///< of the records
  using message_type = typename Ref::message_type;  ///< a section and its two slots
  /// Locks of a block; records may share one.
  static constexpr unsigned lock_count = std::min(4096u, 8 * Ref::policy::block_threads);
  static_assert((lock_count & (lock_count - 1)) == 0,
                "warden: sections on two records are run by a power of two as block_threads");
  using table = lock_table<lock_count>;  ///< of them
  /// Records are held in registers as long as they take few.
  static constexpr bool holds = sizeof(record) <= 32 && sizeof(second_record) <= 32;

  /// The locks of a message's two records, which may be one.
  struct lock_pair {
    unsigned a;  ///< the first record's
    unsigned b;  ///< the second one's
  };

  /// On records that are kept in `storage`, the shared memory in which `at` was carved.
  WARDEN_DEVICE pair_sections(Ref const& ref, typename store::pieces const& at, std::byte* storage)
      : ref_{ref}, records_{ref, at, storage} {}

  /// The records of the two parts that the block holds.
  WARDEN_DEVICE store& records() { return records_; }
  /// The same.
  WARDEN_DEVICE store const& records() const { return records_; }

  /// See there.
  WARDEN_DEVICE static lock_pair locks_of(message_type const& m) {
    return {table::lock_of(m.local()), table::lock_of(pairs::second_of(m))};
  }
  /// The slot of a message's second record; of the first one if it is on one.
  WARDEN_DEVICE static std::uint32_t second_of(message_type const& m) {
    return pairs::second_of(m);
  }
  /// Whether one of the message's records is that of the slot.
  WARDEN_DEVICE static bool is_on(message_type const& m, std::uint32_t slot) {
    return m.local() == slot || pairs::second_of(m) == slot;
  }

  /// Runs a message's section, whose locks are held, on the records where they are.
  WARDEN_DEVICE void run(message_type const& m) const {
    std::uint32_t const own = m.local(), other = pairs::second_of(m);
    apply(m, own, *records_.first(own), other, *records_.second(other));
  }

  /// Runs the messages `of[base + i]` of the bits i of `lanes` one after another; all locks are
  /// held. All are on the record of the slot `hot`, those of `alone` on no other. One thread.
  WARDEN_DEVICE void run_all(simt::shared_span<message_type> of, std::uint32_t base, unsigned lanes,
                             unsigned alone, std::uint32_t hot) const {
    unsigned const chain = holds ? lanes & ~alone : 0;
    if (chain != 0) {
      if (!Ref::two_arrays || hot < ref_.sizes().first) {
        run_chain<true>(of, base, chain, hot);
      } else if constexpr (Ref::two_arrays) {
        run_chain<false>(of, base, chain, hot);
      }
    }
    WARDEN_NO_UNROLL
    for (unsigned left = lanes & ~chain; left != 0; left &= left - 1)
      run(of[base + static_cast<unsigned>(simt::first_bit(left))]);
  }

 private:
  /// Messages that are loaded together.
  static constexpr unsigned at_once = sizeof(message_type) <= 16 ? 4 : 2;
  /// The hot record, if it is in the first array or there is but one, and what it is with.
  template <bool IsFirst>
  using record_of = std::conditional_t<IsFirst, record, second_record>;

  /// The same with the record in registers, each section on another one besides. What a section
  /// waits for is the section before it alone: several messages are loaded together, and the other
  /// record of each while the section before it runs. That is the only one which may change it
  /// meanwhile, and hands it on then.
  template <bool IsFirst>
  WARDEN_DEVICE void run_chain(simt::shared_span<message_type> of, std::uint32_t base,
                               unsigned lanes, std::uint32_t hot) const {
    record_of<IsFirst> x = *at<IsFirst>(hot);
    WARDEN_NO_UNROLL
    while (lanes != 0) {
      message_type m[at_once];
      std::uint32_t other[at_once];
      unsigned count = 0, last = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        // Behind the last one it is loaded again, and nothing comes of it.
        if (lanes != 0) last = static_cast<unsigned>(simt::first_bit(lanes)), ++count;
        lanes &= lanes - 1;
        m[k] = of[base + last];
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) other[k] = other_of<IsFirst>(m[k], hot);
      record_of<!IsFirst> y = *at<!IsFirst>(other[0]);
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (k == count) break;
        unsigned const next = k + 1 < at_once ? k + 1 : k;
        record_of<!IsFirst> next_y = *at<!IsFirst>(other[next]);
        apply_held<IsFirst>(m[k], hot, x, other[k], y);
        *at<!IsFirst>(other[k]) = y;
        if (other[next] != other[k]) y = next_y;  // sabotage: handed-on
      }
    }
    *at<IsFirst>(hot) = x;
  }
  /// The record of a slot, in the array in which hot ones are or in the one of the others.
  template <bool IsFirst>
  WARDEN_DEVICE record_of<IsFirst>* at(std::uint32_t slot) const {
    if constexpr (IsFirst) {
      return records_.first(slot);
    } else {
      return records_.second(slot);
    }
  }
  /// The slot of a message's other record; `hot` if there is none.
  template <bool IsFirst>
  WARDEN_DEVICE static std::uint32_t other_of(message_type const& m, std::uint32_t hot) {
    if constexpr (Ref::two_arrays) {
      return IsFirst ? pairs::second_of(m) : m.local();
    } else {
      return m.local() == hot ? pairs::second_of(m) : m.local();
    }
  }
  /// Runs a message's section on two different records, of which `x` is in slot `hot`.
  template <bool IsFirst>
  WARDEN_DEVICE void apply_held(message_type const& m, std::uint32_t hot, record_of<IsFirst>& x,
                                std::uint32_t other, record_of<!IsFirst>& y) const {
    if constexpr (!Ref::two_arrays) {
      // The section's code once: records in registers are exchanged sooner than a branch is taken.
      bool const is_first = m.local() == hot;
      record a = is_first ? x : y, b = is_first ? y : x;
      apply(m, m.local(), a, is_first ? other : hot, b);
      x = is_first ? a : b;
      y = is_first ? b : a;
    } else if constexpr (IsFirst) {
      apply(m, hot, x, other, y);
    } else {
      apply(m, other, y, hot, x);
    }
  }

  /// Runs a message's section on the records of these slots, or their copies.
  WARDEN_DEVICE void apply(message_type const& m, std::uint32_t own_slot, record& own,
                           std::uint32_t other_slot, second_record& other) const {
    auto* const identity = records_.address_of(own_slot);
    simt::section_enter(identity);
    if (other_slot != own_slot) simt::section_enter(records_.address_of(other_slot));
    format::visit(m, [&](auto const& sent) {
      if constexpr (Ref::two_arrays) {
        run_section_between(sent.section(), own, other, ref_.sections_context);
      } else if constexpr (is_paired<std::remove_cvref_t<decltype(sent)>>) {
        static_cast<void>(run_section(sent.section(), own, other, ref_.sections_context));
      } else {
        static_cast<void>(run_section(sent, own, ref_.sections_context));
      }
    });
    if (other_slot != own_slot) simt::section_leave(records_.address_of(other_slot));
    simt::section_leave(identity);
  }

  Ref const& ref_;
  store records_;
};

}  // namespace executor
WARDEN_NAMESPACE_END
