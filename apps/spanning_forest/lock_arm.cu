// SPDX-License-Identifier: Apache-2.0
// Offers under one lock per component.

#include "apps/spanning_forest/arms.cuh"
#include "apps/spanning_forest/both_ends.cuh"

#include <warden/baseline.cuh>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spanning_forest {

namespace {

namespace baseline = warden::baseline;

/// Offer whose store allows threads without the lock to read.
struct visible_offer {
  std::uint64_t key;

  WARDEN_DEVICE void operator()(component& c) const {
    if (key < c.lightest) simt::store_relaxed(&c.lightest, key);
  }
};

using work = offer_work<visible_offer>;
/// Work that skips offers that are not lighter than the known candidate.
struct checked_work : work {
  WARDEN_DEVICE bool is_lighter(std::uint32_t i) const {
    return make(i).key < simt::load_relaxed(&records[ids[i]].lightest);
  }
};

}  // namespace
}  // namespace spanning_forest

WARDEN_NAMESPACE_BEGIN
namespace baseline {
/// Reads before it takes the lock. The known candidate only becomes lighter, so an offer that is
/// not lighter now never will be.
template <class Settings>
struct lock_tuned<Settings, spanning_forest::checked_work> {
  using work = spanning_forest::checked_work;
  using all = lock_tuned<Settings, spanning_forest::work>;

  WARDEN_DEVICE static bool run_alone(work const& w, lock_array_ref const& locks, std::uint32_t i,
                                      std::uint32_t name) {
    return !w.is_lighter(i) || all::run_alone(w, locks, i, name);
  }
  WARDEN_DEVICE static bool run_grouped(work const& w, lock_array_ref const& locks, std::uint32_t i,
                                        bool valid, std::uint32_t name) {
    return all::run_grouped(w, locks, i, valid && w.is_lighter(i), name);
  }
};
}  // namespace baseline
WARDEN_NAMESPACE_END

namespace spanning_forest {

namespace {

/// Arm with one lock per component. Untuned, it is as in [Wang 2020].
template <class Work>
class lock_arm final : public arm {
 public:
  lock_arm(largest_iteration const& most, bool tuned) : locks_{most.size}, tuned_{tuned} {}

  [[nodiscard]] bool tunes() const override { return tuned_; }
  std::string tune(std::size_t iteration, offers const& all) override {
    // Reset the components, because after an earlier trial no offer would take a lock.
    auto const forget = [&](warden::stream_ref s) {
      warden::runtime::fill_async(all.components, 0xff, all.size * sizeof(component), s);
    };
    baseline::lock_choice const best =
        baseline::tune_locks(Work{work_of<visible_offer>(all)}, locks_, {}, forget);
    choices_.resize(std::max(choices_.size(), iteration + 1));
    choices_[iteration] = best;
    return baseline::to_string(best);
  }
  void offer_async(std::size_t iteration, offers const& all) override {
    if (all.n == 0) return;
    baseline::lock_choice const choice =
        iteration < choices_.size() ? choices_[iteration] : baseline::lock_choice{};
    baseline::lock_tuned_async(Work{work_of<visible_offer>(all)}, locks_, choice);
  }
  void wait() override { locks_.wait(); }

 private:
  baseline::lock_array locks_;
  bool tuned_;
  std::vector<baseline::lock_choice> choices_;  ///< [iteration]; none: the lock as written
};

}  // namespace

std::unique_ptr<arm> make_lock_arm(std::string const& name, largest_iteration const& most) {
  if (name == "lock_checked") return std::make_unique<lock_arm<checked_work>>(most, true);
  return std::make_unique<lock_arm<work>>(most, name == "lock_tuned");
}

}  // namespace spanning_forest
