// SPDX-License-Identifier: Apache-2.0
// Interface of the arms that emit elements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace allocation {

/// Items that emit elements.
struct emission {
  std::uint32_t const* counts;  ///< [item]
  std::uint32_t const* values;  ///< [item] value of a run; null if items emit
  std::uint32_t n;
  std::uint32_t* elements;
  std::uint64_t room, total;  ///< room for elements; number of elements
};

/// An arm. The numbers of items and the memory must be those that its maker got.
class emit_arm {
 public:
  virtual ~emit_arm() = default;
  /// Enqueues all work, including the clearing of the output.
  virtual void run_async(emission const& e) = 0;
  /// Waits, and returns the number of emitted elements. Throws the error of the work, if any.
  virtual std::uint64_t wait(emission const& e) = 0;
};
using emit_maker = std::unique_ptr<emit_arm> (*)(emission const&);
/// Makers of the arms that emit and of the arms that decode, by name. In translation units of their
/// own, because their kernels take long to compile.
std::map<std::string, emit_maker> emit_arms();
std::map<std::string, emit_maker> decode_arms();

/// Upper bounds: a kernel that only reads and writes, as many bytes as an emission; and a copy by
/// the driver of half of these bytes, each of which is read and written. The output has room for
/// the copy.
std::unique_ptr<emit_arm> make_stream(emission const& e);
std::unique_ptr<emit_arm> make_memcpy(emission const& e);
/// Arm whose threads each add to one counter, and store their elements.
std::unique_ptr<emit_arm> make_thread_emission(emission const& e);
/// Arm whose warps each add to one counter, for all their threads.
std::unique_ptr<emit_arm> make_warp_emission(emission const& e);
/// Arm whose sections return places.
std::unique_ptr<emit_arm> make_called_emission(emission const& e);

}  // namespace allocation
