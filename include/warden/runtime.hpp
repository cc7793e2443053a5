// SPDX-License-Identifier: Apache-2.0
/// @file
/// The compiled host part below the templates: memory, copies, device facts and launches, one
/// implementation for CUDA and one for the simulated device. Most users need only buffer.hpp and
/// stream.hpp.
#pragma once

#include <warden/simt/dimensions.hpp>
#include <warden/simt/host_abi.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
/// Memory, copies, device facts and launches, the same for both devices.
namespace runtime {

/// Facts about the device that a plan needs.
struct device_facts {
  std::string name;                        ///< as the driver gives it, or "simulated device"
  int ordinal = 0;                         ///< number of the device among the usable ones
  bool simulated = false;                  ///< true for the simulated device
  bool cooperative_launch = false;         ///< true if fused launches are possible
  int multiprocessors = 0;                 ///< multiprocessors of the device
  int threads_per_multiprocessor = 0;      ///< resident threads that one can hold, at most
  int registers_per_multiprocessor = 0;    ///< registers of 32 bits
  int compute_capability = 0;              ///< 90 for 9.0; 0 on the simulated device
  std::size_t shared_bytes_per_block = 0;  ///< largest dynamic shared memory of a block, in bytes
  std::size_t shared_bytes_per_multiprocessor = 0;  ///< shared by the resident blocks
  std::size_t reserved_shared_bytes_per_block = 0;  ///< taken by the system for each block
  std::size_t global_bytes = 0;                     ///< global memory. Units: bytes
  std::size_t cache_bytes = 0;                      ///< level-2 cache. Units: bytes
};

/// Returns the driver, the toolkit and the clocks (in MHz) of the current device as names and
/// values, for the context of a result file. Empty on the simulated device. Throws cuda_error.
std::vector<std::pair<std::string, std::string>> device_details(
    std::source_location where = std::source_location::current());

/// Returns the number of usable devices: 0 without a driver or a GPU, 1 on the simulated device.
int device_count() noexcept;
/// Returns the ordinal of the device current in this host thread. Throws cuda_error.
int current_device(std::source_location where = std::source_location::current());
/// Returns the facts of one device. Throws cuda_error when there is no such device.
device_facts facts(int ordinal, std::source_location where = std::source_location::current());

/// Makes `ordinal` current until the end of the scope.
class device_scope {
 public:
  /// Makes `ordinal` current. Throws cuda_error when there is no such device.
  explicit device_scope(int ordinal, std::source_location where = std::source_location::current());
  /// Makes the previous device current again.
  ~device_scope();
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;

 private:
  int previous_;
};

/// Scope whose launches a profiler collects that waits for the program to start it (`ncu
/// --profile-from-start off`). Without a profiler, and on the simulated device, it has no effect.
class profiled_scope {
 public:
  /// Begins collecting.
  profiled_scope() noexcept;
  /// Ends collecting.
  ~profiled_scope();
  profiled_scope(profiled_scope const&) = delete;
  profiled_scope& operator=(profiled_scope const&) = delete;
};

/// Allocates device memory, uninitialized, aligned to 256 bytes. Throws cuda_error when memory is
/// short; the message names the bytes requested.
void* allocate(std::size_t bytes, std::source_location where = std::source_location::current());
/// Frees memory of `allocate` after all work of the device. Null is allowed.
void deallocate(void* memory) noexcept;
/// Allocates host memory that a copy reaches without blocking the host. Throws cuda_error.
void* allocate_pinned(std::size_t bytes,
                      std::source_location where = std::source_location::current());
/// Frees memory of `allocate_pinned`. Null is allowed.
void deallocate_pinned(void* memory) noexcept;

/// Copies `bytes` bytes in any direction. Enqueued. Throws cuda_error.
void copy_async(void* to, void const* from, std::size_t bytes, stream_ref s,
                std::source_location where = std::source_location::current());
/// Sets `bytes` bytes of device memory. Enqueued. Throws cuda_error.
void fill_async(void* to, unsigned char byte, std::size_t bytes, stream_ref s,
                std::source_location where = std::source_location::current());
/// True if the stream is being captured into a graph. Throws cuda_error.
bool capturing(stream_ref s, std::source_location where = std::source_location::current());

/// A kernel of the simulated device, with copies of its arguments.
struct bound_kernel {
  bound_kernel() = default;
  virtual ~bound_kernel() = default;
  bound_kernel(bound_kernel const&) = delete;
  bound_kernel& operator=(bound_kernel const&) = delete;

