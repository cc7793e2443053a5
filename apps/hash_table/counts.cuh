// SPDX-License-Identifier: Apache-2.0
// Results of the command: words of a text, from a table's entries.
#pragma once

#include "apps/hash_table/storage.cuh"
#include "apps/hash_table/words.hpp"

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hash_table {

using counter = unsigned long long;
using counts_type = std::unordered_map<std::string_view, std::uint64_t>;

/// Copies every entry to a separate place.
struct collect {
  word* words;
  counter* counts;
  std::uint32_t* entries;
  __device__ void operator()(word const& w, counter const& n) const {
    std::uint32_t const i = simt::fetch_add(entries, 1u);
    words[i] = w;
    counts[i] = n;
  }
};
/// Adds a table's entries to `counts`; blocks the host.
template <class Table>
void collect_counts(Table const& table, std::string_view text, counts_type& counts) {
  std::uint64_t const most_entries = table.counts().inserted;
  warden::buffer<word> keys{most_entries};
  warden::buffer<counter> values{most_entries};
  warden::buffer<std::uint32_t> entries{1};
  entries.fill_bytes(0);
  table.for_each_async(collect{keys.data(), values.data(), entries.data()});
  auto const host_keys = keys.to_host();
  auto const host_values = values.to_host();
  for (std::uint32_t i = 0; i < entries.to_host()[0]; ++i)
    counts[text.substr(host_keys[i].offset, host_keys[i].length)] += host_values[i];
}

/// Counts the words of a text by a table that is spread over `gpus` GPUs, each of which sends a
/// part of them. Throws limit_error if there are not enough GPUs.
counts_type count_over_gpus(int gpus, std::string const& text, std::vector<word> const& words,
                            table_options const& size);

}  // namespace hash_table
