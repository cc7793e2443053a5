// SPDX-License-Identifier: Apache-2.0
// Transactions as sections on several records.

#include "apps/transactions/arms.cuh"

#include <warden/deferred_several.cuh>

#include <optional>

namespace transactions {

namespace {

/// A transaction and its number.
struct section {
  transaction of;
  std::uint32_t number;

  __device__ void access(warden::access_list<operations>& a) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < operations; ++k) {
      if (of.writes(k)) {
        a.write(of.id(k));
      } else {
        a.read(of.id(k));
      }
    }
  }
  template <class Row>
  __device__ warden::outcome operator()(warden::records<Row, operations>& rows,
                                        std::uint64_t* const& sums) const {
    read_sum read;
    WARDEN_UNROLL
    for (unsigned k = 0; k < operations; ++k) read.add(row_sum(rows.read(k)));
    std::uint64_t const sum = read.value();
    sums[number] = sum;
    WARDEN_UNROLL
    for (unsigned k = 0; k < operations; ++k) {
      if (!of.writes(k)) continue;
      auto& words = rows.write(k).words;
      for (unsigned w = 0; w < Row::count; ++w) words[w] = new_word(words[w], sum, k, w);
    }
    return warden::outcome::commit;
  }
};
struct make_section {
  transaction const* all;
  __device__ section operator()(std::uint64_t i) const {
    return {all[i], static_cast<std::uint32_t>(i)};
  }
};
/// A guarded array has a section on one record, which no transaction is.
struct clear {
  template <class Row>
  __device__ void operator()(Row& r, std::uint64_t* const&) const {
    r = {};
  }
};

template <class Row>
class warden_arm final : public arm {
 public:
  warden_arm(ycsb& on, arm_options const& o, warden::several_options const& hot)
      : on_{on},
        rows_{
            on.rows<Row>(), on.options().rows, on.sums(), {.time_limit_seconds = o.limit_seconds}},
        log_{rows_, on.size(), hot},
        has_owners_{hot.hot_accesses != 0} {}

  void run_async() override { log_.apply_async(on_.size(), make_section{on_.all()}); }
  void wait() override { rows_.wait(); }
  [[nodiscard]] bool claims_order() const override { return false; }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() override {
    warden::outcome_counts const c = log_.counts();
    std::map<std::string, std::uint64_t> all{{"committed", c.committed}};
    if (has_owners_) all["by_owners"] = c.by_owners;
    return all;
  }

 private:
  using policy = warden::policy<warden::options{}, warden::context<std::uint64_t*>>;
  using table = warden::basic_guarded<policy, Row, clear>;

  ycsb& on_;
  table rows_;
  warden::deferred_several<table, section> log_;
  bool has_owners_;
};

}  // namespace

std::unique_ptr<arm> make_warden_arm(ycsb& on, arm_options const& o,
                                     warden::several_options const& hot) {
  if (on.options().row_bytes == sizeof(small_row))
    return std::make_unique<warden_arm<small_row>>(on, o, hot);
  return std::make_unique<warden_arm<wide_row>>(on, o, hot);
}

}  // namespace transactions
