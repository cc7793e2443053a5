// SPDX-License-Identifier: Apache-2.0
/// @file
/// The guarded array: the host object through which critical sections reach an array of records.
#pragma once

#include <warden/detail/block/device_range.cuh>
#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/section_sources.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/check_sections.cuh>
#include <warden/detail/deferred/apply_log.cuh>
#include <warden/detail/deferred/client_storage.cuh>
#include <warden/detail/deterministic/apply_tree.cuh>
#include <warden/detail/deterministic/tree_checks.cuh>
#include <warden/detail/deterministic/tree_log_runner.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/guarded_options.hpp>
#include <warden/detail/execute/guarded_state.cuh>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/execute/statistics.cuh>
#include <warden/error.hpp>
#include <warden/policy.cuh>
#include <warden/section.cuh>
#include <warden/stream.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>

/// @namespace warden
/// The library. Begin with guarded, launch_fused and block_client.
///
/// [Wang 2020] is Kai Wang, Improving Efficiency for GPUs with Decoupled Delegate (dissertation,
/// The University of Texas at Austin, 2020). Chapter 4 of it describes the method that the library
/// implements.
WARDEN_NAMESPACE_BEGIN

// Defined by warden/deferred.cuh.
template <class Policy, class Record, class... Sections>
class deferred_ref;
// Defined by warden/fused.cuh.
template <class Ref>
class thread_client;
template <class Ref>
class block_client;
namespace detail {
/// Enqueues a fused launch that sends what `f(i)` returns for all i of a range.
template <class Guarded, class Function>
void launch_apply(Guarded& to, index_range of, Function const& f, stream_ref s,
                  std::source_location where);
}  // namespace detail

