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

/// A transaction that names at most `Most` records, with all that it reads from other places, which
/// is loaded before its turn comes.
template <unsigned Most>
struct section {
  tables const* in;
  named_records const* named;
  std::uint64_t* answer;
  result* found;  ///< for its inserts
  std::uint32_t count;
  transaction of;
  fixed_columns fixed;

  __device__ void access(warden::access_list<Most>& a) const {
    WARDEN_UNROLL
    for (unsigned p = 0; p < Most; ++p) {
      if (p < count) a.write(named->ids[p]);
    }
  }
  __device__ warden::outcome operator()(warden::records<record, Most>& records) const {
    record_pointers pointers;
    WARDEN_UNROLL
    for (unsigned p = 0; p < Most; ++p) {
      if (p < count) pointers[p] = &records.write(p);
    }
    result const r = execute(of, fixed, pointers);
    write_remark(*in, of, fixed, r);
    *answer = r.answer;
    *found = r;
    return r.commits ? warden::outcome::commit : warden::outcome::abort;
  }
};
/// Arrays of all transactions.
struct jobs {
  transaction const* of;
  named_records* named;
  fixed_columns* fixed;
  std::uint64_t* answers;
  result* found;
};
template <unsigned Most>
struct make_section {
  tables const* in;
  jobs all;
  __device__ section<Most> operator()(std::uint64_t i) const {
    return {in,        &all.named[i], &all.answers[i], &all.found[i], all.named[i].count,
            all.of[i], all.fixed[i]};
  }
};
struct prepare_arguments {
  tables in;
  jobs all;
  std::uint32_t n;
};
/// Finds what each transaction names and reads, so that a section does not while others wait for
/// it.
WARDEN_KERNEL void prepare(prepare_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) {
    a.all.named[i] = name_records(a.in, a.all.of[i]);
    a.all.fixed[i] = read_fixed(a.in, a.all.of[i]);
  });
}
/// Inserts the rows of all transactions, which all have run.
WARDEN_KERNEL void insert_rows(prepare_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) { insert(a.in, a.all.of[i], a.all.found[i]); });
}
/// A guarded array has a section on one record, which no transaction is.
struct clear {
  __device__ void operator()(record& r) const { r = {}; }
};

template <unsigned Most>
class warden_arm final : public arm {
 public:
  warden_arm(workload& on, arm_options const& o, warden::several_options const& hot)
      : on_{on},
        records_{on.records(), on.in().of.records(), {.time_limit_seconds = o.limit_seconds}},
        log_{records_, on.size(), hot},
        has_owners_{hot.hot_accesses != 0},
        named_{on.size()},
        fixed_{on.size()},
        found_{on.size()} {}

  void run_async() override {
    prepare_arguments const a{
        on_.in(),
        {on_.all(), named_.data(), fixed_.data(), on_.answers(), found_.data()},
        on_.size()};
    // A transaction that does not run inserts no rows.
    found_.fill_bytes(0);
    simt::launch(&prepare, apps::blocks(), apps::threads(), 0, a, {});
    log_.apply_async(on_.size(), make_section<Most>{on_.device_tables(), a.all});
    simt::launch(&insert_rows, apps::blocks(), apps::threads(), 0, a, {});
  }
  void wait() override { records_.wait(); }
  [[nodiscard]] bool claims_order() const override { return false; }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override {
    warden::outcome_counts const c = log_.counts();
    std::map<std::string, std::uint64_t> all{{"committed", c.committed}, {"aborted", c.aborted}};
    if (has_owners_) all["by_owners"] = c.by_owners;
    return all;
  }

 private:
  using table = warden::guarded<record, clear>;

  workload& on_;
  table records_;
  warden::deferred_several<table, section<Most>> log_;
  bool has_owners_;
  warden::buffer<named_records> named_;  ///< [transaction]
  warden::buffer<fixed_columns> fixed_;  ///< [transaction]
  warden::buffer<result> found_;         ///< [transaction]
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
  static std::vector<std::string> const names{"locks", "optimistic", "warden", "warden_no_owners"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, workload& on, arm_options const& o) {
  if (name == "locks") return make<locking>(on, o);
  if (name == "optimistic") return make<copying>(on, o);
  warden::several_options hot{.hot_accesses = o.hot_accesses};
  if (name == "warden_no_owners") {
    hot.hot_accesses = 0;
  } else if (name != "warden") {
    throw warden::limit_error{"transactions: no arm '" + name + "'"};
  }
  if (on.options().kinds == mix::payments)
    return std::make_unique<warden_arm<most_named_by_payment>>(on, o, hot);
  return std::make_unique<warden_arm<most_named>>(on, o, hot);
}

}  // namespace transactions::tpcc
