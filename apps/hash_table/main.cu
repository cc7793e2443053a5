// SPDX-License-Identifier: Apache-2.0
// Command hash_table count FILE: counts each word of a text, or each key of a column. Command
// hash_table aggregate FILE: sums and other aggregates of groups of rows.

#include "apps/hash_table/aggregate/command.hpp"
#include "apps/hash_table/baselines.cuh"
#include "apps/hash_table/counts.cuh"
#include "apps/hash_table/table.cuh"
#include "apps/hash_table/word_keys.cuh"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using hash_table::counter;
using hash_table::counts_type;
using hash_table::word;

/// Counts on the device and copies the result back.
template <class Table>
counts_type count_on_device(Table table, std::string_view text, warden::buffer<word> const& words) {
  table.count_async(words.data(), static_cast<std::uint32_t>(words.size()));
  table.wait();
  counts_type counts;
  hash_table::collect_counts(table, text, counts);
  return counts;
}

void print_top(counts_type const& counts, std::size_t top) {
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (sorted.size() > top) sorted.resize(top);
  for (auto const& [text, n] : sorted) {
    std::printf("%10llu  %.*s\n", static_cast<unsigned long long>(n), static_cast<int>(text.size()),
                text.data());
  }
}

struct options {
  std::string file;
  unsigned column = 0;
  std::size_t top = 10;
  std::string arm = "warden_deferred";
  std::uint32_t capacity = 0;
  int gpus = 0;  ///< 0: one device, by `arm`
};

counts_type count_by_arm(std::string const& arm, std::string const& text,
                         std::vector<word> const& words, hash_table::table_options const& size) {
  warden::buffer<char> const device_text{std::vector<char>(text.begin(), text.end())};
  warden::buffer<word> const device_words{words};
  using hash_table::word_keys;
  word_keys const keys{device_text.data()};
  if (arm == "lock_tuned") {
    hash_table::locked_table<word, counter, word_keys> table{size, keys};
    using make =
        hash_table::without_value<hash_table::sections<word, counter, word_keys>::count, word>;
    table.tune(make{device_words.data()}, static_cast<std::uint32_t>(words.size()));
    table.clear_async({});
    return count_on_device(std::move(table), text, device_words);
  }
  if (arm == "atomics") {
    return count_on_device(hash_table::atomic_table<word, counter, word_keys>{size, keys}, text,
                           device_words);
  }
  return count_on_device(hash_table::table<word, counter, word_keys>{size, keys}, text,
                         device_words);
}

int count(options const& o) {
  auto const [text, words] =
      o.column == 0 ? hash_table::read_words(o.file) : hash_table::read_column(o.file, o.column);
  if (words.empty()) throw std::runtime_error{o.file + ": no words"};
  if (words.size() >= 0xffffffffu) {
    throw std::runtime_error{o.file + ": " + std::to_string(words.size()) +
                             " words; the limit is 4294967294"};
  }
  counts_type const wanted = hash_table::count_sequentially(text, words);

  // A text has at most as many different words as words.
  std::uint32_t const capacity =
      o.capacity != 0 ? o.capacity
                      : static_cast<std::uint32_t>(std::min<std::size_t>(words.size(), 1u << 31));
  hash_table::table_options const size{.capacity = capacity};
  counts_type const counts = o.gpus != 0 ? hash_table::count_over_gpus(o.gpus, text, words, size)
                                         : count_by_arm(o.arm, text, words, size);
  std::string const by =
      o.gpus != 0 ? "warden_deferred over " + std::to_string(o.gpus) + " GPUs" : o.arm;
  print_top(counts, o.top);
  std::printf("%zu words, %zu different, by %s on %s\n", words.size(), counts.size(), by.c_str(),
              warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  if (counts == wanted) {
    std::printf("equal to a sequential count\n");
    return 0;
  }
  std::fprintf(stderr, "hash_table: the counts differ from a sequential count\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A hash table on Warden.", "hash_table"};
  app.require_subcommand(1);
  options o;
  CLI::App* const command = app.add_subcommand(
      "count", "how often each word of a text file, or each key of a column, occurs");
  command->add_option("FILE", o.file, "text file")->required()->check(CLI::ExistingFile);
  command
      ->add_option("--column", o.column,
                   "counts the keys of this column instead; the first one is 1")
      ->transform(apps::whole(1, 1000));
  command->add_option("--top", o.top, "number of words to print")
      ->transform(apps::whole(0, 1'000'000));
  CLI::Option* const arm = command->add_option("--arm", o.arm, "arm that counts")
                               ->check(CLI::IsMember({"warden_deferred", "lock_tuned", "atomics"}));
  command
      ->add_option("--gpus", o.gpus,
                   "number of GPUs, each with a share of the table; needs warden_deferred")
      ->transform(apps::whole(1, 64))
      ->excludes(arm);
  command
      ->add_option("--capacity", o.capacity,
                   "room for this many different words; by default for all")
      ->transform(apps::whole(1, 1u << 31));
  hash_table::aggregate_options groups;
  CLI::App const* const aggregate = hash_table::add_aggregate(app, groups);
  return apps::run_command(app, argc, argv, [&] {
    return aggregate->parsed() ? hash_table::run_aggregate(groups) : count(o);
  });
}
