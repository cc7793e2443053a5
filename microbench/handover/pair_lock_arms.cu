// SPDX-License-Identifier: Apache-2.0
// Arms whose sections on two records run under two locks in global memory.

#include "apps/support/pair_locks.cuh"
#include "microbench/handover/pair_arms.cuh"

namespace handover {

namespace {

using warden::baseline::two_locks;

template <two_locks Protocol>
class lock_arm final : public pair_arm {
 public:
  lock_arm(pair_record* records, std::uint32_t keys, bool tuned)
      : records_{records}, locks_{keys, tuned} {}

  std::string tune(section_pairs const& sample) override { return locks_.tune(work_of(sample)); }
  void run_async(section_pairs const& all) override { locks_.run_async(work_of(all)); }
  void wait() override { locks_.wait(); }

 private:
  [[nodiscard]] auto work_of(section_pairs const& s) const {
    return warden::baseline::pair_work<Protocol, pair_record, make_section, nothing>{
        records_, s.firsts, s.seconds, s.n, {}, {}, 0};
  }

  pair_record* records_;
  apps::pair_locks locks_;
};

}  // namespace

std::unique_ptr<pair_arm> make_pair_lock_arm(std::string const& name, pair_record* records,
                                             std::uint32_t keys) {
  if (name == "lock_tuned")
    return std::make_unique<lock_arm<two_locks::all_or_none>>(records, keys, true);
  return std::make_unique<lock_arm<two_locks::in_order>>(records, keys, name == "lock_ordered");
}

}  // namespace handover
