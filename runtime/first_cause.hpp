// SPDX-License-Identifier: Apache-2.0
// Which of the errors of several ranks of one process is the one to be told.
#pragma once

#include <warden/error.hpp>

#include <exception>
#include <source_location>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// What a rank throws when another rank of its process has failed, which says why.
class given_up : public communicator_error {
 public:
  using communicator_error::communicator_error;
};

/// Of what ranks threw, or null, the one that others followed from, as far as its type tells: what
/// only says that there was another one comes last. The first one of its kind; null if there is
/// none.
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
      // Most often for want of the one that threw something else.
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
