// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layout of one fused launch: shared memory, blocks and the kernel's arguments.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/minimum_blocks.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/fused/fused_kernel.cuh>
#include <warden/detail/fused/fused_state.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/architecture.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Begins the launch for each guarded array, in order, and packs the refs.
template <class Begin>
ref_pack<> begin_all(Begin const&) {
  return {};
}
template <class Begin, class First, class... Rest>
ref_pack<typename First::ref, typename Rest::ref...> begin_all(Begin const& begin, First& first,
                                                               Rest&... rest) {
  auto ref = begin(first);
  return {ref, begin_all(begin, rest...)};
}

/// Bytes of the user's own shared memory: sizeof(Kernel::shared_storage), or 0.
template <class Kernel>
constexpr std::size_t user_shared_bytes() {
  if constexpr (requires { typename Kernel::shared_storage; }) {
    return (sizeof(typename Kernel::shared_storage) + 15) / 16 * 16;
  } else {
    return 0;
  }
}

/// One launch of `Kernel` with these guarded arrays: checked, laid out, then enqueued.
template <class Kernel, class First, class... Rest>
class launch_plan {
  static constexpr std::size_t arrays = 1 + sizeof...(Rest);
  static constexpr unsigned threads = First::policy::block_threads;
  static constexpr unsigned resident_at_least = minimum_blocks<First, Rest...>();
  static_assert(
      ((Rest::policy::block_threads == threads) && ...),
      "warden: the guarded arrays of one launch have policies with the same block_threads");
  static_assert(arrays <= launch_ref::max_guarded_arrays,
                "warden: a launch takes at most 4 guarded arrays");
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "warden: a kernel object is trivially copyable");
  using arguments_type = fused_arguments<Kernel, typename First::ref, typename Rest::ref...>;

 public:
  /// Plans the launch. Throws limit_error if it is impossible. Precondition: the first guarded
  /// array's device is the current one.
  launch_plan(unsigned grid, unsigned block, located_stream in, First& first, Rest&... rest)
      : grid_{grid}, in_{in}, facts_{runtime::facts(first.device(), in.where)} {
    check(block, first, rest...);
    check_channels(first);
    (check_channels(rest), ...);
    servers_ = (first.servers() + ... + rest.servers());
    function_ = choose_kernel();
    choose_memory(first, rest...);
    // All blocks that are resident together, but no more clients than virtual blocks.
    resident_ = static_cast<unsigned>(
        runtime::resident_blocks(function_, threads, shared_bytes_, in.where));
    blocks_ = std::min<std::uint64_t>(resident_, std::uint64_t{servers_} + std::max(grid, 1u));
    check_room("");
  }

  /// Returns the kernel to launch.
  [[nodiscard]] runtime::kernel const& function() const { return function_; }

  /// Enqueues the launch. Throws limit_error if the device refuses it, and cuda_error if the launch
  /// fails.
  void enqueue(Kernel const& kernel, First& first, Rest&... rest) {
    stream_ref const s = in_.stream;
    std::array<std::shared_ptr<launch_state const>, arrays> const states{
        guarded_access::fused(first).own(), guarded_access::fused(rest).own()...};
    launch_ref launch{};
    launch.control = guarded_access::shared(first)->control->data();
    launch.limit = guarded_access::limit(first);
    auto const begin = [&](auto& g) {
      return guarded_access::fused(g).begin(states, memory_, outbox_offsets_[launch.member_count],
                                            launch);
    };
    auto const multiprocessors = static_cast<std::uint64_t>(facts_.multiprocessors);
    arguments_type arguments{
        kernel,
        begin_all(begin, first, rest...),
        grid_,
        servers_,
        0,
        ((std::uint64_t{servers_} << 32) + multiprocessors - 1) / multiprocessors,
        static_cast<std::uint32_t>(user_offset_),
        static_cast<std::uint32_t>(user_bytes)};

    // Resets the counters. The failures that guarded arrays still have to report stay.
    auto* const counters = &launch.control->counters;
    if constexpr (!is_part_of_run<Kernel>)
      runtime::fill_async(counters, 0, sizeof(*counters), s, in_.where);  // mutation: health-kept
    auto const mark = [&](bool in_use) {
      if constexpr (!is_part_of_run<Kernel>) {
        mark_records(*guarded_access::shared(first), in_use, s, in_.where);
        (mark_records(*guarded_access::shared(rest), in_use, s, in_.where), ...);
      }
    };
    void* all_arguments[] = {&arguments};
    auto const try_launch = [&] {
      launch.client_blocks = arguments.client_blocks =
          static_cast<std::uint32_t>(blocks_) - servers_;
      set_launch(arguments.refs, launch);
      return runtime::try_launch(function_,
                                 {static_cast<unsigned>(blocks_), threads, shared_bytes_, true},
                                 all_arguments, s, in_.where) == runtime::launch_result::launched;
    };
    bool launched = false;
    try {
      mark(true);
      launched = try_launch();
      if (!launched) {
        // The computed occupancy was that of an empty device. Shrink the launch once, then give up.
        auto const fewer = static_cast<std::uint64_t>(facts_.multiprocessors);
        blocks_ = blocks_ > fewer ? blocks_ - fewer : 0;
        check_room(" after the device refused " + std::to_string(resident_));
        launched = try_launch();
      }
    } catch (...) {
      mark(false);
      throw;
    }
    mark(false);
    if (launched) {
      guarded_access::shared(first)->enqueued(s, in_.where);
      (guarded_access::shared(rest)->enqueued(s, in_.where), ...);
      return;
    }
    refuse("the device refused a cooperative launch of " + std::to_string(blocks_) +
           " blocks as too large, and a larger one before");
  }

 private:
  static constexpr std::size_t user_bytes = user_shared_bytes<Kernel>();

  /// Returns the kernel whose registers are bounded so that `Resident` blocks fit an SM.
  template <unsigned Resident>
  static runtime::kernel kernel_for() {
    return simt::make_kernel(
        &fused_kernel<threads, Resident, Kernel, typename First::ref, typename Rest::ref...>);
  }
  /// Returns the kernel with the policy's bound, or the unbounded one if that spills less.
  runtime::kernel choose_kernel() const {
    auto bounded = kernel_for<resident_at_least>();
    if constexpr (chooses_blocks<First> && resident_at_least > 1 && simt::has_registers) {
      if (std::size_t const spilled = runtime::local_bytes(bounded, in_.where); spilled != 0) {
        auto const unbounded = kernel_for<1>();
        if (runtime::local_bytes(unbounded, in_.where) < spilled) return unbounded;
      }
    }
    return bounded;
  }
  [[noreturn]] void refuse(std::string const& reason) const {
    throw limit_error{"launch_fused: " + reason, in_.where};
  }
  void check(unsigned block, First const& first, Rest const&... rest) const {
    if (block != threads) {
      refuse("blocks of " + std::to_string(block) + " threads, but the policy promises " +
             std::to_string(threads));
    }
    if (((rest.device() != first.device()) || ...))
      refuse("the guarded arrays live on different devices");
    std::array<void const*, arrays> addresses{&first, &rest...};
    std::sort(addresses.begin(), addresses.end());
    if (std::adjacent_find(addresses.begin(), addresses.end()) != addresses.end())
      refuse("one guarded array occurs twice among the arguments; pass it once");
    // The counter of begun blocks goes beyond the grid, so the limit is below 2^32.
    constexpr unsigned largest_grid = 0xffff0000u;
    if (grid_ > largest_grid) {
      refuse("a grid of " + std::to_string(grid_) + " virtual blocks; the limit is " +
             std::to_string(largest_grid));
    }
  }
  /// Makes the channels if there are none. Throws for a captured launch without channels.
  template <class Guarded>
  void check_channels(Guarded const& g) const {
    if (guarded_access::shared(g)->fused() == nullptr &&
        runtime::capturing(in_.stream, in_.where)) {
      refuse(
          "the stream is being captured into a graph, and a guarded array has no channels yet: "
          "call prepare_fused before the capture");
    }
    static_cast<void>(guarded_access::fused(g));
  }
  /// Halves the servers' windows until the servers and a client block are resident together. If
  /// that is not enough, omits the outboxes. If no plan has room for both, takes the first plan
  /// whose blocks fit the device.
  void choose_memory(First const& first, Rest const&... rest) {
    // Kernels for devices with large blocks are compiled with outboxes.
    bool const gathers_always =
        !simt::may_have_small_blocks(runtime::compiled_for(function_, in_.where));
    auto const find = [&](auto has_room) {
      for (bool const has_outboxes : {true, false}) {
        if (gathers_always && !has_outboxes) return false;
        for (unsigned halvings = 0; halvings <= run_window::most_halvings; ++halvings) {
          lay_out_memory({halvings, has_outboxes}, first, rest...);
          if (shared_bytes_ <= facts_.shared_bytes_per_block && has_room()) return true;
        }
      }
      return false;
    };
    auto const holds_a_client = [&] {
      return blocks_that_hold(facts_, threads, shared_bytes_) > std::uint64_t{servers_};
    };
    if (find(holds_a_client) || find([] { return true; })) return;
    refuse(std::to_string(shared_bytes_) +
           " bytes of shared memory for each block; the device has " +
           std::to_string(facts_.shared_bytes_per_block) +
           ": make the kernel's shared_storage, or the policies' block_threads or "
           "outbox_bytes_per_thread smaller");
  }
  /// Lays out shared memory: the outboxes next to each other, or one server in the same place; then
  /// the user's memory, then the kernel's.
  void lay_out_memory(memory_plan memory, First const& first, Rest const&... rest) {
    memory_ = memory;
    arena_carver outboxes, arena;
    std::size_t largest_server = 0, position = 0;
    auto const add = [&](auto const& g) {
      std::size_t const bytes = memory.has_outboxes ? g.outbox_bytes() : 0;
      outbox_offsets_[position++] = outboxes.take<std::byte>(bytes, 16).offset;
      largest_server = std::max(largest_server, g.server_bytes(memory.halvings));
    };
    add(first);
    (add(rest), ...);
    arena.take<std::byte>(std::max(outboxes.bytes(), largest_server));
    constexpr std::size_t alignment = user_bytes == 0 ? 16 : arena_alignment;
    user_offset_ = arena.take<std::byte>(user_bytes, alignment).offset;
    arena.take<std::uint32_t>(2);
    shared_bytes_ = arena.bytes();
  }
  void check_room(std::string const& after) const {
    if (blocks_ > servers_) return;
    // Each guarded array has at least one server.
    bool const fewer_would_fit = blocks_ > arrays;
    refuse(std::to_string(servers_) + " servers and a client block do not fit: " +
           std::to_string(blocks_) + " blocks of " + std::to_string(threads) + " threads and " +
           std::to_string(shared_bytes_) + " bytes of shared memory are resident together" + after +
           (fewer_would_fit ? "; make the guarded arrays with fewer servers" : ""));
  }

  unsigned grid_;
  located_stream in_;
  runtime::device_facts facts_;
  std::array<std::size_t, arrays> outbox_offsets_{};
  std::size_t user_offset_ = 0, shared_bytes_ = 0;
  memory_plan memory_{};
  unsigned servers_ = 0, resident_ = 0;
  std::uint64_t blocks_ = 0;
  runtime::kernel function_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
