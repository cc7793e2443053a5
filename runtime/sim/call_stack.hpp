// SPDX-License-Identifier: Apache-2.0
// Call stacks for messages: functions and places in the source of code addresses.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <span>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// A function call that had not returned.
struct frame {
  std::string function;  ///< "??" if unknown
  std::string file;      ///< empty without debug information
  unsigned line = 0;
};

/// Frames of a stack of return addresses, the innermost call first. Calls that the compiler inlined
/// are frames of their own if the code has debug information. Frames of the runtime, of the
/// platform layer and of the standard library are left out at both ends, so that the first frame
/// is the user's and the last one is the kernel.
std::vector<frame> frames_of(std::span<void const* const> return_addresses);

/// The return addresses of the function that runs, the innermost first.
std::vector<void const*> return_addresses();

/// The name of the variable of static storage that `address` lies in; empty if unknown.
std::string variable_at(void const* address);

/// "\n    at function, file:line" for each frame.
std::string to_string(std::span<frame const> frames);

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
