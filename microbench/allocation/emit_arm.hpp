// SPDX-License-Identifier: Apache-2.0
// One way to emit elements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace allocation {

/// Items to emit elements: how many each, and all together.
struct emission {
  std::uint32_t const* counts;  ///< [item]
  std::uint32_t const* values;  ///< [item] of a run, where runs are decoded
  std::uint32_t n;
  std::uint32_t* elements;
  std::uint64_t room, total;  ///< for elements, and how many there will be
};

/// Emits as many items into the same memory as its maker was told.
class emit_arm {
 public:
  virtual ~emit_arm() = default;
  /// Enqueues all, from an output without elements on.
  virtual void run_async(emission const& e) = 0;
  /// How many elements were emitted. Throws what went wrong.
  virtual std::uint64_t wait(emission const& e) = 0;
};
using emit_maker = std::unique_ptr<emit_arm> (*)(emission const&);
/// How items emit, and how runs are decoded: an arm of each name. In translation units of their
/// own: their kernels take long enough to compile.
std::map<std::string, emit_maker> emit_arms();
std::map<std::string, emit_maker> decode_arms();

/// The yardsticks: a kernel that reads and writes as much, and nothing more; and the driver's copy
/// of half as much, which is read as well as written. There is room for that.
std::unique_ptr<emit_arm> make_stream(emission const& e);
std::unique_ptr<emit_arm> make_memcpy(emission const& e);
/// Threads add to one counter, each for itself, and store the elements that they emit.
std::unique_ptr<emit_arm> make_thread_emission(emission const& e);
/// A warp adds for its threads.
std::unique_ptr<emit_arm> make_warp_emission(emission const& e);
/// By sections that return places.
std::unique_ptr<emit_arm> make_called_emission(emission const& e);

}  // namespace allocation
