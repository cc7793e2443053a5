// SPDX-License-Identifier: Apache-2.0
/// @file
/// Table of a fixed set of keys, built at once: cuckoo hashing with buckets of one memory sector.
#pragma once

#include "apps/hash_table/static_build.cuh"
#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace hash_table {

struct static_options {
  std::uint32_t capacity;  ///< keys of a build, at most, repeated ones included
  double load = 0.9;       ///< entries for each slot, above 0 and at most 1
  std::uint32_t seed = 1;  ///< chooses the hashes of the first attempt
};

/// Keys and values of 4 bytes. Must be built before it is searched.
class static_table {
 public:
  static constexpr unsigned most_attempts = 16;

  /// Throws limit_error for an impossible capacity or load, and cuda_error.
  explicit static_table(static_options o,
                        std::source_location where = std::source_location::current())
      : options_{checked(o, where)}, shape_{options_, where} {
    std::size_t const slots = static_cast<std::size_t>(std::ceil(o.capacity / o.load));
    // A region rounds its slots up, and has at least 4 buckets.
    buckets_ = warden::buffer<static_bucket>{
        slots / static_bucket::slots + 5 * std::size_t{shape_.regions}, where};
    plan_ = warden::buffer<static_region>{shape_.regions, where};
    entries_ = warden::buffer<detail::static_entry>{o.capacity, where};
    numbers_ = warden::buffer<std::uint32_t>{3 * std::size_t{shape_.regions}, where};
    totals_ = warden::buffer<std::uint64_t>{2, where};
  }

  /// Replaces the contents by `n` keys and their values, in device memory. Of the values of a
  /// repeated key, the one with the lowest index stays. Blocks the host. Draws new hashes if a
  /// region cannot be built. Throws limit_error if no attempt succeeds; the table must then be
  /// built again before it is searched.
  void build(std::uint32_t const* keys, std::uint32_t const* values, std::uint32_t n,
             warden::stream_ref s = {},
             std::source_location where = std::source_location::current()) {
    if (n > options_.capacity)
      warden::throw_limit_error(
          "hash_table: a build of % keys, but the capacity is %; make the capacity larger",
          {n, options_.capacity}, where);
    is_built_ = false;
    for (attempts_ = 1; attempts_ <= most_attempts; ++attempts_) {
      hash_.seed = (options_.seed + attempts_) * 0x9e3779b9u;
      is_built_ = try_build(keys, values, n, s, where);
      if (is_built_) return;
    }
    attempts_ = most_attempts;
    throw warden::limit_error{"hash_table: no table of load " + std::to_string(options_.load) +
                                  " was found for " + std::to_string(n) + " keys in " +
                                  std::to_string(most_attempts) +
                                  " attempts; loads up to 0.97 are safe; make the load smaller",
                              where};
  }

  /// Returns the device view, for searches in kernels. Valid until the next build. Throws
  /// limit_error if the last build failed, and before the first one.
  [[nodiscard]] static_view view(
      std::source_location where = std::source_location::current()) const {
    if (!is_built_) {
      throw warden::limit_error{
          "hash_table: a search of a static table that is not built: call "
          "build before",
          where};
    }
    return {buckets_.data(), plan_.data(), shape_.regions, hash_};
  }
  /// Searches for `n` keys: writes their values, 0 for absent keys, and if they were found.
  /// Enqueued. Throws as `view` does.
  void find_async(std::uint32_t const* keys, std::uint32_t n, std::uint32_t* values, bool* found,
                  warden::stream_ref s = {},
                  std::source_location where = std::source_location::current()) const {
    if (n == 0) return;
    simt::launch(&detail::find_static, apps::blocks(), apps::threads(), 0,
                 {view(where), keys, n, values, found}, s);
  }

  /// Return the numbers of the last build: entries; keys that repeated an earlier one; attempts.
  [[nodiscard]] std::uint32_t size() const { return n_ - static_cast<std::uint32_t>(repeats_); }
  [[nodiscard]] std::uint64_t repeats() const { return repeats_; }
  [[nodiscard]] unsigned attempts() const { return attempts_; }
  /// Returns the device memory, in bytes: the table, and the entries by region for the next build.
  [[nodiscard]] std::size_t memory_bytes() const {
    return buckets_.bytes() + plan_.bytes() + entries_.bytes() + numbers_.bytes() + totals_.bytes();
  }

 private:
  /// Regions of a table, by the shared memory of the device's blocks.
  struct shape {
    std::uint32_t most_buckets, stash, regions, region_bytes;
    unsigned threads, blocks;

