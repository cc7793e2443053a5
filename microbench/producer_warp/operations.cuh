// SPDX-License-Identifier: Apache-2.0
// Operations: how an element of the result is computed from memory, and from a stage in shared
// memory that a producer warp has filled.
#pragma once

#include "microbench/producer_warp/arms.hpp"

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace producer_warp {

namespace simt = warden::simt;

/// Elements that a thread loads or stores at once.
struct alignas(16) piece {
  float at[piece_elements];
};
WARDEN_DEVICE piece const* pieces_at(void const* memory) {
  return static_cast<piece const*>(memory);
}

/// Returns the value at this address in global memory.
template <class T>
WARDEN_DEVICE T loaded(T const* at) {
  return simt::load_plain(at, simt::site::current());
}

/// Rows of memory that fill a stage.
struct stage_rows {
  unsigned count, bytes;  ///< rows; bytes of each
};

// An operation has
//   input                  data from which a piece of the result is computed
//   place(a, p)            place of the input of piece p; may load it from memory
//   load(a, place)         the input, from memory
//   staged(stage, q, n)    the input of piece q of a stage that holds n pieces
//   result(input)          the piece
//   rows(a, n)             rows that fill a stage with n pieces
//   row(a, p, n, lane)     row `lane` of the stage that begins with piece p
// `load` and `staged` return the same input for one piece.

/// `out[i] = x[i]`
struct copy_operation {
  using input = piece;
  WARDEN_DEVICE static std::uint32_t place(work const&, std::uint32_t p) { return p; }
  WARDEN_DEVICE static input load(work const& a, std::uint32_t place) {
    return loaded(pieces_at(a.x) + place);
  }
  WARDEN_DEVICE static input staged(std::byte const* stage, unsigned q, unsigned) {
    return pieces_at(stage)[q];
  }
  WARDEN_DEVICE static piece result(input const& in) { return in; }
  WARDEN_DEVICE static stage_rows rows(work const&, unsigned n) {
    return {1, n * unsigned{sizeof(piece)}};
  }
  WARDEN_DEVICE static void const* row(work const& a, std::uint32_t p, unsigned, unsigned) {
    return pieces_at(a.x) + p;
  }
};

/// `out[i] = factor * x[i] + y[i]`
struct axpy_operation {
  struct input {
    piece x, y;
  };
  WARDEN_DEVICE static std::uint32_t place(work const&, std::uint32_t p) { return p; }
  WARDEN_DEVICE static input load(work const& a, std::uint32_t place) {
    return {loaded(pieces_at(a.x) + place), loaded(pieces_at(a.y) + place)};
  }
  WARDEN_DEVICE static input staged(std::byte const* stage, unsigned q, unsigned n) {
    return {pieces_at(stage)[q], pieces_at(stage)[n + q]};
  }
  WARDEN_DEVICE static piece result(input const& in) {
    piece sum;
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_elements; ++k) sum.at[k] = factor * in.x.at[k] + in.y.at[k];
    return sum;
  }
  WARDEN_DEVICE static stage_rows rows(work const&, unsigned n) {
    return {2, n * unsigned{sizeof(piece)}};
  }
  WARDEN_DEVICE static void const* row(work const& a, std::uint32_t p, unsigned, unsigned lane) {
    return pieces_at(lane == 0 ? a.x : a.y) + p;
  }
};

/// `out[i] = x[i - 1] + 2 * x[i] + x[i + 1]`, where x has one more piece in front
struct stencil_operation {
  struct input {
    float left;
    piece middle;
    float right;
  };
  WARDEN_DEVICE static std::uint32_t place(work const&, std::uint32_t p) { return p; }
  WARDEN_DEVICE static input load(work const& a, std::uint32_t place) {
    return around(pieces_at(a.x) + place);
  }
  WARDEN_DEVICE static input staged(std::byte const* stage, unsigned q, unsigned) {
    return around(pieces_at(stage) + q);
  }
  WARDEN_DEVICE static piece result(input const& in) {
    piece sum;
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_elements; ++k) {
      float const left = k == 0 ? in.left : in.middle.at[k - 1];
      float const right = k + 1 == piece_elements ? in.right : in.middle.at[k + 1];
      sum.at[k] = left + 2 * in.middle.at[k] + right;
    }
    return sum;
  }
  /// Neighbouring stages share two pieces.
  WARDEN_DEVICE static stage_rows rows(work const&, unsigned n) {
    return {1, (n + 2) * unsigned{sizeof(piece)}};
  }
  WARDEN_DEVICE static void const* row(work const& a, std::uint32_t p, unsigned, unsigned) {
    return pieces_at(a.x) + p;
  }

 private:
  /// Returns the input around the second of 3 pieces.
  WARDEN_DEVICE static input around(piece const* three) {
    return {three[0].at[piece_elements - 1], three[1], three[2].at[0]};
  }
};

/// Row r of the result is row `index[r]` of x.
struct gather_operation {
  using input = piece;
  WARDEN_DEVICE static std::uint32_t place(work const& a, std::uint32_t p) {
    std::uint32_t const row = p >> a.row_shift;
    return (loaded(a.index + row) << a.row_shift) + (p - (row << a.row_shift));
  }
  WARDEN_DEVICE static input load(work const& a, std::uint32_t place) {
    return loaded(pieces_at(a.x) + place);
  }
  WARDEN_DEVICE static input staged(std::byte const* stage, unsigned q, unsigned) {
    return pieces_at(stage)[q];
  }
  WARDEN_DEVICE static piece result(input const& in) { return in; }
  WARDEN_DEVICE static stage_rows rows(work const& a, unsigned n) {
    return {n >> a.row_shift, unsigned{sizeof(piece)} << a.row_shift};
  }
  WARDEN_DEVICE static void const* row(work const& a, std::uint32_t p, unsigned n, unsigned lane) {
    if (lane >= n >> a.row_shift) return nullptr;
    return pieces_at(a.x) + (loaded(a.index + (p >> a.row_shift) + lane) << a.row_shift);
  }
};

}  // namespace producer_warp
