// SPDX-License-Identifier: Apache-2.0
// Arms by name, and transactions of TPC-C as sections on several records.

#include "apps/transactions/tpcc/arms.cuh"

#include "apps/support/device.cuh"
#include "apps/transactions/concurrent_arm.cuh"
#include "apps/transactions/tpcc/concurrent.cuh"

#include <warden/deferred_several.cuh>
#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <map>

namespace transactions::tpcc {

namespace {

/// A transaction that names at most `Most` records, by its number.
template <unsigned Most>
struct section {
  tables const* in;
  transaction const* of;
  std::uint64_t* answer;
  result* found;  ///< for its inserts

  __device__ void access(warden::access_list<Most>& a) const {
    named_records const named = name_records(*in, *of);
    WARDEN_UNROLL
    for (unsigned p = 0; p < Most; ++p) {
      if (p < named.count) a.write(named.ids[p]);
    }
  }
  __device__ warden::outcome operator()(warden::records<record, Most>& records) const {
    record_pointers at;
    unsigned const count =
        of->what == kind::payment ? most_named_by_payment : 1 + of->items_found();
    WARDEN_UNROLL
    for (unsigned p = 0; p < Most; ++p) {
      if (p < count) at[p] = &records.write(p);
    }
    fixed_columns const fixed = read_fixed(*in, *of);
    result const r = execute(*of, fixed, at);
    write_remark(*in, *of, fixed, r);
    *answer = r.answer;
    *found = r;
    return r.commits ? warden::outcome::commit : warden::outcome::abort;
  }
};
template <unsigned Most>
struct make_section {
  tables const* in;
  transaction const* all;
  std::uint64_t* answers;
  result* found;
  __device__ section<Most> operator()(std::uint64_t i) const {
    return {in, &all[i], &answers[i], &found[i]};
  }
};
struct insert_arguments {
  tables in;
  transaction const* all;
  result const* found;
  std::uint32_t n;
};
/// Inserts the rows of all transactions, which all have run.
WARDEN_KERNEL void insert_rows(insert_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) { insert(a.in, a.all[i], a.found[i]); });
}
/// A guarded array has a section on one record, which no transaction is.
struct clear {
  __device__ void operator()(record& r) const { r = {}; }
};

template <unsigned Most>
class warden_arm final : public arm {
 public:
  warden_arm(workload& on, arm_options const& o)
      : on_{on},
        records_{on.records(), on.in().of.records(), {.time_limit_seconds = o.limit_seconds}},
        log_{records_, on.size()},
        found_{on.size()} {
    // A transaction that does not run inserts no rows.
    found_.fill_bytes(0);
  }

  void run_async() override {
    log_.apply_async(on_.size(), make_section<Most>{on_.device_tables(), on_.all(), on_.answers(),
                                                    found_.data()});
    simt::launch(&insert_rows, apps::blocks(), apps::threads(), 0,
                 {on_.in(), on_.all(), found_.data(), on_.size()}, {});
  }
  void wait() override { records_.wait(); }
  [[nodiscard]] bool claims_order() const override { return false; }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override {
    warden::outcome_counts const c = log_.counts();
    return {{"committed", c.committed}, {"aborted", c.aborted}};
  }

 private:
  using table = warden::guarded<record, clear>;

  workload& on_;
  table records_;
  warden::deferred_several<table, section<Most>> log_;
  warden::buffer<result> found_;  ///< [transaction]
};

template <class Protocol>
std::unique_ptr<arm> make(workload& on, arm_options const& o) {
  concurrent_arguments const of{{},         on.in(),      on.all(),   on.records(),
                                on.words(), on.answers(), on.serial()};
  return std::make_unique<concurrent_arm<Protocol, concurrent_arguments>>(
      of, on.size(), [&on] { on.open_async(); }, o);
}

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"locks", "optimistic", "warden"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, workload& on, arm_options const& o) {
  if (name == "locks") return make<locking>(on, o);
  if (name == "optimistic") return make<copying>(on, o);
  if (name != "warden") throw warden::limit_error{"transactions: no arm '" + name + "'"};
  if (on.options().kinds == mix::payments)
    return std::make_unique<warden_arm<most_named_by_payment>>(on, o);
  return std::make_unique<warden_arm<most_named>>(on, o);
}

}  // namespace transactions::tpcc
