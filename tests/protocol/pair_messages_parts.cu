// SPDX-License-Identifier: Apache-2.0
// What servers of sections on two records count by: free places, a credits of credits, a stock of
// them.

#include "tests/support/many_schedules.cuh"

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/slot_free_list.cuh>
#include <warden/detail/fused/block_credits.cuh>
#include <warden/detail/fused/channel.cuh>
#include <warden/detail/fused/forward_rings.cuh>
#include <warden/detail/fused/warp_credits.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

namespace {

namespace simt = warden::simt;

/// Numbers of one thread.
struct draws {
  std::uint64_t state;
  WARDEN_DEVICE std::uint32_t below(std::uint32_t limit) {
    state = test::mix(state + 0x9e3779b97f4a7c15ull);
    return static_cast<std::uint32_t>((state >> 32) * limit >> 32);
  }
};
WARDEN_DEVICE draws draws_of_this_thread(std::uint64_t seed) {
  return {test::mix(seed) + simt::block_rank() * 1024 + simt::thread_rank()};
}
WARDEN_DEVICE void expect(std::uint64_t* errors, bool good) {
  if (!good) simt::fetch_add(errors, std::uint64_t{1});
}

// ---- places

struct pool_arguments {
  warden::detail::place_memory memory;
  std::uint32_t* holders;  ///< for each place: a thread's number plus one, or zero
  std::uint64_t* errors;
  std::uint64_t seed;
  unsigned rounds;
};
/// Threads take a place, fill it and give it back, now and then; a block has one pool.
WARDEN_KERNEL void take_and_give(pool_arguments a) {
  auto const counts =
      warden::detail::arena_piece<warden::detail::place_counts>{0, 1}.in(simt::dynamic_shared());
  warden::detail::slot_free_list const pool{a.memory, simt::block_rank(), counts};
  if (simt::thread_rank() == 0) pool.start();
  simt::sync_block();
  draws draw = draws_of_this_thread(a.seed);
  std::uint32_t* const holders =
      a.holders + (std::size_t{simt::block_rank()} << a.memory.room_log2);
  std::uint32_t const me = simt::thread_rank() + 1;
  std::uint32_t place = warden::detail::slot_free_list::none;
  auto const give = [&] {
    expect(a.errors, simt::exchange(&holders[place], 0u) == me);
    pool.give(place);
    place = warden::detail::slot_free_list::none;
  };
  for (unsigned round = 0; round < a.rounds; ++round) {
    bool const wants = place == warden::detail::slot_free_list::none && draw.below(4) != 0;
    std::uint32_t const had = place;
    pool.take(wants, place);
    if (wants) {
      bool const is_place = place < 1u << a.memory.room_log2;
      expect(a.errors, is_place);
      if (!is_place) return;
      expect(a.errors, simt::exchange(&holders[place], me) == 0);
    } else {
      expect(a.errors, place == had);
    }
    if (place != warden::detail::slot_free_list::none && draw.below(2) != 0) give();
  }
  if (place != warden::detail::slot_free_list::none) give();
  simt::sync_block();
  if (simt::thread_rank() == 0) pool.finish();
}

/// Pools in memory, with as many places as a block has threads: at times the last one is taken.
class pools {
 public:
  static constexpr unsigned room_log2 = 7, room = 1u << room_log2, count = 2;
  /// `tickets` have been drawn before; the places were given back in some order.
  explicit pools(std::uint64_t tickets = 0) {
    // A thread that waits for a lost place spins.
    warden::sim::settings s = warden::sim::current_settings();
    s.max_steps = 20'000'000;
    warden::sim::configure(s);
    counts_.fill_bytes(0);
    tickets_.fill_bytes(0);
    holders_.fill_bytes(0);
    if (tickets == 0) return;
    std::vector<std::uint64_t> entries(count * room);
    for (unsigned p = 0; p < count; ++p) {
      for (std::uint64_t t = tickets; t < tickets + room; ++t)
        entries[p * room + t % room] = t << 32 | (t * 37 + p) % room;
    }
    std::vector<warden::detail::place_counts> const counts(count, {tickets, tickets});
    warden::copy(tickets_.data(), entries.data(), entries.size());
    warden::copy(counts_.data(), counts.data(), counts.size());
    warden::stream_ref{}.synchronize();  // the host memory above ends here
  }

