// SPDX-License-Identifier: Apache-2.0
// Kernels that defer sections on two records, and on one, and the expected records.
#pragma once

#include "tests/protocol/pairs.cuh"

#include <warden/deferred_pairs.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <string>
#include <vector>

namespace rounds {

namespace simt = warden::simt;
using pairs::account;
using pairs::deposit;
using pairs::move;
using pairs::operation;

/// Looks at both records of a pair between which alone money is moved.
struct look {
  std::int64_t sum;
  __device__ void operator()(account& a, account& b) const {
    if (a.balance + b.balance != sum) a.mixed += 1;
    b.in += 1;
  }
};

template <warden::placement Where = warden::placement::in_memory, unsigned Threads = 32>
using small_blocks = warden::policy<warden::options{.records = Where, .block_threads = Threads}>;
template <class Policy>
using table = warden::basic_guarded<Policy, account, move, deposit, look>;

/// Which operations are sent: `pairs::operation`s, or moves and looks within neighbours.
enum class kind { moves, moves_and_deposits, looks };

template <class Guarded>
struct arguments {
  typename Guarded::deferred_ref ref;
  std::uint32_t first, end;  ///< operations
  std::uint32_t records, spread;
  kind what;
  std::uint64_t* refused;  ///< as the senders were told
};

/// The records of an operation: among the first `spread` ones, or all.
WARDEN_HOST_DEVICE operation drawn(std::uint32_t i, std::uint32_t records, std::uint32_t spread) {
  return operation::of(i, spread < records ? spread : records, records);
}

/// Hands operation i to `send(first, second, section)` and `send(record, section)`.
template <class Pair, class One>
WARDEN_DEVICE void send_operation(std::uint32_t i, std::uint32_t records, std::uint32_t spread,
                                  kind what, Pair pair, One one) {
  auto const o = drawn(i, records, spread);
  if (what == kind::looks) {
    std::uint32_t const a = o.from & ~1u, turned = i / 2 % 2;
    if (i % 2 == 0) {
      pair(a + turned, a + 1 - turned, move{o.amount});
    } else {
      pair(a, a + 1, look{0});
    }
    return;
  }
  pair(o.from, o.to, move{o.amount});
  if (what == kind::moves_and_deposits && i % 3 == 0) one(o.to, deposit{1});
}

template <class Guarded>
WARDEN_KERNEL void send_alone(arguments<Guarded> a) {
  std::uint32_t const i =
      a.first + simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= a.end) return;
  std::uint64_t refused = 0;
  send_operation(
      i, a.records, a.spread, a.what,
      [&](std::uint32_t first, std::uint32_t second, auto const& section) {
        refused += a.ref.send(first, second, section) ? 0 : 1;
      },
      [&](std::uint32_t id, auto const& section) { refused += a.ref.send(id, section) ? 0 : 1; });
  if (refused != 0) simt::fetch_add(a.refused, refused);
}

/// By block clients; now and then a thread appends.
template <class Guarded, unsigned Threads>
WARDEN_KERNEL void send_together(arguments<Guarded> a) {
  using block = typename Guarded::template deferred_block<Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * Threads;
  std::uint64_t refused = 0;
  for (std::uint32_t base = a.first + simt::block_rank() * Threads; base < a.end; base += step) {
    std::uint32_t const i = base + simt::thread_rank();
    auto const o = drawn(i, a.records, a.spread);
    bool const valid = i < a.end, appends = i % 61 == 7 || a.what == kind::looks;
    client.send(o.from, o.to, move{o.amount}, valid && !appends);
    client.send(o.to, deposit{1},
                valid && !appends && i % 3 == 0 && a.what == kind::moves_and_deposits);
    if (!valid || !appends) continue;
    send_operation(
        i, a.records, a.spread, a.what,
        [&](std::uint32_t first, std::uint32_t second, auto const& section) {
          refused += client.append(first, second, section) ? 0 : 1;
        },
        [&](std::uint32_t id, auto const& section) {
          refused += client.append(id, section) ? 0 : 1;
        });
  }
  std::uint32_t const flushed = client.flush();
  if (simt::thread_rank() == 0) refused += flushed;
  if (refused != 0) simt::fetch_add(a.refused, refused);
}

/// Records, and logs on them.
template <class Policy>
class bench {
 public:
  using guarded = table<Policy>;
  using log = warden::deferred<Policy, account, move, deposit, look>;
  static constexpr unsigned threads = 32;

