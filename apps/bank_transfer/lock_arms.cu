// SPDX-License-Identifier: Apache-2.0
// Transfers under two global locks.

#include "apps/bank_transfer/arms.cuh"
#include "apps/support/pair_locks.cuh"

#include <warden/baseline.cuh>

namespace bank_transfer {

namespace {

namespace baseline = warden::baseline;
using baseline::two_locks;

template <two_locks Protocol>
class lock_arm final : public arm {
 public:
  lock_arm(bank& b, bool tuned) : bank_{b}, locks_{b.size(), tuned} {}

  std::string tune(transfers const& sample) override { return locks_.tune(work_of(sample)); }
  void run_async(transfers const& all) override { locks_.run_async(work_of(all)); }
  void wait() override { locks_.wait(); }

 private:
  [[nodiscard]] auto work_of(transfers const& t) const {
    return baseline::pair_work<Protocol, account, make_transfer, section_context>{
        bank_.accounts(), t.from, t.to, t.n, {t.amounts}, bank_.context(), 0};
  }

  bank& bank_;
  apps::pair_locks locks_;
};

}  // namespace

std::unique_ptr<arm> make_lock_arm(std::string const& name, bank& b) {
  if (name == "lock_tuned") return std::make_unique<lock_arm<two_locks::all_or_none>>(b, true);
  return std::make_unique<lock_arm<two_locks::in_order>>(b, name == "lock_ordered");
}

}  // namespace bank_transfer
