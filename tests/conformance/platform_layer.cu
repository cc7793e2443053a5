// SPDX-License-Identifier: Apache-2.0
// Functions of the platform layer return the same on both devices.

#include "tests/support/support.cuh"

#include <warden/simt/block_sort.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/register_share.cuh>

#include <algorithm>
#include <numeric>

namespace {

namespace simt = warden::simt;

struct arguments {
  std::uint64_t* out;
  std::uint64_t* errors;
};

/// Returns the words that the kernel left in `out`, all 0 before.
std::vector<std::uint64_t> run(void (*kernel)(arguments), unsigned blocks, unsigned threads) {
  warden::buffer<std::uint64_t> out{64}, errors{1};
  out.fill_bytes(0);
  errors.fill_bytes(0);
  simt::launch(kernel, blocks, threads, 16 * 1024, {out.data(), errors.data()}, {});
  EXPECT_EQ(errors.to_host()[0], 0u);
  return out.to_host();
}

__device__ void expect(arguments const& a, bool good) {
  if (!good) simt::fetch_add(a.errors, std::uint64_t{1});
}

WARDEN_KERNEL void warp_collectives(arguments a) {
  unsigned const lane = simt::lane_id();
  expect(a, simt::ballot(simt::full_warp, lane % 3 == 0) == 0x49249249u);
  expect(a, simt::any(simt::full_warp, lane == 31) && !simt::any(simt::full_warp, lane == 32));
  expect(a, simt::shuffle(simt::full_warp, lane * 7u, 5) == 35u);
  expect(a, simt::shuffle(simt::full_warp, std::uint64_t{lane} << 40, 31 - lane) ==
                std::uint64_t{31 - lane} << 40);
  expect(a, simt::match_any(simt::full_warp, lane / 8) == 0xffu << (lane / 8 * 8));
  expect(a, simt::match_any(simt::full_warp, std::uint64_t{lane % 2} << 50) ==
                (lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau));
  expect(a, simt::match_below<32>(simt::full_warp, lane) == 1u << lane);
  expect(a, simt::match_below<1000>(simt::full_warp, lane / 8 * 300) == 0xffu << (lane / 8 * 8));
  // A mask of its own for each half, one half twice.
  unsigned const half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  expect(a, simt::ballot(half, lane % 2 == 0) == (0x55555555u & half));
  if (lane < 16) {
    simt::sync_warp(half);
    expect(a, simt::shuffle(half, lane, 3) == 3u);
  }
  expect(a, simt::warp_sum(lane * lane - 1) == 31u * 32 * 63 / 6 - 32);
  expect(a, simt::warp_sum(lane == 3 ? 0u - 5u : 0u) == 0u - 5u);
  expect(a, simt::warp_min(100u - lane) == 69u && simt::warp_min(lane ^ 9u) == 0u);
  expect(a, simt::count_bits(0xf0f0u) == 8 && simt::first_bit(0x100u) == 8 &&
                simt::first_bit(0u) == -1);
  expect(a, simt::sum_of_bytes(0xff010203u) == 261u && simt::sum_of_bytes(~0u) == 1020u);
  expect(a, simt::last_bit(0x80001000u) == 31 && simt::last_bit(0x1fffu) == 12 &&
                simt::last_bit(1u) == 0 && simt::last_bit(0u) == -1);
}
WARDEN_KERNEL void clocks(arguments a) {
  std::uint64_t const nanoseconds = simt::nanoseconds(), cycles = simt::cycles();
  simt::sync_block();
  expect(a, simt::nanoseconds() >= nanoseconds && simt::cycles() > cycles);
}
TEST(platform_layer, clocks) { run(&clocks, 2, 64); }

TEST(platform_layer, warp_collectives) { run(&warp_collectives, 2, 96); }

WARDEN_KERNEL void addresses(arguments a) {
  std::byte* const arena = simt::dynamic_shared();
  expect(a, simt::is_shared(arena) && simt::is_shared(arena + 16 * 1024 - 1));
  expect(a, !simt::is_shared(a.out));
}
TEST(platform_layer, addresses) { run(&addresses, 2, 32); }

template <class Scan>
WARDEN_DEVICE void sum_before(arguments const& a) {
  auto& storage = *reinterpret_cast<typename Scan::storage*>(simt::dynamic_shared());
  for (std::uint32_t round = 1; round < 4; ++round) {
    std::uint32_t total = 0;
    std::uint32_t const t = simt::thread_rank();
    std::uint32_t const before = Scan::exclusive_sum(storage, t * round, total);
    expect(a, before == round * (t * (t - 1) / 2) && total == round * (96 * 95 / 2));
    simt::sync_block();
  }
}
WARDEN_KERNEL void block_collectives(arguments a) {
  expect(a, simt::sync_block_or(simt::thread_rank() == 70));
  expect(a, !simt::sync_block_or(simt::thread_rank() == 96));
  sum_before<simt::block_scan<96>>(a);
  sum_before<simt::block_scan_by_warps<96>>(a);
}
TEST(platform_layer, block_collectives) { run(&block_collectives, 2, 96); }

struct cluster_words {
  std::uint64_t wide;
  std::uint32_t narrow, count;
  std::uint32_t sum, bits;
  std::uint32_t plain[96];  ///< [thread] in global memory, too
};
/// Every block writes to the next block of the cluster, and reads from the one before.
WARDEN_KERNEL void clusters(arguments a) {
  auto& mine = *reinterpret_cast<cluster_words*>(simt::dynamic_shared());
  unsigned const rank = simt::cluster_rank(), size = simt::cluster_size(), me = simt::thread_rank();
  unsigned const next = (rank + 1) % size, before = (rank + size - 1) % size;
  expect(a, rank < size && rank == simt::block_rank() % size && simt::block_count() % size == 0);
  std::uint64_t* const out = a.out + std::uint64_t{simt::block_rank() / size * size} * 96;
  if (me == 0) {
    simt::shared_store(mine.count, 0u);
    simt::shared_store(mine.sum, 0u);
    simt::shared_store(mine.bits, 0u);
  }
  simt::sync_cluster();
  for (std::uint32_t round = 1; round < 4; ++round) {
    if (me == 0) {
      simt::cluster_store(mine.narrow, next, rank + round);
      simt::cluster_store(mine.wide, next, std::uint64_t{rank} << 40 | round);
    }
    std::uint32_t const place = simt::cluster_fetch_add(mine.count, next, 2);
    expect(a, place % 2 == 0 && place / 2 < 96 * round);
    simt::cluster_store(mine.plain[me], next, me * round);
    // By a block and its neighbour at once.
    simt::cluster_add(mine.sum, next, me);
    simt::cluster_add(mine.sum, rank, 1000);
    simt::cluster_set_bits(mine.bits, me % 2 == 0 ? next : rank, 1u << me % 32);
    simt::store_relaxed(&out[rank * 96 + me], std::uint64_t{rank + me + round});
    simt::sync_cluster();
    expect(a, simt::shared_load(mine.narrow) == before + round);
    expect(a, simt::shared_load(mine.wide) == (std::uint64_t{before} << 40 | round));
    expect(a, simt::shared_load(mine.count) == 2 * 96 * round);
    expect(a, simt::shared_load(mine.sum) == round * (96 * 95 / 2 + 96 * 1000));
    expect(a, simt::shared_load(mine.bits) == ~0u);
    unsigned const other = (me + 1) % 96;
    expect(a, simt::shared_load(mine.plain[other]) == other * round);
    expect(a, simt::cluster_load(mine.narrow, next) == rank + round);
    expect(a, simt::cluster_load(mine.wide, next) == (std::uint64_t{rank} << 40 | round));
    expect(a, simt::load_relaxed(&out[before * 96 + other]) == before + other + round);
    simt::sync_cluster();
  }
}
TEST(platform_layer, clusters) {
  constexpr std::size_t bytes = sizeof(cluster_words);
  auto const kernel = simt::make_kernel(&clusters);
  for (unsigned const cluster : {1u, 2u, 4u}) {
    if (cluster != 1 && warden::runtime::resident_clusters(kernel, 96, bytes, cluster) < 2) {
      EXPECT_LT(warden::runtime::facts(0).compute_capability, 90);
      continue;
    }
    for (bool const cooperative : {true, false}) {
      warden::buffer<std::uint64_t> out{96 * 2 * 4}, errors{1};
      errors.fill_bytes(0);
      arguments a{out.data(), errors.data()};
      void* all[] = {&a};
      warden::runtime::launch(kernel, {2 * cluster, 96, bytes, cooperative, cluster}, all, {});
      EXPECT_EQ(errors.to_host()[0], 0u) << cluster;
    }
  }
}
TEST(platform_layer, impossible_clusters) {
  auto const kernel = simt::make_kernel(&clusters);
  EXPECT_EQ(warden::runtime::resident_clusters(kernel, 96, sizeof(cluster_words), 1024), 0);
  arguments a{};
  void* all[] = {&a};
  EXPECT_THROW(warden::runtime::launch(kernel, {3, 96, sizeof(cluster_words), true, 2}, all, {}),
               warden::cuda_error);
}

/// x -> factor * x + term, modulo 2^32: composition is associative, but not commutative.
struct affine {
  std::uint32_t factor, term;
};
struct compose {
  __device__ affine operator()(affine const& a, affine const& b) const {
    return {a.factor * b.factor, b.factor * a.term + b.term};
  }
};
__device__ affine affine_of(std::uint32_t thread, std::uint32_t round) {
  return {2 * thread + 2 * round + 1, thread * thread + 7};
}
WARDEN_KERNEL void block_scan_by_anything(arguments a) {
  using scan = simt::block_scan_by<affine, 96>;
  auto& storage = *reinterpret_cast<scan::storage*>(simt::dynamic_shared());
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::uint32_t const t = simt::thread_rank();
    affine const before = scan::exclusive(storage, affine_of(t, round), compose{});
    affine wanted = affine_of(0, round);
    for (std::uint32_t other = 1; other < t; ++other)
      wanted = compose{}(wanted, affine_of(other, round));
    expect(a, t == 0 || (before.factor == wanted.factor && before.term == wanted.term));
    simt::sync_block();
  }
}
TEST(platform_layer, block_scan_by_anything) { run(&block_scan_by_anything, 2, 96); }

