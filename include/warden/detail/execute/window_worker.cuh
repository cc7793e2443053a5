// SPDX-License-Identifier: Apache-2.0
/// @file
/// Concepts of workers that run windows of messages, which a block has received together.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Worker of a window_server. Every thread of the block constructs one, in shared memory of
/// `shared_bytes(locals, used)` bytes for `locals` records and windows of `used` messages of a
/// thread. `per_thread` is the largest such number.
///
/// | member | called |
/// |---|---|
/// | `start()` | by all threads of the block; a block barrier follows |
/// | `take(m, arrived)` | by each thread, for its messages m[k] of the bits k of `arrived` |
/// | `execute(m, arrived)` | with the same messages, by all threads of the block |
/// | `finish()` | by all threads of the block, when the server ends |
template <class Worker, class Ref>
concept window_worker = requires(Worker& worker, Ref const& ref, std::uint32_t number,
                                 std::byte* storage, std::size_t locals, unsigned used,
                                 typename Ref::message_type const (&m)[Worker::per_thread],
                                 unsigned arrived) {
  { Worker::shared_bytes(locals, used) } -> std::same_as<std::size_t>;
  Worker{ref, number, storage};
  worker.start();
  worker.take(m, arrived);
  worker.execute(m, arrived);
  worker.finish();
};

/// Worker of a forwarding_server: `execute` returns the number of credits spent. Its sum over all
/// threads counts messages that were sent or set aside, less those no longer set aside.
template <class Worker, class Ref>
concept forwarding_worker = window_worker<Worker, Ref> &&
    requires(Worker& worker, typename Ref::message_type const (&m)[Worker::per_thread],
             unsigned arrived) {
  { worker.execute(m, arrived) } -> std::same_as<unsigned>;
};

/// Worker of a partition_server, constructed again for each partition. If `by_warps` is true, warps
/// run what they have received: nothing is collective over the block between `start` and `finish`.
/// If `runs_hot` is true, `is_hot()` tells after a window whether most of its messages were for one
/// record, and `run_hot(m, receive, has_more, is_hot)` then receives the messages of a window and
/// runs those for that record.
template <class Worker, class Ref>
concept partition_worker = window_worker<Worker, Ref> && requires {
  { Worker::by_warps } -> std::convertible_to<bool>;
  { Worker::runs_hot } -> std::convertible_to<bool>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
