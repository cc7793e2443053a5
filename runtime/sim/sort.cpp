// SPDX-License-Identifier: Apache-2.0
// Sorting on the simulated device.

#include "machine.hpp"
#include "streams.hpp"

#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <memory>
#include <numeric>

WARDEN_HOST_NAMESPACE_BEGIN
namespace runtime {

namespace {

/// Sorts pairs when the stream gets there.
void sort_now(pair_arrays const& a, unsigned bits, void* temporary) {
  auto const mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
  auto* const order = static_cast<std::uint32_t*>(temporary);
  std::iota(order, order + a.n, 0u);
  std::stable_sort(order, order + a.n, [&](std::uint32_t i, std::uint32_t j) {
    return (a.keys[i] & mask) < (a.keys[j] & mask);
  });
  for (std::uint32_t p = 0; p < a.n; ++p) {
    a.sorted_keys[p] = a.keys[order[p]];
    a.sorted_values[p] = a.values[order[p]];
  }
  sim::all_streams().note_written(order, a.n * sizeof(*order));
  sim::all_streams().note_written(a.sorted_keys, a.n * sizeof(*a.sorted_keys));
  sim::all_streams().note_written(a.sorted_values, a.n * sizeof(*a.sorted_values));
}

}  // namespace

std::size_t sort_bytes(std::uint32_t n, unsigned, std::source_location) {
  return n * sizeof(std::uint32_t);
}

void sort_pairs(pair_arrays const& a, unsigned bits, void* temporary, std::size_t, stream_ref s,
                std::source_location where) {
  if (bits == 0)
    throw cuda_error{sim::cuda_error_invalid_value, "sorting by 0 bits: invalid argument", where};
  sim::enqueue(
      s, [=] { sort_now(a, bits, temporary); }, where);
}

struct gated_sort::content {
  pair_arrays arrays;
  void* temporary;
  unsigned bits;
  std::uint32_t* gate;
};
gated_sort::gated_sort() = default;
gated_sort::gated_sort(gated_sort&& other) noexcept = default;
gated_sort& gated_sort::operator=(gated_sort&& other) noexcept = default;
gated_sort::~gated_sort() = default;
bool gated_sort::prepare(pair_arrays const& a, unsigned bits, void* temporary, std::size_t,
                         std::uint32_t* gate, stream_ref s, std::source_location where) {
  if (capturing(s, where)) return false;
  bool const is_repeated = content_ != nullptr && content_->arrays == a;
  if (!is_repeated) content_ = std::make_unique<content>(content{a, temporary, bits, gate});
  return is_repeated;
}
void gated_sort::launch(stream_ref s, std::source_location where) const {
  sim::enqueue(
      s,
      [c = *content_] {
        if (c.gate[0] != 0) sort_now(c.arrays, c.bits, c.temporary);
        c.gate[1] = c.gate[0];
        c.gate[0] = 0;
        sim::all_streams().note_written(c.gate, 2 * sizeof(*c.gate));
      },
      where);
}

void find_runs(std::uint32_t const* keys, std::uint32_t n, std::uint32_t* starts,
               std::uint32_t* count, void*, std::size_t, stream_ref s, std::source_location where) {
  auto const find = [=] {
    *count = 0;
    for (std::uint32_t p = 0; p < n; ++p) {
      if (p == 0 || keys[p] != keys[p - 1]) starts[(*count)++] = p;
    }
    sim::all_streams().note_written(starts, *count * sizeof(*starts));
    sim::all_streams().note_written(count, sizeof(*count));
  };
  sim::enqueue(s, find, where);
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