    shape(static_options const& o, std::source_location where) {
      auto const facts = warden::runtime::facts(warden::runtime::current_device());
      // Two blocks at a time: one reads and writes memory while the other one evicts.
      std::size_t const bytes =
          std::min(facts.shared_bytes_per_block, facts.shared_bytes_per_multiprocessor / 2 -
                                                     facts.reserved_shared_bytes_per_block);
      std::uint32_t const all = static_cast<std::uint32_t>(bytes / sizeof(detail::static_entry));
      most_buckets = all * 8 / 9 / static_bucket::slots;
      std::uint32_t const most_slots = most_buckets * static_bucket::slots;
      stash = all - most_slots;
      region_bytes = static_cast<std::uint32_t>(all * sizeof(detail::static_entry));
      double const slots = o.capacity / o.load;
      // The number of keys of a region has a deviation of its square root.
      double const mean = most_slots - 6 * std::sqrt(most_slots);
      // Few keys: a region for each multiprocessor, of least_slots or more.
      double const spread = std::max(least_slots, slots / facts.multiprocessors);
      double const wanted = std::ceil(slots / std::min(mean, spread));
      if (wanted * sizeof(std::uint32_t) > facts.shared_bytes_per_block)
        warden::throw_limit_error(
            "hash_table: a static table of % keys has % regions, but a block of this device "
            "counts at most %; make several tables",
            {o.capacity, static_cast<std::uint64_t>(wanted),
             facts.shared_bytes_per_block / sizeof(std::uint32_t)},
            where);
      regions = static_cast<std::uint32_t>(wanted);
      threads = facts.simulated ? 64 : detail::build_threads;
      blocks = facts.simulated ? 2 : 2 * static_cast<unsigned>(facts.multiprocessors);
    }
    static constexpr double least_slots = 1024;
  };

  static static_options checked(static_options o, std::source_location where) {
    if (o.capacity == 0 || o.capacity > 1u << 31)
      warden::throw_limit_error("hash_table: capacity % is not from 1 to 2147483648", {o.capacity},
                                where);
    if (!(o.load > 0 && o.load <= 1))
      throw warden::limit_error{
          "hash_table: load " + std::to_string(o.load) + " is not above 0 and at most 1", where};
    return o;
  }

  bool try_build(std::uint32_t const* keys, std::uint32_t const* values, std::uint32_t n,
                 warden::stream_ref s, std::source_location where) {
    std::uint32_t* const numbers = numbers_.data();
    detail::static_build const a{
        .keys = keys,
        .values = values,
        .n = n,
        .regions = shape_.regions,
        .most_buckets = shape_.most_buckets,
        .stash = shape_.stash,
        .scale = static_cast<std::uint32_t>(std::ceil(0x10000 / options_.load)),
        .hash = hash_,
        .entries = entries_.data(),
        .counts = numbers,
        .begins = numbers + shape_.regions,
        .cursors = numbers + 2 * std::size_t{shape_.regions},
        .plan = plan_.data(),
        .buckets = buckets_.data(),
        .repeats = totals_.data(),
        .failures = totals_.data() + 1};
    numbers_.fill_bytes(0, s, where);
    totals_.fill_bytes(0, s, where);
    std::size_t const counts = shape_.regions * sizeof(std::uint32_t);
    warden::runtime::allow_shared_bytes(simt::make_kernel(&detail::count_static), counts, where);
    warden::runtime::allow_shared_bytes(simt::make_kernel(&detail::scatter_static), counts, where);
    warden::runtime::allow_shared_bytes(simt::make_kernel(&detail::build_static),
                                        shape_.region_bytes, where);
    simt::launch(&detail::count_static, shape_.blocks, shape_.threads, counts, a, s, where);
    simt::launch(&detail::plan_static, 1, detail::plan_threads, 0, a, s, where);
    simt::launch(&detail::scatter_static, shape_.blocks, shape_.threads, counts, a, s, where);
    simt::launch(&detail::build_static, shape_.regions, shape_.threads, shape_.region_bytes, a, s,
                 where);
    auto const totals = totals_.to_host(s, where);
    n_ = n;
    repeats_ = totals[0];
    return totals[1] == 0;
  }

  static_options options_;
  shape shape_;
  static_hash hash_{0};
  std::uint32_t n_ = 0;
  std::uint64_t repeats_ = 0;
  bool is_built_ = false;
  unsigned attempts_ = 0;
  warden::buffer<static_bucket> buckets_;
  warden::buffer<static_region> plan_;
  warden::buffer<detail::static_entry> entries_;
  warden::buffer<std::uint32_t> numbers_;  ///< [region] counts, then begins, then cursors
  warden::buffer<std::uint64_t> totals_;   ///< repeats, failures
};

}  // namespace hash_table
