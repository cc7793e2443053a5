// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ranks of a job: each is a process or a host thread with its own GPU. For tests, ranks of one
/// process that share its device.
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

struct ncclComm;  // the type that ncclComm_t points to

WARDEN_HOST_NAMESPACE_BEGIN

namespace runtime {

/// Bytes of device memory to send to a rank.
struct outgoing {
  int rank;           ///< the receiver
  void const* data;   ///< device memory, unchanged until the stream has executed the exchange
  std::size_t bytes;  ///< more than 0
};
/// Bytes of device memory to receive from a rank.
struct incoming {
  int rank;           ///< the sender
  void* data;         ///< device memory
  std::size_t bytes;  ///< as many bytes as the sender sends
};

/// Device memory of each rank, the same number of bytes on all, to which all ranks can copy.
class shared_memory {
 public:
  virtual ~shared_memory() = default;
  /// Returns the address of a rank's memory, for copies that this rank enqueues. Kernels may use
  /// the address of this rank's own memory, too.
  [[nodiscard]] virtual std::byte* at(int rank) const = 0;
};

/// Collective calls that the library uses, as one rank makes them. Precondition: all ranks make the
/// same calls in the same order, one host thread each. All calls but `wait` only enqueue.
class transport {
 public:
  virtual ~transport() = default;
  /// Returns this rank, counted from 0.
  [[nodiscard]] virtual int rank() const = 0;
  /// Returns the number of ranks.
  [[nodiscard]] virtual int size() const = 0;
  /// Gathers `bytes` bytes of each rank, in the order of ranks, to `all`. Shape: `all` is
  /// [size()][bytes] in device memory. Throws communicator_error.
  virtual void all_gather(void const* own, void* all, std::size_t bytes, stream_ref s,
                          std::source_location where) = 0;
  /// Sends and receives all of these together. Messages to one rank arrive there in their order.
  /// Throws communicator_error; nothing is sent or received then.
  virtual void exchange(std::span<outgoing const> sent, std::span<incoming const> received,
                        stream_ref s, std::source_location where) = 0;
  /// Allocates `bytes` bytes of each rank, the same number on all. Returns null on all ranks if
  /// some rank cannot copy to every other, and by default. Blocks the host. Precondition: the
  /// transport outlives the result. Throws cuda_error and communicator_error.
  [[nodiscard]] virtual std::unique_ptr<shared_memory> share(std::size_t /*bytes*/,
                                                             std::source_location /*where*/) {
    return nullptr;
  }
  /// Blocks the host until everything enqueued in `s` so far has finished. Throws
  /// communicator_error when the communicator is in error, or when the wait exceeds the time limit.
  virtual void wait(stream_ref s, std::source_location where) = 0;
  /// Makes this rank fail: see communicator::abort. No effect on a transport that cannot fail.
  virtual void abort() {}
  /// Returns a word that kernels can read. It is not 0 once a call has failed, because messages may
  /// then be missing although the stream continues. Null if that cannot happen.
  [[nodiscard]] virtual std::uint32_t const* failed_word() const { return nullptr; }
  /// Returns the number of the next log, counted from 1. Ranks make logs in the same order, so a
  /// log has the same number on all ranks.
  [[nodiscard]] std::uint32_t next_log() { return ++logs_; }

 private:
  std::uint32_t logs_ = 0;
};

}  // namespace runtime

/// Choices made when a communicator is wrapped.
struct communicator_options {
  /// Longest time that a rank waits for the others before it gives up. The rank's own work before
  /// that counts as well. Above 0 and at most 1,000,000. Units: seconds.
  double time_limit_seconds = 600;
  /// True if the library owns the NCCL communicator. The last copy then destroys it. A call that
  /// throws communicator_error, and a constructor that throws, abort it first, so that freeing
  /// memory waits for no other rank.
  bool owned = false;
};

