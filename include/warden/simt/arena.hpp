// SPDX-License-Identifier: Apache-2.0
/// @file
/// Alignment of a launch's arena in shared memory, on either device.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>

WARDEN_HOST_NAMESPACE_BEGIN

/// Alignment of every block's arena, and largest alignment of an object in it. Units: bytes.
inline constexpr std::size_t arena_alignment = 128;

WARDEN_HOST_NAMESPACE_END
