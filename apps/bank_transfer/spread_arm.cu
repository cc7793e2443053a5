// SPDX-License-Identifier: Apache-2.0
// Transfers between accounts that are spread over several GPUs: a withdrawal at the one sends the
// deposit to the other.

#include "apps/bank_transfer/arms.cuh"
#include "apps/support/device.cuh"

#include <warden/spread.cuh>

#include <cstdint>
#include <mutex>
#include <vector>

namespace bank_transfer {

namespace {

struct spread : warden::default_policy {
  using context = section_context;
  /// A run has twice as many; sections that send into a log take more registers.
  static constexpr unsigned block_threads = 128;
};
using accounts =
    warden::basic_spread_guarded<spread, account, withdraw, deposit, look_at_first, look_at_second>;

constexpr unsigned threads = 256;
using client_type = accounts::deferred_block<threads>;

/// All threads of a block together.
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 1)
    defer_withdrawals(accounts::deferred_ref to, transfers all) {
  simt::assume_one_dimension();
  client_type client{to, *reinterpret_cast<client_type::storage*>(simt::dynamic_shared())};
  for (std::uint32_t base = simt::block_rank() * threads; base < all.n;
       base += simt::block_count() * threads) {
    std::uint32_t const i = base + simt::thread_rank();
    std::uint32_t const mine = i < all.n ? i : 0, amount = all.amounts[mine];
    client.send(all.from[mine], withdraw{all.to[mine], amount}, i < all.n && amount != 0);
    client.send(all.from[mine], look_at_first{all.to[mine]}, i < all.n && amount == 0);
  }
  client.flush();
}

/// One rank's accounts, to be opened, or to be told of by their ids.
struct share_arguments {
  accounts::share_type share;
  account* told;  ///< [id]
  std::int64_t opening;
};
WARDEN_KERNEL void open_share(share_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.share.places, [&](std::uint64_t place) {
    a.share.records[place] = {a.opening, 0, 0};
  });
}
WARDEN_KERNEL void tell_share(share_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.share.places, [&](std::uint64_t place) {
    std::uint32_t const id = a.share.id(static_cast<std::uint32_t>(place));
    if (id < a.share.total) a.told[id] = a.share.records[place];
  });
}

/// Host copies of what lies on the bank's device.
template <class T>
std::vector<T> on_host(T const* from, std::size_t n) {
  std::vector<T> all(n);
  warden::copy(all.data(), from, n);
  warden::stream_ref{}.synchronize();
  return all;
}

/// Each GPU has a share of the accounts, and sends its part of the transfers.
class spread_arm final : public arm {
 public:
  spread_arm(bank& b, int gpus) : bank_{b}, gpus_{gpus} {}

  [[nodiscard]] expectations promises() const override { return {.isolates = false}; }
  /// Blocks the host: the ranks wait for one another.
  void run_async(transfers const& all) override {
    auto const from = on_host(all.from, all.n), to = on_host(all.to, all.n),
               amounts = on_host(all.amounts, all.n);
    auto result = bank_.to_host();
    section_context const context = bank_.context();
    std::uint64_t broken = 0;
    std::mutex mutex;
    std::int64_t const opening = context.pair_sum / 2;
    warden::run_on_gpus(gpus_, [&](warden::communicator const& world) {
      auto const rank = static_cast<std::size_t>(world.rank());
      std::size_t const begin = all.n * rank / static_cast<std::size_t>(gpus_);
      std::size_t const end = all.n * (rank + 1) / static_cast<std::size_t>(gpus_);
      auto const part = [&](std::vector<std::uint32_t> const& words) {
        return warden::buffer<std::uint32_t>{
            std::vector<std::uint32_t>(words.begin() + static_cast<std::ptrdiff_t>(begin),
                                       words.begin() + static_cast<std::ptrdiff_t>(end))};
      };
      auto const my_from = part(from), my_to = part(to), my_amounts = part(amounts);
      warden::buffer<std::uint64_t> my_broken{1};
      my_broken.fill_bytes(0);
      accounts on{world, bank_.size(), {context.pair_sum, my_broken.data()}};
      // Whatever the ids are: all transfers, or all that these send, may be one rank's.
      warden::deferred later{on, all.n, {.room = all.n}};
      warden::buffer<account> told{bank_.size()};
      share_arguments const mine{on.share(), told.data(), opening};
      simt::launch(&open_share, apps::blocks(), apps::threads(), 0, mine, {});
      send({my_from.data(), my_to.data(), my_amounts.data(),
            static_cast<std::uint32_t>(end - begin)},
           later.ref());
      later.run();
      on.wait();
      told.fill_bytes(0);
      simt::launch(&tell_share, apps::blocks(), apps::threads(), 0, mine, {});
      auto const theirs = told.to_host();
      std::lock_guard const lock{mutex};
      broken += my_broken.to_host()[0];
      for (std::size_t id = rank; id < theirs.size(); id += static_cast<std::size_t>(gpus_))
        result[id] = theirs[id];
    });
    warden::copy(bank_.accounts(), result.data(), result.size());
    warden::copy(context.broken, &broken, 1);
    warden::stream_ref{}.synchronize();
  }
  void wait() override {}

 private:
  static void send(transfers const& mine, accounts::deferred_ref const& to) {
    if (mine.n == 0) return;
    constexpr std::size_t shared_bytes = sizeof(client_type::storage);
    auto const kernel = simt::make_kernel(&defer_withdrawals);
    unsigned const blocks =
        static_cast<unsigned>(warden::runtime::resident_blocks(kernel, threads, shared_bytes));
    accounts::deferred_ref ref = to;
    transfers all = mine;
    void* arguments[] = {&ref, &all};
    warden::runtime::launch(
        kernel, {std::min(blocks, (mine.n + threads - 1) / threads), threads, shared_bytes, false},
        arguments, {});
  }

  bank& bank_;
  int gpus_;
};

}  // namespace

std::unique_ptr<arm> make_spread_arm(bank& b, int gpus) {
  return std::make_unique<spread_arm>(b, gpus);
}

}  // namespace bank_transfer
