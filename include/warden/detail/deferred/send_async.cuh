// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fills a log with the sections that a function returns, without a kernel of the user.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/deferred/client_storage.cuh>
#include <warden/detail/deferred/deferred_block.cuh>
#include <warden/detail/deferred/hot_sender.cuh>
#include <warden/detail/deferred/send_by_tables.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Client of blocks whose shared memory is dynamic.
template <class Ref, unsigned Threads>
using bulk_client = deferred_block<Ref, Threads, dynamic_storage_bytes<Ref, Threads>>;

/// Arguments of the kernel below.
template <class Ref, class Function>
struct bulk_send {
  Ref ref;
  Function function;
  index_range elements;
  bool by_tables;  ///< true if the elements are sent by tables, provided that each is a section
};
/// Sends what the function returns for each element. Launch with the client's storage as dynamic
/// shared memory. With the bound, 1,024 threads are resident on a multiprocessor of 65,536
/// registers; without it most section types take more than 64 registers for each thread.
template <class Ref, class Function, unsigned Threads>
WARDEN_KERNEL void WARDEN_BOUNDS(Threads, 1024 / Threads) send_in_bulk(bulk_send<Ref, Function> a) {
  simt::assume_one_dimension();
  if constexpr (combines_by_record<Ref>) {
    if (sends_each<Function> && a.by_tables) return;
  }
  using client = bulk_client<Ref, Threads>;
  client block{a.ref, *reinterpret_cast<typename client::storage*>(simt::dynamic_shared())};
  if constexpr (names_later<Function>) {
    block.for_each(a.function.count(), a.function);
  } else {
    block.for_each(a.elements, a.function);
  }
}

/// A log that `send_async` fills.
template <class Log>
concept fillable_log = requires(Log& log) {
  { log.device() } -> std::same_as<int>;
  { log.capacity() } -> std::same_as<std::size_t>;
  typename Log::ref_type;
  log.ref();
};

/// Enqueues the kernel for at least 1 element, with as many blocks as are resident together. Blocks
/// have `Threads` threads, or half as many if a block of the device cannot have the client's shared
/// memory. If `ByTables`, tables may combine the sections first. Precondition: the log's device is
/// current.
template <unsigned Threads, bool ByTables, class Log, class Function>
void fill_log(Log& log, Function const& f, index_range of, stream_ref s,
              std::source_location where) {
  using ref = typename Log::ref_type;
  constexpr std::size_t shared_bytes = sizeof(typename bulk_client<ref, Threads>::storage);
  // Every device has 64 KB.
  if constexpr (shared_bytes > std::size_t{64} << 10) {
    if (shared_bytes > runtime::facts(log.device(), where).shared_bytes_per_block)
      return fill_log<Threads / 2, ByTables>(log, f, of, s, where);
  }
  auto const kernel = simt::make_kernel(&send_in_bulk<ref, Function, Threads>);
  auto const resident =
      static_cast<std::uint64_t>(runtime::resident_blocks(kernel, Threads, shared_bytes, where));
  auto const blocks =
      static_cast<unsigned>(std::min((of.count() + Threads - 1) / Threads, resident));
  bulk_send<ref, Function> argument{log.ref(), f, of, false};
  if constexpr (ByTables && combines_by_record<ref>) {
    auto const facts = runtime::facts(log.device(), where);
    argument.by_tables =
        try_send_by_tables<Log::client_threads>(argument.ref, f, of, facts, s, where);
    if constexpr (sends_hot<ref>) {
      argument.by_tables =
          argument.by_tables || try_send_hot<Threads>(argument.ref, f, of, facts, s, where);
    }
  }
  void* arguments[] = {&argument};
  runtime::launch(kernel, {blocks, Threads, shared_bytes, false}, arguments, s, where);
}
/// Sends the sections that `f(i)` returns for all i of a range: see `send_async`. If `ByTables`,
/// blocks combine sections on few records before they log them.
template <bool ByTables = true, fillable_log Log, class Function>
void send_range(Log& log, index_range of, Function const& f, stream_ref s,
                std::source_location where) {
  static_assert(std::is_trivially_copyable_v<Function>,
                "warden: the function of send_async and apply_async is copied to the device: it "
                "holds pointers and values, and no host objects");
  runtime::device_scope const scope{log.device(), where};
  std::uint64_t const room = log.capacity();
  bool const has_pieces = of.count() > room;
  for (; of.count() > 0; of.begin += std::min(of.count(), room)) {
    if (has_pieces) log.run(s, where);
    index_range const piece{of.begin, of.begin + std::min(of.count(), room)};
    fill_log<Log::client_threads, ByTables>(log, f, piece, s, where);
  }
}

}  // namespace detail

/// Sends the sections that `f(i)` returns for all i < n to a `deferred` or `deferred_between`,
/// without a kernel of the user:
///
///     warden::send_async(log, n, [=] __device__(std::uint64_t i) {
///       return warden::to{ids[i], deposit{amounts[i]}};
///     }, stream);
///     log.run(stream);
///
/// `f` is a function object or a `__device__` lambda (nvcc needs `--extended-lambda`; the CMake
/// target `warden::warden` sets it). `f(i)` returns a `warden::to`, or a
/// `warden::nothing_or<warden::to<Section>>` if some i send nothing. It is called once for each i,
/// in any order, by any thread. If sections combine, blocks may combine those on few or hot records
/// before they log them. With order::sequential the sections run in the order of i, after those
/// that were sent before.
///
/// Only enqueues. If n is at most the log's capacity the call sends and does not run the log; what
/// finds no place, because the log holds other sections already, is refused and reported by `wait`.
/// If n is larger, the call runs the log, and then sends pieces of the log's capacity and runs each
/// but the last one. In both cases a `run` must follow, which executes what the log then holds. May
/// be captured into a graph. Throws as `deferred::run` does. After an exception the log may hold
/// sections of the call, and earlier pieces may have run: sending them again could double them.
template <detail::fillable_log Log, class Function>
void send_async(Log& log, std::uint64_t n, Function const& f, stream_ref s = {},
                std::source_location where = std::source_location::current()) {
  detail::send_range(log, {0, n}, f, s, where);
}

WARDEN_NAMESPACE_END
