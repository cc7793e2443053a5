// SPDX-License-Identifier: Apache-2.0
// Points of histograms.

#include "microbench/allocation/algorithms.hpp"
#include "microbench/allocation/count.cuh"
#include "microbench/allocation/histogram_arm.hpp"
#include "microbench/allocation/histogram_oracle.hpp"
#include "microbench/allocation/points.hpp"
#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/baseline.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace allocation {
namespace {

void clear_async(histogram_arguments const& a) {
  warden::runtime::fill_async(a.counts, 0, a.bins * sizeof *a.counts, {});
}

/// Histogram by one atomic on global memory per sample. If `Combined`, equal samples of a block's
/// tile share one atomic.
template <bool Combined>
class global_histogram final : public histogram_arm {
 public:
  void run_async(histogram_arguments const& a) override {
    clear_async(a);
    warden::baseline::work<count::record, count::make_several, count::context> const all{
        a.counts, a.samples, a.n, {}, {}};
    if constexpr (Combined) {
      warden::baseline::atomics_combined_async(all, a.bins);
    } else {
      warden::baseline::atomics_async(all);
    }
  }
};
class shared_histogram final : public histogram_arm {
 public:
  void run_async(histogram_arguments const& a) override {
    clear_async(a);
    shared_histogram_async(a);
  }
};
class cub_histogram final : public histogram_arm {
 public:
  cub_histogram(std::uint32_t n, std::uint32_t bins)
      : memory_{histogram_bytes({nullptr, n, nullptr, bins})} {}
  void run_async(histogram_arguments const& a) override { histogram_async(a, memory_); }

 private:
  temporary memory_;
};

struct scattered {
  std::uint32_t const *values, *counts, *runs;
  std::uint32_t* to;  ///< [value]
};
WARDEN_KERNEL void scatter_counts(scattered a) {
  simt::assume_one_dimension();
  bench::for_each_of(*a.runs, [&](std::uint64_t i) { a.to[a.values[i]] = a.counts[i]; });
}
/// Histogram by sorting all samples.
class sorted_histogram final : public histogram_arm {
 public:
  sorted_histogram(std::uint32_t n, std::uint32_t bins)
      : bits_{static_cast<unsigned>(std::bit_width(std::max(bins, 2u) - 1))},
        sorted_{n},
        values_{bins},
        counts_{bins},
        runs_{1},
        memory_{sort_and_count_bytes(arguments({nullptr, n, nullptr, bins}))} {}
  void run_async(histogram_arguments const& a) override {
    clear_async(a);
    sort_and_count_async(arguments(a), memory_);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&scatter_counts, blocks, threads, 0,
                 {values_.data(), counts_.data(), runs_.data(), a.counts}, {});
  }

 private:
  [[nodiscard]] sorted_arguments arguments(histogram_arguments const& a) const {
    return {a.samples, a.n, bits_, sorted_.data(), values_.data(), counts_.data(), runs_.data()};
  }
  unsigned bits_;
  warden::buffer<std::uint32_t> sorted_, values_, counts_, runs_;
  temporary memory_;
};

/// Makes an arm for up to n samples, which writes `counts`.
using maker = std::unique_ptr<histogram_arm> (*)(std::uint32_t n, std::uint32_t* counts,
                                                 std::uint32_t bins);
template <class Arm>
std::unique_ptr<histogram_arm> make_arm(std::uint32_t n, std::uint32_t*, std::uint32_t bins) {
  if constexpr (std::is_constructible_v<Arm, std::uint32_t, std::uint32_t>) {
    return std::make_unique<Arm>(n, bins);
  } else {
    return std::make_unique<Arm>();
  }
}
std::map<std::string, maker> const& makers() {
  static std::map<std::string, maker> const all{
      {"atomics", make_arm<global_histogram<false>>},
      {"atomics_combined", make_arm<global_histogram<true>>},
      {"shared_atomics", make_arm<shared_histogram>},
      {"cub_histogram", make_arm<cub_histogram>},
      {"cub_sort", make_arm<sorted_histogram>},
      {"warden_deferred_combined", [](std::uint32_t, std::uint32_t* counts, std::uint32_t bins) {
         return make_deferred_histogram(counts, bins);
       }}};
  return all;
}

/// A point of histograms. An operation is a sample.
class histogram_point final : public bench::timed_point {
 public:
  histogram_point(std::string workload, std::uint32_t bins)
      : workload_{workload == "one" ? bench::workload::list(workload, {0})
                                    : bench::workload::named(workload, bins, "")},
        bins_{bins} {}
  [[nodiscard]] bool has(std::string const& arm) const override { return makers().contains(arm); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "histogram/" + workload_.name() + "/" + arm + "/keys:" + std::to_string(bins_);
  }

 private:
  [[nodiscard]] std::uint32_t most() const override { return 1u << 28; }
  void set_up(std::uint32_t operations) override {
    samples_ = warden::buffer<std::uint32_t>{operations};
    oracle_.emplace(bins_);
  }
  void prepare(std::string const& arm, std::uint32_t, bench::row&) override {
    arms_[arm] =
        makers().at(arm)(static_cast<std::uint32_t>(samples_.size()), counts_.data(), bins_);
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    histogram_arm& by = *arms_.at(arm);
    workload_.draw(samples_.data(), n, seed);
    // Overwrites the counts of the previous repetition, so that they cannot pass as results.
    counts_.fill_bytes(0xff);
    by.prepare(n);
    histogram_arguments const a{samples_.data(), n, counts_.data(), bins_};
    bench::run_result result;
    result.cost = bench::device_time([&] { by.run_async(a); });
    by.wait();
    result.verified = oracle_->wrong(a) == 0;
    return result;
  }
  void finish(std::string const&, bench::row& r) override {
    r.counters["bytes"] = 4. * static_cast<double>(r.operations);
  }
  void tear_down() override {
    arms_.clear();
    oracle_.reset();
    samples_ = warden::buffer<std::uint32_t>{0};
  }

  bench::workload workload_;
  std::uint32_t bins_;
  warden::buffer<std::uint32_t> samples_{0}, counts_{bins_};
  std::optional<histogram_oracle> oracle_;
  std::map<std::string, std::unique_ptr<histogram_arm>> arms_;
};

}  // namespace

std::shared_ptr<bench::point> make_histogram_point(std::string const& workload,
                                                   std::uint32_t bins) {
  return std::make_shared<histogram_point>(workload, bins);
}

}  // namespace allocation
