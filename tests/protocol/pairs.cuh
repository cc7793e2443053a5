// SPDX-License-Identifier: Apache-2.0
// Moves between accounts, by sections on two records: what the tests of pairs share.
#pragma once

#include "tests/support/support.cuh"

namespace pairs {

using test::mix;

struct account {
  std::int64_t balance;
  std::uint32_t out, in;  ///< moves
  std::uint64_t mixed;    ///< hash of the amounts moved
};

/// An asymmetric section: mixing up the two records changes the sum of `mixed`.
struct move {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;
  __device__ std::uint32_t operator()(account& from, account& to, warden::no_context) const {
    from.balance -= amount;
    to.balance += amount;
    from.out += 1;
    to.in += 1;
    from.mixed += mix(amount);
    to.mixed -= 3 * mix(amount + 1);
    return amount * 2654435761u;
  }
};
struct deposit {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;
  __device__ void operator()(account& a, warden::no_context) const { a.balance += amount; }
};

/// Operation i; some move from an account to itself.
struct operation {
  std::uint32_t from, to, amount;
  WARDEN_HOST_DEVICE static operation of(std::uint32_t i, std::uint32_t records,
                                         std::uint32_t together) {
    std::uint64_t const h = mix(i);
    auto const from = static_cast<std::uint32_t>((h >> 32) * records >> 32);
    // Among neighbours that have one owner: a power of two of them, or all.
    std::uint32_t const first = together < records ? from & ~(together - 1) : 0;
    std::uint32_t const some = records - first < together ? records - first : together;
    return {from, first + static_cast<std::uint32_t>((h & 0xffffffffu) * some >> 32), i % 1000};
  }
};

enum class by { block, thread, call };

struct move_all {
  std::uint32_t n, records, together;
  by how;
  std::uint32_t* wrong;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> block{ref, at};
    warden::thread_client<Ref> const thread{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t number) {
      auto const i = static_cast<std::uint32_t>(number);
      auto const o = operation::of(i, records, together);
      bool const valid = i < n;
      move const section{o.amount};
      if (how == by::block) block.send(o.from, o.to, section, valid);
      if (how == by::thread && valid) thread.send(o.from, o.to, section);
      if (how == by::call) {
        auto by_block = block.call(o.from, o.to, section, valid && i % 2 == 0);
        auto by_thread = valid && i % 2 == 1 ? thread.call(o.from, o.to, section)
                                             : warden::future<Ref, std::uint32_t>{};
        block.flush();
        auto const answer = i % 2 == 0 ? by_block.get() : by_thread.get();
        if (valid && !(answer && *answer == o.amount * 2654435761u))
          warden::simt::fetch_add(wrong, 1u);
      }
      // Between them sections on one record.
      block.send(o.to, deposit{1}, valid && i % 3 == 0);
    });
    block.flush();
  }
};

inline std::vector<account> expected(std::uint32_t n, std::uint32_t records,
                                     std::uint32_t together) {
  std::vector<account> accounts(records);
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const o = operation::of(i, records, together);
    account& from = accounts[o.from];
    from.balance -= o.amount;
    from.out += 1;
    from.mixed += mix(o.amount);
    account& to = accounts[o.to];
    to.balance += o.amount + (i % 3 == 0 ? 1 : 0);
    to.in += 1;
    to.mixed -= 3 * mix(o.amount + 1);
  }
  return accounts;
}

inline void expect_equal(std::vector<account> const& seen, std::vector<account> const& wanted) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    ASSERT_EQ(seen[k].out, wanted[k].out) << "account " << k;
    ASSERT_EQ(seen[k].in, wanted[k].in) << "account " << k;
    ASSERT_EQ(seen[k].balance, wanted[k].balance) << "account " << k;
    ASSERT_EQ(seen[k].mixed, wanted[k].mixed) << "account " << k;
  }
}

/// Moves among `together` neighbours, or among all where that is no fewer.
template <class Guarded>
void check(std::uint32_t n, std::uint32_t records, std::uint32_t together, by how,
           warden::guarded_options options) {
  SCOPED_TRACE(testing::Message() << n << " moves over " << records << " accounts, "
                                  << options.servers << " servers");
  test::guarded_records<Guarded> g{records, options};
  warden::buffer<std::uint32_t> wrong{1};
  wrong.fill_bytes(0);
  constexpr unsigned threads = Guarded::ref::policy::block_threads;
  warden::launch_fused(move_all{n, records, together, how, wrong.data()}, 5, threads, {},
                       g.guarded);
  ASSERT_NO_THROW(g.guarded.wait());
  EXPECT_EQ(wrong.to_host()[0], 0u) << "wrong answers";
  expect_equal(g.records.to_host(), expected(n, records, together));
}

inline std::uint32_t moves() { return test::sized(1003u, 1'000'003u); }

}  // namespace pairs
