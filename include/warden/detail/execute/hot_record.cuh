// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs the sections of a partition while most of them are for one record. One thread holds the
/// record and runs its sections. At the same time the other warps receive the next messages and put
/// them in place. No window is sorted, and the sections of other records are set aside for a window
/// of their own, so they do not move the held record to memory.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/hot_segment.cuh>
#include <warden/detail/execute/owner_segment.cuh>
#include <warden/detail/execute/record_copy.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Shared counters of a hot_record. A turn has counters of its own, because threads read those of
/// the turn before while others already count.
struct hot_counts {
  std::uint32_t hot[3];    ///< [turn mod 3] messages for the hot record
  std::uint32_t aside[3];  ///< [turn mod 3] messages for other records
};

/// The hot record of a block's partition. Windows have up to `PerThread` messages of a thread, and
/// chunks take their memory here. The messages that the block receives in a turn are a *chunk*: one
/// thread runs a chunk while the next is filled. The rest of the memory has the messages that are
/// set aside. Each turn another warp has the thread that runs, and receives nothing.
template <class Ref, unsigned PerThread>
class hot_record {
  using message_type = typename Ref::message_type;
  using record = typename Ref::record;
  using section = typename Ref::section;
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// With one section type chunks hold sections, whose messages need no header here.
  static constexpr bool one_type = Ref::format::types == 1 && !std::is_empty_v<section>;
  using entry = std::conditional_t<one_type, section, message_type>;
  /// Messages of a thread in a chunk: what a window's memory holds twice, and once as messages that
  /// are set aside in addition to one of each thread. Fewer if the record takes many registers.
  static constexpr unsigned each = std::min<unsigned>(
      (PerThread - 1) * sizeof(message_type) / (2 * sizeof(entry) + sizeof(message_type)),
      sizeof(record) > 16 ? 2 : 3);
  static constexpr std::uint32_t chunk_size = each * threads;

 public:
  /// True if one warp can run while others receive, the record fits registers, and windows are
  /// large enough for chunks. A larger record gains nothing: its sections wait for its memory in
  /// any case (docs/tuning-notes.md).
  static constexpr bool is_possible =
      fits_registers<record> && each >= 1 && threads >= 2 * simt::warp_size;

  /// `window` is the memory of windows of `PerThread` messages of a thread, aligned to 16 bytes.
  /// `held` has room for the record.
  WARDEN_DEVICE hot_record(Ref const& ref, record_store<Ref> const& records,
                           simt::shared_span<message_type> window, hot_counts& counts,
                           simt::shared_span<record> held, hot_segment& votes)
      : ref_{ref},
        records_{records},
        window_{window},
        counts_{counts},
        held_{held},
        votes_{votes} {}

