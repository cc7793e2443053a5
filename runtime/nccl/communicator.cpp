// SPDX-License-Identifier: Apache-2.0
// Ranks over NCCL: the calls, and waiting with a limit for what NCCL enqueues.

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include "../cuda/check.hpp"
#include "../first_cause.hpp"
#include "../time_limit.hpp"
#include "window.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

using clock = std::chrono::steady_clock;

struct pinned_deleter {
  void operator()(std::uint32_t* word) const { runtime::deallocate_pinned(word); }
};

/// State that the ranks of one process share.
struct process_ranks {
  explicit process_ranks(std::size_t count) : calls(count) {}
  std::atomic<bool> any_failed = false;
  std::vector<std::atomic<std::uint64_t>> calls;  ///< [rank] collective calls begun
};

/// Aborts a communicator that no transport owns yet, so that the other ranks do not wait for it.
struct communicator_aborter {
  void operator()(ncclComm_t comm) const { ncclCommAbort(comm); }
};

/// One rank. If it owns the communicator, a failure aborts that, in the rank's own thread, so that
/// no work of NCCL delays later frees. After a failed call NCCL is not called again: the user may
/// have aborted the communicator.
class nccl_transport final : public runtime::transport {
 public:
  nccl_transport(ncclComm_t comm, communicator_options chosen, std::source_location where,
                 process_ranks* job = nullptr)
      // The object is complete before the body runs: if that throws, the destructor aborts an owned
      // communicator.
      : nccl_transport{comm, chosen, job} {
    demand_time_limit("communicator", chosen.time_limit_seconds, where);
    // One that does not block may not be made yet, and knows nothing until then.
    demand(ncclInProgress, "making the communicator", where);
    demand(ncclCommUserRank(comm, &rank_), "asking for the rank", where);
    demand(ncclCommCount(comm, &size_), "asking for the number of ranks", where);
    failed_word_.reset(
        static_cast<std::uint32_t*>(runtime::allocate_pinned(sizeof(std::uint32_t), where)));
    *failed_word_ = 0;
  }

  ~nccl_transport() override {
    if (!owned_ || comm_ == nullptr) return;
    // Destroying it would wait for ranks that wait for this one.
    bool const gives_up =
        std::uncaught_exceptions() != 0 || aborted_ || (job_ != nullptr && job_->any_failed);
    if (gives_up && job_ != nullptr) job_->any_failed = true;
    gives_up ? ncclCommAbort(comm_) : ncclCommDestroy(comm_);
  }
  nccl_transport(nccl_transport const&) = delete;
  nccl_transport& operator=(nccl_transport const&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void abort() override { aborted_ = true; }
  [[nodiscard]] std::uint32_t const* failed_word() const override { return failed_word_.get(); }

  void all_gather(void const* own, void* all, std::size_t bytes, stream_ref s,
                  std::source_location where) override {
    begin("a gathering of " + std::to_string(bytes) + " bytes of each rank", "gathering", where);
    demand(ncclAllGather(own, all, bytes, ncclChar, comm_, s.handle()), "gathering", where);
  }
  void exchange(std::span<runtime::outgoing const> sent,
                std::span<runtime::incoming const> received, stream_ref s,
                std::source_location where) override {
    std::set<int> partners;
    for (auto const& m : sent) partners.insert(m.rank);
    for (auto const& m : received) partners.insert(m.rank);
    std::string with;
    for (int const r : partners) with.append(" ").append(std::to_string(r));
    begin("an exchange with rank" + with, "exchanging", where);
    demand(ncclGroupStart(), "beginning an exchange", where);
    ncclResult_t first = ncclSuccess;
    auto const note = [&](ncclResult_t code) {
      if (first == ncclSuccess && code != ncclInProgress) first = code;
    };
    for (auto const& m : sent) note(ncclSend(m.data, m.bytes, ncclChar, m.rank, comm_, s.handle()));
    for (auto const& m : received)
      note(ncclRecv(m.data, m.bytes, ncclChar, m.rank, comm_, s.handle()));
    // A group that was begun is ended, also if its calls failed.
    ncclResult_t const ended = ncclGroupEnd();
    demand(first, "exchanging", where);
    demand(ended, "exchanging", where);
  }
  std::unique_ptr<runtime::shared_memory> share(std::size_t bytes,
                                                std::source_location where) override {
    if (!has_windows(comm_, size_)) return nullptr;
    auto memory = std::make_unique<window_memory>(*this, bytes, where);
    // NCCL registers without a time limit: not before all ranks have memory.
    meet(where);
    demand(register_window(comm_, memory->at(rank_), bytes, memory->window()), "sharing memory",
           where);
    // A call that succeeds at once may still be in progress if the communicator does not block.
    demand(ncclInProgress, "sharing memory", where);
    if (!memory->find_addresses(size_, where)) return nullptr;
    return memory;
  }
  /// Makes NCCL's connections, in which it waits for ranks without a time limit if the communicator
  /// blocks, so that later calls need none. Collective.
  void connect(std::source_location where) {
    meet(where);
    buffer<std::uint32_t> words{2 * static_cast<std::size_t>(size_), where};
    std::vector<runtime::outgoing> sent;
    std::vector<runtime::incoming> received;
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      sent.push_back({r, words.data() + r, sizeof(std::uint32_t)});
      received.push_back({r, words.data() + size_ + r, sizeof(std::uint32_t)});
    }
    exchange(sent, received, {}, where);
    wait({}, where);
  }
  void wait(stream_ref s, std::source_location where) override {
    demand_no_error("waiting for other ranks", where);
    auto const begin = clock::now();
    while (true) {
      cudaError_t const state = cudaStreamQuery(s.handle());
      if (state == cudaSuccess) return;
      if (state != cudaErrorNotReady) check(state, "waiting for other ranks", where);
      cudaGetLastError();  // not ready is none
      demand_no_error("waiting for other ranks", where);
      pause(begin, "waiting for other ranks", where);
    }
  }

