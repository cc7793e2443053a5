// SPDX-License-Identifier: Apache-2.0
/// @file
/// The compiled host part below the templates: memory, copies, device facts and launches, once for
/// CUDA and once for the simulated device. Most users need only buffer.hpp and stream.hpp.
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

/// What a plan needs to know about the device.
struct device_facts {
  std::string name;                        ///< as the driver gives it, or "simulated device"
  int ordinal = 0;                         ///< number of the device among the usable ones
  bool simulated = false;                  ///< whether this is the simulated device
  bool cooperative_launch = false;         ///< whether fused launches are possible
  int multiprocessors = 0;                 ///< multiprocessors of the device
  int threads_per_multiprocessor = 0;      ///< the most that one can hold
  int registers_per_multiprocessor = 0;    ///< registers of 32 bits
  int compute_capability = 0;              ///< 90 for 9.0; 0 on the simulated device
  std::size_t shared_bytes_per_block = 0;  ///< the most dynamic shared memory a block can ask for
  std::size_t shared_bytes_per_multiprocessor = 0;  ///< shared by the resident blocks
  std::size_t reserved_shared_bytes_per_block = 0;  ///< taken by the system for each block
  std::size_t global_bytes = 0;                     ///< global memory, in bytes
  std::size_t cache_bytes = 0;                      ///< level-2 cache, in bytes
};

/// Driver, toolkit and clocks (in MHz) of the current device, for the context of a result file:
/// names and values; none on the simulated device. Throws cuda_error.
std::vector<std::pair<std::string, std::string>> device_details(
    std::source_location where = std::source_location::current());

/// The number of usable devices: 0 without a driver or a GPU, 1 on the simulated device.
int device_count() noexcept;
/// Ordinal of the device current in this host thread. Throws cuda_error.
int current_device(std::source_location where = std::source_location::current());
/// The facts of one device. Throws cuda_error when there is no such device.
device_facts facts(int ordinal, std::source_location where = std::source_location::current());

/// Makes `ordinal` current until the end of the scope.
class device_scope {
 public:
  /// Throws cuda_error when there is no such device.
  explicit device_scope(int ordinal, std::source_location where = std::source_location::current());
  /// Makes the device current that was so before.
  ~device_scope();
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;

 private:
  int previous_;
};

/// Where a profiler that waits for the program to begin (`ncu --profile-from-start off`) collects:
/// the launches of this scope. Nothing else changes, and nothing at all on the simulated device.
class profiled_scope {
 public:
  /// Begins collecting.
  profiled_scope() noexcept;
  /// Ends collecting.
  ~profiled_scope();
  profiled_scope(profiled_scope const&) = delete;
  profiled_scope& operator=(profiled_scope const&) = delete;
};

/// Device memory, aligned to 256 bytes, contents garbage. Throws cuda_error when there is not
/// enough, naming the bytes asked for.
void* allocate(std::size_t bytes, std::source_location where = std::source_location::current());
/// Frees what `allocate` returned, behind all work of the device; null is allowed.
void deallocate(void* memory) noexcept;
/// Host memory that a copy can reach without blocking the host. Throws cuda_error.
void* allocate_pinned(std::size_t bytes,
                      std::source_location where = std::source_location::current());
/// Frees what `allocate_pinned` returned; null is allowed.
void deallocate_pinned(void* memory) noexcept;

/// Copies `bytes` bytes in any direction; enqueued. Throws cuda_error.
void copy_async(void* to, void const* from, std::size_t bytes, stream_ref s,
                std::source_location where = std::source_location::current());
/// Sets `bytes` bytes of device memory; enqueued. Throws cuda_error.
void fill_async(void* to, unsigned char byte, std::size_t bytes, stream_ref s,
                std::source_location where = std::source_location::current());
/// Whether the stream is being captured into a graph. Throws cuda_error.
bool capturing(stream_ref s, std::source_location where = std::source_location::current());

/// A kernel of the simulated device, with copies of its arguments.
struct bound_kernel {
  bound_kernel() = default;
  virtual ~bound_kernel() = default;
  bound_kernel(bound_kernel const&) = delete;
  bound_kernel& operator=(bound_kernel const&) = delete;

  /// Calls the kernel for one thread.
  virtual void operator()() const = 0;
};

/// A kernel, as both devices can launch it.
struct kernel {
  void const* function = nullptr;  ///< the __global__ function
  /// Copies the arguments, given by an address each. Null on a GPU.
  std::unique_ptr<bound_kernel const> (*bind)(void const* function,
                                              void const* const* arguments) = nullptr;
};

