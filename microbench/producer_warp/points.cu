// SPDX-License-Identifier: Apache-2.0
// Points, their inputs and their reference.

#include "microbench/producer_warp/points.hpp"

#include "microbench/support/device.cuh"
#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace producer_warp {
namespace {

namespace simt = warden::simt;

enum class kind { copy, axpy, stencil, gather };

/// Formulas of the inputs and results. Elements are whole numbers below 2^20, so that all sums are
/// exact.
struct formulas {
  kind of;
  std::uint32_t row_elements, rows;
  std::uint64_t seed;

  WARDEN_HOST_DEVICE float x(std::uint64_t i) const {
    return static_cast<float>(bench::mix(i, seed) >> 44);
  }
  WARDEN_HOST_DEVICE float y(std::uint64_t i) const {
    return static_cast<float>(bench::mix(i, ~seed) >> 44);
  }
  WARDEN_HOST_DEVICE std::uint32_t index(std::uint32_t row) const {
    return static_cast<std::uint32_t>(bench::mix(row, seed + 1) % rows);
  }
  WARDEN_HOST_DEVICE float result(std::uint64_t i) const {
    std::uint64_t const middle = i + piece_elements;  // in x of the stencil
    auto const row = static_cast<std::uint32_t>(i / row_elements);
    switch (of) {
      case kind::axpy:
        return factor * x(i) + y(i);
      case kind::stencil:
        return x(middle - 1) + 2 * x(middle) + x(middle + 1);
      case kind::gather:
        return x(std::uint64_t{index(row)} * row_elements + i % row_elements);
      default:
        return x(i);
    }
  }
};

struct drawing {
  formulas by;
  float *x, *y;          ///< y may be null
  std::uint32_t* index;  ///< may be null
  std::uint64_t elements_of_x, elements_of_y;
};
WARDEN_KERNEL void draw(drawing const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.elements_of_x, [&](std::uint64_t i) { a.x[i] = a.by.x(i); });
  if (a.y != nullptr)
    bench::for_each_of(a.elements_of_y, [&](std::uint64_t i) { a.y[i] = a.by.y(i); });
  if (a.index == nullptr) return;
  bench::for_each_of(a.by.rows, [&](std::uint64_t row) {
    a.index[row] = a.by.index(static_cast<std::uint32_t>(row));
  });
}

WARDEN_HOST_DEVICE std::uint32_t bits(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}

