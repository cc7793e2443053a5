// SPDX-License-Identifier: Apache-2.0
/// @file
/// The paper configuration: the decoupled delegate as [Wang 2020, chapter 4] describes it.
#pragma once

#include <warden/detail/fused/paper/leader_server.cuh>
#include <warden/policy.cuh>

WARDEN_NAMESPACE_BEGIN

/// The policy of [Wang 2020]: locks in shared memory (section 4.2.1), a bit-mask beside the
/// messages (4.3.1), and the optimized sender and receiver (4.3.2): buffers of 32 messages for each
/// destination, and a leader warp. Kept to compare with; derive from it as from default_policy. A
/// block has two warps at least, and a client block needs shared memory for 32 messages to every
/// server.
struct paper_policy : default_policy {
  /// One leader feeds as many followers as a multiprocessor has registers for, 96 for each thread:
  /// client blocks of 768 threads spill a little, and of 1,024 more.
  static constexpr unsigned block_threads = 640;
  /// One such block: what their registers allow.
  static constexpr unsigned minimum_blocks_per_multiprocessor = 1;
  /// Every other multiprocessor hosts a server; beside one of two, no client block fits.
  static constexpr unsigned multiprocessors_per_server = 2;
  /// A table of locks, behind a leader warp.
  using executor = warden::executor::locks<4096, detail::leader_server>;
  /// A bit for each slot.
  using readiness = warden::readiness::bitmask;
  /// A buffer for each destination.
  using sender = warden::sender::buffered;
};

WARDEN_NAMESPACE_END
