// SPDX-License-Identifier: Apache-2.0
// Sections with is_noop, on a record that shows which sections ran unchecked
// for.
#pragma once

#include "tests/protocol/lanes.cuh"

#include <bitset>
#include <cstdint>
#include <vector>

namespace together {

/// A set of numbers.
struct bag {
  static constexpr unsigned words = 16, size = 32 * words;
  std::uint32_t bits[words];
  /// Sections that changed something; all equal, unless a section sees one half done.
  std::uint32_t turns[words];
};

/// Puts a number into a bag, unless it is there. Asked amid another section it says that it is,
/// and is then missed.
template <unsigned Lanes>
struct put {
  static constexpr unsigned group_size = Lanes;
  static constexpr bool reads_other_memory = false;
  std::uint32_t number;

  __device__ static put of(std::uint32_t i) { return {number_of(i)}; }
  WARDEN_HOST_DEVICE static std::uint32_t number_of(std::uint32_t i) {
    return static_cast<std::uint32_t>(test::mix(i + 5) % bag::size);
  }
  __device__ bool is_in(bag const& b) const {
    return (b.bits[number / 32] >> number % 32 & 1) != 0;
  }

  __device__ bool is_noop(bag const& b) const {
    return is_in(b) || b.turns[0] != b.turns[bag::words - 1];
  }
  __device__ void operator()(bag& b, warden::lane_group<Lanes> const& group) const {
    bool const is_there = is_in(b);
    group.sync();
    if (is_there) return;
    for (unsigned w = group.lane(); w < bag::words; w += Lanes) ++b.turns[w];
    if (group.lane() == 0) b.bits[number / 32] |= 1u << number % 32;
  }
};
/// A section that answers whether the number was there.
template <unsigned Lanes>
struct put_and_tell : put<Lanes> {
  __device__ static put_and_tell of(std::uint32_t i) { return {put<Lanes>::of(i)}; }
  __device__ bool operator()(bag& b, warden::lane_group<Lanes> const& group) const {
    bool const is_there = this->is_in(b);
    put<Lanes>::operator()(b, group);
    return is_there;
  }
};
/// Changes something each time; by one thread, and is not asked.
struct touch {
  static constexpr bool reads_other_memory = false;
  __device__ static touch of(std::uint32_t) { return {}; }
  __device__ void operator()(bag& b) const {
    for (std::uint32_t& t : b.turns) ++t;
  }
};

/// Checks the bags after the operations 0 .. n-1 have run: those that `puts` and those that touch.
template <class Puts>
void expect_bags(std::vector<bag> const& bags, std::uint32_t n, Puts puts) {
  auto const keys = static_cast<std::uint32_t>(bags.size());
  std::vector<std::bitset<bag::size>> wanted(keys);
  std::vector<std::uint32_t> touched(keys);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const k = test::id_of(i, keys);
    if (puts(i)) {
      wanted[k].set(put<1>::number_of(i));
    } else {
      ++touched[k];
    }
  }
  for (std::uint32_t k = 0; k < keys; ++k) {
    std::bitset<bag::size> found;
    for (unsigned b = 0; b < bag::size; ++b) found[b] = (bags[k].bits[b / 32] >> b % 32 & 1) != 0;
    ASSERT_EQ(found.count(), wanted[k].count()) << "lost section on record " << k;
    ASSERT_EQ(found, wanted[k]) << "lost section on record " << k;
    for (std::uint32_t const turns : bags[k].turns)
      ASSERT_EQ(turns, wanted[k].count() + touched[k]) << "lost or doubled section on record " << k;
  }
}

/// Defers `n` operations, every third of which has no is_noop, to a log, and runs it.
template <class Policy, unsigned Wide, unsigned Narrow>
void defer_asked(std::uint32_t n, std::uint32_t keys) {
  using guarded = warden::basic_guarded<Policy, bag, put<Wide>, put<Narrow>, touch>;
  using all = operations<put<Wide>, put<Narrow>, touch>;
  test::guarded_records<guarded> g{keys};
  warden::deferred later{g.guarded, n};
  simt::launch(&send_all<typename guarded::deferred_ref, all>, (n + 63) / 64, 64, 0,
               sending<typename guarded::deferred_ref, all>{later.ref(), n, keys}, {});
  later.run();
  g.guarded.wait();
  expect_bags(g.records.to_host(), n, [](std::uint32_t i) { return i % 3 != 2; });
}

