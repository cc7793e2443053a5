// SPDX-License-Identifier: Apache-2.0
/// @file
/// Concept of workers that run sections on two records, and set messages aside.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Worker of a pair_messages_server. Every thread of the block constructs one, in shared memory of
/// `shared_bytes(locals)` bytes for `locals` records.
///
/// | member | called |
/// |---|---|
/// | `start()` | by all threads of the block; a block barrier follows |
/// | `prepare()` | by all lanes of a warp, before it runs anything |
/// | `run(m, arrived)` | by all lanes of a warp; returns how many messages of the lane have ended |
/// | `finish()` | by all threads of the block, when the server ends |
template <class Worker, class Ref>
concept pair_worker = requires(Worker& worker, Ref const& ref, std::uint32_t number,
                               std::byte* storage, std::size_t locals,
                               typename Ref::message_type& m, bool arrived) {
  { Worker::shared_bytes(locals) } -> std::same_as<std::size_t>;
  Worker{ref, number, storage};
  worker.start();
  worker.prepare();
  { worker.run(m, arrived) } -> std::same_as<unsigned>;
  worker.finish();
};

}  // namespace detail
WARDEN_NAMESPACE_END
