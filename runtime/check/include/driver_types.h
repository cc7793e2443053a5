// SPDX-License-Identifier: Apache-2.0
// Types and constants of the CUDA runtime API that a program under `warden check` may name.
#pragma once

#include <warden/stream.hpp>

#include <cstddef>

using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

#define WARDEN_CUDA_ERRORS(X)                                                                   \
  X(cudaSuccess, 0, "no error")                                                                 \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                               \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                              \
  X(cudaErrorInitializationError, 3, "initialization error")                                    \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                         \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                        \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                   \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                              \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                               \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                      \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                             \
  X(cudaErrorNotReady, 600, "device not ready")                                                 \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                   \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")              \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                     \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                       \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                  \
    "part or all of the requested memory range is already mapped")                              \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                  \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")           \
  X(cudaErrorNotSupported, 801, "operation not supported")                                      \
  X(cudaErrorInvalidClusterSize, 912, "invalid cluster size")                                   \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define WARDEN_ENUMERATOR(name, number, text) name = number,
  WARDEN_CUDA_ERRORS(WARDEN_ENUMERATOR)
#undef WARDEN_ENUMERATOR
};
using cudaError_t = cudaError;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin,
      reservedSharedMemPerBlock, totalConstMem, memPitch, textureAlignment;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3],
      maxGridSize[3], clockRate, major, minor, multiProcessorCount, l2CacheSize,
      maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, memoryClockRate, memoryBusWidth,
      asyncEngineCount, deviceOverlap, concurrentKernels, cooperativeLaunch, managedMemory,
      concurrentManagedAccess, pageableMemoryAccess, unifiedAddressing, canMapHostMemory,
      integrated, ECCEnabled, kernelExecTimeoutEnabled, computeMode, pciBusID, pciDeviceID,
      pciDomainID;
};

constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0,
                   cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0,
                   cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4, cudaMemAttachGlobal = 1, cudaMemAttachHost = 2,
                   cudaDeviceScheduleAuto = 0, cudaDeviceScheduleBlockingSync = 4,
                   cudaDeviceMapHost = 8;
constexpr int cudaCpuDeviceId = -1;
