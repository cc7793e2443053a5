// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hash table whose buckets are spread over the GPUs of a job.
#pragma once

#include "apps/hash_table/log.cuh"
#include "apps/hash_table/sections.cuh"
#include "apps/hash_table/send.cuh"
#include "apps/hash_table/storage.cuh"

#include <warden/runtime.hpp>
#include <warden/spread.cuh>

#include <cstddef>
#include <cstdint>
#include <source_location>

namespace hash_table {

/// Counts keys of any rank. All ranks construct it, run it and wait for it. Each rank sends its own
/// keys and has the entries of its own buckets.
template <class Key, class Value, class Keys = integer_keys<Key>>
class spread_table {
  using count = typename sections<Key, Value, Keys>::count;
  using record = bucket<Key, Value>;
  using log_policy = detail::log_policy<table_policy, record, table_context<Key, Value, Keys>,
                                        warden::placement::in_memory, count>;
  using guarded = warden::basic_spread_guarded<log_policy, record, count>;
  using log_type = warden::deferred<typename guarded::policy, record, count>;
  using ref_type = operations_ref<typename log_type::ref_type, Key, Value, Keys>;

 public:
  /// `o` says how large the whole is; each rank has as many overflow nodes. For `most` operations
  /// of all ranks at a time, which may all be one rank's, and for one rank's buckets. Throws as
  /// table does.
  spread_table(warden::communicator const& world, table_options o, Keys keys, std::size_t most,
               std::source_location where = std::source_location::current())
      : options_{storage<Key, Value, Keys>::checked(o, where)},
        overflow_{options_.overflow, keys},
        on_{world, options_.buckets, overflow_.device_context(options_.buckets), {}, where},
        log_{on_, most, {.partitions = options_.partitions, .room = most}, where} {
    clear_async();
  }

  /// Empties this rank's buckets and forgets its totals; enqueued.
  void clear_async() {
    warden::runtime::fill_async(on_.records().data(), 0, on_.records().bytes(), {});
    overflow_.clear_async({});
  }
  /// Adds 1 to each key's value; a new key's value is 1. Device memory; Keys until the next `run`
  /// are as many as it was made for, at most.
  void count_async(Key const* keys, std::uint32_t n) {
    if (n == 0) return;
    ref_type const ref{log_.ref(), overflow_.device_context(options_.buckets)};
    detail::send_async<table_policy>(ref, without_value<count, Key>{keys}, 0, n, {});
  }
  /// Runs the operations that all ranks have sent. Collective, as warden::deferred::run.
  void run(std::source_location where = std::source_location::current()) { log_.run({}, where); }
  /// Blocks the host until the run is done on all ranks. Throws its error.
  void wait(std::source_location where = std::source_location::current()) {
    warden::error_list found;
    found.collect([&] { on_.wait({}, where); });
    found.collect([&] { overflow_.check_pool({}, where); });
    found.throw_all(where);
  }

  /// Returns the outcomes of the operations on this rank's buckets; blocks the host.
  [[nodiscard]] totals counts() const { return overflow_.counts(); }
  /// Calls `f(key, value)` on the device for every entry of this rank's buckets, many at a time.
  /// Enqueued; valid only after `wait`.
  template <class F>
  void for_each_async(F f) const {
    auto const& buckets = on_.records();
    // Places without a bucket are empty.
    table_view<Key, Value, Keys> const view{
        buckets.data(), overflow_.device_context(static_cast<std::uint32_t>(buckets.size()))};
    simt::launch(&detail::visit_kernel<table_view<Key, Value, Keys>, F>, apps::blocks(),
                 apps::threads(), 0, {view, f}, {});
  }

 private:
  table_options options_;
  overflow_memory<Key, Value, Keys> overflow_;
  guarded on_;
  log_type log_;
};

}  // namespace hash_table
