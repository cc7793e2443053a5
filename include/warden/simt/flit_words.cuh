// SPDX-License-Identifier: Apache-2.0
/// @file
/// Unit in which messages move: 16 bytes as two 64-bit words.
#pragma once

#include <warden/simt/annotations.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// 16 bytes, aligned for one vector access. Each word is written and read atomically. PTX does not
/// promise that for the pair, so code that needs both must check each word.
struct alignas(16) flit_words {
  std::uint64_t first;   ///< written and read atomically
  std::uint64_t second;  ///< written and read atomically
};

}  // namespace simt
WARDEN_NAMESPACE_END
