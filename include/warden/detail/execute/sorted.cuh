// SPDX-License-Identifier: Apache-2.0
/// @file
/// The `sorted` executor: no locks. A window of messages is sorted by owner thread, and each thread
/// runs its segment, one section after another.
///
/// Thread t of a server owns the local records that are t mod the number of threads, so no two
/// threads use one record. If several lanes run a section, groups of lanes take the segments of
/// those threads instead, one after another. With `combine_in_fused` all threads first combine
/// the sections of a window, so that no owner has a long segment for a hot record.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/stable_ranks.cuh>
#include <warden/detail/execute/group_segments.cuh>
#include <warden/detail/execute/hot_record.cuh>
#include <warden/detail/execute/hot_segment.cuh>
#include <warden/detail/execute/long_segments.cuh>
#include <warden/detail/execute/ordered_ranks.cuh>
#include <warden/detail/execute/owner_segment.cuh>
#include <warden/detail/execute/owner_threads.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/detail/execute/window_slots.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

// Declared for windows of a fused launch.
template <class Section, unsigned Threads, unsigned Items>
class message_combiner;
template <class Ref, unsigned Slots>
class forward_window;

/// Runs the sections of one window. See window_server and forwarding_server.
template <class Ref, unsigned BytesPerThread>
class sorted_worker {
  static_assert(!(Ref::sends_sections && Ref::policy::combine_in_fused),
                "warden: sections that send sections are not combined");

 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// The type of one protected item.
  using record = typename Ref::record;
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Least number of sections of a record in a window after which they run as a hot record's.
  static constexpr std::uint32_t least_hot = 256;
  static_assert((threads & (threads - 1)) == 0,
                "warden: the executor sorted needs a power of two as block_threads");
  /// Largest number of messages of a thread in one window.
  static constexpr unsigned per_thread =
      std::max<unsigned>(Ref::sends_sections ? 2 : 1, BytesPerThread / sizeof(message_type));
  /// Messages move from thread to thread.
  static constexpr bool by_warps = false;
  /// True if `run_hot` may run messages in place of windows.
  static constexpr bool runs_hot = [] {
    if constexpr (requires { requires Ref::traces_segments; }) {
      return !Ref::in_order && !Ref::combines_segments && Ref::group_size == 1 &&
             hot_record<Ref, per_thread>::is_possible;
    } else {
      return false;
    }
  }();

 private:
  /// Number of parts of an owner thread's segment. If sections send sections, each part has
  /// sections of one type: the order between parts is unspecified, and the code of one type runs
  /// without checking the type of the next section.
  static constexpr unsigned parts = Ref::sends_sections ? Ref::format::types : 1;
  /// True if no-op sections are filtered out before the sort. In order, only groups filter them.
  static constexpr bool filters_noops_first = Ref::filters_noops && !Ref::in_order;
  /// True if the worker looks for a hot record.
  static constexpr bool traces = requires { requires Ref::traces_segments; };
  /// In order, and if sections combine, the scan with fewer instructions; it had no measured gain
  /// if sections may write to other memory.
  using scan = std::conditional_t<
      (Ref::in_order || Ref::combines_segments) && std::is_empty_v<typename Ref::context>,
      simt::block_scan_by_warps<threads>, simt::block_scan<threads, Ref::in_order>>;
  /// Runs messages that are mostly for one record.
  using hot = hot_record<Ref, per_thread>;
  using ranks = stable_ranks<threads, threads>;
  using assignment = owner_threads<threads, Ref::sends_sections>;
  using prepared = prepared_in<Ref>;
  using combiner = message_combiner<typename Ref::section, threads, per_thread>;

  /// Combining ends before the order is found, in the same memory.
  WARDEN_HOST_DEVICE static constexpr std::size_t order_size() {
    if constexpr (Ref::policy::combine_in_fused) {
      return sizeof(typename combiner::storage) / sizeof(std::uint16_t);
    } else {
      return 0;
    }
  }

