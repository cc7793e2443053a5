// SPDX-License-Identifier: Apache-2.0
// Arms by name, and the arm of atomics.

#include "apps/spanning_forest/arms.cuh"
#include "apps/spanning_forest/both_ends.cuh"

#include <warden/baseline.cuh>
#include <warden/error.hpp>

#include <algorithm>

namespace spanning_forest {

namespace {

/// Offer that reads before its atomic, because most candidates are not lighter than the known one.
struct checked_offer {
  std::uint64_t key;

  template <class Context>
  WARDEN_DEVICE void atomic(component* c, Context) const {
    if (key < simt::load_relaxed(&c->lightest)) simt::fetch_min(&c->lightest, key);
  }
};

class atomics_arm final : public arm {
 public:
  void offer_async(std::size_t, offers const& all) override {
    warden::baseline::atomics_async(work_of<checked_offer>(all));
  }
  void wait() override { warden::stream_ref{}.synchronize(); }
};

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"lock_as_written", "lock_tuned",
                                              "lock_checked",    "atomics",
                                              "warden_deferred", "warden_deferred_combined"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, largest_iteration const& most,
                              std::source_location where) {
  auto const& names = arm_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string all;
    for (std::string const& n : names) all += (all.empty() ? "" : ", ") + n;
    throw warden::limit_error{"spanning_forest: no arm '" + name + "'; there are: " + all, where};
  }
  if (name == "atomics") return std::make_unique<atomics_arm>();
  if (name.starts_with("lock_")) return make_lock_arm(name, most);
  return make_warden_arm(name, most);
}

}  // namespace spanning_forest
