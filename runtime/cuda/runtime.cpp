// SPDX-License-Identifier: Apache-2.0
// The compiled host part on CUDA: memory, copies, device facts and cooperative launches.

#include "../refuse_block.hpp"
#include "check.hpp"

#include <warden/runtime.hpp>

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

/// For calls that may fail without harm.
void ignore(cudaError_t code) noexcept {
  if (code != cudaSuccess) cudaGetLastError();
}

int attribute(cudaDeviceAttr which, int ordinal, std::source_location where) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "reading a device attribute", where);
  return value;
}

}  // namespace

namespace runtime {

std::vector<std::pair<std::string, std::string>> device_details(std::source_location where) {
  int const ordinal = current_device(where);
  int driver = 0, toolkit = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver", where);
  check(cudaRuntimeGetVersion(&toolkit), "asking for the runtime", where);
  auto const version = [](int v) {
    return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
  };
  device_facts const f = facts(ordinal, where);
  return {{"driver_cuda", version(driver)},
          {"toolkit", version(toolkit)},
          {"compute_capability", std::to_string(f.compute_capability / 10) + "." +
                                     std::to_string(f.compute_capability % 10)},
          {"multiprocessors", std::to_string(f.multiprocessors)},
          {"clock_mhz", std::to_string(attribute(cudaDevAttrClockRate, ordinal, where) / 1000)},
          {"memory_clock_mhz",
           std::to_string(attribute(cudaDevAttrMemoryClockRate, ordinal, where) / 1000)}};
}

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

int current_device(std::source_location where) {
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "asking for the current device", where);
  return ordinal;
}

device_facts facts(int ordinal, std::source_location where) {
  // The driver takes longer for this answer than for a launch.
  static std::mutex mutex;
  static std::map<int, device_facts> known;
  std::lock_guard const lock{mutex};
  if (auto const place = known.find(ordinal); place != known.end()) return place->second;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal),
        "asking for device " + std::to_string(ordinal), where);
  device_facts f;
  f.name = properties.name;
  f.ordinal = ordinal;
  f.cooperative_launch = attribute(cudaDevAttrCooperativeLaunch, ordinal, where) != 0;
  f.multiprocessors = properties.multiProcessorCount;
  f.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  f.registers_per_multiprocessor = properties.regsPerMultiprocessor;
  f.compute_capability = properties.major * 10 + properties.minor;
  f.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  f.shared_bytes_per_multiprocessor = properties.sharedMemPerMultiprocessor;
  f.reserved_shared_bytes_per_block = properties.reservedSharedMemPerBlock;
  f.global_bytes = properties.totalGlobalMem;
  f.cache_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  known.emplace(ordinal, f);
  return f;
}

device_scope::device_scope(int ordinal, std::source_location where)
    : previous_{current_device(where)} {
  if (ordinal != previous_)
    check(cudaSetDevice(ordinal), "selecting device " + std::to_string(ordinal), where);
}
device_scope::~device_scope() {
  int now = 0;
  if (cudaGetDevice(&now) == cudaSuccess && now != previous_) cudaSetDevice(previous_);
}

profiled_scope::profiled_scope() noexcept { ignore(cudaProfilerStart()); }
profiled_scope::~profiled_scope() { ignore(cudaProfilerStop()); }

void* allocate(std::size_t bytes, std::source_location where) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes),
        "allocating " + std::to_string(bytes) + " bytes of device memory", where);
  return memory;
}
void deallocate(void* memory) noexcept {
  if (memory != nullptr && cudaFree(memory) != cudaSuccess) cudaGetLastError();
}
void* allocate_pinned(std::size_t bytes, std::source_location where) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes),
        "allocating " + std::to_string(bytes) + " bytes of pinned memory", where);
  return memory;
}
void deallocate_pinned(void* memory) noexcept {
  if (memory != nullptr && cudaFreeHost(memory) != cudaSuccess) cudaGetLastError();
}

void copy_async(void* to, void const* from, std::size_t bytes, stream_ref s,
                std::source_location where) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s.handle()),
        "copying " + std::to_string(bytes) + " bytes", where);
}
void fill_async(void* to, unsigned char byte, std::size_t bytes, stream_ref s,
                std::source_location where) {
  check(cudaMemsetAsync(to, byte, bytes, s.handle()), "filling " + std::to_string(bytes) + " bytes",
        where);
}
bool capturing(stream_ref s, std::source_location where) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(s.handle(), &status), "asking whether a stream is captured", where);
  return status != cudaStreamCaptureStatusNone;
}

