// SPDX-License-Identifier: Apache-2.0
// Points, by input, and their oracle.

#include "microbench/bank_conflicts/points.hpp"

#include "microbench/bank_conflicts/arms.hpp"
#include "microbench/bank_conflicts/inputs.hpp"
#include "microbench/support/device.cuh"
#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bank_conflicts {
namespace {

namespace simt = warden::simt;

struct drawing {
  std::uint32_t const* order;  ///< keys of each tile; null: random
  std::uint32_t* keys;
  std::uint64_t n, seed;
};
WARDEN_KERNEL void draw(drawing const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    a.keys[i] = a.order == nullptr ? static_cast<std::uint32_t>(bench::mix(i, a.seed))
                                   : a.order[i % tile_keys];
  });
}

struct checking {
  tiles of;
  std::uint64_t* wrong;  ///< number of tiles that are not sorted, or have other keys
};
WARDEN_KERNEL void check(checking const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.of.count, [&](std::uint64_t tile) {
    std::uint32_t const* const before = a.of.keys + tile * tile_keys;
    std::uint32_t const* const after = a.of.sorted + tile * tile_keys;
    // Equal sums of hashes: the same keys, each as often.
    std::uint64_t sum = 0;
    bool is_sorted = true;
    for (unsigned i = 0; i < tile_keys; ++i) {
      sum += bench::mix(before[i], 1) - bench::mix(after[i], 1);
      is_sorted = is_sorted && (i == 0 || after[i - 1] <= after[i]);
    }
    if (sum != 0 || !is_sorted) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

class sort_point final : public bench::timed_point {
 public:
  explicit sort_point(std::string input) : input_{std::move(input)} { arms_.merge(block_sorts()); }

  [[nodiscard]] bool has(std::string const& arm) const override { return arms_.contains(arm); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "sort/" + input_ + "/" + arm + "/keys:" + std::to_string(tile_keys);
  }

 private:
  void set_up(std::uint32_t operations) override {
    std::vector<std::uint32_t> const order = keys_of(input_);
    if (!order.empty()) order_ = warden::buffer<std::uint32_t>{order};
    std::size_t const keys = rounded(operations);
    keys_ = warden::buffer<std::uint32_t>{keys};
    sorted_ = warden::buffer<std::uint32_t>{keys};
  }
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    std::uint64_t const n = rounded(operations);
    auto const [blocks, threads] = bench::shape_of_helpers();
    bool const is_random = order_.size() == 0;
    simt::launch(&draw, blocks, threads, 0,
                 {is_random ? nullptr : order_.data(), keys_.data(), n, seed}, {});
    sorted_.fill_bytes(0xff);
    wrong_.fill_bytes(0);
    tiles const all{keys_.data(), sorted_.data(), static_cast<std::uint32_t>(n / tile_keys)};
    bench::run_result result;
    result.cost = bench::device_time([&] { arms_.at(arm)(all); });
    simt::launch(&check, blocks, threads, 0, {all, wrong_.data()}, {});
    result.verified = wrong_.to_host()[0] == 0;
    return result;
  }
  void tear_down() override {
    order_ = warden::buffer<std::uint32_t>{0};
    keys_ = warden::buffer<std::uint32_t>{0};
    sorted_ = warden::buffer<std::uint32_t>{0};
  }
  /// Returns the number of keys in whole tiles.
  [[nodiscard]] static std::uint64_t rounded(std::uint32_t operations) {
    return (std::uint64_t{operations} + tile_keys - 1) / tile_keys * tile_keys;
  }

  std::string input_;
  sort_arms arms_ = warp_sorts();
  warden::buffer<std::uint32_t> order_{0}, keys_{0}, sorted_{0};
  warden::buffer<std::uint64_t> wrong_{1};
};

}  // namespace

std::shared_ptr<bench::point> make_point(std::string const& input) {
  return std::make_shared<sort_point>(input);
}

}  // namespace bank_conflicts