  void run(std::uint64_t seed, unsigned rounds) {
    warden::buffer<std::uint64_t> errors{1};
    errors.fill_bytes(0);
    simt::launch(&take_and_give, count, room, sizeof(warden::detail::place_counts),
                 {{tickets_.data(), counts_.data(), room_log2},
                  holders_.data(),
                  errors.data(),
                  seed,
                  rounds},
                 {});
    ASSERT_EQ(errors.to_host()[0], 0u) << "a place was out twice, or is none";
  }
  /// All places are free, each once.
  void expect_all_free() const {
    auto const counts = counts_.to_host();
    auto const entries = tickets_.to_host();
    for (unsigned p = 0; p < count; ++p) {
      ASSERT_EQ(counts[p].taken, counts[p].given) << "pool " << p;
      std::vector<bool> found(room);
      for (std::uint64_t t = counts[p].taken; t < counts[p].taken + room; ++t) {
        std::uint64_t const entry = entries[p * room + t % room];
        if (t >= room) {
          ASSERT_EQ(entry >> 32, t & 0xffffffffu) << "pool " << p << ", ticket " << t;
        }
        std::uint64_t const place = t < room ? t : entry & 0xffffffffu;
        ASSERT_LT(place, room);
        ASSERT_FALSE(found[place]) << "pool " << p << ", place " << place;
        found[place] = true;
      }
    }
  }
  [[nodiscard]] std::uint64_t taken() const { return counts_.to_host()[0].taken; }

