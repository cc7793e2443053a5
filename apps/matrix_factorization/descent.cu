// SPDX-License-Identifier: Apache-2.0
// Computes the error of the rows, and the number of lost steps.

#include "apps/matrix_factorization/descent.cuh"

#include "apps/matrix_factorization/step.cuh"
#include "apps/support/device.cuh"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace factorization {

namespace {

struct error_arguments {
  float const *users, *items;
  std::uint32_t const *user, *item;
  float const* value;
  std::uint64_t n;
  unsigned rank;
  float mean;
  double* sums;  ///< [thread]
};
WARDEN_KERNEL void sum_errors(error_arguments a) {
  simt::assume_one_dimension();
  double sum = 0;
  apps::for_my_share(a.n, [&](std::uint64_t i) {
    float const* const p = a.users + std::size_t{a.user[i]} * a.rank;
    float const* const q = a.items + std::size_t{a.item[i]} * a.rank;
    float predicted = a.mean;
    for (unsigned k = 0; k < a.rank; ++k) predicted += p[k] * q[k];
    double const error = double{a.value[i]} - double{predicted};
    sum += error * error;
  });
  a.sums[std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank()] = sum;
}

struct count_arguments {
  float const* rows;
  std::uint32_t const* due;  ///< [row]
  std::uint64_t elements;
  unsigned rank;
  std::uint64_t* wrong;
};
WARDEN_KERNEL void compare_counts(count_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.elements, [&](std::uint64_t i) {
    if (a.rows[i] != static_cast<float>(a.due[i / a.rank]))
      simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

}  // namespace

descent::descent(model const& first, rating_list const& train, rating_list const& test,
                 std::string const& arm)
    : rank_{first.rank},
      mean_{first.mean},
      train_{train},
      users_{first.user_rows},
      items_{first.item_rows},
      test_user_{test.user},
      test_item_{test.item},
      test_value_{test.value},
      sums_{std::size_t{apps::blocks()} * apps::threads()},
      arm_{make_arm(arm, {&train, first.rank, first.mean, users_.data(), items_.data()})} {}

std::string descent::tune() { return arm_->tune(); }

warden::measurement descent::run(step_size const& size) {
  refuse_reversal(size);
  warden::timer clock;
  clock.start();
  arm_->descend_async(size);
  clock.stop();
  warden::measurement const cost = clock.result();
  arm_->wait();
  return cost;
}

double descent::rmse() {
  if (test_value_.size() == 0) return 0;
  simt::launch(&sum_errors, apps::blocks(), apps::threads(), 0,
               {users_.data(), items_.data(), test_user_.data(), test_item_.data(),
                test_value_.data(), test_value_.size(), rank_, mean_, sums_.data()},
               {});
  std::vector<double> const sums = sums_.to_host();
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.) /
                   static_cast<double>(test_value_.size()));
}

void descent::reset(model const& from) {
  warden::copy(users_.data(), from.user_rows.data(), users_.size());
  warden::copy(items_.data(), from.item_rows.data(), items_.size());
}

void descent::copy_to(model& to) const {
  to.user_rows = users_.to_host();
  to.item_rows = items_.to_host();
}

std::uint64_t descent::lost() {
  users_.fill_bytes(0);
  items_.fill_bytes(0);
  arm_->count_async();
  arm_->wait();
  return wrong_counts(users_, train_.user, train_.users) +
         wrong_counts(items_, train_.item, train_.items);
}

std::uint64_t descent::wrong_counts(warden::buffer<float> const& rows,
                                    std::vector<std::uint32_t> const& ids,
                                    std::uint32_t count) const {
  std::vector<std::uint32_t> counts(count);
  for (std::uint32_t const id : ids) ++counts[id];
  warden::buffer<std::uint32_t> const due{counts};
  warden::buffer<std::uint64_t> wrong{1};
  wrong.fill_bytes(0);
  simt::launch(&compare_counts, apps::blocks(), apps::threads(), 0,
               {rows.data(), due.data(), rows.size(), rank_, wrong.data()}, {});
  return wrong.to_host()[0];
}

}  // namespace factorization
