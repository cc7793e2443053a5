// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writing of a sorted batch to its places in a log, and of the row that describes it.
#pragma once

#include <warden/detail/deferred/batch_stage.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Copies messages whose numbers and payloads are stored apart. Neighbouring threads store
/// neighbouring parts of payloads. Collective.
template <class Batch, class Stage>
WARDEN_DEVICE void copy_apart(Stage const& stage, Batch const& b, std::uint32_t first,
                              log_places places) {
  using all = message_places<typename Batch::message>;
  all const to = all::of(stage.log);
  typename all::part* const parts = to.payloads()[places.begin].parts;
  constexpr unsigned each = all::parts_each;
  for (std::uint32_t i = simt::thread_rank(); i < places.count * each; i += Stage::threads) {
    std::uint32_t const slot = b.ranks[first + i / each];  // mutation: apart-cut
    auto const& from = b.messages[slot];
    typename all::part one;
    WARDEN_UNROLL
    for (unsigned w = 0; w < 4; ++w) one.words[w] = from.words[1 + i % each * 4 + w];
    parts[i] = one;
  }
  for (std::uint32_t i = simt::thread_rank(); i < places.count; i += Stage::threads) {
    std::uint32_t const place = places.begin + i;  // mutation: apart-locals
    to.locals()[place] = b.messages[b.ranks[first + i]].local();
  }
}
/// Copies messages to `places`, from position `first` on. Collective.
template <class Batch, class Stage>
WARDEN_DEVICE void copy_messages(Stage const& stage, Batch const& b, std::uint32_t first,
                                 log_places places) {
  if constexpr (is_apart<typename Batch::message>) {
    copy_apart(stage, b, first, places);
  } else {
    auto* const to = stage.log.template at<typename Batch::message>(places.begin);
    for (std::uint32_t i = simt::thread_rank(); i < places.count; i += Stage::threads)
      to[i] = b.messages[b.ranks[first + i]];
  }
}

/// Writes the offsets at which the segments of these places begin. `width` is 0 or `wide_row`.
/// Collective.
template <class Stage>
WARDEN_DEVICE void write_row(Stage const& stage, std::uint32_t row, std::uint32_t first,
                             log_places places, std::uint32_t width) {
  std::uint32_t const partitions = stage.log.partitions.partitions();
  for (std::uint32_t p = simt::thread_rank(); p <= partitions; p += stage.threads) {
    std::uint32_t const offset = p < partitions ? stage.counts.begin_of(p) : first + places.count;
    std::uint32_t const after = offset < first ? 0 : offset - first;
    std::uint32_t const within = after < places.count ? after : places.count;
    *stage.log.offset(p, row) = static_cast<std::uint16_t>(within);  // mutation: header
  }
  if (simt::thread_rank() == 0) stage.log.begins[row] = places.begin | width;  // mutation: row-flag
}

/// Records the batch's number in the order of batches. Collective.
template <class Stage>
WARDEN_DEVICE void number_row(Stage& stage, std::uint32_t row) {
  if (simt::thread_rank() == 0) {
    auto const& order = stage.log.order;
    if (stage.batches == 0) {
      stage.row[1] = row;
      order.launches[row] = order.launch;
      order.blocks[row] = simt::block_rank();
      order.firsts[simt::fetch_add(&stage.log.control->blocks, 1u)] = row;
    }
    order.first_of[row] = stage.row[1];
    order.numbers[row] = stage.batches;
    order.counts[stage.row[1]] = stage.batches + 1;
  }
  ++stage.batches;
}

}  // namespace detail
WARDEN_NAMESPACE_END
