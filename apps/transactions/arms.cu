// SPDX-License-Identifier: Apache-2.0
// Arms by name, and those that run a transaction on each thread.

#include "apps/transactions/arms.cuh"

#include "apps/transactions/concurrent_arm.cuh"
#include "apps/transactions/locks.cuh"
#include "apps/transactions/optimistic.cuh"
#include "apps/transactions/tictoc.cuh"

#include <warden/error.hpp>

namespace transactions {

namespace {

template <class Protocol, class Row>
std::unique_ptr<arm> make(ycsb& on, arm_options const& o) {
  using arguments = concurrent_arguments<Row>;
  arguments const of{{}, on.all(), on.rows<Row>(), on.words(), on.times(), on.sums(), on.serial()};
  return std::make_unique<concurrent_arm<Protocol, arguments>>(
      of, on.size(), [&on] { on.open_async(); }, o);
}
template <class Protocol>
std::unique_ptr<arm> make(ycsb& on, arm_options const& o) {
  if (on.options().row_bytes == sizeof(small_row)) return make<Protocol, small_row>(on, o);
  return make<Protocol, wide_row>(on, o);
}

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"locks", "optimistic", "tictoc", "warden",
                                              "warden_no_owners"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, ycsb& on, arm_options const& o) {
  if (name == "locks") return make<two_phase_locking>(on, o);
  if (name == "optimistic") return make<optimistic>(on, o);
  if (name == "tictoc") return make<tictoc>(on, o);
  if (name == "warden") return make_warden_arm(on, o, {.hot_accesses = o.hot_accesses});
  if (name == "warden_no_owners") return make_warden_arm(on, o, {.hot_accesses = 0});
  throw warden::limit_error{"transactions: no arm '" + name + "'"};
}

}  // namespace transactions