constexpr unsigned sort_threads = 64, sort_items = 3, sort_words = sort_threads * sort_items;
struct sort_arguments {
  std::uint32_t const* words;
  std::uint32_t* sorted;
  unsigned first_bit, end_bit;
};
WARDEN_KERNEL void sort_twice(sort_arguments a) {
  using sort = simt::block_sort<sort_threads, sort_items>;
  auto& storage = *reinterpret_cast<sort::storage*>(simt::dynamic_shared());
  for (unsigned round = 0; round < 2; ++round) {
    unsigned const first = round * sort_words + simt::thread_rank() * sort_items;
    std::uint32_t words[sort_items];
    for (unsigned j = 0; j < sort_items; ++j) words[j] = a.words[first + j];
    sort::sort(storage, words, a.first_bit, a.end_bit);
    for (unsigned j = 0; j < sort_items; ++j) a.sorted[first + j] = words[j];
    simt::sync_block();
  }
}
TEST(platform_layer, block_sort) {
  std::vector<std::uint32_t> words;
  for (unsigned i = 0; i < 2 * sort_words; ++i)
    words.push_back(static_cast<std::uint32_t>(test::mix(i)));
  warden::buffer<std::uint32_t> const in{words};
  warden::buffer<std::uint32_t> const out{words.size()};
  for (auto const& [first_bit, end_bit] :
       {std::pair{0u, 32u}, {12u, 13u}, {5u, 12u}, {30u, 32u}, {0u, 6u}}) {
    simt::launch(&sort_twice, 1, sort_threads, 16 * 1024,
                 {in.data(), out.data(), first_bit, end_bit}, {});
    auto wanted = words;
    auto const key = [first = first_bit, end = end_bit](std::uint32_t word) {
      return (word & ((std::uint64_t{1} << end) - 1)) >> first;
    };
    for (auto const half : {wanted.begin(), wanted.begin() + sort_words}) {
      std::stable_sort(half, half + sort_words,
                       [&](std::uint32_t x, std::uint32_t y) { return key(x) < key(y); });
    }
    EXPECT_EQ(out.to_host(), wanted) << "bits " << first_bit << " to " << end_bit;
  }
}

