// SPDX-License-Identifier: Apache-2.0
// Measures the values of a tuning table on this device, one after another, and writes the table.

#include "apps/support/command.hpp"
#include "apps/support/output_file.hpp"
#include "microbench/tune/load.cuh"

#include <warden/tuning_table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tune {
namespace {

/// A value of the table, the values that are tried, and the loads that compare them.
struct choice {
  using field = unsigned warden::tuning_table::*;
  char const* name;
  field value;
  std::vector<unsigned> candidates;
  std::vector<load> loads;
};

/// Returns the choices in the order in which they are made. The loads of each depend on the choices
/// before it.
std::vector<choice> choices_of(warden::runtime::device_facts const& facts) {
  using table = warden::tuning_table;
  constexpr std::uint32_t million = 1u << 20;
  auto const multiprocessors = static_cast<std::uint64_t>(facts.multiprocessors);
  // The level-2 cache holds half of these records.
  std::uint64_t const large = 2 * facts.cache_bytes / sizeof(record);
  std::vector<choice> all{
      {"most_shards",
       &table::most_shards,
       {16, 32, 64, 128, 256},
       {{million, 16 * million, false, sender::threads}, {million, 16 * million}}},
      {"sections_per_shard",
       &table::sections_per_shard,
       {1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18},
       {{million, million, false, sender::threads},
        {million, 4 * million, false, sender::threads},
        {million, million},
        {million, 4 * million}}},
      {"partitions_in_memory",
       &table::partitions_in_memory,
       {1, 2, 4},
       {{million / 8, 4 * million, true},
        {million, 4 * million, true},
        {million, million / 4, true},
        {large, million, true},
        {large, million / 64, true}}},
      {"split_part_bytes",
       &table::split_part_bytes,
       {16u << 10, 32u << 10, 64u << 10, 128u << 10},
       {{large, 8 * million, true}, {4 * large, 16 * million, true}}},
      {"records_per_split_section", &table::records_per_split_section, {1, 2, 4, 8, 16, 32}, {}},
      {"record_bytes_per_section", &table::record_bytes_per_section, {8, 16, 32, 64, 128, 256}, {}},
      {"on_chip_bytes",
       &table::on_chip_bytes,
       {4u << 10, 8u << 10, 16u << 10, 32u << 10, 64u << 10, 128u << 10},
       {}}};
  // Sizes lie between the limits that the candidates set.
  for (double const records_each : {1.5, 3.0, 6.0, 12.0, 24.0})
    all[4].loads.push_back(
        {large, static_cast<std::uint32_t>(static_cast<double>(large) / records_each), true});
  for (std::uint32_t const bytes_each : {12u, 24u, 48u, 96u, 192u})
    all[5].loads.push_back({4 * million, 4 * million * 8 / bytes_each});
  for (std::uint64_t const bytes_each : {6u << 10, 12u << 10, 24u << 10, 48u << 10, 96u << 10})
    all[6].loads.push_back({multiprocessors * bytes_each / sizeof(record), 4096});
  if (facts.simulated) {
    for (choice& one : all) {
      one.loads.resize(1);
      one.loads[0].records = 256;
      one.loads[0].sections = 128;
    }
  }
  return all;
}

/// Sections in a microsecond, for each load.
std::vector<double> rates_of(choice const& one, warden::tuning_table const& table) {
  warden::set_tuning(table);
  std::vector<double> rates;
  for (load const& l : one.loads) {
    double const seconds = l.in_memory ? seconds_of<warden::placement::in_memory>(l)
                                       : seconds_of<warden::placement::automatic>(l);
    rates.push_back(seconds == 0 ? 0 : l.sections / seconds * 1e-6);
  }
  return rates;
}
/// Returns the best rates of each value. They depend on the pages that records and logs get, so
/// each value is measured several times, in another order each time.
std::vector<std::vector<double>> best_rates(choice const& one, warden::tuning_table table) {
  std::size_t const count = one.candidates.size();
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  std::vector<std::vector<double>> best(count, std::vector<double>(one.loads.size()));
  for (std::size_t round = 0; round < (simulated ? 1 : count); ++round) {
    for (std::size_t k = 0; k < count; ++k) {
      std::size_t const c = ((round % 2 == 0 ? k : count - 1 - k) + round) % count;
      table.*one.value = one.candidates[c];
      std::vector<double> const rates = rates_of(one, table);
      for (std::size_t l = 0; l < rates.size(); ++l) best[c][l] = std::max(best[c][l], rates[l]);
    }
  }
  return best;
}

/// Returns the value that is nearest to the usual one, among those that are as fast as the fastest
/// one, except for the difference of two measurements. Appends the rates to `text`, as comments.
unsigned fastest(choice const& one, warden::tuning_table const& table, std::string& text) {
  text += std::string{"# "} + one.name + ": sections/us with";
  for (load const& l : one.loads) {
    text += " " + std::to_string(l.sections) + (l.by == sender::threads ? " alone" : "") + " on " +
            std::to_string(l.records) + (l.in_memory ? " in memory;" : ";");
  }
  text.back() = '\n';
  auto const rates = best_rates(one, table);
  std::vector<double> means;  // geometric, as logarithms
  for (std::size_t c = 0; c < rates.size(); ++c) {
    text += "#   " + std::to_string(one.candidates[c]) + ":";
    double sum = 0;
    for (double const rate : rates[c]) {
      text += " " + std::to_string(std::lround(rate));
      sum += std::log(std::max(rate, 1e-3));
    }
    text += "\n";
    means.push_back(sum / static_cast<double>(rates[c].size()));
  }
  constexpr double noise = 0.02;
  double const enough = *std::max_element(means.begin(), means.end()) - noise;
  auto const distance = [&](unsigned value) {
    return std::abs(std::log2(static_cast<double>(value) / table.*one.value));
  };
  unsigned best = 0;
  for (std::size_t c = 0; c < means.size(); ++c) {
    unsigned const value = one.candidates[c];
    if (means[c] >= enough && (best == 0 || distance(value) < distance(best))) best = value;
  }
  return best;
}

int run(std::string const& path) {
  apps::output_file out{path};
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  warden::tuning_table table = warden::usual_tuning(facts);
  std::string rates;
  for (choice const& one : choices_of(facts)) {
    unsigned const usual = table.*one.value;
    table.*one.value = fastest(one, table, rates);
    std::printf("%-26s %8u, usually %u\n", one.name, table.*one.value, usual);
    std::fflush(stdout);
  }
  std::string const text =
      "# Written by ./warden tune; see docs/tuning-table.md.\n" + warden::to_string(table) + rates;
  out.write(text.data(), text.size());
  out.commit();
  return 0;
}

}  // namespace
}  // namespace tune

int main(int argc, char** argv) {
  CLI::App app{"Measures the values of a tuning table on this device.", "tune"};
  std::string out = "warden-tuning.txt";
  app.add_option("--out", out, "the table's file")->check(apps::file_name())->capture_default_str();
  return apps::run_command(app, argc, argv, [&] { return tune::run(out); });
}
