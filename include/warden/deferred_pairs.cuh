// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program includes in addition to warden/deferred.cuh if its logs have sections on two
/// records.
#pragma once

#include <warden/deferred.cuh>
#include <warden/host/rounds_runner.cuh>
#include <warden/launch/run_pairs_ref.cuh>
