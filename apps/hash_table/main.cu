// SPDX-License-Identifier: Apache-2.0
// hash_table count FILE: how often each word of a text, or each key of a column, occurs.

#include "apps/hash_table/baselines.cuh"
#include "apps/hash_table/table.cuh"
#include "apps/hash_table/word_keys.cuh"
#include "apps/support/command.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using hash_table::word;
using counts_type = std::unordered_map<std::string_view, std::uint64_t>;
using counter = unsigned long long;

/// Copies every entry out, each to a place of its own.
struct collect {
  word* words;
  counter* counts;
  std::uint32_t* entries;
  __device__ void operator()(word const& w, counter const& n) const {
    std::uint32_t const i = warden::simt::fetch_add(entries, 1u);
    words[i] = w;
    counts[i] = n;
  }
};

/// Counts on the device and copies the result back.
template <class Table>
counts_type count_on_device(Table table, std::string_view text, warden::buffer<word> const& words) {
  table.count_async(words.data(), static_cast<std::uint32_t>(words.size()));
  table.wait();
  std::uint64_t const most_entries = table.counts().inserted;
  warden::buffer<word> keys{most_entries};
  warden::buffer<counter> values{most_entries};
  warden::buffer<std::uint32_t> entries{1};
  entries.fill_bytes(0);
  table.for_each_async(collect{keys.data(), values.data(), entries.data()});
  auto const host_keys = keys.to_host();
  auto const host_values = values.to_host();
  counts_type counts;
  for (std::uint32_t i = 0; i < entries.to_host()[0]; ++i)
    counts[text.substr(host_keys[i].offset, host_keys[i].length)] += host_values[i];
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
};

int count(options const& o) {
  std::string const text = hash_table::read_text(o.file);
  std::vector<word> const words =
      o.column == 0 ? hash_table::words_of(text) : hash_table::column_of(text, o.column, o.file);
  if (words.empty()) throw std::runtime_error{o.file + ": no words"};
  if (words.size() >= 0xffffffffu) {
    throw std::runtime_error{o.file + ": " + std::to_string(words.size()) +
                             " words; the limit is 4294967294"};
  }
  counts_type const wanted = hash_table::count_sequentially(text, words);

  warden::buffer<char> const device_text{std::vector<char>(text.begin(), text.end())};
  warden::buffer<word> const device_words{words};
  hash_table::word_keys const keys{device_text.data()};
  // No text has more different words than words.
  std::uint32_t const capacity =
      o.capacity != 0 ? o.capacity
                      : static_cast<std::uint32_t>(std::min<std::size_t>(words.size(), 1u << 31));
  hash_table::table_options const size{.capacity = capacity};
  using hash_table::word_keys;
  counts_type counts;
  if (o.arm == "lock_tuned") {
    hash_table::locked_table<word, counter, word_keys> table{size, keys};
    using make =
        hash_table::without_value<hash_table::sections<word, counter, word_keys>::count, word>;
    table.tune(make{device_words.data()}, static_cast<std::uint32_t>(words.size()));
    table.clear_async({});
    counts = count_on_device(std::move(table), text, device_words);
  } else if (o.arm == "atomics") {
    counts = count_on_device(hash_table::atomic_table<word, counter, word_keys>{size, keys}, text,
                             device_words);
  } else {
    counts = count_on_device(hash_table::table<word, counter, word_keys>{size, keys}, text,
                             device_words);
  }
  print_top(counts, o.top);
  std::printf("%zu words, %zu different, by %s on %s\n", words.size(), counts.size(), o.arm.c_str(),
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
  command->add_option("FILE", o.file, "the text")->required()->check(CLI::ExistingFile);
  command->add_option("--column", o.column, "count the keys of this column, from 1, instead")
      ->check(CLI::Range(1u, 1000u));
  command->add_option("--top", o.top, "how many words to print")->check(CLI::Range(0, 1'000'000));
  command->add_option("--arm", o.arm, "what counts")
      ->check(CLI::IsMember({"warden_deferred", "lock_tuned", "atomics"}));
  command->add_option("--capacity", o.capacity, "different words to make room for; by default all")
      ->check(CLI::Range(1u, 1u << 31));
  return apps::run_command(app, argc, argv, [&] { return count(o); });
}
