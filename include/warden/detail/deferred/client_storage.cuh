// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes of the shared memory of a log's block client.
#pragma once

#include <warden/detail/deferred/log_message.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>

WARDEN_NAMESPACE_BEGIN

/// Largest storage of a client in static shared memory. Units: bytes.
inline constexpr std::size_t static_storage_bytes = std::size_t{48} << 10;
/// Largest useful storage of a client in dynamic shared memory. Batches that combine are larger
/// then, and a multiprocessor of 227 KB still holds 1,536 threads. Batches of messages that are
/// stored apart are larger, too, and a multiprocessor holds 1,024 threads. Units: bytes.
template <class Ref, unsigned Threads>
inline constexpr std::size_t dynamic_storage_bytes =
    std::max(static_storage_bytes,
             std::size_t{Threads} * (Ref::combines                                  ? 148
                                     : detail::is_apart<typename Ref::message_type> ? 176
                                                                                    : 0));

template <class Ref, unsigned Threads, std::size_t Bytes = static_storage_bytes>
class deferred_block;

WARDEN_NAMESPACE_END
