// SPDX-License-Identifier: Apache-2.0
// Scatter-add of rows: by atomics, by a sort of the rows, and by Warden. The arms with a sort and
// Warden's are deterministic.

#include "microbench/workloads/points.hpp"
#include "microbench/workloads/row_arms.cuh"
#include "microbench/workloads/scatter.cuh"
#include "microbench/workloads/sorted_rows.cuh"
#include "microbench/workloads/warden_scatter.cuh"
#include "microbench/workloads/work_point.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace workloads {
namespace {

template <unsigned Floats>
struct atomics_arguments {
  float_rows<Floats> rows;
  float* out;
};
template <unsigned Floats>
WARDEN_KERNEL void add_by_atomics(atomics_arguments<Floats> const a) {
  simt::assume_one_dimension();
  bench::for_each_of(std::uint64_t{a.rows.n} * Floats, [&](std::uint64_t k) {
    simt::fetch_add(a.out + std::uint64_t{a.rows.ids[k / Floats]} * Floats + k % Floats,
                    a.rows.values[k]);
  });
}
template <unsigned Floats>
arm make_atomics(scatter_work<Floats>& w) {
  return {[a = atomics_arguments<Floats>{w.rows(), w.out()}] {
    launch_resident(&add_by_atomics<Floats>, arm_threads(256), 0, a);
  }};
}

/// Adds to the values that the records have.
template <unsigned Floats>
struct to_record {
  float* out;
  WARDEN_DEVICE lane_sums<Floats> start(std::uint32_t id, unsigned lane) const {
    return lane_sums<Floats>::load(out + std::uint64_t{id} * Floats, lane);
  }
  WARDEN_DEVICE void finish(std::uint32_t id, unsigned lane, lane_sums<Floats> const& sum) const {
    sum.store(out + std::uint64_t{id} * Floats, lane);
  }
};
template <class Sums, unsigned Floats>
arm make_sorted(scatter_work<Floats>& w) {
  auto const by = std::make_shared<Sums>(w.rows());
  return {[=, r = w.rows(), finish = to_record<Floats>{w.out()}] { by->add_async(r, finish); },
          [] {}, true};
}

/// `By` is logged_scatter, logged_trees or bulk_scatter.
template <class By, unsigned Floats>
arm make_warden(scatter_work<Floats>& w) {
  auto const by = std::make_shared<By>(w.out(), w.rows());
  return {[=, r = w.rows()] { by->run_async(r); }, [=] { by->wait(); }, true};
}

/// `By` is logged_rows or bulk_rows.
template <template <class, class, class> class By>
arm make_warden_rows(scatter_work<64>& w) {
  auto const by = std::make_shared<By<float const*, record<64>, add_row_in_place>>(
      reinterpret_cast<record<64>*>(w.out()), w.rows(), w.rows().values);
  return {[=, r = w.rows()] { by->run_async(r); }, [=] { by->wait(); }, true};
}

template <unsigned Floats>
std::shared_ptr<bench::point> make_point_of(size const& s) {
  arm_makers<scatter_work<Floats>> arms{
      {"atomics", make_atomics<Floats>},
      {"sort_segments", make_sorted<segment_sums<Floats>, Floats>},
      {"sort_pieces", make_sorted<piece_sums<Floats>, Floats>},
      {"warden", make_warden<logged_scatter<Floats>, Floats>},
      {"warden_bulk", make_warden<bulk_scatter<Floats>, Floats>}};
  if constexpr (Floats >= 8) add_bulk_arms(arms);
  if constexpr (Floats < 64) {
    arms["warden_trees"] = make_warden<logged_trees<Floats>, Floats>;
  } else {
    arms["warden_rows"] = make_warden_rows<logged_rows>;
    arms["warden_rows_bulk"] = make_warden_rows<bulk_rows>;
  }
  return make_point<scatter_work<Floats>>(
      {"scatter" + std::to_string(Floats), s.workload, s.keys, s.rows, std::move(arms),
       [s] { return std::make_unique<scatter_work<Floats>>(s); }});
}

}  // namespace

std::shared_ptr<bench::point> make_scatter_point(unsigned floats, size const& s) {
  return floats == 1   ? make_point_of<1>(s)
         : floats == 8 ? make_point_of<8>(s)
                       : make_point_of<64>(s);
}

}  // namespace workloads