/// The ranks that work together, as one of them sees them. Copies are the same communicator.
///
///     warden::communicator world{nccl_comm};  // an ncclComm_t, borrowed; links warden::nccl
///
/// Each rank has one host thread; the device current when it is used is the rank's. All ranks call
/// collective functions in the same order. After a call has thrown communicator_error the
/// communicator has failed: all later calls of the rank throw at once.
class communicator {
 public:
  /// Borrows an `ncclComm_t`, and waits until it is initialized if it is non-blocking.
  /// Precondition: it outlives this object and everything made with it. After an error the user
  /// aborts it before destroying what was made with it, because freeing memory waits for the GPU,
  /// where NCCL may wait for a rank that never comes. `communicator_options::owned` leaves
  /// destroying and aborting to the library. Needs the CMake component `nccl`. Throws
  /// communicator_error, and limit_error for a time limit out of range.
  communicator(ncclComm* comm, communicator_options chosen = {},
               std::source_location where = std::source_location::current());
  /// Uses the user's transport.
  explicit communicator(std::shared_ptr<runtime::transport> carrier)
      : transport_{std::move(carrier)} {}
  /// Returns a communicator of one rank, which sends nothing and needs no NCCL.
  static communicator alone();

  /// Returns this rank, counted from 0.
  [[nodiscard]] int rank() const { return transport_->rank(); }
  /// Returns the number of ranks.
  [[nodiscard]] int size() const { return transport_->size(); }
  /// Makes the communicator fail on this rank: the waiting call and all later calls throw
  /// communicator_error. Other ranks throw when their time limit is over, at the latest.
  /// Thread-safe. No effect on a communicator of one rank that needs no NCCL.
  void abort() const { transport_->abort(); }
  /// Returns the transport that carries its calls.
  [[nodiscard]] runtime::transport& transport() const { return *transport_; }

 private:
  std::shared_ptr<runtime::transport> transport_;
};

/// Calls `body` once for each of `gpus` ranks of this process, each in a host thread with its own
/// GPU, from GPU 0 on, and a communicator of all ranks. If one rank throws, collective calls of the
/// others throw communicator_error, and run_on_gpus throws the exception of that rank. On the
/// simulated device the ranks share the device and take turns. Several GPUs need the CMake
/// component `nccl`. The communicators are owned, also if `chosen` says otherwise. Throws
/// limit_error if there are fewer GPUs, or for a time limit out of range.
void run_on_gpus(int gpus, std::function<void(communicator const&)> const& body,
                 communicator_options chosen = {},
                 std::source_location where = std::source_location::current());

/// Ranks of one process, and the faults to inject. Runs are deterministic: equal settings give
/// equal runs.
struct loopback_settings {
  int ranks = 2;           ///< at least 1
  std::uint64_t seed = 1;  ///< chooses the rank that continues if several can
  /// This rank is slow: it continues only when no other rank can, `late_seconds` after that. None
  /// if negative.
  int late_rank = -1;
  double late_seconds = 0;  ///< simulated: compared with the limit, without a pause. Units: seconds
  double time_limit_seconds = 600;  ///< time limit of the communicators. Units: seconds
  bool can_share = true;            ///< ranks copy to each other's memory
  /// This rank ends in its collective call `dies_at`, counted from 0, as a killed process does: it
  /// sends nothing more, and throws nothing. None if negative.
  int dying_rank = -1;
  std::size_t dies_at = 0;  ///< see `dying_rank`
  /// From this collective call on, counted from 0, the communicator is in error on all ranks. None
  /// if negative.
  int fails_at = -1;
  /// After this number of collective calls of a rank the communicator is in error on all ranks.
  std::size_t max_calls = 100'000;
};

/// Calls `body` once for each rank, each in a host thread with its own communicator. One rank works
/// at a time; they take turns at collective calls. They share the device and its default stream,
/// and send by way of the host. A rank gets a communicator_error at once, without waiting, if its
/// partner has ended, comes later than the time limit, makes another call, or sends another number
/// of bytes. Returns the exception of each rank, or null. Shape: [ranks].
std::vector<std::exception_ptr> run_ranks(loopback_settings const& chosen,
                                          std::function<void(communicator const&)> const& body);

WARDEN_HOST_NAMESPACE_END
