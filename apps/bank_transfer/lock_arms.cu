// SPDX-License-Identifier: Apache-2.0
// Transfers under two global locks.

#include "apps/bank_transfer/arms.cuh"

#include <warden/baseline/pair_locks.cuh>

namespace bank_transfer {

namespace {

namespace baseline = warden::baseline;
using baseline::two_locks;

template <two_locks Protocol>
class lock_arm : public arm {
 public:
  explicit lock_arm(bank& b, std::size_t words_for_a_lock = baseline::most_words_for_a_lock)
      : bank_{b}, locks_{b.size() * words_for_a_lock} {}

  std::string tune(transfers const& sample) override {
    choice_ = baseline::tune_pair_locks(work_of(sample), locks_);
    return to_string(choice_);
  }
  void run_async(transfers const& all) override {
    baseline::lock_tuned_async(work_of(all), locks_, choice_.how);
  }
  void wait() override { locks_.wait(); }

 private:
  [[nodiscard]] auto work_of(transfers const& t) const {
    return baseline::pair_work<Protocol, account, make_transfer, section_context>{
        bank_.accounts(), t.from, t.to, t.n, {t.amounts}, bank_.context(), choice_.spread_log2};
  }

  bank& bank_;
  baseline::lock_array locks_;
  baseline::pair_lock_choice choice_{};
};

/// Untuned: the choice of the paper's listing, which is the default.
class as_written final : public lock_arm<two_locks::in_order> {
 public:
  explicit as_written(bank& b) : lock_arm{b, 1} {}
  std::string tune(transfers const&) override { return {}; }
};

}  // namespace

std::unique_ptr<arm> make_lock_arm(std::string const& name, bank& b) {
  if (name == "lock_as_written") return std::make_unique<as_written>(b);
  if (name == "lock_tuned") return std::make_unique<lock_arm<two_locks::all_or_none>>(b);
  return std::make_unique<lock_arm<two_locks::in_order>>(b);
}

}  // namespace bank_transfer
