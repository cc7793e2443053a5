// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA runtime API. Prints the lines in which one does not do what CUDA says.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

int wrong = 0;
#define EXPECT(condition)                            \
  do {                                               \
    if (!(condition)) {                              \
      std::printf("%d: %s\n", __LINE__, #condition); \
      ++wrong;                                       \
    }                                                \
  } while (false)

__device__ int device_value = 3;
__constant__ int constants[4];
__managed__ int managed_value = 5;

__global__ void add(int* to, int value) { *to += value; }
__global__ void read_symbols(int* to) { *to = device_value + constants[2] + managed_value; }
__global__ void double_it(int* value) { *value *= 2; }
__global__ void wide(int* to) {
  extern __shared__ int shared[];
  shared[20000] = 7;
  *to = shared[20000];
}

void memory() {
  int *a, *b, *pinned, *managed, host = 1;
  EXPECT(cudaMalloc(&a, 64) == cudaSuccess);
  EXPECT(cudaMalloc((void**)&b, 64) == cudaSuccess);
  EXPECT(cudaMallocHost(&pinned, sizeof(int)) == cudaSuccess);
  EXPECT(cudaMallocManaged(&managed, sizeof(int)) == cudaSuccess);
  EXPECT(cudaMemset(a, 1, 64) == cudaSuccess);
  EXPECT(cudaMemcpy(b, a, 64, cudaMemcpyDeviceToDevice) == cudaSuccess);
  EXPECT(cudaMemcpy(&host, b + 15, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 0x01010101);
  *managed = 4;
  add<<<1, 1>>>(managed, 3);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && *managed == 7);
  EXPECT(cudaMemcpyAsync(pinned, managed, 4, cudaMemcpyDefault) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(0) == cudaSuccess && *pinned == 7);
  // A pageable source may change as soon as the call has returned.
  host = 11;
  EXPECT(cudaMemcpyAsync(a, &host, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  host = 12;
  EXPECT(cudaMemcpy(&host, a, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 11);
  int rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, columns[2][2];
  EXPECT(cudaMemcpy2D(columns, 8, &rows[0][1], 12, 8, 2, cudaMemcpyHostToHost) == cudaSuccess);
  EXPECT(columns[0][0] == 2 && columns[0][1] == 3 && columns[1][0] == 5 && columns[1][1] == 6);

  EXPECT(cudaFree(a) == cudaSuccess && cudaFree(b) == cudaSuccess &&
         cudaFree(nullptr) == cudaSuccess);
  EXPECT(cudaFreeHost(pinned) == cudaSuccess && cudaFree(managed) == cudaSuccess);
  EXPECT(cudaGetLastError() == cudaSuccess);
}

void symbols() {
  int const host[] = {1, 2, 3, 4};
  int *to, result, *address;
  cudaMalloc(&to, 4);
  EXPECT(cudaMemcpyToSymbol(constants, host, sizeof(host)) == cudaSuccess);
  EXPECT(cudaMemcpyToSymbol(constants, host, 4, 8) == cudaSuccess);  // constants[2] = 1
  EXPECT(cudaMemcpyFromSymbol(&result, device_value, 4) == cudaSuccess && result == 3);
  EXPECT(cudaGetSymbolAddress((void**)&address, device_value) == cudaSuccess);
  double_it<<<1, 1>>>(address);
  read_symbols<<<1, 1>>>(to);
  cudaMemcpy(&result, to, 4, cudaMemcpyDeviceToHost);
  EXPECT(result == 6 + 1 + 5);
  double_it<<<1, 1>>>(address);
  EXPECT(cudaMemcpyAsync(to, address, 4, cudaMemcpyDeviceToDevice) == cudaSuccess);
  EXPECT(cudaMemcpy(&result, to, 4, cudaMemcpyDeviceToHost) == cudaSuccess && result == 12);
  cudaFree(to);
  EXPECT(cudaMemcpyToSymbol(constants, host, 20) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpyToSymbol(constants, host, 4, 16) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpyFromSymbol(&result, constants, 4, 1'000'000) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpyToSymbol(constants, host, 4, 12) == cudaSuccess);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

/// As in CUDA, a stream waits for the default stream, and the default stream for it.
void streams() {
  int *value, result;
  cudaMalloc(&value, 4);
  cudaStream_t a, b, c;
  EXPECT(cudaStreamCreate(&a) == cudaSuccess);
  EXPECT(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) == cudaSuccess);
  EXPECT(cudaStreamCreateWithPriority(&c, cudaStreamDefault, 0) == cudaSuccess);
  cudaEvent_t start, end;
  EXPECT(cudaEventCreate(&start) == cudaSuccess);
  EXPECT(cudaEventCreateWithFlags(&end, cudaEventDisableTiming) == cudaSuccess);

  cudaMemsetAsync(value, 0, 4);
  add<<<1, 1, 0, a>>>(value, 1);
  double_it<<<1, 1>>>(value);
  add<<<1, 1, 0, c>>>(value, 3);
  double_it<<<1, 1>>>(value);
  EXPECT(cudaEventRecord(start) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(b, start, 0) == cudaSuccess);
  add<<<1, 1, 0, b>>>(value, 1);
  EXPECT(cudaEventRecord(end, b) == cudaSuccess);
  EXPECT(cudaEventSynchronize(end) == cudaSuccess && cudaEventQuery(end) == cudaSuccess);
  float milliseconds = 0;
  EXPECT(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess && milliseconds > 0);
  EXPECT(cudaMemcpyAsync(&result, value, 4, cudaMemcpyDeviceToHost, a) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(a) == cudaSuccess && result == 11);
  EXPECT(cudaStreamQuery(c) == cudaSuccess);
  for (cudaStream_t s : {a, b, c}) EXPECT(cudaStreamDestroy(s) == cudaSuccess);
  EXPECT(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(end) == cudaSuccess);
  cudaFree(value);
}

void errors() {
  int *memory, host = 0;
  cudaMalloc(&memory, 4);
  EXPECT(cudaFree(&host) == cudaErrorInvalidValue);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  EXPECT(cudaMemcpy(memory, &host, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  add<<<1, 1025>>>(memory, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  add<<<0, 1>>>(memory, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  add<<<dim3(1, 65536), 1>>>(memory, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  int const bytes = 100000;
  wide<<<1, 1, bytes>>>(memory);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30) ==
         cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
         cudaSuccess);
  cudaGetLastError();
  wide<<<1, 1, bytes>>>(memory);
  EXPECT(cudaMemcpy(&host, memory, 4, cudaMemcpyDeviceToHost) == cudaSuccess && host == 7);
  EXPECT(cudaStreamSynchronize((cudaStream_t)&host) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventSynchronize((cudaEvent_t)&host) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaSetDevice(0) == cudaSuccess);
  void* arguments[] = {&memory, &host};
  EXPECT(cudaLaunchCooperativeKernel((void*)add, dim3(100000), dim3(1), arguments) ==
         cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  cudaFree(memory);
}

void device() {
  int count = 0, current = -1, value = 0, blocks = 0, grid = 0, block = 0;
  cudaDeviceProp properties;
  EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
  EXPECT(cudaGetDevice(&current) == cudaSuccess && current == 0);
  EXPECT(cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.warpSize == 32);
  EXPECT(properties.major == 9 && properties.multiProcessorCount > 0);
  EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  EXPECT(value == properties.multiProcessorCount);
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0) == cudaSuccess);
  EXPECT(blocks > 0);
  EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0) == cudaSuccess);
  EXPECT(grid > 0 && block > 0);
  EXPECT(cudaDeviceReset() == cudaSuccess);
}

int main(int argc, char** argv) {
  memory();
  symbols();
  streams();
  errors();
  device();
  EXPECT(argc == 3 && std::string(argv[1]) == "--seeds" && std::string(argv[2]) == "a b");
  return wrong == 0 ? 0 : 1;
}
