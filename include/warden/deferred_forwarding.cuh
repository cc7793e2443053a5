// SPDX-License-Identifier: Apache-2.0
/// @file
/// Header for logs whose sections send sections, in addition to warden/deferred.cuh: a fused launch
/// runs such a log.
#pragma once

#include <warden/deferred.cuh>
#include <warden/host/log_replayer.cuh>
#include <warden/launch.cuh>
