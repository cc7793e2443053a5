// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program that defers sections includes: guarded arrays, their logs, and the clients of
/// those.
#pragma once

#include <warden/detail/deferred/deferred_block.cuh>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/guarded.cuh>
