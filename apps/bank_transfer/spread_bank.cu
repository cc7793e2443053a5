// SPDX-License-Identifier: Apache-2.0
// Kernels of a bank that is spread over several GPUs.

#include "apps/bank_transfer/spread_bank.cuh"

#include "apps/support/device.cuh"

#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>

namespace bank_transfer {

namespace {

constexpr unsigned threads = 256;

/// All threads of a block send together.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 1) defer_withdrawals(Ref to, transfers all) {
  using client_type = warden::deferred_block<Ref, threads>;
  simt::assume_one_dimension();
  client_type client{to, *reinterpret_cast<typename client_type::storage*>(simt::dynamic_shared())};
  for (std::uint32_t base = simt::block_rank() * threads; base < all.n;
       base += simt::block_count() * threads) {
    std::uint32_t const i = base + simt::thread_rank();
    std::uint32_t const mine = i < all.n ? i : 0, amount = all.amounts[mine];
    client.send(all.from[mine], withdraw{all.to[mine], amount}, i < all.n && amount != 0);
    client.send(all.from[mine], look_at_first{all.to[mine]}, i < all.n && amount == 0);
  }
  client.flush();
}

template <class Share>
struct open_arguments {
  Share share;
  std::int64_t opening;
};
template <class Share>
WARDEN_KERNEL void open_share(open_arguments<Share> a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.share.places, [&](std::uint64_t place) {
    a.share.records[place] = {a.opening, 0, 0};
  });
}

template <class Share>
struct copy_arguments {
  Share share;
  account* all;  ///< [id]
};
template <class Share>
WARDEN_KERNEL void copy_share(copy_arguments<Share> a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.share.places, [&](std::uint64_t place) {
    std::uint32_t const id = a.share.id(static_cast<std::uint32_t>(place));
    if (id < a.share.total) a.all[id] = a.share.records[place];
  });
}

}  // namespace

spread_bank::spread_bank(warden::communicator const& world, std::uint32_t accounts,
                         std::int64_t opening, std::uint32_t most)
    : opening_{opening},
      broken_{1},
      on_{world, accounts, {2 * opening, broken_.data()}},
      log_{on_, most, {.room = most}} {
  broken_.fill_bytes(0);
}

void spread_bank::open_async() {
  simt::launch(&open_share<guarded::share_type>, apps::blocks(), apps::threads(), 0,
               {on_.share(), opening_}, {});
}

void spread_bank::send_async(transfers const& mine) {
  if (mine.n == 0) return;
  using ref_type = guarded::deferred_ref;
  constexpr std::size_t shared_bytes = sizeof(warden::deferred_block<ref_type, threads>::storage);
  auto const kernel = simt::make_kernel(&defer_withdrawals<ref_type>);
  unsigned const blocks =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel, threads, shared_bytes));
  ref_type ref = log_.ref();
  transfers all = mine;
  void* arguments[] = {&ref, &all};
  warden::runtime::launch(
      kernel, {std::min(blocks, (mine.n + threads - 1) / threads), threads, shared_bytes, false},
      arguments, {});
}

void spread_bank::copy_async(account* all) const {
  simt::launch(&copy_share<guarded::share_type>, apps::blocks(), apps::threads(), 0,
               {on_.share(), all}, {});
}

}  // namespace bank_transfer
