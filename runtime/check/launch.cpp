// SPDX-License-Identifier: Apache-2.0
// Launches and occupancy of the CUDA runtime API.

#include "grid.hpp"
#include "include/cuda_runtime_api.h"
#include "session.hpp"

#include <warden/runtime.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace warden::check {
namespace {

/// A kernel of the program, with its arguments.
class program_kernel final : public runtime::bound_kernel {
 public:
  explicit program_kernel(std::function<void()> body) : body_{std::move(body)} {}
  void operator()() const override { body_(); }

 private:
  std::function<void()> body_;
};

/// One for all kernels, because shared memory beyond 48 KB is allowed for all at once. Its only
/// argument is a program_kernel's body.
constexpr runtime::kernel any_kernel{
    nullptr,
    [](void const*, void const* const* arguments) -> std::unique_ptr<runtime::bound_kernel const> {
      return std::make_unique<program_kernel>(
          *static_cast<std::function<void()> const*>(arguments[0]));
    }};

}  // namespace

int enqueue(launch_request const& request, std::function<void()> body) {
  dimensions const &grid = request.grid, &block = request.block;
  if (grid.y > 65535 || grid.z > 65535 || grid.x > 2147483647 || block.x > 1024 || block.y > 1024 ||
      block.z > 64) {
    return fail(cudaErrorInvalidConfiguration);
  }
  return guarded([&] {
    order(request.stream, request.where);
    if (request.cooperative) body = with_grid_barrier(std::move(body));
    void* arguments[] = {&body};
    auto const result =
        runtime::try_launch(any_kernel, {grid, block, request.shared_bytes, request.cooperative},
                            arguments, request.stream, request.where);
    if (result == runtime::launch_result::launched) return;
    throw cuda_error{cudaErrorCooperativeLaunchTooLarge,
                     std::to_string(grid.count()) +
                         " blocks in a cooperative launch; the device does not hold as many "
                         "together",
                     request.where};
  });
}

cudaError_t set_shared_bytes(int bytes, site const& where) {
  return guarded(
      [&] { runtime::allow_shared_bytes(any_kernel, static_cast<std::size_t>(bytes), where); });
}

cudaError_t occupancy(int* blocks, int threads, std::size_t shared_bytes, site const& where) {
  return guarded([&] {
    *blocks = runtime::blocks_per_multiprocessor(any_kernel, static_cast<unsigned>(threads),
                                                 shared_bytes, where);
  });
}

cudaError_t occupancy_of_device(int* grid, int* block, std::size_t shared_bytes, int limit,
                                site const& where) {
  *block = limit == 0 ? 256 : limit;
  return guarded([&] {
    *grid =
        runtime::resident_blocks(any_kernel, static_cast<unsigned>(*block), shared_bytes, where);
  });
}

}  // namespace warden::check
