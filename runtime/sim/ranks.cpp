// SPDX-License-Identifier: Apache-2.0
// The simulated device is as many GPUs as one likes.

#include "../first_cause.hpp"

#include <warden/communicator.hpp>
#include <warden/error.hpp>

#include <string>

WARDEN_HOST_NAMESPACE_BEGIN

void run_on_gpus(int gpus, std::function<void(communicator const&)> const& body,
                 communicator_options chosen, std::source_location where) {
  constexpr int most = 64;
  if (gpus < 1 || gpus > most) {
    throw limit_error{"run_on_gpus: " + std::to_string(gpus) +
                          " simulated GPUs; the limits are 1 and " + std::to_string(most),
                      where};
  }
  demand_time_limit("run_on_gpus", chosen.time_limit_seconds, where);
  loopback_settings ranks;
  ranks.ranks = gpus;
  ranks.time_limit_seconds = chosen.time_limit_seconds;
  std::exception_ptr const first = first_cause(run_ranks(ranks, body));
  if (first) std::rethrow_exception(first);
}

WARDEN_HOST_NAMESPACE_END
