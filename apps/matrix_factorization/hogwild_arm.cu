// SPDX-License-Identifier: Apache-2.0
// Arm without mutual exclusion [Niu, Recht, Re and Wright 2011, "Hogwild!"]: users' rows stay in
// registers; all threads read and write items' rows.

#include "apps/matrix_factorization/arms.cuh"
#include "apps/matrix_factorization/step.cuh"
#include "apps/support/parallel.hpp"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace factorization {

namespace {

struct item_rating {
  std::uint32_t item;
  float value;
};

template <class Step>
struct hogwild_arguments {
  float *users, *items;
  std::uint32_t const* order;   ///< users
  std::uint32_t const* begins;  ///< [user] first rating; one more at the end
  item_rating const* ratings;
  std::uint32_t user_count;
  std::uint32_t* next;  ///< next place of the order
  Step step;
};

constexpr unsigned threads = simt::has_registers ? 256 : 32;
constexpr int blocks_each = 6;
/// Number of items' rows that are fetched ahead.
constexpr unsigned ahead = 4;

/// Each group takes one user at a time. Only this group writes the user's row.
template <unsigned Rank, class Step>
WARDEN_KERNEL void WARDEN_BOUNDS(threads, blocks_each)
    step_at_will(WARDEN_GRID_CONSTANT hogwild_arguments<Step> const a) {
  simt::assume_one_dimension();
  row_lanes<Rank> const lanes;
  constexpr unsigned size = row_lanes<Rank>::lanes;
  for (;;) {
    std::uint32_t number = 0;
    if (lanes.lane() == 0) number = simt::fetch_add(a.next, 1u);
    number = lanes.shuffle(number, 0);
    if (number >= a.user_count) return;
    std::uint32_t const user = a.order[number], end = a.begins[user + 1];
    row_share<Rank> p = *share_of<Rank>(a.users, user, lanes.lane());
    // 64 bits, because the place after the last rating may exceed 2^32.
    for (std::uint64_t at = a.begins[user]; at < end; at += size) {
      item_rating mine{0, 0};
      if (at + lanes.lane() < end) mine = a.ratings[at + lanes.lane()];
      unsigned const n = end - at < size ? static_cast<unsigned>(end - at) : size;
      row_share<Rank> q[ahead];
      row_share<Rank>* from[ahead];
      auto const fetch = [&](unsigned into, unsigned k) {
        from[into] = share_of<Rank>(a.items, lanes.shuffle(mine.item, k), lanes.lane());
        if (k < n) q[into] = *from[into];
      };
      WARDEN_UNROLL
      for (unsigned k = 0; k < ahead; ++k) fetch(k, k);
      WARDEN_NO_UNROLL
      for (unsigned first = 0; first < n; first += ahead) {
        WARDEN_UNROLL
        for (unsigned k = 0; k < ahead; ++k) {
          if (first + k >= n) break;
          a.step.once(lanes, p, q[k], lanes.shuffle(mine.value, first + k));
          *from[k] = q[k];
          fetch(k, first + k + ahead);
        }
      }
    }
    *share_of<Rank>(a.users, user, lanes.lane()) = p;
  }
}

template <unsigned Rank>
class hogwild_arm final : public arm {
 public:
  explicit hogwild_arm(task const& t) : task_{t} {
    rating_list const& list = *t.train;
    std::vector<std::uint32_t> begins(list.users + std::size_t{1});
    for (std::uint32_t const u : list.user) ++begins[u + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<item_rating> ratings(list.size());
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t k = 0; k < list.size(); ++k)
      ratings[next[list.user[k]]++] = {list.item[k], list.value[k] - t.mean};
    // Shuffle each user's items. If all users began with the same items, these items would meet
    // only untrained users' rows.
    apps::for_each_in_parallel(list.users, [&](std::size_t u) {
      std::minstd_rand drawn{static_cast<std::uint32_t>(u + 1)};
      std::shuffle(ratings.begin() + begins[u], ratings.begin() + begins[u + 1], drawn);
    });
    // Shuffle the users, except that users with many ratings come first.
    constexpr std::uint32_t many = 4096;
    std::vector<std::uint32_t> order(list.users);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937_64{1});
    auto const long_first = [&](std::uint32_t u) {
      std::uint32_t const count = begins[u + 1] - begins[u];
      return count < many ? 0 : count;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return long_first(a) > long_first(b);
    });
    begins_ = warden::buffer<std::uint32_t>{begins};
    order_ = warden::buffer<std::uint32_t>{order};
    ratings_ = warden::buffer<item_rating>{ratings};
  }
  void descend_async(step_size const& size) override { run(descending{size}); }
  void count_async() override { run(counting{}); }
  [[nodiscard]] bool isolates() const override { return false; }
  void wait() override { warden::stream_ref{}.synchronize(); }

 private:
  template <class Step>
  void run(Step const& step) {
    auto const kernel = &step_at_will<Rank, Step>;
    next_.fill_bytes(0);
    unsigned const resident = static_cast<unsigned>(
        warden::runtime::resident_blocks(simt::make_kernel(kernel), threads, 0));
    simt::launch(kernel, resident, threads, 0,
                 {task_.users, task_.items, order_.data(), begins_.data(), ratings_.data(),
                  task_.train->users, next_.data(), step},
                 {});
  }

  task task_;
  warden::buffer<std::uint32_t> begins_, order_, next_{1};
  warden::buffer<item_rating> ratings_;
};

}  // namespace

std::unique_ptr<arm> make_hogwild_arm(task const& t) { return make_by_rank<hogwild_arm>(t); }

}  // namespace factorization
