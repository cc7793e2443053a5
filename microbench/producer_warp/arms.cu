// SPDX-License-Identifier: Apache-2.0
// The arms, by operation and name.

#include "microbench/producer_warp/arms.hpp"

#include "microbench/producer_warp/kernels.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <iterator>
#include <map>

namespace producer_warp {
namespace {

using kernel = void (*)(work);
struct kernels {
  kernel plain, unrolled, producer, rebalanced;
  unsigned sources;      ///< arrays whose pieces fill a stage
  unsigned more_pieces;  ///< pieces that a stage holds in addition to those of the result
};
template <class Operation>
constexpr kernels kernels_of(unsigned sources, unsigned more_pieces) {
  return {&by_loads<Operation>,
          &by_unrolled_loads<Operation>,
          &by_producer<Operation, false>,
          &by_producer<Operation, true>,
          sources,
          more_pieces};
}
kernels const& find(std::string const& operation) {
  static std::map<std::string, kernels> const all{{"copy", kernels_of<copy_operation>(1, 0)},
                                                  {"axpy", kernels_of<axpy_operation>(2, 0)},
                                                  {"stencil", kernels_of<stencil_operation>(1, 2)},
                                                  {"gather", kernels_of<gather_operation>(1, 0)}};
  return all.at(operation);
}

std::string const producer = "producer_", rebalanced = "rebalanced_";

/// Returns the pieces of the result that a stage has room for: whole rows, as many as a warp has
/// lanes at most.
std::uint32_t pieces_of_stage(std::string const& operation, std::uint32_t bytes,
                              std::uint32_t row_shift) {
  kernels const& of = find(operation);
  std::uint32_t const room = bytes / sizeof(piece) / of.sources;
  std::uint32_t const pieces = room > of.more_pieces ? room - of.more_pieces : 1;
  if (operation != "gather") return pieces;
  return std::clamp(pieces >> row_shift, 1u, unsigned{simt::warp_size}) << row_shift;
}

WARDEN_KERNEL void ask(abilities* found) {
  *found = {simt::has_bulk_copies(), simt::moves_registers()};
}

}  // namespace

std::vector<std::string> arm_names() {
  std::vector<std::string> names{"plain", "unrolled"};
  for (std::string const& name : {producer, rebalanced})
    for (unsigned n = least_stages; n <= most_stages; ++n)
      names.push_back(name + std::to_string(n));
  names.emplace_back("device_copy");
  return names;
}

unsigned stages_of(std::string const& arm) {
  for (std::string const& name : {producer, rebalanced})
    if (arm.starts_with(name)) return static_cast<unsigned>(std::stoul(arm.substr(name.size())));
  return 0;
}

abilities find_abilities() {
  warden::buffer<abilities> const found{1};
  simt::launch(&ask, 1, 1, 0, found.data(), {});
  return found.to_host()[0];
}

bool has_arm(std::string const& operation, std::string const& arm, abilities const& device) {
  if (arm == "device_copy") return operation == "copy" || operation == "gather";
  if (arm.starts_with(producer)) return device.bulk_copies;
  if (arm.starts_with(rebalanced)) return device.bulk_copies && device.moves_registers;
  return arm == "plain" || arm == "unrolled";
}

std::function<void()> plan_of(std::string const& operation, std::string const& arm, work const& a,
                              std::uint32_t stage_bytes) {
  if (arm == "device_copy") {
    std::size_t const bytes = a.pieces * sizeof(piece);
    return [a, bytes] { warden::runtime::copy_async(a.out, a.x, bytes, {}); };
  }
  kernels const& of = find(operation);
  work full = a;
  kernel chosen = arm == "plain" ? of.plain : of.unrolled;
  unsigned threads = loading_threads, block_pieces = loading_threads;
  std::size_t shared = 0;
  full.stages = stages_of(arm);
  if (full.stages != 0) {
    bool const moves = arm.starts_with(rebalanced);
    chosen = moves ? of.rebalanced : of.producer;
    threads = moves ? block_of_producer<true>::threads : block_of_producer<false>::threads;
    block_pieces = full.stage_pieces = pieces_of_stage(operation, stage_bytes, a.row_shift);
    full.stage_bytes = (block_pieces + of.more_pieces) * of.sources * unsigned{sizeof(piece)};
    shared = std::size_t{full.stages} * full.stage_bytes + sizeof(ring::storage);
  }
  auto const resident = static_cast<std::uint32_t>(
      warden::runtime::resident_blocks(simt::make_kernel(chosen), threads, shared));
  std::uint32_t const blocks = std::min(resident, (a.pieces + block_pieces - 1) / block_pieces);
  return [=] { simt::launch(chosen, blocks, threads, shared, full, {}); };
}

}  // namespace producer_warp
