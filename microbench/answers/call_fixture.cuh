// SPDX-License-Identifier: Apache-2.0
// The guarded array that kernels call, and one repetition of calls.
#pragma once

#include "microbench/answers/tickets.cuh"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/fused.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <string>

namespace answers {

template <class Executor>
using executor_policy =
    warden::policy<warden::options{.tuning = {.minimum_blocks_per_multiprocessor = 3}}, Executor>;

/// Records, and memory for up to `most` calls.
template <class Executor>
class call_fixture {
 public:
  using guarded_type = warden::basic_guarded<executor_policy<Executor>, std::uint32_t, take_ticket>;

  /// Throws limit_error.
  call_fixture(std::uint32_t keys, std::uint32_t most)
      : workload_{bench::workload::uniform(keys)},
        ids_{most},
        tickets_{most},
        records_{keys},
        oracle_{keys, most},
        guarded_{records_} {
    warden::prepare_fused(guarded_);
  }

  /// Runs `Kernel{calls, more...}` on `grid` virtual blocks and on ids drawn by `seed`; times and
  /// verifies it.
  template <class Kernel, class... More>
  bench::run_result run(std::uint32_t n, std::uint64_t seed, unsigned grid, More... more) {
    workload_.draw(ids_.data(), n, seed);
    records_.fill_bytes(0);
    tickets_.fill_bytes(0xff);
    calls const all{ids_.data(), tickets_.data(), n};
    warden::timer clock;
    clock.start();
    warden::launch_fused(Kernel{all, more...}, grid, guarded_type::policy::block_threads, {},
                         guarded_);
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    guarded_.wait();
    result.verified = oracle_.wrong(all, records_) == 0;
    return result;
  }

  /// Adds the settings of the guarded array to a row.
  void describe(bench::row& r) const {
    r.counters["servers"] = guarded_.servers();
    r.counters["calls_per_thread"] = guarded_type::policy::calls_per_thread;
    r.counters["memory_bytes"] = static_cast<double>(guarded_.memory_bytes());
  }

 private:
  bench::workload workload_;
  warden::buffer<std::uint32_t> ids_, tickets_, records_;
  ticket_oracle oracle_;
  guarded_type guarded_;
};

/// Calls `f.template operator()<Executor>()` with the executor of the arm.
template <class F>
auto with_executor_of(std::string const& arm, F f) {
  return arm == "warden_locks" ? f.template operator()<warden::executor::locks<>>()
                               : f.template operator()<warden::executor::sorted<>>();
}
inline bool has_executor(std::string const& arm) {
  return arm == "warden_locks" || arm == "warden_runs";
}

}  // namespace answers
