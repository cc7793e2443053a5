// SPDX-License-Identifier: Apache-2.0
// Transfers that a plain kernel defers, run in rounds.

#include "apps/bank_transfer/arms.cuh"

#include <warden/deferred_pairs.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <optional>

namespace bank_transfer {

namespace {

using in_rounds = warden::policy<warden::options{}, warden::context<section_context>>;
using accounts = warden::basic_guarded<in_rounds, account, transfer>;

constexpr unsigned threads = 512;
using client_type = accounts::deferred_block<threads>;

/// All threads of a block send together. Several transfers are loaded before the first is sent.
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 2)
    defer_transfers(accounts::deferred_ref to, transfers all) {
  simt::assume_one_dimension();
  client_type client{to, *reinterpret_cast<client_type::storage*>(simt::dynamic_shared())};
  constexpr unsigned at_once = 4, chunk = at_once * threads;
  for (std::uint32_t base = simt::block_rank() * chunk; base < all.n;
       base += simt::block_count() * chunk) {
    std::uint32_t const first = base + simt::thread_rank();
    std::uint32_t from[at_once], into[at_once], amounts[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * threads < all.n ? first + k * threads : 0;
      from[k] = all.from[i];
      into[k] = all.to[i];
      amounts[k] = all.amounts[i];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      client.send(from[k], into[k], transfer{amounts[k]}, first + k * threads < all.n);
  }
  client.flush();
}

/// A kernel that defers all transfers, then the run of its log.
class rounds_arm final : public arm {
 public:
  explicit rounds_arm(bank& b) : guarded_{b.accounts(), b.size(), b.context()} {}

  /// Makes the log anew, because its number of parts depends on `n`.
  void reserve(std::uint32_t n) override {
    if (n != 0 && (!log_ || log_->capacity() != n)) log_.emplace(guarded_, n);
  }
  void run_async(transfers const& all) override {
    if (all.n == 0) return;
    if (!log_ || log_->capacity() < all.n) reserve(all.n);
    unsigned const blocks = std::min(resident_, (all.n + threads - 1) / threads);
    warden::launch(&defer_transfers, {blocks, threads, shared_bytes}, {}, log_->ref(), all);
    log_->run();
  }
  void wait() override { guarded_.wait(); }

 private:
  static constexpr std::size_t shared_bytes = sizeof(client_type::storage);

  accounts guarded_;
  unsigned resident_ = static_cast<unsigned>(warden::runtime::resident_blocks(
      warden::simt::make_kernel(&defer_transfers), threads, shared_bytes));
  std::optional<warden::deferred<in_rounds, account, transfer>> log_;
};

}  // namespace

std::unique_ptr<arm> make_rounds_arm(bank& b) { return std::make_unique<rounds_arm>(b); }

}  // namespace bank_transfer
