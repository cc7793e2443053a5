// SPDX-License-Identifier: Apache-2.0
// Scatter-add of rows by Warden, with the same bits in each run.
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

// In the order of a loop, through a log.

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

/// Table of records, and a log for its rows.
template <unsigned Floats>
class logged_scatter {
  using section = add_row<Floats>;
  using policy = typename section::policy;

 public:
  logged_scatter(float* out, float_rows<Floats> const& rows)
      : table_{make(out, rows)}, log_{table_, rows.n} {}
  /// Enqueues all rows.
  void run_async(float_rows<Floats> const& rows) {
    warden::send_async(log_, rows.n, [=] __device__(std::uint64_t i) {
      return warden::to{rows.ids[i], section::make(rows, i)};
    });
    log_.run();
  }
  void wait() { table_.wait(); }

 private:
  using table = warden::basic_guarded<policy, record<Floats>, section>;
  static table make(float* out, float_rows<Floats> const& rows) {
    auto* const records = reinterpret_cast<record<Floats>*>(out);
    if constexpr (Floats < 64) {
      return table{records, rows.n_records};
    } else {
      return table{records, rows.n_records, rows.values};
    }
  }
  table table_;
  warden::deferred<policy, record<Floats>, section> log_;
};

// In a tree, in bulk or through a log.

/// Floats that one lane adds.
template <unsigned Floats>
struct alignas(Floats < 4 ? 4 : 16) floats {
  float v[Floats];
  __device__ static floats sum(floats a, floats const& b) {
    for (unsigned k = 0; k < Floats; ++k) a.v[k] += b.v[k];
    return a;
  }
};
/// Section that adds a short row by one thread.
template <unsigned Floats>
struct combined_row {
  floats<Floats> v;
  __device__ static combined_row combine(combined_row const& a, combined_row const& b) {
    return {floats<Floats>::sum(a.v, b.v)};
  }
  __device__ void operator()(record<Floats>& r) const {
    for (unsigned k = 0; k < Floats; ++k) r.v[k] += v.v[k];
  }
  /// Makes the section of a row.
  struct make {
    float const* values;
    __device__ combined_row operator()(std::uint64_t i) const {
      return {reinterpret_cast<floats<Floats> const*>(values)[i]};
    }
  };
};
/// A group of 16 lanes adds a long row. Each lane holds 4 columns.
template <>
struct combined_row<64> {
  static constexpr unsigned group_size = 16;
  floats<4> v;
  __device__ static combined_row combine(combined_row const& a, combined_row const& b) {
    return {floats<4>::sum(a.v, b.v)};
  }
  __device__ void operator()(record<64>& r, warden::lane_group<16> const& group) const {
    for (unsigned k = 0; k < 4; ++k) r.v[group.lane() * 4 + k] += v.v[k];
  }
  struct make {
    float const* values;
    __device__ combined_row operator()(std::uint64_t i, warden::lane_group<16> const& group) const {
      return {reinterpret_cast<floats<4> const*>(values)[i * 16 + group.lane()]};
    }
  };
};

/// Table of records that combine in a tree.
template <unsigned Floats>
using scatter_table =
    warden::basic_guarded<warden::policy<warden::options{}, warden::order::deterministic>,
                          record<Floats>, combined_row<Floats>>;
/// Section of row i, which is in the section, for the record that an array names.
template <unsigned Floats>
struct combined_row_to {
  std::uint32_t const* ids;
  typename combined_row<Floats>::make make;
  __device__ warden::to<combined_row<Floats>> operator()(std::uint64_t i) const {
    return warden::to{ids[i], make(i)};
  }
};
/// Table of records, and a log for rows that are added in a tree.
template <unsigned Floats>
class logged_trees {
 public:
  logged_trees(float* out, float_rows<Floats> const& rows)
      : table_{reinterpret_cast<record<Floats>*>(out), rows.n_records}, log_{table_, rows.n} {}
  /// Enqueues all rows.
  void run_async(float_rows<Floats> const& rows) {
    warden::send_async(log_, rows.n, combined_row_to<Floats>{rows.ids, {rows.values}});
    log_.run();
  }
  void wait() { table_.wait(); }

 private:
  scatter_table<Floats> table_;
  warden::deferred<typename scatter_table<Floats>::policy, record<Floats>, combined_row<Floats>>
      log_;
};
/// Table of records, to which all rows are added by one call.
template <unsigned Floats>
class bulk_scatter {
 public:
  bulk_scatter(float* out, float_rows<Floats> const& rows)
      : table_{reinterpret_cast<record<Floats>*>(out), rows.n_records} {}
  /// Enqueues all rows.
  void run_async(float_rows<Floats> const& rows) {
    table_.apply_async(rows.ids, rows.n, typename combined_row<Floats>::make{rows.values});
  }
  void wait() { table_.wait(); }

 private:
  scatter_table<Floats> table_;
};

}  // namespace workloads
