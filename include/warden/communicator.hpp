// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ranks of a job, each a process or a host thread with a GPU of its own, and ranks of one
/// process that share its device, for tests.
#pragma once

#include <warden/simt/host_abi.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

struct ncclComm;  // what an ncclComm_t points to

WARDEN_HOST_NAMESPACE_BEGIN

namespace runtime {

/// What goes to a rank: `bytes` bytes of device memory.
struct outgoing {
  int rank;           ///< whom to
  void const* data;   ///< device memory, untouched until the stream has come here
  std::size_t bytes;  ///< more than 0
};
/// What comes from a rank: `bytes` bytes of device memory.
struct incoming {
  int rank;           ///< whom from
  void* data;         ///< device memory
  std::size_t bytes;  ///< as many as that rank sends
};

/// Device memory of each rank, the same number of bytes, to which all ranks can copy.
class shared_memory {
 public:
  virtual ~shared_memory() = default;
  /// Address of a rank's memory, for copies that this rank enqueues; of its own for kernels, too.
  [[nodiscard]] virtual std::byte* of(int rank) const = 0;
};

/// The few collective calls that the library uses, as one rank makes them. All ranks make the same
/// calls in the same order, one host thread each; all but `wait` only enqueue.
class transport {
 public:
  virtual ~transport() = default;
  /// This rank, from 0 on.
  [[nodiscard]] virtual int rank() const = 0;
  /// Ranks.
  [[nodiscard]] virtual int size() const = 0;
  /// `bytes` bytes of each rank, by rank, to `all`; device memory. Throws communicator_error.
  virtual void all_gather(void const* own, void* all, std::size_t bytes, stream_ref s,
                          std::source_location where) = 0;
  /// All of these together: what goes to one rank arrives there in its order. Throws
  /// communicator_error, and then nothing of it is sent or received.
  virtual void exchange(std::span<outgoing const> sent, std::span<incoming const> received,
                        stream_ref s, std::source_location where) = 0;
  /// Allocates `bytes` bytes of each rank, the same number on all. Null on all ranks where copies
  /// of some do not reach all others. Blocks the host. The transport outlives the result. Throws
  /// cuda_error and communicator_error. By default null.
  [[nodiscard]] virtual std::unique_ptr<shared_memory> share(std::size_t /*bytes*/,
                                                             std::source_location /*where*/) {
    return nullptr;
  }
  /// Blocks the host until everything enqueued in `s` so far has finished. Throws
  /// communicator_error when the communicator is in error, or when that lasts longer than the time
  /// limit.
  virtual void wait(stream_ref s, std::source_location where) = 0;
  /// See communicator::abort. No effect unless the transport can fail.
  virtual void abort() {}
  /// A word that kernels can read: not 0 once a call has failed, so that messages may be missing
  /// although the stream goes on. Null if that cannot happen.
  [[nodiscard]] virtual std::uint32_t const* failed_word() const { return nullptr; }
};

}  // namespace runtime

/// Choices made when a communicator is wrapped.
struct communicator_options {
  /// How long a rank waits for the others, in seconds, before it gives up; its own work before that
  /// counts as well.
  double time_limit_seconds = 600;
  /// The NCCL communicator belongs to the library: the last copy destroys it, and a call that
  /// throws communicator_error aborts it first, so that freeing memory waits for no other rank.
  bool owned = false;
};

/// The ranks that work together, as one of them sees it. Copies are the same communicator.
///
///     warden::communicator world{nccl_comm};  // an ncclComm_t, borrowed; links warden::nccl
///
/// One host thread for each rank; the device current when it is used is the rank's. What is
/// collective is called by all ranks in the same order. After a call has thrown communicator_error
/// the communicator has failed: all later calls of the rank throw at once.
class communicator {
 public:
  /// Borrows an `ncclComm_t`, which outlives it and everything made with it; waits until it is
  /// made, if it does not block. After an error the user aborts it, before what was made with it is
  /// destroyed: freeing memory waits for the GPU, where NCCL may wait for a rank that never comes.
  /// `communicator_options::owned` leaves both to the library. Needs the CMake component `nccl`.
  /// Throws communicator_error.
  communicator(ncclComm* comm, communicator_options chosen = {},
               std::source_location where = std::source_location::current());
  /// By a transport of one's own.
  explicit communicator(std::shared_ptr<runtime::transport> by) : by_{std::move(by)} {}
  /// Of one rank: nothing is ever sent, and NCCL not needed.
  static communicator alone();

  /// This rank, from 0 on.
  [[nodiscard]] int rank() const { return by_->rank(); }
  /// Ranks.
  [[nodiscard]] int size() const { return by_->size(); }
  /// Makes the communicator fail on this rank: the call that waits, and all later ones, throw
  /// communicator_error. Other ranks throw at the latest when their time limit is over.
  /// Thread-safe. No effect on a communicator of one rank that needs no NCCL.
  void abort() const { by_->abort(); }
  /// What it calls.
  [[nodiscard]] runtime::transport& by() const { return *by_; }

 private:
  std::shared_ptr<runtime::transport> by_;
};

/// Calls `body` once for each of `gpus` ranks of this process: each in a host thread, with a GPU of
/// its own, from 0 on, and a communicator of all of them. Where one throws the others get a
/// communicator_error from what they do together, and what the first one threw is thrown. On the
/// simulated device the ranks share that and take turns; for several GPUs it needs the CMake
/// component `nccl`. The communicators are owned, whatever `chosen` says. Throws limit_error where
/// there are fewer.
void run_on_gpus(int gpus, std::function<void(communicator const&)> const& body,
                 communicator_options chosen = {},
                 std::source_location where = std::source_location::current());

/// Ranks and what goes wrong with them. Runs are deterministic: equal settings, equal runs.
struct loopback_settings {
  int ranks = 2;           ///< at least 1
  std::uint64_t seed = 1;  ///< chooses which rank goes on where several can
  /// This rank is in no hurry: it goes on only when no other one can, `late_seconds` after that.
  /// None if negative.
  int late_rank = -1;
  double late_seconds = 0;          ///< simulated: compared with the limit, without a pause
  double time_limit_seconds = 600;  ///< of the communicators
  bool can_share = true;            ///< ranks copy to the memory of one another
  /// This rank ends in its collective call `dies_at`, counted from 0, as a process that is killed:
  /// it sends nothing more, and throws nothing. None if negative.
  int dying_rank = -1;
  std::size_t dies_at = 0;  ///< see `dying_rank`
  /// From this collective call on, counted from 0, the communicator is in error on all ranks. None
  /// if negative.
  int fails_at = -1;
  /// After as many collective calls of a rank the communicator is in error on all ranks.
  std::size_t max_calls = 100'000;
};

/// Calls `body` once for each rank, each in a host thread with a communicator of its own; one of
/// them works at a time, and they take turns at collective calls. They share the device and its
/// default stream, and what they send goes by way of the host. A rank whose partner has ended, or
/// comes later than the time limit, gets a communicator_error at once, instead of a lapse of time;
/// so does one whose partner makes another call, or sends another number of bytes. Returns what
/// each rank threw, or null.
std::vector<std::exception_ptr> run_ranks(loopback_settings const& chosen,
                                          std::function<void(communicator const&)> const& body);

WARDEN_HOST_NAMESPACE_END