 private:
  warden::buffer<std::uint64_t> tickets_{count * room};
  warden::buffer<warden::detail::place_counts> counts_{count};
  warden::buffer<std::uint32_t> holders_{count * room};
};

TEST(slot_free_list, no_place_is_out_twice_under_many_schedules) {
  test::under_many_schedules(5, [](std::uint64_t seed) {
    pools p;
    for (unsigned launch = 0; launch < 3; ++launch) {
      p.run(seed + launch, 6);
      p.expect_all_free();
    }
    EXPECT_GT(p.taken(), 2 * pools::room);
  });
}
TEST(slot_free_list, lasts_for_thousands_of_tickets) {
  pools p;
  for (unsigned launch = 0; launch < 5; ++launch) {
    p.run(launch, 60);
    p.expect_all_free();
  }
  EXPECT_GT(p.taken(), 10'000u);
}
/// An entry has the low half of its ticket alone.
TEST(slot_free_list, lasts_beyond_two_to_the_32_tickets) {
  std::uint64_t const end = std::uint64_t{1} << 32;
  pools p{end - 300};
  p.run(1, 20);
  p.expect_all_free();
  EXPECT_GT(p.taken(), end + pools::room);
}

// ---- credits

using rings = warden::detail::forward_rings<warden::detail::channel_ref<1>>;
struct credit_arguments {
  rings common;
  std::uint64_t* held;  ///< credits taken for messages
  std::uint64_t* most;  ///< the most that were held
  std::uint64_t* errors;
  std::uint64_t seed;
  unsigned rounds;
};
/// Counts credits that are not given back: never more than there are.
WARDEN_DEVICE void hold(credit_arguments const& a, std::uint64_t count) {
  std::uint64_t const now = simt::fetch_add(a.held, count) + count;
  expect(a.errors, now <= a.common.credits);
  simt::fetch_max(a.most, now);
}
WARDEN_DEVICE void leave(credit_arguments const& a, std::uint64_t count) {
  simt::fetch_add(a.held, std::uint64_t{0} - count);
}

/// Common credits, and the counters of their tests.
class credits {
 public:
  credits(std::uint64_t count, std::uint32_t kept) : count_{count} {
    warden::detail::channel_index const all{count};
    warden::copy(available_.data(), &all, 1);
    numbers_.fill_bytes(0);
    arguments_.common.available = available_.data();
    arguments_.common.credits = count;
    arguments_.common.kept = kept;
    arguments_.held = numbers_.data();
    arguments_.most = numbers_.data() + 1;
    arguments_.errors = numbers_.data() + 2;
    warden::stream_ref{}.synchronize();  // `all` ends here
  }
  /// All credits are back at the end, and were never more.
  void run(void (*kernel)(credit_arguments), unsigned blocks, unsigned threads, std::uint64_t seed,
           unsigned rounds) {
    arguments_.seed = seed;
    arguments_.rounds = rounds;
    simt::launch(kernel, blocks, threads, 256, arguments_, {});
    auto const numbers = numbers_.to_host();
    EXPECT_EQ(numbers[2], 0u) << "more than there are, or a wrong number";
    EXPECT_EQ(numbers[0], 0u);
    EXPECT_EQ(available_.to_host()[0].value, count_);
    most_ = std::max(most_, numbers[1]);
  }
  /// Most that were held at a time.
  [[nodiscard]] std::uint64_t most() const { return most_; }

 private:
  std::uint64_t count_, most_ = 0;
  warden::buffer<warden::detail::channel_index> available_{1};
  warden::buffer<std::uint64_t> numbers_{3};
  credit_arguments arguments_{};
};

/// The block's shared memory as a credits's word.
WARDEN_DEVICE simt::shared_span<std::int32_t> stock_of_block() {
  return warden::detail::arena_piece<std::int32_t>{0, 1}.in(simt::dynamic_shared());
}

/// The first lane of each warp, as in a server: takes for up to a warp's messages, which leave
/// later; the first warp's rests now and then.
WARDEN_KERNEL void take_credits(credit_arguments a) {
  warden::detail::warp_credits const credits{stock_of_block()};
  if (simt::thread_rank() == 0) credits.start();
  simt::sync_block();
  if (simt::lane_id() == 0) {
    draws draw = draws_of_this_thread(a.seed);
    std::uint32_t mine = 0;
    for (unsigned round = 0; round < a.rounds; ++round) {
      std::uint32_t const wanted = 1 + draw.below(9);
      std::uint32_t const got = credits.take(a.common, wanted);
      expect(a.errors, got <= wanted);
      hold(a, got);
      mine += got;
      std::uint32_t const left = draw.below(mine + 1);
      if (left != 0) {
        leave(a, left);
        credits.give(a.common, left);
        mine -= left;
      }
      if (simt::thread_rank() == 0 && draw.below(4) == 0) credits.empty(a.common);
    }
    if (mine != 0) {
      leave(a, mine);
      credits.give(a.common, mine);
    }
  }
  simt::sync_block();
  if (simt::thread_rank() == 0) credits.empty(a.common);
}
TEST(warp_credits, has_no_credit_too_many_under_many_schedules) {
  std::uint64_t most = 0;
  test::under_many_schedules(2, [&](std::uint64_t seed) {
    credits few{20, 6};
    few.run(&take_credits, 3, 96, seed, 12);
    most = std::max(most, few.most());
  });
  EXPECT_EQ(most, 20u) << "the last credit was never taken";
}

/// One thread alone: nothing is withheld.
WARDEN_KERNEL void take_alone(credit_arguments a) {
  warden::detail::warp_credits const credits{stock_of_block()};
  credits.start();
  expect(a.errors, credits.has_some(a.common));
  expect(a.errors, credits.take(a.common, 5) == 5);
  expect(a.errors, a.common.count() == 14);  // as many as are kept were asked for
  expect(a.errors, credits.take(a.common, 1) == 1 && a.common.count() == 14);
  expect(a.errors, credits.take(a.common, 10) == 10);
  expect(a.errors, credits.take(a.common, 10) == 4 && !credits.has_some(a.common));
  expect(a.errors, credits.take(a.common, 1) == 0);
  credits.give(a.common, 6);  // credits that are kept stay
  expect(a.errors, a.common.count() == 0 && credits.has_some(a.common));
  credits.give(a.common, 1);
  expect(a.errors, a.common.count() == 7);
  credits.give(a.common, 6);
  credits.empty(a.common);
  expect(a.errors, a.common.count() == 13);
  credits.give(a.common, 7);
  credits.empty(a.common);
  expect(a.errors, a.common.has_all());
}
TEST(warp_credits, withholds_nothing) { credits{20, 6}.run(&take_alone, 1, 1, 1, 1); }

/// A server of one thread, with messages of clients in any order. Each is executed once it is there
/// and may send another one, which returns to the same server later.
WARDEN_KERNEL void serve_by_stock(credit_arguments a) {
  if (simt::thread_rank() != 0) return;
  draws draw = draws_of_this_thread(a.seed);
  constexpr unsigned ahead = 8;  // beyond the oldest index, at most
  std::uint64_t const first = 64, end = first + a.rounds;
  std::uint64_t released = first, ring_released = 0, ring_end = 0;
  std::uint32_t done = 0;  // bit k: index `released` + k was executed
  warden::detail::block_credits stock{first, 0};
  warden::detail::credit_request request;
  while (released != end || ring_released != ring_end) {
    std::uint64_t const before = released;
    std::int32_t spent = 0;
    bool any = false;
    for (unsigned k = 0; k < ahead; ++k) {
      std::uint64_t const index = before + k;
      if (index >= end || index >= stock.admitted() || (done >> k & 1u) != 0 || draw.below(3) == 0)
        continue;
      done |= 1u << k;
      any = true;
      hold(a, 1);
      if (draw.below(2) == 0) {
        ++spent;
        ++ring_end;
      } else {
        leave(a, 1);
      }
    }
    for (; (done & 1u) != 0; done >>= 1) ++released;
    std::uint64_t const ring_before = ring_released;
    ring_released += draw.below(static_cast<std::uint32_t>(ring_end - ring_released) + 1);
    leave(a, ring_released - ring_before);
    any = any || ring_released != ring_before;
    stock.executed(released, ring_released, spent);
    stock.admit(a.common, request, released, released != before);
    if (any && draw.below(4) != 0) continue;
    // It rests; the next message comes from a client, or from a server.
    stock.rest(a.common, request);
    expect(a.errors, stock.admitted() == released);
    simt::back_off(0);
    if (released != end && stock.try_admit(a.common)) expect(a.errors, stock.admitted() > released);
  }
  stock.rest(a.common, request);
}
TEST(block_credits, admits_no_more_than_there_are_credits_under_many_schedules) {
  std::uint64_t most = 0;
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    credits few{7, 3};
    few.run(&serve_by_stock, 4, 1, seed, 40);
    most = std::max(most, few.most());
  });
  EXPECT_EQ(most, 7u) << "the last credit was never taken";
}

