// SPDX-License-Identifier: Apache-2.0
// Chooses the error to report when several ranks of one process fail.
#pragma once

#include <warden/error.hpp>

#include <exception>
#include <source_location>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// Error of a rank that stops because another rank of its process has failed.
class given_up : public communicator_error {
 public:
  using communicator_error::communicator_error;
};

/// Returns the error that caused the others, judged by its type, or null if there is none. Errors
/// that only report another rank's failure come last. Among errors of one kind the first is
/// returned.
inline std::exception_ptr first_cause(std::vector<std::exception_ptr> const& thrown) {
  std::exception_ptr found;
  int best = 0;
  for (std::exception_ptr const& one : thrown) {
    int weight = 0;
    try {
      if (one) std::rethrow_exception(one);
    } catch (given_up const&) {
      weight = 1;
    } catch (other_rank_error const&) {
      weight = 2;
    } catch (communicator_error const&) {
      // Usually a consequence: the rank that threw something else is missing.
      weight = 3;
    } catch (...) {
      weight = 4;
    }
    if (weight <= best) continue;
    best = weight;
    found = one;
  }
  return found;
}

WARDEN_HOST_NAMESPACE_END