struct checking {
  formulas by;
  float const* out;
  std::uint64_t elements;
  std::uint64_t* wrong;  ///< number of wrong elements
};
WARDEN_KERNEL void check(checking const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.elements, [&](std::uint64_t i) {
    if (bits(a.out[i]) != bits(a.by.result(i))) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

struct comparing {
  float const *out, *reference;
  std::uint64_t elements;
  std::uint64_t* wrong;  ///< number of wrong elements
};
WARDEN_KERNEL void compare(comparing const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.elements, [&](std::uint64_t i) {
    if (bits(a.out[i]) != bits(a.reference[i])) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

class operation_point final : public bench::timed_point {
 public:
  operation_point(point_options options, abilities const& device)
      : options_{std::move(options)}, device_{device} {
    for (kind_ = kind::copy; options_.operation != operation_names[static_cast<int>(kind_)];)
      kind_ = static_cast<kind>(static_cast<int>(kind_) + 1);
    row_elements_ = kind_ == kind::gather ? options_.row_bytes / sizeof(float) : piece_elements;
  }

  [[nodiscard]] bool has(std::string const& arm) const override {
    return has_arm(options_.operation, arm, device_);
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    std::string const input =
        kind_ == kind::gather ? "rows" + std::to_string(options_.row_bytes) : "contiguous";
    return options_.operation + "/" + input + "/" + arm +
           "/keys:" + std::to_string(options_.elements);
  }

 private:
  [[nodiscard]] std::uint32_t operations() const override { return rows_of(options_.elements); }
  void set_up(std::uint32_t operations) override {
    std::size_t const n = operations;
    x_ = warden::buffer<float>{kind_ == kind::stencil ? n + 2 * piece_elements : n};
    if (kind_ == kind::axpy) y_ = warden::buffer<float>{n};
    if (kind_ == kind::gather) index_ = warden::buffer<std::uint32_t>{n / row_elements_};
    out_ = warden::buffer<float>{n};
  }
  /// Compares the arm's result with a reference that the host computes once for all arms.
  void prepare(std::string const& arm, std::uint32_t operations, bench::row& r) override {
    std::uint32_t const n = rows_of(operations);
    bench::run_result const first = run(arm, n, reference_seed);
    formulas const by = formulas_of(arm, n, reference_seed);
    if (reference_.size() != n || reference_of_ != by.of) {
      std::vector<float> values(n);
      for (std::uint32_t i = 0; i < n; ++i) values[i] = by.result(i);
      reference_ = warden::buffer<float>{values};
      reference_of_ = by.of;
    }
    wrong_.fill_bytes(0);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&compare, blocks, threads, 0, {out_.data(), reference_.data(), n, wrong_.data()},
                 {});
    r.verified = r.verified && first.verified && wrong_.to_host()[0] == 0;
  }
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    std::uint32_t const n = rows_of(operations);
    auto const [blocks, threads] = bench::shape_of_helpers();
    std::uint64_t const of_x = kind_ == kind::stencil ? n + 2 * piece_elements : n;
    simt::launch(&draw, blocks, threads, 0,
                 {formulas_of({}, n, seed), x_.data(), y_.data(), index_.data(), of_x, n}, {});
    out_.fill_bytes(0xff);
    wrong_.fill_bytes(0);
    work a{};
    a.x = x_.data(), a.y = y_.data(), a.index = index_.data(), a.out = out_.data();
    a.pieces = n / piece_elements;
    a.row_shift = static_cast<std::uint32_t>(std::countr_zero(row_elements_ / piece_elements));
    auto const enqueue = plan_of(options_.operation, arm, a, options_.stage_bytes);
    bench::run_result result;
    result.cost = bench::device_time(enqueue);
    simt::launch(&check, blocks, threads, 0,
                 {formulas_of(arm, n, seed), out_.data(), n, wrong_.data()}, {});
    result.verified = wrong_.to_host()[0] == 0;
    return result;
  }
  void finish(std::string const&, bench::row& r) override {
    double const arrays = kind_ == kind::axpy ? 3 : 2;  // indices of rows do not count
    if (r.seconds > 0) {
      r.counters["moved_bytes_per_second"] =
          arrays * sizeof(float) * static_cast<double>(r.operations) / r.seconds;
    }
  }
  void tear_down() override {
    for (warden::buffer<float>* const array : {&x_, &y_, &out_, &reference_})
      *array = warden::buffer<float>{};
    index_ = warden::buffer<std::uint32_t>{};
  }

  /// Returns the formulas of the arm's result. A device copy is no gather.
  [[nodiscard]] formulas formulas_of(std::string const& arm, std::uint32_t n,
                                     std::uint64_t seed) const {
    return {arm == "device_copy" ? kind::copy : kind_, row_elements_, n / row_elements_, seed};
  }
  /// Returns the number of elements in whole rows.
  [[nodiscard]] std::uint32_t rows_of(std::uint32_t elements) const {
    return (elements + row_elements_ - 1) / row_elements_ * row_elements_;
  }

  static constexpr std::uint64_t reference_seed = 1;
  point_options options_;
  abilities device_;
  kind kind_;
  std::uint32_t row_elements_;
  kind reference_of_ = kind::copy;
  warden::buffer<float> x_, y_, out_, reference_;
  warden::buffer<std::uint32_t> index_;
  warden::buffer<std::uint64_t> wrong_{1};
};

}  // namespace

std::shared_ptr<bench::point> make_point(point_options const& options, abilities const& device) {
  return std::make_shared<operation_point>(options, device);
}

}  // namespace producer_warp
