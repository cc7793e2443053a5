// SPDX-License-Identifier: Apache-2.0
// The yardstick of emissions.

#include "microbench/allocation/emit_arm.hpp"
#include "microbench/allocation/word_stream.hpp"

namespace allocation {
namespace {

class stream_arm final : public emit_arm {
 public:
  void run_async(emission const& e) override { stream_async(stream_of(e)); }
  std::uint64_t wait(emission const& e) override {
    return was_streamed(stream_of(e)) ? e.total : 0;
  }

 private:
  /// Values lie behind the counts, if there are any.
  static word_stream stream_of(emission const& e) {
    return {e.counts, (e.values == nullptr ? 1 : 2) * std::uint64_t{e.n}, e.elements, e.total};
  }
};

}  // namespace

std::unique_ptr<emit_arm> make_stream(emission const&) { return std::make_unique<stream_arm>(); }

}  // namespace allocation
