// SPDX-License-Identifier: Apache-2.0
// Transfers by sections that the accounts' owners run.

#include "apps/bank_transfer/arms.cuh"
#include "apps/support/pair_servers.cuh"

#include <warden/fused.cuh>

namespace bank_transfer {

namespace {

using warden::placement;

/// Clients: send each transfer to the accounts' owners, as one section on both accounts, or as a
/// withdrawal that sends the deposit.
template <bool SendsSections, unsigned AtOnce>
struct send_transfers {
  static constexpr unsigned at_once = AtOnce;
  transfers all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& accounts) const {
    warden::block_client<Ref> client{accounts, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint64_t first = std::uint64_t{at.block_index()} * at.block_dim(); first < all.n;
         first += at_once * std::uint64_t{step}) {
      std::uint64_t const left = all.n - first;
      // Load several transfers before the first is sent, to wait for memory once.
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
        if constexpr (SendsSections) {
          bool const is_audit = amounts[k] == 0;
          client.send(from[k], withdraw{to[k], amounts[k]}, offset < left && !is_audit);
          // Few transfers are audits.
          if (is_audit && offset < left) client.append(from[k], look_at_first{to[k]});
        } else {
          client.send(from[k], to[k], transfer{amounts[k]}, offset < left);
        }
      }
    }
    client.flush();
  }
};

/// Arm whose sections run on the servers of one policy.
template <class Policy, class... Sections>
class warden_arm final : public arm {
  static constexpr bool sends_sections = sizeof...(Sections) > 1;
  /// Transfers that are loaded together. Servers for pairs of any owners leave fewer registers.
  static constexpr unsigned at_once =
      warden::guarded_types<Policy, account, Sections...>::nests ? 2 : 4;

 public:
  explicit warden_arm(bank& b, warden::guarded_options const& options = {},
                      unsigned client_blocks = 0)
      : guarded_{b.accounts(), b.size(), b.context(), options}, client_blocks_{client_blocks} {
    warden::prepare_fused(guarded_);
  }

  [[nodiscard]] expectations promises() const override { return {.isolates = !sends_sections}; }
  void run_async(transfers const& all) override {
    unsigned const grid = client_blocks_ != 0 ? client_blocks_ : apps::client_blocks();
    warden::launch_fused(send_transfers<sends_sections, at_once>{all}, grid, Policy::block_threads,
                         {}, guarded_);
  }
  void wait() override { guarded_.wait(); }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    if constexpr (Policy::statistics) {
      auto const t = guarded_.statistics().two_records;
      auto const mean = [](std::uint64_t sum, std::uint64_t count) {
        return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
      };
      return {{"first_lock_ns", mean(t.first_lock_ns, t.pairs)},
              {"request_ns", mean(t.request_ns, t.apart)},
              {"second_lock_ns", mean(t.second_lock_ns, t.apart)},
              {"reply_ns", mean(t.reply_ns, t.apart)}};
    } else {
      return {};
    }
  }
  /// Returns the bytes of shared memory of one server.
  [[nodiscard]] std::size_t server_bytes() const { return guarded_.server_bytes(); }

 private:
  warden::basic_guarded<Policy, account, Sections...> guarded_;
  unsigned client_blocks_;
};

template <unsigned Threads, placement Where>
using colocated = apps::colocated<section_context, Threads, Where>;

template <unsigned Threads>
std::unique_ptr<arm> make_colocated(bank& b, colocation const& chosen) {
  using on_chip = warden_arm<colocated<Threads, placement::on_chip>, transfer>;
  using in_memory = warden_arm<colocated<Threads, placement::in_memory>, transfer>;
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

/// Every server owns its share of the accounts.
using forwarding =
    warden::policy<warden::options{.records = placement::in_memory,
                                   .tuning = {.minimum_blocks_per_multiprocessor = 3}},
                   warden::context<section_context>>;
template <placement Where>
using nested = apps::nested<section_context, Where>;
using nested_timed =
    warden::with_values<nested<placement::in_memory>, &warden::options::statistics, true>;
template <class Policy>
std::unique_ptr<arm> make_nested(bank& b) {
  return apps::with_pair_servers(
      [&](warden::guarded_options const& options) {
        return std::make_unique<warden_arm<Policy, transfer>>(b, options);
      },
      "accounts");
}

}  // namespace

std::unique_ptr<arm> make_warden_arm(std::string const& name, bank& b, colocation const& chosen) {
  if (name == "warden_nested") return make_nested<nested<placement::in_memory>>(b);
  if (name == "warden_nested_on_chip") return make_nested<nested<placement::on_chip>>(b);
  if (name == timed_arm) return make_nested<nested_timed>(b);
  if (name == "warden_forwarding") {
    return std::make_unique<
        warden_arm<forwarding, withdraw, deposit, look_at_first, look_at_second>>(b);
  }
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  // Simulated threads are slow.
  unsigned const threads = chosen.threads != 0 ? chosen.threads : simulated ? 256 : 640;
  return threads == 256 ? make_colocated<256>(b, chosen) : make_colocated<640>(b, chosen);
}

}  // namespace bank_transfer
