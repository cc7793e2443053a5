// SPDX-License-Identifier: Apache-2.0
// Rounds with users' rows on chip. The plan is made once and used in each epoch.

#include "apps/matrix_factorization/arms.cuh"
#include "apps/matrix_factorization/rounds.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace factorization {

namespace {

/// Threads of a block: as many as leave registers for two batches and their sums. Simulated threads
/// are slow, so there are few.
constexpr unsigned threads = simt::has_registers ? 384 : 64;

template <unsigned Rank, class Step>
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 1)
    run_rounds(WARDEN_GRID_CONSTANT rounds_arguments<Step> const a) {
  simt::assume_one_dimension();
  rounds_block<Rank, threads, Step>{a, simt::dynamic_shared()}.run();
}

template <unsigned Rank>
using block = rounds_block<Rank, threads, descending>;

/// Chooses one part of the items per resident block, and the largest parts of the users that fit a
/// block and make the last wave of parts full.
template <unsigned Rank>
tile_pair_shape shape_for(std::uint32_t users) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  std::uint32_t const blocks = facts.simulated ? 3 : static_cast<unsigned>(facts.multiprocessors);
  std::uint32_t most = placed_rating::most_places;
  while (block<Rank>::shared_bytes(most) > facts.shared_bytes_per_block) --most;
  if (facts.simulated) most = std::min(most, 16u);
  std::uint64_t const at_once = std::uint64_t{blocks} * most;
  std::uint64_t const parts = (users + at_once - 1) / at_once * blocks;
  return {static_cast<std::uint32_t>((users + parts - 1) / parts), blocks, block<Rank>::workers};
}

template <unsigned Rank>
class rounds_arm final : public arm {
 public:
  explicit rounds_arm(task const& t)
      : users_{t.users},
        items_{t.items},
        shape_{shape_for<Rank>(t.train->users)},
        turns_{shape_.item_parts},
        control_{1} {
    tile_pair_plan const plan = plan_tile_pairs(*t.train, shape_, t.mean);
    user_parts_ = plan.user_parts;
    user_of_ = warden::buffer<std::uint32_t>{plan.user_of};
    shifts_ = warden::buffer<std::uint32_t>{plan.shifts};
    begins_ = warden::buffer<std::uint32_t>{plan.begins};
    frees_ = warden::buffer<std::uint32_t>{plan.frees};
    runs_ = warden::buffer<item_run>{plan.runs};
    ratings_ = warden::buffer<placed_rating>{plan.ratings};
  }

  std::string tune() override {
    return std::to_string(user_parts_) + " parts of " + std::to_string(shape_.part_size) +
           " users, " + std::to_string(shape_.item_parts) + " of items";
  }
  void descend_async(step_size const& size) override { run(descending{size}); }
  void count_async() override { run(counting{}); }
  void wait() override {
    rounds_control const control = control_.to_host()[0];
    if (control.failed == 0) return;
    failed_turn const& f = control.first;
    throw warden::limit_error{
        "factorization: part " + std::to_string(f.user_part) + " of the users waited " +
            std::to_string(turn_limit{}.nanoseconds / 1'000'000) + " ms for turn " +
            std::to_string(f.turn) + (f.is_row != 0 ? " of its user " : " of the items' part ") +
            std::to_string(f.of) + ", which is at turn " + std::to_string(f.found),
        std::source_location::current()};
  }

 private:
  template <class Step>
  void run(Step const& step) {
    control_.fill_bytes(0);
    turns_.fill_bytes(0);
    rounds_arguments<Step> a{users_,
                             items_,
                             user_of_.data(),
                             shifts_.data(),
                             begins_.data(),
                             frees_.data(),
                             runs_.data(),
                             ratings_.data(),
                             user_parts_,
                             shape_.item_parts,
                             shape_.part_size,
                             control_.data(),
                             turns_.data(),
                             {},
                             step};
    auto const kernel = simt::make_kernel(&run_rounds<Rank, Step>);
    std::size_t const bytes = block<Rank>::shared_bytes(shape_.part_size);
    warden::runtime::allow_shared_bytes(kernel, bytes);
    void* arguments[] = {&a};
    // Cooperative: blocks wait for one another.
    warden::runtime::launch(kernel, {shape_.item_parts, threads, bytes, true}, arguments, {});
  }

  float *users_, *items_;
  tile_pair_shape shape_;
  std::uint32_t user_parts_ = 0;
  warden::buffer<std::uint32_t> user_of_, shifts_, begins_, frees_, turns_;
  warden::buffer<item_run> runs_;
  warden::buffer<placed_rating> ratings_;
  warden::buffer<rounds_control> control_;
};

}  // namespace

tile_pair_shape shape_of_rounds(std::uint32_t users, unsigned rank) {
  switch (rank) {
    case 16:
      return shape_for<16>(users);
    case 32:
      return shape_for<32>(users);
    case 64:
      return shape_for<64>(users);
    default:
      return shape_for<128>(users);
  }
}

std::unique_ptr<arm> make_rounds_arm(task const& t) { return make_by_rank<rounds_arm>(t); }

}  // namespace factorization