/// The size of a launch.
struct launch_shape {
  dimensions blocks;             ///< blocks of the grid
  dimensions threads;            ///< threads of a block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block, in bytes
  bool cooperative = true;  ///< all blocks are resident together, so they may wait for one another
  /// Blocks that follow one another and are a cluster; a divisor of the number of blocks, which has
  /// one dimension then.
  unsigned cluster = 1;
};

/// Blocks of the kernel that fit one multiprocessor of the current context, at run time; also
/// raises the kernel's shared-memory limit and loads the kernel. Throws limit_error if not even one
/// block fits, and cuda_error.
int blocks_per_multiprocessor(kernel const& k, unsigned threads, std::size_t shared_bytes,
                              std::source_location where = std::source_location::current());
/// Raises the kernel's shared-memory limit, where it is lower, for launches with that much dynamic
/// shared memory. Throws limit_error beyond what a block can have, and cuda_error where the
/// kernel's static shared memory leaves less.
void allow_shared_bytes(kernel const& k, std::size_t shared_bytes,
                        std::source_location where = std::source_location::current());
/// The most blocks that can be resident together on the current device, at least 1. Throws as
/// blocks_per_multiprocessor.
int resident_blocks(kernel const& k, unsigned threads, std::size_t shared_bytes,
                    std::source_location where = std::source_location::current());
/// The most clusters of `cluster` blocks that can be resident together, on the current device; 0
/// where it has none of that size, or the kernel was not compiled for a device that has. Throws
/// cuda_error.
int resident_clusters(kernel const& k, unsigned threads, std::size_t shared_bytes, unsigned cluster,
                      std::source_location where = std::source_location::current());

/// Registers of each thread of the kernel. 0 on the simulated device. Throws cuda_error.
int registers(kernel const& k, std::source_location where = std::source_location::current());
/// Bytes of local memory of each thread of the kernel: arrays that are indexed, and registers that
/// were spilled. 0 on the simulated device. Throws cuda_error.
std::size_t local_bytes(kernel const& k,
                        std::source_location where = std::source_location::current());

/// The virtual architecture that the kernel was compiled for: 90 for `compute_90`. 0 on the
/// simulated device. Throws cuda_error.
int compiled_for(kernel const& k, std::source_location where = std::source_location::current());

/// Whether a cooperative launch fitted the device.
enum class [[nodiscard]] launch_result{
    launched,  ///< enqueued
    too_large  ///< not enqueued: the device cannot hold all blocks together
};
/// Enqueues the kernel with copies of the arguments, given by an address each. A cooperative launch
/// that does not fit returns `too_large`; everything else that fails throws cuda_error.
launch_result try_launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
                         std::source_location where = std::source_location::current());
/// Enqueues the kernel like `try_launch`. Throws limit_error for a cooperative launch that does not
/// fit, and cuda_error.
void launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
            std::source_location where = std::source_location::current());

/// The arrays of `sort_pairs`, in device memory: `n` elements each, none overlapping another.
struct pair_arrays {
  std::uint32_t const* keys;     ///< read only
  std::uint32_t const* values;   ///< read only
  std::uint32_t* sorted_keys;    ///< the keys from the smallest to the largest
  std::uint32_t* sorted_values;  ///< their values
  std::uint32_t n;               ///< at most 2^31 - 1
};
/// Temporary device memory, in bytes, with which `sort_pairs` and `find_runs` can do up to `n`
/// elements with keys of `bits` bits. Throws cuda_error.
std::size_t sort_bytes(std::uint32_t n, unsigned bits,
                       std::source_location where = std::source_location::current());
/// Sorts the pairs by the lowest `bits` bits of their keys, at least one, and keeps the order of
/// equal ones; enqueued, and allocates nothing. Throws cuda_error.
void sort_pairs(pair_arrays const& a, unsigned bits, void* temporary, std::size_t temporary_bytes,
                stream_ref s, std::source_location where = std::source_location::current());
/// Writes to `starts` the indices at which a run of equal `keys` begins, in order, and their number
/// to `count`; enqueued like `sort_pairs`. Throws cuda_error.
void find_runs(std::uint32_t const* keys, std::uint32_t n, std::uint32_t* starts,
               std::uint32_t* count, void* temporary, std::size_t temporary_bytes, stream_ref s,
               std::source_location where = std::source_location::current());

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
