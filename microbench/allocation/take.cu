// SPDX-License-Identifier: Apache-2.0
// Points whose items take places of many counters.

#include "microbench/allocation/place_oracle.cuh"
#include "microbench/allocation/points.hpp"
#include "microbench/allocation/take_arm.hpp"
#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/allocate.cuh>
#include <warden/cuda_names.cuh>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace allocation {
namespace {

constexpr unsigned take_threads = 256;

/// Calls `take(i, is_there)` in all lanes of all warps. `is_there` is true once for each i < n.
template <class Take>
__device__ void for_items(std::uint32_t n, Take take) {
  std::uint32_t const step = simt::block_count() * take_threads;
  // 64 bits, because the last increment may pass 2^32.
  for (std::uint64_t base = simt::block_rank() * take_threads; base < n; base += step) {
    std::uint64_t const i = base + simt::thread_rank();
    take(static_cast<std::uint32_t>(i), i < n);
  }
}

/// Takes places by one atomic per item.
WARDEN_KERNEL void take_by_threads(takes const a) {
  simt::assume_one_dimension();
  for_items(a.n, [&](std::uint32_t i, bool is_there) {
    if (!is_there) return;
    a.places[i] = static_cast<std::uint32_t>(
        simt::fetch_add(&a.counters[a.ids[i]], std::uint64_t{takes::count(i)}));
  });
}
/// Takes places by one atomic for all lanes of a warp with the same counter.
WARDEN_KERNEL void take_by_warps(takes const a) {
  simt::assume_one_dimension();
  for_items(a.n, [&](std::uint32_t i, bool is_there) {
    unsigned const lanes = simt::ballot(simt::full_warp, is_there);
    if (!is_there) return;
    std::uint32_t const id = a.ids[i];
    unsigned const alike = simt::match_any(lanes, id);
    a.places[i] = static_cast<std::uint32_t>(
        warden::allocate_in_warp(&a.counters[id], alike, takes::count(i)));
  });
}
/// Takes places by one atomic for all items of a block. Precondition: there is one counter.
WARDEN_KERNEL void take_by_blocks(takes const a) {
  simt::assume_one_dimension();
  using allocator = warden::block_allocator<take_threads>;
  WARDEN_SHARED(allocator::storage, storage);
  allocator places{a.counters, storage};
  for_items(a.n, [&](std::uint32_t i, bool is_there) {
    std::uint64_t const first = places.allocate(is_there ? takes::count(i) : 0);
    if (is_there) a.places[i] = static_cast<std::uint32_t>(first);
  });
}

class kernel_arm final : public take_arm {
 public:
  explicit kernel_arm(void (*kernel)(takes)) : kernel_{kernel} {}
  void run_async(takes const& t) override {
    auto const resident = static_cast<std::uint32_t>(
        warden::runtime::resident_blocks(simt::make_kernel(kernel_), take_threads, 0));
    std::uint32_t const blocks = std::min(resident, (t.n + take_threads - 1) / take_threads);
    simt::launch(kernel_, blocks, take_threads, 0, t, {});
  }

 private:
  void (*kernel_)(takes);
};

std::map<std::string, void (*)(takes)> const& kernels() {
  static std::map<std::string, void (*)(takes)> const all{{"thread_atomic", &take_by_threads},
                                                          {"warp_atomic", &take_by_warps},
                                                          {"unordered", &take_by_blocks}};
  return all;
}

struct takings_of_items {
  takes all;
  __device__ taking operator()(std::uint64_t i) const {
    return {all.ids[i], all.places[i], takes::count(i)};
  }
};

/// A point of items that take places. An operation is an item.
class take_point final : public bench::timed_point {
 public:
  explicit take_point(std::uint32_t counters)
      : workload_{bench::workload::uniform(counters)}, counters_{counters} {}
  [[nodiscard]] bool has(std::string const& arm) const override {
    if (arm == "unordered") return counters_.size() == 1;
    return arm == "warden_runs" || kernels().contains(arm);
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "take/uniform/" + arm + "/keys:" + std::to_string(counters_.size());
  }

 private:
  void set_up(std::uint32_t operations) override {
    ids_ = warden::buffer<std::uint32_t>{operations};
    places_ = warden::buffer<std::uint32_t>{operations};
    oracle_.emplace(static_cast<std::uint32_t>(counters_.size()),
                    std::uint64_t{takes::most} * operations);
  }
  void prepare(std::string const& arm, std::uint32_t, bench::row&) override {
    if (arm == "warden_runs") {
      arms_[arm] = make_called_taking(counters_);
    } else {
      arms_[arm] = std::make_unique<kernel_arm>(kernels().at(arm));
    }
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    workload_.draw(ids_.data(), n, seed);
    places_.fill_bytes(0xff);
    take_arm& by = *arms_.at(arm);
    takes const all{ids_.data(), n, counters_.data(), places_.data()};
    bench::run_result result;
    result.cost = bench::device_time([&] {
      counters_.fill_bytes(0);
      by.run_async(all);
    });
    by.wait();
    result.verified = oracle_->wrong(n, takings_of_items{all}, &counters_) == 0;
    return result;
  }
  void finish(std::string const&, bench::row& r) override {
    r.counters["bytes"] = 8. * static_cast<double>(r.operations);
  }
  void tear_down() override {
    arms_.clear();
    oracle_.reset();
    ids_ = warden::buffer<std::uint32_t>{0};
    places_ = warden::buffer<std::uint32_t>{0};
  }

  bench::workload workload_;
  warden::buffer<std::uint64_t> counters_;
  warden::buffer<std::uint32_t> ids_{0}, places_{0};
  std::optional<place_oracle> oracle_;
  std::map<std::string, std::unique_ptr<take_arm>> arms_;
};

}  // namespace

std::shared_ptr<bench::point> make_take_point(std::uint32_t counters) {
  return std::make_shared<take_point>(counters);
}

}  // namespace allocation