/// Message 101 is executed, and sends one, while 100 is missing.
WARDEN_KERNEL void execute_after_a_missing_index(credit_arguments a) {
  warden::detail::block_credits stock{100, 0};
  warden::detail::credit_request request;
  expect(a.errors, stock.try_admit(a.common));
  expect(a.errors, stock.admitted() == 104 && a.common.count() == 0);
  stock.executed(100, 0, 1);
  stock.admit(a.common, request, 100, true);
  expect(a.errors, stock.admitted() == 104 && a.common.count() == 0);
  // 100, 102 and 103 give their credits back; the section that 101 sent has its credit.
  stock.rest(a.common, request);
  expect(a.errors, stock.admitted() == 100 && a.common.count() == 3);
  stock.executed(100, 1, 0);
  stock.rest(a.common, request);
  expect(a.errors, a.common.has_all());
  // The missing index is admitted anew, and so are all later ones.
  expect(a.errors, stock.try_admit(a.common) && stock.admitted() == 104);
  stock.executed(104, 1, 0);
  expect(a.errors, a.common.count() == 0);
  stock.rest(a.common, request);
  expect(a.errors, a.common.has_all() && stock.admitted() == 104);
}
TEST(block_credits, counts_sections_executed_after_a_missing_index) {
  credits{4, 4}.run(&execute_after_a_missing_index, 1, 1, 1, 1);
}

}  // namespace