/// Runs critical sections of the given types on an array of records; each record's owner thread or
/// owner block executes them. Moves, does not copy. Lives on the device that is current at
/// construction. A guarded array takes part in one launch at a time: concurrent launches are not
/// supported. [Wang 2020, section 4.2]
template <class Policy, class Record, class... Sections>
class basic_guarded : detail::section_checks<Policy, Record, Sections...>,
                      detail::tree_checks<Policy, Record, Sections...>,
                      public detail::guarded_state<Policy, Record, Sections...> {
  using base = detail::guarded_state<Policy, Record, Sections...>;

 public:
  /// Policy that the guarded array was tuned by.
  using policy = Policy;
  /// Type of one protected item.
  using record = Record;
  /// Type of the read-only object that every section gets in addition to its record.
  using context = typename Policy::context;
  /// Argument that `launch_fused` gives to a kernel.
  using ref = typename base::ref;
  /// Client for one thread in any control flow.
  using thread_client = warden::thread_client<ref>;
  /// Client for a whole block.
  using block_client = warden::block_client<ref>;
  /// Argument of a kernel that defers sections.
  using deferred_ref = warden::deferred_ref<Policy, Record, Sections...>;
  /// Client of a log, for blocks of `Threads` threads. Its storage has up to `Bytes` bytes.
  template <unsigned Threads, std::size_t Bytes = static_storage_bytes>
  using deferred_block = warden::deferred_block<deferred_ref, Threads, Bytes>;
  /// Choices made at construction.
  using options = guarded_options;

  /// Guards `size` records at `records`. Precondition: `records` is device memory that outlives the
  /// guarded array. The first launch_fused makes the channels. Blocks the host. Throws cuda_error
  /// when memory is short, and limit_error for a time limit out of range. The first launch_fused
  /// checks the other options.
  basic_guarded(Record* records, std::size_t size, context sections_context = {},
                options chosen = {}, std::source_location where = std::source_location::current()) {
    static_assert(std::is_same_v<typename Policy::owner_map, interleaved_owner_map>,
                  "warden: the policy names warden::owners<Map>: give the guarded array a Map");
    begin(records, size, sections_context, chosen, where);
  }
  /// Guards records with owners that the user chooses. The map's number of servers replaces the
  /// options' number of servers.
  basic_guarded(Record* records, std::size_t size, context sections_context, options chosen,
                typename Policy::owner_map owners,
                std::source_location where = std::source_location::current()) {
    begin(records, size, sections_context, chosen, where);
    has_owners_ = true;
    owners_ = owners;
  }
  /// Guards records whose sections need no context.
  basic_guarded(
      Record* records, std::size_t size, options chosen,
      caller_line line = std::source_location::current()) requires std::is_empty_v<context>
      : basic_guarded{records, size, context{}, chosen, line.where} {}
  /// Guards all records of a contiguous range in device memory, for example a warden::buffer, a
  /// thrust::device_vector or a span. Precondition: the memory outlives the guarded array.
  template <device_range<Record> Range>
  basic_guarded(Range&& records, context sections_context = {}, options chosen = {},
                std::source_location where = std::source_location::current())
      : basic_guarded{detail::data_of(records), static_cast<std::size_t>(records.size()),
                      sections_context, chosen, where} {}
  /// Guards all records of a contiguous range, whose sections need no context.
  template <device_range<Record> Range>
  basic_guarded(
      Range&& records, options chosen,
      caller_line line = std::source_location::current()) requires std::is_empty_v<context>
      : basic_guarded{detail::data_of(records), static_cast<std::size_t>(records.size()), context{},
                      chosen, line.where} {}

  /// A moved-from object may only be destroyed or assigned to.
  basic_guarded(basic_guarded&&) noexcept = default;
  /// A moved-from object may only be destroyed or assigned to.
  basic_guarded& operator=(basic_guarded&&) noexcept = default;
  basic_guarded(basic_guarded const&) = delete;
  basic_guarded& operator=(basic_guarded const&) = delete;

  /// Blocks the host until all work of the stream and all launches and log runs of the guarded
  /// array are done, in all streams, destroyed ones included. Every accepted section has then
  /// executed. Captured launches and runs are not waited for: pass the stream of the last replay as
  /// `s`, or wait for the replays first.
  ///
  /// Throws everything that went wrong since the last call as one exception, of the most severe
  /// type. `error::all` lists all kinds.
  /// - cuda_error: the device failed.
  /// - timeout_error: a launch or run of this guarded array was stopped, or did not run because
  ///   another guarded array of the launch had failed. Records may then be partly updated.
  /// - limit_error: all other errors, such as bad ids, messages never flushed, and runs that were
  ///   put off or skipped.
  ///
  /// The guarded array is usable again afterwards.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device_, where};
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "wait: the stream is being captured into a graph; call wait after launching the graph",
          {}, where);
    }
    s.synchronize(where);
    state_->last_work.synchronize(where);  // mutation: last-launch
    ++state_->waits;
    error_list found;
    // Errors found before the device fails are thrown together with the device's error.
    found.collect([&] { find_errors(found, s, where); });
    found.throw_all(where);
  }

  /// Enqueues `sections[i]` on record `ids[i]` for all i < n, without a kernel of the user. Shape:
  /// `ids` and `sections` are [n] in device memory. Precondition: both arrays stay alive until the
  /// stream has executed the work.
  ///
  /// Sections that can be deferred go through a log that the guarded array keeps, in pieces of the
  /// policy's `apply_bytes`. With order::sequential they run as in a loop over i. With
  /// order::deterministic they need no log and are combined, in pieces of 2^30. Without an order,
  /// sections that combine on few records need no log: each record gets one section per call.
  /// Sections that send sections, and sections of an executor that runs no logs, become a fused
  /// launch, which needs warden/fused.cuh. The work runs after the previous call's run, whatever
  /// stream that call used. Without a large enough log the call makes one, which waits for the
  /// device: see `reserve`. Throws as launch_fused and deferred do, and limit_error for a null
  /// pointer if n is not 0. After a call that threw, or that `wait` reports as put off, none of its
  /// sections has run or will run, unless `wait` reports that messages may not have run. `wait`
  /// reports the number of ids outside the records, and the lowest i with one.
  template <class Section>
  void apply_async(std::uint32_t const* ids, Section const* sections, std::size_t n,
                   stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    demand_memory("apply_async: sections", sections, n, where);
    apply_async(ids, n, detail::stored_sections<Section>{sections}, s, where);
  }
  /// Enqueues sections on two records each, `firsts[i]` and `seconds[i]`. They go through the log,
  /// in rounds, which needs warden/deferred_pairs.cuh. If the policy names the executor
  /// pair_messages or locks they become a fused launch.
  template <class Section>
  void apply_async(std::uint32_t const* firsts, std::uint32_t const* seconds,
                   Section const* sections, std::size_t n, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    demand_memory("apply_async: sections", sections, n, where);
    apply_async(firsts, seconds, n, detail::stored_sections<Section>{sections}, s, where);
  }
  /// Enqueues the section that `f(i)` returns on record `ids[i]` for all i < n. `f` is a function
  /// object or a `__device__` lambda (nvcc needs `--extended-lambda`). It returns a section, or a
  /// `warden::nothing_or<Section>` if some i send nothing, and is called once for each i. Otherwise
  /// as for an array of sections.
  ///
  /// With order::deterministic `f(i)` may be called several times, and returns the same each time.
  /// If lanes run a section together, each lane may hold another part of it: `f(i, group)`, with a
  /// lane_group, returns the part of the calling lane, and `combine` combines equal lanes' parts.
  template <class Function>
  void apply_async(std::uint32_t const* ids, std::size_t n, Function const& f, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    demand_memory("apply_async: ids", ids, n, where);
    apply(n, detail::to_ids<1, Function>{{ids}, f}, s, where);
  }
  /// Enqueues a section on each record that `ids` names, as the other forms do. `ids` is a
  /// contiguous range of 32-bit unsigned ids in device memory, for example a warden::buffer. Shape:
  /// [n]. `source` is
  /// - a range of sections in device memory. Shape: [n].
  /// - a range of values in device memory, of which the only section type is made: section number i
  ///   is `Section{values[i]}`, which sets all of its members. Shape: [n].
  /// - a function `f`, as above.
  ///
  /// Precondition: the memory of the ranges stays alive until the stream has executed the work.
  /// Throws limit_error if the ranges have different sizes.
  template <detail::id_range Ids, class Source>
  requires(!std::convertible_to<Source const&, stream_ref>) void apply_async(
      Ids const& ids, Source const& source, stream_ref s = {},
      std::source_location where = std::source_location::current()) {
    static_assert(!detail::is_host_container<Source>,
                  "warden: the ranges of apply_async are in device memory: copy a std::vector or "
                  "std::array to a warden::buffer");
    std::size_t const n = ids.size();
    if constexpr (detail::any_device_range<Source const>) {
      if (source.size() != n) {
        throw_limit_error("apply_async: % ids and % values; give one value for each id",
                          {n, source.size()}, where);
      }
      apply_async(
          detail::data_of(ids), n,
          detail::function_of_values<Policy::order::in_trees, Sections...>(
              static_cast<detail::element_of<Source const> const*>(detail::data_of(source))),
          s, where);
    } else {
      apply_async(detail::data_of(ids), n, source, s, where);
    }
  }
  /// Enqueues the section `Section{i}` on record `ids[i]` for all i, with i as a std::uint32_t: for
  /// sections that find what they need by its index, and say so by
  /// `static constexpr bool takes_index = true`. `ids` is a contiguous range of 32-bit unsigned ids
  /// in device memory, which stays alive until the stream has executed the work. Throws limit_error
  /// for more than 2^32 ids. Precondition: the guarded array has one section type.
  template <detail::id_range Ids>
  void apply_async(Ids const& ids, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    static_assert(sizeof...(Sections) == 1 && (detail::made_from_index<Sections> && ...),
                  "warden: apply_async without values makes a section of its index: "
                  "the guarded array has one section type, with takes_index = true, made as "
                  "Section{std::uint32_t}; give values to other sections");
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    if (ids.size() > most) {
      throw_limit_error("apply_async: % ids; sections that are made of their index are at most %",
                        {ids.size(), most}, where);
    }
    apply_async(detail::data_of(ids), ids.size(), detail::sections_from_numbers<Sections...>{}, s,
                where);
  }
  /// Fails to compile: the ids are in host memory, or have another type.
  template <detail::wrong_ids Ids, class... Others>
  void apply_async(Ids const&, Others const&...) {
    static_assert(!std::is_same_v<Ids, Ids>,
                  "warden: the ids of apply_async are std::uint32_t in device memory: copy them to "
                  "a warden::buffer<std::uint32_t>");
  }
  /// Enqueues the section that `f(i)` returns on the records `firsts[i]` and `seconds[i]` for all
  /// i < n.
  template <class Function>
  void apply_async(std::uint32_t const* firsts, std::uint32_t const* seconds, std::size_t n,
                   Function const& f, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    demand_memory("apply_async: first ids", firsts, n, where);
    demand_memory("apply_async: second ids", seconds, n, where);
    apply(n, detail::to_ids<2, Function>{{firsts, seconds}, f}, s, where);
  }
  /// Enqueues the sections that `f(i)` returns for all i < n, each with its record or records, as
  /// `warden::send_async` takes them. There is no log to make and to run.
  template <class Function>
  void apply_async(std::size_t n, Function const& f, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    apply(n, f, s, where);
  }
  /// Makes the memory for an `apply_async` of `n` sections. That call then only enqueues, and may
  /// be captured into a graph. Throws as deferred does.
  void reserve(std::size_t n, std::source_location where = std::source_location::current()) {
    static_assert(defers,
                  "warden: these sections are not deferred, so there is nothing to reserve");
    runtime::device_scope const scope{device_, where};
    kept().reserve(*this, n, {}, where);
  }

  /// Returns the totals since construction. Blocks the host until the stream has executed its work.
  /// Precondition: the policy says `statistics = true`. Throws cuda_error.
  [[nodiscard]] warden::statistics statistics(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    static_assert(Policy::statistics,
                  "warden: statistics are compiled out; let the policy say statistics = true");
    runtime::device_scope const scope{device_, where};
    detail::guarded_report report;
    copy(&report, state_->report.data(), 1, s, where);
    s.synchronize(where);
    return report.totals;
  }

  /// Returns the device memory of channels, rings, answer slots, reports and the log or
  /// tables of `apply_async`. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return state_->report.bytes() + state_->control->bytes() +
           (state_->fused() != nullptr ? state_->fused()->bytes() : 0) +
           (kept_ ? kept_->bytes() : 0);
  }

 private:
  friend struct detail::guarded_access;
  using apply_log = detail::apply_log_of<Policy, Record, Sections...>;
  static constexpr bool defers = detail::can_be_deferred<Policy, Record, Sections...>;

  void begin(Record* records, std::size_t size, context const& sections_context,
             options const& chosen, std::source_location where) {
    demand_time_limit("guarded", chosen.time_limit_seconds, where);
    device_ = runtime::current_device(where);
    options_ = chosen;
    records_ = records;
    size_ = size;
    context_ = sections_context;
    where_ = where;
    state_ = std::make_shared<detail::shared_state>(where);
  }
  /// Returns the logs of `apply_async`, and makes them at the first call.
  apply_log& kept() {
    if (!kept_) kept_ = std::make_unique<apply_log>();
    return static_cast<apply_log&>(*kept_);
  }
  template <class Function>
  void apply(std::size_t n, Function const& f, stream_ref s, std::source_location where) {
    apply(detail::index_range{0, n}, f, s, where);
  }
  template <class Function>
  void apply(detail::index_range of, Function const& f, stream_ref s, std::source_location where) {
    if constexpr (defers) {
      runtime::device_scope const scope{device_, where};
      // All streams use one log: the sections sent now follow the log's last run.
      if (!runtime::capturing(s, where)) s.wait_for(state_->last_work, where);
      kept().apply(*this, of, f, s, where);
    } else {
      static_cast<void>(detail::needs_fused_state<Policy, Record, Sections...>{});
      detail::launch_apply(*this, of, f, s, where);
    }
  }
  /// Adds the errors since the last call, and makes the guarded array usable again. Blocks the
  /// host. Precondition: all runs and launches have ended.
  void find_errors(error_list& found, stream_ref s, std::source_location where) {
    std::uint64_t const never_run = state_->never_run(s, where);
    auto const failure = state_->failure(s, where);
    detail::guarded_report const report = state_->take_report(s, where);
    bool const did_not_run = failure && failure->wait.kind == wait_kind::earlier;
    if (failure) found.add(*failure, did_not_run ? report.launches_skipped : 1);
    add_misuse(found, report, state_->all_records != 0 ? state_->all_records : this->size(),
               Policy::calls_per_thread, never_run, failure);
    state_->gone.clear();
    auto* const fused = state_->fused();
    // Slots of calls whose answers will not be sent, or whose futures will not be dropped.
    if (fused && (failure || report.unflushed_calls != 0 || report.calls_too_many != 0))
      fused->reset_answers(s, where);
    if (!failure) return;
    // Channels may hold half a batch.
    if (fused) fused->reset_channels(s, where);
    // Comes last: launches that are enqueued already may run from here on.
    state_->clear_failure(s, where);  // mutation: health-cleared
  }

  using base::context_;
  using base::device_;
  using base::has_owners_;
  using base::options_;
  using base::owners_;
  using base::records_;
  using base::size_;
  using base::state_;
  using base::where_;

  std::unique_ptr<detail::apply_log_base> kept_;  ///< null before the first use
};

/// Guarded array with the default policy.
template <class Record, class... Sections>
using guarded = basic_guarded<policy<>, Record, Sections...>;

WARDEN_NAMESPACE_END
