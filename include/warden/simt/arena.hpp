// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a launch's arena lies in shared memory, on either device.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstddef>

WARDEN_HOST_NAMESPACE_BEGIN

/// Alignment of every block's arena, in bytes: no object in it can ask for more.
inline constexpr std::size_t arena_alignment = 128;

WARDEN_HOST_NAMESPACE_END