void allow_shared_bytes(kernel const& k, std::size_t shared_bytes, std::source_location where) {
  static std::mutex mutex;
  static std::map<std::pair<void const*, int>, std::size_t> raised;
  int const ordinal = current_device(where);
  std::lock_guard const lock{mutex};
  auto const [place, fresh] = raised.try_emplace({k.function, ordinal}, 0);
  // Only ever raised: another host thread may be about to launch the kernel with more.
  std::size_t& limit = place->second;
  if (fresh) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, k.function), "asking for a kernel's shared memory",
          where);
    limit = static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes);
  }
  if (shared_bytes <= limit) return;
  auto const most =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal, where));
  if (shared_bytes > most) {
    throw limit_error{"a block with " + std::to_string(shared_bytes) +
                          " bytes of dynamic shared memory; the device has " + std::to_string(most),
                      where};
  }
  check(cudaFuncSetAttribute(k.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)),
        "asking for " + std::to_string(shared_bytes) + " bytes of shared memory a block", where);
  limit = shared_bytes;
}

int blocks_per_multiprocessor(kernel const& k, unsigned threads, std::size_t shared_bytes,
                              std::source_location where) {
  allow_shared_bytes(k, shared_bytes, where);
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.function,
                                                      static_cast<int>(threads), shared_bytes),
        "asking for the occupancy of a kernel", where);
  if (blocks == 0) refuse_block(threads, shared_bytes, where);
  return blocks;
}

int resident_blocks(kernel const& k, unsigned threads, std::size_t shared_bytes,
                    std::source_location where) {
  int const ordinal = current_device(where);
  return blocks_per_multiprocessor(k, threads, shared_bytes, where) *
         attribute(cudaDevAttrMultiProcessorCount, ordinal, where);
}

namespace {

/// A launch, and the attributes that its configuration points to.
struct configured_launch {
  cudaLaunchAttribute attributes[3]{};
  cudaLaunchConfig_t config{};

  configured_launch(launch_shape const& shape, bool early, cudaStream_t s) {
    unsigned count = 0;
    if (shape.cluster != 1) {
      attributes[count].id = cudaLaunchAttributeClusterDimension;
      attributes[count++].val.clusterDim = {shape.cluster, 1, 1};
    }
    if (shape.cooperative) {
      attributes[count].id = cudaLaunchAttributeCooperative;
      attributes[count++].val.cooperative = 1;
    }
    if (early) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    config.gridDim = {shape.blocks.x, shape.blocks.y, shape.blocks.z};
    config.blockDim = {shape.threads.x, shape.threads.y, shape.threads.z};
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = s;
    config.attrs = attributes;
    config.numAttrs = count;
  }
};

}  // namespace

int resident_clusters(kernel const& k, unsigned threads, std::size_t shared_bytes, unsigned cluster,
                      std::source_location where) {
  constexpr int with_clusters = 90;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, k.function), "asking what a kernel was compiled for",
        where);
  // Code of an older architecture has no clusters, on any device.
  if (attributes.ptxVersion < with_clusters ||
      facts(current_device(where), where).compute_capability < with_clusters)
    return 0;
  allow_shared_bytes(k, shared_bytes, where);
  check(cudaFuncSetAttribute(k.function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
        "asking for large clusters", where);
  configured_launch const one{{cluster, threads, shared_bytes, true, cluster}, false, nullptr};
  int clusters = 0;
  cudaError_t const code = cudaOccupancyMaxActiveClusters(&clusters, k.function, &one.config);
  if (code == cudaErrorInvalidClusterSize) {
    cudaGetLastError();
    return 0;
  }
  check(code, "asking for the clusters of " + std::to_string(cluster) + " blocks", where);
  return clusters;
}

namespace {
cudaFuncAttributes attributes_of(kernel const& k, std::source_location where) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, k.function), "asking for a kernel's attributes", where);
  return attributes;
}
}  // namespace
int registers(kernel const& k, std::source_location where) {
  return attributes_of(k, where).numRegs;
}
std::size_t local_bytes(kernel const& k, std::source_location where) {
  return attributes_of(k, where).localSizeBytes;
}
int compiled_for(kernel const& k, std::source_location where) {
  return attributes_of(k, where).ptxVersion;
}

namespace {
/// True if the kernel waits for the kernel before it: older machine code has no such instruction.
/// Asked once for each kernel and device.
bool waits_for_previous(kernel const& k, std::source_location where) {
  static thread_local std::map<std::pair<void const*, int>, bool> known;
  auto const [found, is_new] = known.try_emplace({k.function, current_device(where)}, false);
  if (is_new) found->second = compiled_for(k, where) >= 90;
  return found->second;
}
}  // namespace

launch_result try_launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref s,
                         std::source_location where) {
  configured_launch const all{shape, shape.early && waits_for_previous(k, where), s.handle()};
  cudaError_t const code = cudaLaunchKernelExC(&all.config, k.function, arguments);
  if (shape.cooperative && code == cudaErrorCooperativeLaunchTooLarge) {
    cudaGetLastError();
    return launch_result::too_large;
  }
  std::string const clusters =
      shape.cluster == 1 ? "" : " in clusters of " + std::to_string(shape.cluster);
  check(code,
        (shape.cooperative ? "launching a cooperative kernel of " : "launching a kernel of ") +
            std::to_string(shape.blocks.count()) + " blocks of " +
            std::to_string(shape.threads.count()) + " threads" + clusters,
        where);
  return launch_result::launched;
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
