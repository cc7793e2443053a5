// SPDX-License-Identifier: Apache-2.0
// A number is a section on the totals of its group and column.

#include "apps/hash_table/aggregate/totals.hpp"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>

namespace hash_table {

namespace group_sections {

/// Adds `b` to `a`. Neither is empty.
__device__ void merge(whole_totals& a, whole_totals const& b) {
  a.low += b.low;
  a.high += b.high + (a.low < b.low ? 1 : 0);
  a.minimum = b.minimum < a.minimum ? b.minimum : a.minimum;
  a.maximum = b.maximum > a.maximum ? b.maximum : a.maximum;
  a.count += b.count;
}
__device__ whole_totals totals_of(std::int64_t number) {
  auto const bits = static_cast<std::uint64_t>(number);
  return {bits, number < 0 ? ~std::uint64_t{0} : 0, number, number, 1};
}

/// Adds `b` to `a`, with the pairwise formula of Chan, Golub and LeVeque for the deviations.
/// Neither is empty.
__device__ void merge(real_totals& a, real_totals const& b) {
  auto const m = static_cast<double>(a.count), n = static_cast<double>(b.count);
  double const difference = n / m * a.sum - b.sum;
  a.deviations += b.deviations + m / (n * (m + n)) * difference * difference;
  a.sum += b.sum;
  a.minimum = b.minimum < a.minimum ? b.minimum : a.minimum;
  a.maximum = b.maximum > a.maximum ? b.maximum : a.maximum;
  a.count += b.count;
}
__device__ real_totals totals_of(double number) { return {number, 0, number, number, 1}; }

/// Section that adds several numbers.
template <class Totals, class Number>
struct add_totals {
  static constexpr bool reads_other_memory = false;
  Totals totals;

  __device__ explicit add_totals(Totals const& added) : totals{added} {}
  template <class Section>
  __device__ explicit add_totals(Section const& one) : totals{totals_of(one.number)} {}
  __device__ void operator()(Totals& of_group) const {
    if (of_group.count == 0) {
      of_group = totals;
    } else {
      merge(of_group, totals);
    }
  }
  __device__ static add_totals combine(add_totals a, add_totals const& b) {
    merge(a.totals, b.totals);
    return a;
  }
};
/// Section that adds one number.
template <class Totals, class Number>
struct add_number {
  static constexpr bool reads_other_memory = false;
  using partial = add_totals<Totals, Number>;
  Number number;

  __device__ void operator()(Totals& of_group) const { partial{totals_of(number)}(of_group); }
};

}  // namespace group_sections

template <class Totals, class Number>
struct device_totals<Totals, Number>::device_state {
  using policy = warden::policy<warden::options{}, warden::order::deterministic>;
  using section = group_sections::add_number<Totals, Number>;
  using guarded = warden::basic_guarded<policy, Totals, section>;

  device_state(std::size_t most_records, std::size_t most_numbers)
      : totals{most_records}, records{most_numbers}, numbers{most_numbers}, guards{totals} {}

  /// Sets the totals up to record `end` to 0, unless they were before.
  void begin(std::size_t end) {
    if (end <= begun) return;
    warden::runtime::fill_async(totals.data() + begun, 0, (end - begun) * sizeof(Totals), {});
    begun = end;
  }
  /// Adds the first `n` numbers to their records.
  void add(std::size_t n) {
    guards.apply_async(records.data(), numbers.data(), n);
    guards.wait();
  }

  warden::buffer<Totals> totals;
  warden::buffer<std::uint32_t> records;
  warden::buffer<section> numbers;
  guarded guards;         ///< guards `totals`
  std::size_t begun = 0;  ///< records of the groups so far
};

template <class Totals, class Number>
device_totals<Totals, Number>::device_totals(std::size_t groups, std::size_t columns,
                                             std::size_t most_numbers)
    : columns_{columns},
      state_{std::make_unique<device_state>(groups * columns, columns == 0 ? 0 : most_numbers)} {}
template <class Totals, class Number>
device_totals<Totals, Number>::~device_totals() = default;

template <class Totals, class Number>
void device_totals<Totals, Number>::add(piece<Number> const& added, std::size_t groups) {
  state_->begin(groups * columns_);
  std::size_t const n = added.numbers.size();
  if (n == 0) return;
  static_assert(sizeof(typename device_state::section) == sizeof(Number));
  warden::copy(state_->records.data(), added.records.data(), n);
  warden::runtime::copy_async(state_->numbers.data(), added.numbers.data(), n * sizeof(Number), {});
  state_->add(n);
}

template <class Totals, class Number>
std::vector<Totals> device_totals<Totals, Number>::to_host(std::size_t groups) const {
  std::vector<Totals> host(groups * columns_);
  warden::copy(host.data(), state_->totals.data(), host.size());
  warden::stream_ref{}.synchronize();
  return host;
}

template <class Totals, class Number>
std::size_t device_totals<Totals, Number>::memory_bytes() const {
  return state_->totals.bytes() + state_->records.bytes() + state_->numbers.bytes() +
         state_->guards.memory_bytes();
}

template class device_totals<whole_totals, std::int64_t>;
template class device_totals<real_totals, double>;

}  // namespace hash_table
