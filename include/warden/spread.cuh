// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program on several GPUs includes: guardeds whose records are spread, and their logs.
#pragma once

#include <warden/communicator.hpp>
#include <warden/deferred.cuh>
#include <warden/spread_guarded.cuh>
#include <warden/spread_log.cuh>
