// SPDX-License-Identifier: Apache-2.0
// Points of items that emit elements, and points of run-length decoding.

#include "microbench/allocation/emission_oracle.hpp"
#include "microbench/allocation/emit_arm.hpp"
#include "microbench/allocation/item_counts.hpp"
#include "microbench/allocation/points.hpp"
#include "microbench/support/device.cuh"
#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/simt/launch.cuh>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace allocation {

namespace simt = warden::simt;

namespace {

struct value_arguments {
  std::uint32_t* values;
  std::uint32_t n, flip;
};
/// Writes values that identify their runs.
WARDEN_KERNEL void make_values(value_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(
      a.n, [&](std::uint64_t i) { a.values[i] = static_cast<std::uint32_t>(i) ^ a.flip; });
}

enum class kind { emit, decode };

/// A point of emission or decoding. An operation is an item or a run of equal values.
class emit_point final : public bench::timed_point {
 public:
  emit_point(kind what, std::string spread)
      : what_{what},
        makers_{what == kind::emit ? emit_arms() : decode_arms()},
        spread_{std::move(spread)},
        // A run has at least one element.
        counts_{spread_, what == kind::emit ? 0u : 1u} {}
  [[nodiscard]] bool has(std::string const& arm) const override { return makers_.contains(arm); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return (what_ == kind::emit ? "emit/" : "decode/") + spread_ + "/" + arm + "/keys:1";
  }

 private:
  /// An arm, and the number of items that it was made for.
  struct made {
    std::uint32_t n = 0;
    std::unique_ptr<emit_arm> arm;
  };

  void set_up(std::uint32_t operations) override {
    items_ = warden::buffer<std::uint32_t>{(what_ == kind::emit ? 1 : 2) * std::size_t{operations}};
    oracle_.emplace(operations);
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    emission const e = drawn(n, seed);
    made& by = arms_[arm];
    if (by.n != n) {
      by = {n, makers_.at(arm)(e)};
      // The first repetition allocates memory, so it is not timed.
      by.arm->run_async(e);
      by.arm->wait(e);
    }
    elements_.fill_bytes(0xff);
    bench::run_result result;
    result.cost = bench::device_time([&] { by.arm->run_async(e); });
    result.verified = by.arm->wait(e) == e.total && is_right(arm, e, seed);
    bytes_[arm] = 4. * ((what_ == kind::emit ? 1. : 2.) * n + static_cast<double>(e.total));
    return result;
  }
  emission drawn(std::uint32_t n, std::uint64_t seed) {
    std::uint32_t* const values = what_ == kind::emit ? nullptr : items_.data() + n;
    std::uint64_t const total = counts_.draw(items_.data(), n, seed);
    if (values != nullptr) {
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&make_values, blocks, threads, 0, {values, n, flip(seed)}, {});
    }
    if (total + 2 * std::uint64_t{n} > elements_.size()) {
      // Allocates 12.5 % more, so that the next draws fit, too.
      arms_.clear();
      elements_ = warden::buffer<std::uint32_t>{total + total / 8 + 2 * std::uint64_t{n} + 4};
    }
    return {items_.data(), values, n, elements_.data(), elements_.size(), total};
  }
  static std::uint32_t flip(std::uint64_t seed) {
    return static_cast<std::uint32_t>(bench::mix(1, seed));
  }
  bool is_right(std::string const& arm, emission const& e, std::uint64_t seed) {
    if (arm == "copy" || arm == "memcpy") return true;
    emitted what{e.counts, e.n, e.elements, e.total};
    if (what_ == kind::decode) {
      what.bits = 32;
      what.flip = flip(seed);
    }
    bool const in_order = what_ == kind::decode || arm == "ordered" || arm == "reduce_then_scan";
    return oracle_->wrong(what, in_order) == 0;
  }
  void finish(std::string const& arm, bench::row& r) override { r.counters["bytes"] = bytes_[arm]; }
  void tear_down() override {
    arms_.clear();
    oracle_.reset();
    items_ = warden::buffer<std::uint32_t>{0};
    elements_ = warden::buffer<std::uint32_t>{0};
  }

  kind what_;
  std::map<std::string, emit_maker> makers_;
  std::string spread_;
  item_counts counts_;
  std::optional<emission_oracle> oracle_;
  warden::buffer<std::uint32_t> items_{0};  ///< counts; then values, if any
  warden::buffer<std::uint32_t> elements_{0};
  std::map<std::string, made> arms_;
  std::map<std::string, double> bytes_;  ///< bytes of the last repetition
};

}  // namespace

std::shared_ptr<bench::point> make_emit_point(std::string const& spread) {
  return std::make_shared<emit_point>(kind::emit, spread);
}
std::shared_ptr<bench::point> make_decode_point(std::string const& spread) {
  return std::make_shared<emit_point>(kind::decode, spread);
}

}  // namespace allocation
