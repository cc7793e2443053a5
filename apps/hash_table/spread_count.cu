// SPDX-License-Identifier: Apache-2.0
// Counts words by a table that is spread over several GPUs.

#include "apps/hash_table/counts.cuh"
#include "apps/hash_table/spread_table.cuh"
#include "apps/hash_table/word_keys.cuh"

#include <cstddef>
#include <mutex>

namespace hash_table {

counts_type count_over_gpus(int gpus, std::string const& text, std::vector<word> const& words,
                            table_options const& size) {
  counts_type counts;
  std::mutex mutex;
  warden::run_on_gpus(gpus, [&](warden::communicator const& world) {
    auto const rank = static_cast<std::size_t>(world.rank());
    std::size_t const begin = words.size() * rank / static_cast<std::size_t>(gpus);
    std::size_t const end = words.size() * (rank + 1) / static_cast<std::size_t>(gpus);
    // Each GPU needs the text, because words are compared by the owners of their buckets.
    warden::buffer<char> const device_text{std::vector<char>(text.begin(), text.end())};
    warden::buffer<word> const mine{std::vector<word>(words.data() + begin, words.data() + end)};
    spread_table<word, counter, word_keys> table{world, size, {device_text.data()}, words.size()};
    table.count_async(mine.data(), static_cast<std::uint32_t>(end - begin));
    table.run();
    table.wait();
    std::lock_guard const lock{mutex};
    collect_counts(table, text, counts);
  });
  return counts;
}

}  // namespace hash_table
