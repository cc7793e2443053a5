// SPDX-License-Identifier: Apache-2.0
// Transfers of one bank by several GPUs. Each GPU has a share of the accounts.

#include "apps/bank_transfer/arms.cuh"
#include "apps/bank_transfer/spread_bank.cuh"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace bank_transfer {

namespace {

/// Returns a host copy of data on the bank's device.
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
      spread_bank on{world, bank_.size(), context.pair_sum / 2, all.n};
      warden::buffer<account> copied{bank_.size()};
      on.open_async();
      on.send_async({my_from.data(), my_to.data(), my_amounts.data(),
                     static_cast<std::uint32_t>(end - begin)});
      on.run();
      on.wait();
      copied.fill_bytes(0);
      on.copy_async(copied.data());
      auto const mine = copied.to_host();
      std::lock_guard const lock{mutex};
      broken += on.broken();
      for (std::size_t id = rank; id < mine.size(); id += static_cast<std::size_t>(gpus_))
        result[id] = mine[id];
    });
    warden::copy(bank_.accounts(), result.data(), result.size());
    warden::copy(context.broken, &broken, 1);
    warden::stream_ref{}.synchronize();
  }
  void wait() override {}

 private:
  bank& bank_;
  int gpus_;
};

}  // namespace

std::unique_ptr<arm> make_spread_arm(bank& b, int gpus) {
  return std::make_unique<spread_arm>(b, gpus);
}

}  // namespace bank_transfer
