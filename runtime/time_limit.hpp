// SPDX-License-Identifier: Apache-2.0
// The text of a wait for other ranks that is over its limit.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdio>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN

/// "no end within 1.5 s".
inline std::string no_end_within(double seconds) {
  char text[64];
  std::snprintf(text, sizeof(text), "no end within %g s", seconds);
  return text;
}

WARDEN_HOST_NAMESPACE_END
