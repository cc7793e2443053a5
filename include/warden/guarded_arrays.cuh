// SPDX-License-Identifier: Apache-2.0
/// @file
/// Several guarded arrays whose records one section may read and write together.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/several/section_arrays.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sets a number of rows. One thread.
template <class Count>
WARDEN_KERNEL void set_rows(Count* in_use, Count rows) {
  *in_use = rows;
}

}  // namespace detail

/// A guarded array to which sections append rows. Its capacity is the size of the guarded array.
/// Moves, does not copy. A moved-from object may only be destroyed or assigned to.
template <class Guarded>
class growing_array {
 public:
  /// Type of a row.
  using record = typename Guarded::record;

  /// Constructs an array of which the first `rows` records are in use. Precondition: `on` outlives
  /// this object, and has no other growing_array.
  /// Blocks the host. Throws limit_error if the array has fewer records or too many, and
  /// cuda_error.
  explicit growing_array(Guarded& on, std::size_t rows = 0,
                         std::source_location where = std::source_location::current())
      : on_{&on} {
    runtime::device_scope const scope{on.device(), where};
    if (on.size() > most) {
      throw_limit_error("growing_array: a guarded array of % records; the limit is %",
                        {on.size(), most}, where);
    }
    in_use_ = buffer<std::uint32_t>{1, where};
    resize(rows, {}, where);
    stream_ref{}.synchronize(where);
  }
  /// Sets the number of rows in use, without writing any. Enqueued, after all runs of the guarded
  /// array that were enqueued before, in all streams. Throws limit_error if the array has fewer
  /// records or the stream is being captured, and cuda_error.
  void resize(std::size_t rows, stream_ref s = {},
              std::source_location where = std::source_location::current()) {
    if (rows > on_->size()) {
      throw_limit_error("growing_array: % rows in use; the guarded array has % records",
                        {rows, on_->size()}, where);
    }
    runtime::device_scope const scope{on_->device(), where};
    if (runtime::capturing(s, where)) {
      throw_limit_error(
          "growing_array: the stream is being captured into a graph, whose replays would change "
          "the rows of other runs: call resize outside of the capture",
          {}, where);
    }
    auto& state = *detail::guarded_access::shared(*on_);
    s.wait_for(state.last_work, where);
    launch(&detail::set_rows<std::uint32_t>, 1, 1, {s, where}, in_use_.data(),
           static_cast<std::uint32_t>(rows));
    state.enqueued(s, where);
  }
  /// Returns the number of rows in use, with those of sections that did not commit. Blocks the host
  /// until the stream has executed its work. Throws cuda_error.
  [[nodiscard]] std::size_t rows(
      stream_ref s = {}, std::source_location where = std::source_location::current()) const {
    runtime::device_scope const scope{on_->device(), where};
    return in_use_.to_host(s, where)[0];
  }
  /// Returns the guarded array.
  [[nodiscard]] Guarded& array() const { return *on_; }
  /// Returns the device memory of the number of rows.
  [[nodiscard]] std::uint32_t* in_use() const { return in_use_.data(); }

 private:
  static constexpr std::size_t most = 0xffffffffu;

  Guarded* on_;
  buffer<std::uint32_t> in_use_;
};

namespace detail {

/// Guarded array, and type in record_types, of one of the arrays.
template <class Array>
struct array_source {
  using type = typename Array::record;
  static Array& guarded_of(Array& a) { return a; }
};
template <class Guarded>
struct array_source<growing_array<Guarded>> {
  using type = growing<typename Guarded::record>;
  static Guarded& guarded_of(growing_array<Guarded>& a) { return a.array(); }
};

}  // namespace detail

/// Guarded arrays, and growing arrays, of different types of records, whose records one section of
/// a `deferred_several` reads and writes together:
///
///     warden::growing_array orders{order_array};          // sections append rows
///     warden::guarded_arrays all{districts, stocks, orders};
///     using shop = warden::record_types<district, stock, warden::growing<order>>;
///     warden::deferred_several<decltype(all), new_order> log{all, n};
///
/// Sections get the context of the first array. Precondition: the arrays outlive this object and
/// the logs, are on one device, and are not moved.
template <class... Arrays>
class guarded_arrays {
  template <class Array>
  static auto& guarded_of(Array& array) {
    return detail::array_source<Array>::guarded_of(array);
  }

 public:
  /// The types of records, as access_list and records take them.
  using record = record_types<typename detail::array_source<Arrays>::type...>;
  /// Type of the context.
  using context = typename std::remove_reference_t<decltype(guarded_of(
      std::declval<std::tuple_element_t<0, std::tuple<Arrays...>>&>()))>::context;

  /// Names the arrays, in the order of their record_types. Throws limit_error unless they are on
  /// one device.
  explicit guarded_arrays(Arrays&... arrays) : arrays_{arrays...} {
    for_each([&](auto& array) {
      auto const other = static_cast<std::uint64_t>(array.device());
      auto const mine = static_cast<std::uint64_t>(device());
      if (other != mine) {
        throw_limit_error("guarded_arrays: arrays on the devices % and %; all must be on one",
                          {mine, other}, std::source_location::current());
      }
    });
  }

  /// Waits as the arrays' own `wait`, and throws the errors of all of them as one exception.
  void wait(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    error_list found;
    for_each([&](auto& array) { found.collect([&] { array.wait(s, where); }); });
    found.throw_all(where);
  }
  /// Returns the ordinal of the device of the arrays.
  [[nodiscard]] int device() const { return first().device(); }
  /// Returns the number of records of all arrays.
  [[nodiscard]] std::size_t size() const {
    std::size_t all = 0;
    for_each([&](auto& array) { all += array.size(); });
    return all;
  }
  /// Returns the arrays, in order.
  [[nodiscard]] std::tuple<Arrays&...> const& arrays() const { return arrays_; }

 private:
  /// Returns the first guarded array.
  [[nodiscard]] auto& first() const { return guarded_of(std::get<0>(arrays_)); }
  /// Calls `f(array)` for all guarded arrays, in order.
  template <class F>
  void for_each(F const& f) const {
    std::apply([&](auto&... array) { (f(guarded_of(array)), ...); }, arrays_);
  }

  std::tuple<Arrays&...> arrays_;
};

WARDEN_NAMESPACE_END