  /// Runs messages until few of them are for the hot record, or too many for others. Returns the
  /// bits k of the messages for others, `m[k]`, which the worker then runs as a window.
  /// `receive(m, used)` receives up to `used` messages of each thread, and `has_more()` tells if
  /// the warp has more. `is_hot` becomes false if few messages are for the hot record. Collective.
  /// A barrier follows, before the window's memory is used again.
  template <class Receive, class HasMore>
  WARDEN_DEVICE unsigned run(message_type (&m)[PerThread], Receive receive, HasMore has_more,
                             bool& is_hot) {
    simt::sync_block();  // the window before has run, and its votes are there
    local_ = votes_.local;
    if (simt::thread_rank() == 0) {
      counts_ = {};
      held_[0] = *records_.at(local_);
    }
    simt::sync_block();
    is_hot = run_chunks(receive, has_more);
    simt::sync_block();  // the record is written
    unsigned arrived = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < PerThread; ++k) {
      std::uint32_t const i = k * threads + simt::thread_rank();
      if (i >= aside_) continue;
      arrived |= 1u << k;
      m[k] = aside()[i];
    }
    return arrived;
  }

 private:
  /// Entries that one load of 16 bytes brings.
  static constexpr unsigned loaded = 16 % sizeof(entry) == 0 ? 16 / sizeof(entry) : 1;
  /// Entries that a thread loads ahead.
  static constexpr unsigned ahead =
      std::max<unsigned>(loaded, std::clamp<unsigned>(64 / sizeof(entry), 2, 8) / loaded * loaded);
  /// Sections of the hot record for one of others, at least: owners of several records run them
  /// concurrently.
  static constexpr std::uint32_t least_share = 3;
  struct alignas(16) four_words {
    std::uint32_t words[4];
  };

  /// Runs chunks until there are no more messages, too few of a chunk are for the hot record, or
  /// too many are set aside. Returns false if too few are. Collective.
  template <class Receive, class HasMore>
  WARDEN_DEVICE bool run_chunks(Receive receive, HasMore has_more) {
    constexpr unsigned warps = threads / simt::warp_size;
    bool more = true;  // the first chunk is empty
    for (unsigned turn = 0;; ++turn) {
      std::uint32_t const hot = counts_.hot[turn % 3], others = counts_.aside[turn % 3];
      aside_ += others;
      bool const is_hot = hot >= least_share * others;
      bool const goes_on = more && is_hot && aside_ <= threads;
      if (simt::warp_rank() != turn % warps) {
        message_type m[each];
        if (goes_on) put(m, receive(m, each), turn + 1);
      } else if (simt::lane_id() == 0) {
        counts_.hot[(turn + 2) % 3] = counts_.aside[(turn + 2) % 3] = 0;  // mutation: hot-counts
        votes_.vote(local_, hot);
        votes_.all += hot;
        run_chunk(turn, hot, !goes_on);
      }
      if (!goes_on) return is_hot;
      more = simt::sync_block_or(has_more());
    }
  }

  WARDEN_DEVICE std::byte* chunk(unsigned turn) const {
    auto* const first = reinterpret_cast<std::byte*>(window_.data());
    return first + turn % 2 * (chunk_size * sizeof(entry));  // mutation: hot-chunk
  }
  WARDEN_DEVICE simt::shared_span<entry> entries(unsigned turn) const {
    return {reinterpret_cast<entry*>(chunk(turn)), chunk_size};
  }
  /// Messages that are set aside, after both chunks.
  WARDEN_DEVICE simt::shared_span<message_type> aside() const {
    return {reinterpret_cast<message_type*>(chunk(0) + 2 * chunk_size * sizeof(entry)),
            chunk_size + threads};
  }

  /// Puts the messages of a warp in their places. Collective over the warp.
  WARDEN_DEVICE void put(message_type const (&m)[each], unsigned arrived, unsigned turn) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < each; ++k) {
      bool const is_message = (arrived >> k & 1u) != 0;
      bool const is_hot = is_message && m[k].local() == local_;
      std::uint32_t const hot = place_of(is_hot, counts_.hot[turn % 3]);
      std::uint32_t const other = aside_ + place_of(is_message && !is_hot, counts_.aside[turn % 3]);
      if (is_hot) {
        if constexpr (one_type) {
          entries(turn)[hot] = Ref::format::template unpack<section>(m[k]);
        } else {
          entries(turn)[hot] = m[k];
        }
      } else if (is_message) {
        aside()[other] = m[k];
      }
    }
  }
  /// Returns the place of a lane that has something to place. Collective over the warp.
  WARDEN_DEVICE static std::uint32_t place_of(bool has, std::uint32_t& count) {
    unsigned const all = simt::ballot(simt::full_warp, has);
    if (all == 0) return 0;
    std::uint32_t first = 0;
    if (simt::lane_id() == 0)
      first = simt::shared_fetch_add(count, static_cast<std::uint32_t>(simt::count_bits(all)));
    unsigned const before = all & ((1u << simt::lane_id()) - 1);
    return simt::shuffle(simt::full_warp, first, 0) +
           static_cast<std::uint32_t>(simt::count_bits(before));
  }

  /// Loads `loaded` adjacent entries.
  WARDEN_DEVICE static void load(entry* to, entry const* from) {
    if constexpr (16 % sizeof(entry) == 0) {
      four_words const four = *reinterpret_cast<four_words const*>(from);
      memcpy(static_cast<void*>(to), &four, sizeof(four));
    } else {
      *to = *from;
    }
  }
  WARDEN_DEVICE void apply(entry const& e, record& r) const {
    typename Ref::reply_type no_caller;
    if constexpr (one_type) {
      sends_nothing nothing;
      section_runner{ref_}.apply_one(e, r, records_.id_of(local_), no_caller, nothing);
    } else {
      section_runner{ref_}.apply(e, r, records_.id_of(local_), no_caller);
    }
  }
  /// Runs the `count` sections of a chunk on the record, and writes it if the chunk `is_last`. One
  /// thread.
  WARDEN_DEVICE void run_chunk(unsigned turn, std::uint32_t count, bool is_last) const {
    record* const place = records_.at(local_);
    simt::section_enter(records_.address_of(local_));
    record_copy<record> copy;
    copy.value = held_[0];
    run_sections(turn, count, copy.value);
    held_[0] = copy.value;
    if (is_last) *place = copy.value;  // mutation: hot-written
    simt::section_leave(records_.address_of(local_));
  }
  WARDEN_DEVICE void run_sections(unsigned turn, std::uint32_t count, record& r) const {
    entry const* from = entries(turn).data();
    entry const* const end = from + count;
    if (count >= ahead) {
      entry e[ahead];
      WARDEN_UNROLL
      for (unsigned j = 0; j < ahead; j += loaded) load(e + j, from + j);
      // Loads that a loop carries over its end stay early; the compiler moves others to their use.
      // The last ones load what follows the chunk, and nothing uses it.
      WARDEN_NO_UNROLL
      do {
        from += ahead;
        WARDEN_UNROLL
        for (unsigned j = 0; j < ahead; j += loaded) {
          WARDEN_UNROLL
          for (unsigned l = 0; l < loaded; ++l) apply(e[j + l], r);
          load(e + j, from + j);
        }
      } while (end - from >= static_cast<std::ptrdiff_t>(ahead));
    }
    WARDEN_NO_UNROLL
    for (; from != end; ++from) apply(*from, r);
  }

  Ref const& ref_;
  record_store<Ref> const& records_;
  simt::shared_span<message_type> window_;
  hot_counts& counts_;
  simt::shared_span<record> held_;
  hot_segment& votes_;
  std::uint32_t local_ = 0;  ///< local number of the hot record
  std::uint32_t aside_ = 0;  ///< messages that are set aside
};

}  // namespace detail
WARDEN_NAMESPACE_END
