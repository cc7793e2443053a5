// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loops over records: one function, called for each index with the record that an id names. In
/// a loop over rows the lanes of a group hold the record in registers.
#pragma once

#include <warden/detail/block/device_range.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/block/row.cuh>
#include <warden/detail/block/section_sources.cuh>
#include <warden/detail/check_sections.cuh>
#include <warden/guarded.cuh>
#include <warden/policy.cuh>
#include <warden/sections.cuh>
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

template <class Row>
inline constexpr bool is_elements = false;
template <class T, unsigned N>
inline constexpr bool is_elements<elements<T, N>> = true;
template <class Row>
struct row_traits;
template <class T, unsigned N>
struct row_traits<elements<T, N>> {
  using view = row<T, N>;
  using const_view = row<T const, N>;
};

/// Context of a loop over rows.
template <class State, class Value, class Function>
struct row_loop_context {
  State* states;        ///< [record]
  Value const* values;  ///< [iteration]
  loop_context<Function> loop;
};
/// Section that is one iteration of a loop over rows. Its payload is a row of values, and it runs
/// on a copy of its record and of the record's state.
template <class Row, class State, class Value, class Function, unsigned Lanes>
struct row_iteration {
  using context = row_loop_context<State, Value, Function>;
  using group = lane_group<Lanes>;
  using values = typename row_traits<Value>::const_view;
  using part = typename values::template part<Lanes>;
  struct copy {
    typename row_traits<Row>::view::template part<Lanes> row;
    State state;
  };
  static constexpr unsigned group_size = Lanes;
  static constexpr bool takes_index = true;
  std::uint32_t index;

  WARDEN_DEVICE values payload(context const& c) const { return values{c.values[index].values}; }
  WARDEN_DEVICE static copy load_record(Row const& r, context const& c, record_id id,
                                        group const& lanes) {
    return {typename row_traits<Row>::const_view{r.values}.load(lanes), c.states[id]};
  }
  WARDEN_DEVICE static void store_record(Row& r, copy const& now, context const& c, record_id id,
                                         group const& lanes) {
    typename row_traits<Row>::view{r.values}.store(lanes, now.row);
    if (lanes.lane() == 0) c.states[id] = now.state;
  }
  // Declared with its type, because nvcc removes the body on the host.
  template <class F = Function>
  WARDEN_DEVICE auto prepare(part const& p, group const& lanes) const
      -> decltype(F::prepare(p, lanes)) {
    return F::prepare(p, lanes);
  }
  WARDEN_DEVICE void operator()(copy& now, part const& p, context const& c, record_id,
                                group const& lanes) const {
    call(c, lanes, now.row, now.state, p);
  }
  template <class Prepared>
  WARDEN_DEVICE void operator()(copy& now, part const& p, Prepared const& prepared,
                                context const& c, record_id, group const& lanes) const {
    call(c, lanes, now.row, now.state, p, prepared);
  }

 private:
  template <class... Arguments>
  WARDEN_DEVICE static void call(context const& c, group const& lanes, Arguments&... arguments) {
    Function const& f = c.loop.function();
    // nvcc takes no pack in a requires expression here.
    if constexpr (std::is_invocable_v<Function const&, Arguments&..., group const&>) {
      f(arguments..., lanes);
    } else {
      f(arguments...);
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
  static_assert(!detail::changes_a_copy<Function, detail::element_of<Records>>,
                "warden: the function of a guarded_loop takes its record by reference, not by "
                "value: what it changes in a copy is lost");
  using loop = guarded_loop<detail::element_of<Records>, Function, Lanes, Policy>;
  return loop{records, f, chosen, where};
}

/// Guarded array whose sections are the iterations of a loop over rows: see make_row_loop.
template <class Row, class State, class Value, class Function, unsigned Lanes,
          class Policy = policy<>>
using row_loop =
    basic_guarded<with_parts<Policy, context<detail::row_loop_context<State, Value, Function>>>,
                  Row, detail::row_iteration<Row, State, Value, Function, Lanes>>;

/// Returns a loop over rows of numbers with a state each, such as an optimizer's step for each
/// gradient of an embedding. Iteration i reads row i of `values`, and changes the row and the state
/// that its id names. Rows are warden::elements, in contiguous ranges in device memory.
///
///     auto loop = warden::make_row_loop<8>(weights, states, gradients, step{});
///     loop.apply_async(ids);  // for all i: a step on weights[ids[i]] by gradients[i]
///     loop.wait();
///
/// A group of `Lanes` lanes makes an iteration. It calls `f(row, state, value)` with the lane's
/// row_part of the row and of the row of values. All lanes have the state, and must leave the same
/// one. `f` may take the lane_group as its last argument. It may have a static member
/// `prepare(value, group)`, which computes what needs only the row of values. Its result is the
/// argument of `f` after `value`.
///
/// Rows, states and values are loaded ahead, and a hot row stays in registers. Any group may call
/// `prepare`, so what it computes does not delay the steps of a hot row.
///
/// Precondition: there is a state for each row, and a row of values for each id; all of the memory
/// outlives the guarded array. Throws limit_error if there are fewer states than rows, and as the
/// constructor of a guarded array does.
template <unsigned Lanes, class Policy = policy<>, class Rows, class States, class Values,
          class Function>
[[nodiscard]] auto make_row_loop(Rows&& rows, States&& states, Values const& values,
                                 Function const& f, guarded_options chosen = {},
                                 std::source_location where = std::source_location::current()) {
  using row = detail::element_of<Rows>;
  using value = detail::element_of<Values>;
  static_assert(!detail::is_host_container<std::remove_cvref_t<Rows>> &&
                    !detail::is_host_container<std::remove_cvref_t<States>> &&
                    !detail::is_host_container<Values>,
                "warden: the rows, states and values of a row_loop are in device memory: copy them "
                "to a warden::buffer");
  static_assert(detail::is_elements<row> && detail::is_elements<value>,
                "warden: the rows and values of a row_loop are warden::elements");
  using state = detail::element_of<States>;
  if (states.size() < rows.size()) {
    throw_limit_error("make_row_loop: % rows and % states; give a state for each row",
                      {rows.size(), states.size()}, where);
  }
  return row_loop<row, state, value, Function, Lanes, Policy>{
      rows, {detail::data_of(states), detail::data_of(values), f}, chosen, where};
}

WARDEN_NAMESPACE_END