WARDEN_KERNEL void atomics(arguments a) {
  simt::fetch_add(&a.out[0], std::uint64_t{3});
  simt::fetch_max(&a.out[1], std::uint64_t{simt::thread_rank()});
  auto* const words = reinterpret_cast<std::int32_t*>(&a.out[2]);
  simt::fetch_min(&words[0], -static_cast<std::int32_t>(simt::thread_rank()));
  // The even bits by both blocks, the odd ones by one.
  bool const turns = simt::block_rank() == 0 || simt::lane_id() % 2 == 0;
  if (simt::warp_rank() == 0 && turns) simt::fetch_xor(&words[1], 1 << simt::lane_id());
  // Exactly one thread finds each bit unset, while other threads set the other bits of its word.
  unsigned const bit = 1u << simt::lane_id();
  if ((simt::fetch_or(reinterpret_cast<unsigned*>(&a.out[13]), bit) & bit) == 0)
    simt::fetch_add(&a.out[14], std::uint64_t{1});
  auto* const real = reinterpret_cast<double*>(&a.out[3]);
  simt::fetch_add(real, 0.5);
  // Each thread finds its turn and passes it on.
  std::uint64_t const me = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  bool mine = false;
  while (!mine) {
    mine = simt::compare_exchange(&a.out[4], me, me + 1) == me;
    if (!mine) simt::back_off(3);
  }
  expect(a, simt::exchange(&a.out[5 + me % 8], me + 100) != me + 100);
  simt::shared_span<std::uint32_t> const shared{
      reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), 4};
  if (simt::thread_rank() < 4) shared[simt::thread_rank()] = 0;
  simt::sync_block();
  simt::shared_fetch_add(shared[0], 2u);
  while (simt::shared_compare_exchange(shared[1], 0u, 1u) != 0u) simt::back_off(1);
  simt::fence_block();
  shared[2] = shared[2] + 1;
  simt::fence_block();
  simt::shared_exchange(shared[1], 0u);
  simt::sync_block();
  expect(a, simt::shared_load(shared[0]) == 2 * simt::block_threads() &&
                shared[2] == simt::block_threads());
}
TEST(platform_layer, atomics) {
  std::vector<std::uint64_t> const seen = run(&atomics, 2, 64);
  EXPECT_EQ(seen[0], 384u);
  EXPECT_EQ(seen[1], 63u);
  EXPECT_EQ(static_cast<std::int32_t>(seen[2]), -63);
  EXPECT_EQ(seen[2] >> 32, 0xaaaaaaaau);
  double half_sum;
  std::memcpy(&half_sum, &seen[3], 8);
  EXPECT_EQ(half_sum, 64.0);
  EXPECT_EQ(seen[4], 128u);
  EXPECT_EQ(seen[13], 0xffffffffu);
  EXPECT_EQ(seen[14], 32u);
  for (unsigned i = 0; i < 8; ++i) {
    // The last of the 16 threads that exchanged here.
    EXPECT_GE(seen[5 + i], 100u);
    EXPECT_LT(seen[5 + i], 228u);
    EXPECT_EQ((seen[5 + i] - 100) % 8, i);
  }
}

