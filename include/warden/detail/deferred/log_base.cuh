// SPDX-License-Identifier: Apache-2.0
/// @file
/// The memory of a log, and the kernels that close it, run it and open it again.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/run_trace.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/guarded_health.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/detail/execute/shared_state.cuh>
#include <warden/error.hpp>
#include <warden/run_report.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>
#include <warden/tuning_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <tuple>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Common part of all logs: their memory, and the sequence of a run. `Run` is the device view for
/// the workers of a run. `Runner` enqueues the work between the log's close and its opening. Moves,
/// does not copy.
template <class Run, class Runner>
class log_base {
 public:
  /// Threads of the blocks that fill the log without a kernel of the user.
  static constexpr unsigned client_threads = std::min(512u, Run::policy::block_threads);

  /// Destroys the log. The guarded array's `wait` reports the sections that it held and that never
  /// ran.
  ~log_base() {
    if (shards_.size() == 0) return;
    try {
      // Frees the guarded array's records.
      if (failed_.number != 0) open_after_failure({}, std::source_location::current());
    } catch (error const&) {
      // The device takes no more work.
    }
    try {
      state_->gone.push_back({std::move(shards_), run_.log.size, run_.log.shard_size});
    } catch (std::bad_alloc const&) {
      // Without memory for the record the sections cannot be reported.
    }
  }
  /// A moved-from object may only be destroyed or assigned to.
  log_base(log_base&&) noexcept = default;
  /// Swaps with `other`.
  log_base& operator=(log_base&& other) noexcept {
    auto own_members = members(), other_members = other.members();
    own_members.swap(other_members);
    return *this;
  }
  log_base(log_base const&) = delete;
  log_base& operator=(log_base const&) = delete;

