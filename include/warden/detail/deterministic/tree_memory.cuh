// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device memory of a run with order::deterministic, and the kernels that it enqueues.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deterministic/bulk_sections.cuh>
#include <warden/detail/deterministic/tree_kernels.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Records of a guarded array for its runs.
template <class Record, class Context>
struct tree_records {
  Record* records;         ///< [size]
  std::uint64_t size;      ///< number of records
  Context context;         ///< context of the sections
  guarded_report* report;  ///< report of the guarded array
};

/// Memory for runs of up to a number of sections. Serves one run at a time.
template <class Section>
class tree_memory {
  using partial = partial_of<Section>;
  static constexpr unsigned lanes = group_size_of<Section>;
  using parents = tree_parents<partial, lanes>;

 public:
  /// Makes memory for at most `sections` sections on `records` records. Blocks the host. Throws
  /// cuda_error.
  tree_memory(std::uint32_t sections, std::uint32_t records, std::source_location where)
      : most_{sections},
        bits_{static_cast<unsigned>(std::bit_width(std::max(records, 1u)))},
        ids_{sections, where},
        numbers_{sections, where},
        sorted_ids_{sections, where},
        sorted_numbers_{sections, where},
        partials_{2 * parents::places(sections) * lanes * sizeof(partial), where},
        children_{parents::places(sections), where},
        temporary_{runtime::sort_bytes(sections, bits_, where), where} {
    children_.fill_bytes(0, {}, where);
    stream_ref{}.synchronize(where);
  }

  /// Returns the number of sections of a run, at most.
  [[nodiscard]] std::uint32_t most() const { return most_; }
  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return ids_.bytes() + numbers_.bytes() + sorted_ids_.bytes() + sorted_numbers_.bytes() +
           partials_.bytes() + children_.bytes() + temporary_.bytes();
  }

  /// Enqueues the sections `first` to `first` + `n` - 1 of a bulk, at most `most()`. Throws
  /// cuda_error.
  template <class Record, class Context, class Bulk>
  void run(tree_records<Record, Context> const& on, Bulk const& bulk, std::uint64_t first,
           std::uint32_t n, stream_ref s, std::source_location where) {
    simt::launch(&list_sections<Bulk>, std::min(blocks_for(n), 4096u), threads, 0,
                 {bulk, first, n, on.size, on.report, ids_.data(), numbers_.data()}, s, where);
    runtime::sort_pairs(
        {ids_.data(), numbers_.data(), sorted_ids_.data(), sorted_numbers_.data(), n}, bits_,
        temporary_.data(), temporary_.bytes(), s, where);
    constexpr unsigned warps = threads / simt::warp_size;
    simt::launch(&run_trees<tree_arguments<Record, Context, Section, Bulk>>,
                 blocks_for((n - 1) / chunk_list::positions + 1, warps), threads,
                 warps * sizeof(chunk_list::storage),
                 {{sorted_ids_.data(), sorted_numbers_.data(), n},
                  bulk,
                  first,
                  on.records,
                  on.size,
                  on.context,
                  {reinterpret_cast<partial*>(partials_.data()), children_.data(),
                   static_cast<std::uint32_t>(parents::places(most_))}},
                 s, where);
  }

 private:
  static constexpr unsigned threads = 256;
  /// Returns the blocks that `n` threads or warps fill, of which a block has `each`.
  static unsigned blocks_for(std::uint32_t n, unsigned each = threads) {
    return (n - 1) / each + 1;
  }

  std::uint32_t most_;
  unsigned bits_;  ///< bits of ids, and of the number that stands for no record
  buffer<std::uint32_t> ids_, numbers_, sorted_ids_, sorted_numbers_;
  buffer<std::byte> partials_;
  buffer<std::uint32_t> children_;
  buffer<std::byte> temporary_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