  struct layout {
    std::size_t locals, used;  ///< numbers of records and of messages per thread
    arena_carver carver{};
    arena_piece<std::uint32_t> counts =
        carver.take<std::uint32_t>(Ref::in_order ? 0 : threads * parts);
    arena_piece<std::uint32_t> begins = carver.take<std::uint32_t>(threads * parts);
    arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
    arena_piece<std::uint16_t> order = carver.take<std::uint16_t>(order_size(), 16);
    arena_piece<std::uint16_t> ranking =
        carver.take<std::uint16_t>(Ref::in_order ? ranks::size : 0, alignof(std::uint64_t));
    arena_piece<std::uint32_t> taken = carver.take<std::uint32_t>(Ref::group_size > 1 ? 1 : 0);
    arena_piece<std::uint16_t> segment_begins =
        carver.take<std::uint16_t>(Ref::group_size > 1 ? threads + 1 : 0);
    arena_piece<prepared> preparing =
        carver.take<prepared>(prepares_ahead<Ref> ? used * threads : 0);
    arena_piece<hot_counts> counts_of_hot = carver.take<hot_counts>(runs_hot ? 1 : 0);
    arena_piece<record> held = carver.take<record>(runs_hot ? 1 : 0);
    // 32 bytes, aligned: after it records on chip are aligned, too.
    arena_piece<hot_segment> hot = carver.take<hot_segment>(traces ? 1 : 0);
    arena_piece<record> records = record_store<Ref>::carve(carver, locals);
    // Last: the offsets of the others do not depend on the window's size.
    arena_piece<message_type> window =
        carver.take<message_type>(used * threads, runs_hot ? 16 : alignof(message_type));
  };

