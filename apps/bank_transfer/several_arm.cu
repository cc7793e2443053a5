// SPDX-License-Identifier: Apache-2.0
// Transfers as sections that name both accounts themselves, and may abort. They run in rounds.

#include "apps/bank_transfer/arms.cuh"

#include <warden/deferred_several.cuh>

#include <optional>

namespace bank_transfer {

namespace {

using in_rounds = warden::policy<warden::options{}, warden::context<section_context>>;
using accounts = warden::basic_guarded<in_rounds, account, deposit>;

/// A transfer that names its accounts.
struct named_transfer {
  std::uint32_t from, to;
  transfer amount;
  __device__ void access(warden::access_list<2>& a) const { a.write(from), a.write(to); }
  __device__ warden::outcome operator()(warden::records<account, 2>& r,
                                        section_context const& context) const {
    // Commits also if it refuses, because the account counts that.
    amount(r.write(0), r.write(1), context);
    return warden::outcome::commit;
  }
};
/// Transfer i as such a section.
struct name_transfer {
  transfers all;
  __device__ named_transfer operator()(std::uint64_t i) const {
    return {all.from[i], all.to[i], {all.amounts[i]}};
  }
};

/// One call that runs all transfers.
class several_arm final : public arm {
 public:
  explicit several_arm(bank& b) : guarded_{b.accounts(), b.size(), b.context()} {}

  /// Makes the memory anew, because the number of tiles depends on `n`.
  void reserve(std::uint32_t n) override {
    if (n != 0 && (!log_ || log_->capacity() != n)) log_.emplace(guarded_, n);
  }
  void run_async(transfers const& all) override {
    if (all.n == 0) return;
    if (!log_ || log_->capacity() < all.n) reserve(all.n);
    log_->apply_async(all.n, name_transfer{all});
  }
  void wait() override { guarded_.wait(); }

 private:
  accounts guarded_;
  std::optional<warden::deferred_several<accounts, named_transfer>> log_;
};

}  // namespace

std::unique_ptr<arm> make_several_arm(bank& b) { return std::make_unique<several_arm>(b); }

}  // namespace bank_transfer
