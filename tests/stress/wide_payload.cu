// SPDX-License-Identifier: Apache-2.0
// Sections that use one word of a payload of 2 to 4 flits. The assembler may drop the unused rest
// of a flit; an old payload must still not pass with a new sequence tag. On a GPU 4 launches of 16
// M messages each, which use every slot dozens of times.

#include "tests/support/support.cuh"

#include <warden/detail/fused/single_tag.cuh>

#include <cstdint>

namespace {

namespace simt = warden::simt;

/// A record, with its number and the sums of the messages that reached it.
struct received {
  std::uint32_t id;
  std::uint32_t foreign;  ///< words that were sent to other records
  std::uint64_t count;
  std::uint64_t sum;      ///< sum of the words
  std::uint32_t squares;  ///< sum of the squares of the words, modulo 2^32
};

/// The only word that matters of message `i`, in every message another one: half of it is its
/// record's number.
__device__ std::uint32_t word_of(std::uint32_t id, std::uint64_t i) {
  return id << 16 | static_cast<std::uint32_t>(test::mix(i) & 0xffffu);
}

__device__ void receive(received* r, std::uint32_t word) {
  if (word >> 16 != r->id) simt::fetch_add(&r->foreign, 1u);
  simt::fetch_add(&r->count, std::uint64_t{1});
  simt::fetch_add(&r->sum, std::uint64_t{word});
  simt::fetch_add(&r->squares, word * word);
}

template <int Words, int Used>
struct uses_one {
  static constexpr bool reads_other_memory = false;
  std::uint32_t words[Words];

  /// The other words are others, in every message and place.
  __device__ static uses_one of(std::uint32_t word) {
    uses_one s;
    WARDEN_UNROLL
    for (int w = 0; w < Words; ++w) {
      s.words[w] = word ^ static_cast<std::uint32_t>(w - Used) * 2654435761u;
    }
    return s;
  }
  __device__ void operator()(received& r, warden::no_context) const {
    std::uint32_t const word = words[Used];
    r.foreign += word >> 16 != r.id ? 1 : 0;
    r.count += 1;
    r.sum += word;
    r.squares += word * word;
  }
  __device__ void atomic(received* r, warden::no_context) const { receive(r, words[Used]); }
};

/// A kernel: sends the messages 0 .. n-1, batch by batch of alternating section types, and adds up
/// the messages that it sends to each record.
template <class... Sections>
struct send_all {
  std::uint64_t n;
  std::uint32_t records;
  received* sent;  ///< [record]

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    unsigned turn = 0;
    for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < n;
         first += at.global_size()) {
      std::uint64_t const i = first + at.thread_rank();
      std::uint32_t const id = test::id_of(i, records);
      std::uint32_t const word = word_of(id, i);
      if (i < n) receive(&sent[id], word);
      unsigned type = 0;
      ((turn == type++ ? void(client.send(id, Sections::of(word), i < n)) : void()), ...);
      turn = turn + 1 < sizeof...(Sections) ? turn + 1 : 0;
    }
    client.flush();
  }
};

template <class Policy>
class wide_payload : public testing::Test {
 protected:
  /// Messages of `Flits` flits; a section type for each of the words in `Used`.
  template <int Flits, int... Used>
  void arrives() {
    constexpr int words = 3 * Flits - 1;
    // As many records as a server has threads and fewer, and more.
    for (std::uint32_t const records : {test::sized(100u, 4096u), test::sized(700u, 60'000u)})
      send_and_compare<uses_one<words, Used>...>(records);
  }

 private:
  template <class... Sections>
  void send_and_compare(std::uint32_t records) {
    std::vector<received> before(records);
    for (std::uint32_t k = 0; k < records; ++k) before[k].id = k;
    warden::buffer<received> memory{records}, sent{records};
    warden::copy(memory.data(), before.data(), records);
    warden::copy(sent.data(), before.data(), records);
    warden::guarded_options options;
    options.servers = test::sized(2u, 64u);
    if (test::simulated()) options.capacity = 64;
    warden::basic_guarded<Policy, received, Sections...> g{memory, options};
    std::uint64_t const n = test::sized<std::uint64_t>(1500, 1u << 24);
    for (int launch = 0; launch < 2; ++launch) {
      warden::launch_fused(send_all<Sections...>{n, records, sent.data()}, test::sized(5u, 2048u),
                           Policy::block_threads, {}, g);
    }
    g.wait();
    compare(memory.to_host(), sent.to_host());
  }
  static void compare(std::vector<received> const& seen, std::vector<received> const& sent) {
    std::uint64_t messages = 0;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      SCOPED_TRACE(testing::Message() << "record " << k << " of " << seen.size());
      messages += seen[k].count;
      ASSERT_EQ(seen[k].foreign, 0u) << "words of other records";
      ASSERT_EQ(seen[k].count, sent[k].count) << "messages lost or doubled";
      ASSERT_EQ(seen[k].sum, sent[k].sum) << "words of other messages";
      ASSERT_EQ(seen[k].squares, sent[k].squares) << "words of other messages";
    }
    ASSERT_NE(messages, 0u);
  }
};

/// The kernels of large messages need the registers.
using runs = warden::policy<warden::options{.tuning = {.minimum_blocks_per_multiprocessor = 2}}>;
using atomics = warden::with_parts<runs, warden::executor::atomics<>>;
using locks = warden::with_parts<runs, warden::executor::locks<>>;
using buffered = warden::with_parts<runs, warden::sender::buffered>;
using single_tag = warden::with_parts<runs, warden::readiness::single_tag>;
using paper = warden::paper_policy;
using policies = testing::Types<runs, atomics, locks, buffered, single_tag, paper>;
TYPED_TEST_SUITE(wide_payload, policies);

// Words 0, 3, 6 and 9 lie in the second word of a lane, 2, 5 and 8 in the first one of the next; 1,
// 4, 7 and 10 are split between both.
TYPED_TEST(wide_payload, the_last_word_of_two_lanes) { this->template arrives<2, 4>(); }
TYPED_TEST(wide_payload, a_word_of_each_of_three_lanes) { this->template arrives<3, 0, 2, 7>(); }
TYPED_TEST(wide_payload, the_first_word_of_four_lanes) { this->template arrives<4, 0>(); }
TYPED_TEST(wide_payload, a_word_between_of_four_lanes) { this->template arrives<4, 6>(); }

}  // namespace
