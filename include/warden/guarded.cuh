// SPDX-License-Identifier: Apache-2.0
/// @file
/// The guarded: the host object that owns the channels of an array of records.
#pragma once

#include <warden/block/combine.cuh>
#include <warden/block/record_store.cuh>
#include <warden/block_client.cuh>
#include <warden/buffer.hpp>
#include <warden/changes_nothing.cuh>
#include <warden/channel/log_formats.cuh>
#include <warden/combining.cuh>
#include <warden/device_range.cuh>
#include <warden/error.hpp>
#include <warden/guarded_options.hpp>
#include <warden/host/apply_kernel.cuh>
#include <warden/host/guarded_checks.cuh>
#include <warden/host/kept_log.cuh>
#include <warden/host/launch_access.cuh>
#include <warden/host/launchable.cuh>
#include <warden/host/misuse.cuh>
#include <warden/host/plan.cuh>
#include <warden/launch.cuh>
#include <warden/launch/guarded_ref.cuh>
#include <warden/policy.cuh>
#include <warden/statistics.cuh>
#include <warden/stream.hpp>
#include <warden/thread_client.cuh>
#include <warden/warp_client.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// @namespace warden
/// The library. Begin with guarded, launch_fused and block_client.
///
/// [Wang 2020] is Kai Wang, Improving Efficiency for GPUs with Decoupled Delegate (dissertation,
/// The University of Texas at Austin, 2020); its chapter 4 is the library's idea.
WARDEN_NAMESPACE_BEGIN

// Who defers sections includes warden/deferred.cuh.
template <class Policy, class Record, class... Sections>
class deferred_ref;
template <class Ref, unsigned Threads>
class deferred_block;

