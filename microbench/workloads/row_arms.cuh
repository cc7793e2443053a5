// SPDX-License-Identifier: Apache-2.0
// Rows of 64 floats that Warden's sections have as payload: they are combined in a tree, sent
// through a log or in bulk.
#pragma once

#include "microbench/workloads/warden_scatter.cuh"

#include <warden/deferred.cuh>

#include <cstdint>

namespace workloads {

template <class Part>
WARDEN_DEVICE Part added(Part a, Part const& b) {
  WARDEN_UNROLL
  for (unsigned k = 0; k < Part::size; ++k) a[k] += b[k];
  return a;
}
/// Section with row i.
template <class Section>
struct row_number {
  __device__ Section operator()(std::uint64_t i) const { return {static_cast<std::uint32_t>(i)}; }
};
/// Section with row i, for the record that an array names.
template <class Section>
struct row_number_to {
  std::uint32_t const* ids;
  __device__ warden::to<Section> operator()(std::uint64_t i) const {
    return warden::to{ids[i], row_number<Section>{}(i)};
  }
};

/// Table of records whose sections combine their rows.
template <class Context, class Record, class Section>
using row_table = warden::basic_guarded<
    warden::policy<warden::options{}, warden::order::deterministic, warden::context<Context>>,
    Record, Section>;
/// Sends all rows through a log.
template <class Context, class Record, class Section>
class logged_rows {
 public:
  logged_rows(Record* records, float_rows<64> const& rows, Context const& context)
      : table_{records, rows.n_records, context}, log_{table_, rows.n} {}
  void run_async(float_rows<64> const& rows) {
    warden::send_async(log_, rows.n, row_number_to<Section>{rows.ids});
    log_.run();
  }
  void wait() { table_.wait(); }

 private:
  using table = row_table<Context, Record, Section>;
  table table_;
  warden::deferred<typename table::policy, Record, Section> log_;
};
/// Applies all rows by one call.
template <class Context, class Record, class Section>
class bulk_rows {
 public:
  bulk_rows(Record* records, float_rows<64> const& rows, Context const& context)
      : table_{records, rows.n_records, context} {}
  void run_async(float_rows<64> const& rows) {
    table_.apply_async(rows.ids, rows.n, row_number<Section>{});
  }
  void wait() { table_.wait(); }

 private:
  row_table<Context, Record, Section> table_;
};

/// A group of 16 lanes adds a row.
struct add_row_in_place {
  static constexpr unsigned group_size = 16;
  using part = warden::row_part<float, 64, 16>;
  std::uint32_t source;
  __device__ warden::row<float const, 64> payload(float const* values) const {
    return {values, source};
  }
  __device__ static part combine(part const& a, part const& b) { return added(a, b); }
  __device__ void operator()(record<64>& r, part const& sum,
                             warden::lane_group<16> const& group) const {
    warden::row<float, 64> const to{r.v};
    to.store(group, added(to.load(group), sum));
  }
};

}  // namespace workloads
