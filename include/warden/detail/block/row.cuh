// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows: consecutive elements in device memory, which the lanes of a group load together.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// The elements of a row that one lane of a group holds in registers. A *piece* is up to 16 bytes
/// of adjacent elements, which a lane loads at once. Piece p belongs to lane p % Lanes:
///
/// | row of 64 floats | elements of a lane |
/// |---|---|
/// | 32 lanes | 2: one piece of 8 bytes |
/// | 16 lanes | 4: one piece of 16 bytes |
/// | 8 lanes | 8: two pieces of 16 bytes |
///
/// If the pieces do not divide evenly, the last lanes have elements beyond the row. They are `T{}`,
/// and `column` tells: it is N or more.
template <class T, unsigned N, unsigned Lanes>
struct row_part {
  static_assert(N != 0, "warden: a row has at least one element");
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16 &&
                    (sizeof(T) & (sizeof(T) - 1)) == 0,
                "warden: the elements of a row are trivially copyable and have 1, 2, 4, 8 or 16 "
                "bytes");

  /// Elements of a piece: as many as 16 bytes hold, if N is a multiple of them and each lane gets
  /// a piece; otherwise fewer.
  static constexpr unsigned piece = [] {
    unsigned elements = 16 / sizeof(T);
    while (elements > 1 && (N % elements != 0 || elements * Lanes > N)) elements /= 2;
    return elements;
  }();
  /// Elements of a lane.
  static constexpr unsigned size = (N + piece * Lanes - 1) / (piece * Lanes) * piece;

  T elements[size];  ///< the lane's elements, in the order of the row

  /// Returns the lane's element `k`, below `size`.
  WARDEN_HOST_DEVICE constexpr T& operator[](unsigned k) { return elements[k]; }
  /// Returns the lane's element `k`, below `size`.
  WARDEN_HOST_DEVICE constexpr T const& operator[](unsigned k) const { return elements[k]; }
  /// Returns the place in the row of the lane's element `k`. N or more: beyond the row.
  [[nodiscard]] WARDEN_DEVICE static unsigned column(unsigned k, lane_group<Lanes> const& group) {
    return (k / piece * Lanes + group.lane()) * piece + k % piece;
  }
};

/// `N` consecutive elements in device memory, of type `T` or, to read only, `T const`. A view: it
/// is trivially copyable, and the memory is the caller's. The lanes of a group load a row together,
/// and each gets its row_part. Precondition: the first element is aligned to a piece of the part,
/// 16 bytes at most. The rows of a matrix are if the matrix is.
///
/// A section names its row by a member `payload(context) const`. Its operator() then takes the
/// lane's row_part after the record. Precondition: the row stays unchanged until the guarded
/// array's `wait`. What a thread wrote to it before `send` is visible to the section as
/// reads_other_memory says.
template <class T, unsigned N>
class row {
 public:
  /// Type of an element.
  using value_type = std::remove_const_t<T>;
  /// Size of the row. Units: bytes.
  static constexpr std::size_t bytes = N * sizeof(T);
  /// The part of a lane among `Lanes`.
  template <unsigned Lanes>
  using part = row_part<value_type, N, Lanes>;

  /// Names the elements from `first` on.
  WARDEN_HOST_DEVICE constexpr explicit row(T* first) : first_{first} {}
  /// Names row number `number` of a matrix of rows of N elements.
  WARDEN_HOST_DEVICE constexpr row(T* matrix, std::uint64_t number) : first_{matrix + number * N} {}

  /// Returns the address of the first element.
  [[nodiscard]] WARDEN_HOST_DEVICE constexpr T* data() const { return first_; }
  /// Loads the lane's part, by plain loads. All lanes of the group call it.
  template <unsigned Lanes>
  [[nodiscard]] WARDEN_DEVICE part<Lanes> load(lane_group<Lanes> const& group,
                                               simt::site where = simt::site::current()) const {
    part<Lanes> loaded{};
    for_each_piece(group, [&](T* at, unsigned k) {
      auto const found = simt::load_plain(reinterpret_cast<piece<Lanes> const*>(at), where);
      WARDEN_UNROLL
      for (unsigned e = 0; e < part<Lanes>::piece; ++e) loaded[k + e] = found.elements[e];
    });
    return loaded;
  }
  /// Stores the lane's part, by plain stores. All lanes of the group call it.
  template <unsigned Lanes>
  WARDEN_DEVICE void store(lane_group<Lanes> const& group, part<Lanes> const& values) const {
    static_assert(!std::is_const_v<T>, "warden: a row of const elements is not stored");
    for_each_piece(group, [&](T* at, unsigned k) {
      piece<Lanes> stored;
      WARDEN_UNROLL
      for (unsigned e = 0; e < part<Lanes>::piece; ++e) stored.elements[e] = values[k + e];
      *reinterpret_cast<piece<Lanes>*>(at) = stored;
    });
  }

 private:
  /// Adjacent elements that move by one access.
  template <unsigned Lanes>
  struct [[gnu::may_alias]] alignas(part<Lanes>::piece * sizeof(T)) piece {
    value_type elements[part<Lanes>::piece];
  };
  /// Calls `f(address, k)` for the lane's pieces in the row. Element k is the piece's first.
  template <unsigned Lanes, class F>
  WARDEN_DEVICE void for_each_piece(lane_group<Lanes> const& group, F f) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < part<Lanes>::size; k += part<Lanes>::piece) {
      unsigned const column = part<Lanes>::column(k, group);
      if (N % (part<Lanes>::piece * Lanes) == 0 || column < N) f(first_ + column, k);
    }
  }

  T* first_;
};

namespace detail {

template <class T>
inline constexpr bool is_row = false;
template <class T, unsigned N>
inline constexpr bool is_row<row<T, N>> = true;

}  // namespace detail
WARDEN_NAMESPACE_END
