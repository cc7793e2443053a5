// SPDX-License-Identifier: Apache-2.0
// Deferred sections sent by blocks and grids of several dimensions, and by blocks of another number
// of threads than their client's.

#include "tests/protocol/order.cuh"
#include "tests/support/error_text.hpp"

#include <warden/cuda_names.cuh>

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using ordering::append;
using ordering::traced;
using test::error_text;
using testing::HasSubstr;

constexpr unsigned client_threads = 256, keys = 10;
/// Blocks that a client is made for.
warden::dimensions const fitting[] = {{256},     {16, 16}, {4, 64},    {1, 256},
                                      {8, 8, 4}, {2, 128}, {1, 4, 64}, {1, 32, 8}};

/// Number of the thread in its block. x counts first.
WARDEN_DEVICE unsigned own_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
std::string text_of(warden::dimensions const& d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

using unordered = warden::policy<warden::options{.block_threads = 32}>;
using sequential = ordering::in_order<warden::placement::in_memory>;
/// The same choices, as another type.
using combining = warden::with_parts<unordered, warden::order::unordered>;

/// A deposit, which can be combined with others.
struct deposit {
  std::uint64_t amount;
  static WARDEN_HOST_DEVICE deposit combine(deposit a, deposit b) { return {a.amount + b.amount}; }
  WARDEN_HOST_DEVICE void operator()(std::uint64_t& balance) const { balance += amount; }
};
/// A deposit that runs by itself.
struct single_deposit : deposit {
  static constexpr bool combines = false;
};
template <class Policy>
using deposit_of = std::conditional_t<std::is_same_v<Policy, combining>, deposit, single_deposit>;
template <class Policy>
using bank = warden::basic_guarded<Policy, std::uint64_t, deposit_of<Policy>>;
static_assert(bank<combining>::deferred_ref::combines);
static_assert(!bank<unordered>::deferred_ref::combines &&
              !bank<sequential>::deferred_ref::combines);

/// Counts of the threads' findings.
struct findings {
  std::uint32_t touched;        ///< words next to the client's storage that have changed
  std::uint32_t other_returns;  ///< flushes that did not return what the block sent
};

template <class Policy>
struct block_arguments {
  typename bank<Policy>::deferred_ref ref;
  unsigned sends;    ///< sends of each thread, a multiple of 2: half of them are flushed at once
  unsigned refused;  ///< refused sections of the block, by each flush
  findings* found;
};
template <class Policy>
using client_of = typename bank<Policy>::template deferred_block<client_threads>;

/// Memory of a block, with words around the client's that nothing may touch.
template <class Policy>
struct framed {
  static constexpr unsigned words = 256;
  std::uint32_t before[words];
  typename client_of<Policy>::storage storage;
  std::uint32_t after[words];
};

template <class Policy>
WARDEN_KERNEL void pay_by_block(block_arguments<Policy> a) {
  auto& memory = *reinterpret_cast<framed<Policy>*>(simt::dynamic_shared());
  unsigned const threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned const rank = own_rank();
  for (unsigned i = rank; i < framed<Policy>::words; i += threads)
    memory.before[i] = memory.after[i] = i;
  simt::sync_block();
  {
    client_of<Policy> client{a.ref, memory.storage};
    for (unsigned half = 0; half < 2; ++half) {
      for (unsigned k = 0; k < a.sends / 2; ++k)
        client.send((rank + k) % keys, deposit_of<Policy>{deposit{1}});
      if (client.flush() != a.refused) simt::fetch_add(&a.found->other_returns, 1u);
    }
  }
  simt::sync_block();
  for (unsigned i = rank; i < framed<Policy>::words; i += threads) {
    if (memory.before[i] != i || memory.after[i] != i) simt::fetch_add(&a.found->touched, 1u);
  }
}

/// Launches two blocks of that shape, and returns what `wait` says. Each thread sends `sends`
/// deposits.
template <class Policy>
std::string pay(bank<Policy>& on, warden::dimensions block, unsigned sends, unsigned refused) {
  warden::buffer<findings> found{1};
  found.fill_bytes(0);
  unsigned const blocks = 2;
  warden::deferred later{on, blocks * block.count() * sends};
  warden::launch(pay_by_block<Policy>,
                 {.grid = blocks, .block = block, .shared_bytes = sizeof(framed<Policy>)}, {},
                 block_arguments<Policy>{later.ref(), sends, refused, found.data()});
  later.run();
  std::string const said = error_text(on);
  EXPECT_EQ(found.to_host()[0].touched, 0u) << "memory outside the client's storage was touched";
  EXPECT_EQ(found.to_host()[0].other_returns, 0u);
  return said;
}
std::uint64_t sum_of(warden::buffer<std::uint64_t> const& balances) {
  std::uint64_t sum = 0;
  for (std::uint64_t const b : balances.to_host()) sum += b;
  return sum;
}

template <class Policy>
class block_shapes : public testing::Test {};
using policies = testing::Types<unordered, sequential, combining>;
TYPED_TEST_SUITE(block_shapes, policies);

TYPED_TEST(block_shapes, a_block_of_another_number_of_threads_is_reported) {
  warden::buffer<std::uint64_t> balances{keys};
  balances.fill_bytes(0);
  bank<TypeParam> on{balances};
  for (warden::dimensions const block : {warden::dimensions{32},
                                         {64},
                                         {512},
                                         {1024},
                                         {16, 8},
                                         {256, 2},
                                         {32, 32},
                                         {16, 1, 15},
                                         {1, 17, 15}}) {
    SCOPED_TRACE(text_of(block));
    auto const threads = static_cast<unsigned>(block.count());
    unsigned const sends = 4;
    EXPECT_THAT(pay(on, block, sends, threads * sends / 2),
                HasSubstr("deferred_block: " + std::to_string(2 * threads * sends) +
                          " sections were lost, which blocks of " + text_of(block) +
                          " threads sent by a deferred_block<256>; launch blocks of 256 threads"));
    EXPECT_EQ(sum_of(balances), 0u);
  }
  EXPECT_EQ(pay(on, client_threads, 4, 0), "");
  EXPECT_EQ(sum_of(balances), 2u * client_threads * 4);
}

TYPED_TEST(block_shapes, blocks_of_the_client_have_any_dimensions) {
  for (warden::dimensions const& block : fitting) {
    SCOPED_TRACE(text_of(block));
    warden::buffer<std::uint64_t> balances{keys};
    balances.fill_bytes(0);
    bank<TypeParam> on{balances};
    unsigned const sends = 4;
    EXPECT_EQ(pay(on, block, sends, 0), "");
    std::vector<std::uint64_t> expected(keys);
    for (unsigned rank = 0; rank < client_threads; ++rank) {
      for (unsigned k = 0; k < sends / 2; ++k) expected[(rank + k) % keys] += 2u * 2;
    }
    EXPECT_EQ(balances.to_host(), expected) << "lost or doubled sections";
  }
}

WARDEN_KERNEL void pay_alone(bank<unordered>::deferred_ref ref) {
  ref.send(own_rank() % keys, single_deposit{deposit{1}});
}
TEST(block_shapes, threads_send_by_themselves_in_blocks_and_grids_of_any_dimensions) {
  warden::buffer<std::uint64_t> balances{keys};
  bank<unordered> on{balances};
  for (auto const& [grid, block] : std::vector<std::pair<warden::dimensions, warden::dimensions>>{
           {{4, 2}, {16, 16}}, {{1, 3, 2}, {1, 1, 64}}, {1, {1, 40}}}) {
    balances.fill_bytes(0);
    auto const sections = grid.count() * block.count();
    warden::deferred later{on, sections};
    warden::launch(pay_alone, grid, block, {}, later.ref());
    later.run();
    EXPECT_EQ(error_text(on), "");
    EXPECT_EQ(sum_of(balances), sections);
  }
}

/// The threads of each block send their numbers in the grid, a batch each time.
WARDEN_KERNEL void tell_threads(ordering::traces<warden::placement::on_chip>::deferred_ref ref) {
  using client_type = ordering::traces<warden::placement::on_chip>::deferred_block<client_threads>;
  WARDEN_SHARED(client_type::storage, storage);
  client_type client{ref, storage};
  unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  for (unsigned k = 0; k < 3; ++k) {
    client.send(0, append{block * client_threads + own_rank()});
    client.flush();
  }
}
/// Expects of a launch the order of a loop over its blocks, calls and threads.
void expect_order(warden::dimensions grid, warden::dimensions block) {
  SCOPED_TRACE("grid of " + text_of(grid) + ", blocks of " + text_of(block));
  warden::buffer<traced> records{1};
  records.fill_bytes(0);
  ordering::traces<warden::placement::on_chip> on{records};
  warden::deferred later{on, grid.count() * 3 * client_threads, {.batches = 100}};
  warden::launch(tell_threads, grid, block, {}, later.ref());
  later.run();
  EXPECT_EQ(error_text(on), "");
  traced expected{};
  for (unsigned b = 0; b < grid.count(); ++b) {
    for (unsigned k = 0; k < 3; ++k) {
      for (unsigned t = 0; t < client_threads; ++t) append{b * client_threads + t}(expected);
    }
  }
  EXPECT_EQ(records.to_host()[0].count, expected.count) << "lost or doubled sections";
  EXPECT_EQ(records.to_host()[0].trace, expected.trace) << "another order";
}
TEST(block_shapes, x_counts_first_in_the_order_of_blocks_and_of_their_threads) {
  for (warden::dimensions const grid : {warden::dimensions{2, 2}, {1, 3, 2}, {3, 2, 2}})
    expect_order(grid, client_threads);
  for (warden::dimensions const& block : fitting) expect_order({2, 2}, block);
}

}  // namespace
