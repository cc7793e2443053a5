// SPDX-License-Identifier: Apache-2.0
// The simulated memory is as weak as it says: each weakness is seen where the memory model allows
// it, and never where it does not.

#include <warden/buffer.hpp>
#include <warden/detail/fused/single_tag.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

namespace simt = warden::simt;

struct arguments {
  std::uint32_t* words = nullptr;  ///< data, flag, and apart from them a count of bad outcomes
  bool fences = false;
};

template <class Kernel>
std::uint64_t bad_outcomes(Kernel kernel, bool fences, unsigned blocks, unsigned threads,
                           unsigned outcome = 32, bool weak = true) {
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.weak_memory = weak;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{64};
    words.fill_bytes(0);
    simt::launch(kernel, blocks, threads, 64, {words.data(), fences}, {});
    bad += words.to_host()[outcome];
  }
  return bad;
}

// How a writer releases and a reader acquires.
enum class by { nothing, block_fence, device_fence, access };

template <by Releases, by Acquires>
WARDEN_KERNEL void message_passing(arguments a) {
  // Without fences of the device the two are threads of one block.
  unsigned const me = simt::block_count() == 2 ? simt::block_rank() : simt::thread_rank();
  if (me == 0) {
    simt::store_relaxed(&a.words[0], 1);
    if (Releases == by::block_fence) simt::fence_block();
    if (Releases == by::device_fence) simt::fence_device();
    if (Releases == by::access) {
      simt::store_release(&a.words[8], 1);
    } else {
      simt::store_relaxed(&a.words[8], 1);
    }
  } else {
    auto const flag =
        Acquires == by::access ? simt::load_acquire(&a.words[8]) : simt::load_relaxed(&a.words[8]);
    if (Acquires == by::block_fence) simt::fence_block();
    if (Acquires == by::device_fence) simt::fence_device();
    if (flag == 1 && simt::load_relaxed(&a.words[0]) == 0) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, a_release_and_an_acquire_together_order_two_words) {
  for (auto half :
       {&message_passing<by::nothing, by::nothing>, &message_passing<by::device_fence, by::nothing>,
        &message_passing<by::nothing, by::device_fence>, &message_passing<by::access, by::nothing>,
        &message_passing<by::nothing, by::access>}) {
    EXPECT_GT(bad_outcomes(half, false, 2, 1), 0u);
    EXPECT_GT(bad_outcomes(half, false, 1, 2), 0u);
  }
  for (auto whole :
       {&message_passing<by::device_fence, by::device_fence>,
        &message_passing<by::access, by::device_fence>,
        &message_passing<by::device_fence, by::access>, &message_passing<by::access, by::access>}) {
    EXPECT_EQ(bad_outcomes(whole, false, 2, 1), 0u);
    EXPECT_EQ(bad_outcomes(whole, false, 1, 2), 0u);
  }
}
TEST(weak_memory, fences_of_a_block_reach_no_further) {
  for (auto kernel : {&message_passing<by::block_fence, by::block_fence>,
                      &message_passing<by::block_fence, by::device_fence>,
                      &message_passing<by::device_fence, by::block_fence>}) {
    EXPECT_GT(bad_outcomes(kernel, false, 2, 1), 0u);
    EXPECT_EQ(bad_outcomes(kernel, false, 1, 2), 0u);
  }
}

// Both may see nothing of the other, and acquire and release fences do not forbid it.
WARDEN_KERNEL void store_buffering(arguments a) {
  unsigned const me = simt::block_rank();
  simt::store_relaxed(&a.words[8 * me], 1);
  if (a.fences) simt::fence_device();
  if (simt::load_relaxed(&a.words[8 * (1 - me)]) == 0) {
    // Counted once, by the thread that comes second.
    if (simt::fetch_add(&a.words[33], 1u) == 1) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, two_threads_may_miss_each_others_stores) {
  EXPECT_GT(bad_outcomes(&store_buffering, false, 2, 1), 0u);
  EXPECT_GT(bad_outcomes(&store_buffering, true, 2, 1), 0u);
}

// An atomic is no fence: stores before it may be seen after it.
WARDEN_KERNEL void atomic_flag(arguments a) {
  if (simt::block_rank() == 0) {
    simt::store_relaxed(&a.words[0], 1);
    if (a.fences) simt::fence_device();
    simt::fetch_add(&a.words[8], 1u);
  } else {
    bool const seen = simt::fetch_add(&a.words[8], 0u) == 1;
    if (a.fences) simt::fence_device();
    if (seen && simt::load_relaxed(&a.words[0]) == 0) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, atomics_order_nothing_but_their_own_word) {
  EXPECT_GT(bad_outcomes(&atomic_flag, false, 2, 1), 0u);
  EXPECT_EQ(bad_outcomes(&atomic_flag, true, 2, 1), 0u);
}

// Block 0 releases; block 1 counts on, without fences; block 2 acquires what block 1 left.
WARDEN_KERNEL void chain_of_atomics(arguments a) {
  if (simt::block_rank() == 0) {
    simt::store_relaxed(&a.words[0], 1);
    simt::fence_device();
    simt::fetch_add(&a.words[8], 1u);
  } else if (simt::block_rank() == 1) {
    if (a.fences) {
      simt::fetch_add(&a.words[8], 10u);
    } else {
      simt::store_relaxed(&a.words[8], simt::load_relaxed(&a.words[8]) + 10);
    }
  } else {
    bool const seen = simt::load_relaxed(&a.words[8]) == 11;
    simt::fence_device();
    if (seen && simt::load_relaxed(&a.words[0]) == 0) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, an_atomic_hands_on_what_its_word_was_released_with) {
  EXPECT_GT(bad_outcomes(&chain_of_atomics, false, 3, 1), 0u) << "a store does not";
  EXPECT_EQ(bad_outcomes(&chain_of_atomics, true, 3, 1), 0u);
}

// One word never goes back: for one thread, and for one that has heard of it.
WARDEN_KERNEL void coherence(arguments a) {
  if (simt::block_rank() == 0) {
    if (simt::thread_rank() != 0) return;
    for (unsigned i = 1; i < 6; ++i) simt::store_relaxed(&a.words[0], i);
  } else if (simt::thread_rank() == 0) {
    auto const first = simt::load_relaxed(&a.words[0]);
    auto const again = simt::load_relaxed(&a.words[0]);
    if (again < first) simt::fetch_add(&a.words[32], 1u);
    simt::store_relaxed(&a.words[8], again);
    if (a.fences) simt::fence_device();
    simt::store_relaxed(&a.words[16], 1);
  } else {
    bool const told = simt::load_relaxed(&a.words[16]) == 1;
    if (a.fences) simt::fence_device();
    auto const seen = simt::load_relaxed(&a.words[8]);
    if (told && simt::load_relaxed(&a.words[0]) < seen) simt::fetch_add(&a.words[33], 1u);
  }
}
TEST(weak_memory, one_word_never_goes_back) {
  EXPECT_EQ(bad_outcomes(&coherence, false, 2, 2), 0u);
  EXPECT_EQ(bad_outcomes(&coherence, true, 2, 2, 33), 0u);
  EXPECT_GT(bad_outcomes(&coherence, false, 2, 2, 33), 0u);
}

// Messages through shared memory, between threads of a block; a shuffle passes only its value.
template <by Meet>
WARDEN_KERNEL void shared_words(arguments a) {
  auto* const words = reinterpret_cast<std::uint32_t*>(simt::dynamic_shared());
  if (simt::thread_rank() == 0) {
    simt::shared_store(words[0], 0u);
    simt::shared_store(words[8], 0u);
  }
  simt::sync_block();
  if (simt::thread_rank() == 0) {
    simt::shared_store(words[0], 1u);
    if (Meet == by::block_fence) simt::fence_block();
    simt::shared_store(words[8], 1u);
  }
  if (Meet == by::access) simt::sync_warp(3);
  if (Meet == by::nothing) simt::shuffle(3, 0u, 0);
  if (simt::thread_rank() == 1) {
    bool const seen = simt::shared_load(words[8]) == 1;
    if (Meet == by::block_fence) simt::fence_block();
    if (seen && simt::shared_load(words[0]) == 0) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, shared_memory_is_weak_between_threads) {
  EXPECT_GT(bad_outcomes(&shared_words<by::nothing>, false, 1, 2), 0u);
  EXPECT_EQ(bad_outcomes(&shared_words<by::block_fence>, false, 1, 2), 0u);
  EXPECT_EQ(bad_outcomes(&shared_words<by::access>, false, 1, 2), 0u);
}

WARDEN_KERNEL void flit(arguments a) {
  auto* const place = reinterpret_cast<simt::flit_words*>(a.words);
  if (simt::block_rank() == 0) {
    simt::store_flit(place, {1, 1});
  } else {
    auto const seen = simt::load_flit(place);
    if (seen.first > seen.second) simt::fetch_add(&a.words[32], 1u);
    if (seen.first < seen.second) simt::fetch_add(&a.words[33], 1u);
  }
}
TEST(weak_memory, flits_tear) {
  EXPECT_GT(bad_outcomes(&flit, false, 2, 1), 0u);
  EXPECT_GT(bad_outcomes(&flit, false, 2, 1, 33), 0u);
  // Also without older values: a flit is stored and loaded first word first.
  EXPECT_GT(bad_outcomes(&flit, false, 2, 1, 32, false), 0u);
  EXPECT_GT(bad_outcomes(&flit, false, 2, 1, 33, false), 0u);
}

// One message through the only slot of a channel whose flits prove themselves as `Flit` says.
template <class Flit>
WARDEN_KERNEL void one_message(arguments a) {
  warden::detail::channel_ref<1, Flit> const channel{
      nullptr, reinterpret_cast<simt::flit_words*>(a.words), 0};
  std::uint64_t const index = 1;  // the second use of the slot, which holds zeros
  warden::detail::message<1> m{{{1, 1}}};
  if (simt::block_rank() == 0) {
    channel.publish(index, m);
    return;
  }
  bool const ready = channel.receive(index, m);
  auto const [first, second] = m.flits[0];
  bool const is_half = (first == 0) != (second == 0);
  simt::fetch_add(&a.words[32], std::uint32_t{ready && is_half});
  simt::fetch_add(&a.words[33], std::uint32_t{is_half});
  simt::fetch_add(&a.words[34], std::uint32_t{ready});
}
/// Relies on one access a flit, and takes two.
struct sequence_in_first_word_of_two : warden::detail::flit::sequence_in_first_word {
  static simt::flit_words load(simt::flit_words const* place) { return simt::load_flit(place); }
  static void store(simt::flit_words* place, simt::flit_words words) {
    simt::store_flit(place, words);
  }
};
TEST(weak_memory, a_message_in_halves_is_not_taken_where_each_word_carries_the_tag) {
  for (bool const weak : {true, false}) {
    auto const outcomes = [&](auto kernel, unsigned which) {
      return bad_outcomes(kernel, false, 2, 1, which, weak);
    };
    using warden::detail::flit::sequence_in_each_word;
    EXPECT_EQ(outcomes(&one_message<sequence_in_each_word>, 32), 0u);
    EXPECT_GT(outcomes(&one_message<sequence_in_each_word>, 33), 0u) << "no halves were seen";
    EXPECT_GT(outcomes(&one_message<sequence_in_each_word>, 34), 0u);
    EXPECT_GT(outcomes(&one_message<sequence_in_first_word_of_two>, 32), 0u);
  }
}
TEST(weak_memory, flits_with_a_single_tag_do_not_tear) {
  for (bool const weak : {true, false}) {
    using warden::detail::flit::sequence_in_first_word;
    EXPECT_EQ(bad_outcomes(&one_message<sequence_in_first_word>, false, 2, 1, 33, weak), 0u);
    EXPECT_GT(bad_outcomes(&one_message<sequence_in_first_word>, false, 2, 1, 34, weak), 0u);
  }
}

// A thread's own stores of a flit and of its words, whichever it stores and loads.
WARDEN_KERNEL void parts_of_a_flit(arguments a) {
  auto* const place = reinterpret_cast<simt::flit_words*>(a.words) + simt::block_rank();
  auto const expect = [&](bool good) { simt::fetch_add(&a.words[32], std::uint32_t{!good}); };
  simt::store_whole_flit(place, {1, 2});
  expect(simt::load_relaxed(&place->second) == 2);
  simt::store_relaxed(&place->second, 3);
  auto const whole = simt::load_whole_flit(place);
  expect(whole.first == 1 && whole.second == 3);
  simt::store_whole_flit(place, {4, 5});
  auto const words = simt::load_flit(place);
  expect(words.first == 4 && words.second == 5);
  simt::store_flit(place, {6, 7});
  if (a.fences) simt::fence_device();
  auto const again = simt::load_whole_flit(place);
  expect(again.first == 6 && again.second == 7);
}
TEST(weak_memory, a_thread_sees_its_own_flits) {
  for (bool const weak : {true, false}) {
    EXPECT_EQ(bad_outcomes(&parts_of_a_flit, false, 2, 1, 32, weak), 0u);
    EXPECT_EQ(bad_outcomes(&parts_of_a_flit, true, 2, 1, 32, weak), 0u);
  }
}

// Thread 0 stores; a barrier; thread 1 fences (or not) and raises the flag for the other block.
WARDEN_KERNEL void cumulativity(arguments a) {
  if (simt::block_rank() == 0) {
    if (simt::thread_rank() == 0) simt::store_relaxed(&a.words[0], 1);
    simt::sync_block();
    if (simt::thread_rank() == 1) {
      if (a.fences) simt::fence_device();
      simt::store_relaxed(&a.words[8], 1);
    }
  } else if (simt::thread_rank() == 0) {
    bool const seen = simt::load_relaxed(&a.words[8]) == 1;
    simt::fence_device();
    if (seen && simt::load_relaxed(&a.words[0]) == 0) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, a_fence_after_a_barrier_covers_the_block) {
  EXPECT_GT(bad_outcomes(&cumulativity, false, 2, 2), 0u);
  EXPECT_EQ(bad_outcomes(&cumulativity, true, 2, 2), 0u);
}

// Thread 1 fences after thread 0's store, but knows nothing of it: `a.fences` chooses whether it
// fences before or after the barrier.
WARDEN_KERNEL void a_strangers_fence(arguments a) {
  auto& stored = *reinterpret_cast<std::uint32_t*>(simt::dynamic_shared());
  if (simt::block_rank() == 0) {
    if (simt::thread_rank() == 0) simt::shared_store(stored, 0u);
    simt::sync_block();
    if (simt::thread_rank() == 0) {
      simt::store_relaxed(&a.words[0], 1);
      simt::shared_store(stored, 1u);
    }
    if (simt::thread_rank() == 1 && !a.fences) {
      simt::wait_until([&] { return simt::shared_load(stored) == 1u; }, [] { return true; },
                       [&](auto watch) { watch(&stored); });
      simt::fence_device();
    }
    simt::sync_block();
    if (simt::thread_rank() == 1 && a.fences) simt::fence_device();
    if (simt::thread_rank() == 1) simt::store_relaxed(&a.words[8], 1);
  } else if (simt::thread_rank() == 0) {
    bool const seen = simt::load_relaxed(&a.words[8]) == 1;
    simt::fence_device();
    if (seen && simt::load_relaxed(&a.words[0]) == 0) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, a_fence_publishes_what_its_thread_knows_and_no_other_stores) {
  EXPECT_GT(bad_outcomes(&a_strangers_fence, false, 2, 2), 0u);
  EXPECT_EQ(bad_outcomes(&a_strangers_fence, true, 2, 2), 0u);
}

/// The last thread of a block that has begun releases what the first one wrote. A block that begins
/// later, in its place, acquires it.
WARDEN_KERNEL void hand_to_the_next_block(arguments a) {
  if (simt::block_rank() == 0) {
    if (simt::thread_rank() == 0) {
      a.words[0] = 1;
      simt::note_written(&a.words[0]);
    }
    simt::sync_block();
    if (simt::thread_rank() == 1) simt::store_release(&a.words[8], 1);
  } else if (simt::thread_rank() == 1 && simt::load_acquire(&a.words[8]) == 1) {
    simt::demand_visible(&a.words[0]);
  }
}
TEST(weak_memory, a_thread_acquires_what_the_thread_before_in_its_place_released) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.weak_memory = true;
    s.multiprocessors = s.blocks_per_multiprocessor = 1;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{64};
    words.fill_bytes(0);
    EXPECT_NO_THROW(simt::launch(&hand_to_the_next_block, 2, 2, 0, {words.data(), false}, {}));
  }
}
// A wait ends although loads may return older values, and a deadlock is still seen.
WARDEN_KERNEL void ping_pong(arguments a) {
  unsigned const me = simt::block_rank();
  for (std::uint32_t r = 0; r < 20; ++r) {
    simt::wait_until([&] { return simt::load_relaxed(&a.words[0]) == 2 * r + me; },
                     [] { return true; }, [&](auto watch) { watch(&a.words[0]); });
    simt::store_relaxed(&a.words[0], 2 * r + me + 1);
  }
}
TEST(weak_memory, waits_end) {
  EXPECT_EQ(bad_outcomes(&ping_pong, false, 2, 1), 0u);
  EXPECT_FALSE(warden::sim::last_report().deadlock);
}

TEST(weak_memory, can_be_switched_off) {
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.weak_memory = false;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{64};
    words.fill_bytes(0);
    simt::launch(&message_passing<by::nothing, by::nothing>, 2, 1, 64, {words.data(), false}, {});
    bad += words.to_host()[32];
  }
  EXPECT_EQ(bad, 0u);
  warden::sim::configure({});
}

}  // namespace
