// SPDX-License-Identifier: Apache-2.0
/// @file
/// Header for logs with sections on two records, in addition to warden/deferred.cuh.
#pragma once

#include <warden/deferred.cuh>
#include <warden/host/rounds_runner.cuh>
#include <warden/launch/run_pairs_ref.cuh>
