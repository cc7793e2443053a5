// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program includes in addition to warden/deferred.cuh if sections of its logs send
/// sections: a fused launch runs such a log.
#pragma once

#include <warden/deferred.cuh>
#include <warden/host/log_replayer.cuh>
#include <warden/launch.cuh>
