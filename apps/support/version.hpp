// SPDX-License-Identifier: Apache-2.0
/// @file
/// The version of Warden as text.
#pragma once

#include <warden/version.hpp>

#include <string>

namespace apps {

/// "MAJOR.MINOR.PATCH".
inline std::string version_text() {
  return std::to_string(WARDEN_VERSION_MAJOR) + "." + std::to_string(WARDEN_VERSION_MINOR) + "." +
         std::to_string(WARDEN_VERSION_PATCH);
}

}  // namespace apps
