// SPDX-License-Identifier: Apache-2.0
// Transfers handed to the accounts' owners.

#include "apps/bank_transfer/arms.cuh"

#include <warden/guarded.cuh>
#include <warden/launch.cuh>

namespace bank_transfer {

namespace {

using warden::placement;

/// The user's side: each transfer is sent to its accounts' owners.
struct send_transfers {
  static constexpr unsigned at_once = 4;
  transfers all;

  template <class Ref>
  __device__ void operator()(warden::client_block const& at, Ref const& accounts) const {
    warden::block_client<Ref> client{accounts, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < all.n;
         first += at_once * std::uint64_t{step}) {
      std::uint64_t const left = all.n - first;
      // Several are loaded before the first is sent: one wait for memory instead of one each.
      std::uint32_t from[at_once], to[at_once], amounts[at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint64_t const offset = std::uint64_t{k} * step + at.thread_rank();
        std::uint64_t const i = first + (offset < left ? offset : 0);
        from[k] = all.from[i];
        to[k] = all.to[i];
        amounts[k] = all.amounts[i];
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint64_t const offset = std::uint64_t{k} * step + at.thread_rank();
        client.send(from[k], to[k], transfer{amounts[k]}, offset < left);
      }
    }
    client.flush();
  }
};

/// Accounts whose sections on two of them one policy's servers run.
template <class Policy>
class warden_arm final : public arm {
 public:
  warden_arm(bank& b, warden::guarded_options const& options, unsigned client_blocks = 0)
      : guarded_{b.accounts(), b.size(), b.context(), options}, client_blocks_{client_blocks} {}

  void run_async(transfers const& all) override {
    bool const simulated = warden::runtime::facts(guarded_.device()).simulated;
    unsigned const grid = client_blocks_ != 0 ? client_blocks_ : simulated ? 4 : 2048;
    warden::launch_fused(send_transfers{all}, grid, Policy::block_threads, {}, guarded_);
  }
  void wait() override { guarded_.wait(); }

 private:
  warden::basic_guarded<Policy, account, transfer> guarded_;
  unsigned client_blocks_;
};

/// One server owns all accounts: every pair is of one owner, and no message passes between servers.
template <unsigned Threads, placement Where>
struct colocated : warden::default_policy {
  using context = section_context;
  using executor = warden::executor::locks<>;
  static constexpr placement records = Where;
  static constexpr unsigned block_threads = Threads;
  static constexpr unsigned minimum_blocks_per_multiprocessor = 768 / Threads;
};

template <unsigned Threads>
std::unique_ptr<arm> make_colocated(bank& b, colocation const& chosen) {
  using on_chip = warden_arm<colocated<Threads, placement::on_chip>>;
  using in_memory = warden_arm<colocated<Threads, placement::in_memory>>;
  warden::guarded_options const options{.servers = 1};
  if (chosen.accounts != where::in_memory) {
    try {
      return std::make_unique<on_chip>(b, options, chosen.client_blocks);
    } catch (warden::limit_error const&) {
      if (chosen.accounts == where::on_chip) throw;
    }
  }
  return std::make_unique<in_memory>(b, options, chosen.client_blocks);
}

}  // namespace

std::unique_ptr<arm> make_warden_arm(std::string const&, bank& b, colocation const& chosen) {
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  // A simulated thread is dear.
  unsigned const threads = chosen.threads != 0 ? chosen.threads : simulated ? 256 : 640;
  return threads == 256 ? make_colocated<256>(b, chosen) : make_colocated<640>(b, chosen);
}

}  // namespace bank_transfer
