// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loops over records: one function, called for each index with the record that an id names.
#pragma once

#include <warden/detail/block/device_range.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/block/section_sources.cuh>
#include <warden/guarded.cuh>
#include <warden/policy.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Context of a loop: its function. Default-constructible and assignable, which lambdas are not.
template <class Function>
class loop_context {
  static_assert(std::is_trivially_copyable_v<Function>,
                "warden: the function of a guarded_loop is copied to the device: it holds pointers "
                "and values, and no host objects");

 public:
  loop_context() = default;
  loop_context(Function const& f) { std::memcpy(bytes_, &f, sizeof(Function)); }
  WARDEN_DEVICE Function const& function() const {
    return *reinterpret_cast<Function const*>(bytes_);
  }

 private:
  alignas(Function) unsigned char bytes_[sizeof(Function)];
};

/// Section that is one iteration of a loop.
template <class Record, class Function, unsigned Lanes>
struct iteration {
  static constexpr unsigned group_size = Lanes;
  static constexpr bool takes_index = true;
  std::uint32_t index;

  WARDEN_DEVICE void operator()(Record& r, loop_context<Function> const& c, record_id id,
                                lane_group<Lanes> const& group) const {
    Function const& f = c.function();
    if constexpr (requires { f(r, index, group); }) {
      f(r, index, group);
    } else {
      f(r, index, id, group);
    }
  }
};
template <class Record, class Function>
struct iteration<Record, Function, 1> {
  static constexpr bool takes_index = true;
  std::uint32_t index;

  WARDEN_DEVICE void operator()(Record& r, loop_context<Function> const& c, record_id id) const {
    Function const& f = c.function();
    if constexpr (requires { f(r, index); }) {
      f(r, index);
    } else {
      f(r, index, id);
    }
  }
};

}  // namespace detail

/// Guarded array whose sections are the iterations of a loop. Section i calls `f(record, i)` or
/// `f(record, i, id)`, with i as a std::uint32_t and the record_id of the record. With more than
/// one of `Lanes`, a group of lanes calls `f(record, i, group)` or `f(record, i, id, group)`, with
/// its lane_group. `f` is the context of the guarded array: a trivially copyable function object,
/// or a `__device__` lambda that copies pointers and values. It holds what all iterations share.
template <class Record, class Function, unsigned Lanes = 1, class Policy = policy<>>
using guarded_loop = basic_guarded<with_parts<Policy, context<detail::loop_context<Function>>>,
                                   Record, detail::iteration<Record, Function, Lanes>>;

/// Returns a guarded_loop over the records of a contiguous range in device memory:
///
///     auto loop = warden::make_guarded_loop(accounts, [=] __device__(account& a, std::uint32_t i)
///     {
///       a.balance += amounts[i];
///     });
///     loop.apply_async(ids);  // for all i: f(accounts[ids[i]], i), one at a time for each account
///     loop.wait();
///
/// With order::sequential in `Policy` the result is that of the loop, bit for bit. Precondition:
/// the memory outlives the guarded array. Throws as the constructor of a guarded array does.
template <unsigned Lanes = 1, class Policy = policy<>, class Records, class Function>
[[nodiscard]] auto make_guarded_loop(Records&& records, Function const& f,
                                     guarded_options chosen = {},
                                     std::source_location where = std::source_location::current()) {
  static_assert(!detail::is_host_container<std::remove_cvref_t<Records>>,
                "warden: the records of a guarded_loop are in device memory: copy them to a "
                "warden::buffer");
  using loop = guarded_loop<detail::element_of<Records>, Function, Lanes, Policy>;
  return loop{records, f, chosen, where};
}

WARDEN_NAMESPACE_END
