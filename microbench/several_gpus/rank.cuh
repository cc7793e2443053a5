// SPDX-License-Identifier: Apache-2.0
// One rank: its kernel, its part of the run, and a check that each section on its records, of all
// ranks, ran once.
#pragma once

#include "microbench/contention/oracle.cuh"
#include "microbench/several_gpus/all_ids.cuh"
#include "microbench/several_gpus/points.hpp"
#include "microbench/several_gpus/seconds_of.hpp"
#include "microbench/support/deferred_senders.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>
#include <warden/spread.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

namespace several_gpus {

namespace simt = warden::simt;

template <class Operation, warden::placement Where>
using policy =
    warden::policy<warden::options{.records = Where}, warden::context<typename Operation::context>,
                   warden::executor::sorted<>>;

/// Makes the sections of one rank: its operation i is operation `first + i` of all ranks.
template <class Operation>
struct make_from {
  std::uint32_t first = 0;
  __device__ auto operator()(std::uint32_t i) const {
    return typename Operation::make{}(first + i);
  }
};

/// Arguments of the check on one rank, which has a share of the records.
template <class Operation, class Share>
struct own_arguments {
  typename Operation::check_arguments all;
  Share share;
  typename Operation::record* records;  ///< [id] zeros if another rank has the record
};
/// Makes the checks treat operation i, on a record of another rank, as run.
template <class Operation, class Share>
WARDEN_DEVICE void assume_run(own_arguments<Operation, Share> const& a, std::uint32_t i) {
  if constexpr (std::is_same_v<Operation, contention::push>) {
    a.all.memory.per_operation[i] = 1;
  } else if constexpr (std::is_same_v<Operation, contention::update>) {
    a.all.result.outcome[i] = 2;
  } else {
    typename Operation::make{}(i).atomic(&a.records[a.all.ids[i]], a.all.result);
  }
}
template <class Operation, class Share>
WARDEN_KERNEL void find_own(own_arguments<Operation, Share> a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.share.places, [&](std::uint64_t place) {
    std::uint32_t const id = a.share.id(static_cast<std::uint32_t>(place));
    if (id < a.share.total) a.records[id] = a.share.records[place];
  });
  bench::for_each_of(a.all.n, [&](std::uint64_t i) {
    if (!a.share.has(a.all.ids[i])) assume_run(a, static_cast<std::uint32_t>(i));
  });
}

/// A rank with `n` operations. The records are `Where` while a run executes their sections.
template <class Operation, warden::placement Where = warden::placement::in_memory>
class rank {
  using record = typename Operation::record;
  using guarded =
      warden::basic_spread_guarded<policy<Operation, Where>, record, typename Operation::section>;
  using log = warden::deferred<typename guarded::policy, record, typename Operation::section>;
  using sender = bench::block_sender<typename guarded::deferred_ref, make_from<Operation>>;

 public:
  static constexpr char const* name = Operation::name;

  rank(warden::communicator const& world, std::string const& workload, std::uint32_t keys,
       std::uint32_t n, choices const& chosen)
      : ids_{world, workload, keys, n},
        per_operation_{ids_.all()},
        on_{world, keys, Operation::make_context(per_operation_.data())},
        // With skewed ids, one rank may receive the sections of all ranks.
        later_{on_,
               n,
               {.partitions = chosen.partitions, .room = workload == "uniform" ? 0 : ids_.all()}} {
    if (chosen.has_timeline) later_.record_phases();
  }

  /// Returns the seconds from the start of all ranks to the end of this rank.
  double run(std::uint64_t seed) {
    ids_.draw(seed);
    per_operation_.fill_bytes(0);
    warden::runtime::fill_async(on_.records().data(), 0, on_.records().bytes(), {});
    // Barrier: all ranks start after it.
    on_.wait();
    double const seconds = seconds_of([&] {
      send_time_.start();
      sender_.send_async({later_.ref(), ids_.own(), ids_.each(), {ids_.first()}});
      send_time_.stop();
      later_.run();
    });
    on_.wait();
    return seconds;
  }
  /// Seconds of the last run: of the kernel, and from the end of the kernel to the end of each
  /// phase. Phases are missing unless they were recorded.
  [[nodiscard]] std::map<std::string, double> phases() const {
    std::map<std::string, double> found{{"send", send_time_.result().seconds}};
    auto const ends = later_.phase_ends();
    for (std::size_t p = 0; p < ends.size(); ++p) {
      if (ends[p]) found[to_string(static_cast<warden::run_phase>(p))] = *ends[p];
    }
    return found;
  }
  /// Returns true if the last `run` was right on the records of this rank.
  bool verify() {
    auto const keys = static_cast<std::uint32_t>(on_.size());
    warden::buffer<record> records{keys};
    records.fill_bytes(0);
    auto const find = [&](typename Operation::check_arguments const& all) {
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&find_own<Operation, typename guarded::share_type>, blocks, threads, 0,
                   {all, on_.share(), records.data()}, {});
    };
    return contention::oracle<Operation>{ids_.all(), keys}.verify(
        records.data(), ids_.data(), ids_.all(), Operation::make_context(per_operation_.data()),
        find);
  }

 private:
  all_ids ids_;
  warden::buffer<std::uint32_t> per_operation_;  ///< operations of all ranks
  guarded on_;
  log later_;
  sender sender_;
  warden::timer send_time_;
};

}  // namespace several_gpus
