// SPDX-License-Identifier: Apache-2.0
// Offers by sections that a plain kernel defers.

#include "apps/spanning_forest/arms.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace spanning_forest {

namespace {

/// Threads of a block that sends. Simulated threads are slow, so the simulated device has fewer, in
/// runs too.
constexpr unsigned threads = simt::has_registers ? 512 : 64;

using lightest_policy =
    warden::policy<warden::options{.block_threads = threads / 2}, warden::executor::atomics<>>;
/// For offers that combine: if few components are left, a block's batch has several offers to the
/// same component.
using combined_policy =
    warden::with_values<warden::with_parts<lightest_policy, warden::executor::sorted<>>,
                        &warden::options::records, warden::placement::on_chip>;
/// Client with batches that are as large as possible.
template <class Guarded>
using client_of = typename Guarded::template deferred_block<
    threads, warden::dynamic_storage_bytes<typename Guarded::deferred_ref, threads>>;

/// All threads of a block send together. Several candidates are loaded before the first is offered.
template <class Guarded, class Offer>
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 3)
    defer_offers(typename Guarded::deferred_ref to, offers all) {
  simt::assume_one_dimension();
  using client_type = client_of<Guarded>;
  client_type client{to, *reinterpret_cast<typename client_type::storage*>(simt::dynamic_shared())};
  constexpr unsigned at_once = 2, chunk = at_once * threads;
  for (std::uint32_t base = simt::block_rank() * chunk; base < all.n;
       base += simt::block_count() * chunk) {
    std::uint32_t const first = base + simt::thread_rank();
    std::uint32_t ends[2][at_once], weights[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * threads < all.n ? first + k * threads : 0;
      ends[0][k] = all.candidates.from[i];
      ends[1][k] = all.candidates.to[i];
      weights[k] = all.candidates.weights[i];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * threads;
      WARDEN_UNROLL
      for (unsigned end = 0; end < 2; ++end)
        client.send(ends[end][k], Offer{offer{key_of(weights[k], i)}}, i < all.n);
    }
  }
  client.flush();
}

/// A kernel that defers all offers, then the run of its log.
template <class Policy, class Offer>
class deferred_arm final : public arm {
 public:
  explicit deferred_arm(largest_iteration const& most)
      : guarded_{most.components, most.size},
        log_{guarded_, std::max<std::size_t>(2 * std::size_t{most.candidates}, 1)} {}
  void offer_async(std::size_t, offers const& all) override {
    if (all.n == 0) return;
    constexpr unsigned chunk = 2 * threads;
    warden::launch(&defer_offers<guarded, Offer>,
                   {std::min(resident_, (all.n + chunk - 1) / chunk), threads, shared_bytes}, {},
                   log_.ref(), all);
    log_.run();
  }
  void wait() override { guarded_.wait(); }

 private:
  using guarded = warden::basic_guarded<Policy, component, Offer>;

  guarded guarded_;
  warden::deferred<Policy, component, Offer> log_;
  static constexpr std::size_t shared_bytes = sizeof(typename client_of<guarded>::storage);
  unsigned resident_ = static_cast<unsigned>(warden::runtime::resident_blocks(
      simt::make_kernel(&defer_offers<guarded, Offer>), threads, shared_bytes));
};

}  // namespace

std::unique_ptr<arm> make_warden_arm(std::string const& name, largest_iteration const& most) {
  if (name == "warden_deferred_combined")
    return std::make_unique<deferred_arm<combined_policy, offer>>(most);
  return std::make_unique<deferred_arm<lightest_policy, single_offer>>(most);
}

}  // namespace spanning_forest
