// SPDX-License-Identifier: Apache-2.0
// Operation `transfer` on several GPUs: transfers between accounts that are spread over the GPUs.

#include "apps/bank_transfer/bank.cuh"
#include "apps/bank_transfer/spread_bank.cuh"
#include "microbench/bank_transfer/workload.cuh"
#include "microbench/several_gpus/gather.hpp"
#include "microbench/several_gpus/point.cuh"
#include "microbench/several_gpus/seconds_of.hpp"

#include <warden/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace several_gpus {

namespace {

using bank_transfer::account;

class transfer_rank {
 public:
  static constexpr char const* name = "transfer";

  transfer_rank(warden::communicator const& world, std::string const& workload,
                std::uint32_t accounts, std::uint32_t n, choices const&)
      : n_{n},
        workload_{workload, accounts},
        whole_{{.accounts = accounts}},
        share_{world, whole_.size(), bank_transfer::bank_options{}.opening,
               n * static_cast<std::uint32_t>(world.size())} {
    workload_.reserve(all());
  }

  /// Returns the seconds from the start of all ranks to the end of this rank.
  double run(std::uint64_t seed) {
    sent_ = workload_.draw(all(), seed);
    std::size_t const first = std::size_t{n_} * static_cast<std::size_t>(share_.world().rank());
    bank_transfer::transfers const mine{sent_.from + first, sent_.to + first, sent_.amounts + first,
                                        n_};
    share_.open_async();
    // Barrier: all ranks start after it.
    share_.wait();
    double const seconds = seconds_of([&] {
      share_.send_async(mine);
      share_.run();
    });
    share_.wait();
    return seconds;
  }
  /// Phases are not recorded.
  [[nodiscard]] static std::map<std::string, double> phases() { return {}; }
  /// Returns true if the audit of the accounts of all ranks finds no error after the last `run`.
  bool verify() {
    warden::buffer<account> copied{whole_.size()};
    copied.fill_bytes(0);
    share_.copy_async(copied.data());
    auto const all_copies = gather(share_.world(), copied);
    auto const ranks = static_cast<std::size_t>(share_.world().size());
    std::vector<account> accounts(whole_.size());
    // Account `id` is on rank `id % ranks`.
    for (std::size_t id = 0; id < accounts.size(); ++id)
      accounts[id] = all_copies[id % ranks * accounts.size() + id];
    whole_.open_async();
    warden::copy(whole_.accounts(), accounts.data(), accounts.size());
    bank_transfer::expectations const expected{.isolates = false};
    std::string const error_text =
        whole_.error_text(whole_.audit(sent_, expected), sent_, expected);
    if (!error_text.empty()) std::fprintf(stderr, "the audit failed: %s\n", error_text.c_str());
    return error_text.empty();
  }

 private:
  [[nodiscard]] std::uint32_t all() const {
    return n_ * static_cast<std::uint32_t>(share_.world().size());
  }

  std::uint32_t n_;
  bank_bench::transfer_workload workload_;
  bank_transfer::bank whole_;  ///< for the audit
  bank_transfer::spread_bank share_;
  bank_transfer::transfers sent_{};  ///< transfers of all ranks
};

}  // namespace

std::shared_ptr<bench::point> make_transfer_point(std::string const& workload,
                                                  std::uint32_t accounts, choices const& chosen) {
  return std::make_shared<point_of<transfer_rank>>(workload, accounts, chosen);
}

}  // namespace several_gpus
