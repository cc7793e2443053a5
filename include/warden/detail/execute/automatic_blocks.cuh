// SPDX-License-Identifier: Apache-2.0
/// @file
/// Default of a policy's number of blocks for each multiprocessor.
#pragma once

#include <warden/simt/annotations.cuh>

WARDEN_NAMESPACE_BEGIN

/// A policy's `minimum_blocks_per_multiprocessor`: chosen for each kernel.
inline constexpr unsigned automatic_blocks = 0;

WARDEN_NAMESPACE_END
