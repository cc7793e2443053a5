// SPDX-License-Identifier: Apache-2.0
// The one device of the CUDA runtime API, with the limits of a GPU of compute capability 9.0.

#include "include/cuda_runtime_api.h"
#include "session.hpp"

#include <warden/runtime.hpp>

#include <cstdio>

using namespace warden::check;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice);
}
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return fail(cudaErrorInvalidDevice);
  auto const f = warden::runtime::facts(0);
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof(p.name), "%s", f.name.c_str());
  p.totalGlobalMem = f.global_bytes;
  p.sharedMemPerBlock = 48 * 1024;
  p.sharedMemPerMultiprocessor = f.shared_bytes_per_multiprocessor;
  p.sharedMemPerBlockOptin = f.shared_bytes_per_block;
  p.reservedSharedMemPerBlock = f.reserved_shared_bytes_per_block;
  p.totalConstMem = 64 * 1024;
  p.memPitch = 2147483647;
  p.textureAlignment = 512;
  p.regsPerBlock = p.regsPerMultiprocessor = f.registers_per_multiprocessor;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.clockRate = p.memoryClockRate = 1000000;
  p.major = 9;
  p.multiProcessorCount = f.multiprocessors;
  p.l2CacheSize = static_cast<int>(f.cache_bytes);
  p.maxThreadsPerMultiProcessor = f.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = 32;
  p.memoryBusWidth = 1024;
  p.asyncEngineCount = p.deviceOverlap = p.concurrentKernels = p.cooperativeLaunch = 1;
  p.managedMemory = p.concurrentManagedAccess = p.unifiedAddressing = p.canMapHostMemory = 1;
  *properties = p;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (cudaError_t const error = cudaGetDeviceProperties(&p, device); error != cudaSuccess)
    return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[attribute - cudaDevAttrMaxBlockDimX];
      break;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[attribute - cudaDevAttrMaxGridDimX];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrClockRate:
      *value = p.clockRate;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = p.memoryClockRate;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = p.memoryBusWidth;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      break;
    default:
      return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceReset(site where) { return cudaDeviceSynchronize(where); }
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 12040;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = warden::runtime::facts(0).global_bytes;
  return cudaSuccess;
}
