// SPDX-License-Identifier: Apache-2.0
// Shared memory of a simulated launch: each block's arena and its static variables, garbage at
// first, with a canary after each.

#include "machine.hpp"

#include <warden/simt/arena.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

constexpr std::byte canary{0xa5};
/// Static shared memory of a kernel, in bytes, at most.
constexpr std::size_t most_static_bytes = 48 * 1024;

std::byte* aligned_up(std::byte* address, std::size_t alignment) {
  auto const number = reinterpret_cast<std::uintptr_t>(address);
  return address + ((number + alignment - 1) / alignment * alignment - number);
}

/// Never zeros: what a kernel does not initialize must not look initialized.
void fill_with_garbage(std::byte* begin, std::size_t bytes, random_numbers& random) {
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::uint64_t const garbage = random.next() | 0x0101010101010101ull;
    std::memcpy(begin + i, &garbage, std::min<std::size_t>(8, bytes - i));
  }
}

bool damaged(std::byte const* begin, std::byte const* end) {
  return std::any_of(begin, end, [](std::byte v) { return v != canary; });
}

}  // namespace

void machine::place_arenas(running_launch& l) {
  l.arena_stride = (l.kernel.shape.shared_bytes + shared_canary_bytes + arena_alignment - 1) /
                   arena_alignment * arena_alignment;
  l.arenas.resize(l.arena_stride * l.blocks.size() + arena_alignment);
  std::byte* next = aligned_up(l.arenas.data(), arena_alignment);
  for (block& b : l.blocks) {
    b.shared = next;
    next += l.arena_stride;
  }
}

void machine::fill_arena(block& b) {
  std::size_t const bytes = b.of->kernel.shape.shared_bytes;
  forget(b.shared, bytes);
  fill_with_garbage(b.shared, bytes, random_);
  std::fill_n(b.shared + bytes, b.of->arena_stride - bytes, canary);
}

/// Reports writes of the block past its shared memory, and removes its static variables.
void machine::check_shared(block& b) {
  auto const complain = [&](std::string const& past, device::site const& where) {
    fail("block " + std::to_string(b.rank) + " wrote past " + past, where, listing::none);
  };
  std::size_t const bytes = b.of->kernel.shape.shared_bytes;
  if (damaged(b.shared + bytes, b.shared + b.of->arena_stride)) {
    complain("its " + std::to_string(bytes) + " bytes of shared memory", b.of->kernel.where);
  }
  for (static_object const& o : b.statics) {
    if (damaged(o.begin + o.bytes, o.begin + o.bytes + shared_canary_bytes))
      complain("a shared variable of " + std::to_string(o.bytes) + " bytes", o.where);
    forget(o.begin, o.bytes);
    std::erase_if(storage_used_, [&](auto const& used) {
      return !std::less<>{}(used.first, static_cast<void const*>(o.begin)) &&
             std::less<>{}(used.first, static_cast<void const*>(o.begin + o.bytes));
    });
  }
  b.statics.clear();
}

void* machine::static_shared(void const* key, std::size_t bytes, std::size_t alignment,
                             device::site const& where) {
  block& b = *current_->home;
  std::size_t all = bytes;
  for (static_object const& o : b.statics) {
    if (o.key == key) return o.begin;
    all += o.bytes;
  }
  std::size_t const dynamic = b.of->kernel.shape.shared_bytes;
  std::size_t const most = std::min(most_static_bytes, settings_.shared_bytes_per_block - dynamic);
  if (all > most) {
    misuse(std::to_string(all) + " bytes of static shared memory in a block; the limit is " +
               std::to_string(most) + " next to " + std::to_string(dynamic) + " bytes of dynamic",
           where);
  }
  static_object o{key, std::make_unique<std::byte[]>(bytes + alignment + shared_canary_bytes),
                  nullptr, bytes, where};
  o.begin = aligned_up(o.memory.get(), alignment);
  fill_with_garbage(o.begin, bytes, random_);
  std::fill_n(o.begin + bytes, shared_canary_bytes, canary);
  b.statics.push_back(std::move(o));
  return b.statics.back().begin;
}

/// Returns the address in another block's arena that corresponds to `own` in the caller's.
void* machine::of_cluster(void const* own, std::size_t bytes, unsigned rank,
                          device::site const& where) {
  block const& b = *current_->home;
  auto const* const begin = static_cast<std::byte const*>(own);
  runtime::launch_shape const& shape = b.of->kernel.shape;
  if (rank >= shape.cluster) {
    misuse("shared memory of block " + std::to_string(rank) + " of a cluster of " +
               std::to_string(shape.cluster),
           where);
  }
  if (std::less<>{}(begin, static_cast<std::byte const*>(b.shared)) ||
      std::less<>{}(static_cast<std::byte const*>(b.shared + shape.shared_bytes), begin + bytes))
    misuse("another block of the cluster has no such place: it is not dynamic shared memory",
           where);
  block const& other = cluster_of(b)[rank];
  if (other.ended == other.threads) {
    misuse("shared memory of block " + std::to_string(other.rank) + ", which has ended", where);
  }
  return other.shared + (begin - b.shared);
}

bool machine::is_shared(void const* address, std::size_t size) const {
  auto const* const first = static_cast<std::byte const*>(address);
  auto const inside = [&](std::byte const* begin, std::size_t bytes) {
    return !std::less<>{}(first, begin) && std::less<>{}(first, begin + bytes) &&
           size <= static_cast<std::size_t>(begin + bytes - first);
  };
  block const& b = *current_->home;
  return inside(b.shared, b.of->kernel.shape.shared_bytes) ||
         std::any_of(b.statics.begin(), b.statics.end(),
                     [&](static_object const& o) { return inside(o.begin, o.bytes); });
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
