// SPDX-License-Identifier: Apache-2.0
// Messages return the values packed into them, and owner maps invert.

#include "tests/support/support.cuh"

#include <warden/detail/deferred/log_message.cuh>
#include <warden/detail/fused/single_tag.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <type_traits>

namespace {

using test::record_in;

struct tag_a {};
struct tag_b {
  unsigned char bytes[5];
};

struct pack_arguments {
  std::uint64_t* errors;
  std::uint64_t sequence;
};

template <int Words>
WARDEN_KERNEL void pack_and_unpack(pack_arguments a) {
  using format = warden::detail::message_format<tag_a, record_in<Words>, tag_b>;
  using proof = warden::detail::flit::sequence_in_each_word;
  std::uint32_t const me = warden::simt::thread_rank();
  auto const section = record_in<Words>::of(me * 77u + 5u);
  auto m = format::pack(0xfffffff0u + me, section);
  bool good = true;
  for (auto& l : m.flits) {
    l = proof::stamped(l, a.sequence);
    good = good && proof::is_of(l, a.sequence) && !proof::is_of(l, a.sequence + 1) &&
           !proof::is_of(l, a.sequence - 1);
    auto torn = proof::stamped(l, a.sequence - 1);
    torn.first = l.first;
    good = good && !proof::is_of(torn, a.sequence);
    torn = proof::stamped(l, a.sequence - 1);
    torn.second = l.second;
    good = good && !proof::is_of(torn, a.sequence);
  }
  auto const back = format::template unpack<record_in<Words>>(m);
  for (int i = 0; i < Words; ++i) good = good && back.words[i] == section.words[i];
  good = good && m.local() == 0xfffffff0u + me && m.tag() == 1;
  if (!good) warden::simt::fetch_add(a.errors, std::uint64_t{1});
}

/// With the tag in the first word alone, all of the second word is payload.
WARDEN_KERNEL void stamp_first_word(pack_arguments a) {
  using proof = warden::detail::flit::sequence_in_first_word;
  std::uint32_t const me = warden::simt::thread_rank();
  using format = warden::detail::message_format<tag_a, record_in<2>>;
  auto const section = record_in<2>::of(me * 77u + 5u);
  auto m = format::pack(me, section);
  std::uint64_t const second = m.flits[0].second;
  auto const l = m.flits[0] = proof::stamped(m.flits[0], a.sequence);
  auto const back = format::unpack<record_in<2>>(m);
  bool const good = proof::is_of(l, a.sequence) && !proof::is_of(l, a.sequence + 1) &&
                    !proof::is_of(l, a.sequence - 1) && l.second == second && m.local() == me &&
                    m.tag() == 1 && back.words[0] == section.words[0] &&
                    back.words[1] == section.words[1];
  if (!good) warden::simt::fetch_add(a.errors, std::uint64_t{1});
}

/// Launches of a kernel with sequence numbers around those at which the fields wrap.
std::uint64_t errors_of(void (*kernel)(pack_arguments)) {
  warden::buffer<std::uint64_t> errors{1};
  errors.fill_bytes(0);
  for (std::uint64_t sequence : {1ull, 4095ull, 4096ull, 65535ull, 65536ull, (1ull << 40) + 3})
    warden::simt::launch(kernel, 1, 32, 0, {errors.data(), sequence}, {});
  return errors.to_host()[0];
}

template <int Words>
void check_message() {
  EXPECT_EQ(errors_of(&pack_and_unpack<Words>), 0u) << Words << " words";
}

TEST(message, round_trip) {
  check_message<1>();
  check_message<2>();
  check_message<3>();
  check_message<4>();
  check_message<5>();
  check_message<8>();
  check_message<11>();
}

TEST(message, tag_in_the_first_word_alone) { EXPECT_EQ(errors_of(&stamp_first_word), 0u); }

/// Aligned to more than a message's words are.
struct wide_word {
  std::uint64_t first;
  std::uint32_t second;
};
/// Not whole words, and without a default constructor.
struct odd_bytes {
  WARDEN_HOST_DEVICE explicit odd_bytes(unsigned char b)
      : bytes{b, static_cast<unsigned char>(b + 1), static_cast<unsigned char>(b + 2)} {}
  unsigned char bytes[3];
};
WARDEN_DEVICE bool equals(tag_a, std::uint32_t) { return true; }
WARDEN_DEVICE bool equals(odd_bytes const& s, std::uint32_t me) {
  return s.bytes[0] == me && s.bytes[1] == me + 1 && s.bytes[2] == me + 2;
}
WARDEN_DEVICE bool equals(wide_word const& s, std::uint32_t me) {
  return s.first == test::mix(me) && s.second == me + 3;
}
WARDEN_DEVICE bool equals(record_in<4> const& s, std::uint32_t me) {
  auto const sent = record_in<4>::of(me);
  bool good = true;
  for (int i = 0; i < 4; ++i) good = good && s.words[i] == sent.words[i];
  return good;
}
/// Sections run with exactly the contents of a log's messages.
WARDEN_KERNEL void visit_logged(pack_arguments a) {
  using format = warden::detail::log_format<tag_a, odd_bytes, wide_word, record_in<4>>;
  std::uint32_t const me = warden::simt::thread_rank();
  unsigned visited = 0;
  bool good = true;
  auto const visit = [&](auto const& section) {
    auto const m = format::pack(me, section);
    good = good && m.local() == me;
    format::visit(m, [&](auto const& found) {
      using type = std::remove_cvref_t<decltype(section)>;
      good = good && std::is_same_v<std::remove_cvref_t<decltype(found)>, type>;
      good = good && equals(found, me);
      ++visited;
    });
  };
  visit(tag_a{});
  visit(odd_bytes{static_cast<unsigned char>(me)});
  visit(wide_word{test::mix(me), me + 3});
  visit(record_in<4>::of(me));
  if (!good || visited != 4) warden::simt::fetch_add(a.errors, std::uint64_t{1});
}
TEST(message, of_a_log_is_visited_with_what_was_sent) { EXPECT_EQ(errors_of(&visit_logged), 0u); }

TEST(message, sizes) {
  EXPECT_EQ((warden::detail::message_format<record_in<1>>::flits), 1);
  EXPECT_EQ((warden::detail::message_format<record_in<2>>::flits), 1);
  EXPECT_EQ((warden::detail::message_format<record_in<3>>::flits), 2);
  EXPECT_EQ((warden::detail::message_format<record_in<5>>::flits), 2);
  EXPECT_EQ((warden::detail::message_format<record_in<8>>::flits), 3);
  EXPECT_EQ((warden::detail::message_format<tag_a, record_in<11>>::flits), 4);
  EXPECT_EQ((warden::detail::message_format<tag_a>::flits), 1);
}

struct owner_arguments {
  std::uint64_t* errors;
  warden::interleaved_owner_map map;
};

WARDEN_KERNEL void check_owner(owner_arguments a) {
  std::uint32_t const servers = a.map.servers();
  std::uint32_t const chunk = a.map.chunk();
  auto const check = [&](std::uint32_t id) {
    warden::record_location const o = a.map(id);
    std::uint32_t const number = id / chunk;
    if (o.server != number % servers || o.local != number / servers * chunk + id % chunk ||
        a.map.id(o) != id || a.map.locals(std::uint64_t{id} + 1) <= o.local) {
      warden::simt::fetch_add(a.errors, std::uint64_t{1});
    }
  };
  std::uint32_t const me = warden::simt::thread_rank();
  check(me);
  check(0xffffffffu - me);
  check(0x80000000u + me);
  for (std::uint32_t k = 1; k < 40; ++k) check(static_cast<std::uint32_t>(test::mix(k * 64 + me)));
  // Around every multiple of the divisor a wrong reciprocal shows first.
  for (std::uint32_t k = 1; k < 40; ++k) {
    std::uint32_t const multiple =
        static_cast<std::uint32_t>(test::mix(k + me)) / chunk / servers * servers * chunk;
    check(multiple);
    check(multiple - 1);
  }
}

TEST(owner_map, divides_exactly) {
  warden::buffer<std::uint64_t> errors{1};
  errors.fill_bytes(0);
  for (std::uint32_t servers : {1u, 2u, 3u, 5u, 7u, 64u, 131u, 132u, 255u, 264u, 1000u, 65533u}) {
    for (std::uint32_t chunk : {1u, 4u, 128u}) {
      warden::simt::launch(&check_owner, 1, 64, 0,
                           {errors.data(), warden::interleaved_owner_map{servers, chunk}}, {});
      EXPECT_EQ(errors.to_host()[0], 0u) << servers << " servers, chunks of " << chunk;
    }
  }
}

}  // namespace
