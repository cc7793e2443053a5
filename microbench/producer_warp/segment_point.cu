// SPDX-License-Identifier: Apache-2.0
// Points of runs of a log, their inputs and their reference.

#include "microbench/producer_warp/points.hpp"
#include "microbench/producer_warp/segments.hpp"
#include "microbench/support/device.cuh"
#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace producer_warp {
namespace {

namespace simt = warden::simt;

/// Formulas of a log.
struct log_formulas {
  std::uint32_t partitions, records, batch;  ///< batch: messages, a power of two
  std::uint64_t seed;

  /// Begin of a partition's segment in a batch. Segments have up to twice the mean length.
  WARDEN_HOST_DEVICE std::uint32_t offset(std::uint32_t partition, std::uint32_t row) const {
    std::uint32_t const mean = batch / partitions;
    if (partition == 0 || partition == partitions) return partition * mean;
    return partition * mean +
           static_cast<std::uint32_t>(
               bench::mix(std::uint64_t{row} * partitions + partition, seed) % mean);
  }
  /// Partition of a message of a batch.
  WARDEN_HOST_DEVICE std::uint32_t partition_of(std::uint32_t row, std::uint32_t in_batch) const {
    std::uint32_t const near = in_batch / (batch / partitions);
    return in_batch < offset(near, row) ? near - 1 : near;
  }
  /// Message at a place. The outcomes of a batch are next to each other, in another order than its
  /// messages.
  WARDEN_HOST_DEVICE message at(std::uint32_t place) const {
    std::uint64_t const value = bench::mix(place, ~seed);
    std::uint32_t const in_batch = place % batch;
    return {static_cast<std::uint32_t>(value % records),
            place - in_batch + (in_batch * 1665 + 7) % batch, value};
  }
  WARDEN_HOST_DEVICE static std::uint32_t outcome(message const& m) {
    return static_cast<std::uint32_t>(m.value >> 32) ^ m.local;
  }
};

struct log_arguments {
  log_formulas by;
  segments log;
  std::uint32_t* expected;  ///< [partition][record]
  std::uint64_t* wrong;     ///< number of wrong sums and outcomes
};
WARDEN_KERNEL void draw_log(log_arguments const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.log.rows, [&](std::uint64_t r) {
    auto const row = static_cast<std::uint32_t>(r);
    a.log.begins[row] = row * a.by.batch;
    for (std::uint32_t p = 0; p <= a.by.partitions; ++p) {
      a.log.offsets[std::size_t{p} * a.log.rows + row] =
          static_cast<std::uint16_t>(a.by.offset(p, row));
    }
  });
  bench::for_each_of(a.log.places, [&](std::uint64_t i) {
    auto const place = static_cast<std::uint32_t>(i);
    message const m = a.log.pool[place] = a.by.at(place);
    std::uint32_t const partition = a.by.partition_of(place / a.by.batch, place % a.by.batch);
    simt::fetch_add(&a.expected[std::size_t{partition} * a.by.records + m.local],
                    static_cast<std::uint32_t>(m.value));
  });
}
WARDEN_KERNEL void check_results(log_arguments const a) {
  simt::assume_one_dimension();
  bench::for_each_of(std::uint64_t{a.by.partitions} * a.by.records, [&](std::uint64_t i) {
    if (a.log.sums[i] != a.expected[i]) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
  bench::for_each_of(a.log.places, [&](std::uint64_t i) {
    message const m = a.by.at(static_cast<std::uint32_t>(i));
    if (a.log.outcomes[m.index] != log_formulas::outcome(m))
      simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

class segment_point final : public bench::timed_point {
 public:
  segment_point(point_options const& options, abilities const& device)
      : options_{options}, device_{device} {
    auto const facts = warden::runtime::facts(warden::runtime::current_device());
    // As many partitions as runs have by default.
    shape_.partitions = std::bit_floor(static_cast<unsigned>(facts.multiprocessors));
    shape_.batch = facts.simulated ? 64 : 4096;
    shape_.records = facts.simulated ? 16 : 1024;
  }

  [[nodiscard]] bool has(std::string const& arm) const override {
    auto const names = segment_arm_names();
    return std::find(names.begin(), names.end(), arm) != names.end() &&
           (stages_of(arm) == 0 || device_.bulk_copies);
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return options_.operation + "/partitions" + std::to_string(shape_.partitions) + "/" + arm +
           "/keys:" + std::to_string(options_.elements);
  }

 private:
  [[nodiscard]] std::uint32_t operations() const override { return whole(options_.elements); }
  void set_up(std::uint32_t operations) override {
    std::size_t const rows = operations / shape_.batch;
    std::size_t const records = std::size_t{shape_.partitions} * shape_.records;
    pool_ = warden::buffer<message>{operations};
    offsets_ = warden::buffer<std::uint16_t>{(shape_.partitions + 1) * rows};
    begins_ = warden::buffer<std::uint32_t>{rows};
    sums_ = warden::buffer<std::uint32_t>{records};
    expected_ = warden::buffer<std::uint32_t>{records};
    outcomes_ = warden::buffer<std::uint32_t>{operations};
  }
  /// Compares the arm's results with a reference that the host computes once for all arms.
  void prepare(std::string const& arm, std::uint32_t operations, bench::row& r) override {
    bool const good = run(arm, operations, reference_seed).verified;
    if (sums_by_host_.empty()) {
      log_formulas const by = formulas_of(reference_seed);
      sums_by_host_.resize(sums_.size());
      outcomes_by_host_.resize(outcomes_.size());
      for (std::uint32_t i = 0; i < whole(operations); ++i) {
        message const m = by.at(i);
        std::uint32_t const partition = by.partition_of(i / by.batch, i % by.batch);
        sums_by_host_[std::size_t{partition} * by.records + m.local] +=
            static_cast<std::uint32_t>(m.value);
        outcomes_by_host_[m.index] = log_formulas::outcome(m);
      }
    }
    r.verified = r.verified && good && sums_.to_host() == sums_by_host_ &&
                 outcomes_.to_host() == outcomes_by_host_;
  }
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    std::uint32_t const n = whole(operations);
    auto const [blocks, threads] = bench::shape_of_helpers();
    segments const log{pool_.data(),     offsets_.data(),   begins_.data(),
                       sums_.data(),     outcomes_.data(),  n,
                       n / shape_.batch, shape_.partitions, shape_.records};
    log_arguments const all{formulas_of(seed), log, expected_.data(), wrong_.data()};
    for (auto* const results : {&expected_, &sums_, &outcomes_}) results->fill_bytes(0);
    wrong_.fill_bytes(0);
    simt::launch(&draw_log, blocks, threads, 0, all, {});
    auto const enqueue = plan_of_segments(arm, log, options_.stage_bytes);
    bench::run_result result;
    result.cost = bench::device_time(enqueue);
    simt::launch(&check_results, blocks, threads, 0, all, {});
    result.verified = wrong_.to_host()[0] == 0;
    return result;
  }
  void finish(std::string const&, bench::row& r) override {
    if (r.seconds > 0) {
      r.counters["moved_bytes_per_second"] =
          (sizeof(message) + sizeof(std::uint32_t)) * static_cast<double>(r.operations) / r.seconds;
    }
  }
  void tear_down() override {
    pool_ = warden::buffer<message>{};
    offsets_ = warden::buffer<std::uint16_t>{};
    for (auto* const array : {&begins_, &outcomes_, &sums_, &expected_})
      *array = warden::buffer<std::uint32_t>{};
    sums_by_host_ = outcomes_by_host_ = {};
  }

  [[nodiscard]] log_formulas formulas_of(std::uint64_t seed) const {
    log_formulas by = shape_;
    by.seed = seed;
    return by;
  }
  /// Returns the number of messages in whole batches.
  [[nodiscard]] std::uint32_t whole(std::uint32_t messages) const {
    return (messages + shape_.batch - 1) / shape_.batch * shape_.batch;
  }

  static constexpr std::uint64_t reference_seed = 1;
  point_options options_;
  abilities device_;
  log_formulas shape_{};
  warden::buffer<message> pool_;
  warden::buffer<std::uint16_t> offsets_;
  warden::buffer<std::uint32_t> begins_, outcomes_, sums_, expected_;
  warden::buffer<std::uint64_t> wrong_{1};
  std::vector<std::uint32_t> sums_by_host_, outcomes_by_host_;  ///< results by `reference_seed`
};

}  // namespace

std::shared_ptr<bench::point> make_segment_point(point_options const& options,
                                                 abilities const& device) {
  return std::make_shared<segment_point>(options, device);
}

}  // namespace producer_warp