 public:
  /// Bytes of shared memory for `locals` records of the server, and windows of `used` messages per
  /// thread.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals, unsigned used) {
    return layout{locals, used}.carver.bytes();
  }
  /// For server `number`, with shared memory for the block.
  WARDEN_DEVICE sorted_worker(Ref const& ref, std::uint32_t number, std::byte* storage)
      : sorted_worker{ref, number, storage, layout{ref.locals, ref.window_per_thread(per_thread)}} {
  }

  /// Loads the records, and clears the counts. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const {
    records_.load();
    if (traces && simt::thread_rank() == 0) hot_[0] = {};
    if constexpr (!Ref::in_order) {
      WARDEN_UNROLL
      for (unsigned p = 0; p < parts; ++p) counts_[p * threads + simt::thread_rank()] = 0;
    }
  }

  /// Ranks each message among those of its owner, unless it may be combined or filtered first. In
  /// order the ranks follow warps, then k, then lanes.
  WARDEN_DEVICE void take(message_type const (&m)[per_thread], unsigned arrived) {
    if constexpr (Ref::in_order) {
      ranks_.start(owners());
      rank_by_owner<threads>(
          ranks_, owners(), m, arrived, [](message_type const& one) { return owner_of(one); },
          rank_);
    } else if constexpr (!Ref::policy::combine_in_fused && !filters_noops_first) {
      rank(m, arrived);
    }
  }

  /// Filters no-op sections out of the window, combines it with `combine_in_fused`, sorts it and
  /// runs it. Collective. Returns the credits spent, as forwarding_server requires.
  WARDEN_DEVICE unsigned execute(message_type const (&m)[per_thread], unsigned arrived) {
    if constexpr (filters_noops_first) arrived = filter_noops(m, arrived);
    if constexpr (Ref::policy::combine_in_fused) arrived = combine(m, arrived);
    if constexpr (filters_noops_first && !Ref::policy::combine_in_fused) {
      rank(m, arrived);
      if (!simt::sync_block_or(arrived != 0)) return 0;  // mutation: asked-ranked
    }
    unsigned const me = simt::thread_rank();
    std::uint32_t count = 0, total;
    if constexpr (Ref::in_order) {
      if (me < owners()) count = ranks_.add_up(me);
    } else {
      WARDEN_UNROLL
      for (unsigned p = 0; p < parts; ++p) count += counts_[p * threads + me];
    }
    std::uint32_t begin;
    [[maybe_unused]] std::uint32_t segments = 0;
    if constexpr (Ref::group_size > 1) {
      // No group looks at empty segments: the upper half of a word counts the others.
      static_assert(per_thread * threads < 1u << 16);
      begin = scan::exclusive_sum(scan_[0], count + (count != 0 ? 1u << 16 : 0), total);
      if (count != 0) segment_begins_[begin >> 16] = static_cast<std::uint16_t>(begin);
      segments = total >> 16;
      if (me == 0) segment_begins_[segments] = static_cast<std::uint16_t>(total);
      begin &= 0xffff;
    } else {
      begin = scan::exclusive_sum(scan_[0], count, total);
    }
    bool const is_most = traces && 2 * count > (total & 0xffff);
    if (traces && me == 0) {
      hot_[0].all += total;
      hot_[0].is_now = false;
    }
    std::uint32_t end = begin;
    if constexpr (Ref::in_order) {
      begins_[me] = begin;
      end += count;
    } else {
      WARDEN_UNROLL
      for (unsigned p = 0; p < parts; ++p) {
        begins_[p * threads + me] = end;
        end += counts_[p * threads + me];
        counts_[p * threads + me] = 0;
      }
    }
    owner_segment<Ref, sorted_worker, to_send> mine{ref_, records_, *this,
                                                    assignment::residue_of(me), one_record_each_};
    if constexpr (Ref::group_size > 1) {
      // Barriers separate the groups from the previous window.
      if (me == 0) taken_[0] = 0;
    } else {
      if (count != 0) mine.load();
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      if ((arrived >> k & 1u) == 0) continue;
      if constexpr (Ref::policy::combine_in_fused) {
        unsigned const slot = k * threads + me;
        order_[begins_[owner_of(window_[slot])] + rank_[k]] = static_cast<std::uint16_t>(slot);
      } else {
        std::uint32_t place = begins_[segment_of(m[k])] + rank_[k];
        if constexpr (Ref::in_order) place += ranks_.before(owner_of(m[k]));
        message_type& slot = window_[place];
        if constexpr (Ref::sends_sections) {
          slot = window_sends::unmarked(m[k]);
        } else {
          slot = m[k];
        }
      }
    }
    bool is_hot = false;
    if constexpr (runs_on_copies<Ref>) {
      is_hot = copies().sort_ended(count, total & 0xffff);
    } else {
      simt::sync_block();
    }
    if (is_most) {
      hot_[0].vote(window_[begin + count / 2].local(), count);
      if constexpr (runs_hot)
        hot_[0].is_now = count >= least_hot && 4 * count >= 3 * total &&
                         ref_.window_per_thread(per_thread) == per_thread;
    }
    if constexpr (Ref::sends_sections) {
      to_send sent{ref_, window_};
      Ref::format::for_each_type([&](unsigned p, auto type) {
        std::uint32_t const last = p + 1 == parts ? end : begins_[(p + 1) % parts * threads + me];
        mine.run(begins_[p * threads + me], last, sent, type);
      });
      simt::sync_block();
      return window_sends::publish(ref_, window_, total);
    } else if constexpr (Ref::group_size > 1) {
      group_segments<Ref, sorted_worker>{ref_, records_, *this, copies()}.run(
          segment_begins_, segments, taken_[0], is_hot);
      return 0;
    } else {
      sends_nothing nothing;
      if constexpr (Ref::combines_segments) {
        end = long_segments<Ref>::combine(
            window_, begin, end,
            [&](std::uint32_t local, auto const& all) { mine.run_partial(local, all, nothing); });
      }
      mine.run(begin, end, nothing, any_type{});
      return 0;
    }
  }

  /// Message i of the window sorted by owner.
  WARDEN_DEVICE message_type const& sorted(std::uint32_t i) const {
    if constexpr (Ref::policy::combine_in_fused) {
      return window_[order_[i]];
    } else {
      return window_[i];
    }
  }

  /// True if most sections of the window before the last barrier were for one record.
  WARDEN_DEVICE bool is_hot() const requires(runs_hot) { return hot_[0].is_now; }
  /// Runs messages until few are for the hot record: see hot_record::run.
  template <class Receive, class HasMore>
  WARDEN_DEVICE unsigned run_hot(message_type (&m)[per_thread], Receive receive, HasMore has_more,
                                 bool& is_hot) requires(runs_hot) {
    return hot{ref_, records_, window_, hot_counts_[0], held_, hot_[0]}.run(m, receive, has_more,
                                                                            is_hot);
  }

  /// Writes the records back. Collective.
  WARDEN_DEVICE void finish() const { records_.write_back(); }
  /// Returns the hottest record, after `finish` and a block barrier.
  WARDEN_DEVICE hot_segment hottest() const requires(traces) { return hot_[0]; }

 private:
  WARDEN_DEVICE sorted_worker(Ref const& ref, std::uint32_t number, std::byte* storage,
                              layout const& at)
      : ref_{ref},
        records_{ref, number, at.records.in(storage)},
        window_{at.window.in(storage)},
        counts_{at.counts.in(storage)},
        begins_{at.begins.in(storage)},
        scan_{at.scanning.in(storage)},
        order_{at.order.in(storage)},
        ranks_{at.ranking.in(storage)},
        taken_{at.taken.in(storage)},
        prepared_{at.preparing.in(storage)},
        hot_{at.hot.in(storage)},
        hot_counts_{at.counts_of_hot.in(storage)},
        held_{at.held.in(storage)},
        segment_begins_{at.segment_begins.in(storage)},
        one_record_each_{ref.locals <= threads} {}

  /// Leaves one message for each record, or sometimes a few, and ranks the remaining messages among
  /// those of their owner. Owners run them like any other messages, so exclusion is the same as
  /// without combining. Returns the bits of this thread's remaining messages. Collective.
  WARDEN_DEVICE unsigned combine(message_type const (&m)[per_thread], unsigned arrived) {
    unsigned const me = simt::thread_rank();
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      if (arrived >> k & 1u) window_[k * threads + me] = m[k];
    }
    // The order of the previous window lay here; it is no longer needed.
    combiner::run(*reinterpret_cast<typename combiner::storage*>(order_.data()),
                  window_slots<Ref>{window_}, ref_.locals, arrived);
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      if ((arrived >> k & 1u) == 0) continue;
      message_type const& left = window_[k * threads + me];
      if (left.local() == window_slots<Ref>::no_record) {
        arrived &= ~(1u << k);
      } else {
        rank_[k] = simt::shared_fetch_add(counts_[owner_of(left)], 1u);
      }
    }
    simt::sync_block();  // mutation: combine-ranked
    return arrived;
  }

  /// Ranks each message among those of its owner, as they come.
  WARDEN_DEVICE void rank(message_type const (&m)[per_thread], unsigned arrived) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      // Assigns 0 too, so that the previous window's ranks do not stay live in registers.
      bool const is_message = (arrived >> k & 1u) != 0;
      rank_[k] = is_message ? simt::shared_fetch_add(counts_[segment_of(m[k])], 1u) : 0;
    }
  }

  /// Returns the bits of the messages whose sections are not no-ops. A barrier separates the block
  /// from the previous window, and no section of this one has run: the no-op sections count as
  /// having run first.
  WARDEN_DEVICE unsigned filter_noops(message_type const (&m)[per_thread], unsigned arrived) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      if ((arrived >> k & 1u) == 0) continue;
      if (section_runner{ref_}.is_done(m[k], *records_.at(m[k].local()))) arrived &= ~(1u << k);
    }
    return arrived;
  }

  WARDEN_DEVICE copy_segments<Ref> copies() const { return {ref_, window_, prepared_}; }
  /// Number of threads that own records.
  WARDEN_DEVICE std::uint32_t owners() const {
    return ref_.locals < threads ? ref_.locals : threads;
  }

  using window_sends = forward_window<Ref, per_thread * threads>;
  using to_send = typename sender_in<window_sends, Ref::sends_sections>::type;

  WARDEN_DEVICE static unsigned owner_of(message_type const& m) {
    return assignment::thread_of(m.local() & (threads - 1));  // mutation: run-owner
  }
  /// Returns the part of a segment that a message belongs to.
  WARDEN_DEVICE static unsigned segment_of(message_type const& m) {
    return parts == 1 ? owner_of(m) : m.tag() * threads + owner_of(m);
  }

  Ref const& ref_;
  record_store<Ref> records_;
  simt::shared_span<message_type> window_;   ///< sorted by owner, unless it has an order
  simt::shared_span<std::uint32_t> counts_;  ///< [part][thread] messages of the window
  simt::shared_span<std::uint32_t> begins_;  ///< [part][thread] the first one of its segment
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<std::uint16_t> order_;    ///< [place] slot, by owner; only of combined windows
  ranks ranks_;                               ///< used if sections run in order
  simt::shared_span<std::uint32_t> taken_;    ///< segments that groups of lanes have taken
  simt::shared_span<prepared> prepared_;      ///< [place] of each section, in hot windows
  simt::shared_span<hot_segment> hot_;        ///< used if the worker looks for a hot record
  simt::shared_span<hot_counts> hot_counts_;  ///< used if it runs one
  simt::shared_span<record> held_;            ///< the hot record
  simt::shared_span<std::uint16_t>
      segment_begins_;    ///< begins of segments that are not empty, and the end
  bool one_record_each_;  ///< no thread owns more than one record
  std::uint32_t rank_[per_thread]{};
};

}  // namespace detail
WARDEN_NAMESPACE_END
