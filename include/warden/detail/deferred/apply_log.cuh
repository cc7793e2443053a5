// SPDX-License-Identifier: Apache-2.0
/// @file
/// The log that a guarded array keeps for `apply_async`.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/bulk/bulk_runner.cuh>
#include <warden/detail/deferred/deferred_block.cuh>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/send_async.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/section.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if the executor of a run_ref can run logs.
template <class Run>
concept runs_logs = requires {
  typename Run::executor::template deferred_server<Run>;
};
/// True if `apply_async` of a guarded array goes through a log. Sections on two records do, unless
/// the policy names an executor: they are then a fused launch with that executor.
template <class Policy, class Record, class... Sections>
inline constexpr bool can_be_deferred =
    !is_spread<Policy> &&
    !(sending_section_of<Sections, Record, typename Policy::context> || ...) &&
    (run_ref<Policy, Record, Sections...>::has_pairs
         ? !std::is_same_v<typename run_ref<Policy, Record, Sections...>::executor,
                           typename Policy::executor>
         : runs_logs<run_ref<Policy, Record, Sections...>>);

template <class Policy>
inline constexpr bool runs_member_atomic = requires {
  Policy::executor::runs_member_atomic;
};

/// True if `apply_async` of a guarded array may run without a log: sections on one record combine,
/// whatever their keys, and run by their operator(), not by their member atomic.
template <class Policy, class Record, class... Sections>
inline constexpr bool runs_in_bulk =
    can_combine<Policy, Record, Sections...> && !(has_combine_key<Sections> || ...) &&
    !runs_member_atomic<Policy>;

/// Stands for the bulk runner of sections that have none.
struct no_bulk_runner {
  static constexpr std::size_t bytes() { return 0; }
};
template <bool InBulk, class Policy, class Record, class... Sections>
struct bulk_runner_of {
  using type = no_bulk_runner;
};
template <class Policy, class Record, class Section>
struct bulk_runner_of<true, Policy, Record, Section> {
  static constexpr unsigned most = most_table_threads<partial_of<Section>> / 2;
  using type = bulk_runner<Section, Record, typename Policy::context,
                           std::min(most, 2 * Policy::block_threads), Policy::apply_bytes>;
};

/// Logs of a guarded array, independent of its type.
class apply_log_base {
 public:
  apply_log_base() = default;
  virtual ~apply_log_base() = default;
  apply_log_base(apply_log_base const&) = delete;
  apply_log_base& operator=(apply_log_base const&) = delete;

  /// Returns the device memory of the logs. Units: bytes.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Logs of a guarded array's `apply_async`. The first call makes one, and a call with more sections
/// makes a larger one. The smaller ones stay, because captured graphs may need them. Sections that
/// combine on few records go through no log, but through the tables of a bulk_runner.
template <class Policy, class Record, class... Sections>
class apply_log : public apply_log_base {
  /// No caller can run this log again. So it is empty between calls, also after those that fail.
  struct log : deferred<Policy, Record, Sections...> {
    using base = deferred<Policy, Record, Sections...>;
    log(typename base::guarded_type& of, std::size_t sections, deferred_options const& chosen,
        std::source_location where)
        : base{of, sections, chosen, where} {
      this->drop_if_put_off();
    }
    using base::abandon;
    using base::open_after_failure;
  };
  using ref = typename log::ref_type;
  using guarded = typename log::guarded_type;
  static constexpr bool in_bulk = runs_in_bulk<Policy, Record, Sections...>;

 public:
  [[nodiscard]] std::size_t bytes() const override {
    std::size_t sum = bulk_.bytes();
    for (log const& l : logs_) sum += l.memory_bytes();
    return sum;
  }

  /// Makes room for `n` sections in one run, at most for `Policy::apply_bytes` of messages. Throws
  /// limit_error while the stream `s` is being captured, otherwise as the constructor of a log
  /// does.
  void reserve(guarded& of, std::size_t n, stream_ref s, std::source_location where) {
    if constexpr (in_bulk) {
      auto const facts = runtime::facts(of.device(), where);
      if (bulk_.fits(of.size(), facts)) return bulk_.reserve(of, n, facts, s, where);
    }
    std::size_t const wanted = std::min(std::bit_ceil(std::max(n, least)), most);
    if (!logs_.empty() && logs_.back().capacity() >= wanted) return;
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "apply_async: the stream is being captured into a graph, and there is no log of % "
          "sections yet: call reserve(%) before",
          {wanted, n}, where);
    }
    // In order each batch needs a row. All batches are full, but for the last one of each block.
    auto const facts = runtime::facts(of.device(), where);
    auto const blocks = static_cast<std::size_t>(facts.multiprocessors) *
                        static_cast<std::size_t>(facts.threads_per_multiprocessor) / threads;
    deferred_options const chosen{.batches = wanted / (client::per_thread * threads) + blocks};
    logs_.push_back(log{of, wanted, chosen, where});
  }
  /// Enqueues the section that `f(i)` returns, with its record, for all i of a range, in order, one
  /// full log after another.
  template <class Function>
  void apply(guarded& on, index_range of, Function const& f, stream_ref s,
             std::source_location where) {
    if (of.count() == 0) return;
    reserve(on, of.count(), s, where);
    if constexpr (in_bulk) {
      if (logs_.empty()) return bulk_.run(on, of, f, s, where);
    }
    log& to = logs_.back();
    to.open_after_failure(s, where);
    try {
      // The bulk runner runs sections on records that fit tables.
      send_range<!in_bulk>(to, of, f, s, where);
      to.run(s, where);
    } catch (...) {
      // Earlier pieces than the one that failed may have run.
      to.abandon(of.count() > to.capacity() ? of.count() : 0, s, where);
      throw;
    }
  }

 private:
  static constexpr unsigned threads = log::client_threads;
  using client = bulk_client<ref, threads>;
  static constexpr std::size_t message_bytes = sizeof(typename ref::message_type);
  static constexpr std::size_t most =
      std::bit_floor(std::clamp<std::size_t>(Policy::apply_bytes / message_bytes, 1, 1u << 30));
  static constexpr std::size_t least = std::min<std::size_t>(4096, most);

  std::vector<log> logs_;
  typename bulk_runner_of<in_bulk, Policy, Record, Sections...>::type bulk_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
