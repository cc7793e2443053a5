// SPDX-License-Identifier: Apache-2.0
/// @file
/// Concept of workers whose warps run slices of messages independently.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Worker of a slice_server or leader_server. Every thread of the block constructs one, in shared
/// memory of `shared_bytes(locals)` bytes for `locals` records.
///
/// | member | called |
/// |---|---|
/// | `start()` | by all threads of the block; a block barrier follows |
/// | `run(m, arrived)` | by all lanes of a warp; returns false if the launch is poisoned |
/// | `finish()` | by all threads of the block, when the server ends |
template <class Worker, class Ref>
concept slice_worker = requires(Worker& worker, Ref const& ref, std::uint32_t number,
                                std::byte* storage, std::size_t locals,
                                typename Ref::message_type const& m, bool arrived) {
  { Worker::shared_bytes(locals) } -> std::same_as<std::size_t>;
  Worker{ref, number, storage};
  worker.start();
  { worker.run(m, arrived) } -> std::same_as<bool>;
  worker.finish();
};

}  // namespace detail
WARDEN_NAMESPACE_END
