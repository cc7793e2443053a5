// SPDX-License-Identifier: Apache-2.0
/// @file
/// Header of programs that defer sections: guarded arrays, their logs, and the clients of logs.
#pragma once

#include <warden/detail/block/to.cuh>
#include <warden/detail/deferred/deferred_block.cuh>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/detail/deferred/send_async.cuh>
#include <warden/guarded.cuh>