  explicit bench(std::uint32_t records, kind what = kind::moves_and_deposits,
                 std::uint32_t spread = ~0u, warden::guarded_options const& options = {})
      : what_{what}, spread_{spread}, records_{records}, refused_{1}, on_{records_, options} {
    records_.fill_bytes(0);
    refused_.fill_bytes(0);
  }

  guarded& on() { return on_; }
  std::vector<account> records() const { return records_.to_host(); }
  std::uint64_t refused() const { return refused_.to_host()[0]; }
  /// A log with that many partitions.
  log make(std::size_t sections, unsigned partitions = 0) {
    return log{on_, sections, {.partitions = partitions}};
  }

  void send_alone(log& to, std::uint32_t first, std::uint32_t end,
                  warden::stream_ref s = {}) const {
    if (first == end) return;
    unsigned const blocks = (end - first + threads - 1) / threads;
    simt::launch(&rounds::send_alone<guarded>, blocks, threads, 0, given(to, first, end), s);
  }
  void send_together(log& to, std::uint32_t first, std::uint32_t end, unsigned blocks,
                     warden::stream_ref s = {}) const {
    if (first == end) return;
    using storage = typename guarded::template deferred_block<threads>::storage;
    simt::launch(&rounds::send_together<guarded, threads>, blocks, threads, sizeof(storage),
                 given(to, first, end), s);
  }

  /// Exactly the operations below `end` have run, each once, `times` times.
  void expect_ran(std::uint32_t end, std::uint32_t times = 1) const {
    auto const count = static_cast<std::uint32_t>(records_.size());
    std::vector<account> wanted(count);
    for (std::uint32_t i = 0; i < end; ++i) {
      auto const o = drawn(i, count, spread_);
      account& from = wanted[o.from];
      account& to = wanted[o.to];
      from.balance -= std::int64_t{times} * o.amount;
      from.out += times;
      from.mixed += times * test::mix(o.amount);
      to.balance += std::int64_t{times} * o.amount;
      to.in += times;
      to.mixed -= 3 * times * test::mix(o.amount + 1);
      if (what_ == kind::moves_and_deposits && i % 3 == 0) to.balance += times;
    }
    auto const seen = records();
    for (std::uint32_t k = 0; k < count; ++k) {
      ASSERT_EQ(seen[k].out, wanted[k].out) << "lost or doubled section on record " << k;
      ASSERT_EQ(seen[k].in, wanted[k].in) << "lost or doubled section on record " << k;
      ASSERT_EQ(seen[k].balance, wanted[k].balance) << "lost or doubled section on record " << k;
      ASSERT_EQ(seen[k].mixed, wanted[k].mixed) << "lost or doubled section on record " << k;
    }
  }
  /// How many moves have run, whichever; nothing was lost between two records.
  std::uint64_t moved() const {
    std::uint64_t out = 0, in = 0;
    for (account const& a : records()) {
      out += a.out;
      in += a.in;
    }
    EXPECT_EQ(out, in) << "half a section has run";
    return out;
  }

 private:
  arguments<guarded> given(log& to, std::uint32_t first, std::uint32_t end) const {
    return {to.ref(), first,          end, static_cast<std::uint32_t>(records_.size()), spread_,
            what_,    refused_.data()};
  }

  kind what_;
  std::uint32_t spread_;
  warden::buffer<account> records_;
  warden::buffer<std::uint64_t> refused_;
  guarded on_;
};

/// Applies the first `n` operations from arrays.
template <class Policy>
void apply_arrays(std::uint32_t n) {
  std::uint32_t const records = 60;
  std::vector<std::uint32_t> firsts, seconds, thirds;
  std::vector<move> moves;
  std::vector<deposit> deposits;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const o = drawn(i, records, ~0u);
    firsts.push_back(o.from);
    seconds.push_back(o.to);
    moves.push_back({o.amount});
    if (i % 3 != 0) continue;
    thirds.push_back(o.to);
    deposits.push_back({1});
  }
  warden::buffer<std::uint32_t> const a{firsts}, b{seconds}, c{thirds};
  warden::buffer<move> const on_two{moves};
  warden::buffer<deposit> const on_one{deposits};
  bench<Policy> all{records};
  all.on().apply_async(a.data(), b.data(), on_two.data(), n);
  all.on().apply_async(c.data(), on_one.data(), thirds.size());
  all.on().wait();
  all.expect_ran(n);
}

}  // namespace rounds