/// Critical sections of the given types on an array of records, executed by the records' owners.
/// Moves, does not copy; lives on the device current at construction. Not for concurrent launches:
/// one guarded takes part in one launch at a time. [Wang 2020, section 4.2]
template <class Policy, class Record, class... Sections>
class basic_guarded : detail::guarded_checks<Policy, Record, Sections...>,
                      public detail::launchable<Policy, Record, Sections...> {
  using base = detail::launchable<Policy, Record, Sections...>;

 public:
  /// What it was tuned by.
  using policy = Policy;
  /// The type of one protected item.
  using record = Record;
  /// What every section is handed beside its record.
  using context = typename Policy::context;
  /// What a kernel is handed by `launch_fused`.
  using ref = typename base::ref;
  /// The client for one thread in any control flow.
  using thread_client = warden::thread_client<ref>;
  /// The client for the lanes of a warp that are together.
  using warp_client = warden::warp_client<ref>;
  /// The client for a whole block.
  using block_client = warden::block_client<ref>;
  /// What a kernel that defers sections is handed.
  using deferred_ref = warden::deferred_ref<Policy, Record, Sections...>;
  /// The client of a log for blocks of `Threads` threads.
  template <unsigned Threads>
  using deferred_block = warden::deferred_block<deferred_ref, Threads>;
  /// Choices made when it is made.
  using options = guarded_options;

  /// Guards `size` records at `records` (device memory, which must stay alive). Throws limit_error
  /// for an impossible plan and cuda_error when memory is short.
  basic_guarded(Record* records, std::size_t size, context sections_context = {},
                options chosen = {}, std::source_location where = std::source_location::current())
      : where_{where} {
    static_assert(std::is_same_v<typename Policy::owner_map, interleaved_owner_map>,
                  "warden: the policy has an owner_map of its own: give the guarded one");
    options_ = chosen;
    device_ = runtime::current_device(where);
    if constexpr (!Policy::deferred_only) plan().choose_owners(size);
    begin(records, size, sections_context);
  }
  /// Guards records with owners chosen by the user, whose number stands in place of the options'
  /// servers.
  basic_guarded(Record* records, std::size_t size, context sections_context, options chosen,
                typename Policy::owner_map owners,
                std::source_location where = std::source_location::current())
      : where_{where} {
    options_ = chosen;
    device_ = runtime::current_device(where);
    options_.servers = owners.servers();
    ref_.owners = owners;
    begin(records, size, sections_context);
    plan().check_owners(size);
  }
  /// Guards records whose sections need no context.
  basic_guarded(
      Record* records, std::size_t size, options chosen,
      caller_line line = std::source_location::current()) requires std::is_empty_v<context>
      : basic_guarded{records, size, context{}, chosen, line.where} {}
  /// Guards all records of a contiguous range in device memory, which must stay alive: a
  /// warden::buffer, a thrust::device_vector, a span.
  template <device_range<Record> Range>
  basic_guarded(Range&& records, context sections_context = {}, options chosen = {},
                std::source_location where = std::source_location::current())
      : basic_guarded{detail::data_of(records), static_cast<std::size_t>(records.size()),
                      sections_context, chosen, where} {}
  /// Guards all records of such a range, whose sections need no context.
  template <device_range<Record> Range>
  basic_guarded(
      Range&& records, options chosen,
      caller_line line = std::source_location::current()) requires std::is_empty_v<context>
      : basic_guarded{detail::data_of(records), static_cast<std::size_t>(records.size()), context{},
                      chosen, line.where} {}

  /// What was moved from may only be destroyed or assigned to.
  basic_guarded(basic_guarded&&) noexcept = default;
  /// What was moved from may only be destroyed or assigned to.
  basic_guarded& operator=(basic_guarded&&) noexcept = default;
  basic_guarded(basic_guarded const&) = delete;
  basic_guarded& operator=(basic_guarded const&) = delete;

  /// Blocks the host until all work of the stream is done, and all launches and runs of logs of the
  /// guarded, in whatever streams, also if those are destroyed: every accepted section has
  /// executed. It does not wait for launches and runs that were captured: `s` is then the stream of
  /// the last replay, or the replays have been waited for.
  /// Throws everything that went wrong since the last call as one exception, of the most severe
  /// type: cuda_error if the device failed; timeout_error if a launch or run of this guarded was
  /// stopped, or did not run because another guarded of the launch had failed (records may then be
  /// partly updated); limit_error for everything else, such as bad ids, messages never flushed and
  /// runs that were put off or skipped. `error::all` lists all kinds. The guarded is usable again
  /// afterwards.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device_, where};
    if (runtime::capturing(s, where)) {
      throw limit_error{
          "wait: the stream is being captured into a graph; call wait after launching the graph",
          where};
    }
    s.synchronize(where);
    state_->last_work.synchronize(where);  // sabotage: last-launch
    error_list found;
    // What was found before the device fails is thrown with that.
    found.collect([&] { find_errors(found, s, where); });
    found.throw_all(where);
  }

  /// Enqueues `sections[i]` on record `ids[i]` for all i < n, without a kernel of one's own: the
  /// bulk form. Both arrays are device memory and must stay alive until the stream has come here.
  /// Sections that can be deferred go through a log that the guarded keeps, as many at a time as
  /// the policy's `apply_bytes` hold; with order::sequential they run as in a loop over i. Where
  /// they cannot (two records, sections that send, more records than a log can name) it is a fused
  /// launch. It comes, in the stream, behind the run of the call before, whatever stream that was
  /// in. Makes the log when there is none as large, which waits for the device: see `reserve`.
  /// Throws as launch_fused and deferred do; `wait` reports ids outside the records.
  template <class Section>
  void apply_async(std::uint32_t const* ids, Section const* sections, std::size_t n,
                   stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    if constexpr (defers) {
      if (Policy::deferred_only || size() <= deferred_ref::message_type::limit) {
        runtime::device_scope const scope{device_, where};
        // The log is one for all streams: what is sent comes behind the run before.
        if (!runtime::capturing(s, where)) s.wait_for(state_->last_work, where);
        kept_.template apply<false>(*this, ids, nullptr, sections, n, s, where);
        return;
      }
    }
    if constexpr (!Policy::deferred_only) {
      launch_fused(detail::apply_kernel<false, Section>{ids, nullptr, sections, n},
                   base::virtual_blocks_for(n), Policy::block_threads, {s, where}, *this);
    }
  }
  /// Makes the memory for an `apply_async` of `n` sections, so that this only enqueues, and may be
  /// captured into a graph. Throws as deferred does.
  void reserve(std::size_t n, std::source_location where = std::source_location::current()) {
    static_assert(defers, "warden: these sections are not deferred: nothing is to be reserved");
    runtime::device_scope const scope{device_, where};
    kept_.reserve(*this, n, {}, where);
  }

  /// Enqueues sections on two records each, `firsts[i]` and `seconds[i]`: through the log, in
  /// rounds, if the policy says deferred_only, otherwise as a fused launch.
  template <class Section>
  void apply_async(std::uint32_t const* firsts, std::uint32_t const* seconds,
                   Section const* sections, std::size_t n, stream_ref s = {},
                   std::source_location where = std::source_location::current()) {
    if constexpr (defers && Policy::deferred_only) {
      runtime::device_scope const scope{device_, where};
      if (!runtime::capturing(s, where)) s.wait_for(state_->last_work, where);
      kept_.template apply<true>(*this, firsts, seconds, sections, n, s, where);
    } else {
      launch_fused(detail::apply_kernel<true, Section>{firsts, seconds, sections, n},
                   base::virtual_blocks_for(n), Policy::block_threads, {s, where}, *this);
    }
  }

  /// Totals since construction; blocks the host until the stream has come here. Only with a policy
  /// that says `statistics = true`. Throws cuda_error.
  [[nodiscard]] warden::statistics statistics(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    static_assert(Policy::statistics,
                  "warden: statistics are compiled out; let the policy say statistics = true");
    runtime::device_scope const scope{device_, where};
    guarded_report report;
    copy(&report, state_->report.data(), 1, s, where);
    s.synchronize(where);
    return report.totals;
  }

  /// Records.
  using base::size;
  /// Thread blocks that own records.
  using base::servers;
  /// Slots of a channel.
  [[nodiscard]] unsigned capacity() const { return options_.capacity; }
  /// Device memory of the channels and rings, of slots for answers, of reports and of the log of
  /// `apply_async`, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return (channels_ ? channels_->bytes() : 0) + forwards_->bytes() + state_->report.bytes() +
           answers_->bytes() + history_->own()->control.bytes() + kept_.bytes();
  }
  /// Ordinal of the device it lives on.
  using base::device;
  /// Bytes of the block's shared memory that a client block of this guarded needs.
  using base::outbox_bytes;
  /// Bytes of the block's shared memory that a server of this guarded needs.
  using base::server_bytes;

 private:
  friend struct detail::launch_access;
  static constexpr bool defers = detail::can_be_deferred<Policy, Record, Sections...>;

  detail::plan<ref> plan() { return {ref_, options_, device_, where_}; }

  /// Everything but the owners.
  void begin(Record* records, std::size_t size, context sections_context) {
    ref_.records = records;
    ref_.size = size;
    ref_.sections_context = sections_context;
    state_ = std::make_shared<detail::shared_state>(where_);
    forwards_ = std::make_shared<detail::forward_memory<ref>>();
    answers_ = std::make_shared<detail::answer_memory<ref>>();
    history_ = std::make_shared<detail::launch_history>();
    state_->report.fill_bytes(0, {}, where_);
    state_->at_work.fill_bytes(0, {}, where_);
    ref_.report = state_->report.data();
    if constexpr (Policy::deferred_only) {
      history_->make({}, where_);
    } else {
      make_channels(size);
    }
  }
  /// What fused launches need.
  void make_channels(std::size_t size) {
    plan().make(size);
    channels_ = std::make_shared<detail::channel_memory>(detail::channel_memory{
        {},
        buffer<channel_indices>{options_.servers, where_},
        buffer<simt::flit_words>{options_.servers * ref::channel::flits(ref_.capacity_log2),
                                 where_}});
    answers_->make(ref_, where_);
    forwards_->make(ref_, options_.servers, options_.forward_capacity, where_);
    ref_.indices = channels_->indices.data();
    ref_.slots = channels_->slots.data();
    reset_channels({}, where_);
    history_->make(channel_groups(), where_);
  }
  /// The channels, and the rings if there are any.
  std::vector<detail::launch_state::channels> channel_groups() const {
    std::vector<detail::launch_state::channels> groups;
    auto const list = [&]<class Channel>(auto const& memory, std::uint32_t capacity_log2,
                                         std::uint64_t tokens) {
      groups.push_back({memory, options_.servers, capacity_log2, Channel::flits(capacity_log2),
                        &Channel::is_published, tokens});
    };
    list.template operator()<typename ref::channel>(channels_, ref_.capacity_log2, 0);
    if constexpr (ref::has_forwards) {
      list.template operator()<typename ref::ring>(forwards_->memory(), ref_.rings.capacity_log2,
                                                   ref_.rings.tokens);
    }
    return groups;
  }

  void reset_channels(stream_ref s, std::source_location where) {
    channels_->template reset<typename ref::channel>(options_.first_index, ref_.capacity_log2, s,
                                                     where);
  }

  /// Adds what went wrong since the last call, and makes the guarded usable again. Blocks the host;
  /// all runs and launches have ended.
  void find_errors(error_list& found, stream_ref s, std::source_location where) {
    std::uint64_t const never_run = state_->never_run(s, where);
    auto const failure = history_->failure(s, where);
    guarded_report const report = state_->take_report(s, where);
    bool const did_not_run = failure && failure->wait.kind == wait_kind::earlier;
    if (failure) found.add(*failure, did_not_run ? report.launches_skipped : 1);
    detail::add_misuse(found, report, state_->all_records != 0 ? state_->all_records : size(),
                       Policy::calls_per_thread, never_run, failure);
    state_->gone.clear();
    // Places of calls whose answers nobody will send, or whose futures nobody will drop.
    if (failure || report.unflushed_calls != 0 || report.calls_too_many != 0)
      answers_->reset(s, where);
    if (!failure) return;
    if (channels_) {
      // They may hold half a batch.
      reset_channels(s, where);
      forwards_->reset(ref_, s, where);  // sabotage: rings-kept
    }
    // Not before all of that: launches that are enqueued already may run from here on.
    history_->clear(s, where);  // sabotage: health-cleared
  }

  using base::answers_;
  using base::channels_;
  using base::device_;
  using base::forwards_;
  using base::history_;
  using base::options_;
  using base::ref_;
  using base::state_;

  std::source_location where_;
  std::conditional_t<defers, detail::kept_log<Policy, Record, Sections...>, detail::no_kept_log>
      kept_;
};

/// With the defaults of `default_policy`.
template <class Record, class... Sections>
using guarded = basic_guarded<default_policy, Record, Sections...>;

WARDEN_NAMESPACE_END