/// Additions that give no result, and four words by one load.
WARDEN_KERNEL void adds_and_loads(arguments a) {
  auto* const words = reinterpret_cast<std::uint32_t*>(&a.out[4]);
  simt::add(&a.out[simt::thread_rank() % 2], (std::uint64_t{1} << 40) + simt::thread_rank());
  // Next to its neighbours, which stay; and around the end.
  simt::add(&words[1], 0xffffffffu);
  simt::add(&words[2], 3u);
  std::uint32_t four[4];
  simt::load_four_words(words, four);
  // Each word is one that was there at some time.
  expect(a, four[0] == 0 && four[3] == 0 && four[2] % 3 == 0 && four[2] != 0 && four[1] != 0);
}
TEST(platform_layer, adds_and_loads) {
  std::vector<std::uint64_t> const seen = run(&adds_and_loads, 1, 64);
  EXPECT_EQ(seen[0], (std::uint64_t{32} << 40) + 31 * 32);
  EXPECT_EQ(seen[1], (std::uint64_t{32} << 40) + 32 * 32);
  EXPECT_EQ(seen[4], std::uint64_t{0xffffffc0u} << 32);
  EXPECT_EQ(seen[5], 192u);
}

/// Lanes on three words, some of which do not take part: each is counted once, whichever lanes come
/// together.
WARDEN_KERNEL void lanes_together(arguments a) {
  unsigned const me = simt::thread_rank();
  if (me % 5 == 4) return;
  std::uint64_t* const mine = &a.out[me % 3];
  simt::add_together(mine, std::uint64_t{2});
  std::uint64_t const before = simt::fetch_add_together(mine + 3, 1);
  expect(a, before < 64);
  simt::fetch_or(mine + 6, std::uint64_t{1} << before);
  unsigned const counted = simt::count_together(mine);
  if (counted != 0) simt::fetch_add(&a.out[12], std::uint64_t{counted});
}
TEST(platform_layer, lanes_together) {
  std::vector<std::uint64_t> const seen = run(&lanes_together, 1, 96);
  std::uint64_t all = 0;
  for (unsigned word = 0; word < 3; ++word) {
    std::uint64_t lanes = 0;
    for (unsigned me = word; me < 96; me += 3) lanes += me % 5 == 4 ? 0 : 1;
    EXPECT_EQ(seen[word], 2 * lanes);
    EXPECT_EQ(seen[3 + word], lanes);
    // Each got another old value.
    EXPECT_EQ(seen[6 + word], (std::uint64_t{1} << lanes) - 1);
    all += lanes;
  }
  EXPECT_EQ(seen[12], all);
}