 private:
  nccl_transport(ncclComm_t comm, communicator_options const& chosen, process_ranks* job) noexcept
      : comm_{comm}, limit_{chosen.time_limit_seconds}, owned_{chosen.owned}, job_{job} {}

  /// Memory of this rank, and the window in which the others reach it.
  class window_memory final : public runtime::shared_memory {
   public:
    window_memory(nccl_transport& carrier, std::size_t bytes, std::source_location where)
        : carrier_{carrier}, own_{allocate_for_window(bytes, where)} {}
    ~window_memory() override {
      finish_work_on(own_);  // as cudaFree does
      // NCCL closes the windows of a communicator that was aborted.
      if (carrier_.failure_.empty() && !carrier_.aborted_) close_window(carrier_.comm_, window_);
      free_for_window(own_);
    }
    window_memory(window_memory const&) = delete;
    window_memory& operator=(window_memory const&) = delete;
    [[nodiscard]] std::byte* at(int rank) const override {
      return addresses_.empty() ? own_ : addresses_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] window_handle& window() { return window_; }
    /// False, on all ranks, if copies do not reach the memory of other ranks.
    [[nodiscard]] bool find_addresses(int ranks, std::source_location where) {
      if (window_ != nullptr) addresses_ = addresses_in(window_, ranks, where);
      return !addresses_.empty();
    }

   private:
    nccl_transport& carrier_;
    std::byte* own_;
    window_handle window_ = nullptr;
    std::vector<std::byte*> addresses_;  ///< [rank]
  };

