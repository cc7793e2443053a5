// SPDX-License-Identifier: Apache-2.0
// State that the calls of the CUDA runtime API share: errors, findings, and the order of streams.
#pragma once

#include "include/driver_types.h"

#include <warden/error.hpp>
#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <new>
#include <source_location>
#include <string>

namespace warden::check {

/// Makes `code` the thread's last error, and keeps the first message that nothing has asked for.
cudaError_t fail(int code, std::string const& message = {});
/// Ends the program with exit code 1. `text` is the finding if the program has none yet.
[[noreturn]] void end_with_finding(std::string const& text);

/// Calls `action`. An error of the program's device code is a finding; what CUDA's runtime would
/// return is returned.
template <class Action>
cudaError_t guarded(Action const& action) {
  try {
    action();
    return cudaSuccess;
  } catch (sim::misuse_error const& e) {
    end_with_finding(e.what());
  } catch (cuda_error const& e) {
    return fail(e.code(), e.what());
  } catch (limit_error const& e) {
    return fail(cudaErrorInvalidValue, e.what());
  } catch (std::bad_alloc const&) {
    return fail(cudaErrorMemoryAllocation, "out of memory");
  }
}

/// Orders the next work of `stream` after that of the streams that it waits for: the default stream
/// and those that are created without cudaStreamNonBlocking wait for each other.
void order(cudaStream_t stream, std::source_location where);
/// True if `memory` lies in an allocation: device memory, or pinned or managed memory.
bool is_allocated(void const* memory);

}  // namespace warden::check
