// SPDX-License-Identifier: Apache-2.0
// Ranks over NCCL: the calls, and waiting with a limit for what NCCL enqueues.

#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include "../cuda/check.hpp"
#include "../first_cause.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

using clock = std::chrono::steady_clock;

/// One rank. With `any_failed` it owns the communicator: a failure of any rank aborts it, in the
/// rank's own thread, so that nothing of NCCL's holds up what is freed behind it.
class nccl_transport final : public runtime::transport {
 public:
  nccl_transport(ncclComm_t comm, communicator_options chosen, std::source_location where,
                 std::atomic<bool>* any_failed = nullptr)
      : comm_{comm}, limit_{chosen.time_limit_seconds}, any_failed_{any_failed} {
    // One that does not block may not be made yet, and knows nothing until then.
    demand(ncclInProgress, "making the communicator", where);
    demand(ncclCommUserRank(comm, &rank_), "asking for the rank", where);
    demand(ncclCommCount(comm, &size_), "asking for the number of ranks", where);
  }

  ~nccl_transport() override {
    if (any_failed_ == nullptr || comm_ == nullptr) return;
    if (std::uncaught_exceptions() != 0) {
      // To destroy it would wait for ranks that wait for this one.
      abort();
    } else {
      ncclCommDestroy(comm_);
    }
  }
  nccl_transport(nccl_transport const&) = delete;
  nccl_transport& operator=(nccl_transport const&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void all_gather(void const* own, void* all, std::size_t bytes, stream_ref s,
                  std::source_location where) override {
    demand_no_error("gathering", where);
    demand(ncclAllGather(own, all, bytes, ncclChar, comm_, s.handle()), "gathering", where);
  }
  void exchange(std::span<runtime::outgoing const> sent,
                std::span<runtime::incoming const> received, stream_ref s,
                std::source_location where) override {
    demand_no_error("exchanging", where);
    demand(ncclGroupStart(), "beginning an exchange", where);
    ncclResult_t first = ncclSuccess;
    auto const note = [&](ncclResult_t code) {
      if (first == ncclSuccess && code != ncclInProgress) first = code;
    };
    for (auto const& m : sent) note(ncclSend(m.data, m.bytes, ncclChar, m.rank, comm_, s.handle()));
    for (auto const& m : received)
      note(ncclRecv(m.data, m.bytes, ncclChar, m.rank, comm_, s.handle()));
    // A group that was begun is ended, whatever became of its calls.
    ncclResult_t const ended = ncclGroupEnd();
    demand(first, "exchanging", where);
    demand(ended, "exchanging", where);
  }
  void wait(stream_ref s, std::source_location where) override {
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
  /// Throws unless the call was a success; of a communicator that does not block, once it is.
  void demand(ncclResult_t code, char const* what, std::source_location where) {
    for (auto const begin = clock::now(); code == ncclInProgress;) {
      ncclResult_t const asked = ncclCommGetAsyncError(comm_, &code);
      if (asked != ncclSuccess) code = asked;
      if (code == ncclInProgress) pause(begin, what, where);
    }
    if (code != ncclSuccess) fail(what, ncclGetErrorString(code), where);
  }
  void demand_no_error(char const* what, std::source_location where) {
    if (comm_ == nullptr || (any_failed_ != nullptr && *any_failed_)) {
      abort();
      throw given_up{said(what, "another rank has failed"), where};
    }
    ncclResult_t state = ncclSuccess;
    ncclResult_t const asked = ncclCommGetAsyncError(comm_, &state);
    if (asked != ncclSuccess) state = asked;
    if (state != ncclSuccess && state != ncclInProgress)
      fail(what, ncclGetErrorString(state), where);
  }
  /// Counts are there within some ten microseconds: only what lasts longer lets others run.
  void pause(clock::time_point begin, char const* what, std::source_location where) {
    std::chrono::duration<double> const lasted = clock::now() - begin;
    if (lasted > limit_)
      fail(what, "no end within " + std::to_string(limit_.count()) + " s", where);
    if (lasted > std::chrono::milliseconds{1})
      std::this_thread::sleep_for(std::chrono::microseconds{20});
  }
  [[noreturn]] void fail(char const* what, std::string const& why, std::source_location where) {
    abort();
    throw communicator_error{said(what, why), where};
  }
  [[nodiscard]] std::string said(char const* what, std::string const& why) const {
    // A communicator that is not made yet does not know.
    std::string const who =
        size_ == 0 ? "" : "rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ": ";
    return who + what + ": " + why;
  }
  /// If the communicator is its own. Others are told by their next call.
  void abort() {
    if (any_failed_ == nullptr) return;
    *any_failed_ = true;
    if (comm_ != nullptr) ncclCommAbort(comm_);
    comm_ = nullptr;
  }

  ncclComm_t comm_;
  std::chrono::duration<double> limit_;
  std::atomic<bool>* any_failed_;
  int rank_ = 0, size_ = 0;
};

}  // namespace

communicator::communicator(ncclComm* borrowed, communicator_options chosen,
                           std::source_location where)
    : by_{std::make_shared<nccl_transport>(borrowed, chosen, where)} {}

void run_on_gpus(int gpus, std::function<void(communicator const&)> const& body,
                 std::source_location where) {
  if (gpus < 1 || gpus > runtime::device_count()) {
    throw limit_error{"run_on_gpus: " + std::to_string(gpus) + " GPUs; there are " +
                          std::to_string(runtime::device_count()),
                      where};
  }
  if (gpus == 1) return body(communicator::alone());
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
  ncclResult_t const made = ncclCommInitAll(comms.data(), gpus, nullptr);
  if (made != ncclSuccess) {
    throw communicator_error{
        "making communicators of " + std::to_string(gpus) + " GPUs: " + ncclGetErrorString(made),
        where};
  }
  std::atomic<bool> any_failed = false;
  std::mutex mutex;
  std::vector<std::exception_ptr> thrown;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < gpus; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        runtime::device_scope const device{rank};
        body(communicator{std::make_shared<nccl_transport>(
            comms[static_cast<std::size_t>(rank)], communicator_options{}, where, &any_failed)});
      } catch (...) {
        any_failed = true;
        std::lock_guard const lock{mutex};
        thrown.push_back(std::current_exception());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  if (std::exception_ptr const first = first_cause(thrown)) std::rethrow_exception(first);
}

WARDEN_HOST_NAMESPACE_END
