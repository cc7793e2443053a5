// SPDX-License-Identifier: Apache-2.0
// Scatter-add of rows by Warden, in the order of the rows.
#pragma once

#include "microbench/workloads/row_sums.cuh"

#include <warden/deferred.cuh>

#include <cstdint>

namespace workloads {

/// Row of a record.
template <unsigned Floats>
struct alignas(Floats < 4 ? 4 : 16) record {
  float v[Floats];
};

/// Section that adds a short row, which is in the section.
template <unsigned Floats>
struct add_row {
  using policy = warden::policy<warden::options{}, warden::order::sequential>;
  float v[Floats];
  __device__ static add_row make(float_rows<Floats> const& rows, std::uint64_t i) {
    return reinterpret_cast<add_row const*>(rows.values)[i];
  }
  __device__ void operator()(record<Floats>& r) const {
    for (unsigned k = 0; k < Floats; ++k) r.v[k] += v[k];
  }
};
/// A group of 32 lanes adds a long row, which stays in its place.
template <>
struct add_row<64> {
  using policy =
      warden::policy<warden::options{}, warden::order::sequential, warden::context<float const*>>;
  static constexpr unsigned group_size = 32;
  std::uint32_t source;
  __device__ static add_row make(float_rows<64> const&, std::uint64_t i) {
    return {static_cast<std::uint32_t>(i)};
  }
  __device__ void operator()(record<64>& r, float const* values,
                             warden::lane_group<32> const& group) const {
    float const* const from = values + std::uint64_t{source} * 64;
    for (unsigned k = group.lane(); k < 64; k += 32) r.v[k] += from[k];
  }
};

template <unsigned Floats>
using scatter_table =
    warden::basic_guarded<typename add_row<Floats>::policy, record<Floats>, add_row<Floats>>;
template <unsigned Floats>
using scatter_log =
    warden::deferred<typename add_row<Floats>::policy, record<Floats>, add_row<Floats>>;

template <unsigned Floats>
scatter_table<Floats> make_scatter_table(float* out, float_rows<Floats> const& rows) {
  auto* const records = reinterpret_cast<record<Floats>*>(out);
  if constexpr (Floats < 64) {
    return scatter_table<Floats>{records, rows.n_records};
  } else {
    return scatter_table<Floats>{records, rows.n_records, rows.values};
  }
}
/// Enqueues all rows, through a log.
template <unsigned Floats>
void scatter_by_log(scatter_log<Floats>& log, float_rows<Floats> const& rows) {
  warden::send_async(log, rows.n, [=] __device__(std::uint64_t i) {
    return warden::to{rows.ids[i], add_row<Floats>::make(rows, i)};
  });
  log.run();
}
/// Enqueues all rows, in bulk.
template <unsigned Floats>
void scatter_in_bulk(scatter_table<Floats>& table, float_rows<Floats> const& rows) {
  table.apply_async(rows.ids, rows.n,
                    [=] __device__(std::uint64_t i) { return add_row<Floats>::make(rows, i); });
}

/// A table and its log.
template <unsigned Floats>
struct logged_scatter {
  logged_scatter(float* out, float_rows<Floats> const& rows)
      : table{make_scatter_table(out, rows)}, log{table, rows.n} {}
  scatter_table<Floats> table;
  scatter_log<Floats> log;
};

}  // namespace workloads