  /// Enqueues the execution of all sections that the log has accepted. The log is empty again
  /// afterwards. Sections sent during the run are refused and reported. If sections send sections
  /// the run is a fused launch. Throws as launch_fused does. If no section has begun then, the log
  /// holds its sections as before. Otherwise it is emptied, and the guarded array's `wait` reports
  /// how many sections may not have run. If CUDA refuses the work for that, too, the log accepts no
  /// sections until the next run, which does it first.
  void run(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device_, where};
    // Orders runs that overlap. Each of them can be put off; the kernels that find the order
    // cannot.
    if (Run::in_order && !runtime::capturing(s, where)) s.wait_for(state_->last_work, where);
    open_after_failure(s, where);
    run_arguments<Run> run{run_, ++runs_};
    run.drops = drops_;
    launch_control* launch = runner_.launch();
    run_stage stage = run_stage::closed;
    bool closes = false;
    if constexpr (requires { runner_.closes_log(); }) closes = runner_.closes_log();
    if (!closes) enqueue(&close_log<Run>, run, launch, s, where);
    try {
      runner_.enqueue(run, stage, s, where);
      stage = run_stage::ended;
      if constexpr (!requires { Runner::opens_log; })
        enqueue(&open_log<Run>, run, launch, s, where);
    } catch (...) {
      // After a failure each section has run once, or is still in the log, or is reported as lost.
      failed_.number = run.number;
      failed_.stage = stage;
      try {
        open_after_failure(s, where);
      } catch (cuda_error const&) {
        // The next run opens the log.
      }
      note_run(s, where);
      // If all sections run, the run is complete with the log open.
      if (stage != run_stage::ended || failed_.number != 0) throw;
      return;
    }
    note_run(s, where);
  }

  /// Returns facts about the last run: what was run, where, how long each phase took, and advice.
  /// After a graph's replay it is the last replay. Precondition: `wait` of the guarded array has
  /// returned or thrown since the run. Copies the trace that the run has left on the device, by
  /// stream `s`, and blocks the host. Throws limit_error without such a wait, and if no run has
  /// executed anything, or the last one failed before it began. Throws cuda_error.
  [[nodiscard]] run_report explain(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    runtime::device_scope const scope{device_, where};
    if (runs_ != 0 && waits_ == state_->waits) throw_not_waited(where);
    log_control control{};
    if (control_.size() != 0) copy(&control, control_.data(), 1, s, where);
    s.synchronize(where);
    if (control.running != 0) throw_not_waited(where);
    if (!control.trace.is_finished()) {
      throw_limit_error(
          "explain: the log has no run to explain: call run, and then the guarded array's wait", {},
          where);
    }
    run_report report;
    report.room = run_.log.size;
    for (log_shard const& one : shards_.to_host(s, where)) {
      report.sections += one.flat + std::uint64_t{one.batches};
      report.flat += one.flat;
    }
    report.sections_run = report.sections;
    report.combined_away = control.trace.freed;
    report.sections += report.combined_away;
    report.batches = control.trace.batches;
    // Clocks of simulated launches are not comparable.
    if (!runtime::facts(device_, where).simulated) report.microseconds = control.trace.times();
    if constexpr (requires { runner_.traces(); }) {
      auto traces = runner_.traces().to_host(s, where);
      traces.resize(std::min<std::size_t>(traces.size(), control.trace.partitions));
      summarize(report, traces);
      report.split = report.partitions / run_.log.partitions.partitions();
    }
    if constexpr (requires { Run::facts; }) add_advice(report, Run::facts);
    return report;
  }

  /// Returns the ordinal of the log's device.
  [[nodiscard]] int device() const { return device_; }
  /// Returns the largest number of sections that the log holds.
  [[nodiscard]] std::size_t capacity() const { return run_.log.size; }
  /// Returns the device memory of the log. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return pool_.bytes() + shards_.bytes() + offsets_.bytes() + begins_.bytes() + control_.bytes() +
           runner_.bytes();
  }

 protected:
  /// Constructs a log without memory. `state` is that of the guarded array on `device` whose `wait`
  /// reports errors of the sections. `partner` is that of a second guarded array, if sections are
  /// on its records, too.
  log_base(int device, std::shared_ptr<shared_state> state, Runner runner,
           std::shared_ptr<shared_state> partner = nullptr)
      : device_{device},
        state_{std::move(state)},
        partner_{std::move(partner)},
        runner_{std::move(runner)} {}

  /// Makes the memory for at most `sections` sections on the records that `run_` names. Blocks the
  /// host, the first time until all launches of the guarded array have ended. Throws limit_error
  /// for an impossible plan and cuda_error when memory is short.
  void make(std::size_t sections, deferred_options const& chosen, std::source_location where) {
    check("deferred: % partitions; a log has a power of two, at most %", chosen.partitions, where);
    check("deferred: % parts of a partition that is split; there are a power of two, at most %",
          chosen.split, where);
    partition_map const sorted_by = runner_.plan_partitions(run_, chosen, sections, where);
    run_.log =
        log_plan<Run>::make(sections, sorted_by, chosen.batches, current_tuning(device_, where));
    std::size_t const columns = sorted_by.partitions() + std::size_t{1};
    pool_ = buffer<message_type>{sections + (run_.log.last_shard + std::size_t{1}) * run_.log.gap,
                                 where};
    shards_ = buffer<log_shard>{run_.log.last_shard + std::size_t{1}, where};
    offsets_ = buffer<std::uint16_t>{columns * run_.log.rows, where};
    begins_ = buffer<std::uint32_t>{run_.log.rows, where};
    control_ = buffer<log_control>{1, where};
    run_.log.pool = pool_.data();
    run_.log.shards = shards_.data();
    run_.log.offsets = offsets_.data();
    run_.log.begins = begins_.data();
    run_.log.control = control_.data();
    runner_.make(run_, where);
    state_->begin_logs(where);
    if (partner_) partner_->begin_logs(where);
    shards_.fill_bytes(0, {}, where);
    control_.fill_bytes(0, {}, where);
    // Rows that no block has written are empty.
    offsets_.fill_bytes(0, {}, where);
    begins_.fill_bytes(0xff, {}, where);
    stream_ref{}.synchronize(where);
  }
  /// From here on runs that are put off empty the log.
  void drop_if_put_off() { drops_ = true; }
  /// Enqueues a kernel that empties the log, and reports `lost` messages that may not have run.
  /// Precondition: a call that sends to the log, or `run`, has thrown, and no other run of the log
  /// can be at work when the kernel begins.
  void abandon(std::uint64_t lost, stream_ref s, std::source_location where) {
    runtime::device_scope const scope{device_, where};
    failed_.is_abandoned = true;
    failed_.lost = lost;
    open_after_failure(s, where);
    note_run(s, where);
  }
  /// Enqueues what opens the log after a run that failed, if it is still closed, and what `abandon`
  /// has not enqueued. Throws cuda_error; the next call then goes on.
  void open_after_failure(stream_ref s, std::source_location where) {
    if (failed_.number != 0) {
      run_arguments<Run> run{run_, failed_.number};
      bool are_sorted = failed_.stage == run_stage::sorted;
      if (failed_.stage == run_stage::begun) {
        enqueue(&give_up_log<Run>, run, are_sorted, s, where);
        failed_.stage = run_stage::ended;
      }
      if (failed_.stage == run_stage::ended) {
        enqueue(&open_log<Run>, run, are_sorted, s, where);
      } else {
        enqueue(&reopen_log<Run>, run, are_sorted, s, where);
      }
      failed_.number = 0;
    }
    if (failed_.is_abandoned) {
      run_arguments<Run> run{run_, ++runs_};
      void* arguments[] = {&run, &failed_.lost};
      runtime::launch(simt::make_kernel(&abandon_log<Run>),
                      {1, Run::policy::block_threads, 0, false}, arguments, s, where);
      failed_.is_abandoned = false;
    }
  }
  /// Throws limit_error unless `chosen` is 0 or a power of two within the limit. `text` is the
  /// message, with places for both numbers.
  static void check(char const* text, unsigned chosen, std::source_location where) {
    constexpr std::uint32_t most = most_partitions;
    if (chosen <= most && (chosen & (chosen - 1)) == 0) return;
    throw_limit_error(text, {chosen, most}, where);
  }

  int device_;                             ///< ordinal of the device
  std::shared_ptr<shared_state> state_;    ///< state of the guarded array
  std::shared_ptr<shared_state> partner_;  ///< state of a second guarded array, or null
  Runner runner_;                          ///< enqueues the work of a run
  Run run_{};                              ///< device view for the workers of a run

 private:
  using message_type = typename Run::message_type;

  [[noreturn]] static void throw_not_waited(std::source_location where) {
    throw_limit_error(
        "explain: the guarded array's wait has not returned since the log's last run: call it "
        "first",
        {}, where);
  }
  /// Work that failures left.
  struct failed_run {
    std::uint32_t number = 0;  ///< run that left the log closed; 0 if there is none
    run_stage stage = run_stage::closed;
    bool is_abandoned = false;  ///< the log is to be emptied
    std::uint64_t lost = 0;     ///< see abandon
  };
  /// Enqueues a kernel of one block with the run's arguments, and a second argument if it takes
  /// one.
  template <class Kernel, class Second>
  static void enqueue(Kernel kernel, run_arguments<Run>& run, Second& second, stream_ref s,
                      std::source_location where) {
    void* arguments[] = {&run, &second};
    runtime::launch(simt::make_kernel(kernel),
                    runtime::early_launch(1, Run::policy::block_threads, 0), arguments, s, where);
  }
  void note_run(stream_ref s, std::source_location where) {
    waits_ = state_->waits;
    state_->enqueued(s, where);
    if (partner_) partner_->enqueued(s, where);
  }

  auto members() {
    return std::tie(device_, state_, partner_, runner_, run_, drops_, runs_, failed_, waits_, pool_,
                    shards_, offsets_, begins_, control_);
  }

  bool drops_ = false;       ///< true if runs that are put off empty the log
  std::uint32_t runs_ = 0;   ///< runs enqueued so far
  failed_run failed_;        ///< to be done before the next run
  std::uint64_t waits_ = 0;  ///< calls of `wait` before the last of them
  buffer<message_type> pool_;
  buffer<log_shard> shards_;
  buffer<std::uint16_t> offsets_;
  buffer<std::uint32_t> begins_;
  buffer<log_control> control_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
