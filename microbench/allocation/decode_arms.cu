// SPDX-License-Identifier: Apache-2.0
// Arms that decode runs.

#include "microbench/allocation/algorithms.hpp"
#include "microbench/allocation/call_arm.cuh"

#include <warden/allocate.cuh>

#include <cstdint>
#include <map>
#include <string>

namespace allocation {
namespace {

struct decode_by_call {
  void operator()(emission const& e, warden::output<std::uint32_t>& out) const {
    warden::run_length_decode_async(e.values, e.counts, e.n, out);
  }
};

/// Arm by CUB. Its number of blocks depends on the number of elements, which the benchmark passes;
/// a program would have to copy that number to the host first.
class cub_arm final : public emit_arm {
 public:
  using algorithm = void (*)(decode_arguments const&, temporary const&);
  cub_arm(emission const& e, algorithm decode_async)
      : decode_async_{decode_async},
        offsets_{std::size_t{e.n} + 1},
        starts_{decode_tiles(e.room)},
        memory_{decode_bytes(arguments(e))} {}
  void run_async(emission const& e) override { decode_async_(arguments(e), memory_); }
  std::uint64_t wait(emission const& e) override {
    warden::stream_ref{}.synchronize();
    return e.total;
  }

 private:
  [[nodiscard]] decode_arguments arguments(emission const& e) const {
    return {e.values, e.counts, e.n, offsets_.data(), starts_.data(), e.elements, e.total};
  }
  algorithm decode_async_;
  warden::buffer<std::uint32_t> offsets_, starts_;
  temporary memory_;
};
template <cub_arm::algorithm Decode>
std::unique_ptr<emit_arm> make_cub(emission const& e) {
  return std::make_unique<cub_arm>(e, Decode);
}

}  // namespace

std::map<std::string, emit_maker> decode_arms() {
  return {{"memcpy", &make_memcpy},
          {"copy", &make_stream},
          {"ordered", &make_call<decode_by_call>},
          {"cub_block_decode", &make_cub<&block_decode_async>},
          {"cub_batched_copy", &make_cub<&batched_decode_async>}};
}

}  // namespace allocation
