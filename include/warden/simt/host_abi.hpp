// SPDX-License-Identifier: Apache-2.0
/// @file
/// The inline namespace of the compiled host part: one for the CUDA runtime and one for the
/// simulated device, so that a program may link both.
#pragma once

#include <warden/simt/compiler.hpp>
#include <warden/version.hpp>

#if defined(WARDEN_SIMULATED)
#  define WARDEN_HOST_ABI \
    WARDEN_VERSIONED(WARDEN_VERSION_MAJOR, WARDEN_VERSION_MINOR, host_simulated)
#else
/// The inline namespace of the compiled host part.
#  define WARDEN_HOST_ABI WARDEN_VERSIONED(WARDEN_VERSION_MAJOR, WARDEN_VERSION_MINOR, host_cuda)
#endif

/// Opens `warden` and the inline namespace of the compiled host part.
#define WARDEN_HOST_NAMESPACE_BEGIN \
  namespace warden {                \
  inline namespace WARDEN_HOST_ABI {
/// Closes what WARDEN_HOST_NAMESPACE_BEGIN opened.
#define WARDEN_HOST_NAMESPACE_END \
  }                               \
  }
