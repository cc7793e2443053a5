// SPDX-License-Identifier: Apache-2.0
// Operation `count` on several GPUs: counts the occurrences of each key in a hash table that is
// spread over the GPUs.

#include "apps/hash_table/spread_table.cuh"
#include "microbench/hash_table/oracle.cuh"
#include "microbench/several_gpus/all_ids.cuh"
#include "microbench/several_gpus/gather.hpp"
#include "microbench/several_gpus/point.cuh"
#include "microbench/several_gpus/seconds_of.hpp"
#include "microbench/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace several_gpus {

namespace {

namespace simt = warden::simt;
using operation = hash_table_bench::count;
using hash_table_bench::key_type;

struct key_arguments {
  std::uint32_t const* ids;
  std::uint32_t n;
  key_type* keys;
};
WARDEN_KERNEL void make_keys(key_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) { a.keys[i] = hash_table_bench::key_of(a.ids[i]); });
}

class count_rank {
 public:
  static constexpr char const* name = operation::name;

  count_rank(warden::communicator const& world, std::string const& workload, std::uint32_t keys,
             std::uint32_t n, choices const& chosen)
      : world_{world},
        ids_{world, workload, keys, n},
        keys_{n},
        per_key_{keys},
        numbers_{2},
        table_{world, {.capacity = keys, .partitions = chosen.partitions}, {}, ids_.all()} {}

  /// Returns the seconds from the start of all ranks to the end of this rank.
  double run(std::uint64_t seed) {
    ids_.draw(seed);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&make_keys, blocks, threads, 0, {ids_.own(), ids_.each(), keys_.data()}, {});
    table_.clear_async();
    // Barrier: all ranks start after it.
    table_.wait();
    double const seconds = seconds_of([&] {
      table_.count_async(keys_.data(), ids_.each());
      table_.run();
    });
    table_.wait();
    return seconds;
  }
  /// Phases are not recorded.
  [[nodiscard]] static std::map<std::string, double> phases() { return {}; }
  /// Returns true if the last `run` was right. Each entry must hold the number of operations of its
  /// key. The ranks together must have as many entries as there are keys that occur, so that no
  /// entry is missing and no key is on 2 ranks.
  bool verify() {
    per_key_.fill_bytes(0);
    numbers_.fill_bytes(0);
    hash_table_bench::oracle const o{ids_.data(),        ids_.all(), keys(),
                                     per_key_.data(),    nullptr,    numbers_.data(),
                                     numbers_.data() + 1};
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&hash_table_bench::prepare_kernel<operation>, blocks, threads, 0, o, {});
    table_.for_each_async(hash_table_bench::visit_entry<operation>{o});
    auto const visited = numbers_.to_host();
    simt::launch(&hash_table_bench::finish_kernel<operation>, blocks, threads, 0, o, {});
    // The number of errors now includes the keys that occur and have no entry on this rank.
    auto const all = gather(world_, numbers_);
    std::uint64_t const elsewhere = numbers_.to_host()[1] - visited[1];
    std::uint64_t entries = 0;
    for (std::size_t r = 0; r < all.size(); r += 2) entries += all[r];
    return visited[1] == 0 && entries == visited[0] + elsewhere &&
           operation::adds_up(table_.counts(), ids_.all(), visited[0]);
  }

 private:
  [[nodiscard]] std::uint32_t keys() const { return static_cast<std::uint32_t>(per_key_.size()); }

  warden::communicator world_;
  all_ids ids_;
  warden::buffer<key_type> keys_;
  warden::buffer<std::uint32_t> per_key_;
  warden::buffer<std::uint64_t> numbers_;  ///< number of entries, number of errors
  hash_table::spread_table<key_type, operation::value_type> table_;
};

}  // namespace

std::shared_ptr<bench::point> make_count_point(std::string const& workload, std::uint32_t keys,
                                               choices const& chosen) {
  return std::make_shared<point_of<count_rank>>(workload, keys, chosen);
}

}  // namespace several_gpus