/// One warp group gives up registers, and the other one takes them.
WARDEN_KERNEL void WARDEN_BOUNDS(256, 2) moved_registers(arguments a) {
  constexpr unsigned bounded = simt::bounded_registers(256, 2);
  unsigned const me = simt::thread_rank();
  bool const gives = me < simt::warps_in_group * simt::warp_size;
  if (gives)
    simt::give_up_registers<bounded / 2>();
  else
    simt::take_registers<bounded + bounded / 2>();
  simt::fetch_add(&a.out[gives ? 0 : 1], std::uint64_t{me});
}
TEST(platform_layer, registers_that_move) {
  std::vector<std::uint64_t> const seen = run(&moved_registers, 3, 256);
  EXPECT_EQ(seen[0], 3u * 127 * 128 / 2);
  EXPECT_EQ(seen[0] + seen[1], 3u * 255 * 256 / 2);
}

TEST(platform_layer, buffers_and_copies) {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  warden::stream s;
  warden::buffer<int> a{numbers}, b{1000};
  warden::copy(b.data(), a.data(), 1000, s);
  EXPECT_EQ(b.to_host(s), numbers);
  warden::buffer<int> moved = std::move(b);
  EXPECT_EQ(b.data(), nullptr);
  EXPECT_EQ(moved.to_host(s), numbers);
  moved.fill_bytes(0xff, s);
  EXPECT_EQ(moved.to_host(s), std::vector<int>(1000, -1));
  EXPECT_EQ(warden::buffer<int>{}.to_host(), std::vector<int>{});
}

}  // namespace
