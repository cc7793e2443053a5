// SPDX-License-Identifier: Apache-2.0
// Arms by name, and the arm of atomics.

#include "apps/bank_transfer/arms.cuh"

#include <warden/baseline.cuh>

namespace bank_transfer {

namespace {

struct atomics_arguments {
  account* accounts;
  transfers all;
  section_context context;
  std::uint64_t* executed;
};

/// Subtracts the amount unless that would overdraw the account. Returns false if it refuses.
__device__ bool withdraw(account* from, std::int64_t amount) {
  std::int64_t seen = simt::load_relaxed(&from->balance);
  while (seen >= amount) {
    std::int64_t const found = simt::compare_exchange(&from->balance, seen, seen - amount);
    if (found == seen) return true;
    seen = found;
  }
  return false;
}

WARDEN_KERNEL void transfer_by_atomics(atomics_arguments a) {
  simt::assume_one_dimension();
  // Executed transfers are counted in a register, and the rare refusals at the account.
  std::uint64_t executed = 0;
  std::uint32_t const step = warden::baseline::operation_step();
  auto const transfer = [&](std::uint32_t i) {
    std::uint32_t const amount = a.all.amounts[i];
    account* const from = &a.accounts[a.all.from[i]];
    account* const to = &a.accounts[a.all.to[i]];
    if (amount == 0) {
      std::int64_t const sum =
          simt::load_relaxed(&from->balance) + simt::load_relaxed(&to->balance);
      if (sum != a.context.pair_sum) simt::fetch_add(a.context.broken, std::uint64_t{1});
      ++executed;
    } else if (withdraw(from, amount)) {
      simt::fetch_add(&to->balance, std::int64_t{amount});
      ++executed;
    } else {
      simt::fetch_add(&from->refused, 1u);
    }
    return true;
  };
  warden::baseline::for_each_from(warden::baseline::first_operation(), step, a.all.n, transfer);
  if (executed != 0) simt::fetch_add(a.executed, executed);
}

/// Transfers by a compare-and-swap at one account, then an addition at the other. In between the
/// money is in neither account, and a thread that reads both accounts sees a wrong sum.
class atomics_arm final : public arm {
 public:
  explicit atomics_arm(bank& b) : bank_{b} {}
  [[nodiscard]] expectations promises() const override {
    return {.isolates = false, .counts_by_account = false};
  }
  void run_async(transfers const& all) override {
    constexpr unsigned threads = 256;
    auto const kernel = &transfer_by_atomics;
    simt::launch(kernel, warden::baseline::full_occupancy(kernel, threads), threads, 0,
                 {bank_.accounts(), all, bank_.context(), bank_.executed()}, {});
  }
  void wait() override { warden::stream_ref{}.synchronize(); }

 private:
  bank& bank_;
};

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{
      "lock_as_written",       "lock_tuned",       "lock_ordered",     "atomics",
      "warden_rounds",         "warden_several",   "warden_colocated", "warden_nested",
      "warden_nested_on_chip", "warden_forwarding"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, bank& b, colocation const& chosen) {
  if (name == "atomics") return std::make_unique<atomics_arm>(b);
  if (name.starts_with("lock_")) return make_lock_arm(name, b);
  if (name == "warden_rounds") return make_rounds_arm(b);
  if (name == "warden_several") return make_several_arm(b);
  return make_warden_arm(name, b, chosen);
}

}  // namespace bank_transfer
