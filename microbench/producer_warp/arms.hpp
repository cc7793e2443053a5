// SPDX-License-Identifier: Apache-2.0
// Arms: ways to read memory, for each operation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace producer_warp {

inline constexpr char const* operation_names[] = {"copy", "axpy", "stencil", "gather"};
inline constexpr unsigned piece_elements = 4;
/// Factor of `axpy`. Its products and sums of drawn elements are exact.
inline constexpr float factor = 3;
inline constexpr unsigned least_stages = 2, most_stages = 6;

/// Arrays of one operation, in device memory, and how a producer warp divides them.
struct work {
  float const* x;              ///< [pieces]; stencil: [pieces + 2], one piece before the first one
  float const* y;              ///< [pieces]; null unless the operation is `axpy`
  std::uint32_t const* index;  ///< [row] number of a row of x; null unless it is `gather`
  float* out;                  ///< [pieces]
  std::uint32_t pieces;        ///< pieces of 4 elements; gather: whole rows
  std::uint32_t row_shift;     ///< gather: base-2 logarithm of a row's pieces
  // Set by plan_of.
  std::uint32_t stage_pieces;  ///< pieces of the result for each stage
  std::uint32_t stage_bytes;   ///< bytes from one stage to the next
  std::uint32_t stages;        ///< stages of the ring
};

/// Names of all arms. In `plain` a thread loads 1 piece at a time, in `unrolled` 4 pieces, ahead of
/// their use. `producer_N` has a producer warp and N stages; `rebalanced_N` also moves registers of
/// the producer warp to the other warps. `device_copy` copies the bytes of x without an operation.
std::vector<std::string> arm_names();
/// Returns the number of stages of the arm's ring; 0 if it has no ring.
unsigned stages_of(std::string const& arm);

/// Abilities of the device and of the machine code of this program.
struct abilities {
  bool bulk_copies, moves_registers;
};
/// Asks the current device. Throws cuda_error.
abilities find_abilities();
/// True if a device with these abilities has the arm for the operation.
bool has_arm(std::string const& operation, std::string const& arm, abilities const& device);

/// Returns a function that enqueues the arm's work in the default stream. A stage of a ring gets
/// at most `stage_bytes` bytes, but at least a row. Throws cuda_error; throws limit_error if the
/// stages need more shared memory than a block can have.
std::function<void()> plan_of(std::string const& operation, std::string const& arm, work const& a,
                              std::uint32_t stage_bytes);

}  // namespace producer_warp