  /// Runs the kernel for one thread.
  virtual void operator()() const = 0;
};

/// A kernel in the form that both devices can launch.
struct kernel {
  void const* function = nullptr;  ///< the __global__ function
  /// Copies the arguments, each given by an address. Null on a GPU.
  std::unique_ptr<bound_kernel const> (*bind)(void const* function,
                                              void const* const* arguments) = nullptr;
};

/// Size of a launch.
struct launch_shape {
  dimensions blocks;             ///< blocks of the grid
  dimensions threads;            ///< threads of a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block. Units: bytes
  bool cooperative = true;       ///< all blocks are resident together and may wait for each other
  /// Consecutive blocks that form a cluster. Precondition: it divides the number of blocks, and a
  /// grid of clusters has one dimension.
  unsigned cluster = 1;
  /// The grid may become resident before the kernel before it in the stream has ended.
  /// Precondition: not cooperative and without clusters, and every thread calls
  /// simt::wait_for_previous_kernel before it reads or writes global memory. Devices before compute
  /// capability 9.0 ignore it.
  bool early = false;
};

/// Returns the size of an ordinary launch that is early.
inline launch_shape early_launch(dimensions blocks, dimensions threads, std::size_t shared_bytes) {
  return {blocks, threads, shared_bytes, false, 1, true};
}

/// Returns the number of blocks of the kernel that fit one multiprocessor of the current context,
/// at run time. Raises the kernel's shared-memory limit, and loads the kernel. Throws limit_error
/// if not even one block fits, and cuda_error.
int blocks_per_multiprocessor(kernel const& k, unsigned threads, std::size_t shared_bytes,
                              std::source_location where = std::source_location::current());
/// Raises the kernel's shared-memory limit to `shared_bytes` of dynamic shared memory, if it is
/// lower. Throws limit_error beyond what a block can have, and cuda_error if the kernel's static
/// shared memory leaves less.
void allow_shared_bytes(kernel const& k, std::size_t shared_bytes,
                        std::source_location where = std::source_location::current());
/// Returns the largest number of blocks that can be resident together on the current device, at
/// least 1. Throws as blocks_per_multiprocessor.
int resident_blocks(kernel const& k, unsigned threads, std::size_t shared_bytes,
                    std::source_location where = std::source_location::current());
/// Returns the largest number of clusters of `cluster` blocks that can be resident together on the
/// current device. Returns 0 if the device has no clusters of that size, or the kernel was not
/// compiled for a device that has. Throws cuda_error.
int resident_clusters(kernel const& k, unsigned threads, std::size_t shared_bytes, unsigned cluster,
                      std::source_location where = std::source_location::current());

/// Returns the registers of each thread of the kernel, 0 on the simulated device. Throws
/// cuda_error.
int registers(kernel const& k, std::source_location where = std::source_location::current());
/// Returns the local memory of each thread of the kernel, for indexed arrays and spilled registers.
/// 0 on the simulated device. Units: bytes. Throws cuda_error.
std::size_t local_bytes(kernel const& k,
                        std::source_location where = std::source_location::current());

/// Returns the virtual architecture that the kernel was compiled for: 90 for `compute_90`, 0 on the
/// simulated device. Throws cuda_error.
int compiled_for(kernel const& k, std::source_location where = std::source_location::current());

/// Result of a cooperative launch.
enum class [[nodiscard]] launch_result{
    launched,  ///< enqueued
    too_large  ///< not enqueued: the device cannot hold all blocks together
};
/// Throws limit_error, with the value and its limit, for a shape that no device can launch.
void check_launch(launch_shape const& shape, std::source_location where);
/// Enqueues the kernel with copies of the arguments, each given by an address. Returns `too_large`
/// for a cooperative launch that does not fit. Throws cuda_error for every other failure.
launch_result try_launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
                         std::source_location where = std::source_location::current());
/// Enqueues the kernel like `try_launch`. Throws limit_error for a cooperative launch that does not
/// fit, and cuda_error.
void launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
            std::source_location where = std::source_location::current());

/// Arrays of `sort_pairs` in device memory. Shape: [n] each. Precondition: no two overlap.
struct pair_arrays {
  std::uint32_t const* keys;     ///< read only
  std::uint32_t const* values;   ///< read only
  std::uint32_t* sorted_keys;    ///< the keys from the smallest to the largest
  std::uint32_t* sorted_values;  ///< their values
  std::uint32_t n;               ///< at most 2^31 - 1

  /// True if all members are equal.
  friend bool operator==(pair_arrays const&, pair_arrays const&) = default;
};
/// Returns the temporary device memory that `sort_pairs` and `find_runs` need for up to `n`
/// elements with keys of `bits` bits. Units: bytes. Throws cuda_error.
std::size_t sort_bytes(std::uint32_t n, unsigned bits,
                       std::source_location where = std::source_location::current());
/// Sorts the pairs by the lowest `bits` bits of their keys, stably. Precondition: `bits` is at
/// least 1. Enqueued; allocates nothing. Throws cuda_error.
void sort_pairs(pair_arrays const& a, unsigned bits, void* temporary, std::size_t temporary_bytes,
                stream_ref s, std::source_location where = std::source_location::current());
/// A sort that the device skips if a word says so when the stream gets there.
class gated_sort {
 public:
  gated_sort();
  /// A moved-from object may only be destroyed or assigned to.
  gated_sort(gated_sort&& other) noexcept;
  /// A moved-from object may only be destroyed or assigned to.
  gated_sort& operator=(gated_sort&& other) noexcept;
  ~gated_sort();

  /// Prepares a sort, with the arguments of `sort_pairs`. All calls must have the same arguments
  /// but for `a.n`. Returns false if the sort cannot be skipped: if the last call had another
  /// number of pairs, because preparing one takes long; if `s` is being captured; if the driver or
  /// the toolkit is older than CUDA 12.4. Throws cuda_error.
  bool prepare(pair_arrays const& a, unsigned bits, void* temporary, std::size_t temporary_bytes,
               std::uint32_t* gate, stream_ref s,
               std::source_location where = std::source_location::current());
  /// Enqueues the prepared sort. It is skipped if `gate[0]` is 0 then. Moves `gate[0]` to
  /// `gate[1]`, and sets `gate[0]` to 0. Precondition: `prepare` returned true. Throws cuda_error.
  void launch(stream_ref s, std::source_location where = std::source_location::current()) const;

 private:
  struct content;
  std::unique_ptr<content> content_;
  bool is_supported_ = true;
};
/// Writes the indices at which a segment of equal `keys` begins to `starts`, in order, and their
/// number to `count`. Enqueued; allocates nothing. Throws cuda_error.
void find_runs(std::uint32_t const* keys, std::uint32_t n, std::uint32_t* starts,
               std::uint32_t* count, void* temporary, std::size_t temporary_bytes, stream_ref s,
               std::source_location where = std::source_location::current());

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