  /// Returns when all ranks have come.
  void meet(std::source_location where) {
    buffer<std::uint32_t> words{static_cast<std::size_t>(size_), where};
    all_gather(words.data() + rank_, words.data(), sizeof(std::uint32_t), {}, where);
    wait({}, where);
  }
  /// Throws unless the call was a success. Waits for a communicator that does not block.
  void demand(ncclResult_t code, char const* what, std::source_location where) {
    for (auto const begin = clock::now(); code == ncclInProgress;) {
      ncclResult_t const asked = ncclCommGetAsyncError(comm_, &code);
      if (asked != ncclSuccess) code = asked;
      if (code == ncclInProgress) pause(begin, what, where);
    }
    if (code != ncclSuccess) fail(what, ncclGetErrorString(code), where);
  }
  void demand_no_error(char const* what, std::source_location where) {
    if (job_ != nullptr && job_->any_failed && failure_.empty()) {
      gave_up_ = true;
      note_failure("another rank has failed");
    }
    if (gave_up_) throw given_up{said(what, failure_), where};
    if (!failure_.empty())
      throw communicator_error{said(what, "the communicator has failed: " + failure_), where};
    if (aborted_) fail(what, "aborted by this rank", where);
    ncclResult_t state = ncclSuccess;
    ncclResult_t const asked = ncclCommGetAsyncError(comm_, &state);
    if (asked != ncclSuccess) state = asked;
    if (state != ncclSuccess && state != ncclInProgress)
      fail(what, ncclGetErrorString(state), where);
  }
  /// Begins a collective call, described by `call`.
  void begin(std::string call, char const* what, std::source_location where) {
    demand_no_error(what, where);
    // NCCL refuses a call before the last one is through.
    demand(ncclInProgress, what, where);
    call_ = std::move(call);
    if (job_ != nullptr) ++job_->calls[static_cast<std::size_t>(rank_)];
  }
  /// Lets other threads run after a wait of 1 ms. A run waits here for the counts while the kernel
  /// that sends is still at work. A sleep ends 0.1 ms late, so only waits of 10 ms sleep.
  void pause(clock::time_point begin, char const* what, std::source_location where) {
    if (aborted_) fail(what, "aborted by this rank", where);
    std::chrono::duration<double> const lasted = clock::now() - begin;
    if (lasted > limit_) {
      fail(what,
           no_end_within(limit_.count()) + (call_.empty() ? "" : " of " + call_) + missing_ranks() +
               "; look for a rank that failed, or raise communicator_options::time_limit_seconds",
           where);
    }
    if (lasted > std::chrono::milliseconds{10}) {
      std::this_thread::sleep_for(std::chrono::microseconds{20});
    } else if (lasted > std::chrono::milliseconds{1}) {
      std::this_thread::yield();
    }
  }
  /// Ranks of this process that have begun fewer collective calls, as text.
  [[nodiscard]] std::string missing_ranks() const {
    if (job_ == nullptr) return "";
    std::string missing;
    for (std::size_t r = 0; r < job_->calls.size(); ++r) {
      if (job_->calls[r] < job_->calls[static_cast<std::size_t>(rank_)])
        missing.append(" ").append(std::to_string(r));
    }
    return missing.empty() ? "" : ", waiting for rank" + missing;
  }
  [[noreturn]] void fail(char const* what, std::string const& why, std::source_location where) {
    note_failure(why);
    throw communicator_error{said(what, why), where};
  }
  [[nodiscard]] std::string said(char const* what, std::string const& why) const {
    // A communicator that is not made yet does not know.
    std::string const prefix =
        size_ == 0 ? "" : "rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ": ";
    return prefix + what + ": " + why;
  }
  /// All later calls report `why`. Kernels see the word before NCCL lets the stream go on.
  void note_failure(std::string const& why) {
    failure_ = why;
    // Null until the communicator is known to be valid.
    if (failed_word_ != nullptr) std::atomic_ref{*failed_word_}.store(1, std::memory_order_release);
    if (job_ != nullptr) job_->any_failed = true;
    if (owned_) ncclCommAbort(std::exchange(comm_, nullptr));
  }

  ncclComm_t comm_;
  std::chrono::duration<double> limit_;
  bool owned_;
  process_ranks* job_;                 ///< null if the ranks are processes
  std::atomic<bool> aborted_ = false;  ///< by the user, perhaps in another thread
  bool gave_up_ = false;               ///< because another rank of the process has failed
  std::string failure_;  ///< reason of the first call that failed; empty while none has
  std::string call_;     ///< the last collective call
  std::unique_ptr<std::uint32_t, pinned_deleter> failed_word_;
  int rank_ = 0, size_ = 0;
};

}  // namespace

communicator::communicator(ncclComm* comm, communicator_options chosen, std::source_location where)
    : transport_{std::make_shared<nccl_transport>(comm, chosen, where)} {}

void run_on_gpus(int gpus, std::function<void(communicator const&)> const& body,
                 communicator_options chosen, std::source_location where) {
  if (gpus < 1 || gpus > runtime::device_count()) {
    throw limit_error{"run_on_gpus: " + std::to_string(gpus) + " GPUs; there are " +
                          std::to_string(runtime::device_count()),
                      where};
  }
  demand_time_limit("run_on_gpus", chosen.time_limit_seconds, where);
  if (gpus == 1) return body(communicator::alone());
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
  ncclResult_t const made = ncclCommInitAll(comms.data(), gpus, nullptr);
  if (made != ncclSuccess) {
    throw communicator_error{
        "making communicators of " + std::to_string(gpus) + " GPUs: " + ncclGetErrorString(made),
        where};
  }
  chosen.owned = true;
  process_ranks job{static_cast<std::size_t>(gpus)};
  std::mutex mutex;
  std::vector<std::exception_ptr> thrown;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < gpus; ++rank) {
    threads.emplace_back([&, rank] {
      std::unique_ptr<ncclComm, communicator_aborter> comm{comms[static_cast<std::size_t>(rank)]};
      try {
        runtime::device_scope const device{rank};
        auto const transport =
            std::make_shared<nccl_transport>(comm.release(), chosen, where, &job);
        transport->connect(where);
        body(communicator{transport});
      } catch (...) {
        job.any_failed = true;
        std::lock_guard const lock{mutex};
        thrown.push_back(std::current_exception());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  if (std::exception_ptr const first = first_cause(thrown)) std::rethrow_exception(first);
}

WARDEN_HOST_NAMESPACE_END