/// Sends operation i, or calls it and counts the calls that found no number there.
struct send_asked_and_call {
  std::uint32_t n, keys;
  std::uint32_t* answers;  ///< [0]: in all, [1]: of those whose number was not there

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t first) {
      auto const i = static_cast<std::uint32_t>(first);
      std::uint32_t const id = test::id_of(i, keys);
      auto future = client.call(id, put_and_tell<32>::of(i), i < n && i % 3 == 0);
      client.send(id, put<4>::of(i), i < n && i % 3 == 1);
      client.send(id, put_and_tell<32>::of(i), i < n && i % 3 == 2);
      client.flush();
      auto const answer = future.get();
      if (answer) simt::fetch_add(&answers[0], 1u);
      if (answer && !*answer) simt::fetch_add(&answers[1], 1u);
    });
  }
};
/// Runs `n` operations on `keys` records. Every called section answers, no-op sections included.
template <class Policy>
void call_asked(std::uint32_t n, std::uint32_t keys, unsigned blocks) {
  using guarded = warden::basic_guarded<Policy, bag, put_and_tell<32>, put<4>>;
  warden::guarded_options options;
  options.servers = 2;
  test::guarded_records<guarded> g{keys, options};
  warden::buffer<std::uint32_t> answers{2};
  answers.fill_bytes(0);
  warden::launch_fused(send_asked_and_call{n, keys, answers.data()}, blocks, 64, {}, g.guarded);
  g.guarded.wait();
  expect_bags(g.records.to_host(), n, [](std::uint32_t) { return true; });
  EXPECT_EQ(answers.to_host()[0], (n + 2) / 3) << "calls without an answer";
  EXPECT_LE(answers.to_host()[1], keys * bag::size);
}

/// The number that was put last, and the order in which those before it were put.
struct latest {
  static constexpr unsigned size = 32;
  std::uint32_t number;
  std::uint32_t history[size];

  /// Its words, if `next` is another number.
  WARDEN_HOST_DEVICE static std::uint32_t word(std::uint32_t before, std::uint32_t next,
                                               unsigned w) {
    return before * 33 + next + w;
  }
};
struct replace {
  static constexpr unsigned group_size = 8;
  std::uint32_t number;
  __device__ bool is_noop(latest const& l) const { return l.number == number; }
  __device__ void operator()(latest& l, warden::lane_group<8> const& group) const {
    if (group.all(l.number == number)) return;
    group.sync();  // all lanes have read the number
    if (group.lane() == 0) l.number = number;
    for (unsigned w = group.lane(); w < latest::size; w += group_size)
      l.history[w] = latest::word(l.history[w], number, w);
  }
};
/// Applies `n` of them, drawn by `seed`, and compares with a loop.
template <class Policy>
void replace_in_order(std::uint32_t n, std::uint32_t keys, std::uint64_t seed) {
  std::vector<std::uint32_t> ids(n);
  std::vector<replace> sections(n);
  std::vector<latest> wanted(keys, latest{});
  for (std::uint32_t i = 0; i < n; ++i) {
    ids[i] = test::id_of(i + seed, keys);
    std::uint32_t const number = sections[i].number =
        static_cast<std::uint32_t>(test::mix(i * seed) % 3);
    latest& l = wanted[ids[i]];
    if (l.number == number) continue;
    l.number = number;
    for (unsigned w = 0; w < latest::size; ++w)
      l.history[w] = latest::word(l.history[w], number, w);
  }
  test::guarded_records<warden::basic_guarded<Policy, latest, replace>> g{keys};
  warden::buffer<std::uint32_t> const to{ids};
  warden::buffer<replace> const all{sections};
  g.guarded.apply_async(to.data(), all.data(), n);
  g.guarded.wait();
  auto const found = g.records.to_host();
  for (std::uint32_t k = 0; k < keys; ++k) {
    for (unsigned w = 0; w < latest::size; ++w)
      ASSERT_EQ(found[k].history[w], wanted[k].history[w]) << "wrong order on record " << k;
  }
}

}  // namespace together
