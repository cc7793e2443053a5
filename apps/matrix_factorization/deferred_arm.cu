// SPDX-License-Identifier: Apache-2.0
// Warden's own rounds: each rating is a section on a user's row and an item's row. A plain kernel
// sends the sections, and a log runs them between the two arrays.

#include "apps/matrix_factorization/arms.cuh"
#include "apps/matrix_factorization/step.cuh"

#include <warden/buffer.hpp>
#include <warden/deferred_pairs.cuh>
#include <warden/guarded.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace factorization {

namespace {

template <unsigned Rank>
struct alignas(16) factor_row {
  float x[Rank];
};

/// Context of the sections of an epoch.
struct epoch {
  descending step;
  bool counts;
};
/// Sets the context by a kernel, so that it changes in the order of the stream.
WARDEN_KERNEL void set_epoch(epoch* to, epoch now) { *to = now; }

template <unsigned Rank>
struct rate {
  static constexpr unsigned group_size = row_lanes<Rank>::lanes;
  float value;

  WARDEN_DEVICE void operator()(factor_row<Rank>& user, factor_row<Rank>& item, epoch const* now,
                                row_lanes<Rank> const& group) const {
    auto* const p = share_of<Rank>(user.x, 0, group.lane());
    auto* const q = share_of<Rank>(item.x, 0, group.lane());
    row_share<Rank> user_row = *p, item_row = *q;
    if (now->counts) {
      counting{}.once(group, user_row, item_row, value);
    } else {
      now->step.once(group, user_row, item_row, value);
    }
    *p = user_row;
    *q = item_row;
  }
};

/// Section that grows a single row. A guarded array needs a section on one record.
template <unsigned Rank>
struct scale {
  float by;
  WARDEN_DEVICE void operator()(factor_row<Rank>& row) const {
    for (float& x : row.x) x *= by;
  }
};

using in_rounds = warden::policy<warden::options{}, warden::context<epoch const*>>;
template <unsigned Rank>
using rows = warden::basic_guarded<in_rounds, factor_row<Rank>, scale<Rank>>;
template <unsigned Rank>
using log_between = warden::deferred_between<rows<Rank>, rows<Rank>, rate<Rank>>;

constexpr unsigned threads = simt::has_registers ? 512 : 32;

struct all_ratings {
  plain_rating const* ratings;
  std::uint32_t n;
};
/// All threads of a block send together. Several ratings are loaded before the first is sent.
template <unsigned Rank>
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 2)
    defer_ratings(typename log_between<Rank>::ref_type to, all_ratings all) {
  simt::assume_one_dimension();
  using client_type = typename log_between<Rank>::template block<threads>;
  client_type client{to, *reinterpret_cast<typename client_type::storage*>(simt::dynamic_shared())};
  constexpr unsigned at_once = 4, chunk = at_once * threads;
  for (std::uint64_t base = std::uint64_t{simt::block_rank()} * chunk; base < all.n;
       base += std::uint64_t{simt::block_count()} * chunk) {
    std::uint64_t const first = base + simt::thread_rank();
    plain_rating rating[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      rating[k] = all.ratings[first + k * threads < all.n ? first + k * threads : 0];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      client.send(rating[k].user, rating[k].item, rate<Rank>{rating[k].value},
                  first + k * threads < all.n);
    }
  }
  client.flush();
}

template <unsigned Rank>
class deferred_arm final : public arm {
 public:
  explicit deferred_arm(task const& t)
      : ratings_{scattered(*t.train, t.mean)},
        users_{reinterpret_cast<factor_row<Rank>*>(t.users), t.train->users, now_.data()},
        items_{reinterpret_cast<factor_row<Rank>*>(t.items), t.train->items, now_.data()},
        log_{users_, items_, t.train->size()} {}

  void descend_async(step_size const& size) override { run({{size}, false}); }
  void count_async() override { run({{{0, 0}}, true}); }
  void wait() override {
    users_.wait();
    items_.wait();
  }

 private:
  void run(epoch const& now) {
    warden::launch(&set_epoch, 1, 1, {}, now_.data(), now);
    using client_type = typename log_between<Rank>::template block<threads>;
    constexpr std::size_t shared_bytes = sizeof(typename client_type::storage);
    auto const resident = static_cast<unsigned>(warden::runtime::resident_blocks(
        warden::simt::make_kernel(&defer_ratings<Rank>), threads, shared_bytes));
    auto const n = static_cast<std::uint32_t>(ratings_.size());
    warden::launch(&defer_ratings<Rank>,
                   {std::min(resident, n / threads + 1), threads, shared_bytes}, {}, log_.ref(),
                   {ratings_.data(), n});
    log_.run();
  }

  warden::buffer<plain_rating> ratings_;
  warden::buffer<epoch> now_{1};
  rows<Rank> users_, items_;
  log_between<Rank> log_;
};

}  // namespace

std::unique_ptr<arm> make_deferred_arm(task const& t) { return make_by_rank<deferred_arm>(t); }

}  // namespace factorization
