// SPDX-License-Identifier: Apache-2.0
// Streams and events of the CUDA runtime API.

#include "include/cuda_runtime_api.h"
#include "session.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace warden::check {
namespace {

struct program_stream {
  stream own;
  bool waits_for_default;
  bool has_new_work = false;       ///< that the default stream was not ordered after
  std::uint64_t default_seen = 0;  ///< number of the default stream's work that is waited for

  [[nodiscard]] cudaStream_t handle() const { return stream_ref{own}.handle(); }
};
struct program_event {
  event own;
  bool recorded = false;
};

struct all_of_program {
  std::vector<std::unique_ptr<program_stream>> streams;
  std::vector<std::unique_ptr<program_event>> events;
  std::uint64_t default_work = 0;  ///< calls so far
};
all_of_program& all() {
  // Never destroyed: the program's static objects may use streams when it ends.
  static all_of_program& a = *new all_of_program;
  return a;
}

program_stream* find(cudaStream_t stream) {
  for (auto const& s : all().streams) {
    if (s->handle() == stream) return s.get();
  }
  return nullptr;
}
program_event* find(cudaEvent_t e) {
  for (auto const& known : all().events) {
    if (known->own.handle() == e) return known.get();
  }
  return nullptr;
}

void order_after(stream_ref later, stream_ref earlier, std::source_location where) {
  event place{where};
  place.record(earlier, where);
  later.wait_for(place, where);
}

/// Calls `action` if both are the program's.
template <class Action>
cudaError_t with(cudaStream_t stream, cudaEvent_t e, Action const& action) {
  program_event* const known = find(e);
  if (known == nullptr || (stream != nullptr && find(stream) == nullptr))
    return fail(cudaErrorInvalidResourceHandle);
  return guarded([&] { action(*known); });
}

}  // namespace

void order(cudaStream_t stream, std::source_location where) {
  if (stream == nullptr) {
    ++all().default_work;
    for (auto const& s : all().streams) {
      if (!s->waits_for_default || !std::exchange(s->has_new_work, false)) continue;
      order_after({}, s->own, where);
    }
    return;
  }
  program_stream* const s = find(stream);
  if (s == nullptr)
    throw cuda_error{cudaErrorInvalidResourceHandle, "invalid resource handle", where};
  if (!s->waits_for_default) return;
  s->has_new_work = true;
  if (std::exchange(s->default_seen, all().default_work) != all().default_work)
    order_after(s->own, {}, where);
}

}  // namespace warden::check

using namespace warden::check;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return guarded([&] {
    all().streams.push_back(std::make_unique<program_stream>(
        program_stream{warden::stream{}, (flags & cudaStreamNonBlocking) == 0}));
    *stream = all().streams.back()->handle();
  });
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (find(stream) == nullptr) return fail(cudaErrorInvalidResourceHandle);
  return guarded([&] {
    // The work that the stream still holds runs; the default stream waits for it.
    order(nullptr, std::source_location::current());
    std::erase_if(all().streams, [&](auto const& s) { return s->handle() == stream; });
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream, site where) {
  return guarded([&] {
    order(stream, where);
    warden::stream_ref{stream}.synchronize(where);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream, site where) {
  return cudaStreamSynchronize(stream, where);
}
cudaError_t cudaDeviceSynchronize(site where) {
  return guarded([&] {
    for (auto const& s : all().streams) s->own.synchronize(where);
    warden::stream_ref{}.synchronize(where);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  return guarded([&] {
    all().events.push_back(std::make_unique<program_event>());
    *e = all().events.back()->own.handle();
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* e) {
  return cudaEventCreateWithFlags(e, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  return with(nullptr, e, [&](program_event&) {
    std::erase_if(all().events, [&](auto const& known) { return known->own.handle() == e; });
  });
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream, site where) {
  return with(stream, e, [&](program_event& known) {
    order(stream, where);
    known.own.record(stream, where);
    known.recorded = true;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned, site where) {
  return with(stream, e, [&](program_event& known) {
    order(stream, where);
    warden::stream_ref{stream}.wait_for(known.own, where);
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t e, site where) {
  return with(nullptr, e, [&](program_event& known) { known.own.synchronize(where); });
}
cudaError_t cudaEventQuery(cudaEvent_t e, site where) { return cudaEventSynchronize(e, where); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end,
                                 site where) {
  for (cudaEvent_t const e : {start, end}) {
    program_event* const known = find(e);
    if (known == nullptr || !known->recorded) return fail(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = 1;
  return cudaEventSynchronize(end, where);
}
