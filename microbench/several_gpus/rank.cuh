// SPDX-License-Identifier: Apache-2.0
// What one rank measures: its kernel and its part of the run, and whether each section of all ranks
// on its records has run once.
#pragma once

#include "microbench/contention/operations.cuh"
#include "microbench/several_gpus/points.hpp"
#include "microbench/support/deferred_senders.cuh"
#include "microbench/support/workload.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>
#include <warden/spread.cuh>
#include <warden/timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <source_location>
#include <string>

namespace several_gpus {

namespace simt = warden::simt;

template <class Operation>
struct policy : warden::default_policy {
  using context = typename Operation::context;
  using executor = warden::executor::runs<>;
};

/// Operation i of a rank is operation `first + i` of the whole.
template <class Operation>
struct make_from {
  std::uint32_t first = 0;
  __device__ auto operator()(std::uint32_t i) const {
    return typename Operation::make{}(first + i);
  }
};

/// The records of all, of which a rank knows its own; and the operations on others', which are none
/// of its business.
template <class Share, class Record>
struct own_arguments {
  Share share;
  Record* records;           ///< [id] zeros where another rank has it
  std::uint32_t const* ids;  ///< of all ranks' operations
  std::uint32_t n;           ///< of all ranks
  std::uint32_t* outcomes;   ///< [operation] of those on others' records: `done`
  std::uint32_t done;
};
template <class Share, class Record>
WARDEN_KERNEL void find_own(own_arguments<Share, Record> a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.share.places, [&](std::uint64_t place) {
    std::uint32_t const id = a.share.id(static_cast<std::uint32_t>(place));
    if (id < a.share.total) a.records[id] = a.share.records[place];
  });
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    if (!a.share.has(a.ids[i])) a.outcomes[i] = a.done;
  });
}

/// One rank, for up to `n` operations of each.
template <class Operation>
class rank {
  using record = typename Operation::record;
  using guarded =
      warden::basic_spread_guarded<policy<Operation>, record, typename Operation::section>;
  using log = warden::deferred<typename guarded::policy, record, typename Operation::section>;
  using sender = bench::by_blocks<typename guarded::deferred_ref, make_from<Operation>>;

 public:
  rank(warden::communicator const& world, std::string const& workload, std::uint32_t keys,
       std::uint32_t n, choices const& chosen)
      : n_{n},
        all_{n * static_cast<std::uint32_t>(world.size())},
        first_{n * static_cast<std::uint32_t>(world.rank())},
        workload_{bench::workload::named(workload, keys, "")},
        ids_{all_},
        per_operation_{all_},
        on_{world, keys, Operation::make_context(per_operation_.data())},
        // Skewed ids may bring all there are to one rank.
        later_{
            on_, n, {.partitions = chosen.partitions, .room = workload == "uniform" ? 0 : all_}} {
    if (chosen.has_timeline) later_.record_phases();
  }

  /// Seconds from when all ranks had begun until this one had ended.
  double run(std::uint64_t seed) {
    auto const ranks = static_cast<std::uint32_t>(on_.world().size());
    for (std::uint32_t r = 0; r < ranks; ++r)
      workload_.draw(ids_.data() + std::size_t{r} * n_, n_, seed * ranks + r);
    per_operation_.fill_bytes(0);
    warden::runtime::fill_async(on_.records().data(), 0, on_.records().bytes(), {});
    // Told by all: here they begin.
    on_.wait();
    auto const begin = std::chrono::steady_clock::now();
    send_time_.start();
    sender_.send_async({later_.ref(), ids_.data() + first_, n_, {first_}});
    send_time_.stop();
    later_.run();
    warden::stream_ref{}.synchronize();
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - begin;
    on_.wait();
    return seconds.count();
  }
  /// Seconds of the last run: of its kernel, and from there to the end of each phase. Only if
  /// timed.
  [[nodiscard]] std::map<std::string, double> phases() const {
    std::map<std::string, double> found{{"send", send_time_.result().seconds}};
    auto const ends = later_.phase_ends();
    for (std::size_t p = 0; p < ends.size(); ++p) {
      if (ends[p]) found[to_string(static_cast<warden::run_phase>(p))] = *ends[p];
    }
    return found;
  }
  /// Whether that run was right, as far as this rank's records go.
  bool verify() {
    auto const keys = static_cast<std::uint32_t>(on_.size());
    warden::buffer<record> records{keys};
    warden::buffer<std::uint32_t> seen{all_};
    warden::buffer<std::uint64_t> per_key{std::size_t{2} * keys}, wrong{1};
    records.fill_bytes(0);
    seen.fill_bytes(0);
    per_key.fill_bytes(0);
    wrong.fill_bytes(0);
    bool constexpr pushes = std::is_same_v<Operation, contention::push>;
    auto const share = on_.share();
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&find_own<typename guarded::share_type, record>, blocks, threads, 0,
                 {share, records.data(), ids_.data(), all_,
                  pushes ? seen.data() : per_operation_.data(), pushes ? 1u : 2u},
                 {});
    typename Operation::check_arguments const arguments{
        records.data(),
        ids_.data(),
        all_,
        keys,
        Operation::make_context(per_operation_.data()),
        {seen.data(), per_key.data(), wrong.data()}};
    simt::launch(&contention::first_check<Operation>, blocks, threads, 0, arguments, {});
    simt::launch(&contention::second_check<Operation>, blocks, threads, 0, arguments, {});
    return wrong.to_host()[0] == 0;
  }

 private:
  std::uint32_t n_, all_, first_;
  bench::workload workload_;
  warden::buffer<std::uint32_t> ids_, per_operation_;  ///< of all ranks
  guarded on_;
  log later_;
  sender sender_;
  warden::timer send_time_;
};

}  // namespace several_gpus
