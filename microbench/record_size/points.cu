// SPDX-License-Identifier: Apache-2.0
// Points, by size and number of records, and the arm without Warden.

#include "microbench/record_size/points.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/baseline.cuh>
#include <warden/buffer.hpp>
#include <warden/section.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

namespace record_size {
namespace {

namespace simt = warden::simt;

template <unsigned Bytes>
class lock_tuned final : public arm {
 public:
  lock_tuned(record<Bytes>* records, std::uint32_t keys) : records_{records}, locks_{keys} {}
  std::string prepare(std::uint32_t const* ids, std::uint32_t n) override {
    choice_ = warden::baseline::tune_locks(work_of(ids, n), locks_);
    return to_string(choice_);
  }
  void run_async(std::uint32_t const* ids, std::uint32_t n) override {
    warden::baseline::lock_tuned_async(work_of(ids, n), locks_, choice_);
  }
  void wait() override { locks_.wait(); }

 private:
  using work = warden::baseline::work<record<Bytes>, make_add, warden::no_context>;
  work work_of(std::uint32_t const* ids, std::uint32_t n) const {
    return {records_, ids, n, {}, {}};
  }

  record<Bytes>* records_;
  warden::baseline::lock_array locks_;
  warden::baseline::lock_choice choice_;
};

/// Arguments of the oracle.
template <unsigned Bytes>
struct check_arguments {
  record<Bytes> const* records;
  std::uint32_t const* ids;
  std::uint32_t n, keys;
  std::uint32_t* sums;    ///< [key] sum of the amounts
  std::uint32_t* counts;  ///< [key] number of operations
  std::uint64_t* wrong;
};
template <unsigned Bytes>
WARDEN_KERNEL void count_operations(check_arguments<Bytes> a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    simt::fetch_add(&a.sums[a.ids[i]], make_add{}(static_cast<std::uint32_t>(i)).amount);
    simt::fetch_add(&a.counts[a.ids[i]], 1u);
  });
}
/// Checks that every word got every operation of its record once.
template <unsigned Bytes>
WARDEN_KERNEL void compare_records(check_arguments<Bytes> a) {
  simt::assume_one_dimension();
  constexpr unsigned words = record<Bytes>::words;
  bench::for_each_of(std::uint64_t{a.keys} * words, [&](std::uint64_t i) {
    std::uint64_t const key = i / words;
    auto const w = static_cast<unsigned>(i % words);
    if (a.records[key].word[w] != a.sums[key] + w * a.counts[key])
      simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

template <unsigned Bytes>
class point_of final : public bench::timed_point {
 public:
  explicit point_of(std::uint32_t keys) : workload_{bench::workload::uniform(keys)} {}

  [[nodiscard]] bool has(std::string const&) const override { return true; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "add_to_" + std::to_string(Bytes) + "_bytes/" + workload_.name() + "/" + arm +
           "/keys:" + std::to_string(workload_.keys());
  }

 private:
  struct memory {
    memory(std::uint32_t operations, std::uint32_t keys)
        : records{keys}, ids{operations}, sums{keys}, counts{keys} {}
    warden::buffer<record<Bytes>> records;
    warden::buffer<std::uint32_t> ids, sums, counts;
    warden::buffer<std::uint64_t> wrong{1};
  };

  void set_up(std::uint32_t operations) override { memory_.emplace(operations, workload_.keys()); }
  void prepare(std::string const& arm, std::uint32_t operations, bench::row& r) override {
    workload_.draw(memory_->ids.data(), operations, 1);
    memory_->records.fill_bytes(0);
    r.settings = arm_of(arm).prepare(memory_->ids.data(), operations);
  }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    class arm& by = arm_of(arm);
    workload_.draw(memory_->ids.data(), n, seed);
    memory_->records.fill_bytes(0);
    warden::timer clock;
    clock.start();
    by.run_async(memory_->ids.data(), n);
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    by.wait();
    result.verified = verify(n);
    return result;
  }
  void tear_down() override {
    arms_.clear();
    memory_.reset();
  }

  class arm& arm_of(std::string const& name) {
    auto& made = arms_[name];
    if (!made) {
      auto* const records = memory_->records.data();
      std::uint32_t const keys = workload_.keys();
      if (name == "lock_tuned") {
        made = std::make_unique<lock_tuned<Bytes>>(records, keys);
      } else if (name == "warden_locks") {
        made = make_warden_locks(records, keys);
      } else {
        made = make_warden_runs(records, keys);
      }
    }
    return *made;
  }

  bool verify(std::uint32_t n) {
    memory_->sums.fill_bytes(0);
    memory_->counts.fill_bytes(0);
    memory_->wrong.fill_bytes(0);
    check_arguments<Bytes> const arguments{
        memory_->records.data(), memory_->ids.data(),  n, workload_.keys(), memory_->sums.data(),
        memory_->counts.data(),  memory_->wrong.data()};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&count_operations<Bytes>, blocks, threads, 0, arguments, {});
    simt::launch(&compare_records<Bytes>, blocks, threads, 0, arguments, {});
    return memory_->wrong.to_host()[0] == 0;
  }

  bench::workload workload_;
  std::optional<memory> memory_;
  std::map<std::string, std::unique_ptr<class arm>> arms_;
};

}  // namespace

std::shared_ptr<bench::point> make_point(unsigned bytes, std::uint32_t keys) {
  switch (bytes) {
    case 8:
      return std::make_shared<point_of<8>>(keys);
    case 32:
      return std::make_shared<point_of<32>>(keys);
    case 128:
      return std::make_shared<point_of<128>>(keys);
    case 1024:
      return std::make_shared<point_of<1024>>(keys);
    default:
      throw std::logic_error{"no records of " + std::to_string(bytes) + " bytes"};
  }
}

}  // namespace record_size
